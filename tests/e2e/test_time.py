# SPDX-License-Identifier: MIT
"""
Time: whose limit counts and from when, that every limit comes back, that waits can be ended, and that nothing which is
going well is cut. Lower bounds follow from the policy; upper bounds only tell "in time" from "far too late".
"""

import re
import signal
import socket
import threading
import time

import pytest
from support.seen import seen
from support.transfers import further
from support.waiting import wait_until

OK = {"status": 200, "headers": [["X-Final", "yes"]], "body": "hello world"}
BUSY = {"status": 503, "body": "come back later"}
SILENCE = {"fault": "silence"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}
# What a busy machine may add.
SLACK_MS = 2000
# Instead of for ever, or of some 20 s.
GENEROUS_MS = 10_000


@pytest.fixture
def transfer(build, tenacurl_run):
    """transfer(url, *options, **policy) -> Result of tests/clients/transfer under `tenacurl run`."""

    def run(url, *options, **policy):
        return tenacurl_run([build / "tests/clients/transfer", url, *options], policy={**FAST, **policy})

    return run


def result_codes(result):
    return [int(code) for code in re.findall(rb"^result (\d+) ", result.stdout, re.M)]


def elapsed_ms(result):
    return [int(ms) for ms in re.findall(rb"^elapsed_ms (\d+)", result.stderr, re.M)]


class Wall:
    """Answers one request with 503 and lets every later connection hang, since its queue of connections is full."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0), backlog=0)
        self.port = self.listener.getsockname()[1]
        self.fillers = []
        self.thread = threading.Thread(target=self._serve_one, daemon=True)
        self.thread.start()

    def _serve_one(self):
        connection, _ = self.listener.accept()
        while b"\r\n\r\n" not in connection.recv(4096):
            pass
        while self._is_one_more_connected():
            pass
        connection.sendall(b"HTTP/1.1 503 Busy\r\nConnection: close\r\nContent-Length: 0\r\n\r\n")
        connection.close()

    def _is_one_more_connected(self):
        filler = socket.socket()
        filler.settimeout(0.3)
        self.fillers.append(filler)
        return filler.connect_ex(("127.0.0.1", self.port)) == 0

    def close(self):
        self.thread.join()
        for filler in [*self.fillers, self.listener]:
            filler.close()


@pytest.fixture
def wall():
    server = Wall()
    yield server
    server.close()


# The program's own limits (RC-28).


def test_limit_of_the_program_is_for_the_whole(origin, transfer):
    """RC-28: never the limit times the attempts, whatever the policy's deadline."""
    server = origin([{**SILENCE, "repeat": True}])
    result = transfer(server.url(), "timeout_ms=1000", "connect_timeout_ms=750", deadline_ms=60000)
    assert result_codes(result) == [28]
    assert len(server.requests) == 1
    assert 1000 <= elapsed_ms(result)[0] < 1000 + SLACK_MS


@pytest.mark.parametrize("limit", ["timeout_ms=1000", "timeout=1"])
def test_limit_of_the_program_after_refused_attempts(origin, transfer, limit):
    """RC-28, refused at first and then silent. The second perform on the handle has the whole limit again."""
    server = origin([{**SILENCE, "repeat": True}], refuse_ms=300)
    policy = {"jitter": "none", "backoff_base_ms": 100, "backoff_multiplier": 1, "max_attempts": 50}
    result = transfer(server.url(), limit, "--", "url=" + server.url("/second"), deadline_ms=60000, **policy)
    assert result_codes(result) == [28, 28]
    assert result.operations[0]["attempts"] >= 2
    assert result.operations[1]["attempts"] == 1
    assert all(1000 <= ms < 1000 + SLACK_MS for ms in elapsed_ms(result)), result.stderr


def test_wait_that_does_not_fit_into_the_program_limit(origin, transfer):
    """RC-28, 503 late in the limit with a Retry-After: handed over at once."""
    server = origin([{**BUSY, "delay_ms": 600, "headers": [["Retry-After", "1"]]}, OK])
    result = transfer(server.url(), "timeout_ms=1400", deadline_ms=60000)
    assert result_codes(result) == [0]
    assert b"info response_code 503\n" in result.stdout
    assert len(server.requests) == 1
    assert elapsed_ms(result)[0] < 1400


def test_deadline_of_the_policy_where_the_program_sets_none(origin, transfer):
    """RC-28, no limit of the program."""
    server = origin([{**SILENCE, "repeat": True}])
    result = transfer(server.url(), deadline_ms=700)
    assert result_codes(result) == [28]
    assert 700 <= elapsed_ms(result)[0] < 700 + SLACK_MS


def test_connect_limit_that_is_larger_than_what_is_left(wall, transfer):
    """RC-28. Afterwards it is the program's again: without another limit, all of it is waited for."""
    url = f"http://127.0.0.1:{wall.port}/"
    options = ["connect_timeout_ms=1600", "timeout_ms=800", "--", "timeout_ms=0", f"url={url}second"]
    result = transfer(url, *options, max_attempts=2)
    assert result_codes(result) == [28, 28]
    first_ms, second_ms = elapsed_ms(result)
    assert 800 <= first_ms < 800 + SLACK_MS
    # Two attempts of 1.6 s each.
    assert 3200 <= second_ms < 3200 + 2 * SLACK_MS


def test_connect_limit_of_the_policy_counts_for_each_attempt(origin, transfer):
    server = origin([OK], blackhole=True)
    result = transfer(server.url(), "connect_timeout_ms=60000", connect_timeout_ms=200, max_attempts=3)
    assert result_codes(result) == [28]
    assert len(result.attempts) == 3
    assert all(record["unsent"] for record in result.attempts)
    assert 600 <= elapsed_ms(result)[0] < 600 + SLACK_MS


def test_nothing_left_is_never_no_limit(origin, transfer):
    """libcurl takes 0 for "no limit": with one attempt after another up to the very deadline, none may hang."""
    server = origin([{**SILENCE, "repeat": True}])
    policy = {"per_try_ms": 29, "min_try_ms": 0, "deadline_ms": 300, "jitter": "none", "max_attempts": 100}
    url = server.url()
    result = transfer(url, *further(url, 2), budget_tokens=0, backoff_multiplier=1, **policy)
    assert result_codes(result) == [28] * 3
    assert all(ms < 300 + SLACK_MS for ms in elapsed_ms(result))
    assert all(record["attempts"] > 2 for record in result.operations)


def test_attempt_that_is_too_slow(origin, transfer):
    """LOW_SPEED is the program's affair: where it strikes before a byte came, a later attempt may do better."""
    server = origin([SILENCE, OK])
    result = transfer(server.url(), "low_speed_limit=100", "low_speed_time=1")
    assert result_codes(result) == [0]
    assert len(server.requests) == 2


def test_download_that_becomes_too_slow(origin, transfer):
    server = origin([{"status": 200, "body_bytes": 5000, "send_bytes": 100, "end": "silence"}, OK])
    result = transfer(server.url(), "low_speed_limit=100", "low_speed_time=1")
    assert result_codes(result) == [28]
    assert len(server.requests) == 1
    assert elapsed_ms(result)[0] < GENEROUS_MS


# What goes well is never cut.

LONG = {"status": 200, "body_bytes": 1500, "drip": {"bytes": 100, "every_ms": 100}}
EVENTS = {
    "status": 200,
    "headers": [["Content-Type", "text/event-stream"]],
    "framing": "chunked",
    "body": "data: tick\n\n" * 15,
    "drip": {"bytes": 12, "every_ms": 100},
}


@pytest.mark.parametrize("faults", [[], [BUSY]], ids=["at-once", "in-a-retry"])
@pytest.mark.parametrize("step", [LONG, EVENTS], ids=["download", "event-stream"])
def test_long_response_outlasts_the_retry_window(origin, build, bare, transfer, step, faults):
    servers = [origin([step]), origin([*faults, step])]
    expected = seen(bare([build / "tests/clients/transfer", servers[0].url()]), servers[0].port)
    result = transfer(servers[1].url(), retry_max_time_ms=500)
    body = [line for line in seen(result, servers[1].port) if line.startswith("write ")]
    assert body == [line for line in expected if line.startswith("write ")]
    assert result_codes(result) == [0]
    assert elapsed_ms(result)[0] > 500


def test_first_attempt_knows_no_retry_window(origin, transfer):
    server = origin([{**OK, "delay_ms": 900}])
    result = transfer(server.url(), retry_max_time_ms=200)
    assert result_codes(result) == [0]


def test_retry_without_an_answer_ends_with_the_retry_window(origin, transfer):
    server = origin([BUSY, SILENCE, OK])
    # A wait that certainly leaves the window, however exactly the attempt was ended.
    result = transfer(server.url(), retry_max_time_ms=700, jitter="none", backoff_base_ms=100)
    assert result_codes(result) == [28]
    assert len(server.requests) == 2
    assert elapsed_ms(result)[0] < 700 + SLACK_MS


# Waits that end (RC-29).


@pytest.mark.parametrize("progress", ["new", "old"])
def test_interrupt_that_the_program_handles_by_its_progress_callback(build, origin, runner, progress):
    """RC-29: the callback is called during the wait, on the same thread, and what it says is final."""
    server = origin([{**BUSY, "headers": [["Retry-After", "20"]]}, OK])
    argv = [build / "tests/clients/transfer", server.url("/x"), f"progress={progress}", "on_sigint=abort"]
    running = runner.start(argv, policy=FAST)
    wait_until(lambda: running.records, "the first attempt's record")
    interrupted = time.monotonic()
    running.process.send_signal(signal.SIGINT)
    result = running.wait()
    assert result_codes(result) == [42]
    assert b"result 42 Callback aborted\n" in result.stdout
    assert len(server.requests) == 1
    assert time.monotonic() - interrupted < 1 + SLACK_MS / 1000


def test_interrupt_that_the_program_only_notes(build, origin, runner):
    """RC-29: a handler without SA_RESTART and no callback: the wait goes on for its rest."""
    server = origin([{**BUSY, "headers": [["Retry-After", "1"]]}, OK])
    running = runner.start([build / "tests/clients/transfer", server.url("/x"), "on_sigint=note"], policy=FAST)
    wait_until(lambda: running.records, "the first attempt's record")
    for _ in range(20):
        running.process.send_signal(signal.SIGINT)
        time.sleep(0.02)
    result = running.wait()
    assert result_codes(result) == [0]
    assert len(server.requests) == 2
    assert server.gap_ms() >= 1000


def test_progress_goes_on_during_a_wait(origin, transfer):
    server = origin([{**BUSY, "headers": [["Retry-After", "1.2"]]}, OK])
    result = transfer(server.url(), "progress=new", "print_progress=1")
    lines = [line for line in result.stdout.decode().splitlines() if line.startswith("progress ")]
    # At least once a second; nothing is told of what is withheld.
    assert sum(line.startswith("progress 0 0 0 0 ") for line in lines) >= 2, lines
    assert result_codes(result) == [0]


# Name look-ups. tests/clients/lookups is its own resolver.


@pytest.fixture
def lookups(build, tenacurl_run):
    """lookups(server, *options, **policy) -> (Result, [(code, status, look-ups)])"""

    def run(server, *options, **policy):
        argv = [build / "tests/clients/lookups", f"http://flaky.test:{server.port}/x", *options]
        result = tenacurl_run(argv, policy={**FAST, **policy})
        lines = re.findall(rb"^result (\d+) status (\d+) lookups (\d+)$", result.stdout, re.M)
        return result, [tuple(int(number) for number in line) for line in lines]

    return run


QUICK_EXIT_VERSION = 0x075700


def libcurl_version(result):
    return int(re.match(rb"libcurl (\w+)", result.stdout)[1], 16)


def test_deadline_holds_over_a_slow_lookup(origin, lookups):
    server = origin([OK])
    result, [(code, _, _)] = lookups(server, "delay_ms=4000", deadline_ms=500)
    assert code == 28
    assert len(server.requests) == 0
    if libcurl_version(result) >= QUICK_EXIT_VERSION:
        assert elapsed_ms(result)[0] < 500 + SLACK_MS
    # Older ones wait for the look-up; no further attempt follows.
    assert result.operation["attempts"] == 1


def test_deadline_holds_over_lookups_that_are_retried(origin, lookups):
    server = origin([OK])
    result, [(code, _, _)] = lookups(server, "delay_ms=300", "failures=100", deadline_ms=800, max_attempts=50)
    assert code in (6, 28)
    # Older libcurls wait for a look-up that has begun, so for 300 ms more.
    assert elapsed_ms(result)[0] < 800 + 300 + SLACK_MS


def test_lookup_that_fails_for_a_while(origin, lookups):
    """RC-26. A failure that libcurl remembers (8.16 and later) is asked for again all the same."""
    server = origin([{**OK, "headers": [["Connection", "close"]], "repeat": 3}])
    result, [(code, status, _), second, third] = lookups(server, "failures=2", "performs=3")
    assert (code, status) == (0, 200)
    assert len(server.requests) == 3
    assert result.operations[0]["attempts"] == 3
    assert all(record["unsent"] for record in result.attempts[:2])
    # libcurl forgets what it found without a cache; from the next perform on it is in use again.
    assert third == second


def test_name_that_never_exists(origin, lookups):
    """RC-26: as many attempts as the policy allows, with its waits between them, then the truth."""
    server = origin([OK])
    policy = {"jitter": "none", "backoff_base_ms": 100, "backoff_multiplier": 2}
    result, [(code, status, _)] = lookups(server, "failures=1000", **policy)
    assert (code, status) == (6, 0)
    assert result.operation["attempts"] == 4
    assert elapsed_ms(result)[0] >= 100 + 200 + 400


def test_lookup_of_a_proxy_that_fails(origin, lookups):
    """RC-26, code 5. Once the look-up succeeds, the origin answers as if it were the proxy."""
    server = origin([OK])
    proxy = f"proxy=http://flaky-proxy.test:{server.port}"
    result, [(code, status, asked)] = lookups(server, proxy, "failures=1")
    assert (code, status, len(server.requests)) == (0, 200, 1)
    assert [record["curl_code"] for record in result.attempts] == [5, 0]
