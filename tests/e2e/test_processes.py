# SPDX-License-Identifier: MIT
"""Threads, forks, small stacks and daemons: what a host program does with its process must not break us, nor we it."""

import pytest

from support.waiting import wait_until

BUSY = {"status": 503, "body": "busy"}
ECHO = {"echo": True}
# What the dynamic linker says of a libcurl.so.4 in TEST_LIBRARY_PATH that has no versions.
NO_VERSIONS = b"no version information available"
FAST = {"jitter": "none", "backoff_base_ms": 1, "backoff_cap_ms": 5, "budget_tokens": 0}


@pytest.fixture
def clients(build):
    return build / "tests" / "clients"


def paths_of(server):
    return [request.target for request in server.requests]


def heads_of(server):
    """What was sent, but for the port."""
    return [request.head.replace(str(server.port).encode(), b"PORT") for request in server.requests]


# Threads.


def run_threads(origin, tenacurl_run, program, threads, performs, *options, env=None):
    """Every third request is refused, whoever's it is; each thread must get its own text back each time."""
    performed = threads * performs
    server = origin([ECHO, ECHO, BUSY] * performed)
    argv = [program, server.url("/x"), f"threads={threads}", f"performs={performs}", *options]
    result = tenacurl_run(argv, {**FAST, "replay": "all", "max_attempts": 100, "log_events": "retries"}, env=env)
    assert (result.returncode, result.stdout) == (0, f"{performed} of {performed} right\n".encode()), result.stderr[-4000:]
    assert not [line for line in result.stderr.split(b"\n") if line and NO_VERSIONS not in line]
    # So many that all but every third of them are the successes; the last one is a success.
    requests = server.requests
    assert len(requests) == performed + (performed - 1) // 2
    refused = [request for request in requests if request.answer["status"] == 503]
    # An operation is logged that needed more than one attempt; each of those attempts but the last was refused.
    assert sum(record["attempts"] - 1 for record in result.operations) == len(refused)
    assert all(record["lost"] == 0 for record in result.records)


def test_threads(origin, tenacurl_run, clients):
    run_threads(origin, tenacurl_run, clients / "threads", 64, 20)


def test_handles_that_go_from_thread_to_thread(origin, tenacurl_run, clients):
    run_threads(origin, tenacurl_run, clients / "threads", 32, 5, "handover=1")


@pytest.mark.parametrize("options", [[], ["handover=1"]], ids=["own", "handed-over"])
def test_threads_with_thread_sanitizer(origin, tenacurl_run, build, options):
    run_threads(origin, tenacurl_run, build / "tests/plugins/threads-tsan", 16, 10, *options)


# Threads with small stacks. The smallest are the subject of test_small_stacks.py.


@pytest.mark.parametrize("stack_kib", [64, 128])
def test_small_stack(origin, tenacurl_run, bare, clients, stack_kib):
    """The first transfer of the process, which loads the policy, is made on this stack too."""
    argv = [clients / "threads", "URL", f"stack={stack_kib}", "performs=2"]
    assert bare([word if word != "URL" else origin([ECHO, ECHO]).url() for word in argv]).returncode == 0
    server = origin([BUSY, ECHO, BUSY, ECHO])
    argv[1] = server.url()
    result = tenacurl_run(argv, {**FAST, "replay": "all"})
    assert (result.returncode, result.stdout) == (0, b"2 of 2 right\n"), result
    assert len(server.requests) == 4


# Forks.


@pytest.mark.parametrize("fork", ["fork", "_Fork"])
def test_handles_over_a_fork(origin, tenacurl_run, clients, fork):
    lists = {f"/{name}": [BUSY, {"body": name}] for name in ("parent", "inherited", "prepared", "own", "again")}
    server = origin({"paths": lists})
    result = tenacurl_run([clients / "forks", "handles", fork, server.url("")], FAST)
    if result.stdout == b"no _Fork\n":
        pytest.skip("this C library has no _Fork")
    assert result.returncode == 0, result
    # A handle that performed in the parent belongs to the parent.
    assert result.stdout.decode().split("\n") == [
        "parent result 0 status 200 body parent",
        "inherited result 0 status 503 body busy",
        "prepared result 0 status 200 body prepared",
        "own result 0 status 200 body own",
        "again result 0 status 200 body again",
        "",
    ]
    requests = ["/parent"] * 2 + ["/inherited"] + ["/prepared"] * 2 + ["/own"] * 2 + ["/again"] * 2
    assert paths_of(server) == requests
    operations = {record["url"].rsplit("/", 1)[1]: record["pid"] for record in result.operations}
    assert operations["parent"] == operations["again"]
    assert operations["prepared"] == operations["own"] != operations["parent"]


@pytest.mark.parametrize("fork", ["fork", "_Fork"])
def test_children_of_a_process_that_waits_for_a_retry(origin, tenacurl_run, clients, fork):
    count = 8
    lists = {f"/child/{i}": [BUSY, {"body": str(i)}] for i in range(count)}
    lists["/parent"] = [{**BUSY, "headers": [["Retry-After", "1"]]}, {"body": "parent"}]
    server = origin({"paths": lists})
    result = tenacurl_run([clients / "forks", "waiting", fork, server.url(""), str(count)], FAST)
    if result.stdout == b"no _Fork\n":
        pytest.skip("this C library has no _Fork")
    assert result.returncode == 0, result
    lines = [f"child/{i} result 0 status 200 body {i}" for i in range(count)]
    assert sorted(result.stdout.decode().split("\n")[:-1]) == [*lines, "parent result 0 status 200 body parent"]
    assert sorted(paths_of(server)) == sorted(path for path in lists for _ in range(2))
    assert len({record["pid"] for record in result.operations}) == count + 1


@pytest.mark.parametrize("fork", ["fork", "_Fork"])
def test_fork_while_a_thread_loads_the_policy(tenacurl_run, bare, clients, fork):
    count = 1000
    argv = [clients / "forks", "storm", fork]
    result = tenacurl_run([*argv, str(count)], {"max_attempts": 1}, timeout=120)
    if result.stdout == b"no _Fork\n":
        pytest.skip("this C library has no _Fork")
    assert (result.returncode, result.stdout) == (0, f"0 of {count} went wrong\n".encode())
    assert result.stderr == bare([*argv, "1"]).stderr
    assert all(record["kind"] != "note" for record in result.records)


# A daemon: no descriptor is open, and the numbers 0 to 2 belong to its sockets.


@pytest.mark.parametrize("log", ["file", "stderr"])
def test_daemon_without_descriptors(origin, runner, bare, clients, tmp_path, log):
    results, stderr = [], []
    faults = [BUSY, {"body": "right"}]
    log_path = tmp_path / "log.jsonl"
    policy = {**FAST, "log": log_path if log == "file" else "stderr"}

    def run(start, script, **arguments):
        server, path = origin(script), tmp_path / f"result{len(results)}"
        result = start([clients / "daemon", server.url("/x"), path], **arguments)
        assert (result.returncode, result.stdout) == (0, b"")
        stderr.append(result.stderr)
        wait_until(path.exists, "result of the daemon")
        results.append(path.read_text())
        return server

    bare_server = run(bare, faults[1:])
    server = run(runner.run, faults, policy=policy)
    assert results[0] == "result 0 status 200 body 5 before after\n"
    assert (results[1], stderr[1]) == (results[0], stderr[0])
    # Nothing but requests went over the sockets that took the places of stdout and stderr.
    assert heads_of(server) == heads_of(bare_server) * 2
    if log == "file":
        assert log_path.read_text().count('"kind":"attempt"') == 2


def test_no_descriptor_is_left_in_children(origin, tenacurl_run, bare, tmp_path):
    """What a program that performed starts afterwards inherits nothing of ours."""
    server = origin([BUSY, {"body": "right"}])
    script = tmp_path / "list.py"
    script.write_text(
        "import os, subprocess, sys, pycurl\n"
        "curl = pycurl.Curl()\n"
        "curl.setopt(curl.URL, sys.argv[1])\n"
        "curl.setopt(curl.WRITEFUNCTION, lambda body: None)\n"
        "curl.perform()\n"
        "curl.close()\n"
        "os.execv('/bin/ls', ['ls', '/proc/self/fd'])\n"
    )
    if bare(["/usr/bin/python3", "-c", "import pycurl"]).returncode != 0:
        pytest.skip("pycurl is not installed")
    result = tenacurl_run(["/usr/bin/python3", script, server.url()], FAST)
    # 0 to 2, and the directory itself.
    assert result.stdout.split() == [b"0", b"1", b"2", b"3"], result
    assert len(server.requests) == 2
