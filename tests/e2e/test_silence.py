# SPDX-License-Identifier: MIT
"""Nothing is silent: what keeps tenacurl from helping, or from telling, is told where a person looks."""

import os
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
