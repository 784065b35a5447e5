# SPDX-License-Identifier: MIT
"""`tenacurl log`: records for people."""

import os
import subprocess
from pathlib import Path

import pytest

from support.launcher import read_terminal
from support.records import INTENT, attempt, lines_of, nested, note, operation_of, retried

BUILD = Path(os.environ.get("BUILD", Path(__file__).resolve().parents[2] / "build")).resolve()
TENACURL = BUILD / "tenacurl"


def log(*files, stdin="", env=()):
    return subprocess.run([TENACURL, "log", *map(str, files)], input=stdin, capture_output=True, text=True,
                          timeout=60, env={**os.environ, "TZ": "UTC", **dict(env)})


def shown(*records):
    done = log("-", stdin=lines_of(*records))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_an_operation_is_its_request_its_outcome_and_its_attempts():
    printed = shown(retried(1, 1, 1), attempt(1, 1, 2), operation_of(1, 1))
    assert printed == ("2026-01-02 03:04:05+00:00 curl[1] GET http://example.org/x\n"
                       "  200, success: 2 attempts, 1.067 s (waited 1.034 s)\n"
                       "  1  503  status  21 ms  Retry-After 1 s  retry in 1.034 s: transient_failure\n"
                       "  2  200  9 ms  deliver: success\n")


def test_what_follows_a_result_stands_in_a_column():
    lines = shown(retried(1, 1, 1, curl_code=7, curl="CURLE_COULDNT_CONNECT", status=None, failure="connect",
                          retry_after_ms=None), attempt(1, 1, 2), operation_of(1, 1)).splitlines()
    assert lines[2].index("connect") == lines[3].index("9 ms")


LONG_ATTEMPT = {"curl_code": 28, "curl": "CURLE_OPERATION_TIMEDOUT", "failure": "timeout", "status": None,
                "total_ms": 1234567, "retry_after_ms": 12345, "wait_ms": 123456, "ambiguous": True}


def test_a_line_too_wide_for_a_terminal_is_broken_and_loses_nothing():
    url = "http://example.org/" + "segment/" * 6
    printed = shown(retried(1, 1, 1, url=url, **LONG_ATTEMPT), attempt(1, 1, 2, url=url), operation_of(1, 1, url=url))
    lines = printed.splitlines()
    assert max(map(len, lines)) <= 80
    assert lines[1] == f"  GET {url}"
    assert " ".join(printed.split()) == (
        f"2026-01-02 03:04:05+00:00 curl[1] GET {url} 200, success: 2 attempts, 1.067 s (waited 1.034 s) "
        "1 CURLE_OPERATION_TIMEDOUT timeout 1234.567 s Retry-After 12.345 s "
        "retry in 123.456 s: transient_failure, may have been executed 2 200 9 ms deliver: success")


def test_a_url_that_cannot_fit_is_printed_whole():
    url = "http://example.org/" + "x" * 200
    assert f"\n  GET {url}\n" in shown(operation_of(1, 1, url=url))


def test_a_transfer_that_failed_shows_the_code():
    failed = {"status": None, "curl_code": 56, "curl": "CURLE_RECV_ERROR", "failure": "receive",
              "reason": "attempt_cap"}
    _, outcome, *rest = shown(attempt(1, 1, 1, ambiguous=True, **failed),
                              operation_of(1, 1, attempts=1, waited_ms=0, elapsed_ms=5, **failed)).splitlines()
    line = " ".join(rest)
    assert outcome == "  CURLE_RECV_ERROR, attempt_cap: 1 attempt, 5 ms"
    assert "CURLE_RECV_ERROR" in line and "receive" in line and "may have been executed" in line


def test_a_status_that_the_program_asked_to_see_as_a_failure_shows_both():
    failed = {"status": 503, "curl_code": 22, "curl": "CURLE_HTTP_RETURNED_ERROR", "failure": "status",
              "reason": "attempt_cap"}
    _, outcome, line = shown(attempt(1, 1, 1, **failed),
                             operation_of(1, 1, attempts=1, waited_ms=0, elapsed_ms=5, **failed)).splitlines()
    assert outcome == "  503 CURLE_HTTP_RETURNED_ERROR, attempt_cap: 1 attempt, 5 ms"
    assert line == "  1  503  status  9 ms  deliver: attempt_cap"


def test_audit_records_are_marked():
    assert "curl[1] audit GET" in shown(operation_of(1, 1, mode="audit"))


def test_interleaved_operations_are_put_together():
    printed = shown(retried(1, 1, 1), retried(2, 1, 1), retried(1, 2, 1), attempt(2, 1, 2), operation_of(2, 1),
                    attempt(1, 1, 2), operation_of(1, 1), attempt(1, 2, 2), operation_of(1, 2)).splitlines()
    assert [line.split()[2 if line[0] != " " else 0] for line in printed] == [
        "curl[2]", "200,", "1", "2", "curl[1]", "200,", "1", "2", "curl[1]", "200,", "1", "2"]


def test_attempts_of_a_program_that_died_are_printed():
    printed = shown(retried(1, 1, 1), retried(1, 1, 2), operation_of(2, 1)).splitlines()
    assert printed[0].startswith("2026-01-02 03:04:05+00:00 curl[2]")
    assert printed[2].endswith("curl[1] GET http://example.org/x")
    assert printed[3] == "  unfinished after 2 attempts"
    assert [line.split()[0] for line in printed[4:]] == ["1", "2"]


def test_an_operation_says_whose_retries_they_are():
    left = {"status": 503, "failure": "status", "reason": "nested", "owner": "outer", "intent": INTENT}
    printed = shown(nested(1, 2, evidence="observed"), attempt(1, 2, 1, evidence="observed", **left),
                    operation_of(1, 2, evidence="observed", attempts=1, sends=1, waited_ms=0, elapsed_ms=12,
                                 intent_operations=2, intent_sends=5, **left))
    assert printed == ("2026-01-02 03:04:05+00:00 curl[1] GET http://example.org/x\n"
                       "  came back after 1.020 s: operation 2 of intent 00112233445566ff, 1 send before\n"
                       "  503, nested: 1 attempt, 12 ms\n"
                       "  owner outer (observed), intent 00112233445566ff: 2 operations, 5 sends\n"
                       "  1  503  status  9 ms  deliver: nested\n")


def test_an_owner_without_an_intent_ends_its_line():
    printed = shown(operation_of(1, 1, owner="outer", evidence="argv:--retry", intent=None, intent_operations=None))
    assert "\n  owner outer (argv:--retry)\n" in printed


@pytest.mark.parametrize("fields", [{"owner": "us", "evidence": None, "intent": None},
                                    {"owner": "us", "evidence": None, "intent": INTENT, "intent_operations": 1},
                                    {"owner": None}])
def test_where_nobody_else_showed_itself_nothing_is_said_of_owners(fields):
    assert shown(operation_of(1, 1, **fields)) == shown(operation_of(1, 1))


def test_who_came_back_and_was_not_heard_of_again_is_printed():
    printed = shown(nested(1, 2, evidence="learned"), nested(1, 2), attempt(1, 2, 1),
                    operation_of(1, 2)).splitlines()
    assert printed[1].startswith("  came back after 1.020 s:")
    assert printed[2] == "  nothing else of it is in the log"
    assert printed[3].endswith("curl[1] GET http://example.org/x")
    assert "unfinished" not in "".join(printed)


def test_a_proxys_own_attempts_are_told():
    lines = shown(retried(1, 1, 1, upstream_attempts=3), attempt(1, 1, 2, upstream_attempts=1),
                  operation_of(1, 1)).splitlines()
    assert "503  status  21 ms  by a proxy's 3 attempts  Retry-After 1 s" in lines[2]
    assert "proxy" not in lines[-1]


def test_a_pid_that_is_used_again_starts_anew():
    printed = shown(retried(1, 1, 1), retried(1, 1, 2), retried(1, 1, 1), attempt(1, 1, 2), operation_of(1, 1))
    assert printed.count("unfinished after 2 attempts") == 1
    assert printed.count("200, success") == 1
    assert len(printed.splitlines()) == 8


def test_notes_and_losses_are_told():
    printed = shown(note("policy refused", lost=3))
    assert printed == ("2026-01-02 03:04:05+00:00 curl[7] note: policy refused\n"
                       "  (3 records before this could not be written)\n")


def test_what_is_in_a_log_never_reaches_the_terminal_raw():
    printed = shown(note("a\x1b[2Jb\nc\x9b31m\x7f"),
                    operation_of(1, 1, url="http://h/\x1b]0;title\x07", program="\r\n"))
    for character in printed:
        assert character == "\n" or (character >= " " and not "\x7f" <= character <= "\x9f")
    assert len(printed.splitlines()) == 3
    assert "a\\x1b[2Jb\\x0ac\\x9b31m\\x7f" in printed


FOREIGN = ["not json", '{"schema": 1}', '{"schema": 2, "kind": "note", "note": "x"}', "[]", "1", '{"kind": "note"',
           '{"schema": 1, "kind": "note", "kind": "note"}', '{"schema": 1, "kind": "other"}', "\x00", '"\udcff"']


@pytest.mark.parametrize("line", FOREIGN)
def test_lines_that_are_no_records_are_counted_and_lose_nothing(tmp_path, line):
    path = tmp_path / "log"
    text = lines_of(note("one")) + line + "\n\n" + lines_of(note("two"))
    path.write_bytes(text.encode(errors="surrogateescape"))
    done = log(path)
    assert done.returncode == 0
    assert "one" in done.stdout and "two" in done.stdout
    assert done.stderr == "tenacurl log: 1 line is not a record of schema 1\n"


def test_a_torn_last_line_is_counted(tmp_path):
    path = tmp_path / "log"
    path.write_text(lines_of(note("one")) + lines_of(note("two"))[:50])
    done = log(path)
    assert (done.returncode, len(done.stdout.splitlines())) == (0, 1)
    assert "1 line is not" in done.stderr


def test_only_if_nothing_could_be_read_the_status_is_1(tmp_path):
    good, foreign, missing, empty = (tmp_path / name for name in ("good", "foreign", "missing", "empty"))
    good.write_text(lines_of(note("one")))
    foreign.write_text("x\ny\n")
    empty.write_text("")
    assert log(empty).returncode == 0
    assert log(missing / "log").returncode == 1
    assert log(foreign).returncode == 1
    assert log(tmp_path).returncode == 1
    done = log(missing / "log", foreign, good)
    assert done.returncode == 0
    assert "one" in done.stdout
    assert f"can't read '{missing / 'log'}': No such file or directory" in done.stderr
    assert "2 lines are not" in done.stderr


@pytest.mark.parametrize("mode, told", [("audit", "would have waited"), ("enforce", "waited")])
def test_l06_what_would_have_been_waited_is_called_so(mode, told):
    printed = shown(operation_of(1, 1, mode=mode, attempts=1, elapsed_ms=2, waited_ms=996))
    assert f": 1 attempt, 2 ms ({told} 996 ms)\n" in printed


@pytest.mark.parametrize("mode, told", [("audit", "would retry"), ("enforce", "retry")])
def test_l06_what_would_have_been_retried_is_called_so(mode, told):
    assert f"  {told} in 1.034 s: transient_failure\n" in shown(retried(1, 1, 1, mode=mode))


def test_records_without_their_fields_are_printed_all_the_same():
    bare = shown({"schema": 1, "kind": "nested"}, {"schema": 1, "kind": "operation"})
    assert len(bare.splitlines()) == 3
    bare = shown({"schema": 1, "kind": "attempt"}, {"schema": 1, "kind": "operation"}, {"schema": 1, "kind": "note"},
                 {"schema": 1, "kind": "operation", "pid": "x", "url": 7, "attempts": None, "status": 1.5,
                  "owner": 3, "evidence": [], "intent": {}, "intent_sends": "x"})
    assert len(bare.splitlines()) == 6


def test_usage():
    done = log()
    assert done.returncode == 2
    assert "which file" in done.stderr
    assert log("--help").stdout.startswith("Usage: tenacurl log")
    assert log("--frobnicate").returncode == 2


def test_output_that_goes_nowhere_is_an_error(tmp_path):
    path = tmp_path / "log"
    path.write_text(lines_of(note("one")))
    with open("/dev/full", "w") as full:
        done = subprocess.run([TENACURL, "log", path], stdout=full, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "can't write" in done.stderr


def printed_on_terminal(path, env):
    return read_terminal([str(TENACURL), "log", str(path)], env)[1].encode()


def test_colour_is_for_terminals_only(tmp_path):
    path = tmp_path / "log"
    path.write_text(lines_of(operation_of(1, 1)))
    plain = {name: value for name, value in os.environ.items() if name != "NO_COLOR"}
    assert b"\x1b[" in printed_on_terminal(path, plain)
    assert b"\x1b[" in printed_on_terminal(path, {**plain, "NO_COLOR": ""})
    assert b"\x1b[" not in printed_on_terminal(path, {**plain, "NO_COLOR": "1"})
    assert "\x1b[" not in log(path).stdout
