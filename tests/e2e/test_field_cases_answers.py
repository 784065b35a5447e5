# SPDX-License-Identifier: MIT
"""Field cases: what the server asks for (Retry-After), and what was delivered already."""

import pytest

from support.field_cases import BACKOFF_MS, T0, field_case, version_of  # noqa: F401

OK = {"status": 200, "body": "ok"}


def asks(value, status=429, **step):
    return {"status": status, "headers": [["Retry-After", value]], **step}


def test_rc_01_retry_after_of_a_day_does_not_fit(field_case):
    seen = field_case([asks("86400", 503, body="5byte"), OK], "timeout_ms=5000")
    seen.came(requests=1, result=0, status=503)
    assert seen.reasons == ["retry_after_limit"]
    assert seen.case.body == "5byte" and seen.case.status_lines == ["HTTP/1.1 503 Unavailable"]
    # Neither the time asked for nor the time left was waited.
    assert seen.case.elapsed_ms < 2500


def test_rc_01_wait_that_the_policy_allows_but_the_program_has_no_time_for(field_case):
    seen = field_case([asks("7", 503, body="5byte"), OK], "timeout_ms=5000")
    seen.came(requests=1, result=0, status=503)
    assert seen.reasons == ["wait_exceeds_deadline"]
    assert seen.case.elapsed_ms < 2500


def test_rc_02_fail_on_error_does_not_hide_retry_after(field_case):
    seen = field_case([asks("1", 429, body_bytes=30), {"status": 200, "body": "four"}], "failonerror=1")
    seen.came(requests=2, result=0, status=200)
    assert seen.case.body == "four"
    assert seen.attempts[0]["curl_code"] in (0, 22)
    if version_of(seen.result) >= (7, 75, 0):
        seen.waited_as_asked(1000)
    else:
        # libcurl cuts the headers off there.
        seen.waited_by_backoff(1)


def test_rc_02_failure_that_stays_is_told_as_by_libcurl(field_case):
    seen = field_case([{"status": 503, "body": "no", "repeat": True}], "failonerror=1")
    seen.came(requests=4, result=22, status=503)


@pytest.mark.parametrize("value,asked_ms", [("0.503", 503), ("1.5", 1500), ("0.0004", 1)])
def test_rc_03_fractional_seconds_are_rounded_up(field_case, value, asked_ms):
    seen = field_case([asks(value), OK]).came(requests=2, result=0, status=200)
    assert seen.attempts[0]["retry_after_ms"] == asked_ms
    assert seen.waits_ms[0] >= asked_ms
    if asked_ms > BACKOFF_MS[0]:
        seen.waited_as_asked(asked_ms)


@pytest.mark.parametrize("value", ["0.0", ".5", "1e3", "1,5", "NaN", "inf", "0x10", "5 seconds", ""])
def test_rc_03_what_is_no_number_of_seconds_is_no_demand(field_case, value):
    field_case([asks(value), OK]).came(requests=2, result=0, status=200).waited_by_backoff(1)


def test_rc_04_negative_retry_after(field_case):
    steps = [asks("-5"), asks("-43"), OK]
    seen = field_case(steps, policy={"backoff_min_ms": 20}).came(requests=3, result=0, status=200)
    seen.waited_by_backoff(2, least_ms=20)
    assert seen.server.gap_ms(0, 1) >= 20 and seen.server.gap_ms(1, 2) >= 20


def test_rc_08_everybody_told_the_same_comes_back_apart(build, origin, runner):
    count = 20
    paths = {f"/{i}": [asks("2", 503), OK] for i in range(count)}
    server = origin({"paths": paths})
    client = build / "tests/clients/transfer"
    running = [runner.start([client, server.url(path)], policy=T0) for path in paths]
    results = [one.wait() for one in running]
    assert all(b"result 0 " in result.stdout for result in results)
    waits_ms = [result.attempts[0]["wait_ms"] for result in results]
    assert all(2000 <= wait_ms <= 2200 for wait_ms in waits_ms)
    # 20 draws from 0..200 lie closer together than this once in a billion runs.
    assert max(waits_ms) - min(waits_ms) >= 60
    for path in paths:
        first, second = [request for request in server.requests if request.target == path]
        assert second.first_byte_us - first.answer["us"] >= 2_000_000


def test_rc_08_forked_children_draw_apart(build, origin, tenacurl_run):
    count = 8
    paths = {f"/child/{i}": [asks("1", 503), OK] for i in range(count)}
    server = origin({"paths": {**paths, "/parent": [asks("1", 503), OK]}})
    argv = [build / "tests/clients/forks", "waiting", "fork", server.url(""), str(count)]
    result = tenacurl_run(argv, policy=T0)
    assert result.returncode == 0, result
    waits_ms = [record["wait_ms"] for record in result.attempts if record["attempt"] == 1]
    assert len(waits_ms) == count + 1
    assert len(set(waits_ms)) > 2


# Data already delivered.


@pytest.mark.parametrize("end,code", [("reset", 56), ("close", 18)])
def test_rc_09_a_stream_never_begins_again(field_case, end, code):
    whole = {"status": 200, "body_bytes": 100000}
    cut = {**whole, "send_bytes": 40000, "end": end, "drip": {"bytes": 10000, "every_ms": 5}}
    seen = field_case([cut, whole], compares=False)
    seen.came(requests=1, result=code, status=200)
    assert seen.reasons == ["delivered"]
    alphabet = "abcdefghijklmnopqrstuvwxyz"
    # A reset may overtake bytes that libcurl had not read yet.
    assert len(seen.case.body) <= 40000 and (end == "reset" or len(seen.case.body) == 40000)
    assert seen.case.body == (alphabet * 2000)[: len(seen.case.body)]


def test_rc_10_stalled_download_is_not_begun_again(field_case):
    """Without resume: one request, the timeout, and what had come."""
    stalled = {"status": 200, "headers": [["Accept-Ranges", "bytes"], ["ETag", '"v1"']], "body_bytes": 1000}
    steps = [{**stalled, "send_bytes": 400, "end": "silence"}, {**stalled, "status": 206}]
    seen = field_case(steps, "low_speed_limit=1", "low_speed_time=1", compares=False)
    seen.came(requests=1, result=28, status=200)
    assert len(seen.case.body) == 400
    assert seen.reasons == ["delivered"]


ANSWERS_OF_RC_14 = [
    {"status": 503, "headers": [["X-Try", "1"]], "body_bytes": 10},
    {
        "status": 503,
        "informational": [{"status": 103, "headers": [["Link", "x"]]}],
        "headers": [["X-Try", "2"]],
        "body_bytes": 10,
    },
    {"status": 200, "headers": [["X-Try", "3"]], "body": "ok"},
]


def test_rc_14_header_callback_sees_one_answer(field_case):
    # The program gives up at a line of another answer than the last.
    seen = field_case(ANSWERS_OF_RC_14, "refuse_header=HTTP/1.1 503").came(requests=3, result=0, status=200)
    seen.waited_by_backoff(2)
    assert seen.case.status_lines == ["HTTP/1.1 200 OK"]
    assert seen.case.headers[0] == "HTTP/1.1 200 OK" and seen.case.headers[-1] == ""
    assert [line for line in seen.case.headers if line.startswith("X-Try")] == ["X-Try: 3"]


def test_rc_14_headers_in_the_body(field_case):
    seen = field_case(ANSWERS_OF_RC_14, "header=1").came(requests=3, result=0, status=200)
    assert seen.case.body.startswith("HTTP/1.1 200 OK") and seen.case.body.endswith("\\x0d\\x0a\\x0d\\x0aok")
    assert seen.case.body.count("HTTP/") == 1 and seen.case.body.count("X-Try") == 1


def test_rc_14_redirects_of_the_last_attempt_stay_visible(field_case):
    hop = {"status": 302, "headers": [["Location", "/case?hop=B0DY"]]}
    seen = field_case([{"status": 503}, hop, OK], "follow=1", compares=False)
    assert [line.split()[1] for line in seen.case.status_lines] == ["302", "200"]
    assert len(seen.requests) == 3 and seen.case.body == "ok"


def test_rc_15_write_error_is_the_programs_word(field_case):
    # How the network cuts the body is chance, and so is what came before the second write.
    seen = field_case([{"status": 200, "body_bytes": 200000}, OK], "refuse_write=2", compares=False)
    seen.came(requests=1, result=23, status=200)
    assert seen.reasons == ["cancelled"]
    assert len(seen.case.of_kind("write")) == 2


def test_rc_15_refusal_in_a_header(field_case):
    seen = field_case([OK, OK], "refuse_header=HTTP/", compares=False)
    seen.came(requests=1, result=23, status=200)


def test_rc_15_abort_by_a_progress_callback(field_case):
    seen = field_case([{**OK, "delay_ms": 8000}, OK], "progress=new", "abort_progress_after_ms=100", compares=False)
    seen.came(requests=1, result=42, status=0)


@pytest.mark.parametrize("faults", [[], [{"status": 503}]], ids=["at-once", "after-a-fault"])
def test_rc_15_pause_is_no_failure(field_case, faults):
    steps = [*faults, {"status": 200, "body_bytes": 5000}]
    seen = field_case(steps, "pause_write=1", "progress=new")
    seen.came(requests=len(steps), result=0, status=200)
    assert len(seen.case.body) == 5000
