# SPDX-License-Identifier: MIT
"""A guest in somebody else's process: trouble of ours is not the program's, and what was lent is given back."""

import os
import signal
import stat
import subprocess

import pytest
from support.waiting import wait_until

OK = {"status": 200, "body": "fine", "repeat": True}
BUSY = {"status": 503, "body": "busy"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}


@pytest.fixture
def preloaded(build, runner):
    """preloaded(argv, env) -> Result of argv with LD_PRELOAD set by hand, as without the launcher."""

    def run(argv, env=None):
        return runner.bare(argv, {"LD_PRELOAD": str(build / "libtenacurl.so"), **(env or {})})

    return run


def get(server, *options):
    return ["curl", "-sS", *options, server.url("/x")]


def outcome(result):
    return result.returncode, result.stdout, result.stderr


BAD_POLICIES = {
    "unknown-key": "[policy]\nmax_attemps = 3\n",
    "not-an-ini-file": "\x7fELF\x00\x01",
    "bad-number": "[policy]\ndeadline_ms = soon\n",
    "contradiction": "[policy]\nmode = audit\n",
}


@pytest.mark.parametrize("name", BAD_POLICIES)
def test_broken_policy_passes_through(origin, bare, preloaded, tmp_path, name):
    path = tmp_path / "policy.ini"
    path.write_text(BAD_POLICIES[name])
    server = origin([{**BUSY, "repeat": True}])
    expected = outcome(bare(get(server, "-f")))
    assert outcome(preloaded(get(server, "-f"), {"TENACURL_POLICY": str(path)})) == expected
    assert len(server.requests) == 2


@pytest.mark.parametrize("make", ["missing", "directory", "fifo", "writable"])
def test_policy_that_cannot_be_read_passes_through(origin, bare, preloaded, tmp_path, make):
    path = tmp_path / "policy.ini"
    if make == "directory":
        path.mkdir()
    elif make == "fifo":
        os.mkfifo(path)
    elif make == "writable":
        path.write_text("[policy]\n")
        path.chmod(0o666)
    server = origin([{**BUSY, "repeat": True}])
    expected = outcome(bare(get(server, "-f")))
    assert outcome(preloaded(get(server, "-f"), {"TENACURL_POLICY": str(path)})) == expected
    assert len(server.requests) == 2


@pytest.mark.parametrize("variable,value", [("TENACURL_MODE", "enfroce"), ("TENACURL_LOG", "relative.log")])
def test_bad_environment_passes_through(origin, bare, preloaded, variable, value):
    server = origin([{**BUSY, "repeat": True}])
    expected = outcome(bare(get(server, "-f")))
    assert outcome(preloaded(get(server, "-f"), {variable: value})) == expected
    assert len(server.requests) == 2


def test_complaint_goes_to_the_log_that_the_environment_names(origin, preloaded, tmp_path):
    server = origin([OK])
    log = tmp_path / "log.jsonl"
    preloaded(get(server), {"TENACURL_POLICY": str(tmp_path / "missing.ini"), "TENACURL_LOG": str(log)})
    assert '"kind":"note"' in log.read_text()
    assert "missing.ini" in log.read_text()


@pytest.mark.parametrize("make", ["directory", "fifo", "symlink", "missing-directory", "unwritable"])
def test_log_that_cannot_be_written_changes_nothing(origin, bare, preloaded, tmp_path, make):
    log = tmp_path / "log"
    if make == "directory":
        log.mkdir()
    elif make == "fifo":
        os.mkfifo(log)
    elif make == "symlink":
        log.symlink_to(tmp_path / "elsewhere")
    elif make == "missing-directory":
        log = tmp_path / "missing" / "log"
    else:
        log.write_text("")
        log.chmod(0o400)
    server = origin([OK])
    expected = outcome(bare(get(server)))
    busy = origin([BUSY, OK])
    result = preloaded(get(busy), {"TENACURL_LOG": str(log)})
    assert outcome(result) == expected
    assert len(busy.requests) == 2
    assert not (tmp_path / "elsewhere").exists()


def test_disabled(origin, bare, preloaded):
    server = origin([{**BUSY, "repeat": True}])
    expected = outcome(bare(get(server, "-f")))
    assert outcome(preloaded(get(server, "-f"), {"TENACURL_DISABLE": "1"})) == expected
    assert len(server.requests) == 2


def test_log_to_stderr_only_while_it_is_the_same_file(origin, preloaded, build):
    server = origin([BUSY, OK, BUSY, OK])
    environment = {"TENACURL_LOG": "stderr-json", "TENACURL_POLICY": ""}
    result = preloaded(get(server), environment)
    assert result.stderr.count(b'"kind":"attempt"') == 2
    # With --stderr curl opens another stream and leaves fd 2 alone; the shell replaces fd 2 before curl starts.
    script = f'exec 2>/dev/null; exec curl -sS {server.url("/x")}'
    assert preloaded(["sh", "-c", script], environment).stderr == b""


def test_kill_switch(origin, tenacurl_run):
    switch = "/run/tenacurl/off"
    if os.geteuid() != 0 or os.path.exists(switch):
        pytest.skip("the kill switch belongs to root, and somebody uses it")
    os.makedirs(os.path.dirname(switch), exist_ok=True)
    server = origin([{**BUSY, "repeat": True}])
    try:
        open(switch, "x").close()
        tenacurl_run(get(server))
    finally:
        os.unlink(switch)
    assert len(server.requests) == 1


def test_changed_policy_counts_for_later_operations(origin, runner):
    """A long-running process sees a new policy within a second or so, at one of its next operations."""
    server = origin([{**BUSY, "repeat": True}])
    script = (
        "import pycurl, sys\n"
        "c = pycurl.Curl(); c.setopt(c.WRITEFUNCTION, lambda b: None)\n"
        "for number, line in enumerate(sys.stdin):\n"
        "    c.setopt(c.URL, f'{sys.argv[1]}/{number}'); c.perform(); print('done', flush=True)\n"
    )
    policy = {**FAST, "max_attempts": 2, "budget_tokens": 0}
    running = runner.start(["/usr/bin/python3", "-c", script, server.url("/x")], policy, stdin=subprocess.PIPE)

    def attempts_of_one_more_operation():
        before = len(server.requests)
        running.process.stdin.write(b"go\n")
        running.process.stdin.flush()
        assert running.process.stdout.readline() == b"done\n"
        return len(server.requests) - before

    assert attempts_of_one_more_operation() == 2
    path = runner.directory / "run1" / "policy.ini"
    path.write_text(path.read_text().replace("max_attempts = 2", "max_attempts = 3"))
    wait_until(lambda: attempts_of_one_more_operation() == 3, "the new policy")
    assert running.wait().returncode == 0


def test_program_timeout_bounds_the_whole_and_comes_back(build, origin, tenacurl_run):
    """RC-28: later attempts get what is left of CURLOPT_TIMEOUT; the next perform gets all of it again."""
    server = origin([BUSY, {"fault": "silence"}, {"fault": "silence"}, OK])
    argv = [build / "tests/clients/transfer", server.url("/x"), "timeout_ms=700", "--", "url=" + server.url("/y")]
    result = tenacurl_run(argv, policy={**FAST, "replay": "all"})
    elapsed = [int(line.split()[1]) for line in result.stderr.decode().splitlines() if line.startswith("elapsed_ms")]
    assert all(700 <= ms < 1200 for ms in elapsed), elapsed
    assert result.stdout.count(b"result 28 ") == 2


def test_connect_timeout_comes_back(build, origin, tenacurl_run):
    server = origin([OK], blackhole=True)
    argv = [build / "tests/clients/transfer", server.url("/x"), "connect_timeout_ms=600", "--", "url=" + server.url("/y")]
    result = tenacurl_run(argv, policy={**FAST, "connect_timeout_ms": 100, "max_attempts": 2})
    assert len(result.attempts) == 4
    # No attempt took the program's 600 ms, and the policy's 100 ms count for each.
    assert all(record["total_ms"] < 600 for record in result.attempts)


@pytest.mark.parametrize("count", [100])
def test_waits_are_never_shortened_by_signals(build, origin, runner, count):
    """A hundred waits of a Retry-After, measured at the server, while signals keep arriving."""
    waits_s = [0.01, 0.013, 0.02, 0.037]
    script = []
    for i in range(count):
        wait_s = waits_s[i % len(waits_s)]
        script += [{"status": 503, "headers": [["Retry-After", str(wait_s)]]}, {"status": 200, "body": "ok"}]
    server = origin(script)
    policy = {"backoff_base_ms": 1, "budget_tokens": 1000}
    argv = [build / "tests/clients/signalled", server.url("/x"), str(count)]
    result = runner.run(argv, policy)
    assert result.returncode == 0, result.stderr
    requests = server.requests
    assert len(requests) == 2 * count
    for i in range(count):
        asked_us = waits_s[i % len(waits_s)] * 1e6
        answered_us = requests[2 * i].answer["us"]
        assert requests[2 * i + 1].first_byte_us - answered_us >= asked_us
    assert b"signals" in result.stdout and int(result.stdout.split()[1]) > count


def test_deadline_of_the_launcher_is_spent_at_entry(build, origin, tenacurl_run):
    server = origin([OK])
    script = f"sleep 0.3; exec {build}/tests/clients/transfer {server.url('/x')}"
    result = tenacurl_run(["sh", "-c", script], options=["--deadline", "200ms"])
    assert b"result 28 tenacurl: " in result.stdout
    assert b"info response_code 0\n" in result.stdout
    assert len(server.requests) == 0
    assert result.operation["reason"] == "deadline_budget"


def test_deadline_of_a_launcher_that_is_gone_does_not_count(build, origin, tenacurl_run, tmp_path):
    server = origin([OK])
    # The launcher's process is the shell; what it leaves behind in the background outlives it.
    script = f"(sleep 0.5; {build}/tests/clients/transfer {server.url('/x')} >{tmp_path}/out 2>&1; touch {tmp_path}/done) &"
    tenacurl_run(["sh", "-c", script + " exit 0"], options=["--deadline", "300ms"])
    wait_until(lambda: (tmp_path / "done").exists(), "the daemon")
    assert "result 0 " in (tmp_path / "out").read_text()


def test_no_secret_reaches_the_log(origin, tenacurl_run):
    """RC-41."""
    server = origin([{**BUSY, "headers": [["Set-Cookie", "s=SETC"], ["Location", "http://x:LOCPW@h/?t=LOCTOK"]]}, OK])
    url = f"http://user:S3CRET@127.0.0.1:{server.port}/p/ath?token=T0KEN&X-Amz-Signature=SIGN#frag"
    argv = ["curl", "-sS", url, "-H", "Authorization: Bearer B3ARER", "-b", "c=C00KIE"]
    result = tenacurl_run(argv, policy={**FAST, "log_url": "full-path"})
    assert len(result.attempts) == 2
    log = (result.argv[result.argv.index("--policy") + 1]).replace("policy.ini", "log.jsonl")
    text = open(log).read()
    for secret in ["S3CRET", "T0KEN", "SIGN", "B3ARER", "C00KIE", "SETC", "LOCPW", "LOCTOK", "frag", "user"]:
        assert secret not in text, secret
    assert result.attempts[0]["url"] == f"http://127.0.0.1:{server.port}/p/ath"
    assert server.requests[0].header("Authorization") == ["Bearer B3ARER"]


def test_log_file_is_private_and_whole(origin, tenacurl_run, tmp_path):
    log = tmp_path / "log.jsonl"
    server = origin([BUSY, OK])
    tenacurl_run(get(server), options=["--log", str(log)])
    assert stat.S_IMODE(log.stat().st_mode) == 0o600
    assert log.read_text().endswith("\n")


def test_interrupt_ends_a_program_that_waits(origin, runner):
    """RC-29: no signal is blocked during a wait."""
    server = origin([{"status": 503, "headers": [["Retry-After", "20"]]}, OK])
    running = runner.start(get(server))
    wait_until(lambda: len(running.records) >= 1, "the first attempt's record")
    running.process.send_signal(signal.SIGINT)
    result = running.wait(timeout=10)
    assert result.returncode == -signal.SIGINT
    assert len(server.requests) == 1


def test_cancelled_thread_leaves_no_lock_behind(build, origin, tenacurl_run):
    server = origin([{"status": 503, "headers": [["Retry-After", "20"]]}, OK])
    result = tenacurl_run([build / "tests/clients/cancelled", server.url("/x")], policy=FAST)
    assert result.returncode == 0, result.stderr
    assert result.stdout == b"cancelled\nfirst handle cleaned up\nanother transfer 0 200\n"
