# SPDX-License-Identifier: MIT
"""Whether a request may be repeated is judged by what goes on the wire: fields, query, and what libcurl makes of them."""

import pytest

OK = {"status": 200, "body": "fine"}
LOST = {"fault": "reset"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}
POST = ["postfields=a"]
PUT = ["postfields=a", "request=PUT"]


@pytest.fixture
def sends(build, origin, tenacurl_run):
    """sends(*options, path, **policy) -> how often a request that is lost, though carried out, is sent."""

    def run(*options, path="/x", **policy):
        server = origin([LOST, {**OK, "repeat": True}])
        argv = [build / "tests/clients/transfer", server.url(path), *options]
        tenacurl_run(argv, policy={**FAST, **policy})
        return len(server.requests)

    return run


@pytest.mark.parametrize("header", ["X-HTTP-Method-Override: POST", "x-http-method-override:patch", "X-HTTP-Method : MERGE",
                                    "X-Method-Override: FROBNICATE", "X-HTTP-Method-Override:\r\n POST",
                                    "X-Other: 1\r\nX-HTTP-Method-Override: POST", "X_HTTP_METHOD_OVERRIDE: POST"])
def test_a17_get_that_asks_for_another_method(sends, header):
    assert sends(f"h={header}") == 1


def test_a17_get_that_asks_for_another_method_at_the_proxy(sends, origin, build, tenacurl_run):
    """A proxy that isn't asked for a tunnel gets these fields with the request, and hands them on."""
    proxy = origin([LOST, {**OK, "repeat": True}])
    options = [f"proxy=http://127.0.0.1:{proxy.port}", "proxyheader=X-HTTP-Method-Override: POST"]
    tenacurl_run([build / "tests/clients/transfer", "http://127.0.0.1:1/x", *options], policy=FAST)
    assert len(proxy.requests) == 1 and proxy.requests[0].header("X-HTTP-Method-Override") == ["POST"]


@pytest.mark.parametrize("query", ["_method=DELETE&x=1", "x=1&_method=post", "method=POST", "_HttpMethod=PATCH"])
def test_a17_get_whose_query_asks_for_another_method(sends, query):
    assert sends(path=f"/x?{query}") == (2 if "DELETE" in query else 1)


@pytest.mark.parametrize("target, times", [("/x?_method=POST", 1), ("/x", 2)])
def test_a17_request_target_is_what_goes_on_the_wire(sends, target, times):
    assert sends(f"request_target={target}", path="/y?_method=POST") == times


@pytest.mark.parametrize("options", [["h=X-HTTP-Method-Override: GET"], ["h=X-Auth-Method: token"],
                                     ["h=X-HTTP-Method-Override: DELETE"],
                                     ["request=OPTIONS", "h=Access-Control-Request-Method: POST"],
                                     ["h=X-HTTP-Method-Override:"]])
def test_a17_get_that_asks_for_nothing_worse(sends, options):
    assert sends(*options) == 2


@pytest.mark.parametrize("method", ["GET", "PUT"])
def test_a17_post_that_asks_for_less_stays_a_post(sends, method):
    """Who doesn't know the field carries out a POST."""
    assert sends(*POST, f"h=X-HTTP-Method-Override: {method}") == 1


@pytest.mark.parametrize("key", ["Idempotency-Key:", "Idempotency-Key: \v", "Idempotency-Key: \f\t", "Idempotency-Key:\r\n 1",
                                 "Idempotency-Key;", 'Idempotency-Key: ""', "Idempotency-Key : 1", "Idempotency-Key",
                                 "Idempotency-Key;1", "Idempotency-Keys: 1", "X-Idempotency-Key: 1"])
def test_a17_key_that_is_none_on_the_wire(sends, key):
    assert sends(*POST, f"h={key}") == 1


def test_a17_key_for_the_proxy_is_none_for_the_origin(sends):
    assert sends(*POST, "proxyheader=Idempotency-Key: 1") == 1


@pytest.mark.parametrize("key", ["Idempotency-Key: 1", "idempotency-key:1", "X-A: b\r\nIdempotency-Key: 1"])
def test_a17_key_on_the_wire(sends, key):
    assert sends(*POST, f"h={key}") == 2


@pytest.mark.parametrize("own", ["Idempotency-Key;", "Idempotency-Key : 1"])
def test_a17_no_second_key_is_added(sends, own):
    assert sends(*POST, f"h={own}", add_idempotency_key="yes") == 1


PRECONDITIONS = ["If-Match: x", "if-none-match:*", "If-Unmodified-Since: x", "If: (<urn:uuid:1>)", "If-Match:\r\n x",
                 "If-Match;", "If-Match : x", "X-A: b\nIf-Match: x", "If-Schedule-Tag-Match: x", "Overwrite: F",
                 "x-goog-if-generation-match: 0", "X-GOOG-IF-METAGENERATION-MATCH: 1", "x-goog-copy-source-if-match: x",
                 "x-ms-if-tags: x", "x-ms-blob-condition-appendpos: 1", "x-ms-source-if-match: x",
                 "x-amz-copy-source-if-match: x", "x-amz-if-match-size: 1", "x-oss-forbid-overwrite: true"]


@pytest.mark.parametrize("header", PRECONDITIONS)
def test_h06_precondition(sends, header):
    assert sends(*PUT, f"h={header}") == 1


def test_h06_precondition_of_a_delete(sends):
    assert sends("request=DELETE", "h=x-goog-if-generation-match: 7") == 1


@pytest.mark.parametrize("query", ["ifGenerationMatch=0", "name=a&ifMetagenerationMatch=3", "cas=0", "comp=appendblock"])
def test_h06_precondition_in_the_query(sends, query):
    assert sends(*PUT, path=f"/x?{query}") == 1


def test_h06_precondition_in_the_request_target(sends):
    assert sends(*PUT, "request_target=/x?ifGenerationMatch=0") == 1


@pytest.mark.parametrize("header", ["If-Match:", "Overwrite: T", "X-Notif: 1", "Content-MD5: x"])
def test_h06_no_precondition(sends, header):
    assert sends(*PUT, f"h={header}") == 2


def test_h06_precondition_headers(sends):
    assert sends(*PUT, "h=x-guard: 1") == 2
    assert sends(*PUT, "h=x-guard: 1", precondition_headers="X-Lock, X-Guard") == 1


def test_h06_safe_method_may_have_one(sends):
    assert sends("h=If-None-Match: x") == 2
