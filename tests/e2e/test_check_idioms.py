# SPDX-License-Identifier: MIT
"""`tenacurl check` of what scripts do: each idiom of check_idioms.py from its files, and held against the run of it (M-06)."""

import json
import os
import re
import shutil
import subprocess

import pytest

from check_idioms import COMMANDS, FILES, IDIOMS
from support.launcher import TENACURL

STATUS = {"covered": 0, "partly": 1, "not": 2, "unknown": 3}


@pytest.fixture
def place(tmp_path, origin):
    """A directory with FILES, and what U is."""
    server = origin([{"body": "good", "repeat": True}])
    for name, text in FILES.items():
        file = tmp_path / name
        file.parent.mkdir(exist_ok=True)
        file.write_text(text.replace("U\n", f"{server.url()}\n").replace(" U", f" {server.url()}").replace(
            '"U"', f'"{server.url()}"'))
        file.chmod(0o755)
    return tmp_path, server.url()


def checked(place, command, *options):
    """The verdict, and whether curl is among the programs that use libcurl."""
    env = {name: os.environ[name] for name in ("PATH", "HOME") if name in os.environ}
    done = subprocess.run([TENACURL, "check", "--json", *options, "--", *command], cwd=place, capture_output=True, text=True,
                          timeout=60, stdin=subprocess.DEVNULL, env={**env, "TENACURL_STATE": str(place / "state")})
    report = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == STATUS[report["verdict"]], done
    return report["verdict"]


def held_against_the_run(place, command, expected, run=None):
    assert checked(place, command) == expected
    if run:
        assert checked(place, command, "--run") == run


def own_linker():
    """The dynamic linker that this system's programs name."""
    return re.search(r"interpreter: (\S+)\]", subprocess.run(["readelf", "-l", "/usr/bin/env"], capture_output=True, text=True,
                                                            check=True).stdout)[1]


def url_in(text, url):
    """U as a word of its own."""
    return text.replace(" U", f" {url}").replace("\"U", f"\"{url}")


@pytest.mark.parametrize("row", IDIOMS, ids=lambda row: row[0].replace("\n", " / "))
def test_m06_an_idiom(place, row):
    directory, url = place
    script, expected, run = row if len(row) == 3 else (*row, row[1])
    (directory / "job.sh").write_text(url_in(script, url) + "\n")
    held_against_the_run(directory, ["bash", "./job.sh"], expected, run)


@pytest.mark.parametrize("row", COMMANDS, ids=lambda row: " ".join(row[0]))
def test_m06_a_command(place, row):
    directory, url = place
    command, expected, run = row if len(row) == 3 else (*row, row[1])
    if command[0] == "LINKER":
        command = [own_linker(), *command[1:]]
    if not shutil.which(command[0], path=f"{os.environ['PATH']}:{directory}"):
        pytest.skip(f"not installed: {command[0]}")
    held_against_the_run(directory, [url if word == "U" else url_in(word, url) for word in command], expected, run)


def test_m06_what_can_not_be_told_is_never_not_covered():
    for row in [*IDIOMS, *COMMANDS]:
        run = row[2] if len(row) == 3 else row[1]
        assert not (row[1] == "not" and run == "covered"), row


def test_m06_a_program_that_is_named_to_its_dynamic_linker_is_not_refused(place):
    directory, url = place
    done = subprocess.run([TENACURL, "run", "--require", "--", own_linker(), "/usr/bin/curl", "-s", url], capture_output=True,
                          text=True, timeout=60, env={**os.environ, "TENACURL_STATE": str(directory / "state")})
    assert (done.returncode, done.stdout, done.stderr) == (0, "good", "")


@pytest.mark.parametrize("name", ["ssh", "kubectl exec job --"])
def test_m06_what_clears_the_environment_is_named(place, name):
    """Be it installed or not."""
    directory, url = place
    (directory / "job.sh").write_text(f"{name} host curl -s {url}\n")
    done = subprocess.run([TENACURL, "check", "sh", "job.sh"], cwd=directory, capture_output=True, text=True, timeout=60)
    assert f"note: {name.split()[0]} keeps tenacurl from what it starts: put 'tenacurl run --' behind it\n" in done.stdout


def test_m06_what_a_script_repeats_is_looked_at_once(place):
    if not shutil.which("strace"):
        pytest.skip("not installed: strace")
    directory, _ = place

    def opened(lines):
        (directory / "job.sh").write_text("curl -s http://127.0.0.1/\n" * lines)
        trace = directory / "trace"
        subprocess.run(["strace", "-f", "-e", "trace=openat", "-o", trace, TENACURL, "check", "sh", "job.sh"], cwd=directory,
                       capture_output=True, timeout=60, check=True)
        return trace.read_text().count('/curl"')

    assert opened(200) == opened(1) > 0
