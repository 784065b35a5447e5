# SPDX-License-Identifier: MIT
"""The fault server keeps to its script: what the other tests conclude rests on it."""

import signal
import socket
import subprocess

import pytest

from support.waiting import wait_until


def curl(*arguments):
    return subprocess.run(
        ["/usr/bin/curl", "-q", "-sS", "--noproxy", "*", *arguments], capture_output=True, timeout=60, env={}
    )


def test_steps_are_used_in_order_and_then_418(origin):
    server = origin([{"status": 503, "headers": [["X-A", "1"], ["X-A", "2"]], "body": "no"}, {"body": "yes", "repeat": 2}])
    first = curl("-i", server.url("/a?q=1"))
    assert first.stdout.startswith(b"HTTP/1.1 503 ") and first.stdout.count(b"X-A: ") == 2
    assert [curl(server.url()).stdout for _ in range(2)] == [b"yes", b"yes"]
    assert curl("-o", "/dev/null", "-w", "%{http_code}", server.url()).stdout == b"418"
    assert server.requests[0].target == "/a?q=1"


def test_lists_by_path(origin):
    server = origin({"steps": [{"body": "other"}], "paths": {"/a": [{"body": "a"}]}})
    assert curl(server.url("/a")).stdout == b"a"
    assert curl(server.url("/b")).stdout == b"other"


def test_list_of_a_method(origin):
    server = origin({"paths": {"/a": [{"status": 503, "repeat": True}], "HEAD /a": [{"status": 204, "repeat": True}]}})
    for option, status in [("-I", b"204"), ("-G", b"503"), ("-I", b"204"), ("-dx", b"503")]:
        assert curl(option, "-o", "/dev/null", "-w", "%{http_code}", server.url("/a")).stdout == status


def test_request_is_recorded_whole(origin):
    server = origin([{"echo": True}])
    body = bytes(range(256)) * 1000
    echoed = subprocess.run(
        ["/usr/bin/curl", "-q", "-sS", "-H", "Transfer-Encoding: chunked", "--data-binary", "@-", server.url("/up")],
        input=body,
        capture_output=True,
        env={},
        timeout=60,
    )
    (request,) = server.requests
    assert echoed.stdout == body
    assert request.body == body and request.body_bytes == len(body)
    assert request.head.startswith(b"POST /up HTTP/1.1\r\n") and request.head.endswith(b"\r\n\r\n")
    assert request.first_byte_us <= request.head_us <= request.body_us


FAULTS = [
    ({"fault": "fin"}, 52),
    ({"fault": "reset"}, 56),
    ({"fault": "silence"}, 28),
    ({"body_bytes": 1000, "send_bytes": 10}, 18),
    ({"body": "abc", "declared_bytes": 10}, 18),
    ({"body_bytes": 1000, "send_bytes": 10, "end": "silence"}, 28),
    ({"body_bytes": 1000, "framing": "chunked", "send_bytes": 10}, 18),
    ({"header_cut": 30, "end": "reset"}, 56),
    ({"raw": "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nab"}, 18),
    ({"read": "none", "fault": "reset"}, 56),
]


@pytest.mark.parametrize("step, curl_code", FAULTS, ids=[str(step) for step, _ in FAULTS])
def test_faults_are_what_curl_calls_them(origin, step, curl_code):
    server = origin([step])
    assert curl("-o", "/dev/null", "-m", "1", server.url()).returncode == curl_code


def test_chunked_trailers_and_informational(origin):
    server = origin(
        [
            {
                "body_bytes": 40000,
                "framing": "chunked",
                "trailers": [["X-Sum", "7"]],
                "informational": [{"status": 103, "headers": [["Link", "</a>"]]}],
            }
        ]
    )
    whole = curl("-i", server.url()).stdout
    assert whole.startswith(b"HTTP/1.1 103 ") and b"X-Sum: 7" in whole
    assert b"abcdefghijklmnopqrstuvwxyzabc" in whole and len(whole) > 40000


def test_delays_pass_before_header_and_body(origin):
    server = origin([{"delay_ms": 120, "body_delay_ms": 130, "body": "late"}])
    assert curl(server.url()).stdout == b"late"
    (request,) = server.requests
    wait_until(lambda: server.requests[0].answer, "answer")
    answer = server.requests[0].answer
    assert answer["us"] - request.head_us >= 120_000
    assert answer["ended_us"] - answer["us"] >= 130_000


def test_client_that_vanishes_is_recorded_at_once(origin):
    server = origin([{"delay_ms": 60_000}])
    with socket.create_connection(("127.0.0.1", server.port)) as client:
        client.sendall(b"GET / HTTP/1.1\r\n\r\n")
        wait_until(lambda: server.requests, "request")
    connection = wait_until(lambda: [c for c in server.connections if c.closed_us], "close")[0]
    assert connection.closed_by == "peer"


def test_refuses_until_told(origin):
    server = origin([{"repeat": True}], refuse_ms=600_000)
    assert curl(server.url()).returncode == 7
    server.come_up()
    wait_until(lambda: curl(server.url()).returncode == 0, "listener")


def test_refuses_after_a_step(origin):
    server = origin([{"refuse": {"for_ms": 600_000}}, {}])
    assert curl(server.url()).returncode == 0
    assert curl(server.url()).returncode == 7
    server.come_up()
    wait_until(lambda: curl(server.url()).returncode == 0, "listener")


def test_black_hole_swallows_until_told(origin):
    server = origin([{"repeat": True}], blackhole=True)
    assert curl("--connect-timeout", "0.3", server.url()).returncode == 28
    assert server.connections == []
    server.come_up()
    wait_until(lambda: curl("--connect-timeout", "1", server.url()).returncode == 0, "listener")


def test_tunnel_and_refused_connect(origin):
    target = origin([{"body": "through"}])
    proxy = origin({"paths": {"CONNECT": [{"status": 503}, {"tunnel": True}]}})
    proxied = ["-p", "--noproxy", "", "-x", proxy.url(), f"http://elsewhere.invalid:{target.port}/"]
    assert curl(*proxied).returncode == 56
    assert curl(*proxied).stdout == b"through"


def test_ends_cleanly_with_silent_connections(origin):
    server = origin([{"fault": "silence"}])
    client = socket.create_connection(("127.0.0.1", server.port))
    client.sendall(b"GET / HTTP/1.1\r\n\r\n")
    wait_until(lambda: server.requests, "request")
    server.process.send_signal(signal.SIGTERM)
    assert server.process.wait(timeout=30) == 0
    client.close()


@pytest.mark.parametrize(
    "script, complaint",
    [
        ('[{"statsu": 200}]', 'unknown field "statsu"'),
        ('[{"end": "explode"}]', '"end" has a value that it can\'t have'),
        ('{"step": []}', 'unknown key "step"'),
        ("[]", "non-empty array"),
        ("[", "s.json:1:"),
    ],
)
def test_bad_scripts_are_refused(origin, build, tmp_path, script, complaint):
    path = tmp_path / "s.json"
    path.write_text(script)
    refused = subprocess.run([build / "tests/origin/origin", "--script", path], capture_output=True, timeout=30)
    assert refused.returncode == 1 and complaint in refused.stderr.decode()
