# SPDX-License-Identifier: MIT
"""
What a program does in a header callback acts before the next line, as without tenacurl (case A-04): what can't be tried
again isn't held. tests/clients/acts does something at a line, and prints all that it is given.
"""

import pytest

FAST = {"backoff_base_ms": 1, "jitter": "none", "log_events": "all"}
OK = {"headers": [["X-Final", "yes"]], "body": "hello"}
BUSY = {"status": 503, "headers": [["X-Busy", "yes"]], "body": "busy"}
NOT_FOUND = {"status": 404, "headers": [["X-Final", "no"]], "body": "gone"}
CUT = {**OK, "header_cut": 30, "end": "close"}
WAYS = {"function": [], "data-only": ["by-write"], "in-body": ["in-body"]}


def step_to(url, status=302):
    return {"status": status, "headers": [["Location", url], ["X-Step", "yes"]], "body": "moved"}


def lines(result):
    return result.stdout.decode().splitlines()


def targets(server):
    return [request.target for request in server.requests]


@pytest.fixture
def acts(build, tenacurl_run):
    def run(server, action, line, *options, **policy):
        argv = [build / "tests/clients/acts", server.url("/first"), action, line, *options]
        return tenacurl_run(argv, policy={**FAST, **policy})

    return run


@pytest.fixture
def acts_bare(build, bare):
    def run(server, action, line, *options):
        return bare([build / "tests/clients/acts", server.url("/first"), action, line, *options])

    return run


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("before", [[], [BUSY], [BUSY, BUSY]], ids=["at-once", "after-a-503", "after-two"])
def test_a04_hop_that_is_forbidden_at_the_status_line_is_not_made(origin, acts, before, way):
    other = origin([{**OK, "repeat": True}])
    server = origin([*before, step_to(other.url("/secret"))])
    result = acts(server, "stays", "HTTP/1.1 302", "user=u:p", *WAYS[way])
    assert other.requests == []
    assert len(server.requests) == len(before) + 1
    assert lines(result)[-2:] == ["body moved", "result 0 status 302"]


def test_a04_hop_of_another_step_in_a_later_attempt_can_be_forbidden(origin, acts):
    """It is shown to its end only, too late for libcurl: the transfer fails, and the other host gets nothing."""
    other = origin([{**OK, "repeat": True}])
    server = origin([step_to("/next"), BUSY, {**step_to(other.url("/secret")), "status": 307}])
    result = acts(server, "stays", "HTTP/1.1 307", "user=u:p")
    assert other.requests == []
    assert targets(server) == ["/first", "/next", "/first"]
    assert lines(result)[-1] == "result 23 status 307"


def test_a04_same_step_of_a_later_attempt_is_shown_once(origin, acts):
    server = origin([step_to("/next"), BUSY, step_to("/next"), OK])
    seen = lines(acts(server, "none", "-"))
    assert [line for line in seen if "HTTP/" in line] == ["line HTTP/1.1 302 Found", "line HTTP/1.1 200 OK"]
    assert targets(server) == ["/first", "/next", "/first", "/next"]


@pytest.mark.parametrize("line", ["HTTP/1.1 302", "X-Step", "\r\n"], ids=["status-line", "field", "blank-line"])
def test_a04_pause_in_a_step_costs_no_retry(origin, acts, acts_bare, line):
    expected = lines(acts_bare(origin([step_to("/next"), OK]), "none", line, "pauses"))
    server = origin([step_to("/next"), BUSY, step_to("/next"), OK])
    assert lines(acts(server, "none", line, "pauses")) == expected
    assert targets(server) == ["/first", "/next", "/first", "/next"]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("expects", [["expect"], []], ids=["expected", "unasked"])
@pytest.mark.parametrize("faults", [0, 2])
def test_a04_upload_that_waits_for_a_100_gets_it_in_each_attempt(origin, acts, way, expects, faults):
    unasked = {} if expects else {"informational": [{"status": 100}], "read": "headers"}
    server = origin([{**BUSY, **unasked}] * faults + [{**OK, **unasked}])
    result = acts(server, "unpauses", "HTTP/1.1 100", "put", *expects, *WAYS[way])
    seen = lines(result)
    assert seen[-1] == "result 0 status 200", seen
    # Unasked it may be there before the program was asked for a body: then the next attempt doesn't wait either.
    interim = len([line for line in seen if "HTTP/1.1 100" in line])
    assert seen.count("waits") <= interim <= faults + 1
    assert interim == faults + 1 or not expects
    assert not any("503" in line for line in seen)
    if expects:
        assert [request.body for request in server.requests] == [b"the whole body"] * (faults + 1)


def test_a04_upload_that_waits_for_another_protocol_gets_the_101(origin, acts):
    answer = "HTTP/1.1 101 Go\r\nUpgrade: other\r\nConnection: Upgrade\r\n\r\n"
    server = origin([{"raw": answer, "read": "headers", "end": "keep"}])
    seen = lines(acts(server, "unpauses", "HTTP/1.1 101", "put", max_attempts=1, per_try_ms=2000))
    assert "line HTTP/1.1 101 Go" in seen
    assert server.requests[0].body == b"the whole body"


# name: (answer, options)
NOT_TRIED_AGAIN = {
    "success": (OK, []),
    "no-content": ({"status": 204, "framing": "none"}, []),
    "not-modified": ({"status": 304, "framing": "none", "headers": [["ETag", "x"]]}, []),
    "redirect-without-location": ({"status": 302, "headers": [["X-Final", "no"]]}, []),
    "not-found": (NOT_FOUND, []),
    "server-error": ({**NOT_FOUND, "status": 501}, []),
    "busy-for-a-post": (BUSY, ["post"]),
}


@pytest.mark.parametrize("way", ["function", "data-only"])
@pytest.mark.parametrize("name", NOT_TRIED_AGAIN)
def test_a04_callback_set_at_the_status_line_gets_the_next_line(origin, acts, acts_bare, name, way):
    answer, options = NOT_TRIED_AGAIN[name]
    expected = lines(acts_bare(origin([answer]), "switches", "HTTP/1.1 ", *options, *WAYS[way]))
    server = origin([answer])
    result = acts(server, "switches", "HTTP/1.1 ", *options, *WAYS[way])
    assert lines(result) == expected
    assert any(line.startswith("other ") for line in expected)
    assert len(server.requests) == 1


@pytest.mark.parametrize("way", ["function", "data-only"])
@pytest.mark.parametrize("line", ["HTTP/1.1 ", "X-Final", "\r\n"], ids=["status-line", "field", "blank-line"])
@pytest.mark.parametrize("answer", [OK, NOT_FOUND], ids=["success", "not-found"])
def test_a04_pause_at_a_live_line(origin, acts, acts_bare, answer, line, way):
    expected = lines(acts_bare(origin([answer]), "none", line, "pauses", *WAYS[way]))
    result = acts(origin([answer]), "none", line, "pauses", *WAYS[way])
    assert lines(result) == expected
    assert result.operation["reason"] == ("success" if answer is OK else "terminal_error")


@pytest.mark.parametrize("answer,options", [(BUSY, []), ({**BUSY, "status": 500}, ["expect"])], ids=["503", "500"])
def test_a04_what_may_be_tried_again_is_held(origin, acts, answer, options):
    hints = {"informational": [{"status": 103, "headers": [["Link", "</a>"]]}]}
    server = origin([{**answer, **hints}, OK])
    seen = lines(acts(server, "switches", "HTTP/1.1 5", *options))
    assert seen[0] == "line HTTP/1.1 200 OK" and seen[-1] == "result 0 status 200"


@pytest.mark.parametrize("end,code", [("close", 0), ("reset", 56)])
def test_a04_success_that_is_cut_in_its_header_block_is_as_bare(origin, acts, acts_bare, end, code):
    cut = {**CUT, "end": end}
    expected = lines(acts_bare(origin([cut]), "none", "-"))
    server = origin([cut, OK])
    result = acts(server, "none", "-")
    assert lines(result) == expected
    assert expected[-1] == f"result {code} status 200"
    assert len(server.requests) == 1
    assert result.operation["reason"] == "delivered"


def test_a04_held_success_survives_a_cut_in_its_header_block(origin, acts):
    server = origin([CUT, OK])
    seen = lines(acts(server, "none", "-", hold_success_bytes=1000))
    assert seen[-2:] == ["body hello", "result 0 status 200"]
    assert len(server.requests) == 2


@pytest.mark.parametrize("cut", [20, 45], ids=["before-location", "after-it"])
def test_a04_step_that_is_cut_is_as_bare(origin, acts, acts_bare, cut):
    """libcurl makes the hop of a step that broke off behind its Location, and the program has seen a part of it."""
    script = [{**step_to("/next"), "header_cut": cut, "end": "close"}, BUSY]
    bare_server = origin(script)
    expected = lines(acts_bare(bare_server, "none", "-"))
    server = origin([*script, OK])
    assert lines(acts(server, "none", "-")) == expected
    assert targets(server) == targets(bare_server)


# name: (script, options, policy): audit says what enforcing would do first.
DECISIONS = {
    "success": ([OK], [], {}),
    "cut-success": ([CUT], [], {}),
    "held-cut-success": ([CUT, OK], [], {"hold_success_bytes": 1000}),
    "busy": ([BUSY, OK], [], {}),
    "busy-for-a-post": ([BUSY, OK], ["post"], {}),
    "cut-busy": ([{**BUSY, "header_cut": 30, "end": "close"}, OK], [], {}),
    "cut-step": ([{**step_to("/next"), "header_cut": 20, "end": "close"}, OK], [], {}),
    "step-to-busy": ([step_to("/next"), BUSY, step_to("/next"), OK], [], {}),
    "100-then-busy": ([BUSY, OK], ["put", "expect"], {}),
    "final-body": ([{**BUSY, "body": "quota"}, OK], [], {"final_body": "quota"}),
    "large-header": ([{**BUSY, "headers": [["X-Large", "x" * 2000]]}, OK], [], {"hold_body_bytes": 1000}),
}


@pytest.mark.parametrize("name", DECISIONS)
def test_a04_audit_decides_alike(origin, acts, name):
    script, options, policy = DECISIONS[name]
    said = []
    for mode in ("enforce", "audit"):
        result = acts(origin(script), "none", "-", *options, mode=mode, **policy)
        attempt = result.attempts[0]
        said.append({key: attempt[key] for key in ("verdict", "reason", "failure", "status")})
    assert said[0] == said[1]
