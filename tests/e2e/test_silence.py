# SPDX-License-Identifier: MIT
"""Nothing is silent: what keeps tenacurl from helping, or from telling, is told where a person looks."""

import json
import os
import re
import subprocess

import pytest
from support.terminal import on_terminal

OK = {"status": 200, "body": "fine", "repeat": True}
BUSY = {"status": 503, "body": "busy"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}
HIDDEN_RUN = "set -e; mount -t tmpfs -o mode=0755 none /run; mkdir -m 0755 /run/tenacurl; "


def in_own_run(prepare):
    """A command line's beginning: a /run of its own, in which `prepare` was done."""
    if os.geteuid() != 0 or subprocess.run(["unshare", "--mount", "--", "true"], capture_output=True).returncode != 0:
        pytest.skip("only root can have a /run of its own")
    return ["unshare", "--mount", "--", "sh", "-c", f'{HIDDEN_RUN}{prepare}; exec "$@"', "sh"]


SWITCH = "/run/tenacurl/off switches tenacurl off"
COMMANDS = {
    "check": ["check", "curl", "http://127.0.0.1/"],
    "stats": ["stats"],
    "last": ["last"],
    "policy explain": ["policy", "explain"],
}


@pytest.mark.parametrize("name", COMMANDS)
def test_l04_switch_is_told(runner, build, name):
    argv = [build / "tenacurl", *COMMANDS[name]]
    off = runner.bare([*in_own_run("touch /run/tenacurl/off"), *argv])
    on = runner.bare([*in_own_run("true"), *argv])
    assert off.stderr.decode().count(SWITCH) == 1, off
    assert SWITCH not in on.stderr.decode()
    assert (off.returncode, off.stdout) == (on.returncode, on.stdout)


def test_l04_switch_is_told_by_run(runner, build):
    argv = [*in_own_run("touch /run/tenacurl/off"), build / "tenacurl", "run", "--", "true"]
    status, written = on_terminal(argv, runner.environment(), runner.directory)
    assert (status, written.count(SWITCH), written.count("\n")) == (0, 1, 1), written
    # Without a terminal it is for syslog: a job's mail isn't the place.
    assert runner.bare(argv).stderr == b""


def test_l04_strangers_switch_is_told(runner, build):
    argv = [*in_own_run("touch /run/tenacurl/off; chown 54321 /run/tenacurl/off"), build / "tenacurl", "policy", "explain"]
    assert "/run/tenacurl/off: doesn't count, since it belongs to user 54321" in runner.bare(argv).stderr.decode()


REDIRECTIONS = {"log": 3, "both": 3, "freopen": 3, "pipe": 3, "null": 0, "data": 0, "all": 0, "socket": 0}


@pytest.mark.parametrize("log", ["stderr", "/dev/stderr", "/proc/self/fd/2"])
@pytest.mark.parametrize("how", REDIRECTIONS)
def test_l02_redirected_stderr_is_followed(origin, tenacurl_run, build, tmp_path, how, log):
    """And a number that was closed and came back for something else is left alone."""
    server, file = origin([BUSY, OK]), tmp_path / "file"
    result = tenacurl_run([build / "tests/clients/redirected", how, file, server.url("/x")], {**FAST, "log": log})
    assert (result.returncode, len(server.requests)) == (0, 2)
    assert result.stderr == b""
    lines = file.read_text().splitlines() if file.exists() else []
    assert len(lines) == REDIRECTIONS[how], lines
    assert all(line.startswith("tenacurl: ") for line in lines)


def test_l05_stderr_is_for_people(origin, tenacurl_run):
    """`log = stderr` is text, `stderr-json` is what `tenacurl log` reads, and other sinks stay JSON."""
    server = origin([BUSY, {"body": "fine"}, BUSY, {"body": "fine"}])
    text = tenacurl_run(["curl", "-sS", server.url("/x")], {**FAST, "log": "stderr"}).stderr.decode().splitlines()
    url = server.url("/x")
    assert len(text) == 3
    told = [re.sub(r"[0-9.]+ m?s", "TIME", line.split(url)[1]) for line in text]
    assert told[0] == ": attempt 1: 503, retry in TIME: transient_failure"
    assert told[1] == ": attempt 2: 200, deliver: success"
    assert re.fullmatch(r": 200 after 2 attempts in TIME( \(waited TIME\))?: success", told[2])
    lines = tenacurl_run(["curl", "-sS", url], {**FAST, "log": "stderr-json"}).stderr.splitlines()
    assert [json.loads(line)["kind"] for line in lines] == ["attempt", "attempt", "operation"]
