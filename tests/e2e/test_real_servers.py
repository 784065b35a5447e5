# SPDX-License-Identifier: MIT
"""The same through servers that people run: TLS, HTTP/2, and a load balancer's own 503."""

import pytest

from support.waiting import wait_until

QUICK = {"jitter": "none", "backoff_base_ms": 50, "backoff_cap_ms": 100}
SCRIPT = [{"status": 503, "headers": [["Retry-After", "1"]], "body": "down\n"}, {"body": "the answer\n"}]


@pytest.mark.parametrize("name, version", [("nginx", "2"), ("nghttpx", "2"), ("haproxy", "1.1")])
def test_503_behind_a_tls_front(name, version, origin, real_server, certificate, bare, tenacurl_run):
    def argv(server):
        return ["/usr/bin/curl", "-sS", "-f", "-w", "%{http_version}", "--cacert", str(certificate.path), server.url()]

    without, with_us = origin(SCRIPT), origin(SCRIPT)
    failed = bare(argv(real_server(name, without.port)))
    assert failed.returncode == 22 and len(without.requests) == 1

    result = tenacurl_run(argv(real_server(name, with_us.port)), QUICK)
    assert result.returncode == 0 and result.stdout == f"the answer\n{version}".encode(), result
    assert len(with_us.requests) == 2 and with_us.gap_ms() >= 1000


def test_load_balancer_whose_backend_comes_back(origin, real_server, bare, runner):
    back = origin([{"body": "the answer\n"}], refuse_ms=600_000)
    front = real_server("haproxy", back.port)
    argv = ["/usr/bin/curl", "-sS", "-f", front.plain_url()]
    assert bare(argv).returncode == 22

    running = runner.start(argv, {**QUICK, "max_attempts": 100})
    wait_until(lambda: running.records, "record of the front's 503")
    back.come_up()
    result = running.wait()
    assert result.returncode == 0 and result.stdout == b"the answer\n"
    assert result.attempts[0]["status"] == 503 and len(back.requests) == 1


# A DNS message (RFC 1035 §4) that answers any question with 127.0.0.1: libcurl asks with id 0 and reads the answers only.
ADDRESS = "00008180000000010000000000" + "00010001" + "0000003c" + "0004" + "7f000001"


def test_name_looked_up_over_https(origin, real_server, bare, tenacurl_run):
    """libcurl makes transfers of its own for a DoH look-up, inside the program's: those are none of ours."""
    answer = {"status": 200, "headers": [["Content-Type", "application/dns-message"]], "body": {"hex": ADDRESS}}
    script = {"paths": {"/dns-query": [{**answer, "repeat": True}]}, "steps": SCRIPT}

    def argv(server):
        resolver = f"https://127.0.0.1:{real_server('nginx', server.port).port}/dns-query"
        url = f"http://flaky.test:{server.port}/x"
        return ["/usr/bin/curl", "-sS", "-f", "--doh-url", resolver, "--doh-insecure", url]

    assert bare(argv(origin(script))).returncode == 22
    server = origin(script)
    result = tenacurl_run(argv(server), QUICK)
    assert result.returncode == 0 and result.stdout == b"the answer\n", result
    targets = [request.target for request in server.requests]
    assert targets.count("/x") == 2 and targets.count("/dns-query") == 2
    assert len(result.operations) == 1 and result.operation["attempts"] == 2
