# SPDX-License-Identifier: MIT
"""Nothing is silent: what keeps tenacurl from helping, or from telling, is told where a person looks."""

import json
import os
import pty
import re
import shutil
import signal
import socket
import subprocess

import pytest
from support.runner import policy_text
from support.terminal import on_terminal
from support.waiting import wait_until

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


def policy_with(tmp_path, log):
    path = tmp_path / "policy.ini"
    path.write_text(policy_text({**FAST, "log": log}))
    path.chmod(0o644)
    return path


def only_root():
    if os.geteuid() != 0:
        pytest.skip("only root can be somebody else")


SINKS = {  # what is wrong with the log: its path, and how it is told
    "no directory": ("{tmp}/missing/log", "No such file or directory"),
    "a device": ("/dev/null", "not a regular file"),
    "a directory": ("{tmp}", "not a regular file"),
}


@pytest.mark.parametrize("name", SINKS)
def test_l01_sink_is_tried(runner, build, tmp_path, name):
    log, reason = SINKS[name][0].format(tmp=tmp_path), SINKS[name][1]
    policy = policy_with(tmp_path, log)
    checked = runner.bare([build / "tenacurl", "policy", "check", policy])
    assert checked.returncode == 0 and f"{log}: {reason}" in checked.stderr.decode(), checked
    run = [build / "tenacurl", "run", "--policy", policy]
    status, written = on_terminal([*run, "--", "true"], runner.environment(), runner.directory)
    assert status == 0 and "records will be lost" in written and reason in written
    refused = runner.bare([*run, "--require", "--", "true"])
    assert refused.returncode == 125 and reason in refused.stderr.decode()


def test_l01_sink_leaves_nothing_behind(runner, build, tmp_path):
    folder = tmp_path / "logs"
    folder.mkdir()
    checked = runner.bare([build / "tenacurl", "policy", "check", policy_with(tmp_path, folder / "log")])
    assert (checked.returncode, checked.stderr, list(folder.iterdir())) == (0, b"", [])


def test_l01_sink_is_tried_as_who_will_write(runner, build, tmp_path):
    """After a logrotate that made the new file root's."""
    only_root()
    for path in [tmp_path, *tmp_path.parents][:4]:
        path.chmod(path.stat().st_mode | 0o011)
    log = tmp_path / "log"
    log.touch(0o600)
    policy = policy_with(tmp_path, log)
    check = [build / "tenacurl", "policy", "check"]
    assert runner.bare([*check, policy]).stderr == b""
    told = runner.bare([*check, "--user", "nobody", policy])
    assert (told.returncode, told.stderr.decode()) == (
        1, f"tenacurl: warning: the log can't be written by nobody, so records will be lost: {log}: Permission denied\n")
    os.chown(log, 65534, 65534)
    assert runner.bare([*check, "--user", "nobody", policy]).returncode == 0


DISKS = {
    "full": ("mount -t tmpfs -o size=64k none {disk}; dd if=/dev/zero of={disk}/fill bs=4k 2>/dev/null || :",
             "No space left on device"),
    "full, and the log is there": ("mount -t tmpfs -o size=64k none {disk}; touch {disk}/log; "
                                   "dd if=/dev/zero of={disk}/fill bs=4k 2>/dev/null || :", "No space left on device"),
    "read-only": ("mount -t tmpfs -o ro none {disk}", "Read-only file system"),
    "read-only, and the log is there": ("mount -t tmpfs none {disk}; touch {disk}/log; mount -o remount,ro {disk}",
                                        "Read-only file system"),
}


@pytest.mark.parametrize("name", DISKS)
def test_l01_disk_is_told(runner, build, tmp_path, name):
    prepare, reason = DISKS[name]
    disk = tmp_path / "disk"
    disk.mkdir()
    policy = policy_with(tmp_path, disk / "log")
    argv = [*in_own_run(prepare.format(disk=disk)), build / "tenacurl", "policy", "check", policy]
    assert reason in runner.bare(argv).stderr.decode()


OWN_DEV = """
set -e
mount -t tmpfs none /dev
mknod -m 666 /dev/null c 1 3; mknod -m 666 /dev/urandom c 1 9; mkdir /dev/shm
ln -s "$0" /dev/log
exec "$@"
"""


def in_own_dev(socket_path):
    """A command line's beginning: a /dev of its own, with /dev/log leading to that socket."""
    in_own_run("true")
    return ["unshare", "--mount", "--", "sh", "-c", OWN_DEV, socket_path]


def test_l01_syslog_is_tried(runner, build, tmp_path):
    policy = policy_with(tmp_path, "syslog")
    nobody = runner.bare([*in_own_dev(tmp_path / "log"), build / "tenacurl", "policy", "check", policy])
    assert "syslog (/dev/log): No such file or directory" in nobody.stderr.decode()
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "log"))
        good = runner.bare([*in_own_dev(tmp_path / "log"), build / "tenacurl", "policy", "check", policy])
        assert (good.returncode, good.stderr) == (0, b"")


def test_l01_lost_records_are_told(origin, runner, build, tmp_path):
    """By syslog, and counted where `stats`, `last` and `report` show it."""
    state = {"TENACURL_STATE": str(tmp_path / "state")}
    (tmp_path / "state").mkdir(mode=0o700)
    server, policy = origin([BUSY, OK]), policy_with(tmp_path, tmp_path / "missing" / "log")
    run = [build / "tenacurl", "run", "--policy", policy, "--", "curl", "-sS", server.url("/x")]
    with socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM) as listener:
        listener.bind(str(tmp_path / "syslog"))
        listener.settimeout(30)
        runner.bare([*in_own_dev(tmp_path / "syslog"), *run], state)
        told = [listener.recv(9000).decode() for _ in range(2)]
    assert "the log can't be written, so records will be lost" in told[0]  # by run
    assert f"curl: records are lost: log = {tmp_path}/missing/log can't be written" in told[1]
    log = tmp_path / "log"
    log.touch()
    for words in (["stats"], ["last"], ["report", log]):
        shown = runner.bare([build / "tenacurl", *words], state)
        assert b"3 records of the log could not be written" in shown.stdout, shown
    assert json.loads(runner.bare([build / "tenacurl", "last", "--json"], state).stdout)["lost_records"] == 3
    assert json.loads(runner.bare([build / "tenacurl", "stats", "--json"], state).stdout)["users"][0]["lost_records"] == 3
    assert b"\ntenacurl_log_records_lost_total 3\n" in runner.bare([build / "tenacurl", "stats", "--prometheus"], state).stdout


def summary_of(result):
    """The one line of it; where there is no syslog that is told before."""
    lines = [line for line in result.stderr.decode().splitlines() if line.startswith("tenacurl run: ")
             and "warning: the log can't be written, so records will be lost: syslog" not in line]
    assert len(lines) == 1, result
    return re.sub(r"waited [0-9.]+ m?s", "waited TIME", lines[0].removeprefix("tenacurl run: "))


@pytest.mark.parametrize("log", ["none", "syslog"])
def test_l05_summary_counts_all_processes(origin, tenacurl_run, log):
    """Of a script and its children, at the same time too, and though nothing is logged or kept."""
    server = origin([BUSY, {"body": "fine"}, BUSY, OK])
    gone = origin([{**BUSY, "repeat": True}])
    absent = origin([{"status": 404, "repeat": True}])
    many = f"for i in $(seq 20); do curl -sS {server.url('/y')} & done; wait"
    script = (f"curl -sS {server.url('/x')}; (curl -sS {server.url('/x')}); curl -sS {gone.url()}; "
              f"curl -sS {absent.url()}; {many}; exit 7")
    policy = {**FAST, "log": log, "max_attempts": 2, "state": "none"}
    result = tenacurl_run(["sh", "-c", script], policy, ["--summary"])
    assert result.returncode == 7
    assert summary_of(result) == ("24 requests, 2 saved, 3 retries, waited TIME, 1 given up (attempt_cap 1), "
                                  "1 failed, not to be retried (terminal_error 1)")


def test_l05_summary_of_audit_and_of_nothing(origin, tenacurl_run):
    server = origin([{**BUSY, "repeat": True}])
    result = tenacurl_run(["curl", "-sS", server.url()], {**FAST, "mode": "audit"}, ["--summary"])
    assert summary_of(result) == "1 request, 0 saved, 0 retries, waited TIME, 1 would have been retried (audit)"
    assert summary_of(tenacurl_run(["true"], FAST, ["--summary"])) == "no request came to tenacurl"
    missing = tenacurl_run(["/nonexistent"], FAST, ["--summary"])
    assert missing.returncode == 127 and b"no request" not in missing.stderr


def test_l05_summary_tells_why_nothing_was_done(origin, tenacurl_run, tmp_path, build, runner):
    """No terminal is needed for it: who asks for a summary reads it."""
    server = origin([{**BUSY, "repeat": True}])
    bad = tmp_path / "bad.ini"
    bad.write_text("[policy]\nmode = of\n")
    environment = {**runner.environment(), "TENACURL_POLICY": str(bad)}
    told = subprocess.run([build / "tenacurl", "run", "--summary", "--", "curl", "-sS", server.url()], env=environment,
                          capture_output=True, text=True, timeout=60).stderr
    assert "bad.ini:2: [policy] mode = of: not a known word" in told and "no request came to tenacurl" in told
    multi = tenacurl_run(["curl", "-sS", "-Z", server.url()], FAST, ["--summary"]).stderr.decode()
    assert "curl can't be helped: transfers of the multi interface are left alone" in multi


def test_l05_run_in_a_run(origin, build, tenacurl_run):
    """Both tell; what the inner one counted is the outer one's as well."""
    server = origin([BUSY, OK])
    inner = f"{build / 'tenacurl'} run --summary -- curl -sS {server.url('/x')}"
    result = tenacurl_run(["sh", "-c", f"{inner}; curl -sS {server.url('/x')}"], FAST, ["--summary"])
    told = [line for line in result.stderr.decode().splitlines() if line.startswith("tenacurl run: ")]
    assert [line.split(", waited")[0] for line in told] == [
        "tenacurl run: 1 request, 1 saved, 1 retry", "tenacurl run: 2 requests, 1 saved, 1 retry"]


def test_l05_summary_keeps_streams_and_statuses(tenacurl_run, runner, build):
    """As without it: what is read, what is written, how it ends, and by which signal."""
    for script, text in (("cat; echo err >&2; exit 3", b"in"), ("kill -TERM $$", b""), ("kill -KILL $$", b""),
                         ("trap 'echo got; exit 4' USR1; kill -USR1 $$; sleep 5", b"")):
        bare = tenacurl_run(["sh", "-c", script], FAST, input=text)
        told = tenacurl_run(["sh", "-c", script], FAST, ["--summary"], input=text)
        assert (told.returncode, told.stdout) == (bare.returncode, bare.stdout)
        assert told.stderr.replace(b"tenacurl run: no request came to tenacurl\n", b"") == bare.stderr


def states_of(pids):
    return [open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()[0] for pid in pids]


@pytest.fixture
def summarised(runner, build):
    """A shell under `run --summary`, in a group of its own; and the shell's pid."""
    script = "trap 'echo term' TERM; echo $$; while :; do read line || exit 5; echo $line; done"
    process = subprocess.Popen([build / "tenacurl", "run", "--summary", "--", "sh", "-c", script], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=runner.environment(), text=True,
                               bufsize=1, process_group=0)
    yield process, int(process.stdout.readline())
    process.kill()
    process.wait()
    for stream in (process.stdin, process.stdout, process.stderr):
        stream.close()


def test_l05_summary_hands_signals_on(summarised):
    """What is sent to run alone reaches the command; it goes on after that if it did so before."""
    process, shell = summarised
    process.send_signal(signal.SIGTERM)
    # dash's read returns at a trap, so the loop ends there.
    assert process.stdout.readline() == "term\n"
    process.stdin.close()
    assert process.wait(30) == 5


def test_l05_summary_stops_and_goes_on_with_its_command(summarised):
    """As the child that a shell with job control stops by ^Z and continues by fg."""
    process, shell = summarised
    os.killpg(process.pid, signal.SIGTSTP)
    wait_until(lambda: states_of([process.pid, shell]) == ["T", "T"], "both stopped")
    os.killpg(process.pid, signal.SIGCONT)
    process.stdin.write("hello\n")
    assert process.stdout.readline() == "hello\n"
    process.stdin.close()
    assert process.wait(30) == 5


def test_l05_command_dies_with_a_killed_run(summarised):
    process, shell = summarised
    process.kill()
    process.wait(30)
    wait_until(lambda: not os.path.exists(f"/proc/{shell}") or states_of([shell]) == ["Z"], "the command's end")


@pytest.mark.parametrize("options", [[], ["--summary"]], ids=["bare", "summary"])
def test_l05_command_ends_with_its_terminal(build, tmp_path, options):
    """As of `ssh -t HOST tenacurl run ...`, whose connection is lost: only the session's leader is told."""
    ready = tmp_path / "ready"
    words = [build / "tenacurl", "run", *options, "--", "sh", "-c", f"echo >{ready}; exec sleep 1000"]
    pid, terminal = pty.fork()
    if pid == 0:
        os.execv(words[0], list(map(str, words)))
    wait_until(ready.exists, "the command's start")
    os.close(terminal)
    try:
        wait_until(lambda: states_of([pid]) == ["Z"], "its end")
    finally:
        os.kill(pid, signal.SIGKILL)
        status = os.waitpid(pid, 0)[1]
    assert os.WTERMSIG(status) == signal.SIGHUP


URLLIB = "import urllib.request\nprint('started')\n"
UNHELPED = {  # the command and what is said of it
    "curl -Z": (["curl", "-sZ", "http://127.0.0.1:1/"], "curl can't be helped: transfers of the multi interface"),
    "git": (["git", "ls-remote", "http://127.0.0.1:1/"], "git can't be helped: transfers of the multi interface"),
    "wget": (["wget", "--version"], "wget doesn't use libcurl"),
    "urllib": (["python3", "{script}"], "script.py doesn't use libcurl"),
    "urllib, by its name": (["{script}"], "script.py doesn't use libcurl"),
    "urllib, by -c": (["python3", "-c", "import urllib.request"], "doesn't use libcurl"),
}
HELPED = {
    "curl": ["curl", "--version"],
    "a shell": ["sh", "-c", "true"],
    "a script that starts curl": ["python3", "-c", "import urllib.parse, subprocess; subprocess.run(['curl', '--version'])"],
    "a script of nothing": ["python3", "-c", "print(1)"],
}


@pytest.fixture
def script(tmp_path):
    path = tmp_path / "script.py"
    path.write_text("#!/usr/bin/env python3\n" + URLLIB)
    path.chmod(0o755)
    return path


@pytest.mark.parametrize("name", UNHELPED)
def test_l03_what_is_not_helped_is_told(runner, build, script, name):
    words, told = UNHELPED[name]
    argv = [word.format(script=script) for word in words]
    if not shutil.which(argv[0]):
        pytest.skip(f"{argv[0]} isn't here")
    run = [build / "tenacurl", "run"]
    _, written = on_terminal([*run, "--", *argv], runner.environment(), runner.directory)
    lines = [line for line in written.splitlines() if line.startswith("tenacurl run: ")]
    assert len(lines) == 1 and told in lines[0], written
    # Nobody sits there.
    assert b"tenacurl" not in runner.bare([*run, "--", *argv]).stderr
    refused = runner.bare([*run, "--require", "--", *argv])
    assert (refused.returncode, refused.stdout) == (125, b"") and told in refused.stderr.decode()


@pytest.mark.parametrize("name", HELPED)
def test_l03_what_may_be_helped_is_let_alone(runner, build, name):
    run = [build / "tenacurl", "run"]
    assert on_terminal([*run, "--", *HELPED[name]], runner.environment(), runner.directory) == (0, "")
    assert runner.bare([*run, "--require", "--", *HELPED[name]]).returncode == 0


def test_l03_bad_policy_is_told(runner, build, tmp_path):
    """Whoever else's it is: the program runs, unprotected, and one line says so."""
    policy = tmp_path / "policy.ini"
    policy.write_text("[policy]\nmax_atempts = 3\n")
    policy.chmod(0o644)
    environment = runner.environment({"TENACURL_POLICY": str(policy)})
    status, written = on_terminal([build / "tenacurl", "run", "--", "curl", "--version"], environment, runner.directory)
    assert status == 0 and written.count("\n") == 1
    assert "max_atempts" in written and written.endswith("running without tenacurl's help\n")


def test_l01_syslog_that_is_gone_is_counted(origin, runner, build, tmp_path):
    """Where the last sink is missing, too (no daemon, or AF_UNIX is forbidden), the state's counter still tells."""
    state = {"TENACURL_STATE": str(tmp_path / "state")}
    (tmp_path / "state").mkdir(mode=0o700)
    server, policy = origin([BUSY, OK]), policy_with(tmp_path, "syslog")
    run = [build / "tenacurl", "run", "--policy", policy, "--", "curl", "-sS", server.url("/x")]
    assert runner.bare([*in_own_dev(tmp_path / "nothing"), *run], state).stdout == b"fine"
    assert b"3 records of the log could not be written" in runner.bare([build / "tenacurl", "stats"], state).stdout
