# SPDX-License-Identifier: MIT
"""
nested = own: an intent of a program that retries by itself has our attempts and our time, once. What is refused is
refused without a request, in the program's sight a connection that couldn't be made.
"""

import pytest
from support.nested import ALWAYS_BUSY, BUSY, MAX_ATTEMPTS, OK, RESET, apart_ms, calls, nested_records

COULDNT_CONNECT, ABORTED = 7, 42
CALLS = 9
NEVER_MS = 600_000
CLOCK_MS = 1  # instants are whole milliseconds


def refused(result):
    """The operations that made no attempt."""
    return [record for record in result.operations if record["attempts"] == 0]


def outcomes(result):
    return [(call.code, call.status) for call in calls(result)]


@pytest.mark.parametrize("handles", ["new", "same", "pool"])
def test_one_owner_sends_once(origin, caller, handles):
    server = origin([ALWAYS_BUSY])
    options = ["outer=3", "inner=3", f"handles={handles}"]
    assert caller.sends(server, server.url("/x"), *options, nested="own") == MAX_ATTEMPTS


def test_refusal_as_the_program_sees_it(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), "outer=3", "handles=same", nested="own")
    first, *others = calls(result)
    assert (first.code, first.status, first.error) == (0, 503, "")
    assert [(call.code, call.status) for call in others] == [(COULDNT_CONNECT, 0)] * 2
    assert all(call.error.startswith("tenacurl: ") for call in others)
    # Not even a connection.
    assert len(server.connections) == 1


def test_refusal_in_the_log(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), "outer=3", nested="own")
    first, *others = result.operations
    assert (first["attempts"], first["owner"], first["reason"]) == (MAX_ATTEMPTS, "us", "attempt_cap")
    assert len(others) == 2 and len({record["intent"] for record in result.operations}) == 1
    for record in others:
        assert (record["attempts"], record["sends"], record["reason"]) == (0, 0, "nested")
        assert record["owner"] == "us" and record["evidence"] == "observed"
        # What made no attempt is no part of what was done.
        assert record["intent_sends"] == MAX_ATTEMPTS
    assert len(nested_records(result)) == 2


def test_refused_calls_are_apart(origin, caller):
    """A loop without a pause of its own must not spin."""
    base_ms = 100
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), "outer=6", nested="own", max_attempts=1, backoff_base_ms=base_ms)
    ends_us = [call.end_us for call in calls(result)[1:]]
    assert len(refused(result)) == 5 and len(server.requests) == 1
    assert all(later - earlier >= base_ms * 1000 for earlier, later in zip(ends_us, ends_us[1:]))


def test_abort_ends_the_wait_of_a_refused_call(origin, caller):
    base_ms = 60_000
    server = origin([ALWAYS_BUSY])
    policy = {"max_attempts": 1, "backoff_base_ms": base_ms, "backoff_cap_ms": base_ms, "nested_quiet_ms": NEVER_MS}
    result = caller.loop(server.url("/x"), "outer=3", "abort_after_ms=200", nested="own", **policy)
    last = calls(result)[-1]
    assert (last.code, last.status) == (ABORTED, 0)
    assert 200 <= last.elapsed_ms < base_ms / 2
    assert len(server.requests) == 1


def test_limit_of_the_program_ends_the_wait_of_a_refused_call(origin, caller):
    base_ms = 60_000
    server = origin([ALWAYS_BUSY])
    policy = {"max_attempts": 1, "backoff_base_ms": base_ms, "backoff_cap_ms": base_ms, "nested_quiet_ms": NEVER_MS}
    result = caller.loop(server.url("/x"), "outer=3", "timeout_ms=500", nested="own", **policy)
    assert all(call.elapsed_ms < base_ms / 2 for call in calls(result))
    assert len(server.requests) == 1


def test_success_ends_the_intent(origin, caller):
    """The next request has all its attempts again."""
    server = origin([BUSY, BUSY, OK, BUSY, OK])
    result = caller.loop(server.url("/x"), "outer=3", nested="own", nested_quiet_ms=0, max_attempts=2)
    assert outcomes(result) == [(0, 503), (0, 200), (0, 200)]
    assert [record["attempts"] for record in result.operations] == [2, 1, 2]


def test_after_the_quiet_time_one_attempt_goes_out(origin, caller):
    quiet_ms, base_ms = 400, 50
    server = origin([ALWAYS_BUSY])
    result = caller.loop(
        server.url("/x"), "outer=30", nested="own", nested_quiet_ms=quiet_ms, max_attempts=2, backoff_base_ms=base_ms
    )
    attempts = [record["attempts"] for record in result.operations if record["attempts"]]
    assert attempts[0] == 2 and set(attempts[1:]) == {1}
    gaps_ms = [apart_ms(server, n, n + 1) for n in range(1, len(server.requests) - 1)]
    # 29 calls that are 50 ms apart.
    assert gaps_ms and all(gap_ms > quiet_ms - CLOCK_MS for gap_ms in gaps_ms)


def test_refused_calls_do_not_prolong_the_quiet_time(origin, caller):
    """However often the program comes in between."""
    quiet_ms, base_ms = 500, 10
    server = origin([BUSY, OK])
    result = caller.loop(
        server.url("/x"), "outer=1000", "stop_on_success=1", nested="own", nested_quiet_ms=quiet_ms, max_attempts=1,
        backoff_base_ms=base_ms,
    )
    assert outcomes(result)[-1] == (0, 200)
    assert apart_ms(server) > quiet_ms - CLOCK_MS
    # As many as fit, and the one that was under way.
    assert 1 <= len(refused(result)) <= quiet_ms / base_ms + 2


def test_longer_retry_after_is_kept(origin, caller):
    server = origin([{**BUSY, "headers": [["Retry-After", "1"]]}, OK])
    policy = {"nested_quiet_ms": 50, "max_attempts": 1, "backoff_base_ms": 1}
    result = caller.loop(server.url("/x"), "outer=5000", "stop_on_success=1", nested="own", **policy)
    assert outcomes(result)[-1] == (0, 200)
    assert apart_ms(server) >= 1000
    assert len(server.requests) == 2


def test_attempts_are_shared_by_the_calls_of_an_intent(origin, caller):
    """What we may not repeat, the program does; in all no more than our own attempts."""
    server = origin([{**RESET, "repeat": True}])
    result = caller.loop(server.url("/x"), "outer=6", "body=b", "handles=new", nested="own")
    assert [record["attempts"] for record in result.operations] == [1] * MAX_ATTEMPTS + [0] * (6 - MAX_ATTEMPTS)
    assert len(server.requests) == MAX_ATTEMPTS


def test_time_is_shared_by_the_calls_of_an_intent(origin, caller):
    """The deadline counts from the first call; these can't be repeated by us, so each of them makes one attempt."""
    deadline_ms, min_try_ms, turns = 600, 100, 8
    server = origin([{**RESET, "repeat": True}])
    policy = {"deadline_ms": deadline_ms, "min_try_ms": min_try_ms, "max_attempts": 100}
    result = caller.loop(server.url("/x"), f"outer={turns}", "sleep_ms=150", "body=b", nested="own", **policy)
    first, *others = calls(result)
    sent = [call for call in others if call.code != COULDNT_CONNECT]
    assert all(call.begin_us <= first.end_us + (deadline_ms - min_try_ms) * 1000 for call in sent)
    assert len(server.requests) == 1 + len(sent)
    assert len(refused(result)) == turns - 1 - len(sent) > 0


def test_other_addresses_are_not_refused(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), "outer=4", "paths=4", nested="own")
    assert len(server.requests) == 4 * MAX_ATTEMPTS
    assert refused(result) == []


def test_body_from_a_callback_shares_once_it_was_sent(origin, caller):
    """It can't be known sooner, so each call has one request."""
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), "outer=3", "body=same", "streamed=1", nested="own", replay="all")
    assert [record["attempts"] for record in result.operations] == [MAX_ATTEMPTS, 1, 1]
    assert [record["reason"] for record in result.operations] == ["attempt_cap"] * 3


def curl(*options):
    return " ".join(["/usr/bin/curl -s -f -o /dev/null", *options, '"$1"'])


@pytest.mark.parametrize("first, second", [
    (curl("-u alice:secret"), curl("-u bob:secret")),
    (curl(), curl('-x "$2"')),
    (curl("-H 'Range: bytes=0-9'"), curl("-H 'Range: bytes=10-19'")),
    (curl("-r 0-9"), curl("-r 10-19")),
    (curl("-C 10"), curl("-C 20")),
    (curl("--request-target /a"), curl("--request-target /b")),
    (curl("--oauth2-bearer alice"), curl("--oauth2-bearer bob")),
    (curl("--interface 127.0.0.1"), curl("--interface 127.0.0.2")),
    (curl("--resolve a.example:1:127.0.0.1"), curl("--resolve a.example:1:127.0.0.2")),
    (curl("--connect-to a.example::127.0.0.1:"), curl("--connect-to a.example::127.0.0.2:")),
    (curl("-H 'Host: a.example'"), curl("-H 'Host: b.example'")),
], ids=["user", "proxy", "range header", "range", "resume", "request target", "bearer", "interface", "resolve", "connect to", "host header"])
def test_another_request_of_the_same_address_is_not_refused(origin, caller, first, second):
    part = {"status": 206, "headers": [["Content-Range", "bytes 20-23/24"]], "body": "fine", "repeat": True}
    server = origin([BUSY] * MAX_ATTEMPTS + [part])
    proxy = origin([{**OK, "repeat": True}])
    argv = ["/bin/sh", "-c", f"{first}; {second}", "sh", server.url("/x"), proxy.url("/")]
    result = caller.run(argv, nested="own")
    assert result.returncode == 0 and refused(result) == []
    assert [record["attempts"] for record in result.operations] == [MAX_ATTEMPTS, 1]


def test_other_threads_are_not_refused(origin, caller):
    server = origin([{**ALWAYS_BUSY, "delay_ms": 300}])
    result = caller.loop(server.url("/x"), "threads=2", nested="own")
    assert len(server.requests) == 2 * MAX_ATTEMPTS
    assert refused(result) == []


def test_declared_program_is_not_left_to_itself(origin, caller):
    """We own, whoever says that they do."""
    server = origin([ALWAYS_BUSY])
    options = ["outer=3", "inner=3"]
    assert caller.sends(server, server.url("/x"), *options, nested="own", nested_programs="nested") == MAX_ATTEMPTS


def test_reserved_attempt_in_real_time(origin, caller):
    """
    A tenth of: deadline 12 s, 4 s for each attempt, and none with less; waits of 1 s and 2 s. Attempts start at 0 and
    5 s; a third would have 1 s of its 4, so it isn't waited for: the end is at 9 s.
    """
    server = origin([{"fault": "silence", "repeat": True}])
    policy = {"deadline_ms": 1200, "per_try_ms": 400, "min_try_ms": 400, "backoff_base_ms": 100,
              "backoff_multiplier": 2, "max_attempts": 10}
    result = caller.loop(server.url("/x"), **policy)
    first, second = server.requests
    assert second.first_byte_us - first.first_byte_us >= 450_000
    assert [(call.code, call.status) for call in calls(result)] == [(28, 0)]
    assert calls(result)[0].elapsed_ms >= 900
    # The second wait was considered, not slept.
    assert result.operation["reason"] == "wait_exceeds_deadline"
    assert 100 <= result.operation["waited_ms"] < 100 + 200
    assert calls(result)[0].elapsed_ms < 1200


@pytest.mark.parametrize("state", ["process", "none"])
def test_own_without_shared_state(origin, caller, state):
    server = origin([ALWAYS_BUSY])
    assert caller.sends(server, server.url("/x"), "outer=3", "inner=3", nested="own", state=state) == MAX_ATTEMPTS
