# SPDX-License-Identifier: MIT
"""
A repeat asks for what the first attempt asked for, or there is none. What the program changes in a callback is meant for
its next request (A-11); what libcurl keeps of a redirect is taken back, or ends the retries (A-12).
"""

import re

import pytest

OK = {"status": 200, "body": "fine"}
BUSY = {"status": 503, "body": "busy"}
WAIT = {"backoff_base_ms": 700, "jitter": "none"}
AT_ONCE = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}


@pytest.fixture
def transfer(build, bare, tenacurl_run):
    """transfer(url, *options, policy) -> Result of tests/clients/transfer, bare without a policy."""

    def run(url, *options, policy=None):
        argv = [build / "tests/clients/transfer", url, *options]
        return tenacurl_run(argv, policy=policy) if policy else bare(argv)

    return run


def asked(server):
    return [(request.method, request.target, request.body) for request in server.requests]


def codes(result):
    return [int(code) for code in re.findall(rb"^info response_code (\d+)", result.stdout, re.M)]


# what a callback changes.

CHANGES = {
    "post": "then=url=NEXT postfields=next",
    "url": "then=url=NEXT",
    "body": "then=postfields=next",
    "verb": "then=request=DELETE",
    "header": "then=h=X-Next:1",
    "range": "then=range=1-2",
    "credentials": "then=userpwd=u:p",
    "follow": "then=follow=1",
}

MOMENTS = {"progress": ["progress=1", "at_callback=progress"], "debug": ["debug=1", "at_callback=debug"]}


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("change", CHANGES)
def test_a11_next_request_is_not_made_early(origin, transfer, change, moment):
    seen = []
    for policy in (None, AT_ONCE):
        server = origin([BUSY, {**OK, "repeat": True}])
        then = CHANGES[change].replace("NEXT", server.url("/next"))
        result = transfer(server.url("/x"), *MOMENTS[moment], then, "--", policy=policy)
        seen.append((asked(server), codes(result)))
    assert seen[1] == seen[0]
    assert len(seen[0][0]) == 2 and seen[0][1][0] == 503


@pytest.mark.parametrize("change", [CHANGES["post"], "then=reset=NEXT"], ids=["post", "reset"])
def test_a11_next_request_is_not_made_early_in_the_wait(origin, transfer, change):
    """What failed is the result after all, whole."""
    server = origin([BUSY, {**OK, "repeat": True}])
    then = change.replace("NEXT", server.url("/next"))
    result = transfer(server.url("/x"), *MOMENTS["progress"], "at_progress_ms=400", then, "--", policy=WAIT)
    assert [target for _, target, _ in asked(server)] == ["/x", "/next"]
    assert codes(result) == [0 if "reset" in change else 503, 200]
    # A reset takes the callbacks away that it would go to.
    if "reset" not in change:
        assert b"header 26 HTTP/1.1 503" in result.stdout and b"\nwrite 4 busy" in result.stdout


def test_a11_it_is_logged(origin, transfer):
    server = origin([BUSY, {**OK, "repeat": True}])
    result = transfer(server.url("/x"), *MOMENTS["progress"], "then=url=" + server.url("/y"), policy=AT_ONCE)
    assert result.operation["reason"] == "request_changed" and result.operation["attempts"] == 1


def test_a11_after_a_redirect_step(origin, transfer):
    """A header callback changes the request at a step, and the next hop fails."""
    server = origin({"paths": {"/x": [{"status": 302, "headers": [["Location", "/y"]], "repeat": True}],
                               "/y": [BUSY, OK], "/next": [OK]}})
    transfer(server.url("/x"), "follow=1", "at_header=Location", "then=url=" + server.url("/next"), policy=AT_ONCE)
    assert [target for _, target, _ in asked(server)] == ["/x", "/y"]


@pytest.mark.parametrize("then", ["timeout_ms=60000", "connect_timeout_ms=60000", "low_speed_limit=1", "callbacks=both"])
def test_a11_what_shapes_no_request_ends_no_retry(origin, transfer, then):
    server = origin([BUSY, OK])
    transfer(server.url("/x"), *MOMENTS["progress"], f"then={then}", policy=AT_ONCE)
    assert len(server.requests) == 2


# what libcurl keeps.


def redirected(origin, transfer, answers, *options, policy=AT_ONCE):
    """A transfer from one server to another, whose answers these are. Returns the requests to the first one."""
    second = origin([*answers, {**OK, "repeat": True}])
    location = ["Location", second.url("/to?signature=S")]
    first = origin([{"status": 302, "headers": [location], "repeat": True}])
    options = [option.replace("FIRST", first.url("/from")) for option in options]
    transfer(first.url("/from"), "follow=1", *options, policy=policy)
    return first.requests, second.requests


@pytest.mark.parametrize("own", [[], ["referer=http://mine/"]], ids=["none", "own"])
def test_a12_referer_of_a_redirect_is_not_shown_to_the_first_host(origin, transfer, own):
    first, second = redirected(origin, transfer, [BUSY, BUSY], "autoreferer=1", *own)
    assert len(first) == 3 and len(second) == 3
    assert first[0].header("Referer") == (["http://mine/"] if own else [])
    assert [request.head for request in first[1:]] == [first[0].head] * 2


def test_a12_referer_that_an_earlier_transfer_left(origin, transfer):
    """The first request of the second transfer has it, as ever; a repeat could not."""
    answers = [OK, BUSY]
    bare, _ = redirected(origin, transfer, answers, "autoreferer=1", "--", "url=FIRST?2", policy=None)
    ours, _ = redirected(origin, transfer, answers, "autoreferer=1", "--", "url=FIRST?2")
    referers = [[re.sub(r":\d+", "", text) for request in requests for text in request.header("Referer")]
                for requests in (bare, ours)]
    assert referers[1] in (referers[0], referers[0] * 2)
    assert not any("signature" in text for text in referers[1])


@pytest.mark.parametrize("mechanisms, policy", [(-17, AT_ONCE), (2, AT_ONCE), (3, AT_ONCE),
                                                (-17, {**AT_ONCE, "hold_redirects": "yes"})])
def test_a12_password_is_not_shown_to_a_host_that_never_asked(origin, transfer, mechanisms, policy):
    """The second host asks for credentials, is given them, and fails."""
    digest = 'Digest realm="r", nonce="n", qop="auth"'
    challenge = {"status": 401, "headers": [["WWW-Authenticate", digest if mechanisms == 2 else 'Basic realm="r"']]}
    options = [f"httpauth={mechanisms}", "userpwd=u:p", "unrestricted=1"]
    first, second = redirected(origin, transfer, [challenge, BUSY], *options, policy=policy)
    assert len(second) >= 2 and second[1].header("Authorization")
    assert not any(request.header("Authorization") for request in first)


@pytest.mark.parametrize("mechanisms, challenge", [(1, None), (2, 'Digest realm="r", nonce="n", qop="auth"'),
                                                   (-17, 'Basic realm="r"')])
def test_a12_own_credentials_are_no_hindrance(origin, transfer, mechanisms, challenge):
    rounds = [{"status": 401, "headers": [["WWW-Authenticate", challenge]]}] if challenge else []
    server = origin([*rounds, BUSY, OK])
    transfer(server.url("/"), f"httpauth={mechanisms}", "userpwd=u:p", policy=AT_ONCE)
    assert [bool(request.header("Authorization")) for request in server.requests] == [False] * len(rounds) + [True] * 2


@pytest.mark.parametrize("size", [["uploadsize=5"], []], ids=["known", "unknown"])
def test_a12_upload_is_one_again_after_a_303(origin, transfer, size):
    """Before 7.71 nothing brings the method back: there is no repeat."""
    hop = {"status": 303, "headers": [["Location", "/to"]], "repeat": True}
    server = origin({"paths": {"/from": [hop], "/to": [BUSY, BUSY, OK]}})
    transfer(server.url("/from"), "follow=1", "upload=5", "seek=1", *size, policy=AT_ONCE)
    puts = [request for request in server.requests if request.target == "/from"]
    assert len(puts) in (1, 3)
    assert [(request.head, request.body) for request in puts] == [(puts[0].head, puts[0].body)] * len(puts)
    assert b"abcde" in puts[0].body


def test_a12_head_with_a_body_is_no_head(origin, transfer):
    """libcurl before 7.71 uploads with a HEAD if NOBODY follows UPLOAD; what that does, nobody knows."""
    server = origin([{"fault": "reset"}, {**OK, "repeat": True}])
    transfer(server.url("/"), "upload=5", "uploadsize=5", "nobody=1", policy=AT_ONCE)
    assert len(server.requests) == 1 or not server.requests[0].body


@pytest.mark.parametrize("options", [["range=0-5"], ["resume_from=3"], ["encoding=gzip"], ["nobody=1"],
                                     ["timecondition=1", "timevalue=1000000"], ["httpauth=1", "userpwd=u:p"],
                                     ["upload=5", "uploadsize=5", "seek=1"], ["h=If-None-Match: x"]])
def test_a12_repeat_is_the_same_request(origin, transfer, options):
    first, _ = redirected(origin, transfer, [BUSY], *options)
    assert len(first) == 2 and first[1].head == first[0].head and first[1].body == first[0].body
