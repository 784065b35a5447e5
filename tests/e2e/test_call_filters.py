# SPDX-License-Identifier: MIT
"""
System call filters, as systemd makes them of SystemCallFilter= (H-02): what starts under one starts with tenacurl, and is
helped. A filter that ends the process can't be caught, so it is about which calls are made at all; docs/interposing.md has
the list, which is held here against what is seen.
"""

import os
import re
import subprocess

import pytest
from support import much_tls, system_calls
from support.system_calls import ENOSYS, EPERM, KILL

BUSY, RIGHT = {"status": 503, "body": "busy"}, {"body": "right"}

REFUSALS = [KILL, EPERM, ENOSYS]

# What programs on libcurl can't do without: the groups, and two calls that curl makes itself.
HAND_PICKED = "@default @basic-io @file-system @io-event @network-io @signal ioctl sysinfo"

SETTINGS = {
    "services": "@system-service",
    "services-without-privileges": "@system-service;~@privileged @resources",
    "what-systemd-analyze-advises": "~@clock @cpu-emulation @debug @module @mount @obsolete @privileged @raw-io @reboot "
                                    "@resources @swap",
    "hand-picked": HAND_PICKED,
}

PHP = "$c = curl_init($argv[1]); curl_setopt($c, CURLOPT_RETURNTRANSFER, 1); echo curl_exec($c);"
FFI = """
import ctypes, sys
libcurl = ctypes.CDLL("libcurl.so.4")
libcurl.curl_easy_init.restype = ctypes.c_void_p
curl = ctypes.c_void_p(libcurl.curl_easy_init())
libcurl.curl_easy_setopt(curl, 10002, sys.argv[1].encode())
sys.exit(libcurl.curl_easy_perform(curl))
"""
PROGRAMS = {"curl": ["curl", "-sS"], "php": ["php", "-r", PHP], "ctypes": ["/usr/bin/python3", "-c", FFI]}


@pytest.fixture
def confined(build, tmp_path):
    """confined(calls, refusal) -> the words that start a program under a filter which allows these calls."""
    def prefix(calls, refusal):
        path = system_calls.write_filter(tmp_path / "filter", calls, refusal)
        words = [build / "tests/clients/confined", path]
        if subprocess.run([*words, "true"]).returncode == 77:
            pytest.skip("no system call filters here")
        return words
    return prefix


@pytest.fixture
def by_hand(build, runner, tmp_path):
    """The environment that a drop-in for a unit sets, with a policy that doesn't wait long."""
    policy = tmp_path / "policy.ini"
    policy.write_text(f"[policy]\njitter = none\nbackoff_base_ms = 1\nlog = {tmp_path}/log.jsonl\nlog_events = all\n")
    policy.chmod(0o600)
    return {**runner.binder_environment(), "LD_PRELOAD": str(build / "libtenacurl.so"), "TENACURL_POLICY": str(policy)}


def outcome(result):
    return result.returncode, result.stdout, result.stderr


def assert_helped(origin, bare, argv, env):
    """What succeeds where nothing fails is saved from one 503; what the sandbox itself ends is ended in the same way."""
    whole = origin([RIGHT])
    expected = bare([*argv, whole.url()])
    server = origin([BUSY, RIGHT])
    assert outcome(bare([*argv, server.url()], env=env)) == outcome(expected)
    assert len(server.requests) == 2 * len(whole.requests)
    return expected.returncode == 0


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("setting", SETTINGS)
def test_h02_services_with_a_filter(origin, bare, confined, by_hand, setting, refusal):
    prefix = confined(system_calls.allowed(SETTINGS[setting]), refusal)
    helped = [name for name, argv in PROGRAMS.items() if assert_helped(origin, bare, [*prefix, *argv], by_hand)]
    # PHP asks for system calls beyond the hand-picked, with tenacurl or without.
    assert {"curl", "ctypes"} <= set(helped)


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("setting", [name for name in SETTINGS if name != "hand-picked"])
def test_h02_run_with_a_filter(origin, bare, build, confined, by_hand, setting, refusal):
    prefix = [*confined(system_calls.allowed(SETTINGS[setting]), refusal), build / "tenacurl", "run", "--"]
    assert outcome(bare([*prefix, "/bin/true"])) == (0, b"", b"")
    server = origin([BUSY, RIGHT] * len(PROGRAMS))
    policy = {"TENACURL_POLICY": by_hand["TENACURL_POLICY"]}
    for argv in PROGRAMS.values():
        assert outcome(bare([*prefix, *argv, server.url()], env=policy)) == (0, b"right", b"")
    assert len(server.requests) == 2 * len(PROGRAMS)


@pytest.mark.parametrize("refusal", REFUSALS)
@pytest.mark.parametrize("use", ["at a fixed offset", "with its tables far from its header"])
def test_h02_program_for_which_the_binder_steps_aside(bare, confined, by_hand, tmp_path, use, refusal):
    program, _ = much_tls.build_program(tmp_path, use)
    calls = system_calls.allowed("@default @basic-io @file-system")
    assert outcome(bare([*confined(calls, refusal), program], env=by_hand)) == (0, b"program not bound\n", b"")


# Each call alone. Without these ld.so doesn't start a program, with tenacurl or without.
NEEDED_TO_START = {"access", "close", "execve", "mmap", "mprotect", "newfstatat", "openat", "pread64", "read"}


def documented_calls(repository):
    """{call: row} of the table in docs/interposing.md."""
    text = (repository / "docs/interposing.md").read_text()
    section = text.split("## What we ask of the kernel\n")[1].split("\n## ")[0]
    rows = [line for line in section.splitlines() if line.startswith("| `")]
    return {call: row for row in rows for call in re.findall(r"`(\w+)`", row.split("|")[1])}


@pytest.mark.parametrize("refusal", [EPERM, ENOSYS])
def test_h02_each_call_refused(origin, bare, confined, by_hand, repository, tmp_path, refusal):
    """curl is helped, or what the refusal does to it is what it does without tenacurl."""
    # Who doesn't know who he is takes a policy of his own for somebody else's; root's is good for all.
    spoiling = set() if os.geteuid() == 0 else {"geteuid"}
    for call in sorted(documented_calls(repository).keys() - NEEDED_TO_START - spoiling):
        argv = [*confined(system_calls.members("@known") - {call}, refusal), *PROGRAMS["curl"]]
        server = origin([BUSY, RIGHT])
        result = bare([*argv, server.url()], env={**by_hand, "TENACURL_STATE": str(tmp_path / f"state-{call}")})
        if outcome(result) != (0, b"right", b"") or len(server.requests) != 2:
            whole = origin([RIGHT])
            expected = bare([*argv, whole.url()])
            assert expected.returncode != 0, (call, result)
            assert (result.returncode, result.stdout) == (expected.returncode, expected.stdout), (call, result)


@pytest.mark.parametrize("fork,key", [("_Fork", "budget_tokens"), ("fork", "max_retrying")])
def test_h02_child_begins_anew_under_a_filter(origin, build, runner, confined, fork, key):
    """Where the kernel can't be asked to empty pages in children: what is a process's own isn't its child's (RC-39)."""
    count = 3
    lists = {f"/child/{i}": [BUSY, {"body": str(i)}] for i in range(count)}
    lists["/parent"] = [{**BUSY, "headers": [["Retry-After", "1"]]}, {"body": "parent"}]
    server = origin({"paths": lists})
    prefix = confined(system_calls.members("@known"), EPERM)
    argv = [*prefix, build / "tests/clients/forks", "waiting", fork, server.url(""), str(count)]
    policy = {"jitter": "none", "backoff_base_ms": 1, "state": "process", "budget_refill_per_s": 0, "budget_ratio": 0, key: 1}
    result = runner.run(argv, policy)
    lines = [f"child/{i} result 0 status 200 body {i}" for i in range(count)]
    assert sorted(result.stdout.decode().split("\n")[:-1]) == [*lines, "parent result 0 status 200 body parent"]
    assert len(server.requests) == 2 * (count + 1)
    assert len({record["pid"] for record in result.operations}) == count + 1


# The list.


def names_of_calls(trace):
    return set(re.findall(r"^\d+ +(\w+)\(", trace, re.MULTILINE))


@pytest.mark.parametrize("argv", [["curl", "--version"], ["/usr/bin/python3", "-c", ""]], ids=["curl", "python"])
def test_h02_binder_makes_no_calls_of_its_own(runner, argv, tmp_path):
    """With a program that it stays with."""
    seen = []
    for env in ({}, runner.binder_environment()):
        path = tmp_path / "trace"
        settings = [word for name, value in env.items() for word in ("-E", f"{name}={value}")]
        assert runner.bare(["strace", "-f", "-o", path, *settings, *argv]).returncode == 0
        seen.append(names_of_calls(path.read_text()))
    assert seen[1] - seen[0] == set()


# Made by ld.so and libcurl all the time, and by us in passing: to look for the stack of each takes seconds.
EVERYDAY_CALLS = {"close", "mmap", "mprotect", "munmap", "newfstatat", "openat", "poll", "read", "rt_sigaction"}

# Where a call's stack leads, but for these: who made it.
LIBRARIES = re.compile(r"/(libc\.so|ld-linux|libpthread|linux-vdso)|\[vdso\]")


def calls_of_ours(trace):
    """The calls whose innermost frame outside the C library is the preloaded object's, of `strace -k`."""
    found, call = set(), None
    for line in trace.splitlines():
        if match := re.match(r"\d+ +(\w+)\(", line):
            call = match[1]
        elif call and line.startswith(" > ") and not LIBRARIES.search(line.split("(")[0]):
            if "/libtenacurl" in line.split("(")[0]:
                found.add(call)
            call = None
    return found


def test_h02_list_of_calls(build, origin, runner, by_hand, tmp_path, repository):
    """Over start, first transfer, retry, state and log no call is made that isn't in the list, and all are safe ones."""
    server, path = origin([BUSY, RIGHT]), tmp_path / "trace"
    settings = [word for name, value in by_hand.items() for word in ("-E", f"{name}={value}")]
    strace = ["strace", "-k", "-f", "-e", f"trace=!{','.join(EVERYDAY_CALLS)}", "-o", path]
    result = runner.bare([*strace, *settings, build / "tests/clients/transfer", server.url()])
    if b"not supported" in result.stderr or b"invalid option" in result.stderr:
        pytest.skip("this strace tells no stacks")
    assert result.returncode == 0 and b"result 0 " in result.stdout, result
    assert len(server.requests) == 2
    documented, made = documented_calls(repository), calls_of_ours(path.read_text())
    assert {"fallocate", "getrandom", "rt_sigprocmask", "write"} <= made, "the stacks lead nowhere"
    assert made - documented.keys() == set()


def test_h02_list_is_of_calls_that_filters_know(repository):
    safe = system_calls.allowed("@default @basic-io @file-system @io-event @network-io @signal")
    for call, row in documented_calls(repository).items():
        assert (call in safe) != ("no filter" in row), row
