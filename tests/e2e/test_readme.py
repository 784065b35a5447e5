# SPDX-License-Identifier: MIT
"""What README.md, the man pages and contrib/ tell a reader to paste is pasted here, on a bare host (M-01)."""

import json
import re
import shlex
import shutil
import subprocess

import pytest

from support.documents import block_that_begins, blocks_of, first_line
from support.installed import Host

BUSY, RIGHT = {"status": 503, "body": "busy\n"}, {"body": "right\n"}
EXAMPLE_HOST = "https://api.example.org"
README, COMMANDS, POLICIES = "README.md", "docs/tenacurl.1", "docs/tenacurl-policy.5.in"

# Who tries a block, by its first line. The session is what a reader does on one host, in the order of the page.
SESSION, POLICY, CRON, CONTAINER = "session", "policy", "cron", "container"
PHP_FPM, DEMO, PRELOAD = "test_php_fpm.py", "test_readme_demo.py", "preload"
UNITS, TMPFILES = "units", "tmpfiles"
TRIED = {
    README: {
        "$ scripts/demo": DEMO,
        "apt-get install gcc make libc6-dev libcurl4-openssl-dev libiniparser-dev libjansson-dev libelf-dev": SESSION,
        f"tenacurl run -- curl -sS -f {EXAMPLE_HOST}/report": SESSION,
        "17 3 * * *  root  /usr/local/bin/tenacurl run --deadline 30m --job import -- /usr/local/sbin/import": CRON,
        "[Service]": PHP_FPM,
        "RUN apt-get update && apt-get install -y --no-install-recommends libiniparser1 libjansson4 libelf1": CONTAINER,
        "$ tenacurl check ./import.sh": SESSION,
        "tenacurl run --mode audit --log audit.jsonl -- ./import.sh": SESSION,
        "tenacurl last --job import": SESSION,
        "[policy]": POLICY,
    },
    COMMANDS: {
        "LD_PRELOAD=/usr/local/lib/tenacurl/libtenacurl.so": PRELOAD,
        "tenacurl run --deadline 30m --job nightly -- ./import.sh": SESSION,
        "tenacurl run --mode audit --log audit.jsonl -- php job.php": SESSION,
        "tenacurl report audit.jsonl audit.jsonl.1": SESSION,
        "tenacurl last --job nightly": SESSION,
        "tenacurl check ./import.sh": SESSION,
        "tenacurl policy check policy.ini": SESSION,
        "tenacurl simulate --fleet --svg load.svg clients=200 capacity_per_s=300 \\": SESSION,
    },
    POLICIES: {"# a comment": POLICY, "[policy]": POLICY},
    "contrib": {
        "container/Dockerfile": CONTAINER,
        "cron/tenacurl-example": CRON,
        "cron/tenacurl-metrics": "test_stats.py",
        "prometheus/tenacurl-alerts.yml": "test_stats.py",
        "prometheus/tenacurl-metrics.service": "test_stats.py",
        "prometheus/tenacurl-metrics.timer": UNITS,
        "systemd/tenacurl.conf": PHP_FPM,
        "tmpfiles.d/tenacurl.conf": TMPFILES,
    },
}
# What is there on the reader's host and can't be on ours.
SCRIPT = "#!/bin/sh\ncurl -sS -f {url}/report\n"
PHP_JOB = "<?php $c = curl_init('{url}/report'); curl_exec($c);"
# Between two blocks of a session, by the first words of the second.
BEFORE = {"tenacurl report audit.jsonl audit.jsonl.1": "cp audit.jsonl audit.jsonl.1"}
# Whose exit status isn't 0 all the way: in audit mode the job fails as it would without tenacurl.
NOT_ALL_OK = ("tenacurl run --mode audit",)


def tried(document, how):
    return [first for first, who in TRIED[document].items() if who == how]


@pytest.mark.parametrize("document", [README, COMMANDS, POLICIES])
def test_m01_every_block_is_tried(repository, document):
    assert {first_line(block) for block in blocks_of(repository / document)} == set(TRIED[document])


def test_m01_every_file_of_contrib_is_tried(repository):
    contrib = repository / "contrib"
    assert {str(path.relative_to(contrib)) for path in contrib.rglob("*") if path.is_file()} == set(TRIED["contrib"])


def test_readme_is_read_in_five_minutes(repository):
    assert len((repository / README).read_text().splitlines()) <= 200


@pytest.fixture
def server(origin):
    """Every other request is answered 503."""
    return origin([BUSY, RIGHT] * 20)


@pytest.fixture
def host(tmp_path, repository, build, server):
    host = Host(tmp_path / "host", repository, build)
    host.add("import.sh", SCRIPT.format(url=server.url("")))
    host.add("job.php", PHP_JOB.format(url=server.url("")))
    host.add("policy.ini", "[policy]\nmax_attempts = 3\n")
    return host


def commands_of(block):
    """What a block has after its prompts; the whole block if it has none."""
    prompted = re.findall(r"^\$ (.*)$", block, re.MULTILINE)
    return "\n".join(prompted) + "\n" if prompted else block


def session(host, path, server, install):
    """{first line of a block: (exit status, output)} of a document's blocks, pasted one after the other."""
    firsts = tried(str(path.relative_to(path.parents[0 if path.name == README else 1])), SESSION)
    script = f"PATH={host.tools}:$PATH\n"
    for number, first in enumerate(firsts):
        text = commands_of(block_that_begins(path, first)).replace(EXAMPLE_HOST, server.url(""))
        script += f"{BEFORE.get(first, ':')}\n(\nset -e\n{text})\nprintf '\\n== {number} %s\\n' $?\n"
    _, out, err = host.run(f"exec 2>&1\n{script}", install=install)
    parts = re.split(r"\n== \d+ (\d+)\n", out)
    assert len(parts) == 2 * len(firsts) + 1, (out, err)
    return {first: (int(parts[2 * i + 1]), parts[2 * i]) for i, first in enumerate(firsts)}


def check_statuses(results):
    for first, (status, output) in results.items():
        assert status == 0 or first.startswith(NOT_ALL_OK), (first, status, output)


def masked(text):
    """Without what differs between hosts: versions of libcurl, and where it is."""
    return re.sub(r"libcurl \d[\d.]* \(\w+, \S+\)", "libcurl", text)


def test_m01_readme_pasted_from_the_top(repository, host, server):
    path = repository / README
    results = session(host, path, server, install=False)
    check_statuses({first: result for first, result in results.items() if not first.startswith(NOT_ALL_OK)})
    by_hand = results[f"tenacurl run -- curl -sS -f {EXAMPLE_HOST}/report"]
    assert by_hand == (0, "right\nright\n")
    checked = block_that_begins(path, "$ tenacurl check").split("\n", 1)[1]
    assert masked(results["$ tenacurl check ./import.sh"][1]) == masked(checked)
    remembered = results["tenacurl last --job import"][1]
    assert "job import" in remembered and f"127.0.0.1:{server.port}" in remembered, remembered
    # Two for each of the two commands, one in audit mode.
    assert len(server.requests) == 5


def test_m01_audit_as_the_readme_has_it(repository, host, server):
    block = block_that_begins(repository / README, NOT_ALL_OK[0])
    _, out, err = host.run(f"{block}")
    assert len(server.requests) == 1
    assert "503" in out and "retry" in out and "added" in out, (out, err)


@pytest.mark.skipif(not shutil.which("php"), reason="php8.2-cli is not installed")
def test_m01_examples_of_the_man_page(repository, host, server):
    results = session(host, repository / COMMANDS, server, install=True)
    check_statuses(results)
    assert results["tenacurl run --deadline 30m --job nightly -- ./import.sh"][1] == "right\n"
    assert "503" in results["tenacurl run --mode audit --log audit.jsonl -- php job.php"][1]


@pytest.mark.skipif(not shutil.which("php"), reason="php8.2-cli is not installed")
@pytest.mark.parametrize("command", ["curl -sS URL/x", "php job.php"])
def test_m01_preloading_by_hand(repository, host, server, command):
    [first] = tried(COMMANDS, PRELOAD)
    variables = " ".join(block_that_begins(repository / COMMANDS, first).split())
    assert host.run(f"env {variables} {command}".replace("URL", server.url("")))[:2] == (0, "right\n")


def policies(repository):
    for document in (README, POLICIES):
        for block in blocks_of(repository / document):
            if first_line(block) in tried(document, POLICY):
                yield block


def test_m01_policies_in_the_documents_are_good(repository, host):
    script = ""
    for number, block in enumerate(policies(repository)):
        host.add(f"{number}.ini", block)
        script += f"chmod 644 {number}.ini && tenacurl policy check {number}.ini || exit 1\n"
    status, out, err = host.run(script)
    # Nothing listens for syslog there, which is told.
    warnings = [line for line in err.splitlines() if "syslog (/dev/log): No such file" not in line]
    assert (status, warnings, out.count(": ok, ")) == (0, [], len(script.splitlines())), out


def cron_lines(repository):
    contrib = (repository / "contrib/cron/tenacurl-example").read_text()
    return {"README": block_that_begins(repository / README, tried(README, CRON)[0]), "contrib": contrib}


def at_once(crontab):
    """The crontab with the time at which cron starts instead of its own."""
    changed, count = re.subn(r"^[\d*]+(?: [\d*]+){4}  ", "@reboot  ", crontab, flags=re.MULTILINE)
    assert count == 1
    return changed


@pytest.mark.skipif(not shutil.which("cron"), reason="cron is not installed")
@pytest.mark.parametrize("where", ["README", "contrib"])
def test_m01_a_job_of_cron_is_saved(repository, host, server, where):
    """Debian's cron runs the line as it stands, with nothing of tenacurl on the host but what make install put there."""
    host.add("crontab", at_once(cron_lines(repository)[where]))
    host.add("import", f"#!/bin/sh\ncurl -sS -f {server.url('/report')} >{host.shared}/output 2>&1\n"
                              f"echo $? >{host.shared}/status.new && mv {host.shared}/status.new {host.shared}/status\n")
    status, out, err = host.run(
        "mkdir -p /usr/local/sbin && cp import /usr/local/sbin && cp crontab /etc/cron.d/job && chmod 644 /etc/cron.d/job\n"
        "cron && timeout 60 sh -c 'until [ -e status ]; do sleep 0.05; done'; tenacurl last --job import\n")
    assert (host.shared / "output").read_text() == "right\n", (out, err)
    assert (status, (host.shared / "status").read_text(), len(server.requests)) == (0, "0\n", 2)
    assert f"127.0.0.1:{server.port}" in out


def dockerfile(text):
    """[(instruction, words), ...]"""
    text = re.sub(r"^#.*\n", "", text, flags=re.MULTILINE).replace("\\\n", " ")
    return [tuple(line.split(None, 1)) for line in text.splitlines() if line.strip()]


def as_script(instructions, host, repository, build, command):
    """What the instructions do, on one host: each stage builds on the last one."""
    script = f"ln -s {repository} /src; ln -s {build} /tmp/build\n"
    for name, words in instructions:
        if name == "RUN":
            script += f"(PATH={host.tools}:$PATH; cd /; {words}) >/dev/null || exit 1\n"
        elif name == "COPY" and words != ". /src":
            source, target = words.split()[-2:]
            source = source if words.startswith("--from") else f"{repository}/{source}"
            script += f'mkdir -p "$(dirname {target})" && cp -a -T {source} {target} || exit 1\n'
        elif name == "ENTRYPOINT":
            script += shlex.join([*json.loads(words), *command]) + "\n"
        else:
            assert name == "FROM" or words == ". /src", name
    return script


@pytest.mark.parametrize("where", ["README", "contrib"])
def test_m01_a_container_is_helped(repository, build, host, server, where):
    whole = (repository / "contrib/container/Dockerfile").read_text()
    text = whole if where == "contrib" else block_that_begins(repository / README, tried(README, CONTAINER)[0])
    build_stage = "" if where == "contrib" else "RUN make install DESTDIR=/out\n"
    script = as_script(dockerfile(build_stage + text), host, repository, build, ["curl", "-sS", "-f", server.url("/report")])
    status, out, err = host.run(script, install=False)
    assert (status, out, len(server.requests)) == (0, "right\n", 2), err
    assert '"reason":"success"' in err or "success" in err


@pytest.mark.skipif(not shutil.which("systemd-analyze"), reason="systemd is not installed")
def test_m01_systemd_takes_the_units(repository):
    units = sorted((repository / "contrib/prometheus").glob("*.[st]*r*"))
    assert [unit.suffix for unit in units] == [".service", ".timer"]
    done = subprocess.run(["systemd-analyze", "verify", "--man=no", *units], capture_output=True, text=True, timeout=60)
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.skipif(not shutil.which("systemd-tmpfiles"), reason="systemd is not installed")
def test_m01_what_is_remembered_has_the_place_that_contrib_makes(host, server):
    status, out, err = host.run("systemd-tmpfiles --create tenacurl.conf || exit 1\nstat -c %a /run/tenacurl/state\n"
                                f"tenacurl run -- curl -sS {server.url('/x')}\nls -d /run/tenacurl/state/*")
    assert (status, out.splitlines()) == (0, ["1777", "right", "/run/tenacurl/state/0"]), err


# Plain ones, and those of a rate limit.
FORBIDDEN = {"plain": [], "retry-after": [["Retry-After", "0"]], "exhausted": [["x-ratelimit-remaining", "0"]]}


@pytest.mark.parametrize("headers", FORBIDDEN)
@pytest.mark.parametrize("retry_status, requests", [("503", 1), ("503, 403", 2)])
def test_d09_all_403_or_none_is_repeated(origin, tenacurl_run, headers, retry_status, requests):
    """As the README has it of every status that a policy's retry_status names or doesn't."""
    server = origin([{"status": 403, "headers": FORBIDDEN[headers], "body": "no"}, RIGHT])
    policy = {"retry_status": retry_status, "jitter": "none", "backoff_base_ms": 1}
    tenacurl_run(["/usr/bin/curl", "-sS", server.url("/x")], policy)
    assert len(server.requests) == requests
