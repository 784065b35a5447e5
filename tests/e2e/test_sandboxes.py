# SPDX-License-Identifier: MIT
"""
Sandboxes and limits (H-02), as firejail, bubblewrap and unshare make them: what runs in one runs with tenacurl as without, and
is saved from one 503. System call filters are test_call_filters.py's, a real systemd's units test_systemd.py's.
"""

import shutil
import tempfile
from pathlib import Path

import pytest

BUSY, RIGHT = {"status": 503, "body": "busy"}, {"body": "right"}

CURL = ["curl", "-sS"]
PHP = ["php", "-r", "$c = curl_init($argv[1]); curl_setopt($c, CURLOPT_RETURNTRANSFER, 1); echo curl_exec($c);"]

BWRAP = ["bwrap", "--unshare-pid", "--die-with-parent", "--ro-bind", "/", "/"]
DEVICES = [word for name in ("null", "urandom") for word in ("--dev-bind", f"/dev/{name}", f"/dev/{name}")]


def mounted(command):
    """In mount and process namespaces of its own, where `command` may change what is mounted."""
    unshare = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--mount-proc"]
    return [*unshare, "sh", "-c", f'{command} && exec "$@"', "sh"]


def limited(limit):
    return ["prlimit", *limit.split()]


# Each the words that start a program in it.
SANDBOXES = {
    "bwrap, a process tree of its own": [*BWRAP, "--dev", "/dev", "--proc", "/proc"],
    "bwrap, no /proc": [*BWRAP, "--dev", "/dev", "--tmpfs", "/proc"],
    "bwrap, no /dev/shm": [*BWRAP, "--proc", "/proc", "--tmpfs", "/dev", *DEVICES],
    "bwrap, an empty /dev and /proc": [*BWRAP, "--tmpfs", "/dev", "--tmpfs", "/proc"],
    "bwrap, no capabilities": [*BWRAP, "--dev", "/dev", "--proc", "/proc", "--unshare-user", "--cap-drop", "ALL"],
    "firejail": ["firejail", "--quiet", "--noprofile", "--seccomp", "--caps.drop=all", "--nonewprivs"],
    "firejail, private": ["firejail", "--quiet", "--noprofile", "--private-dev", "--noroot", "--memory-deny-write-execute"],
    "no program may run from /tmp": mounted("mount -t tmpfs -o noexec tmpfs /dev/shm && mount --bind /tmp /tmp && "
                                            "mount -o remount,bind,noexec /tmp"),
    "nothing may be written": mounted("mount -o remount,bind,ro / && mount -t tmpfs -o ro tmpfs /dev/shm"),
    "an empty environment": ["env", "-i"],
    "few descriptors": limited("--nofile=16"),
    "no descriptor left for us": limited("--nofile=7"),
    "little address space": limited("--as=150000000"),
    "empty files": limited("--fsize=0"),
    "no further process": limited("--nproc=0"),
    "a small stack": limited("--stack=131072"),
    "no locked memory": limited("--memlock=0"),
    "no core, no priority, no queues": limited("--core=0 --nice=0 --msgqueue=0 --rtprio=0 --sigpending=0"),
}


@pytest.fixture
def settings(build, runner, tmp_path):
    """Assignments for env(1) that a program in a sandbox starts with."""
    policy = tmp_path / "policy.ini"
    policy.write_text(f"[policy]\njitter = none\nbackoff_base_ms = 1\nlog = {tmp_path}/log.jsonl\n")
    policy.chmod(0o600)
    env = {**runner.binder_environment(), "LD_PRELOAD": str(build / "libtenacurl.so"), "TENACURL_POLICY": str(policy)}
    return [f"{name}={value}" for name, value in env.items()]


@pytest.fixture
def start(bare, tmp_path):
    """start(words) -> Result. What has a /dev/shm of its own looks for the state in the usual places."""
    def run(words):
        return bare(["env", "-u", "TENACURL_STATE", *words] if words[0] in ("bwrap", "unshare") else words)
    return run


def outcome(result):
    return result.returncode, result.stdout, result.stderr


def skip_unless_it_starts(start, sandbox, *program):
    if not shutil.which(sandbox[0]):
        pytest.skip(f"{sandbox[0]} isn't installed")
    trial = start([*sandbox, *program])
    if trial.returncode != 0:
        pytest.skip(f"{sandbox[0]}: {trial.stderr.decode(errors='replace').strip()[:200]}")


@pytest.mark.parametrize("program", [CURL, PHP], ids=["curl", "php"])
@pytest.mark.parametrize("name", SANDBOXES)
def test_h02_program_in_a_sandbox(build, origin, start, settings, tmp_path, name, program):
    sandbox = SANDBOXES[name]
    if sandbox[0] == "env":
        settings = [*settings, f"TENACURL_STATE={tmp_path}/state"]
    # Not so where the build lies in a directory that the sandbox hides or disarms.
    skip_unless_it_starts(start, sandbox, build / "tenacurl", "--version")
    whole, server = origin([RIGHT]), origin([BUSY, RIGHT])
    expected = start([*sandbox, *program, whole.url()])
    assert outcome(start([*sandbox, "env", *settings, *program, server.url()])) == outcome(expected)
    assert len(server.requests) == 2 * len(whole.requests)


CLOSED = {"input": "<&-", "output": ">&-", "all": "<&- >&- 2>&-"}


@pytest.mark.parametrize("closed", CLOSED)
def test_h02_closed_streams(origin, start, settings, tmp_path, closed):
    """What is opened first gets the numbers of the streams, and keeps them to itself."""
    server = origin([BUSY, RIGHT])
    sandbox = ["sh", "-c", f'exec "$@" {CLOSED[closed]}', "sh"]
    result = start([*sandbox, "env", *settings, *CURL, "-o", tmp_path / "out", server.url()])
    assert outcome(result) == (0, b"", b"")
    assert (tmp_path / "out").read_bytes() == b"right"
    assert len(server.requests) == 2


def test_h02_other_processes_are_hidden(build, origin, start, settings, tmp_path):
    """hidepid=2, and a user who sees nobody's processes but his own."""
    server = origin([BUSY, RIGHT])
    nobody = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    sandbox = [*mounted("mount -o remount,hidepid=2 /proc && mount -t tmpfs tmpfs /dev/shm"), *nobody]
    skip_unless_it_starts(start, sandbox, "/bin/true")
    place = Path(tempfile.mkdtemp(dir="/tmp"))
    try:
        place.chmod(0o755)
        for file in ("libtenacurl.so", "libtenacurl-bind.so"):
            shutil.copy(build / file, place)
        (place / "policy.ini").write_text("[policy]\njitter = none\nbackoff_base_ms = 1\n")
        reachable = [word.replace(str(build), str(place)).replace(str(tmp_path), str(place)) for word in settings]
        assert outcome(start([*sandbox, "env", *reachable, *CURL, server.url()])) == (0, b"right", b"")
    finally:
        shutil.rmtree(place)
    assert len(server.requests) == 2
