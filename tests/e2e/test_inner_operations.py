# SPDX-License-Identifier: MIT
"""An operation inside a callback of another one: it has what is left of a policy's time, never of the program's."""

import re

import pytest

OK = {"status": 200, "body": "outer"}
SILENCE = {"fault": "silence", "repeat": True}
# What a busy machine may add.
SLACK_MS = 1500


@pytest.fixture
def nest(build, origin, tenacurl_run):
    """nest(outer step, inner steps, *options, **policy) -> (result of the inner operation, its status, elapsed ms)."""

    def run(outer, inner, *options, **policy):
        server = origin({"paths": {"/outer": [outer], "/inner": inner}})
        argv = [build / "tests/clients/transfer", server.url("/outer"), f"inner={server.url('/inner')}", *options]
        result = tenacurl_run(argv, policy={"backoff_base_ms": 1, "jitter": "none", **policy})
        code, status = re.search(rb"^inner (\d+) (\d+)$", result.stdout, re.M).groups()
        return int(code), int(status), int(re.search(rb"^elapsed_ms (\d+)", result.stderr, re.M)[1])

    return run


def test_deadline_of_the_policy_is_shared(nest):
    """On its own the inner one would last until 2500 + 3000 ms."""
    code, _, elapsed_ms = nest({**OK, "delay_ms": 2500}, [SILENCE], deadline_ms=3000, min_try_ms=100)
    assert code == 28
    assert elapsed_ms < 3000 + SLACK_MS


def test_limit_of_the_program_is_not(nest):
    """The program set it for the outer transfer; so long a one inside it was always possible."""
    code, status, _ = nest(OK, [{"status": 200, "delay_ms": 1500}], "timeout_ms=1000")
    assert (code, status) == (0, 200)


def test_inner_one_has_retries_of_its_own(nest):
    code, status, _ = nest(OK, [{"status": 503}, {"status": 503}, {"status": 200}])
    assert (code, status) == (0, 200)
