# SPDX-License-Identifier: MIT
"""The shared state: filled with known numbers, and what `tenacurl` tells of one."""

import json
import subprocess

# The engine's numbers, in the order of its enums.
REASONS = {name: number for number, name in enumerate([
    "cancelled", "delivered", "deadline", "success", "terminal_error", "unsafe_replay", "request_changed",
    "body_not_replayable", "nested", "attempt_cap", "retry_after_limit", "retry_max_time", "wait_exceeds_deadline",
    "watchdog_limit", "request_expired", "breaker_open", "retry_concurrency", "budget_empty", "transient_failure",
    "deadline_budget", "passed_through"])}
FAILURES = {name: number for number, name in enumerate([
    "none", "status", "proxy", "resolve", "connect", "tls", "send", "receive", "empty", "partial", "http2", "timeout",
    "caller", "local"])}
EVENTS = {name: number for number, name in enumerate([
    "exhausted", "budget_empty", "breaker_opened", "refused", "nested_refused"])}
EVIDENCE = {name: number for number, name in enumerate([
    "none", "header", "program", "curl", "learned", "observed"])}


class State:
    """A directory of states, for programs whose TENACURL_STATE is its path. `tool` is the command line tool."""

    def __init__(self, build, runner, directory):
        self.build = build
        self.runner = runner
        self.directory = directory

    def write(self, *lines):
        """Carries out lines as tests/soak/write_state understands them."""
        done = subprocess.run([self.build / "tests" / "soak" / "write_state", self.directory],
                              input="".join(f"{line}\n" for line in lines), capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")

    def flight(self, *, origin="http://o.example:80", section="policy", job="-", run="-", program="curl", pid=1,
               time_s=1700000000, reason="attempt_cap", failure="status", status=503, curl_code=0, attempts=4, sends=4,
               waited_ms=7200, elapsed_ms=7500, evidence="none", method="GET", path="/v1/items",
               count=1):
        """The line that records this operation."""
        return (f"flight {count} {origin} {section} {job} {run} {program} {pid} {time_s} {REASONS[reason]} "
                f"{FAILURES[failure]} {status} {curl_code} {attempts} {sends} {waited_ms} {elapsed_ms} "
                f"{EVIDENCE[evidence]} {method} {path}")

    def learned(self, *, origin="http://o.example:80", program="import.sh", caller="libfetch.so.1", age_ms=120000,
                expires_in_ms=500000000, promised_ms=0, kept=0, after=None):
        """The line that keeps what was learned of this caller."""
        repeats = " ".join(f"{FAILURES[name]}={count}" for name, count in (after or {"status": 2}).items())
        return f"learned 1 {origin} policy {program} {caller} {age_ms} {expires_in_ms} {promised_ms} {kept} {repeats}"

    def tenacurl(self, *arguments, env=None):
        """`tenacurl ARGUMENT…` for this state; its result."""
        return self.runner.bare([self.build / "tenacurl", *arguments],
                                env={"TENACURL_STATE": str(self.directory), "TZ": "UTC", **(env or {})})

    def text(self, *arguments, env=None):
        """What it prints. That other users of this machine have a state is no part of the answer."""
        done = self.tenacurl(*arguments, env=env)
        told = [line for line in done.stderr.splitlines() if not line.startswith(b"There are states of other users: ")]
        assert (done.returncode, told) == (0, [])
        return done.stdout.decode()

    def stats(self, *arguments):
        """Of the one user, by (origin, section)."""
        users = json.loads(self.text("stats", "--json", *arguments))["users"]
        assert len(users) <= 1
        return {(row["origin"], row["section"]): row for user in users for row in user["origins"]}

    def owners(self, *arguments):
        """What `stats --owners` tells of the one user: origins by (origin, section), callers."""
        (user,) = json.loads(self.text("stats", "--owners", "--json", *arguments))["users"]
        return {(row["origin"], row["section"]): row for row in user["origins"]}, user["callers"]

    def last(self, *arguments):
        return json.loads(self.text("last", "--json", *arguments))["operations"]

    def samples(self, *arguments):
        """The exposition, as {name and labels as printed: value}."""
        lines = self.text("stats", "--prometheus", *arguments).splitlines()
        return {name: float(value) for name, value in (line.rsplit(" ", 1) for line in lines if line[0] != "#")}
