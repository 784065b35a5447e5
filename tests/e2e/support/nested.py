# SPDX-License-Identifier: MIT
"""Programs that retry by themselves: runs of tests/clients/nested, and of others, that share one state."""

import dataclasses
import re

BUSY = {"status": 503, "body": "busy"}
OK = {"status": 200, "body": "fine"}
RESET = {"fault": "reset"}
ALWAYS_BUSY, ALWAYS_OK = {**BUSY, "repeat": True}, {**OK, "repeat": True}
MAX_ATTEMPTS = 3
# Short waits, all alike; and nothing else than attempts and owners that could end an operation.
QUICK = {
    "max_attempts": MAX_ATTEMPTS,
    "jitter": "none",
    "backoff_base_ms": 20,
    "backoff_multiplier": 1,
    "retry_after_jitter_pct": 0,
    "budget_tokens": 0,
    "breaker": "off",
}


@dataclasses.dataclass
class Call:
    """One curl_easy_perform() as the program saw it; times are microseconds of CLOCK_MONOTONIC, as the origin's."""

    number: int
    code: int
    status: int
    begin_us: int
    end_us: int
    error: str

    @property
    def ok(self):
        return self.code == 0 and self.status < 400

    @property
    def elapsed_ms(self):
        return (self.end_us - self.begin_us) / 1000


def calls(result):
    """The calls that a run of tests/clients/nested printed, as they ended."""
    assert result.returncode == 0, result
    lines = re.findall(r"^(\d+) (\d+) (\d+) (\d+) (\d+) (.*)$", result.stdout.decode(), re.M)
    return [Call(*map(int, numbers), text) for *numbers, text in lines]


def owners(result):
    """(owner, evidence) of each operation."""
    return [(record["owner"], record["evidence"]) for record in result.operations]


def nested_records(result):
    return [record for record in result.records if record["kind"] == "nested"]


class Caller:
    """Starts programs under one state, one after the other or at once, and counts at the origin what each sent."""

    def __init__(self, runner, client, state_directory):
        self.runner, self.client, self.state_directory = runner, client, state_directory

    def start(self, argv, **policy):
        env = {"TENACURL_STATE": str(self.state_directory)}
        return self.runner.start(argv, {**QUICK, **policy}, env=env)

    def run(self, argv, **policy):
        return self.start(argv, **policy).wait()

    def loop(self, url, *options, **policy):
        """tests/clients/nested with these options, under QUICK and these keys. -> Result"""
        return self.run([self.client, url, *options], **policy)

    def sends(self, server, url, *options, **policy):
        """How many requests the origin gets from loop()."""
        before = len(server.requests)
        self.loop(url, *options, **policy)
        return len(server.requests) - before


def apart_ms(server, earlier=0, later=1):
    """From the first byte of one request's answer, which the client can't have had before, to another request."""
    requests = server.requests
    return (requests[later].first_byte_us - requests[earlier].answer["us"]) / 1000
