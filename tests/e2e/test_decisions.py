# SPDX-License-Identifier: MIT
"""The decision table over real HTTP: what the server sees, what the program gets, what the log says of it."""

import pytest

from support.waiting import wait_until

CURL = ["/usr/bin/curl", "-sS"]
FAIL_FAST = ["/usr/bin/curl", "-sS", "-f"]
POST = [*FAIL_FAST, "-d", "amount=1"]
QUICK = {"jitter": "none", "backoff_base_ms": 20, "backoff_cap_ms": 40}
DOWN = {"status": 503, "body": "down\n"}


@pytest.fixture
def decide(origin, tenacurl_run):
    """decide(script, policy, argv) -> (Result, Origin)."""

    def run(script, policy, argv=FAIL_FAST, path="/x"):
        server = origin(script)
        return tenacurl_run([*argv, server.url(path)], policy), server

    return run


def test_success_is_one_attempt(decide):
    result, server = decide([{"body": "fine"}], QUICK)
    assert result.stdout == b"fine" and result.returncode == 0
    assert len(server.requests) == 1
    assert result.reasons == ["success"] and result.operation["attempts"] == 1


def test_503_then_200_is_two_attempts(decide):
    result, server = decide([DOWN, {"body": "fine"}], QUICK)
    assert result.stdout == b"fine" and result.returncode == 0
    assert len(server.requests) == 2
    assert result.reasons == ["transient_failure", "success"]
    assert result.operation["attempts"] == 2 and result.operation["sends"] == 2


def test_401_is_one_attempt(decide):
    result, server = decide([{"status": 401}, {"body": "never asked for"}], QUICK)
    assert result.returncode == 22
    assert len(server.requests) == 1
    assert result.reasons == ["terminal_error"]


def test_always_503_ends_at_max_attempts(decide):
    result, server = decide([{**DOWN, "repeat": True}], {**QUICK, "max_attempts": 3}, CURL)
    assert result.returncode == 0 and result.stdout == b"down\n", "the last answer is handed over, once"
    assert len(server.requests) == 3
    assert result.reasons[-1] == "attempt_cap" and result.operation["attempts"] == 3


def test_retry_after_over_the_time_left_hands_over_that_response(decide):
    script = [{**DOWN, "headers": [["Retry-After", "10"], ["X-Which", "first"]]}, {"body": "never asked for"}]
    result, server = decide(script, {**QUICK, "deadline_ms": 3000}, [*CURL, "-i"])
    assert result.returncode == 0
    assert result.stdout.startswith(b"HTTP/1.1 503 ") and result.stdout.endswith(b"\r\n\r\ndown\n")
    assert b"X-Which: first" in result.stdout
    assert len(server.requests) == 1
    assert result.reasons == ["wait_exceeds_deadline"]
    assert result.operation["waited_ms"] == 0 and result.operation["elapsed_ms"] < 3000


def test_retry_after_over_the_policys_limit_stops(decide):
    script = [{**DOWN, "headers": [["Retry-After", "31"]]}, {"body": "never asked for"}]
    result, server = decide(script, QUICK)
    assert result.returncode == 22 and len(server.requests) == 1
    assert result.reasons == ["retry_after_limit"] and result.operation["waited_ms"] == 0


def test_late_headers_end_at_the_deadline(decide):
    policy = {"deadline_ms": 40, "min_try_ms": 10}
    result, server = decide([{"delay_ms": 200, "body": "late"}], policy)
    assert result.returncode == 28 and result.stdout == b""
    assert len(server.requests) == 1
    assert 40 <= result.operation["elapsed_ms"] <= 90


def test_post_with_nothing_that_makes_it_safe_is_one_attempt(decide):
    result, server = decide([DOWN, {"body": "never asked for"}], QUICK, POST)
    assert result.returncode == 22
    assert len(server.requests) == 1
    assert result.reasons == ["unsafe_replay"]


def test_reset_post_is_one_attempt(decide):
    result, server = decide([{"fault": "reset"}, {"body": "never asked for"}], QUICK, POST)
    assert result.returncode == 56
    assert len(server.requests) == 1
    assert result.reasons == ["unsafe_replay"]


def test_post_with_an_idempotency_key_is_repeated_whole(decide):
    argv = [*POST, "-H", "Idempotency-Key: 7f"]
    result, server = decide([DOWN, {"echo": True}], QUICK, argv)
    assert result.stdout == b"amount=1" and result.returncode == 0
    assert [request.body for request in server.requests] == [b"amount=1"] * 2
    assert server.requests[0].head == server.requests[1].head


@pytest.mark.parametrize("argv", [FAIL_FAST, POST], ids=["GET", "POST"])
def test_black_hole_is_retried_since_nothing_was_sent(argv, origin, runner):
    server = origin([{"body": "fine"}], blackhole=True)
    policy = {**QUICK, "connect_timeout_ms": 300, "max_attempts": 50}
    running = runner.start([*argv, server.url("/x")], policy)
    wait_until(lambda: len(running.records) >= 2, "records of two attempts")
    server.come_up()
    result = running.wait()
    assert result.returncode == 0 and result.stdout == b"fine"
    assert len(server.requests) == 1, "the lost attempts never reached the server"
    assert result.attempts[0]["unsent"] is True and result.attempts[0]["curl"] == "CURLE_OPERATION_TIMEDOUT"
    assert result.operation["attempts"] >= 3 and result.operation["sends"] == 1


def test_worked_example(decide):
    """
    0 ms first request · 400 ms its 503 asks for 0.3 s, backoff asks for 0.2 s · 700 ms second request, which would be
    answered after 700 ms but may take 600 · 1300 ms it is cut; the next wait is 400 ms, and 200 are left: the end.
    """
    policy = {
        "deadline_ms": 1500,
        "per_try_ms": 600,
        "backoff_base_ms": 200,
        "jitter": "none",
        "retry_after_jitter_pct": 0,
    }
    script = [
        {**DOWN, "delay_ms": 400, "headers": [["Retry-After", "0.3"]]},
        {"delay_ms": 700, "body": "too late"},
        {"body": "never asked for"},
    ]
    result, server = decide(script, policy)
    assert result.returncode == 28 and result.stdout == b""
    assert len(server.requests) == 2
    assert server.gap_ms() >= 300
    assert result.reasons == ["transient_failure", "wait_exceeds_deadline"]
    assert result.attempts[0]["wait_ms"] == 300 and result.attempts[0]["retry_after_ms"] == 300
    assert 1295 <= result.operation["elapsed_ms"] < 1500


def test_audit_changes_nothing_and_says_what_it_would_have_done(decide):
    result, server = decide([DOWN, {"body": "never asked for"}], {**QUICK, "mode": "audit"}, CURL)
    assert result.returncode == 0 and result.stdout == b"down\n"
    assert len(server.requests) == 1
    assert result.attempts[0]["mode"] == "audit" and result.attempts[0]["verdict"] == "retry"


def test_mode_off_passes_through(decide):
    result, server = decide([DOWN, {"body": "never asked for"}], {**QUICK, "mode": "off"}, CURL)
    assert result.returncode == 0 and result.stdout == b"down\n"
    assert len(server.requests) == 1
