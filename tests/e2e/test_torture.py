# SPDX-License-Identifier: MIT
"""
No memory, at whatever moment: each allocation that tenacurl asks for fails in turn, alone and with all after it.

Whatever fails, each transfer ends as without tenacurl or as with it: no crash, no part of a response or of a request's
body, no lock kept. tests/torture/fail_allocation.c makes allocations fail. TORTURE=all (scripts/torture) takes each
sequence of them, not only one and all after it.
"""

import dataclasses
import os
import re

import pytest

OK = {"body": "the answer", "headers": [["X-Kind", "final"]]}
BUSY = {"status": 503, "body": "busy"}
STORED = {"body": "stored"}
BODY = bytes(ord("a") + i % 26 for i in range(20000))
# On stderr: times, and what the dynamic linker says of a libcurl without versions (TEST_LIBRARY_PATH).
UNINTERESTING = re.compile(rb"elapsed_ms \d+ progress_calls \d+ errno \d+\n|.*no version information available.*\n")
FAST = "[policy]\njitter = none\nbackoff_base_ms = 1\nbudget_tokens = 0\n"
SECTIONS = (
    FAST
    + "log = {log}\nlog_events = all\nretry_status = 429, 503\nretry_after_headers = Retry-After, X-Wait\n"
    + "final_body = out of quota\nadd_idempotency_key = yes\nskip_programs = nobody, *.none\n"
    + "[upstream first]\nmatch = https://*.example/api/*\nretry_errors = connect, send\nidempotency_header = X-Once\n"
    + "[upstream second]\nmatch = 127.0.0.1\nhold_success_bytes = 4096\n"
)


@dataclasses.dataclass(frozen=True)
class Scenario:
    program: str
    words: tuple  # after the URL; OTHER stands for the URL of /other
    script: object
    policy: str = None  # None: the built-in one
    environment: tuple = ()
    body: bytes = b""  # of each request


TWICE = {"paths": {"/x": [BUSY, OK], "/other": [BUSY, OK]}}
SCENARIOS = {
    "get": Scenario("transfer", (), [OK]),
    "retried": Scenario("transfer", (), [BUSY, OK], FAST),
    "twice": Scenario("transfer", ("--", "url=OTHER"), TWICE, FAST),
    "duplicated": Scenario("transfer", ("duplicate=1", "callbacks=both"), [BUSY, OK], FAST),
    "upload": Scenario("upload", ("callback", f"size={len(BODY)}"), [BUSY, STORED], FAST, body=BODY),
    "rewound": Scenario("upload", ("seek", f"size={len(BODY)}"), [BUSY, STORED], FAST, body=BODY),
    "mime": Scenario("upload", ("mime-seek", f"size={len(BODY)}"), [BUSY, STORED], FAST, body=BODY),
    "policy": Scenario("transfer", ("--", "url=OTHER"), TWICE, SECTIONS),
    "built-in policy, log": Scenario("transfer", (), [OK], None, (("TENACURL_LOG", "{log}"),)),
    "broken policy, log": Scenario("transfer", (), [OK], "[policy]\nno = 1\n", (("TENACURL_LOG", "{log}"),)),
}


@pytest.fixture
def torture(build, origin, bare, tmp_path):
    """torture(scenario, nth, count) -> (Result, Origin, numbers of the report); nth None: without tenacurl."""

    def run(scenario, nth, count=1):
        server = origin(scenario.script)
        words = [word.replace("OTHER", server.url("/other")) for word in scenario.words]
        report, policy = tmp_path / "report", tmp_path / "policy.ini"
        environment = {name: value.format(log=tmp_path / "log.jsonl") for name, value in scenario.environment}
        if scenario.policy:
            policy.write_text(scenario.policy.format(log=tmp_path / "log.jsonl"))
            policy.chmod(0o600)
            environment["TENACURL_POLICY"] = str(policy)
        if nth is not None:
            environment["LD_PRELOAD"] = f"{build}/libtenacurl.so:{build}/tests/torture/fail_allocation.so"
            environment |= {"TORTURE_NTH": str(nth), "TORTURE_COUNT": str(count), "TORTURE_REPORT": str(report)}
        report.unlink(missing_ok=True)
        result = bare([build / "tests/clients" / scenario.program, server.url("/x"), *words], environment)
        server.stop()
        numbers = dict(re.findall(r"(\w+) (\d+)", report.read_text())) if report.exists() else {}
        return result, server, {name: int(number) for name, number in numbers.items()}

    return run


def transfers(result):
    """What the program saw, for each of its transfers."""
    seen = re.sub(rb"boundary=-+\w+", b"boundary", result.stdout)
    return re.findall(rb".*?^info content_type [^\n]*\n|.+\Z", seen, re.M | re.S)


def check_run(scenario, run, allowed, described):
    result, server, numbers = run
    assert result.returncode == 0, (described, result)
    assert numbers["locked"] == 0, described
    seen = transfers(result)
    assert len(seen) == len(allowed[0]), (described, result)
    for transfer, *ways in zip(seen, *allowed):
        assert transfer in ways, (described, result)
    assert not UNINTERESTING.sub(b"", result.stderr), (described, result)
    for request in server.requests:
        assert scenario.body in request.body, described


def sequences(count):
    """(first, length) of what fails; a length of 0 is all after it too."""
    for first in range(1, count + 1):
        yield from ((first, 0), (first, 1))
        if os.environ.get("TORTURE") == "all":
            yield from ((first, length) for length in range(2, count - first + 1))


@pytest.mark.parametrize("name", SCENARIOS)
def test_failing_allocations(torture, name):
    scenario = SCENARIOS[name]
    without = torture(scenario, None)
    if b"symbol lookup error" in without[0].stderr:
        pytest.skip("this libcurl is older than a function that the program calls")
    protected = torture(scenario, 0)
    # Where there is something to retry, it is; else the scenario shows less than it says.
    assert b"busy" not in protected[0].stdout, protected
    allowed = [transfers(without[0]), transfers(protected[0])]
    count = protected[2]["allocations"]
    assert count > 0
    for first, length in sequences(count):
        described = f"{length or 'all'} from allocation {first} of {count}"
        run = torture(scenario, first, length)
        check_run(scenario, run, allowed, described)
        assert run[2]["failed"] > 0, described
