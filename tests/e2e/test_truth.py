# SPDX-License-Identifier: MIT
"""What a program asks for after a retry is the last attempt's, and what a server asked for is what it wrote."""

import pytest

POLICY = {"backoff_base_ms": 200, "jitter": "none", "breaker": "off"}
OK = {"status": 200, "body": "ok"}
RESET = {"fault": "reset"}
DOWN = {"status": 503, "body": "down"}


def os_errnos(result):
    return [int(line.split()[-1]) for line in result.stdout.decode().splitlines() if line.startswith("info os_errno")]


@pytest.mark.parametrize("steps, options", [
    ([OK], {"refuse_ms": 300}), ([RESET, OK], {}), ([RESET, DOWN, OK], {}), ([RESET, RESET, OK], {})])
def test_a21_a_rescued_request_shows_no_errno(build, origin, tenacurl_run, bare, steps, options):
    """What was never told can't be asked for, in the next transfer neither."""
    transfer = build / "tests/clients/transfer"
    server, healthy = origin({"steps": [*steps, OK]}, **options), origin({"steps": [OK, OK]})
    with_us = tenacurl_run([transfer, server.url("/x"), "--", f"url={server.url('/y')}"], policy=POLICY)
    without = bare([transfer, healthy.url("/x"), "--", f"url={healthy.url('/y')}"])
    assert os_errnos(with_us) == os_errnos(without) == [0, 0]
    assert with_us.operations[0]["attempts"] > 1


def test_a21_the_last_attempts_errno_is_shown(build, origin, tenacurl_run, bare):
    transfer = build / "tests/clients/transfer"
    servers = [origin({"steps": [{**RESET, "repeat": True}]}) for _ in range(2)]
    with_us = tenacurl_run([transfer, servers[0].url("/x")], policy={**POLICY, "max_attempts": 2})
    assert os_errnos(with_us) == os_errnos(bare([transfer, servers[1].url("/x")])) != [0]
    # An errno of an attempt before is not taken for the last one's.
    server = origin({"steps": [RESET, {"fault": "fin", "repeat": True}]})
    result = tenacurl_run([transfer, server.url("/x")], policy={**POLICY, "max_attempts": 2})
    assert b"result 52 " in result.stdout and os_errnos(result) == [0]


@pytest.mark.parametrize("value", ["\r\n 400", " \r\n\t400", "\r\n \r\n 400"])
def test_a21_a_folded_retry_after_is_waited_for(build, origin, tenacurl_run, value):
    server = origin({"steps": [{**DOWN, "headers": [["retry-after-ms", value]]}, OK]})
    policy = {"retry_after_headers": "retry-after-ms", "backoff_base_ms": 1, "backoff_cap_ms": 1, "breaker": "off"}
    result = tenacurl_run([build / "tests/clients/transfer", server.url("/x")], policy=policy)
    assert len(server.requests) == 2 and result.attempts[0]["retry_after_ms"] == 400
    assert server.gap_ms() >= 400
