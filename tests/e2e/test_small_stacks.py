# SPDX-License-Identifier: MIT
"""
Threads with the smallest stack that there can be (PTHREAD_STACK_MIN, 16 KiB). libcurl uses 12 KiB of it for a plain
transfer and 14 for one with TLS, so that what is left for tenacurl is little, and with the binder less: ld.so takes the
room for static TLS from each thread's stack.
"""

import re

import pytest
from support.runner import policy_text
from support.waiting import wait_until

SMALLEST = 16384
AMPLE = 65536
OK = {"status": 200, "body": "fine"}
BUSY = {"status": 503, "headers": [["Retry-After", "0"]], "body_bytes": 3000}
FAST = {"backoff_base_ms": 1, "backoff_cap_ms": 1, "retry_after_jitter_pct": 0, "replay": "all"}
GOOD = b"fine\nresult 0 status 200\n"

# How much deeper than without tenacurl a transfer may go.
FRAMES_BYTES_MAX = 512

WAYS = ["run", "preload", "binder"]


@pytest.fixture
def small_stack(build, runner):
    """small_stack(way, url, *words, policy=None) -> the client, running on the smallest stack under tenacurl."""
    # What `run` sets where it sets the binder, whatever it thinks of this program.
    preload = {"LD_PRELOAD": str(build / "libtenacurl.so")}
    binder = {
        "LD_AUDIT": str(build / "libtenacurl-bind.so"),
        "GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=2304",
    }

    def start(way, url, *words, policy=None):
        argv = [build / "tests/clients/small_stack", url, SMALLEST, *words]
        if way == "run":
            return runner.start(argv, policy)
        assert (build / "libtenacurl-bind.so").exists()
        env = {**preload, **(binder if way == "binder" else {})}
        if policy:
            path = runner.directory / "by-hand" / "policy.ini"
            path.parent.mkdir(parents=True)
            path.write_text(policy if isinstance(policy, str) else policy_text(policy))
            env["TENACURL_POLICY"] = str(path)
        return runner.start_bare(argv, env)

    return start


def outcome(result):
    return result.returncode, result.stdout, result.stderr


SETTINGS = {
    "no policy": None,
    "policy": FAST,
    "log file": {**FAST, "log": "LOG", "log_events": "all", "log_url": "full-path"},
    "log file with %u": {**FAST, "log": "LOG%u", "log_events": "all"},
    "syslog": {**FAST, "log": "syslog", "log_events": "all"},
    "everything": {**FAST, "log": "LOG", "log_events": "all", "resend": "forbid", "add_idempotency_key": "yes",
                   "final_body": "out of quota", "hold_success_bytes": 60000, "deadline_ms": 60000,
                   "per_try_ms": 20000, "connect_timeout_ms": 9000, "skip_programs": "no-such-program"},
    "audit mode": {**FAST, "mode": "audit", "log": "LOG", "log_events": "all"},
    "broken policy": "[policy]\nno_such_key = 1\n",
}


def settings_for(name, tmp_path):
    settings = SETTINGS[name]
    if not isinstance(settings, dict):
        return settings
    return {key: str(value).replace("LOG", f"{tmp_path}/log") for key, value in {"log": "none", **settings}.items()}


def script_for(name):
    return [OK] if name in ("audit mode", "broken policy") else [BUSY, OK]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("upload", ["upload=0", "upload=3000"])
@pytest.mark.parametrize("name", SETTINGS)
def test_transfer_on_the_smallest_stack(origin, small_stack, tmp_path, name, upload, way):
    """The policy is looked for and loaded on that stack, too."""
    if (name, way) == ("broken policy", "run"):
        pytest.skip("run doesn't start a program with such a policy")
    script = script_for(name)
    server = origin(script)
    result = small_stack(way, server.url("/x"), upload, policy=settings_for(name, tmp_path)).wait()
    assert outcome(result) == (0, GOOD, b"")
    assert len(server.requests) == len(script)
    if upload != "upload=0":
        assert {request.body for request in server.requests} == {(b"abcdefghijklmnopqrstuvwxyz" * 200)[:3000]}
    if "LOG" in str(SETTINGS[name]):
        log = next(tmp_path.glob("log*")).read_text()
        assert log.count('"kind":"attempt"') == len(script) and log.count('"kind":"operation"') == 1


@pytest.mark.parametrize("way", WAYS)
def test_changed_policy_is_loaded_on_the_smallest_stack(origin, small_stack, runner, way):
    server = origin([{**OK, "delay_ms": 1500}, BUSY, OK])
    once = {**FAST, "max_attempts": 1, "log": "none"}
    running = small_stack(way, server.url("/x"), "transfers=2", policy=once)
    wait_until(lambda: server.requests, "the first request")
    path = next(runner.directory.rglob("policy.ini"))
    newer = path.with_suffix(".new")
    newer.write_text(policy_text({**once, "max_attempts": 3}))
    newer.chmod(0o600)
    newer.rename(path)
    result = running.wait()
    assert outcome(result) == (0, b"finefine\nresult 0 status 200\nresult 0 status 200\n", b"")
    assert len(server.requests) == 3


def used_bytes(result):
    assert result.returncode == 0 and b"result 0 status 200" in result.stdout
    return int(re.search(rb"^used (\d+)$", result.stdout, re.MULTILINE)[1])


@pytest.mark.parametrize("name", SETTINGS)
def test_transfer_goes_hardly_deeper(build, origin, bare, small_stack, tmp_path, name):
    """Where it shows how much of the stack was written to: a transfer that tenacurl retries, against a plain one."""
    plain, faulty = origin([OK]), origin(script_for(name))
    without = used_bytes(bare([build / "tests/clients/small_stack", plain.url("/x"), SMALLEST, "measure=1"]))
    result = small_stack("preload", faulty.url("/x"), "measure=1", policy=settings_for(name, tmp_path)).wait()
    assert used_bytes(result) - without <= FRAMES_BYTES_MAX


@pytest.mark.parametrize("way", WAYS)
def test_tls_on_the_smallest_stack(origin, real_server, bare, build, small_stack, way):
    """What the program could do without the binder, it can do with it: with 4096 bytes of room it could not."""
    server = origin([OK, OK])
    front = real_server("nginx", server.port)
    words = ["insecure=1"]
    url = front.url("/x")
    assert bare([build / "tests/clients/small_stack", url, SMALLEST, *words]).stdout == GOOD
    assert outcome(small_stack(way, url, *words).wait()) == (0, GOOD, b"")
