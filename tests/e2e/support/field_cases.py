# SPDX-License-Identifier: MIT
"""
What the field cases share: their policy, a run of one case with the client tests/clients/transfer, and the
invariants that hold for each of them whatever it is about.

A case is run as two performs on one handle: the case itself and a plain GET of /after, which tells whether the handle
is still as the program left it. Every answer of the script carries a stamp, so that what the program saw can be told
apart, and URL, request and response carry secrets that no log may hold. A last run without tenacurl meets only the
answer that counted in the end: what the program saw must be the same.
"""

import dataclasses
import pathlib
import re

import pytest

# Profile T0. What it leaves open is the default of the policy. It has no resume, breaker or detection of other layers.
T0 = {
    "max_attempts": 4,
    "backoff_base_ms": 100,
    "backoff_multiplier": 2,
    "backoff_cap_ms": 1000,
    "jitter": "full",
    "deadline_ms": 10000,
    "retry_after_jitter_pct": 10,
    "retry_status": "408, 429, 502, 503, 504, 522",
    "retry_status_get_only": "500, 524",
    "replay": "idempotent",
    "replay_body_bytes": 65536,
    "hold_success_bytes": 0,
    "budget_tokens": 0,
}
# Of the checks, not of the product: what a busy machine may add to an operation.
SLACK_MS = 1500
COUNTS_RESENDS = (7, 80, 0)  # from here on libcurl tells before each request, the redirected and resent ones too
BACKOFF_MS = [100, 200, 400]  # the bound of each draw
SAFE_METHODS = {"GET", "HEAD", "OPTIONS", "PUT", "DELETE"}
SECRETS = ["QU3RY", "H3ADER", "S3RVER", "B0DY"]
STAMP = "X-Stamp"
# What makes the client's next perform a plain one.
PLAIN = ["httpget=1", "request=", "header=0", "timeout_ms=0"]
PLAIN += ["refuse_header=-", "refuse_write=0", "abort_progress_after_ms=0"]
AFTER = {"status": 200, "body": "after"}


@dataclasses.dataclass
class Performed:
    """One perform as tests/clients/transfer tells it."""

    events: list  # (kind, text) of header, write, read and seek, in order
    result: int = None
    error: str = None
    info: dict = None
    elapsed_ms: int = None

    def of_kind(self, *kinds):
        return [text for kind, text in self.events if kind in kinds]

    @property
    def headers(self):
        return "".join(self.of_kind("header")).replace("\\x0d\\x0a", "\n").split("\n")[:-1]

    @property
    def status_lines(self):
        return [line for line in self.headers if line.startswith("HTTP/")]

    @property
    def body(self):
        return "".join(self.of_kind("write", "file"))

    @property
    def status(self):
        return self.info["response_code"]


def performed(result):
    """The performs that a run of tests/clients/transfer printed."""
    performs = [Performed([])]
    for line in result.stdout.decode("latin-1").split("\n"):
        if match := re.match(r"(header|write|file) \d+ (.*)$", line):
            performs[-1].events.append(match.groups())
        elif match := re.match(r"(read|seek) (.*)$", line):
            performs[-1].events.append(match.groups())
        elif match := re.match(r"result (\d+) (.*)$", line):
            performs[-1].result, performs[-1].error, performs[-1].info = int(match[1]), match[2], {}
            performs.append(Performed([]))
        elif (match := re.match(r"info (\S+) (-?\d+)$", line)) and len(performs) > 1:
            performs[-2].info[match[1]] = int(match[2])
    performs.pop()
    elapsed = re.findall(rb"^elapsed_ms (\d+)", result.stderr, re.M)
    for one, elapsed_ms in zip(performs, elapsed):
        one.elapsed_ms = int(elapsed_ms)
    return performs


@dataclasses.dataclass
class Seen:
    """What came of a case."""

    server: object
    result: object
    case: Performed
    step_count: int

    @property
    def requests(self):
        """The case's own requests."""
        return [request for request in self.server.requests if request.target.split("?")[0] == "/case"]

    @property
    def last_step(self):
        """The step of the script that the last request met; the last one may be there for all further ones."""
        return min(len(self.requests), self.step_count) - 1

    @property
    def attempts(self):
        return [record for record in self.result.attempts if record["operation"] == self.operation["operation"]]

    @property
    def operation(self):
        return self.result.operations[0]

    @property
    def reasons(self):
        return [record["reason"] for record in self.attempts]

    @property
    def waits_ms(self):
        """The waits that were drawn, one for each retry."""
        return [record["wait_ms"] for record in self.attempts[:-1]]

    def came(self, *, requests, result, status):
        """The figures that every case states."""
        assert (len(self.requests), self.case.result, self.case.status) == (requests, result, status), self
        return self

    def waited_by_backoff(self, retries, least_ms=0):
        """So many retries, each after a draw from its backoff interval, and no earlier at the server."""
        assert len(self.waits_ms) == retries, self.attempts
        for n, wait_ms in enumerate(self.waits_ms):
            assert least_ms <= wait_ms <= BACKOFF_MS[n]
        assert all(record["retry_after_ms"] is None for record in self.attempts)
        return self

    def waited_as_asked(self, asked_ms, retry=0):
        """What the server asked for, rounded up, and a tenth on top at most; measured at the server too."""
        assert asked_ms <= self.waits_ms[retry] <= asked_ms + asked_ms // 10 + 1, self.attempts
        first, second = self.requests[retry : retry + 2]
        assert second.first_byte_us - first.answer["us"] >= asked_ms * 1000
        return self


def stamped(steps):
    """The steps, each with its number in a header."""

    def add(number, step):
        if "raw" in step or "fault" in step:
            return step
        return {**step, "headers": [*step.get("headers", []), [STAMP, f"S3RVER{number}"]]}

    return [add(number, step) for number, step in enumerate(steps)]


# Invariants. Each is told everything and fails with what it saw.


def check_one_response(seen):
    """I1, I2: one final response at most, and it is that of the last request that the server saw."""
    blocks = re.split(r"(?m)^(?=HTTP/)", "\n".join(seen.case.headers))[1:]
    final = [block for block in blocks if not re.match(r"HTTP/\S+ [13]", block)]
    assert len(final) <= 1, seen.case.headers
    if final:
        stamps = re.findall(STAMP + r": S3RVER(\d+)", final[0])
        assert [int(stamp) for stamp in stamps] == [seen.last_step] or not stamps


def check_nothing_executed_twice(seen):
    """I3: a request that had arrived is repeated only if it is safe to."""
    unsafe = [
        request
        for request in seen.requests
        if request.method not in SAFE_METHODS or (request.method == "GET" and request.body_bytes)
    ]
    if not all(request.header("Idempotency-Key") for request in unsafe):
        assert len(unsafe) <= 1
    conditions = ("If-Match", "If-None-Match", "If-Unmodified-Since")
    for request in seen.requests[:-1]:
        assert request.method not in ("PUT", "DELETE") or not any(request.header(name) for name in conditions)


def check_whole_bodies(seen):
    """I4: the read callback goes on where it was or is sought to a place; what arrived whole is always the same."""
    position, ended = 0, False
    for kind, text in seen.case.events:
        if kind == "seek":
            position, ended = int(text.split()[0]), False
        elif kind == "read":
            count, at = (int(word) for word in text.split(" at "))
            assert at == position and not ended, seen.case.of_kind("read", "seek")
            position, ended = position + count, count == 0
    answered = [request for request in seen.requests if request.answer and request.answer["how"] == "sent"]
    whole = {request.body for request in answered if request.body_read}
    assert len(whole) <= 1


def check_in_time(seen, policy, timeout_ms):
    """I5."""
    limits = [limit for limit in (timeout_ms, policy["deadline_ms"]) if limit]
    assert seen.case.elapsed_ms <= min(limits) + SLACK_MS
    assert len(seen.attempts) >= 1


def without_times(text):
    return re.sub(r"\d+", "N", text)


def check_truth(seen, expected):
    """I6: what the program was told is what the last attempt alone would have told it."""
    last = seen.attempts[-1]
    assert (seen.case.result, seen.case.status) == (last["curl_code"], last["status"] or 0)
    if expected is None:
        return
    for name in ("response_code", "connect_code"):
        assert seen.case.info[name] == expected.info[name]
    assert (seen.case.result, without_times(seen.case.error)) == (expected.result, without_times(expected.error))
    assert seen.case.headers == expected.headers
    assert seen.case.body == expected.body


def check_handle(seen, after):
    """I7: the same handle makes a plain request afterwards, as if nothing had been."""
    requests = [request for request in seen.server.requests if request.target == "/after"]
    assert [request.method for request in requests] == ["GET"]
    assert (after.result, after.status, after.body) == (0, 200, "after")


def check_log(seen, performs):
    """I9: a line per attempt and one per operation, no secret in any."""
    assert len(seen.result.operations) == performs
    for operation in seen.result.operations:
        attempts = [record for record in seen.result.attempts if record["operation"] == operation["operation"]]
        assert [record["attempt"] for record in attempts] == list(range(1, operation["attempts"] + 1))
    if version_of(seen.result) >= COUNTS_RESENDS:
        assert len(seen.requests) <= seen.operation["sends"]
    text = log_text(seen.result)
    for secret in SECRETS:
        assert secret not in text


def version_of(result):
    """The libcurl's version."""
    return tuple(int(part) for part in result.operations[0]["libcurl_version"].split("."))


def log_text(result):
    """The log as it stands in the file; empty where nothing was logged: a URL that can't be read is left alone."""
    policy = result.argv[result.argv.index("--policy") + 1]
    log = pathlib.Path(policy.replace("policy.ini", "log.jsonl"))
    return log.read_text(encoding="utf-8") if log.exists() else ""


@pytest.fixture
def field_case(build, origin, bare, tenacurl_run):
    """
    field_case(steps, option…) -> Seen, all invariants checked.

    policy: changes against T0. compares: False where the last attempt can't be had alone (it was cut by what was left
    of the time, or sent our copy of a body). after: False where no plain request can follow. trusts: whether the policy
    says that a refusal proves that nothing was executed. server_options go to the origin.
    """
    client = build / "tests/clients/transfer"

    def run(steps, *options, policy=None, compares=True, after=True, trusts=False, **server_options):
        policy = {**T0, **(policy or {})}
        server = origin({"steps": stamped(steps), "paths": {"/after": [AFTER]}}, **server_options)
        argv = [client, server.url("/case?secret=QU3RY"), "h=X-Secret: H3ADER", *options]
        ending = ["--", "url=" + server.url("/after"), *PLAIN] if after else []
        result = tenacurl_run([*argv, *ending], policy=policy)
        assert result.returncode == 0, result
        performs = performed(result)
        seen = Seen(server, result, performs[0], len(steps))

        check_one_response(seen)
        if not trusts:
            check_nothing_executed_twice(seen)
        check_whole_bodies(seen)
        check_in_time(seen, policy, timeout_of(options))
        check_truth(seen, run_alone(steps, options, seen) if compares else None)
        if after:
            check_handle(seen, performs[-1])
        check_log(seen, len(performs))
        return seen

    def run_alone(steps, options, seen):
        """The case's last answer, met by the program without tenacurl."""
        if not seen.requests:
            return None
        alone = origin([{**stamped(steps)[seen.last_step], "repeat": True}])
        return performed(bare([client, alone.url("/case?secret=QU3RY"), "h=X-Secret: H3ADER", *options]))[0]

    return run


def timeout_of(options):
    for option in options:
        if option.startswith("timeout_ms="):
            return int(option.split("=")[1])
    return 0
