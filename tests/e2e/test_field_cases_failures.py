# SPDX-License-Identifier: MIT
"""Field cases: what is a passing failure. HTTP/2 streams, proxies that refuse, names that can't be looked up."""

import re

import pytest
from support.field_cases import COUNTS_RESENDS, T0, field_case, performed, version_of  # noqa: F401
from support.h2_origin import H2Origin

OK = {"status": 200, "body": "ok"}


# HTTP/2.

ANSWER = {"status": 200, "body": b"ok"}


@pytest.fixture
def h2_origin(certificate):
    """h2_origin(steps) -> H2Origin. Ended with the test."""
    started = []

    def start(steps):
        started.append(H2Origin(steps, certificate))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def h2_case(build, h2_origin, certificate, bare, tenacurl_run):
    """
    h2_case(steps, option…) -> (what the program saw, the server's requests, the run's Result, the first two without us)
    """

    def run(steps, *options):
        seen = []
        for start, arguments in ((bare, {}), (tenacurl_run, {"policy": T0})):
            server = h2_origin(steps)
            argv = [build / "tests/clients/transfer", server.url("/case"), "http_version=3"]
            result = start([*argv, f"cainfo={certificate.path}", *options], **arguments)
            assert result.returncode == 0, result
            seen.append((performed(result)[0], server.requests, result))
            if not server.requests and start is bare:
                pytest.skip("this libcurl has no HTTP/2")
        case, requests, result = seen[1]
        # HTTP/2 has one status line of its own kind.
        assert len([line for line in case.status_lines if not line.startswith("HTTP/2 1")]) <= 1
        assert case.info["response_code"] == (result.attempts[-1]["status"] or 0)
        assert result.operation["attempts"] == len(result.attempts)
        return case, requests, result, seen[0]

    return run


@pytest.mark.parametrize("code", ["INTERNAL_ERROR", "PROTOCOL_ERROR", "CANCEL"])
def test_rc_23_stream_reset_before_an_answer(h2_case, code):
    case, requests, result, without = h2_case([{"reset": code}, {"status": 200, "body": b"0123456789"}])
    assert len(without[1]) == 1
    assert (case.result, case.status, case.body) == (0, 200, "0123456789")
    assert [request.method for request in requests] == ["GET", "GET"]
    assert result.attempts[0]["failure"] == "http2"
    assert result.attempts[0]["wait_ms"] <= 100


def test_rc_23_stream_reset_in_the_body(h2_case):
    cut = {"status": 200, "body": b"0123456789", "send_bytes": 5, "reset": "CANCEL"}
    case, requests, result, without = h2_case([cut, {"status": 200, "body": b"0123456789"}])
    assert len(requests) == 1
    # 92, but for old versions, which see a body that is too short.
    assert case.result == without[0].result and case.result in (92, 18)
    assert case.body == "01234"
    assert result.reasons == ["delivered"]


def test_rc_23_post_whose_stream_was_reset(h2_case):
    case, requests, result, _ = h2_case([{"reset": "INTERNAL_ERROR"}, ANSWER], "postfields=order=7")
    assert [request.body for request in requests] == [b"order=7"]
    assert case.result == 92
    assert result.reasons == ["unsafe_replay"]


def test_rc_23_post_whose_stream_was_refused(h2_case):
    """libcurl itself sends it again, as the server said that it wasn't processed; old versions give up."""
    case, requests, result, without = h2_case([{"reset": "REFUSED_STREAM"}, ANSWER], "postfields=a")
    assert len(requests) == len(without[1])
    assert {request.body for request in requests} == {b"a"}
    assert (case.result, case.status, case.body) == (without[0].result, without[0].status, without[0].body)
    assert result.operation["attempts"] == 1
    if version_of(result) >= COUNTS_RESENDS:
        assert len(requests) == 2 and result.operation["sends"] == 2


def test_rc_23_post_that_a_goaway_leaves_out(h2_case):
    """libcurl sends it again or gives up, by version; as it doesn't tell that it wasn't processed, we don't repeat it."""
    case, requests, result, without = h2_case([{"goaway": "below"}, ANSWER], "postfields=a")
    assert len(requests) == len(without[1])
    # How the end of the connection looks to a version that gives up is chance: 16, 52, 56.
    assert (case.result == 0, case.status, case.body) == (without[0].result == 0, without[0].status, without[0].body)
    assert result.operation["attempts"] == 1


def test_rc_23_get_that_a_goaway_leaves_out(h2_case):
    case, requests, result, _ = h2_case([{"goaway": "below"}, ANSWER])
    assert (case.result, case.status, case.body) == (0, 200, "ok")
    assert len({request.connection for request in requests}) == 2


def test_rc_23_post_that_may_have_been_processed(h2_case):
    case, requests, result, without = h2_case([{"goaway": "at"}, ANSWER], "postfields=order=7")
    assert len(requests) == len(without[1]) == 1
    assert case.result != 0 and case.status == 0
    assert result.reasons == ["unsafe_replay"]


def test_rc_23_complete_answer_before_a_goaway(h2_case):
    case, requests, result, without = h2_case([{"status": 204, "goaway": "at"}, {"status": 200}])
    assert len(requests) == 1
    assert (case.result, case.status) == (without[0].result, 204)
    # Old versions call the closed connection an error: the program is told, but the answer was delivered.
    assert result.reasons == ["success" if case.result == 0 else "delivered"]


# A proxy that refuses CONNECT.

TUNNEL = {"status": 200, "tunnel": True}
NO_BLANK_LINE = {"raw": "HTTP/1.1 407 Proxy Authentication Required\r\nProxy-Authenticate: Basic\r\n", "end": "close"}


@pytest.fixture
def proxy_case(build, origin, bare, tenacurl_run):
    """proxy_case(answers to CONNECT, option…) -> (what the program saw, proxy, server, Result, the same without us)."""

    def run(connect, *options):
        seen = []
        for start, arguments in ((bare, {}), (tenacurl_run, {"policy": T0})):
            proxy = origin({"paths": {"CONNECT": connect}})
            server = origin([OK])
            argv = [build / "tests/clients/transfer", server.url("/case?secret=QU3RY"), "proxytunnel=1", *options]
            credentials = ["proxyuserpwd=pu:PPW"] if "with_credentials" in options else []
            argv = [word for word in argv if word != "with_credentials"]
            result = start([*argv, f"proxy=http://127.0.0.1:{proxy.port}", *credentials], **arguments)
            assert result.returncode == 0, result
            seen.append((performed(result)[0], proxy, server, result))
        case, proxy, server, result = seen[1]
        assert len(server.requests) <= 1
        assert result.operation["attempts"] == len(result.attempts)
        assert "PPW" not in str(result.records) and "QU3RY" not in str(result.records)
        return case, proxy, server, result, seen[0]

    return run


def test_rc_25_credentials_are_asked_for_without_a_blank_line(proxy_case):
    case, proxy, server, result, (without, bare_proxy, _, _) = proxy_case([NO_BLANK_LINE] * 3)
    assert len(proxy.requests) == len(bare_proxy.requests)
    assert (case.result, case.error) == (without.result, without.error)
    assert case.info["connect_code"] == without.info["connect_code"]
    # Old versions ask on and on, until another answer comes: 418, when the script is used up.
    assert case.info["connect_code"] == (407 if len(proxy.requests) == 1 else 418)
    assert result.operation["attempts"] == 1 and not server.requests


@pytest.mark.parametrize("status", [403, 407])
def test_rc_25_refused_for_good(proxy_case, status):
    case, proxy, server, result, (without, *_) = proxy_case([{"status": status, "repeat": True}])
    assert len(proxy.requests) == 1 and not server.requests
    assert (case.result, case.status, case.info["connect_code"]) == (without.result, 0, status)


@pytest.mark.parametrize("options", [[], ["postfields=order=7"]], ids=["get", "post"])
def test_rc_25_bad_gateway_for_a_moment(proxy_case, options):
    """The request never left, so that a POST may go again too."""
    case, proxy, server, result, _ = proxy_case([{"status": 502}, TUNNEL], *options)
    assert (case.result, case.status, case.body) == (0, 200, "ok")
    assert len(proxy.requests) == 2 and len(server.requests) == 1
    assert result.attempts[0]["failure"] == "proxy" and result.attempts[0]["unsent"]


def test_rc_25_proxy_asks_for_a_wait(proxy_case):
    refusal = {"status": 503, "headers": [["Retry-After", "1"]]}
    case, proxy, server, result, _ = proxy_case([refusal, TUNNEL])
    assert case.result == 0 and len(server.requests) == 1
    assert 1000 <= result.attempts[0]["wait_ms"] <= 1101
    assert proxy.requests[1].first_byte_us - proxy.requests[0].answer["us"] >= 1_000_000


def test_rc_25_proxys_headers_are_suppressed(proxy_case):
    """Whether the wait that was asked for is seen or not: the retry comes, and no header of the proxy is shown."""
    refusal = {"status": 503, "headers": [["Retry-After", "1"], ["X-Proxy", "yes"]]}
    case, proxy, server, result, _ = proxy_case([refusal, TUNNEL], "suppress_connect=1")
    assert case.result == 0 and len(proxy.requests) == 2
    assert case.status_lines == ["HTTP/1.1 200 OK"]


def test_rc_25_bad_gateway_for_ever(proxy_case):
    case, proxy, server, result, (without, *_) = proxy_case([{"status": 502, "repeat": True}])
    assert len(proxy.requests) == 4 and not server.requests
    assert (case.result, case.info["connect_code"]) == (without.result, 502)
    assert result.reasons[-1] == "attempt_cap"


def test_rc_25_credentials_of_the_proxy_stay_out_of_the_log(proxy_case):
    case, proxy, _, result, _ = proxy_case([{"status": 502}, TUNNEL], "with_credentials")
    assert case.result == 0
    assert all(request.header("Proxy-Authorization") for request in proxy.requests)


# Names and routes. The upload can't be rewound, which doesn't matter: nothing of it was read.


@pytest.fixture
def unlucky(build, origin, tenacurl_run):
    """unlucky("resolve" | "connect", option…) -> (results, how often the network was asked, server, Result)."""

    def run(what, *options, policy=None, host="flaky.test"):
        server = origin([{"status": 201, "repeat": True}])
        url = f"http://{host}:{server.port}/x"
        options = [option.replace("PORT", str(server.port)) for option in options]
        argv = [build / "tests/clients/unlucky", url, what, *options]
        result = tenacurl_run(argv, policy={**T0, "backoff_min_ms": 20, **(policy or {})})
        assert result.returncode == 0, result
        lines = re.findall(rb"^result (\d+) (\d+)$", result.stdout, re.M)
        results = [(int(code), int(status)) for code, status in lines]
        asked = int(re.search(rb"^asked (\d+)$", result.stdout, re.M)[1])
        retried = [record for record in result.attempts if record["verdict"] == "retry"]
        # Patient: each wait is a draw, and none is shorter than the policy's least.
        assert all(20 <= record["wait_ms"] <= 400 and record["unsent"] for record in retried)
        return results, asked, server, result

    return run


def test_rc_26_resolver_that_fails_twice(unlucky):
    results, asked, server, result = unlucky("resolve", "failures=2")
    assert results == [(0, 201)]
    assert len(result.attempts) == 3 and asked == 3
    (request,) = server.requests
    assert request.method == "PUT" and request.body == b"u" * 2000


def test_rc_26_name_that_never_exists(unlucky):
    results, asked, server, result = unlucky("resolve", "failures=1000")
    assert results == [(6, 0)]
    assert len(result.attempts) == 4 and asked == 4 and not server.requests


def test_rc_26_proxy_that_cannot_be_resolved(unlucky):
    results, asked, server, result = unlucky("resolve", "failures=2", "proxy=http://proxy.test:PORT", host="127.0.0.1")
    assert results == [(0, 201)]
    assert [record["curl_code"] for record in result.attempts] == [5, 5, 0]
    assert len(server.requests) == 1


def test_rc_26_network_that_is_unreachable_for_a_moment(unlucky):
    results, asked, server, result = unlucky("connect", "failures=2", host="127.0.0.1")
    assert results == [(0, 201)]
    assert [record["curl_code"] for record in result.attempts] == [7, 7, 0]
    (request,) = server.requests
    assert request.body == b"u" * 2000


def test_rc_26_connection_refused(field_case):
    seen = field_case([OK], after=False, refuse_ms=600_000)
    seen.came(requests=0, result=7, status=0).waited_by_backoff(3)


def test_rc_26_budget_bounds_the_lookups(unlucky):
    """Eight transfers, thirty-two look-ups without a bound: one each, and as many more as there are tokens."""
    policy = {"budget_tokens": 4, "budget_refill_per_s": 0}
    results, asked, server, result = unlucky("resolve", "failures=1000", "handles=8", policy=policy)
    assert results == [(6, 0)] * 8
    assert asked == 8 + 4
    assert result.operations[-1]["reason"] == "budget_empty"
