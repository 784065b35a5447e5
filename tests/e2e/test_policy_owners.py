# SPDX-License-Identifier: MIT
"""Whose word counts, and what is no word at all: policies, the kill switch and variables as people have them."""

import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import threading

import pytest
from support.runner import policy_text
from support.waiting import wait_until

OK = {"status": 200, "body": "fine", "repeat": True}
BUSY = {"status": 503, "body": "busy"}
ALICE, BOB = "54321", "54322"
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}


def get(server):
    return ["curl", "-sS", server.url("/$(>owned)`>owned`")]


@pytest.fixture
def public(build):
    """A directory that everybody can read, with what was built."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tenacurl-public-"))
    directory.chmod(0o755)
    for name in ("tenacurl", "libtenacurl.so"):
        shutil.copy(build / name, directory / name)
        (directory / name).chmod(0o755)
    yield directory
    shutil.rmtree(directory)


def as_user(user):
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("only root can be somebody else")
    return ["setpriv", "--reuid", user, "--regid", user, "--clear-groups", "--"]


def in_namespaces(*options):
    """unshare with these options, if that can be had."""
    argv = ["unshare", *options, "--"]
    if subprocess.run([*argv, "true"], capture_output=True).returncode != 0:
        pytest.skip("no namespaces here")
    return argv


def give(path, user):
    os.chown(path, int(user), int(user))


def test_a10_somebody_elses_policy(origin, runner, public, tmp_path):
    """bob's programs with alice's HOME: her log must not become his start file."""
    bob = as_user(BOB)
    home, start_file, log = public / "alice", public / "bob" / ".bashrc", public / "bob" / "log"
    policy = home / ".config" / "tenacurl" / "policy.ini"
    policy.parent.mkdir(parents=True)
    start_file.parent.mkdir()
    start_file.write_text("# bob's\n")
    policy.write_text(policy_text({**FAST, "log": str(start_file), "log_events": "all"}))
    policy.chmod(0o664)
    for path, user in ((policy, ALICE), (start_file, BOB), (start_file.parent, BOB)):
        give(path, user)
    server = origin([{**BUSY, "repeat": True}])
    env = {"HOME": str(home), "LD_PRELOAD": str(public / "libtenacurl.so"), "TENACURL_LOG": str(log)}
    result = runner.bare([*bob, "env", f"LD_PRELOAD={env['LD_PRELOAD']}", *get(server)],
                         {key: value for key, value in env.items() if key != "LD_PRELOAD"})
    assert result.stdout == b"busy" and len(server.requests) == 1
    assert start_file.read_text() == "# bob's\n"
    reason = f"policy.ini: belongs to user {ALICE}; allowed: root's, or user {BOB}'s own"
    assert log.read_text().count('"kind":"note"') == 1 and f"{reason}; tenacurl stays out" in log.read_text()
    for command in (["policy", "explain"], ["policy", "check", policy], ["run", "--require", "--", "true"]):
        told = runner.bare([*bob, public / "tenacurl", *command], {"HOME": str(home)})
        assert told.returncode != 0 and reason in told.stderr.decode(), (command, told)


def test_a10_log_is_no_script(origin, tenacurl_run, tmp_path):
    """Whoever gets a record appended to a file that a shell reads has nothing of the URL run."""
    server = origin([BUSY, OK])
    result = tenacurl_run(get(server), policy={**FAST, "log_url": "full-path"})
    assert len(result.attempts) == 2 and "$(>owned)`>owned`" in result.attempts[0]["url"]
    record = next(tmp_path.rglob("log.jsonl"))
    subprocess.run(["sh", str(record)], cwd=tmp_path, capture_output=True)
    assert not (tmp_path / "owned").exists()


CONFIG_MAP = """
set -e; cd "$1"
mount -t tmpfs -o mode=0777 none "$1"; cd "$1"
mkdir ..2026_12_01; printf '[policy]\\nbackoff_base_ms = 1\\n' >..2026_12_01/policy.ini
ln -s ..2026_12_01 ..data; ln -s ..data/policy.ini policy.ini; chmod 0777 . ..2026_12_01
mount -o remount,bind,"$2" "$1"
shift 2; exec "$@"
"""


@pytest.mark.parametrize("access, requests", [("ro", 2), ("rw", 1)])
def test_a10_config_map(origin, runner, build, tmp_path, access, requests):
    """Kubernetes' layout: 0777 and behind links; nobody can change it only if its mount is read-only."""
    namespaces = in_namespaces("--user", "--map-root-user", "--mount")
    mounted = tmp_path / "config"
    mounted.mkdir()
    server = origin([BUSY, OK])
    log, policy = tmp_path / "log", mounted / "policy.ini"
    env = {"TENACURL_POLICY": str(policy), "TENACURL_LOG": str(log)}
    preload = f"LD_PRELOAD={build}/libtenacurl.so"
    argv = [*namespaces, "sh", "-c", CONFIG_MAP, "sh", mounted, access]
    result = runner.bare([*argv, "env", preload, *get(server)], env)
    assert result.stdout == (b"fine" if requests == 2 else b"busy"), (result, log.read_text())
    assert len(server.requests) == requests
    told = runner.bare([*argv, build / "tenacurl", "policy", "check", policy])
    assert told.returncode == (0 if access == "ro" else 1), told
    if access == "rw":
        assert "its directory may be changed by others" in told.stderr.decode()
        assert "its directory may be changed by others" in log.read_text()


@pytest.mark.parametrize("mapped, trusted", [("--map-user=1000", True), ("--map-root-user", False)])
def test_a10_root_of_another_namespace(runner, public, mapped, trusted):
    """Where user 0 isn't known, root's files seem to be nobody's; where it is, nobody's are a stranger's."""
    as_user(ALICE)
    policy = public / "policy.ini"
    policy.write_text("[policy]\n")
    give(policy, ALICE)
    result = runner.bare([*in_namespaces("--user", mapped), public / "tenacurl", "policy", "check", policy])
    assert (result.returncode == 0) == trusted, result
    if not trusted:
        assert b"belongs to user 65534" in result.stderr


def test_h10_policy_that_one_user_cannot_reach(origin, runner, public):
    """`mode = off` in a directory that umask 077 made: what can't be looked at is no permission."""
    bob = as_user(BOB)
    folder, log = public / "private", public / "log"
    folder.mkdir(mode=0o700)
    (folder / "policy.ini").write_text("[policy]\nmode = off\n")
    log.touch()
    give(log, BOB)
    server = origin([{**BUSY, "repeat": True}])
    settings = ["env", f"LD_PRELOAD={public}/libtenacurl.so"]
    env = {"TENACURL_POLICY": str(folder / "policy.ini"), "TENACURL_LOG": str(log)}
    runner.bare([*settings, *get(server)], env)
    runner.bare([*bob, *settings, *get(server)], env)
    assert len(server.requests) == 2
    assert log.read_text().count("cannot be opened: Permission denied; tenacurl stays out") == 1


KILL_SWITCH = """
set -e
mount -t tmpfs -o mode=0755 none /run; mkdir -m 0755 /run/tenacurl
PREPARE
exec "$@"
"""

SWITCHES = {
    "root's": ("touch /run/tenacurl/off", 1, ""),
    "one's own": (f"touch /run/tenacurl/off; chown {BOB} /run/tenacurl/off", 1, ""),
    "a stranger's": (f"touch /run/tenacurl/off; chown {ALICE} /run/tenacurl/off", 2,
                     f"/run/tenacurl/off: doesn't count, since it belongs to user {ALICE}"),
    "a stranger's link to root's": (f"ln -s /etc/passwd /run/tenacurl/off; chown -h {ALICE} /run/tenacurl/off", 2,
                                    "doesn't count"),
    "root's link to nothing": ("ln -s nothing /run/tenacurl/off", 1, ""),
    "hidden": ("chmod 0700 /run/tenacurl", 1, "/run/tenacurl/off: cannot be looked at: Permission denied"),
    "a file in the way": ("rmdir /run/tenacurl; touch /run/tenacurl", 2, ""),
    "none": ("", 2, ""),
}


@pytest.mark.parametrize("name", SWITCHES)
def test_h10_d08_kill_switch(origin, runner, public, name):
    prepare, requests, told = SWITCHES[name]
    bob = as_user(BOB)
    namespaces = in_namespaces("--mount")
    log, policy = public / "log", public / "policy.ini"
    policy.write_text(policy_text({**FAST, "state": "none", "log": str(log)}))
    log.touch()
    give(log, BOB)
    server = origin([BUSY, OK])
    settings = ["env", f"LD_PRELOAD={public}/libtenacurl.so"]
    argv = [*namespaces, "sh", "-c", KILL_SWITCH.replace("PREPARE", prepare), "sh", *bob, *settings, *get(server)]
    runner.bare(argv, {"TENACURL_POLICY": str(policy), "TENACURL_LOG": str(log)})
    assert len(server.requests) == requests
    assert log.read_text().count('"kind":"note"') == (1 if told else 0) and told in log.read_text()


DISABLED = ["1", "yes", "TRUE", "On", '"1"', "'true'", ' "1" ', "1\n"]
ENABLED = ["", "0", "no", "False", "OFF", '"0"', '""', "' off '"]
ODD = ["2", "y", "enabled", '"1', "\u201c1\u201d"]


@pytest.mark.parametrize("value", DISABLED + ENABLED + ODD)
def test_h11_spellings(origin, runner, build, tmp_path, value):
    """Whoever sets it to anything wants tenacurl off, unless it plainly says no."""
    is_off = value not in ENABLED
    log = tmp_path / "log"
    server, policy = origin([BUSY, OK]), tmp_path / "policy.ini"
    policy.write_text(policy_text(FAST))
    env = {"TENACURL_POLICY": str(policy), "TENACURL_DISABLE": value, "LD_PRELOAD": str(build / "libtenacurl.so"), "TENACURL_LOG": str(log)}
    result = runner.bare(["curl", "-sS", server.url(), "--next", "-sS", server.url()], env)
    assert result.stderr == b"" and len(server.requests) == (2 if is_off else 3)
    notes = log.read_text().count("TENACURL_DISABLE =: not a known word, so tenacurl is off") if log.exists() else 0
    assert notes == (1 if value in ODD else 0)
    checked = runner.bare([build / "tenacurl", "check", "curl"], {"TENACURL_DISABLE": value})
    assert (b"switched off" in checked.stdout) == is_off
    required = runner.bare([build / "tenacurl", "run", "--require", "--", "curl", "--version"], {"TENACURL_DISABLE": value})
    assert (required.returncode != 0) == is_off


def test_h11_other_variables(origin, runner, build, tmp_path):
    """Quotes that docker's --env-file keeps are no part of a value."""
    log, policy = tmp_path / "log", tmp_path / "policy.ini"
    policy.write_text(policy_text(FAST))
    server = origin([BUSY, OK, {**BUSY, "repeat": True}])
    env = {"TENACURL_POLICY": f'"{policy}"', "TENACURL_LOG": f"'{log}'", "TENACURL_JOB": '"nightly"'}
    preloaded = {**env, "LD_PRELOAD": str(build / "libtenacurl.so")}
    assert runner.bare(["curl", "-sS", server.url()], preloaded).stdout == b"fine"
    assert '"job":"nightly"' in log.read_text() and str(policy) in log.read_text()
    runner.bare(["curl", "-sS", server.url()], {**preloaded, "TENACURL_MODE": '"off"'})
    assert len(server.requests) == 3
    told = runner.bare([build / "tenacurl", "policy", "explain"], {**env, "TENACURL_MODE": '"off"'})
    assert told.returncode == 0 and str(policy) in told.stdout.decode() and "TENACURL_MODE" in told.stdout.decode()


def test_h09_home_that_stops_answering(origin, runner, build, tmp_path):
    """A remote HOME is looked at once. Its server hangs when the first request has been made; ours go on."""
    home, stop = tmp_path / "home", tmp_path / "stop"
    home.mkdir()
    server = origin([{"status": 200, "body": "1", "delay_ms": 1200}, BUSY, {"status": 200, "body": "2", "delay_ms": 1200},
                     {"status": 200, "body": "3"}])
    urls = [word for number in range(2) for word in ("--", "url=" + server.url(f"/{number}"))]
    script = pathlib.Path(__file__).parent / "support" / "slow_home.py"
    running = runner.start_bare(
        [sys.executable, "-I", script, home, stop, "/usr/bin/env", f"LD_PRELOAD={build}/libtenacurl.so",
         build / "tests/clients/transfer", server.url("/first"), *urls], {"TENACURL_LOG": str(tmp_path / "log")})
    wait_until(lambda: server.requests or running.process.poll() is not None, "the first request")
    stop.touch()
    hangs = threading.Timer(20, running.process.kill)
    hangs.start()
    result = running.wait()
    hangs.cancel()
    if result.returncode == 77:
        pytest.skip("no file systems in user space here")
    assert result.stdout.count(b"result 0") == 3, result
    assert len(server.requests) == 4
