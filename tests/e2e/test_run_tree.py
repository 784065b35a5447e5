# SPDX-License-Identifier: MIT
"""
`tenacurl run --deadline`: one budget for a whole process tree. What is below it ends in time, however it is nested and
whatever timeouts it has of its own; what outlives the launcher is free.

Bounds follow from the deadline, whose instant is in the environment; the origin's clock is the same.
"""

import os
import shlex
import shutil
import subprocess

import pytest

from support.clients import PYCURL
from support.waiting import wait_until
from test_binder import PROGRAMS, is_installed, plugins  # noqa: F401 (a fixture)

OK = {"status": 200, "body": "fine"}
BUSY = {"status": 503, "body": "busy"}
ALWAYS_BUSY = {**BUSY, "repeat": True}
SILENCE = {"fault": "silence"}
PATIENT = {"jitter": "none", "backoff_base_ms": 100, "backoff_cap_ms": 100, "max_attempts": 100, "budget_tokens": 0}
FAST = {**PATIENT, "backoff_base_ms": 1, "backoff_cap_ms": 1}
# What a busy machine may add; instead of for ever, or of a minute.
SLACK_MS = 2000
FAR_TOO_LATE_S = 30
BOOT_ID = open("/proc/sys/kernel/random/boot_id").read().strip()
OVER = "tenacurl: the deadline was over before the request was made"
PYTHON = "/usr/bin/python3"


def start_of(pid):
    return int(open(f"/proc/{pid}/stat").read().rpartition(")")[2].split()[19])


def paths_of(server):
    return [request.target for request in server.requests]


def reasons_of(result):
    return [record["reason"] for record in result.operations]


def runs_of(records):
    return {record["run"] for record in records}


@pytest.fixture
def tree(tenacurl_run):
    """tree(script of sh, deadline, policy=, **) -> Result of the script under `tenacurl run --deadline`."""

    def run(script, deadline, policy=None, **keywords):
        return tenacurl_run(["sh", "-c", script], policy or FAST, options=["--deadline", deadline], **keywords)

    return run


# The whole tree has one deadline.


def test_a_script_with_several_curls_has_one_budget(origin, tree):
    server = origin([ALWAYS_BUSY])
    script = f'echo "$TENACURL_DEADLINE"; for path in a b c d; do curl -sS -f {server.url("/")}$path; done; exit 0'
    result = tree(script, "1500ms", PATIENT)
    deadline_ms = int(result.stdout.split(b":")[1])
    # A retry takes 100 ms of waiting, so there are 15 at most; each of the four may have a first attempt besides.
    assert 1 < len(server.requests) <= 15 + 4
    assert all(request.first_byte_us / 1000 <= deadline_ms + SLACK_MS for request in server.requests)
    # On a busy machine an attempt may still run when the deadline comes.
    assert set(reasons_of(result)) <= {"wait_exceeds_deadline", "deadline_budget", "deadline"}
    assert len(result.operations) == 4 and len(runs_of(result.records)) == 1
    assert result.elapsed_s < FAR_TOO_LATE_S


def test_own_timeouts_that_are_longer_end_in_time(origin, tree):
    server = origin({"paths": {"/silent": [SILENCE]}, "steps": [OK]})
    get = f"curl -sS -m 60 {server.url('/')}"
    result = tree(f"{get}silent; echo $?; {get}after; echo $?; {get}later; echo $?", "2s")
    assert paths_of(server) == ["/silent"]
    assert result.stdout.split() == [b"28"] * 3
    assert reasons_of(result) == ["deadline", "deadline_budget", "deadline_budget"]
    assert result.stderr.decode().count(OVER) == 2
    assert 2 <= result.elapsed_s < FAR_TOO_LATE_S


def test_parallel_children_share_the_deadline(origin, tree):
    silent = {f"/{name}": [SILENCE] for name in "abc"}
    server = origin({"paths": silent, "steps": [OK]})
    get = f"curl -sS -m 60 {server.url('/')}"
    result = tree(f"{get}a & {get}b & {get}c & wait; {get}after", "2s")
    assert sorted(paths_of(server)) == ["/a", "/b", "/c"]
    assert sorted(reasons_of(result)) == ["deadline"] * 3 + ["deadline_budget"]
    assert result.elapsed_s < FAR_TOO_LATE_S


def test_a_wait_that_does_not_fit_is_not_begun(origin, tree):
    server = origin([{**BUSY, "headers": [["Retry-After", "60"]]}])
    result = tree(f"curl -sS -i {server.url()}", "20s", {**FAST, "retry_after_max_ms": 0, "retry_max_time_ms": 0})
    assert (len(server.requests), reasons_of(result)) == (1, ["wait_exceeds_deadline"])
    assert b"Retry-After: 60" in result.stdout and b"busy" in result.stdout
    assert result.operation["waited_ms"] == 0 and result.elapsed_s < 20


LATE = """
import os, sys, time, pycurl
deadline_s = int(os.environ["TENACURL_DEADLINE"].split(":")[1]) / 1000
def wait(line):
    while time.clock_gettime(time.CLOCK_MONOTONIC) < deadline_s:
        time.sleep(0.05)
curl = pycurl.Curl()
curl.setopt(curl.URL, sys.argv[1])
curl.setopt(curl.HEADERFUNCTION, wait)
curl.perform()
"""


def test_a_success_that_arrives_late_is_delivered(origin, tenacurl_run):
    """The program itself spends the rest of the time, when the answer is there already."""
    server = origin([BUSY, OK])
    result = tenacurl_run([PYTHON, "-c", LATE, server.url()], FAST, options=["--deadline", "2s"])
    assert (result.returncode, result.stdout) == (0, b"fine"), result.stderr
    assert len(server.requests) == 2


# A run within a run.


def test_a_looser_run_within_keeps_the_tighter_deadline(origin, tree, build):
    server = origin({"paths": {"/silent": [SILENCE]}, "steps": [OK]})
    get = f"curl -sS -m 60 {server.url('/')}"
    inner = f"{build}/tenacurl run --deadline 1h"
    result = tree(f"{inner} -- sh -c '{get}silent; {inner} -- {get}after'", "2s")
    assert paths_of(server) == ["/silent"]
    assert reasons_of(result) == ["deadline", "deadline_budget"]
    assert len(runs_of(result.records)) == 1
    assert result.elapsed_s < FAR_TOO_LATE_S


def test_a_tighter_run_within_is_over_when_it_ends(origin, tree, build):
    server = origin({"paths": {"/silent": [SILENCE]}, "steps": [BUSY, OK]})
    get = f"curl -sS -m 60 {server.url('/')}"
    result = tree(f"{build}/tenacurl run --deadline 1s -- {get}silent; {get}after", "10m")
    assert paths_of(server) == ["/silent", "/after", "/after"]
    assert reasons_of(result) == ["deadline", "success"]
    assert len(runs_of(result.records)) == 1
    assert result.elapsed_s < FAR_TOO_LATE_S


# The deadline is the launcher's: it ends with it.


class Go:
    """A FIFO from which a process reads the line that lets it go on."""

    def __init__(self, path):
        self.path = path
        os.mkfifo(path)
        self.descriptor = os.open(path, os.O_RDWR)

    def __call__(self):
        os.write(self.descriptor, b"\n")


@pytest.fixture
def go(tmp_path):
    fifo = Go(tmp_path / "go")
    yield fifo
    os.close(fifo.descriptor)


def daemon(origin, runner, tmp_path, go, launcher_end, *, options=("--deadline", "1ms"), policy=FAST, within=""):
    """
    Starts a daemon in a tree whose deadline is over at once. It transfers when the launcher has come to `launcher_end`:
    a shell command that the daemon's start is followed by, or "zombie"; and does that `within` another program. Returns
    the server, the daemon's output, the log's operations.
    """
    server = origin([BUSY, BUSY, OK])
    output = tmp_path / "output"
    get = f"read go <{go.path}; {within} curl -sS -f {server.url()} >{output}.new 2>&1; mv {output}.new {output}"
    script = f"setsid sh -c {shlex.quote(get)} </dev/null >/dev/null 2>&1 & {launcher_end if launcher_end != 'zombie' else ''}"
    running = runner.start(["sh", "-c", script], policy, options)
    if launcher_end == "zombie":
        os.waitid(os.P_PID, running.process.pid, os.WEXITED | os.WNOWAIT)
    elif launcher_end != "wait":
        running.wait()
    go()
    wait_until(output.exists, "the daemon's output")
    if launcher_end in ("zombie", "wait"):
        running.wait()
    return server, output.read_text(), [record for record in running.records if record["kind"] == "operation"]


@pytest.mark.parametrize("launcher_end", ["exit 0", "kill -KILL $$", "zombie"])
def test_a_daemon_is_free_once_the_launcher_is_gone(origin, runner, tmp_path, go, launcher_end):
    server, output, [operation] = daemon(origin, runner, tmp_path, go, launcher_end)
    assert (len(server.requests), output) == (3, "fine")
    assert (operation["attempts"], operation["left_ms"]) == (3, None)
    assert operation["run"] is None, "what outlives the run isn't of it"


def test_a_background_process_is_not_free_while_the_launcher_lives(origin, runner, tmp_path, go):
    server, output, [operation] = daemon(origin, runner, tmp_path, go, "wait")
    assert (len(server.requests), operation["reason"]) == (0, "deadline_budget")
    assert OVER in output
    assert operation["run"]


def test_without_a_deadline_nobody_knows_the_launcher(origin, runner, tmp_path, go):
    server, output, [operation] = daemon(origin, runner, tmp_path, go, "exit 0", options=())
    assert (len(server.requests), output) == (3, "fine")
    assert operation["run"]


LONG_LIVED = """
import sys, pycurl
def perform():
    curl = pycurl.Curl()
    curl.setopt(curl.URL, sys.argv[1])
    curl.setopt(curl.WRITEFUNCTION, lambda body: None)
    try:
        curl.perform()
        return curl.getinfo(curl.RESPONSE_CODE)
    except pycurl.error as error:
        return error.args
open(sys.argv[2], "w").write(f"{perform()}")
open(sys.argv[3]).readline()
open(sys.argv[4] + ".new", "w").write(f"{perform()}")
__import__("os").rename(sys.argv[4] + ".new", sys.argv[4])
"""


def test_a_daemon_that_transferred_before_is_free_at_once(origin, runner, tmp_path, go):
    """It has seen the launcher alive a moment ago; at the deadline's end that is not enough to refuse a request."""
    server = origin([BUSY, OK])
    ready, output = tmp_path / "ready", tmp_path / "output"
    os.mkfifo(ready)
    program = tmp_path / "program.py"
    program.write_text(LONG_LIVED)
    start = f"setsid {PYTHON} {program} {server.url()} {ready} {go.path} {output} </dev/null >/dev/null 2>&1 &"
    running = runner.start(["sh", "-c", f"{start} cat {ready}"], FAST, ["--deadline", "1ms"])
    first = running.wait().stdout.decode()
    go()
    wait_until(output.exists, "the daemon's output")
    assert first == str((28, OVER))
    assert (output.read_text(), len(server.requests)) == ("200", 2)
    operations = [record for record in running.records if record["kind"] == "operation"]
    assert [record["run"] is None for record in operations] == [False, True]


WITHOUT_DESCRIPTORS = """
import os, resource, sys, pycurl
curl = pycurl.Curl()
curl.setopt(curl.URL, sys.argv[1])
for most in (1024, os.dup(0)):
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, most))
    try:
        curl.perform()
    except pycurl.error as error:
        print(error.args[0])
"""


def test_the_launcher_is_not_gone_for_want_of_a_descriptor(origin, tenacurl_run):
    """Else the second request would be tried, and fail for another reason."""
    result = tenacurl_run([PYTHON, "-c", WITHOUT_DESCRIPTORS, origin([OK]).url()], FAST, options=["--deadline", "1ms"])
    assert result.stdout.split() == [b"28", b"28"], result.stderr


# Where the launcher can't be seen (H-13).

# In the same pid namespace without a /proc; in another one, with its own /proc and with the outer one.
CONFINEMENTS = {
    "no-proc": "bwrap --dev-bind / / --tmpfs /proc --",
    "pid-namespace": "bwrap --dev-bind / / --unshare-pid --proc /proc --",
    "pid-namespace-outer-proc": "bwrap --dev-bind / / --unshare-pid --",
}
HIDEPID = "unshare -m sh -c 'mount -t proc -o hidepid=2 proc /proc && HOME=/ exec setpriv --reuid=1 --clear-groups \"$@\"' sh"


def can_be(confinement):
    words = [*shlex.split(confinement), "true"]
    return shutil.which(words[0]) and subprocess.run(words, capture_output=True).returncode == 0


def confinement_named(name):
    if not can_be(CONFINEMENTS[name]):
        pytest.skip("bwrap isn't installed, or may not make namespaces here")
    return CONFINEMENTS[name]


@pytest.mark.parametrize("name", CONFINEMENTS)
def test_h13_the_deadline_holds_in_namespaces(origin, tree, name):
    within = confinement_named(name)
    server = origin({"paths": {"/silent": [SILENCE]}, "steps": [OK]})
    get = f"{within} curl -sS -m 60 {server.url('/')}"
    result = tree(f"{get}silent; echo $?; {get}after; echo $?", "1s")
    assert result.stdout.split() == [b"28"] * 2, result.stderr
    assert paths_of(server) == ["/silent"]
    assert len(runs_of(result.operations)) == 1 and runs_of(result.operations) != {None}
    assert 1 <= result.elapsed_s < FAR_TOO_LATE_S


# Clocks that are ahead of the launcher's, and behind.
OTHER_CLOCKS = [f"unshare --fork --time --{clock} {s}" for clock in ("monotonic", "boottime") for s in (100000, -1)]


@pytest.mark.parametrize("within", OTHER_CLOCKS)
@pytest.mark.parametrize("run_within", [False, True], ids=["", "run"])
def test_h13_the_deadline_holds_by_other_clocks(origin, tree, build, within, run_within):
    """In a time namespace: neither over before the first request, nor void, nor another one."""
    if not can_be(within):
        pytest.skip("unshare can't make time namespaces here")
    server = origin({"paths": {"/silent": [SILENCE]}, "steps": [OK]})
    run = f"{build}/tenacurl run --deadline 1h --" if run_within else ""
    get = f"{within} {run} curl -sS -m 60 {server.url('/')}"
    result = tree(f"{get}at-once; echo; {get}silent; echo $?; {get}after; echo $?", "2s")
    assert result.stdout.split()[-2:] == [b"28"] * 2, result.stderr
    assert paths_of(server) == ["/at-once", "/silent"]
    assert len(runs_of(result.operations)) == 1 and runs_of(result.operations) != {None}
    assert 2 <= result.elapsed_s < FAR_TOO_LATE_S


@pytest.mark.parametrize("name", ["pid-namespace"])
def test_h13_a_run_within_a_namespace_keeps_the_tighter_deadline(origin, tree, build, name):
    within = confinement_named(name)
    server = origin({"paths": {"/silent": [SILENCE]}})
    result = tree(f"{within} {build}/tenacurl run -- curl -sS -m 60 {server.url('/silent')}; echo $?", "1s")
    assert result.stdout.split() == [b"28"], result.stderr
    assert 1 <= result.elapsed_s < FAR_TOO_LATE_S


@pytest.fixture
def unseeing(build):
    """A command that runs another as a user who sees nobody else's processes."""
    if os.geteuid() != 0 or not can_be(HIDEPID) or not can_be(f"setpriv --reuid=1 --clear-groups {build}/tenacurl run"):
        pytest.skip("needs root, a /proc with hidepid, and a build directory that others can read")
    return HIDEPID


def test_h13_the_deadline_holds_for_another_user_who_sees_no_other_processes(origin, tenacurl_run, unseeing):
    server = origin({"paths": {"/silent": [SILENCE]}, "steps": [OK]})
    get = f"{unseeing} curl -sS -m 60 {server.url('/')}"
    argv = ["sh", "-c", f"{get}silent; echo $?; {get}after; echo $?"]
    # The built-in policy: a file that this test writes can't be read by others.
    result = tenacurl_run(argv, options=["--deadline", "1s"])
    assert result.stdout.split() == [b"28"] * 2, result.stderr
    assert paths_of(server) == ["/silent"]
    assert result.elapsed_s < FAR_TOO_LATE_S


def test_h13_a_daemon_of_another_user_is_free_once_the_launcher_is_gone(origin, runner, tmp_path, go, unseeing):
    server, output, _ = daemon(origin, runner, tmp_path, go, "exit 0", policy=None, within=unseeing)
    assert (len(server.requests), output) == (3, "fine")


# How it comes down to the processes: by the environment.


def test_children_whose_environment_was_changed(origin, tree):
    """What a process was started with counts; a child without the variables is outside, one without any is bare."""
    server = origin({"paths": {"/bare": [BUSY]}, "steps": [BUSY, OK]})
    cleared = [PYTHON, "-c", "import os; os.environ.clear()\n" + PYCURL, server.url("/inside")]
    result = tree(f"""
        {shlex.join(cleared)}
        env -u TENACURL_DEADLINE -u TENACURL_RUN curl -sS {server.url("/outside")}
        env -i /usr/bin/curl -sS {server.url("/bare")}
        """, "1ms")
    assert paths_of(server) == ["/outside", "/outside", "/bare"]
    assert result.stdout == b"finebusy"
    assert reasons_of(result) == ["deadline_budget", "success"]
    assert [record["run"] is None for record in result.operations] == [False, True]


@pytest.mark.parametrize("name", ["php", "ctypes"])
def test_programs_that_the_binder_reaches(origin, tree, plugins, name):  # noqa: F811
    if not is_installed(name, plugins):
        pytest.skip(f"{name} is not installed")
    server = origin([OK])
    result = tree(shlex.join([*PROGRAMS[name], server.url()]) + "; exit 0", "1ms")
    assert server.requests == []
    assert reasons_of(result) == ["deadline_budget"] and runs_of(result.operations) != {None}


def another_process():
    """One that is gone, so that its pid is another's or nobody's."""
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


@pytest.mark.parametrize("text", [
    "rubbish",
    "\x01",
    f"{BOOT_ID}:1",
    f"{BOOT_ID}:-1:{os.getpid()}:{start_of('self')}",
    f"{BOOT_ID}:1:{os.getpid()}:{start_of('self')}:",
    f"{BOOT_ID}:1:{os.getpid()}:{start_of('self')}" + "0" * 200,
    f"{BOOT_ID}:1:0:0",
    f"{BOOT_ID}:1:{another_process()}:0",
    f"{BOOT_ID}:1:{os.getpid()}:1",
    f"01234567-89ab-cdef-0123-456789abcdef:1:{os.getpid()}:{start_of('self')}",
], ids=range(10))
def test_a_deadline_that_nobody_set_is_ignored(origin, tenacurl_run, text):
    server = origin([BUSY, OK])
    # Set below `run`, which would have removed it.
    result = tenacurl_run(["env", f"TENACURL_DEADLINE={text}", "curl", "-sS", "-f", server.url()], FAST)
    assert (result.returncode, result.stdout, len(server.requests)) == (0, b"fine", 2)
    assert runs_of(result.records) == {None}


def test_a_deadline_that_somebody_set_counts(origin, tenacurl_run):
    """The same, whole: what was ignored above was ignored for what is wrong with it."""
    text = f"{BOOT_ID}:1:{os.getpid()}:{start_of('self')}"
    result = tenacurl_run(["env", f"TENACURL_DEADLINE={text}", "curl", "-sS", origin([OK]).url()], FAST)
    assert (result.returncode, reasons_of(result)) == (28, ["deadline_budget"])
    assert runs_of(result.records) != {None}
