# SPDX-License-Identifier: MIT
"""`tenacurl report`: what logs say of each program, origin and job."""

import itertools
import json
import os
import subprocess
from pathlib import Path

import pytest

from support.records import INTENT, attempt, lines_of, nested, note, operation_of, retried

BUILD = Path(os.environ.get("BUILD", Path(__file__).resolve().parents[2] / "build")).resolve()
TENACURL = BUILD / "tenacurl"
CURL = "/usr/bin/curl"
FAILURE = {"status": 503, "failure": "status"}


def at(seconds):
    return {"time": f"2026-01-02T03:{int(seconds) // 60:02}:{seconds % 60:09.6f}Z"}


def rescued(pid, operation, begin=0, **fields):
    """A 503 with Retry-After 1 s, and a success 1.1 s later."""
    return [retried(pid, operation, 1, **at(begin), **fields), attempt(pid, operation, 2, **at(begin + 1.1), **fields),
            operation_of(pid, operation, elapsed_ms=1150, **at(begin + 1.2), **fields)]


def exhausted(pid, operation, begin=0, **fields):
    """Two 503, a second apart."""
    failed = {**FAILURE, "reason": "attempt_cap", **fields}
    return [retried(pid, operation, 1, **at(begin), **fields), attempt(pid, operation, 2, **at(begin + 1), **failed),
            operation_of(pid, operation, **at(begin + 1), **failed)]


def plain(pid, operation, begin=0, **fields):
    """A success at once, as `log_events = all` has it."""
    return [attempt(pid, operation, 1, **at(begin), **fields),
            operation_of(pid, operation, attempts=1, sends=1, waited_ms=0, elapsed_ms=9, **at(begin), **fields)]


def run(*files, stdin=""):
    return subprocess.run([TENACURL, "report", *map(str, files)], input=stdin, capture_output=True, text=True,
                          timeout=60, env={**os.environ, "TZ": "UTC"})


def report(*records):
    done = run("--json", "-", stdin=lines_of(*records))
    assert (done.returncode, done.stderr) == (0, "")
    return json.loads(done.stdout)


def only_row(*records):
    [row] = report(*records)["rows"]
    return row


def printed(*records):
    done = run("-", stdin=lines_of(*records))
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_a_night_in_words():
    job = {"job": "nightly", "program": "import.sh", "url": "https://API.example.org:443/x", "owner": "us",
           "intent": None}
    records = [*rescued(1, 1, **job), *rescued(1, 2, begin=20, **job), *exhausted(2, 1, begin=40, **job),
               *plain(3, 1, begin=50, **job)]
    assert printed(*records) == (
        "11 records, 2026-01-02 03:00:00+00:00 to 2026-01-02 03:00:50+00:00\n"
        "\n"
        "import.sh  https://api.example.org  job nightly\n"
        "  operations   4: 1 succeeded at once, 2 succeeded after a retry, 1 failed\n"
        "  sends        7 for 4 intents, 1.75 each; 7 attempts\n"
        "  owner        us 4\n"
        "  waits        3, together 3.102 s, the longest 1.034 s\n"
        "  failed by    attempt_cap 1\n"
        "  Retry-After  3, from 1 s to 1 s: 1 s (3)\n"
        "  recovery     3, half of them within 1.150 s, the longest 10 s\n")


def test_rows_are_programs_origins_and_jobs():
    records = [*rescued(1, 1), *rescued(2, 1, program="php"), *rescued(3, 1, job="b"), *rescued(4, 1, job="a"),
               *rescued(5, 1, url="https://example.org/x"), *rescued(6, 1, url="http://example.org:8080/x"),
               *rescued(7, 1, url="http://example.org:80/other"), *rescued(8, 1, mode="audit")]
    rows = report(*records)["rows"]
    named = [(row["program"], row["origin"], row["job"], row["mode"]) for row in rows]
    assert named == [("curl", "http://example.org", None, "enforce"), ("curl", "http://example.org", None, "audit"),
                     ("curl", "http://example.org", "a", "enforce"), ("curl", "http://example.org", "b", "enforce"),
                     ("curl", "http://example.org:8080", None, "enforce"),
                     ("curl", "https://example.org", None, "enforce"), ("php", "http://example.org", None, "enforce")]
    assert [row["operations"] for row in rows] == [2, 1, 1, 1, 1, 1, 1]


@pytest.mark.parametrize("url, origin", [
    ("http://h/x", "http://h"), ("HTTP://H:80", "http://h"), ("https://h:443/", "https://h"),
    ("https://h:80/", "https://h:80"), ("http://h:443/", "http://h:443"), ("http://[::1]:8080/x", "http://[::1]:8080"),
    ("http://h:8080", "http://h:8080"), ("h.example/x", "h.example"), ("?", "?"), ("", "?"), (None, "?"),
    ("http://h/a://b", "http://h"),
])
def test_an_origin_is_scheme_host_and_port(url, origin):
    assert only_row(operation_of(1, 1, url=url))["origin"] == origin


def test_attempts_and_sends_are_those_of_the_operations():
    row = only_row(operation_of(1, 1, attempts=3, sends=5), operation_of(1, 2, attempts=1, sends=1))
    assert (row["operations"], row["attempts"], row["sends"], row["intents"]) == (2, 4, 6, 2)
    assert row["sends_per_intent"] == 3.0


def test_operations_of_one_intent_are_one_intent():
    mine = {"intent": INTENT, "owner": "outer", "evidence": "observed"}
    failed = {**FAILURE, "reason": "nested", "attempts": 1, "sends": 1, **mine}
    row = only_row(*exhausted(1, 1, intent=INTENT, owner="us", evidence=None),
                   nested(1, 2, **at(2)), operation_of(1, 2, **at(3), **failed),
                   nested(1, 3, **at(4)), operation_of(1, 3, **at(5), **failed),
                   operation_of(1, 4, **at(6), **{**failed, "intent": None}))
    assert (row["operations"], row["intents"], row["sends"], row["sends_per_intent"]) == (4, 2, 5, 2.5)
    assert row["owners"] == [{"owner": "outer", "evidence": "observed", "operations": 3},
                             {"owner": "us", "evidence": None, "operations": 1}]
    assert row["stops"] == {"nested": 3, "attempt_cap": 1}


def test_a_success_ends_an_intent():
    rounds = [operation_of(1, number, intent=INTENT, **at(number)) for number in (1, 2)]
    assert only_row(*rounds)["intents"] == 2
    failed_first = [operation_of(1, 1, intent=INTENT, **FAILURE, **at(1)), *rounds[1:]]
    assert only_row(*failed_first)["intents"] == 1


def test_an_intent_of_several_processes_is_one():
    failed = {**FAILURE, "reason": "nested", "intent": INTENT, "attempts": 1, "sends": 1}
    assert only_row(*(operation_of(pid, 1, **failed, **at(pid)) for pid in (7, 3, 5)))["intents"] == 1


def test_waits_are_counted_summed_and_the_longest_is_told():
    row = only_row(retried(1, 1, 1, wait_ms=100), retried(1, 1, 2, wait_ms=250),
                   attempt(1, 1, 3), operation_of(1, 1, attempts=3))
    assert row["waits"] == {"count": 2, "sum_ms": 350, "max_ms": 250}
    assert only_row(*plain(1, 1))["waits"] == {"count": 0, "sum_ms": 0, "max_ms": None}


def test_what_servers_asked_for():
    asked = [retried(1, 1, number, retry_after_ms=ms) for number, ms in enumerate([1000] * 3 + [30000, 0, None], 1)]
    assert only_row(*asked)["retry_after"] == {
        "count": 5, "min_ms": 0, "max_ms": 30000, "distinct": 3,
        "frequent": [{"ms": 0, "count": 1}, {"ms": 1000, "count": 3}, {"ms": 30000, "count": 1}]}


def test_of_many_values_the_frequent_ones_are_told():
    dates = [retried(1, 1, number, retry_after_ms=5000 + number) for number in range(1, 41)]
    often = [retried(2, 1, number, retry_after_ms=60000) for number in (1, 2)]
    text = printed(*dates, *often)
    assert "Retry-After  42, from 5.001 s to 60 s: " in text
    assert "60 s (2), …\n" in text


def test_an_operation_that_a_retry_rescued_recovered_in_its_own_time():
    row = only_row(*rescued(1, 1, begin=0), *rescued(1, 2, begin=10), *plain(1, 3, begin=20))
    assert row["recovery"] == {"count": 2, "median_ms": 1150, "max_ms": 1150, "down": False}


def test_an_outage_ends_with_the_next_success():
    records = [*exhausted(1, 1, begin=0), *exhausted(2, 1, begin=10), *plain(3, 1, begin=42), *exhausted(4, 1, begin=50)]
    assert only_row(*records)["recovery"] == {"count": 1, "median_ms": 42000, "max_ms": 42000, "down": True}
    assert "recovery     1, half of them within 42 s, the longest 42 s; not seen after the last failure\n" in printed(
        *records)


def test_an_outage_is_of_one_program_origin_and_job():
    rows = report(*exhausted(1, 1), *plain(2, 1, begin=5, program="php"), *plain(3, 1, begin=5, job="other"))["rows"]
    assert [row["recovery"]["down"] for row in rows] == [True, False, False]
    assert [row["recovery"]["count"] for row in rows] == [0, 0, 0]


@pytest.mark.parametrize("fields", [{"reason": "terminal_error", "status": 404, "failure": "status"},
                                    {"reason": "cancelled", "failure": "caller", "status": None},
                                    {"reason": "terminal_error", "failure": "local", "curl_code": 23}])
def test_what_the_origin_is_not_to_blame_for_is_no_outage(fields):
    row = only_row(attempt(1, 1, 1, **fields), operation_of(1, 1, **{"attempts": 1, **fields}))
    assert (row["failed"], row["recovery"]["down"]) == (1, False)


def test_a_failure_while_another_operation_succeeds():
    # The first one's success at 5 s ends the outage that began at 0; the failure at 10 begins another.
    slow = [retried(1, 1, 1, **at(0)), attempt(1, 1, 2, **FAILURE, reason="attempt_cap", **at(10)),
            operation_of(1, 1, **FAILURE, reason="attempt_cap", **at(10))]
    assert only_row(*slow, *plain(2, 1, begin=5), *plain(2, 2, begin=12))["recovery"] == {
        "count": 2, "median_ms": 2000, "max_ms": 5000, "down": False}


def test_a_late_success_is_one():
    row = only_row(operation_of(1, 1, reason="deadline"))
    assert (row["rescued"], row["failed"], row["stops"]) == (1, 0, {})


def test_replays_that_were_ambiguous():
    row = only_row(retried(1, 1, 1, ambiguous=True), retried(1, 1, 2), attempt(1, 1, 3, ambiguous=True))
    assert row["ambiguous"] == 1
    assert "ambiguous    1 retry may have repeated a request that was executed\n" in printed(
        retried(1, 1, 1, ambiguous=True))


def test_a_proxys_own_attempts():
    row = only_row(retried(1, 1, 1, upstream_attempts=3), attempt(1, 1, 2, upstream_attempts=1),
                   operation_of(1, 1))
    assert row["upstream_retries"] == 2


def test_refused_operations_made_no_request():
    row = only_row(operation_of(1, 1, attempts=0, sends=0, reason="breaker_open", failure="connect", status=None,
                                curl_code=7))
    assert (row["refused"], row["failed"], row["attempts"], row["sends"]) == (1, 1, 0, 0)
    assert (row["stops"], row["recovery"]["down"], row["audit"]) == ({"breaker_open": 1}, False, None)


def test_an_operation_without_an_end():
    row = only_row(retried(1, 1, 1), retried(1, 1, 2, unsent=True))
    assert (row["operations"], row["unfinished"], row["attempts"], row["sends"]) == (1, 1, 2, 1)
    assert row["recovery"]["down"]


def would_retry(pid, operation, begin=0, **fields):
    """What audit mode logs of a 503."""
    return [retried(pid, operation, 1, mode="audit", **at(begin), **fields),
            operation_of(pid, operation, **{**FAILURE, "verdict": "retry", "reason": "transient_failure",
                                            "attempts": 1, "sends": 1, "mode": "audit", **at(begin), **fields})]


def would_refuse(pid, operation, **fields):
    """What audit mode logs of a request that it made and that the breaker would have refused."""
    return operation_of(pid, operation, **{"mode": "audit", "attempts": 0, "sends": 0, "waited_ms": 0,
                                           "reason": "breaker_open", "failure": "connect", **fields})


def test_audit_says_what_would_have_been_added_and_saved():
    final = {**FAILURE, "reason": "unsafe_replay", "attempts": 1, "sends": 1, "mode": "audit"}
    records = [*would_retry(1, 1), *would_retry(1, 2), operation_of(1, 3, **final),
               would_refuse(1, 4), would_refuse(1, 5, status=503), would_refuse(1, 6, status=None, curl_code=7),
               *plain(1, 7, mode="audit")]
    row = only_row(*records)
    assert row["audit"] == {"added_sends_min": 2, "saved_requests": 3, "saved_successes": 1, "failed_retriable": 2,
                            "failed_final": 3}
    # All seven requests were made, but the one that found nobody didn't reach the wire.
    assert (row["operations"], row["attempts"], row["sends"]) == (7, 7, 6)
    assert (row["at_once"], row["failed"], row["stops"]) == (2, 5, {"breaker_open": 2, "unsafe_replay": 1})
    text = printed(*records)
    assert "  added        at least 2 sends and 2.068 s of waiting\n" in text
    assert "  saved        3 requests, of which 1 succeeded\n" in text
    assert "  failed       5: 2 would have been tried again, which may have helped; 3 would not\n" in text
    assert "  waits " not in text


def test_audit_adds_nothing_where_another_layer_retries():
    left = {**FAILURE, "mode": "audit", "reason": "nested", "owner": "outer", "evidence": "argv:--retry",
            "attempts": 1, "sends": 1}
    row = only_row(operation_of(1, 1, **left))
    assert row["audit"] == {"added_sends_min": 0, "saved_requests": 0, "saved_successes": 0, "failed_retriable": 0,
                            "failed_final": 1}


# A log, and rows that it must give in whatever order and however often its records come.
STORY = [*rescued(1, 1), *exhausted(2, 1, begin=5, intent=INTENT), nested(2, 2, **at(7)),
         *exhausted(2, 2, begin=8, intent=INTENT), *plain(3, 1, begin=20), *rescued(1, 1, begin=30)]


def test_records_come_in_any_order():
    expected = report(*STORY)["rows"]
    assert [row["operations"] for row in expected] == [5]
    assert report(*reversed(STORY))["rows"] == expected
    for parts in itertools.permutations([STORY[:4], STORY[4:9], STORY[9:]]):
        assert report(*itertools.chain(*parts))["rows"] == expected


def test_rotated_files_are_one_log(tmp_path):
    files = [tmp_path / "log.1", tmp_path / "log"]
    files[0].write_text(lines_of(*STORY[:5]))
    files[1].write_text(lines_of(*STORY[5:]))
    expected = report(*STORY)["rows"]
    assert json.loads(run("--json", *files).stdout)["rows"] == expected
    assert json.loads(run("--json", *reversed(files)).stdout)["rows"] == expected
    with_pipe = run("--json", files[1], "-", stdin=files[0].read_text())
    assert json.loads(with_pipe.stdout)["rows"] == expected


def test_a_record_that_is_given_twice_counts_once():
    twice = report(*STORY, *STORY[3:])
    assert twice["rows"] == report(*STORY)["rows"]
    assert twice["duplicates"] == len(STORY[3:])
    assert f"counted once: {len(STORY)}." in printed(*STORY, *STORY)


def test_a_note_that_is_given_twice_counts_once():
    notes = [note("policy refused", lost=3, **at(0)), note("policy refused", **at(1))]
    told = report(*rescued(7, 1), *notes, *rescued(7, 2, begin=2), *notes)
    assert (told["notes"], told["lost"], told["duplicates"]) == (2, 3, 2)
    assert told["rows"] == report(*rescued(7, 1), *rescued(7, 2, begin=2))["rows"]


def test_notes_belong_to_the_time_that_is_told():
    told = report(*rescued(1, 1, begin=5), note("policy refused", **at(60)))
    assert (told["first"], told["last"]) == ("2026-01-02T03:00:05.000000Z", "2026-01-02T03:01:00.000000Z")


def test_reasons_without_end_are_told_together():
    stops = only_row(*(operation_of(1, number, **{**FAILURE, "reason": f"made_up_{number}"}) for number in
                       range(1, 1001)))["stops"]
    assert len(stops) == 257 and stops["other"] == 1000 - 256


def test_a_pid_that_is_used_again_is_another_process():
    row = only_row(retried(1, 1, 1, **at(0)), retried(1, 1, 2, **at(1)), *rescued(1, 1, begin=60),
                   *rescued(1, 1, begin=120))
    assert (row["operations"], row["rescued"], row["unfinished"], row["attempts"]) == (3, 2, 1, 6)


def test_fields_of_a_newer_version_are_passed_over():
    newer = [{**record, "newer": {"a": [1]}, "another": "x"} for record in STORY]
    assert report(*newer) == report(*STORY)
    row = only_row(operation_of(1, 1, reason="a_newer_one", owner="someone", evidence="dreams", **FAILURE))
    assert row["stops"] == {"a_newer_one": 1}
    assert row["owners"] == [{"owner": "someone", "evidence": "dreams", "operations": 1}]


def test_logs_of_an_older_version_say_nothing_of_owners():
    row = only_row(*rescued(1, 1))
    assert (row["owners"], row["intents"]) == ([], 1)


def test_records_without_their_fields_are_counted_all_the_same():
    bare = [{"schema": 1, "kind": kind} for kind in ("nested", "attempt", "operation")]
    odd = {"schema": 1, "kind": "operation", "time": "yesterday", "pid": -1, "operation": "x", "url": 7, "sends": -5,
           "attempts": 1.5, "elapsed_ms": 10**18, "owner": 3, "reason": [], "lost": "x"}
    huge = [{"schema": 1, "kind": "operation", "sends": 2**63 - 1, "attempts": 2**63 - 1, "lost": 2**63 - 1}] * 20
    assert sum(row["operations"] for row in report(*bare, odd, *huge)["rows"]) == 22
    assert report(*huge)["lost"] > 0
    assert printed(*bare, odd, *huge).startswith("24 records\n")


def test_foreign_lines_and_missing_files_are_told_and_lose_nothing(tmp_path):
    good, foreign = tmp_path / "good", tmp_path / "foreign"
    good.write_text("not json\n" + lines_of(*STORY) + '{"schema": 2, "kind": "operation"}\n' + lines_of(STORY[0])[:50])
    foreign.write_text("x\n")
    done = run("--json", good, tmp_path / "missing")
    assert done.returncode == 0
    assert json.loads(done.stdout)["rows"] == report(*STORY)["rows"]
    assert json.loads(done.stdout)["foreign_lines"] == 3
    assert "3 lines are not a record of schema 1" in done.stderr
    assert f"'{tmp_path / 'missing'}' isn't there: nothing was logged to it" in done.stderr
    assert run(foreign).returncode == run(tmp_path / "no-such" / "missing").returncode == 1


def test_an_empty_log(tmp_path):
    done = run("-")
    assert (done.returncode, done.stdout) == (0, "0 records\nNo operation was logged.\n")


def test_lost_records_and_notes_are_told():
    told = report(*rescued(1, 1, lost=2), note("policy refused"))
    assert (told["lost"], told["notes"]) == (6, 1)
    assert report(*rescued(1, 1, lost=2), *rescued(1, 1, lost=2))["lost"] == 6
    text = printed(*rescued(1, 1, lost=2), note("policy refused"))
    assert "missing here: 6." in text
    assert "Notes of tenacurl about itself: 1;" in text


REMARK = "log_events = retries"


def test_a_log_without_plain_successes_gets_a_remark():
    assert REMARK in printed(*rescued(1, 1))
    assert REMARK not in printed(*rescued(1, 1), *plain(1, 2))
    assert REMARK in printed(*rescued(1, 1), *plain(1, 2), *rescued(2, 1, program="php"))


def test_what_is_in_a_log_never_reaches_the_terminal_raw():
    hostile = "a\x1b[2Jb\nc\x9b31m\x7f"
    text = printed(operation_of(1, 1, url=f"http://h{hostile}", program=hostile, job=hostile, reason=hostile,
                                owner=hostile, evidence=hostile, **FAILURE))
    for character in text:
        assert character == "\n" or (character >= " " and not "\x7f" <= character <= "\x9f")


def test_the_help_explains_every_line():
    everything = [*STORY, operation_of(8, 1, owner="us", attempts=0, reason="breaker_open", failure="connect"),
                  retried(8, 2, 1, ambiguous=True, upstream_attempts=3), *would_retry(9, 1), would_refuse(9, 2)]
    labels = {line[2:15].strip() for line in printed(*everything).splitlines() if line.startswith("  ")}
    explained = {line[2:15].strip() for line in run("--help").stdout.splitlines() if line.startswith("  ")}
    assert len(labels) == 13
    assert labels <= explained


def test_usage():
    done = run()
    assert done.returncode == 2
    assert "which file" in done.stderr
    assert run("--help").stdout.startswith("Usage: tenacurl report")
    assert run("--frobnicate").returncode == 2


@pytest.mark.parametrize("form", [[], ["--json"]])
def test_output_that_goes_nowhere_is_an_error(form):
    with open("/dev/full", "w") as full:
        done = subprocess.run([TENACURL, "report", *form, "-"], input=lines_of(*STORY), stdout=full,
                              stderr=subprocess.PIPE, text=True)
    assert done.returncode == 1
    assert "can't write" in done.stderr and "memory" not in done.stderr


def test_of_a_real_run_it_tells_what_the_server_counted(origin, tenacurl_run, tmp_path):
    log = tmp_path / "log.jsonl"
    down, up = {"status": 503}, {"body": "x\n"}
    servers = [origin(script) for script in ([down, up], [up], [down] * 9)]
    policy = {"log": log, "log_events": "all", "backoff_base_ms": 1, "max_attempts": 3, "jitter": "none"}
    for server in servers:
        tenacurl_run([CURL, "-sS", "-o", "/dev/null", server.url("/x")], policy=policy, options=["--job", "nightly"])
    rows = {row["origin"]: row for row in json.loads(run("--json", log).stdout)["rows"]}
    assert len(rows) == 3
    once, good, failed = (rows[server.url("")] for server in servers)
    assert [row["sends"] for row in (once, good, failed)] == [len(server.requests) for server in servers] == [2, 1, 3]
    assert [row["attempts"] for row in (once, good, failed)] == [2, 1, 3]
    assert [row["intents"] for row in (once, good, failed)] == [1, 1, 1]
    assert (once["rescued"], good["at_once"], failed["failed"]) == (1, 1, 1)
    assert failed["stops"] == {"attempt_cap": 1}
    assert failed["waits"] == {"count": 2, "sum_ms": 3, "max_ms": 2}
    assert (once["recovery"]["count"], once["recovery"]["down"], failed["recovery"]["down"]) == (1, False, True)
    assert {row["job"] for row in rows.values()} == {"nightly"}


def test_of_a_real_audit_it_tells_what_would_have_been_added(origin, tenacurl_run, tmp_path):
    log = tmp_path / "log.jsonl"
    server = origin([{"status": 503}] * 9)
    result = tenacurl_run([CURL, "-sS", "-o", "/dev/null", server.url("/x"), "-o", "/dev/null", server.url("/y")],
                          policy={"log": log, "mode": "audit"})
    assert (result.returncode, len(server.requests)) == (0, 2)
    [row] = json.loads(run("--json", log).stdout)["rows"]
    assert (row["mode"], row["sends"], row["failed"]) == ("audit", 2, 2)
    assert row["audit"]["added_sends_min"] == row["audit"]["failed_retriable"] == 2
