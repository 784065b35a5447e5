# SPDX-License-Identifier: MIT
"""Layers below us that retry, too: libcurl's own resends are charged to the operation, a proxy's tries are logged."""

import json

import pytest

OK = {"status": 200, "body": "fine"}
BUSY = {"status": 503, "body": "busy"}
FAST = {"jitter": "none", "backoff_base_ms": 1, "retry_after_jitter_pct": 0}


@pytest.fixture
def transfer(build, tenacurl_run):
    """transfer(url, *options, **policy) -> Result of tests/clients/transfer under `tenacurl run`."""

    def run(url, *options, **policy):
        return tenacurl_run([build / "tests/clients/transfer", url, *options], policy={**FAST, **policy})

    return run


# libcurl's own resends. It goes from one kept connection that turns out to be dead to the next, five times at most.


def transfer_over_dead_connections(origin, transfer, kept, **policy):
    """A GET with so many connections kept, all of which the server closes as soon as it has read a request."""
    server = origin({"paths": {"/dead": [{"fault": "fin", "repeat": True}]}, "steps": [{**OK, "repeat": True}]})
    keep = ["--", "url=" + server.url("/x")] * (kept - 1)
    dead = "url=" + server.url("/dead")
    if kept:
        result = transfer(server.url("/x"), "maxconnects=20", "fresh=1", *keep, "--", "fresh=0", dead, **policy)
    else:
        result = transfer(server.url("/dead"), **policy)
    return result, [request for request in server.requests if request.target == "/dead"]


@pytest.mark.parametrize("kept, sends, attempts", [
    (0, 4, 4),  # nothing is sent again: attempts are all there is
    (1, 4, 3),  # two sends in the first attempt
    (2, 4, 2),  # three
    (3, 4, 1),  # four: the operation has had what it may have
    (7, 6, 1),  # six, as many as libcurl makes without us; none are added
])
def test_resends_count_as_attempts(origin, transfer, kept, sends, attempts):
    result, seen = transfer_over_dead_connections(origin, transfer, kept, max_attempts=4)
    last = result.operations[-1]
    assert len(seen) == sends
    assert (last["sends"], last["attempts"], last["reason"]) == (sends, attempts, "attempt_cap")


def test_resends_count_without_a_log(origin, transfer):
    result, seen = transfer_over_dead_connections(origin, transfer, 7, max_attempts=4, log="none")
    assert result.records == []
    assert len(seen) == 6


def test_redirects_are_no_resends(origin, transfer):
    """Each hop of an attempt is a send, but none for want of an answer."""
    hop = {"status": 302, "headers": [["Location", "/to"]]}
    server = origin({"paths": {"/from": [hop] * 4, "/to": [BUSY] * 3 + [OK]}})
    result = transfer(server.url("/from"), "follow=1", max_attempts=4)
    assert (result.operation["attempts"], result.operation["sends"]) == (4, 8)
    assert result.operation["reason"] == "success"


# D-01: what libcurl sends again is counted wherever a send is.


def transfer_with_a_resend(origin, transfer, then, mode="enforce", **policy):
    """A GET on a kept connection that the server closes, which libcurl makes again, and then other ones."""
    server = origin({
        "paths": {"/dead": [{"fault": "fin"}, OK] * 8, "/then": then},
        "steps": [{**OK, "repeat": True}],
    })
    dead = "url=" + server.url("/dead")
    options = ["--", dead, "--", dead, "--", "url=" + server.url("/then")]
    result = transfer(server.url("/x"), *options, mode=mode, **policy)
    assert len([request for request in server.requests if request.target == "/dead"]) == 4
    return result, len([request for request in server.requests if request.target == "/then"])


def sends_of(result):
    return [(record["attempts"], record["sends"], record["reason"]) for record in result.operations]


@pytest.mark.parametrize("tokens, then", [(2, 1), (3, 2)])
def test_d01_a_resend_costs_a_token(origin, transfer, tokens, then):
    policy = {"budget_tokens": tokens, "budget_refill_per_s": 0, "budget_ratio": 0}
    result, requests = transfer_with_a_resend(origin, transfer, [BUSY, OK], **policy)
    assert requests == then
    assert result.operations[-1]["reason"] == ("budget_empty" if then == 1 else "success")


def test_d01_a_resend_is_made_without_a_token(origin, transfer):
    """It would be made without us, too."""
    result, _ = transfer_with_a_resend(origin, transfer, [OK], budget_tokens=1, budget_refill_per_s=0, budget_ratio=0)
    assert result.stdout.count(b"result 0") == 4


@pytest.mark.parametrize("mode", ["enforce", "audit"])
def test_d01_a_resend_is_logged(origin, transfer, mode):
    result, _ = transfer_with_a_resend(origin, transfer, [OK], mode=mode, log_events="retries")
    assert sends_of(result) == [(1, 2, "success")] * 2
    assert len(result.attempts) == 2


@pytest.mark.parametrize("percent, then, reason", [(40, 1, "breaker_open"), (60, 2, "success")])
def test_d01_a_resend_is_a_failed_attempt_for_the_breaker(origin, transfer, percent, then, reason):
    """Of six attempts three failed: two that were sent again, and the 503."""
    policy = {"breaker": "on", "breaker_failure_pct": percent, "breaker_min_attempts": 6, "breaker_outage_ms": 60000}
    result, requests = transfer_with_a_resend(origin, transfer, [BUSY, OK], **policy)
    assert (requests, result.operations[-1]["reason"]) == (then, reason)


@pytest.mark.parametrize("action", ["no-retry", "fail-fast"])
def test_d01_a_resend_decides_no_probe(origin, transfer, action):
    """A probe whose kept connection is dead, and that libcurl makes again: its answer closes the circuit."""
    # The circuit opens at the 503's headers; by the end of its body probes are let through.
    busy = {**BUSY, "body_delay_ms": 30}
    server = origin({"paths": {"/busy": [busy], "/dead": [{"fault": "fin"}, OK]}, "steps": [{**OK, "repeat": True}]})
    policy = {"breaker": "on", "breaker_failures": 1, "breaker_outage_ms": 0, "breaker_open_ms": 1, "breaker_action": action}
    urls = ["/busy", "/dead", "/x"]
    more = [option for url in urls for option in ("--", "url=" + server.url(url))]
    result = transfer(server.url("/x"), *more, **policy)
    assert [request.target for request in server.requests] == ["/x", "/busy", "/dead", "/dead", "/x"]
    assert sends_of(result)[-2:] == [(1, 2, "success"), (1, 1, "success")]


def test_d01_log_counters_and_report_tell_what_the_server_got(origin, build, tenacurl_run, state, tmp_path):
    server = origin({"paths": {"/dead": [{"fault": "fin"}, OK], "/busy": [BUSY, OK]}, "steps": [{**OK, "repeat": True}]})
    argv = [build / "tests/clients/transfer", server.url("/x"), "--", "url=" + server.url("/dead"), "--", "url=" + server.url("/busy")]
    result = tenacurl_run(argv, policy={**FAST, "log_events": "retries"}, env={"TENACURL_STATE": str(state.directory)})
    told = sends_of(result)
    assert told == [(1, 2, "success"), (2, 2, "success")]
    log = tmp_path / "log.jsonl"
    log.write_text("".join(json.dumps(record) + "\n" for record in result.records))
    (reported,) = json.loads(state.text("report", "--json", str(log)))["rows"]
    (counted,) = state.stats().values()
    # The plain success isn't in the log.
    assert len(server.requests) == counted["sends"] == reported["sends"] + 1 == 5


# x-envoy-attempt-count: how often a proxy between us and the origin asked for one answer.


def counted(answer, *values):
    return {**answer, "headers": [["X-Envoy-Attempt-Count", value] for value in values]}


def upstream_attempts(result):
    return [record["upstream_attempts"] for record in result.attempts]


@pytest.mark.parametrize("log_events", ["retries", "all"])
def test_what_a_proxy_tried_is_logged(origin, transfer, log_events):
    server = origin([counted(BUSY, "3"), BUSY, counted(OK, " 2 ")])
    result = transfer(server.url("/x"), log_events=log_events)
    assert upstream_attempts(result) == [3, None, 2]
    assert b"Attempt-Count:  2" in result.stdout, "the program gets the header as it came"


@pytest.mark.parametrize("mode", ["enforce", "audit"])
def test_what_a_proxy_tried_before_a_success(origin, transfer, mode):
    result = transfer(origin([counted(OK, "2")]).url("/x"), mode=mode)
    assert upstream_attempts(result) == [2]


@pytest.mark.parametrize("value", ["", "0", "-1", "1.5", "many", "2 3", "1000001", "99999999999999999999"])
def test_what_is_no_count_is_none(origin, transfer, value):
    assert upstream_attempts(transfer(origin([counted(OK, value)]).url("/x"))) == [None]


def test_the_count_of_a_redirect_step_is_not_the_answers(origin, transfer):
    hop = {"status": 302, "headers": [["Location", "/to"], ["x-envoy-attempt-count", "5"]]}
    server = origin({"paths": {"/from": [hop], "/to": [BUSY]}})
    result = transfer(server.url("/from"), "follow=1", max_attempts=1)
    assert upstream_attempts(result) == [None]
