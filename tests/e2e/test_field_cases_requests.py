# SPDX-License-Identifier: MIT
"""Field cases: request bodies, what may be repeated, and time."""

import re
import signal

import pytest
from support.field_cases import T0, field_case, performed  # noqa: F401
from support.waiting import wait_until

OK = {"status": 200, "body": "ok"}
BUSY = {"status": 503, "body": "busy"}
ALPHABET = b"abcdefghijklmnopqrstuvwxyz"


def body_of(size):
    return (ALPHABET * (size // 26 + 1))[:size]


# A body that follows a live log, on a connection that the server closed meanwhile.


def chunked_on_stale_connection(build, origin, run, size_bytes, method):
    """A plain request first, then an upload on the same connection, which the server closes when it has all of it."""
    closes = {"read": "full", "fault": "fin"}
    server = origin({"paths": {"/warm": [OK], "/case": [closes, {**OK, "repeat": True}]}})
    url = f"http://us3r:S3CRET@127.0.0.1:{server.port}"
    source = [f"{method}={size_bytes}", "h=Transfer-Encoding: chunked", "h=Expect:"]
    result = run([build / "tests/clients/transfer", f"{url}/warm", "--", f"url={url}/case", *source])
    assert result.returncode == 0, result
    requests = [request for request in server.requests if request.target == "/case"]
    assert requests[0].on_connection == 2
    return requests, performed(result)[1], result


@pytest.mark.parametrize("method", ["postread", "upload"])
def test_rc_16_endless_upload_on_a_stale_connection(build, origin, bare, tenacurl_run, method):
    """More than our copy may hold: never begun again from the middle, and the result is libcurl's own."""
    size = 1_000_000
    bare_requests, without, _ = chunked_on_stale_connection(build, origin, bare, size, method)

    def run(argv):
        return tenacurl_run(argv, policy=T0)

    requests, with_us, result = chunked_on_stale_connection(build, origin, run, size, method)
    assert len(requests) == len(bare_requests) == 1
    assert without.result in (52, 55, 56, 65) and with_us.result in (52, 55, 56, 65)
    positions = [int(text.split(" at ")[1]) for text in with_us.of_kind("read")]
    assert positions == sorted(set(positions)) and positions[0] == 0
    assert result.attempts[-1]["reason"] in ("body_not_replayable", "unsafe_replay")
    assert method == "postread" or result.attempts[-1]["reason"] == "body_not_replayable"
    assert "us3r" not in str(result.records) and "S3CRET" not in str(result.records)


def test_rc_16_short_post_on_a_stale_connection(build, origin, bare, tenacurl_run):
    """A body that we could give again is still a POST that may have been executed; nor may libcurl find it easier."""
    bare_requests, without, _ = chunked_on_stale_connection(build, origin, bare, 3000, "postread")

    def run(argv):
        return tenacurl_run(argv, policy=T0)

    requests, with_us, result = chunked_on_stale_connection(build, origin, run, 3000, "postread")
    assert len(requests) == len(bare_requests)
    assert (with_us.result, with_us.status) == (without.result, without.status)
    assert result.operations[-1]["attempts"] == 1


# Uploads from a read callback. The transfer client's callback gives the alphabet over and over.


def test_rc_17_put_is_sent_again_from_our_copy(field_case):
    seen = field_case([BUSY, OK], "upload=20000", "uploadsize=20000", compares=False)
    seen.came(requests=2, result=0, status=200)
    assert [request.body for request in seen.requests] == [body_of(20000)] * 2
    assert [request.header("Content-Length") for request in seen.requests] == [["20000"]] * 2
    # The program gave its body once.
    assert sum(int(text.split()[0]) for text in seen.case.of_kind("read")) == 20000


def test_rc_17_put_over_our_copy(field_case):
    seen = field_case([BUSY, OK], "upload=200000", "uploadsize=200000").came(requests=1, result=0, status=503)
    assert seen.reasons == ["body_not_replayable"]


def test_rc_17_put_that_can_be_rewound(field_case):
    seen = field_case([BUSY, OK], "upload=200000", "uploadsize=200000", "seek=works", compares=False)
    seen.came(requests=2, result=0, status=200)
    assert [request.body for request in seen.requests] == [body_of(200000)] * 2
    assert seen.case.of_kind("seek") == ["0 0"]


def test_rc_17_put_that_fails_to_rewind(field_case):
    seen = field_case([BUSY, OK], "upload=200000", "uploadsize=200000", "seek=fails", compares=False)
    seen.came(requests=1, result=0, status=503)
    assert seen.case.body == "busy"


@pytest.mark.parametrize("source,requests", [("file", 2), ("pipe", 1)])
def test_rc_17_default_read_function(build, origin, tenacurl_run, source, requests):
    """A regular file that was read from offset 100 on is read from there again; a pipe can't be."""
    server = origin([BUSY, OK])
    argv = [build / "tests/clients/upload", server.url("/x"), source, "size=2000", "offset=100"]
    # What a pipe was filled with before the upload began is part of it.
    result = tenacurl_run(argv if source == "file" else argv[:-1], policy=T0)
    assert result.returncode == 0, result
    assert [request.body for request in server.requests] == [body_of(2000)] * requests
    assert re.search(rb"^result 0 %d$" % (200 if requests == 2 else 503), result.stdout, re.M)


# A POST that was processed, and whose answer is lost.


@pytest.mark.parametrize("fault,code", [("fin", 52), ("reset", 56)])
def test_rc_19_answer_lost(field_case, fault, code):
    seen = field_case([{"fault": fault}, OK], "postfields=order=7&B0DY").came(requests=1, result=code, status=0)
    assert seen.reasons == ["unsafe_replay"]


def test_rc_19_answer_too_late(field_case):
    seen = field_case([{**OK, "delay_ms": 5000}, OK], "postfields=order=7", "timeout_ms=500")
    seen.came(requests=1, result=28, status=0)


def test_rc_19_refusal_that_only_the_program_can_judge(field_case):
    seen = field_case([{**BUSY, "headers": [["Retry-After", "1"]]}, OK], "postfields=order=7")
    seen.came(requests=1, result=0, status=503)
    assert seen.case.elapsed_ms < 1000


def test_rc_19_policy_that_trusts_the_server(field_case):
    steps = [{**BUSY, "headers": [["Retry-After", "1"]]}, OK]
    seen = field_case(steps, "postfields=order=7", policy={"refused_status": "503"}, trusts=True)
    seen.came(requests=2, result=0, status=200).waited_as_asked(1000)


def test_rc_19_nothing_was_sent(field_case):
    seen = field_case([OK], "postfields=order=7", after=False, refuse_ms=600_000)
    seen.came(requests=0, result=7, status=0).waited_by_backoff(3)
    assert all(record["unsent"] for record in seen.attempts)


def test_rc_19_connection_refused_for_a_while(build, origin, runner):
    server = origin([OK], refuse_ms=600_000)
    argv = [build / "tests/clients/transfer", server.url("/case"), "postfields=order=7"]
    running = runner.start(argv, policy={**T0, "jitter": "none", "max_attempts": 100})
    wait_until(lambda: running.records, "record of a refused attempt")
    server.come_up()
    result = running.wait()
    assert [request.body for request in server.requests] == [b"order=7"]
    assert performed(result)[0].result == 0


def test_rc_19_tls_handshake_failed(build, origin, tenacurl_run):
    server = origin([{"read": "none", "fault": "reset", "repeat": True}])
    url = f"https://127.0.0.1:{server.port}/case"
    result = tenacurl_run([build / "tests/clients/transfer", url, "postfields=order=7", "insecure=0"], policy=T0)
    assert performed(result)[0].result == 35
    assert len(server.connections) == 4


def test_rc_19_get_with_a_body(field_case):
    seen = field_case([BUSY, OK], "postfields=order=7", "request=GET").came(requests=1, result=0, status=503)
    assert seen.requests[0].method == "GET" and seen.requests[0].body == b"order=7"


def test_rc_19_server_that_knows_duplicates(field_case):
    steps = [BUSY, {"fault": "reset"}, BUSY, OK]
    seen = field_case(steps, "postfields=order=7", "h=Idempotency-Key: H3ADER-7")
    seen.came(requests=4, result=0, status=200)
    assert [request.header("Idempotency-Key") for request in seen.requests] == [["H3ADER-7"]] * 4
    assert [request.body for request in seen.requests] == [b"order=7"] * 4


# Time.

ALL_THE_TIME = {"deadline_ms": 60000}


def test_rc_28_limit_is_for_the_whole(field_case):
    steps = [{"fault": "silence", "repeat": True}]
    seen = field_case(steps, "timeout_ms=2000", "connect_timeout_ms=1500", policy=ALL_THE_TIME)
    seen.came(requests=1, result=28, status=0)
    assert 2000 <= seen.case.elapsed_ms


def test_rc_28_later_attempts_get_what_is_left(build, origin, tenacurl_run):
    """And the program's limit is its own again: the second call has all of it."""
    silence = {"fault": "silence"}
    server = origin({"paths": {"/case": [BUSY, silence], "/second": [silence]}})
    again = ["--", "url=" + server.url("/second")]
    argv = [build / "tests/clients/transfer", server.url("/case"), "timeout_ms=2000", *again]
    result = tenacurl_run(argv, policy={**T0, **ALL_THE_TIME, "backoff_min_ms": 100})
    first, second = performed(result)
    assert (first.result, second.result) == (28, 28)
    assert 2000 <= first.elapsed_ms < 3500 and 2000 <= second.elapsed_ms < 3500
    # The first call's second attempt ended with the first call.
    assert result.attempts[1]["total_ms"] < 2000
    assert len(server.requests) == 3


def test_rc_28_limit_in_seconds_comes_back(build, origin, tenacurl_run):
    """CURLOPT_TIMEOUT and CURLOPT_TIMEOUT_MS are one option in libcurl."""
    server = origin({"paths": {"/case": [BUSY, OK], "/second": [{"fault": "silence"}]}})
    argv = [build / "tests/clients/transfer", server.url("/case"), "timeout=1", "--", "url=" + server.url("/second")]
    first, second = performed(tenacurl_run(argv, policy={**T0, **ALL_THE_TIME}))
    assert (first.result, second.result) == (0, 28)
    assert 1000 <= second.elapsed_ms < 3000


def test_rc_28_wait_does_not_fit(field_case):
    steps = [{**BUSY, "headers": [["Retry-After", "1"]], "delay_ms": 700}, OK]
    seen = field_case(steps, "timeout_ms=1500", policy=ALL_THE_TIME).came(requests=1, result=0, status=503)
    assert seen.reasons == ["wait_exceeds_deadline"]


def test_rc_28_deadline_of_the_policy(field_case):
    seen = field_case([BUSY, {"fault": "silence"}], policy={"deadline_ms": 1500}, compares=False)
    seen.came(requests=2, result=28, status=0)
    assert 1500 <= seen.case.elapsed_ms


def test_rc_28_connect_limit_comes_back(build, origin, tenacurl_run):
    server = origin([OK], blackhole=True)
    limits = ["timeout_ms=600", "connect_timeout_ms=1500"]
    argv = [build / "tests/clients/transfer", server.url("/case"), *limits, "--", "timeout_ms=0"]
    first, second = performed(tenacurl_run(argv, policy={**T0, "max_attempts": 1}))
    assert (first.result, second.result) == (28, 28)
    assert 600 <= first.elapsed_ms < 1500 <= second.elapsed_ms


# Cancellation.

ASKS_FOR_5_S = [{"status": 503, "headers": [["Retry-After", "5"]]}, OK]


@pytest.mark.parametrize("progress", ["new", "old"])
def test_rc_29_interrupt_is_heard_during_a_wait(build, origin, runner, progress):
    server = origin(ASKS_FOR_5_S)
    argv = [build / "tests/clients/transfer", server.url("/case"), f"progress={progress}", "on_sigint=abort"]
    running = runner.start(argv, policy=T0)
    wait_until(lambda: running.records, "record of the first attempt")
    running.process.send_signal(signal.SIGINT)
    result = running.wait()
    (case,) = performed(result)
    assert case.result == 42 and case.headers == []
    assert len(server.requests) == 1
    # A second at most for the callback to be asked, far from the five of the wait.
    assert case.elapsed_ms < 3500
    assert result.operation["reason"] == "cancelled"


def test_rc_29_progress_goes_on_during_a_wait(build, origin, tenacurl_run):
    server = origin(ASKS_FOR_5_S)
    argv = [build / "tests/clients/transfer", server.url("/case"), "progress=new", "abort_progress_after_ms=1500"]
    result = tenacurl_run(argv, policy=T0)
    (case,) = performed(result)
    assert case.result == 42 and 1500 <= case.elapsed_ms < 4500
    assert int(re.search(rb"progress_calls (\d+)", result.stderr)[1]) >= 2


def test_rc_29_default_interrupt_ends_the_program(build, origin, runner):
    server = origin(ASKS_FOR_5_S)
    # What started the tests may have let interrupts be ignored.
    argv = ["env", "--default-signal=INT", build / "tests/clients/transfer", server.url("/case")]
    running = runner.start(argv, policy=T0)
    wait_until(lambda: running.records, "record of the first attempt")
    running.process.send_signal(signal.SIGINT)
    assert running.wait(timeout=4).returncode == -signal.SIGINT
    assert len(server.requests) == 1


def test_rc_29_handler_that_only_takes_note_prolongs_nothing(build, origin, runner):
    """The wait goes on for its rest: no shorter, and not begun anew with each signal."""
    server = origin([{"status": 503, "headers": [["Retry-After", "2"]]}, OK])
    argv = [build / "tests/clients/transfer", server.url("/case"), "on_sigint=note"]
    running = runner.start(argv, policy={**T0, "retry_after_jitter_pct": 0})
    wait_until(lambda: running.records, "record of the first attempt")
    sent = 0

    def comes_back():
        nonlocal sent
        running.process.send_signal(signal.SIGINT)
        sent += 1
        return len(server.requests) == 2

    wait_until(comes_back, "second request")
    assert performed(running.wait())[0].result == 0
    assert sent > 1 and 2000 <= server.gap_ms(0, 1) < 4000


def test_rc_29_cancelled_thread(build, origin, tenacurl_run):
    server = origin([ASKS_FOR_5_S[0], OK])
    result = tenacurl_run([build / "tests/clients/cancelled", server.url("/x")], policy=T0)
    assert result.returncode == 0, result.stderr
    assert result.stdout == b"cancelled\nfirst handle cleaned up\nanother transfer 0 200\n"
    assert len(server.requests) == 2
