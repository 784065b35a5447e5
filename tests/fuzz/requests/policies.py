# SPDX-License-Identifier: MIT
"""The policies that histories run under, one section each, and what they promise: see judge.py."""

import dataclasses

# Waits of milliseconds; what would stop retries after some hundred histories is off unless a policy is about it.
FAST = {
    "backoff_base_ms": 1,
    "backoff_cap_ms": 4,
    "jitter": "none",
    "retry_after_jitter_pct": 0,
    "breaker": "off",
    "budget_tokens": 0,
}


@dataclasses.dataclass
class Policy:
    name: str
    keys: dict

    @property
    def acts(self):
        return self.keys.get("mode", "enforce") == "enforce"

    @property
    def replay(self):
        return self.keys.get("replay", "idempotent") if self.acts else "none"

    @property
    def refused(self):
        return {int(status) for status in str(self.keys.get("refused_status", "")).split(",") if status.strip()}


POLICIES = [
    Policy("built-in", {}),
    Policy("all", {"replay": "all"}),
    Policy("unsent", {"replay": "unsent"}),
    Policy("none", {"replay": "none"}),
    Policy("refused", {"refused_status": "429"}),
    Policy("refused-held", {"refused_status": "429, 503", "hold_redirects": "yes", "nested": "off"}),
    Policy("budget", {"replay": "all", "budget_tokens": 1, "budget_ratio": 0, "budget_refill_per_s": 0}),
    Policy("final-body", {"replay": "all", "final_body": "quota"}),
    Policy("forbid", {"resend": "forbid", "refused_status": "429"}),
    Policy("audit", {"mode": "audit"}),
    Policy("off", {"mode": "off"}),
    Policy("own", {"nested": "own", "replay": "all"}),
    Policy("hold-success", {"hold_success_bytes": 100000, "nested": "off"}),
    Policy("add-key", {"add_idempotency_key": "yes"}),
    Policy("limits", {"replay": "all", "deadline_ms": 2000, "per_try_ms": 900, "max_attempts": 3}),
    Policy("small-copy", {"replay": "all", "replay_body_bytes": 300}),
]


def policy_file(log_path):
    """The text of one file with all of them; section N is for paths that begin with /pN/."""
    lines = ["[policy]", f"log = {log_path}", "state = process"]
    for number, policy in enumerate(POLICIES):
        lines += [f"[upstream {policy.name}]", f"match = 127.0.0.1/p{number}/*"]
        lines += [f"{key} = {value}" for key, value in {**FAST, **policy.keys}.items()]
    return "\n".join(lines) + "\n"
