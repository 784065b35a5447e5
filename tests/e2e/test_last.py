# SPDX-License-Identifier: MIT
"""`tenacurl last`: what happened to a job, with nothing configured beforehand."""

import json
import os
import re
import subprocess

import pytest

from support.records import lines_of, operation_of
from support.state import EVIDENCE, FAILURES, REASONS

CURL = "/usr/bin/curl"


def test_an_operation_is_told_in_sentences(state):
    state.write(state.flight(origin="https://api.example.org", section="payments", job="nightly",
                             run="0123456789abcdef", program="import.sh", pid=4711))
    assert state.text("last") == (
        "2023-11-14 22:13:20+00:00  import.sh[4711]  job nightly  GET https://api.example.org/v1/items [payments]\n"
        "  failed: the server answered with an error (503)\n"
        "  4 attempts in 7.5 s, 7.2 s of them waiting\n"
        "  max_attempts allows no further attempt. (attempt_cap)\n")


def test_one_that_got_no_answer_names_libcurls_code(state):
    state.write(state.flight(status=0, curl_code=7, failure="connect", attempts=1, sends=1, waited_ms=0,
                             elapsed_ms=30, reason="breaker_open"))
    lines = state.text("last").splitlines()
    assert lines[1] == "  failed: no connection could be made (CURLE_COULDNT_CONNECT)"
    assert lines[2] == "  1 attempt in 30 ms"


def test_one_that_was_retried_and_succeeded(state):
    state.write(state.flight(status=200, failure="none", reason="success", sends=6))
    assert state.text("last").splitlines()[1:] == [
        "  succeeded (200)", "  4 attempts in 7.5 s, 7.2 s of them waiting; 6 requests on the wire"]


@pytest.mark.parametrize("reason", REASONS)
def test_every_reason_has_a_sentence(state, reason):
    state.write(state.flight(reason=reason))
    told, = state.last()
    assert told["reason"] == reason
    assert told["text"].endswith(".") and "no words" not in told["text"]


@pytest.mark.parametrize("failure", FAILURES)
def test_every_failure_has_words(state, failure):
    state.write(state.flight(failure=failure))
    assert "no words" not in state.text("last")
    assert state.last()[0]["failure"] == failure


@pytest.mark.parametrize("evidence", [name for name in EVIDENCE if name != "none"])
def test_one_that_was_left_to_its_caller_says_why(state, evidence):
    state.write(state.flight(reason="nested", attempts=1, sends=1, waited_ms=0, evidence=evidence))
    told, = state.last()
    assert (told["owner"], told["evidence"]) == ("outer", evidence)
    line, = [line for line in state.text("last").splitlines() if line.startswith("  left to its caller: ")]
    assert len(line) > 30 and "no words" not in line


def test_one_that_was_ours_is_left_to_nobody(state):
    state.write(state.flight(reason="nested", attempts=0, sends=0, waited_ms=0))
    assert "left to its caller" not in state.text("last")


def test_json_has_everything(state):
    state.write(state.flight(job="nightly", run="0123456789abcdef", program="import.sh", pid=4711, curl_code=22))
    told, = state.last()
    told.pop("user")
    assert told == {
        "time": "2023-11-14T22:13:20.000000Z", "pid": 4711, "program": "import.sh", "job": "nightly",
        "run": "0123456789abcdef", "method": "GET", "origin": "http://o.example:80", "path": "/v1/items", "section": "policy", "succeeded": False,
        "reason": "attempt_cap", "text": "max_attempts allows no further attempt.",
        "owner": "us", "evidence": None, "failure": "status",
        "status": 503, "curl_code": 22, "curl": "CURLE_HTTP_RETURNED_ERROR", "attempts": 4, "sends": 4,
        "waited_ms": 7200, "elapsed_ms": 7500}
    state.write(state.flight(time_s=1700000001, status=0, method="-", path="-"))
    assert [state.last()[0][key] for key in ("job", "run", "status", "method", "path")] == [None] * 5


def test_the_newest_is_first(state):
    state.write(*(state.flight(pid=100 + i, time_s=1700000000 + i) for i in range(30)))
    assert [told["pid"] for told in state.last()] == list(range(129, 119, -1))
    assert [told["pid"] for told in state.last("-n", "2")] == [129, 128]
    assert len(state.last("-n", "1000")) == 30


def test_256_are_remembered(state):
    state.write(*(state.flight(pid=1 + i) for i in range(300)))
    assert [told["pid"] for told in state.last("-n", "1000")] == list(range(300, 44, -1))


@pytest.fixture
def three(state):
    state.write(state.flight(job="nightly", run="aaaa", program="sh", pid=11),
                state.flight(job="hourly", run="bbbb", program="sh", pid=12),
                state.flight(program="nightly", pid=13))
    return state


@pytest.mark.parametrize("arguments,pids", [
    (["--job", "nightly"], [13, 11]),
    (["--job", "hourly"], [12]),
    (["--job", "sh"], [12, 11]),
    (["--run", "bbbb"], [12]),
    (["--pid", "11"], [11]),
    (["--job", "nightly", "-n", "1"], [13]),
], ids=lambda value: " ".join(map(str, value)))
def test_one_job_can_be_asked_for(three, arguments, pids):
    assert [told["pid"] for told in three.last(*arguments)] == pids


@pytest.mark.parametrize("arguments", [["--job", "night"], ["--run", "cccc"], ["--pid", "99"]], ids=" ".join)
def test_nothing_found_is_1(three, arguments):
    done = three.tenacurl("last", *arguments)
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"nothing was recorded of that" in done.stderr
    done = three.tenacurl("last", "--json", *arguments)
    assert done.returncode == 1 and json.loads(done.stdout)["operations"] == []


def test_no_state_at_all_is_1(state):
    done = state.tenacurl("last")
    assert done.returncode == 1 and str(state.directory).encode() in done.stderr
    assert not state.directory.exists()


def test_a_name_that_was_cut_is_found(state):
    name = "a-very-long-name-" * 6
    state.write(state.flight(job=name))
    assert len(state.last("--job", name)) == 1


def test_what_programs_call_themselves_never_reaches_the_terminal_raw(state):
    state.write(state.flight(program="\x1b]0;title\x07", job="\x9b31m"))
    for text in (state.text("last"), state.text("last", "--json")):
        assert text.isascii() and all(character == "\n" or character >= " " for character in text)


@pytest.mark.parametrize("arguments", [
    ["--job"], ["--job", ""], ["--pid", "x"], ["--pid", "0"], ["--pid", "-1"], ["-n", "0"], ["-n", "1x"], ["extra"],
    ["--job", "a", "--pid", "1"], ["--run", "a", "--job", "b"], ["--unknown"],
], ids=" ".join)
def test_wrong_usage(state, arguments):
    done = state.tenacurl("last", *arguments)
    assert done.returncode == 2 and b"tenacurl last --help" in done.stderr


def test_a_full_disk_is_told(three):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([three.build / "tenacurl", "last"], stdout=full, stderr=subprocess.PIPE,
                              env={"TENACURL_STATE": str(three.directory)}, timeout=60)
    assert done.returncode == 1 and b"can't write" in done.stderr


@pytest.mark.parametrize("zone, told", [("UTC", "2023-11-14 22:13:20+00:00"), ("XXX-5:30", "2023-11-15 03:43:20+05:30"),
                                        ("YYY3", "2023-11-14 19:13:20-03:00")])
def test_m05_times_are_local_with_their_zone_for_people_and_utc_in_json(state, tmp_path, zone, told):
    state.write(state.flight())
    log = tmp_path / "log"
    log.write_text(lines_of(operation_of(1, 1, time="2023-11-14T22:13:20.000000Z")))
    env = {"TZ": zone}
    assert state.text("last", env=env).startswith(f"{told}  curl[1]")
    assert state.text("log", log, env=env).startswith(f"{told} curl[1]")
    assert state.text("report", log, env=env).startswith(f"1 record, {told} to {told}\n")
    assert json.loads(state.text("last", "--json", env=env))["operations"][0]["time"] == "2023-11-14T22:13:20.000000Z"
    report = json.loads(state.text("report", "--json", log, env=env))
    assert report["first"] == report["last"] == "2023-11-14T22:13:20.000000Z"


OTHERS = """
mount -t tmpfs none /dev/shm; mount -t tmpfs none /run
for user in $OTHERS; do mkdir -m 700 /dev/shm/tenacurl-$user; chown $user /dev/shm/tenacurl-$user; done
exec "$@"
"""


@pytest.mark.parametrize("others, told", [
    ("", b""), ("33", b"There are states of other users: www-data. `tenacurl last --all-users` reads them.\n"),
    ("54321 54322", b": 5432"), (" ".join(map(str, range(54321, 54333))), b" and 4 more. "),
])
def test_m05_nothing_recorded_names_whose_states_there_are(state, others, told):
    if os.geteuid() != 0 or subprocess.run(["unshare", "-m", "true"], capture_output=True).returncode != 0:
        pytest.skip("needs a mount namespace")
    for command in ("last", "stats"):
        done = state.runner.bare(["unshare", "-m", "sh", "-c", OTHERS, "sh", state.build / "tenacurl", command],
                                 env={"OTHERS": others, "TENACURL_STATE": ""})
        if command == "last":
            assert (done.returncode, done.stdout) == (1, b"")
            assert done.stderr.startswith(b"tenacurl last: nothing was recorded (in /dev/shm/tenacurl-0)\n")
        assert told in done.stderr
        assert others or b"other users" not in done.stderr


# What the object itself records, with nothing configured beforehand: no log, no policy.


def test_a_failed_job_is_explained(state, origin, tenacurl_run):
    server = origin([{"status": 503, "headers": [["Retry-After", "3600"]], "repeat": True}])
    done = tenacurl_run([CURL, "-sSf", server.url("/secret?token=x")], options=["--job", "nightly"],
                        env={"TENACURL_STATE": str(state.directory)})
    assert done.returncode == 22
    assert len(server.requests) == 1
    told, = state.last("--job", "nightly")
    assert (told["program"], told["origin"]) == ("curl", f"http://127.0.0.1:{server.port}")
    assert (told["reason"], told["status"], told["attempts"], told["sends"]) == ("retry_after_limit", 503, 1, 1)
    assert not told["succeeded"]
    assert state.last("--run", told["run"]) == state.last("--pid", str(told["pid"])) == [told]
    text = state.text("last", "--job", "nightly")
    assert "longer wait than retry_after_max_ms" in text
    assert f" GET http://127.0.0.1:{server.port}/secret [" in text and "token" not in text


def test_a_retried_success_is_remembered_and_a_plain_one_is_not(state, origin, tenacurl_run):
    server = origin([{"status": 503}, {"body": "good", "repeat": True}])
    policy = {"jitter": "none", "backoff_base_ms": 100}
    for _ in range(2):
        done = tenacurl_run([CURL, "-sSf", server.url()], policy, env={"TENACURL_STATE": str(state.directory)})
        assert done.returncode == 0
    assert len(server.requests) == 3
    told, = state.last()
    assert (told["succeeded"], told["attempts"], told["status"]) == (True, 2, 200)
    assert told["waited_ms"] >= 100


def test_m05_requests_to_one_origin_are_told_apart(state, origin, tenacurl_run):
    server = origin([{"status": 503, "headers": [["Retry-After", "3600"]], "repeat": True}])
    env = {"TENACURL_STATE": str(state.directory)}
    for i in range(20):
        tenacurl_run([CURL, "-s", "-X", "GET" if i % 2 else "DELETE", server.url(f"/items/{i}?key=x")], env=env)
    told = state.last("-n", "100")
    assert [(one["method"], one["path"]) for one in told] == [
        ("GET" if i % 2 else "DELETE", f"/items/{i}") for i in reversed(range(20))]
    assert f"DELETE http://127.0.0.1:{server.port}/items/18 [policy]" in state.text("last")


@pytest.mark.parametrize("log_url, told", [
    ("path", r"/token/~[0-9a-f]{8}/x"), ("origin", None), ("full-path", r"/token/S3CRET0123456789/x"),
    ("hash", r"/~[0-9a-f]{8}"),
])
def test_m05_a_path_is_told_as_the_log_tells_it(state, origin, tenacurl_run, log_url, told):
    server = origin([{"status": 503, "headers": [["Retry-After", "3600"]], "repeat": True}])
    tenacurl_run([CURL, "-s", server.url("/token/S3CRET0123456789/x?query#fragment")], {"log_url": log_url},
                 env={"TENACURL_STATE": str(state.directory)})
    path = state.last()[0]["path"]
    assert path is None if told is None else re.fullmatch(told, path)
    assert f" GET http://127.0.0.1:{server.port}{path or ''} [policy]" in state.text("last")


@pytest.mark.parametrize("way, job", [
    ("{script}", "import.sh"), ("sh {script}", "import.sh"), ("sh -e {script} more", "import.sh"),
    ("env A=1 {script}", "import.sh"), ("nice -n 1 sh {script}", "import.sh"), ("sh -c {script}", "sh"),
    ("/usr/bin/curl -s {url}", "curl"),
])
def test_m05_a_job_is_named_after_its_command(state, origin, tenacurl_run, tmp_path, way, job):
    server = origin([{"status": 503, "headers": [["Retry-After", "3600"]], "repeat": True}])
    script = tmp_path / "import.sh"
    script.write_text(f"#!/bin/sh\n{CURL} -s {server.url()}\nexit 0\n")
    script.chmod(0o755)
    env = {"TENACURL_STATE": str(state.directory)}
    command = way.format(script=script, url=server.url()).split()
    tenacurl_run(command, env=env)
    told, = state.last("--job", job)
    assert (told["job"], told["program"]) == (job, "curl")

    # Unless it is told otherwise, by an option or by a run around it.
    tenacurl_run(command, options=["--job", "nightly"], env=env)
    tenacurl_run(command, env={"TENACURL_JOB": "hourly", **env})
    assert [told["job"] for told in state.last()] == ["hourly", "nightly", job]


def test_l06_an_audit_of_a_healthy_job_is_an_empty_report(state, origin, tenacurl_run, tmp_path):
    server = origin([{"body": "good", "repeat": True}])
    log = tmp_path / "audit.jsonl"
    done = tenacurl_run([CURL, "-sSf", server.url()], options=["--mode", "audit", "--log", log])
    assert done.returncode == 0 and not log.exists()
    for command in ("report", "log"):
        done = state.tenacurl(command, log)
        assert done.returncode == 0
        assert done.stderr == f"tenacurl {command}: '{log}' isn't there: nothing was logged to it\n".encode()
    assert state.tenacurl("report", log).stdout == b"0 records\nNo operation was logged.\n"
    assert json.loads(state.tenacurl("report", "--json", log).stdout)["rows"] == []


def test_l06_an_audit_tells_what_would_have_been_waited(state, origin, tenacurl_run):
    server = origin([{"status": 503, "repeat": True}])
    tenacurl_run([CURL, "-s", server.url()], {"mode": "audit", "log": str(state.directory) + ".log"},
                 env={"TENACURL_STATE": str(state.directory)})
    told, = state.last()
    assert told["attempts"] == 1 and told["waited_ms"] > 0
    effort, = [line for line in state.text("last").splitlines() if "attempt in" in line]
    assert re.fullmatch(r"  1 attempt in [0-9.]+ m?s; would have waited [0-9.]+ m?s", effort)
