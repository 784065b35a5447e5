# SPDX-License-Identifier: MIT
"""
What is none of tenacurl's business is done once, exactly as without it, and leaves no record: connections that the
program uses itself, protocols other than HTTP, multi handles, handles that were made where nobody could see it.
"""

import re

import pytest
from support.real_servers import free_port

OK = {"status": 200, "headers": [["X-Final", "yes"]], "body": "hello world"}
BUSY = {"status": 503, "headers": [["X-Busy", "yes"]], "body": "come back later"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}


@pytest.fixture
def both(build, bare, tenacurl_run):
    """both(client, url, *options) -> the Results without and with tenacurl; url may be a function, called for each."""

    def run(client, url, *options):
        results = []
        for run in (bare, lambda argv: tenacurl_run(argv, policy=FAST)):
            results.append(run([build / "tests/clients" / client, url() if callable(url) else url, *options]))
        return results

    return run


def comparable(output, port):
    """Without the server's port, milliseconds, and the errno that libcurl quotes whether it was set or left over."""
    return re.sub(rb"(errno: |after )\d+", rb"\1N", output.replace(b":%d" % port, b":PORT"))


def assert_passed_through(results, *servers):
    ports = [server.port for server in servers] or [0, 0]
    without, with_us = ((comparable(r.stdout, port), r.returncode) for r, port in zip(results, ports))
    assert with_us == without
    assert results[1].records == []


def servers_of(origin, script):
    """Two servers with one script, and a function that gives their URLs one after another."""
    servers = [origin(script) for _ in range(2)]
    left = list(servers)
    return servers, lambda: left.pop(0).url("/x")


# Connections that the program uses itself (RC-40).


@pytest.mark.parametrize("step", [BUSY, OK, {**BUSY, "send_bytes": 3, "end": "reset"}], ids=["busy", "ok", "reset"])
def test_connect_only(origin, both, step):
    """RC-40: the program talks by itself, and the failure that it reads is its own."""
    servers, url = servers_of(origin, [step, OK])
    results = both("left_alone", url, "connect-only")
    assert_passed_through(results)
    assert b"result 0 status 0\n" in results[1].stdout
    assert [request.target for request in servers[1].requests] == ["/by-hand"]
    assert len(servers[1].connections) == 1


@pytest.mark.parametrize("how", ["1", "2"])
def test_connect_only_to_a_closed_port(both, how):
    """RC-40: no socket was handed out, and yet it is left alone."""
    results = both("transfer", f"http://127.0.0.1:{free_port()}/", f"connect_only={how}")
    assert_passed_through(results)
    assert re.search(rb"^result 7 ", results[1].stdout, re.M)


def test_event_stream_that_breaks(origin, build, tenacurl_run):
    """RC-40: what was seen isn't shown again."""
    events = {
        "status": 200,
        "headers": [["Content-Type", "text/event-stream"]],
        "framing": "chunked",
        "body": "data: tick\n\n" * 3,
        "end": "reset",
        "send_bytes": 30,
    }
    server = origin([events, OK])
    result = tenacurl_run([build / "tests/clients/transfer", server.url()], policy=FAST)
    assert re.search(rb"^result 56 ", result.stdout, re.M)
    assert result.stdout.count(b"tick") == 2
    assert len(server.requests) == 1


@pytest.mark.parametrize("options", [[], ["postfields=a"]], ids=["get", "post"])
def test_event_stream_that_the_program_ends_by_its_timeout(origin, build, tenacurl_run, options):
    """RC-40: a stream without end ends so by design."""
    events = {
        "status": 200,
        "headers": [["Content-Type", "text/event-stream"]],
        "framing": "chunked",
        "body": "data: tick\n\n" * 2,
        "end": "silence",
        "send_bytes": 12,
    }
    server = origin([events, OK])
    result = tenacurl_run([build / "tests/clients/transfer", server.url(), "timeout_ms=700", *options], policy=FAST)
    assert re.search(rb"^result 28 ", result.stdout, re.M)
    assert result.stdout.count(b"tick") == 1
    assert len(server.requests) == 1


# Other protocols.


@pytest.mark.parametrize("answer", [BUSY, {"status": 426, "body": "no"}, {"fault": "reset"}, {"fault": "fin"}])
def test_websocket_that_is_refused(origin, both, answer):
    servers, url = servers_of(origin, [answer, OK])
    results = both("transfer", lambda: url().replace("http:", "ws:"))
    assert_passed_through(results, *servers)
    assert len(servers[1].requests) == len(servers[0].requests)


RTSP_BUSY = {"raw": "RTSP/1.0 503 Service Unavailable\r\nCSeq: 1\r\nContent-Length: 0\r\n\r\n", "end": "close"}


@pytest.mark.parametrize("answer", [RTSP_BUSY, {"fault": "reset"}], ids=["busy", "reset"])
def test_rtsp(origin, both, answer):
    servers, url = servers_of(origin, [answer, OK])
    # OPTIONS; the handle remembers the protocol's option, whatever the scheme.
    results = both("transfer", lambda: url().replace("http:", "rtsp:"), "rtsp=1", "rtsp_uri=rtsp://127.0.0.1/x")
    assert_passed_through(results, *servers)
    assert len(servers[1].requests) == len(servers[0].requests) == 1


@pytest.mark.parametrize("scheme", ["ftp", "smtp", "imap", "pop3", "telnet", "gopher", "dict"])
def test_other_protocols(origin, both, scheme):
    """Whatever greeting: it is taken once."""
    greeting = {"read": "accept", "raw": "421 try again later\r\n", "end": "close"}
    servers, url = servers_of(origin, [{**greeting, "repeat": True}])
    results = both("transfer", lambda: url().replace("http:", f"{scheme}:"))
    assert_passed_through(results, *servers)
    assert len(servers[1].connections) == len(servers[0].connections) <= 1


@pytest.mark.parametrize("scheme", ["ftp", "smtp", "mqtt"])
def test_other_protocols_at_a_closed_port(both, scheme):
    results = both("transfer", f"{scheme}://127.0.0.1:{free_port()}/x")
    assert_passed_through(results)


def test_files(both, tmp_path):
    (tmp_path / "there").write_text("content")
    results = both("transfer", f"file://{tmp_path}/there")
    assert_passed_through(results)
    assert b"write 7 content\n" in results[1].stdout
    results = both("transfer", f"file://{tmp_path}/missing")
    assert_passed_through(results)
    assert re.search(rb"^result 37 ", results[1].stdout, re.M)


def test_http_after_another_protocol(origin, build, tenacurl_run, tmp_path):
    """What counts is the transfer, not the handle."""
    (tmp_path / "there").write_text("content")
    server = origin([BUSY, OK, BUSY, OK])
    url = server.url()
    argv = [build / "tests/clients/transfer", url, "--", f"url=file://{tmp_path}/there", "--", f"url={url}"]
    result = tenacurl_run(argv, policy=FAST)
    assert re.findall(rb"^result (\d+) ", result.stdout, re.M) == [b"0", b"0", b"0"]
    assert b"write 7 content\n" in result.stdout
    assert len(server.requests) == 4
    assert len(result.operations) == 2


# Multi handles, and handles that nobody saw.


@pytest.mark.parametrize("second", [OK, BUSY, {**OK, "send_bytes": 3, "end": "reset"}], ids=["ok", "busy", "reset"])
def test_handle_in_a_multi_after_an_easy_perform(origin, both, second):
    """Its callbacks are the program's own again, with the data that it set in between."""
    servers, url = servers_of(origin, [OK, second])
    without, with_us = both("left_alone", url, "multi")
    assert (with_us.stdout, with_us.returncode) == (without.stdout, without.returncode)
    assert b"multi header" in with_us.stdout
    assert len(servers[1].requests) == 2
    assert len(with_us.operations) == 1


def test_handle_after_a_multi(origin, build, tenacurl_run):
    server = origin([OK, BUSY, BUSY, OK])
    result = tenacurl_run([build / "tests/clients/left_alone", server.url(), "multi-then-easy"], policy=FAST)
    assert result.stdout.decode().splitlines()[-1] == "result 0 status 200"
    assert len(server.requests) == 4


def test_handle_that_nobody_saw_being_made(origin, build, bare, tenacurl_run):
    """Made by dlsym, set and performed by linked functions."""
    servers = [origin([{**BUSY, "repeat": True}]) for _ in range(2)]
    outputs = []
    for run, server in ((bare, servers[0]), (lambda argv: tenacurl_run(argv, policy=FAST, binder=False), servers[1])):
        outputs.append(run([build / "tests/clients/mixed", server.url("/x"), "i"]))
    assert outputs[1].stdout == outputs[0].stdout
    assert outputs[1].records == []
    assert len(servers[1].requests) == 1
