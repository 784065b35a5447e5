# SPDX-License-Identifier: MIT
"""Records hold all that the engine went by: a log that is judged again gives the same verdicts (tests/replay)."""

import json
import subprocess

import pytest
from support.runner import policy_text

BUSY = {"status": 503, "body": "busy"}
OK = {"body": "fine", "repeat": True}
ALWAYS = {**BUSY, "repeat": True}
QUICK = {"backoff_base_ms": 20, "log_events": "all"}
SHORT = "for i in 1 2 3; do curl -sS URL; done"

# Name: the origin's script, the policy, the command, and reasons that have to be among the recorded ones.
CASES = {
    "saved": ([BUSY, BUSY, OK], {}, "curl -sS URL", {"transient_failure", "success"}),
    "given up": ([ALWAYS], {"max_attempts": 3}, "curl -sS URL", {"attempt_cap"}),
    "jitter": ([ALWAYS], {"jitter": "full", "backoff_multiplier": 3}, "curl -sS URL", {"attempt_cap"}),
    "asked": ([{**BUSY, "headers": [["Retry-After", "1"]]}, OK], {}, "curl -sS URL", {"transient_failure"}),
    "asked too much": ([{**BUSY, "headers": [["Retry-After", "99"]]}, OK], {}, "curl -sS URL", {"retry_after_limit"}),
    "budget": ([ALWAYS], {"budget_tokens": 4, "budget_refill_per_s": 0, "nested": "off"}, SHORT, {"budget_empty", "transient_failure"}),
    "breaker": ([ALWAYS], {"breaker_failures": 3, "breaker_outage_ms": 0}, SHORT, {"breaker_open"}),
    "upload": ([ALWAYS], {}, "curl -sS -d x=y URL", {"unsafe_replay"}),
    "upload again": ([BUSY, OK], {"replay": "all"}, "curl -sS -d x=y URL", {"transient_failure"}),
    "no window": ([ALWAYS], {"retry_max_time_ms": 1, "backoff_base_ms": 5000, "jitter": "none"}, "curl -sS URL",
                  {"retry_max_time"}),
    "deadline": ([ALWAYS], {"deadline_ms": 3000, "backoff_base_ms": 9000, "jitter": "none"}, "curl -sS URL",
                 {"wait_exceeds_deadline"}),
    "its own timeout": ([ALWAYS], {"backoff_base_ms": 9000, "jitter": "none"}, "curl -sS -m 3 URL", {"wait_exceeds_deadline"}),
    "final": ([{**BUSY, "body": "quota exceeded", "repeat": True}], {"final_body": "quota"}, "curl -sS URL", {"terminal_error"}),
    "absent": ([{"status": 404, "repeat": True}], {"deadline_ms": 9000}, "curl -sS URL", {"terminal_error"}),
    "refused": (None, {"max_attempts": 2}, "curl -sS http://127.0.0.1:1/", {"transient_failure", "attempt_cap"}),
    "empty": ([{"fault": "reset"}, OK], {}, "curl -sS URL", {"transient_failure"}),
    "audit": ([ALWAYS], {"mode": "audit"}, "curl -sS URL", {"transient_failure"}),
    "nested": ([ALWAYS], {}, "curl -sS --retry 1 --retry-delay 1 URL", {"nested"}),
}


@pytest.fixture
def replay(build):
    """replay(log's text, policy) -> what the replay says, and its exit status."""

    def run(text, policy):
        return subprocess.run([build / "tests/replay", policy], input=text, capture_output=True, text=True, timeout=60)

    return run


@pytest.mark.parametrize("name", CASES)
def test_recorded_verdicts_come_again(origin, tenacurl_run, replay, tmp_path, name):
    script, keys, command, reasons = CASES[name]
    url = origin(script).url("/x") if script else ""
    result = tenacurl_run(["sh", "-c", command.replace("URL", url)], {**QUICK, **keys})
    assert reasons <= set(result.reasons), result
    policy = tmp_path / "policy.ini"
    policy.write_text(policy_text({**QUICK, **keys, "log": "syslog"}))
    policy.chmod(0o644)
    text = "".join(json.dumps(record) + "\n" for record in result.records)
    again = replay(text, policy)
    judged = sum(record["judged"] is not None for record in result.attempts)
    assert (again.returncode, again.stdout) == (0, f"{judged} judged\n"), again


def test_another_policy_gives_another_verdict(origin, tenacurl_run, replay, tmp_path):
    """The replay isn't blind."""
    result = tenacurl_run(["curl", "-sS", origin([ALWAYS]).url("/x")], {**QUICK, "max_attempts": 3})
    policy = tmp_path / "policy.ini"
    policy.write_text(policy_text({**QUICK, "max_attempts": 2, "log": "syslog"}))
    policy.chmod(0o644)
    again = replay("".join(json.dumps(record) + "\n" for record in result.records), policy)
    assert again.returncode == 1 and "attempt 2 of operation 1: attempt_cap" in again.stdout
