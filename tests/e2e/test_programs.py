# SPDX-License-Identifier: MIT
"""Stock programs get through a passing fault under tenacurl, and fail on the same fault without it."""

import pytest

from support.clients import CLIENTS, require
from support.waiting import wait_until

BODY = "the answer\n"

# More waits than any start-up can eat, each of a known length.
PATIENT = {"jitter": "none", "backoff_base_ms": 200, "backoff_cap_ms": 400, "max_attempts": 20}


@pytest.fixture(params=CLIENTS, ids=str)
def client(request, bare):
    require(request.param, bare)
    return request.param


def gets_the_body(result):
    """The body reached the program, once. cmake prints it on stderr."""
    return result.returncode == 0 and (result.stdout + result.stderr).count(BODY.strip().encode()) == 1


def test_without_a_fault_one_request(client, origin, tenacurl_run, tmp_path):
    server = origin([{"body": BODY}])
    result = tenacurl_run(client.argv(server.url("/x"), tmp_path))
    assert gets_the_body(result), result
    assert len(server.requests) == 1


def test_503_with_retry_after(client, origin, tenacurl_run, bare, tmp_path):
    script = [{"status": 503, "headers": [["Retry-After", "1"]], "body": "down\n"}, {"body": BODY}]
    without, server = origin(script), origin(script)
    assert bare(client.argv(without.url("/x"), tmp_path)).returncode != 0
    assert len(without.requests) == 1

    result = tenacurl_run(client.argv(server.url("/x"), tmp_path))
    assert gets_the_body(result), result
    assert b"down" not in result.stdout
    assert len(server.requests) == 2
    assert server.gap_ms() >= 1000


def test_reset(client, origin, tenacurl_run, bare, tmp_path):
    script = [{"fault": "reset"}, {"body": BODY}]
    without, server = origin(script), origin(script)
    assert bare(client.argv(without.url("/x"), tmp_path)).returncode != 0
    assert len(without.requests) == 1

    result = tenacurl_run(client.argv(server.url("/x"), tmp_path))
    assert gets_the_body(result), result
    assert len(server.requests) == 2


def test_refused_then_up(client, origin, runner, tmp_path):
    server = origin([{"body": BODY}], refuse_ms=600_000)
    assert runner.bare(client.argv(server.url("/x"), tmp_path)).returncode != 0

    running = runner.start(client.argv(server.url("/x"), tmp_path), PATIENT)
    wait_until(lambda: running.records, "record of a refused attempt")
    server.come_up()
    result = running.wait()
    assert gets_the_body(result), result
    assert len(server.requests) == 1
    assert result.attempts[0]["curl"] == "CURLE_COULDNT_CONNECT" and result.attempts[0]["unsent"] is True
    assert result.operation["attempts"] == len(result.attempts) >= 2
