# SPDX-License-Identifier: MIT
"""
One owner of retries, within a process: a program that calls curl_easy_perform() in loops of its own. Who retries is
counted at the origin; nested = yield unless a test says otherwise.
"""

import pytest
from support.nested import ALWAYS_BUSY, BUSY, MAX_ATTEMPTS, OK, RESET, calls, nested_records, owners

THREE_BY_THREE = ["outer=3", "inner=3"]
CALLS = 9
HANDLES = ["new", "same", "pool"]
# The first call has its retries, each further one is the program's retry.
FIRST_CONTACT = CALLS + MAX_ATTEMPTS - 1
# Two repeats are enough to know a caller: three calls, the first with its retries.
LEARNING = [BUSY] * (3 + MAX_ATTEMPTS - 1)
OBSERVED, LEARNED, NOBODY = ("outer", "observed"), ("outer", "learned"), ("us", None)

LIMITED = {"status": 429, "headers": [["Content-Length", "0"]], "framing": "none", "repeat": True}


# Three by three.


def test_layers_multiply_where_nobody_looks(origin, caller):
    server = origin([ALWAYS_BUSY])
    assert caller.sends(server, server.url("/x"), *THREE_BY_THREE, nested="off") == CALLS * MAX_ATTEMPTS


@pytest.mark.parametrize("handles", HANDLES)
def test_one_owner_at_first_contact_and_from_then_on(origin, caller, handles):
    server = origin([ALWAYS_BUSY])
    options = [server.url("/x"), *THREE_BY_THREE, f"handles={handles}"]
    assert caller.sends(server, *options) <= FIRST_CONTACT
    # Another process, another run.
    assert caller.sends(server, *options) == CALLS
    assert caller.sends(server, *options) == CALLS


def test_declared_program_has_all_its_calls_to_itself(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), *THREE_BY_THREE, nested_programs="nes?ed")
    assert len(server.requests) == CALLS
    assert {record["owner"] for record in result.operations} == {"outer"}
    assert result.operations[0]["evidence"] == "program:nested"


def test_declared_program_of_another_name_is_none(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), nested_programs="nest, nested.so")
    assert len(server.requests) == MAX_ATTEMPTS
    assert owners(result) == [NOBODY]


def test_every_call_returns_what_it_would_have(origin, caller):
    """Whoever owns: the program's own failures, with their own texts."""
    server = origin([ALWAYS_BUSY])
    returned = calls(caller.loop(server.url("/x"), *THREE_BY_THREE, "failonerror=1"))
    assert {(call.code, call.status) for call in returned} == {(22, 503)}
    assert {call.error for call in returned} == {"The requested URL returned error: 503"}


def test_failures_of_several_kinds_have_our_retries_once(origin, caller):
    """What comes back after one kind of failure may not do so after another; but the intent has no more retries."""
    server = origin([BUSY, BUSY, BUSY, RESET, BUSY, {**RESET, "repeat": True}])
    assert caller.sends(server, server.url("/x"), "outer=6") <= 6 + MAX_ATTEMPTS - 1


def learned(caller, server):
    """The caller is known to repeat 503."""
    assert caller.sends(server, server.url("/x"), "outer=3") == len(LEARNING)


# The log.


def test_log_tells_whose_retries_they_are(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), "outer=3", "sleep_ms=50")
    operations, nested = result.operations, nested_records(result)
    assert owners(result) == [NOBODY, OBSERVED, OBSERVED]
    assert [record["reason"] for record in operations] == ["attempt_cap", "nested", "nested"]
    assert [(record["intent_operations"], record["intent_sends"]) for record in operations] == [(1, 3), (2, 4), (3, 5)]
    assert operations[-1]["intent_sends"] == len(server.requests)
    intents = {record["intent"] for record in [*operations, *nested]}
    assert len(intents) == 1 and len(intents.pop()) == 16
    # Written when a repeat begins: what the intent has had before.
    assert [record["intent_sends"] for record in nested] == [3, 4]
    assert all(record["gap_ms"] >= 50 for record in nested)
    assert [record["operation"] for record in nested] == [2, 3]
    assert all("busy" not in str(record) for record in result.records)


def test_log_tells_what_was_learned(origin, caller):
    server = origin([ALWAYS_BUSY])
    learned(caller, server)
    result = caller.loop(server.url("/x"))
    assert owners(result) == [LEARNED]
    assert result.operation["reason"] == "nested"
    assert [record["evidence"] for record in result.attempts] == ["learned"]


def test_log_of_what_succeeds_at_once_names_nobody(origin, caller):
    server = origin([{**OK, "repeat": True}])
    result = caller.loop(server.url("/x"), "outer=3")
    assert owners(result) == [NOBODY] * 3
    assert {record["intent"] for record in result.operations} == {None}
    assert nested_records(result) == []


# RC-32: an application that retries, on a library that is retried, under 429. Instead of 16 requests.

FOUR_ATTEMPTS = {"max_attempts": 4}
APPLICATION = ["outer=4", "sleep_ms=200", "stop_on_success=1"]


@pytest.mark.parametrize("handles", HANDLES)
def test_rc_32_application_times_library(origin, caller, handles):
    server = origin([LIMITED])
    options = [server.url("/x"), *APPLICATION, f"handles={handles}"]
    result = caller.loop(*options, **FOUR_ATTEMPTS)
    assert len(server.requests) <= 7
    assert [(call.code, call.status) for call in calls(result)] == [(0, 429)] * 4
    assert all(record["gap_ms"] >= 200 for record in nested_records(result))
    assert len(nested_records(result)) == 3
    assert caller.sends(server, *options, **FOUR_ATTEMPTS) == 4


def test_rc_32_declared(origin, caller):
    server = origin([LIMITED])
    options = [server.url("/x"), *APPLICATION]
    assert caller.sends(server, *options, **FOUR_ATTEMPTS, nested_programs="nested") == 4


def test_rc_32_four_paths_are_four_intents(origin, caller):
    server = origin([LIMITED])
    result = caller.loop(server.url("/x"), *APPLICATION, "paths=4", **FOUR_ATTEMPTS)
    assert [request.target for request in server.requests] == [f"/x/{n}" for n in range(4) for _ in range(4)]
    assert owners(result) == [NOBODY] * 4
    assert len({record["intent"] for record in result.operations}) == 4


def test_rc_32_two_threads_at_once(origin, caller):
    # Neither has failed before the other begins.
    server = origin([{**LIMITED, "delay_ms": 300}])
    result = caller.loop(server.url("/x"), "threads=2", **FOUR_ATTEMPTS)
    assert len(server.requests) == 8
    assert owners(result) == [NOBODY] * 2


POST = {"replay": "all", **FOUR_ATTEMPTS}


def test_rc_32_post_of_the_same_body(origin, caller):
    server = origin([LIMITED])
    options = [server.url("/x"), *APPLICATION, "body=same"]
    assert caller.sends(server, *options, **POST) <= 7
    assert {request.body for request in server.requests} == {b"same"}
    assert caller.sends(server, *options, **POST) == 4


@pytest.mark.parametrize("method", ["POST", "PUT"])
def test_body_that_a_callback_gave_whole(origin, caller, method):
    """It is known by the time the first attempt fails."""
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), "outer=3", f"method={method}", "body=same", "streamed=1", replay="all")
    assert len(server.requests) == MAX_ATTEMPTS + 2
    assert owners(result) == [NOBODY, OBSERVED, OBSERVED]


def test_other_bodies_that_a_callback_gave(origin, caller):
    server = origin([ALWAYS_BUSY])
    options = ["outer=3", "body=item", "vary_body=1", "streamed=1"]
    assert caller.sends(server, server.url("/x"), *options, replay="all") == 3 * MAX_ATTEMPTS


def test_rc_32_post_of_other_bodies(origin, caller):
    server = origin([LIMITED])
    result = caller.loop(server.url("/x"), *APPLICATION, "body=item", "vary_body=1", **POST)
    assert [request.body for request in server.requests] == [b"item %d" % n for n in (1, 2, 3, 4) for _ in range(4)]
    assert owners(result) == [NOBODY] * 4


# What is not nested.


def test_body_from_a_callback_never_matches_if_it_cannot_be_copied(origin, caller):
    server = origin([ALWAYS_BUSY])
    policy = {"replay": "all", "replay_body_bytes": 0}
    result = caller.loop(server.url("/x"), "outer=3", "body=same", "streamed=1", **policy)
    assert [record["reason"] for record in result.operations] == ["body_not_replayable"] * 3
    assert owners(result) == [NOBODY] * 3


def test_another_method_is_another_intent(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), "outer=2", "second_method=DELETE")
    assert [request.method for request in server.requests] == ["GET"] * MAX_ATTEMPTS + ["DELETE"] * MAX_ATTEMPTS
    assert owners(result) == [NOBODY] * 2


def test_another_query_is_another_intent(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x?page="), "outer=3", "paths=3")
    assert len(server.requests) == 3 * MAX_ATTEMPTS
    assert owners(result) == [NOBODY] * 3


def test_threads_that_come_one_after_the_other(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), "outer=3", "thread_per_call=1")
    assert len(server.requests) == 3 * MAX_ATTEMPTS
    assert owners(result) == [NOBODY] * 3


def test_loops_of_several_threads_are_each_their_own(origin, caller):
    threads, turns = 4, 5
    server = origin([ALWAYS_BUSY])
    sends = caller.sends(server, server.url("/x"), f"threads={threads}", f"outer={turns}")
    assert sends <= threads * (turns + MAX_ATTEMPTS - 1)
    assert sends >= threads * turns


def test_repeat_after_the_window_is_a_new_intent(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), "outer=3", "sleep_ms=400", nested_window_ms=200)
    assert len(server.requests) == 3 * MAX_ATTEMPTS
    assert owners(result) == [NOBODY] * 3


def test_failure_that_does_not_pass_says_nothing_of_the_caller(origin, caller):
    """A program that asks again for what isn't there."""
    server = origin({"paths": {"/x": [{"status": 404}] * 5 + [BUSY, {**OK, "repeat": True}]}})
    result = caller.loop(server.url("/x"), "outer=6")
    assert [call.status for call in calls(result)] == [404] * 5 + [200]
    assert owners(result) == [NOBODY] * 6


# What was learned: for whom it holds, and how it goes.


def test_other_failures_are_still_retried(origin, caller):
    server = origin([*LEARNING, RESET, OK])
    learned(caller, server)
    result = caller.loop(server.url("/x"))
    assert [call.status for call in calls(result)] == [200]
    assert owners(result) == [NOBODY]


def test_other_addresses_of_the_origin_are_the_same_callers(origin, caller):
    server = origin([ALWAYS_BUSY])
    learned(caller, server)
    assert caller.sends(server, server.url("/y")) == 1


def test_another_place_in_the_program_is_another_caller(origin, caller):
    server = origin([ALWAYS_BUSY])
    learned(caller, server)
    assert caller.sends(server, server.url("/x"), "site=2") == MAX_ATTEMPTS


def test_another_origin_is_another_caller(origin, caller):
    server, other = origin([ALWAYS_BUSY]), origin([ALWAYS_BUSY])
    learned(caller, server)
    assert caller.sends(other, other.url("/x"), *THREE_BY_THREE) == FIRST_CONTACT


def test_caller_that_does_not_come_back(origin, caller):
    """One call is left to an outer layer that doesn't come; the next one has its retries again."""
    server = origin([ALWAYS_BUSY])
    learned(caller, server)
    window = {"nested_window_ms": 300}
    first = caller.loop(server.url("/x"), "outer=2", "sleep_ms=500", **window)
    assert [record["attempts"] for record in first.operations] == [1, MAX_ATTEMPTS]
    assert owners(first) == [LEARNED, NOBODY]
    assert caller.sends(server, server.url("/x"), **window) == MAX_ATTEMPTS


def test_caller_that_comes_back_keeps_its_name(origin, caller):
    server = origin([ALWAYS_BUSY])
    learned(caller, server)
    for _ in range(3):
        assert caller.sends(server, server.url("/x"), "outer=2") == 2


def test_poller_loses_it(origin, caller):
    server = origin([*LEARNING, BUSY, OK, OK, BUSY, OK])
    learned(caller, server)
    returned = calls(caller.loop(server.url("/x"), "outer=4"))
    # It came back after a success: at the next failure it isn't waited for.
    assert [call.status for call in returned] == [503, 200, 200, 200]
    assert len(server.requests) == len(LEARNING) + 5


@pytest.mark.parametrize("state", ["process", "none"])
def test_without_shared_state_a_process_knows_itself_only(origin, caller, state):
    server = origin([ALWAYS_BUSY])
    options = [server.url("/x"), *THREE_BY_THREE]
    assert [caller.sends(server, *options, state=state) for _ in range(2)] == [FIRST_CONTACT] * 2


# Audit.


@pytest.mark.parametrize("nested", ["yield", "own", "off"])
def test_audit_changes_nothing_on_the_wire(origin, caller, nested):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), *THREE_BY_THREE, mode="audit", nested=nested)
    assert len(server.requests) == CALLS
    assert {(call.code, call.status) for call in calls(result)} == {(0, 503)}
    if nested == "off":
        assert owners(result) == [NOBODY] * CALLS


def test_audit_says_what_would_have_been(origin, caller):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), *THREE_BY_THREE, mode="audit")
    assert [record["reason"] for record in result.attempts] == ["transient_failure"] + ["nested"] * (CALLS - 1)
    assert owners(result) == [NOBODY, *[OBSERVED] * (CALLS - 1)]
