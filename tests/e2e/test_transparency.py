# SPDX-License-Identifier: MIT
"""
A program sees exactly one response. Each transfer of tests/clients/transfer is run bare, under tenacurl (equal), in audit mode
(equal), and under tenacurl behind a fault that is survived (equal to the run without the fault, but for the named info values).
"""

import pytest
from support.seen import seen, without_info

OK = {"status": 200, "headers": [["X-Final", "yes"]], "body": "hello world"}
OLD = {"status": 200, "headers": [["Last-Modified", "Tue, 13 Jun 2000 12:10:00 GMT"]], "body": "old"}
BUSY = {"status": 503, "headers": [["X-Busy", "yes"], ["Set-Cookie", "busy=1"]], "body": "come back later"}
RESET = {"fault": "reset"}
HEADER_CUT = {"status": 503, "body": "x" * 50, "header_cut": 40, "end": "close"}
TO_FINAL = {"status": 302, "headers": [["Location", "/final"], ["Retry-After", "9"]], "body": "moved"}
DIGEST = {
    "status": 401,
    "headers": [["WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"']],
    "body": "who are you",
}

# name: (script, options of the client)
TRANSFERS = {
    "plain": ([OK], []),
    "empty-body": ([{"status": 200}], []),
    "large": ([{"status": 200, "body_bytes": 300000}], []),
    "chunked": ([{**OK, "framing": "chunked", "drip": {"bytes": 4, "every_ms": 2}}], []),
    "trailers": ([{**OK, "framing": "chunked", "trailers": [["X-Trailer", "late"]]}], []),
    "until-close": ([{**OK, "framing": "close"}], []),
    "no-content": ([{"status": 204, "framing": "none"}], []),
    "not-modified": ([{"status": 304, "framing": "none"}], []),
    "unmet-time-condition": ([OLD], ["timecondition=1", "timevalue=1000000000"]),
    "early-hints": ([{**OK, "informational": [{"status": 103, "headers": [["Link", "</a>"]]}, {"status": 102}]}], []),
    "head": ([{"status": 200, "declared_bytes": 500, "send_bytes": 0, "end": "keep"}], ["nobody=1"]),
    "redirect-followed": ([TO_FINAL, OK], ["follow=1"]),
    "redirects-followed": ([TO_FINAL, {**TO_FINAL, "status": 307}, OK], ["follow=1"]),
    "redirect-not-followed": ([TO_FINAL], []),
    "redirect-without-location": ([{"status": 302, "body": "nowhere"}], ["follow=1"]),
    "redirect-limit": ([{**TO_FINAL, "repeat": True}], ["follow=1", "maxredirs=2"]),
    "unauthorised": ([{"status": 401, "body": "no"}], []),
    "digest": ([DIGEST, OK], ["httpauth=2", "userpwd=u:p"]),
    "digest-refused": ([DIGEST, DIGEST], ["httpauth=2", "userpwd=u:p"]),
    "not-found": ([{"status": 404, "body": "gone"}], []),
    "not-found-failonerror": ([{"status": 404, "body": "gone"}], ["failonerror=1"]),
    "server-error-on-post": ([{"status": 500, "body": "oops"}], ["postfields=a=b"]),
    "busy-on-post": ([BUSY], ["postfields=a=b"]),
    "post": ([OK], ["postfields=a=b"]),
    "post-copied": ([OK], ["copypostfields=a=b"]),
    "put": ([{**OK, "read": "full"}], ["upload=3000", "uploadsize=3000"]),
    "mime": ([OK], ["mime=data"]),
    "expect": ([OK], ["postfields=a=b", "h=Expect: 100-continue"]),
    "cut-body": ([{**OK, "send_bytes": 5, "end": "close"}], []),
    "reset-body": ([{**OK, "send_bytes": 5, "end": "reset"}], []),
    "refused-write": ([OK], ["refuse_write=1"]),
    "refused-header": ([OK], ["refuse_header=X-Final"]),
    "paused-write": ([OK], ["pause_write=1", "progress=new"]),
    "paused-header": ([OK], ["pause_header=2", "progress=new"]),
    "twice-on-one-handle": ([OK, {**OK, "body": "again"}], ["--"]),
    "get-after-post": ([OK, OK], ["postfields=a=b", "--", "httpget=1"]),
    "reset-between": ([OK, OK], ["--", "reset=URL"]),
    "duplicate": ([OK, OK], ["--", "duplicate=1"]),
    "inner-transfer": ([OK, OK], ["inner=URL"]),
    "status-line-in-body": ([{"status": 200, "body": "HTTP/1.1 503 not really\r\n\r\nbody"}], []),
}
CALLBACKS = [
    ("both", []),
    ("both-header", ["header=1"]),
    ("by-write", ["callbacks=header-by-write"]),
    ("by-write-header", ["callbacks=header-by-write", "header=1"]),
    ("file", ["callbacks=file"]),
    ("file-header", ["callbacks=file", "header=1"]),
]
# Where what libcurl itself would do can't be had, with the reason. A refusal comes when the block is complete, so libcurl has
# counted all of its lines and words the error for the call that was under way.
DIFFERS_WHEN_REFUSED = ("header_size",)
# Lines that were paused with CURLOPT_HEADER come in other pieces: the write and the header callback take turns line by line.
NOT_COMPARED = {("paused-write", "header"), ("paused-header", "header")}
# What the retry itself changes: it goes over a connection that is open already, or needs a new one.
DIFFERS_AFTER_RETRY = ("num_connects", "request_size")
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}


def transfer(build, server, options):
    url = server.url("/first")
    return [build / "tests/clients/transfer", url, *[option.replace("URL", url) for option in options]]


def comparable(name, lines):
    """The lines without the named differences."""
    if not name.startswith("refused"):
        return lines
    lines = [line[: len("result 23")] if line.startswith("result 23") else line for line in lines]
    return without_info(lines, *DIFFERS_WHEN_REFUSED)


@pytest.fixture
def look(build, origin):
    """look(run, script, options) -> what the program saw, and the server."""

    def look(run, script, options, **arguments):
        server = origin(script)
        result = run(transfer(build, server, options), **arguments)
        assert result.returncode == 0, result
        return seen(result, server.port), server

    return look


# Callbacks that behave in a special way exist as a pair only.
NEEDS_BOTH = {"refused-write", "refused-header", "paused-write", "paused-header", "inner-transfer", "reset-between"}


@pytest.mark.parametrize("callbacks,callback_options", CALLBACKS, ids=[name for name, _ in CALLBACKS])
@pytest.mark.parametrize("name", TRANSFERS)
def test_sees_the_same(look, bare, tenacurl_run, name, callbacks, callback_options):
    if name in NEEDS_BOTH and not callbacks.startswith("both"):
        callback_options = callback_options[1:]
    script, options = TRANSFERS[name]
    options = [*callback_options, *options]
    expected, bare_server = look(bare, script, options)
    audited, _ = look(tenacurl_run, script, options, policy={"mode": "audit"})
    assert audited == expected
    enforced, server = look(tenacurl_run, script, options)
    assert len(server.requests) == len(bare_server.requests)
    if "header=1" not in options or (name, "header") not in NOT_COMPARED:
        assert comparable(name, enforced) == comparable(name, expected)


# A success that was let through is the program's, whatever becomes of it; these end in a way that is never retried.
SURVIVES = sorted(set(TRANSFERS) - {"busy-on-post", "server-error-on-post", "post", "post-copied", "put", "mime", "expect", "get-after-post"})
FAULTS = {"busy": BUSY, "reset": RESET, "header-cut": HEADER_CUT, "silence": {"fault": "silence"}}


@pytest.mark.parametrize("fault", FAULTS)
@pytest.mark.parametrize("name", SURVIVES)
def test_sees_the_same_after_a_fault(look, bare, tenacurl_run, name, fault):
    script, options = TRANSFERS[name]
    expected, _ = look(bare, script, options)
    policy = {**FAST, "per_try_ms": 1000} if fault == "silence" else FAST
    survived, server = look(tenacurl_run, [FAULTS[fault], *script], options, policy=policy)
    survived, expected = comparable(name, survived), comparable(name, expected)
    assert without_info(survived, *DIFFERS_AFTER_RETRY) == without_info(expected, *DIFFERS_AFTER_RETRY)


@pytest.mark.parametrize("callbacks,callback_options", CALLBACKS, ids=[name for name, _ in CALLBACKS])
@pytest.mark.parametrize("name", ["plain", "redirect-followed", "early-hints", "head", "chunked", "digest"])
def test_sees_the_same_after_busy(look, bare, tenacurl_run, name, callbacks, callback_options):
    script, options = TRANSFERS[name]
    expected, _ = look(bare, script, [*callback_options, *options])
    survived, _ = look(tenacurl_run, [BUSY, *script], [*callback_options, *options], policy=FAST)
    assert without_info(survived, *DIFFERS_AFTER_RETRY) == without_info(expected, *DIFFERS_AFTER_RETRY)


def test_redirect_that_leads_to_a_fault_is_shown_once(look, bare, tenacurl_run):
    expected, _ = look(bare, [TO_FINAL, OK], ["follow=1"])
    survived, server = look(tenacurl_run, [TO_FINAL, BUSY, TO_FINAL, OK], ["follow=1"], policy=FAST)
    assert without_info(survived, *DIFFERS_AFTER_RETRY) == without_info(expected, *DIFFERS_AFTER_RETRY)
    assert [request.target for request in server.requests] == ["/first", "/final", "/first", "/final"]


def test_another_redirect_in_a_later_attempt_is_shown_too(look, tenacurl_run):
    elsewhere = {**TO_FINAL, "headers": [["Location", "/elsewhere"]]}
    survived, _ = look(tenacurl_run, [TO_FINAL, BUSY, elsewhere, OK], ["follow=1"], policy=FAST)
    locations = [line for line in survived if line.startswith("header Location")]
    assert locations == ["header Location: /final\\x0d\\x0a", "header Location: /elsewhere\\x0d\\x0a"]


@pytest.mark.parametrize("before", [[], [BUSY]], ids=["at-once", "after-a-fault"])
def test_refused_redirect_is_never_requested(look, tenacurl_run, before):
    lines, server = look(tenacurl_run, [*before, TO_FINAL, OK], ["follow=1", "refuse_header=Location"], policy=FAST)
    assert [request.target for request in server.requests] == ["/first"] * (len(before) + 1)
    assert any(line.startswith("result 23 ") for line in lines)


def test_held_redirects_are_not_shown_before_the_verdict(look, tenacurl_run):
    policy = {**FAST, "hold_redirects": "yes"}
    lines, _ = look(tenacurl_run, [TO_FINAL, BUSY, TO_FINAL, OK], ["follow=1"], policy=policy)
    assert sum(line.startswith("header Location") for line in lines) == 1


@pytest.mark.parametrize("second,shown", [("/final", ["/final"]), ("/elsewhere", ["/final", "/elsewhere"])])
def test_held_redirect_before_a_100_is_shown_once(look, tenacurl_run, second, shown):
    """An upload that waits for its 100 gets it, and what comes before it: once, however often it is tried."""
    moved, again = ({"status": 307, "headers": [["Location", to]]} for to in ("/final", second))
    options = ["follow=1", "postfields=a=b", "h=Expect: 100-continue"]
    policy = {**FAST, "hold_redirects": "yes", "replay": "all"}
    lines, _ = look(tenacurl_run, [moved, BUSY, again, BUSY, again, OK], options, policy=policy)
    assert any(line.startswith("result 0 ") for line in lines)
    locations = [line for line in lines if line.startswith("header Location")]
    assert locations == [f"header Location: {to}\\x0d\\x0a" for to in shown]


def test_nothing_is_repeated_once_a_byte_was_delivered(look, tenacurl_run):
    script = [{"status": 200, "body_bytes": 100000, "send_bytes": 40000, "end": "reset"}, OK]
    lines, server = look(tenacurl_run, script, [], policy=FAST)
    assert len(server.requests) == 1
    assert any(line.startswith("result 56 ") for line in lines)


def test_delivered_error_comes_whole(look, bare, tenacurl_run):
    expected, _ = look(bare, [BUSY], [])
    lines, server = look(tenacurl_run, [{**BUSY, "repeat": True}], [], policy={**FAST, "max_attempts": 3})
    assert without_info(lines, *DIFFERS_AFTER_RETRY) == without_info(expected, *DIFFERS_AFTER_RETRY)
    assert len(server.requests) == 3


@pytest.mark.parametrize("progress", ["new", "old"])
def test_abort_during_a_wait_is_final(look, tenacurl_run, progress):
    script = [{"status": 503, "headers": [["Retry-After", "20"]]}, OK]
    options = [f"progress={progress}", "abort_progress_after_ms=1000"]
    lines, server = look(tenacurl_run, script, options)
    assert "result 42 Callback aborted" in lines
    assert len(server.requests) == 1


def test_leaving_a_callback_by_longjmp_harms_nothing(look, tenacurl_run):
    # libcurl can't use a handle again that was left so; the process goes on, and a fresh handle is retried as ever.
    lines, server = look(tenacurl_run, [OK], ["jump_header=X-Final"])
    assert "jumped out of perform" in lines
    assert len(server.requests) == 1
