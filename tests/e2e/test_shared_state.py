# SPDX-License-Identifier: MIT
"""
What the processes of a user share about an origin: retry budget, circuit breaker, limit of operations between attempts,
counters and flight recorder; and that nothing of it is ever in a program's way.
"""

import json
import os
import re
import shutil
import stat
import subprocess
import tempfile
import time

import pytest
from support.state_file import LAYOUT_VERSION, StateFile
from support.system_calls import is_filtered
from support.transfers import further
from support.waiting import wait_until

OK = {"status": 200, "body": "fine"}
BUSY = {"status": 503, "body": "busy"}
MISSING = {"status": 404, "body": "no such thing"}
ALWAYS_OK, ALWAYS_BUSY = {**OK, "repeat": True}, {**BUSY, "repeat": True}
FAST = {"jitter": "none", "backoff_base_ms": 1, "backoff_cap_ms": 5, "retry_after_jitter_pct": 0}
NO_REFILL = {"budget_refill_per_s": 0, "budget_ratio": 0}
# Opens at the third failure.
BREAKER = {**FAST, "breaker_failures": 3, "breaker_outage_ms": 0}
NEVER_AGAIN_MS = 600_000


class Host:
    """Processes that share a state directory."""

    def __init__(self, runner, client, directory):
        self.runner, self.client, self.directory = runner, client, directory

    def start(self, url, *options, policy=None, **arguments):
        env = {"TENACURL_STATE": str(self.directory), **arguments.pop("env", {})}
        return self.runner.start([self.client, url, *options], {**FAST, **(policy or {})}, env=env, **arguments)

    def run(self, url, *options, policy=None, **arguments):
        return self.start(url, *options, policy=policy, **arguments).wait()

    @property
    def state(self):
        return StateFile(self.directory)


@pytest.fixture
def host(runner, build, tmp_path):
    """host.run(url, *options, policy=…) -> Result of tests/clients/transfer, in a process of its own."""
    return Host(runner, build / "tests/clients/transfer", tmp_path / "state")


def codes(result):
    return [int(code) for code in re.findall(rb"^result (\d+) ", result.stdout, re.M)]


def statuses(result):
    return [int(status) for status in re.findall(rb"^info response_code (\d+)$", result.stdout, re.M)]


def last_reason(result):
    return result.operations[-1]["reason"]


def notes(result):
    return [record["note"] for record in result.records if record["kind"] == "note"]


# The retry budget.


def test_budget_is_shared_by_processes(origin, host):
    server = origin([ALWAYS_BUSY])
    policy = {**NO_REFILL, "budget_tokens": 7, "max_attempts": 4}
    running = [host.start(server.url("/x"), policy=policy) for _ in range(10)]
    results = [process.wait() for process in running]
    assert len(server.requests) == 10 + 7
    reasons = [last_reason(result) for result in results]
    # Ten operations want three retries each.
    assert set(reasons) <= {"budget_empty", "attempt_cap"} and reasons.count("budget_empty") >= 8
    assert all((codes(result), statuses(result)) == ([0], [503]) for result in results)
    entry = host.state.entry
    assert (entry.origin, entry.section) == (server.url(""), "policy")
    assert (entry.operations, entry.succeeded, entry.attempts, entry.sends, entry.retries) == (10, 0, 17, 17, 7)
    assert entry.stops == {reason: reasons.count(reason) for reason in set(reasons)}
    assert entry.events["budget_empty"] == reasons.count("budget_empty")


@pytest.fixture
def threads(build, runner):
    """threads(url, policy, state) -> process of eight threads that begin their first transfer together, in a cold process."""

    def start(url, policy, state):
        command = [build / "tests/clients/threads", url, "threads=8", "get=1"]
        return runner.start(command, {**FAST, "log": "none", **policy}, env={"TENACURL_STATE": str(state)})

    return start


def test_d03_threads_that_begin_together_share_the_budget(origin, threads, tmp_path):
    """Each time: what opens the state first, and who comes while it does, is another one in each process."""
    server = origin([ALWAYS_BUSY])
    policy = {**NO_REFILL, "budget_tokens": 2, "breaker": "off"}
    counts = []
    for turn in range(30):
        before = len(server.requests)
        threads(server.url("/x"), policy, tmp_path / f"state{turn}").wait()
        counts.append(len(server.requests) - before)
    assert set(counts) == {10}


def test_d03_processes_of_threads_that_begin_together_share_the_budget(origin, threads, tmp_path):
    server = origin([ALWAYS_BUSY])
    policy = {**NO_REFILL, "budget_tokens": 2, "breaker": "off"}
    running = [threads(server.url("/x"), policy, tmp_path / "state") for _ in range(100)]
    for process in running:
        process.wait()
    assert len(server.requests) == 100 * 8 + 2


def test_d03_one_probe_of_threads_that_begin_together(origin, host, threads, tmp_path):
    """In processes that begin when a probe is due."""
    policy = {**BREAKER, "max_attempts": 1, "breaker_failures": 2, "breaker_action": "fail-fast", "breaker_open_ms": 5000,
              "breaker_probes": 1}
    server = origin([ALWAYS_BUSY])
    directories = [tmp_path / f"state{turn}" for turn in range(10)]
    for host.directory in directories:
        host.run(server.url("/x"), *further(server.url("/x"), 1), policy=policy)
    due = time.monotonic() + 5
    wait_until(lambda: time.monotonic() > due, "the probes to be due")
    counts = []
    for directory in directories:
        before = len(server.requests)
        threads(server.url("/x"), policy, directory).wait()
        counts.append(len(server.requests) - before)
    assert set(counts) == {1}


@pytest.mark.parametrize("earned", [True, False])
def test_success_earns_what_a_failure_does_not(origin, host, earned):
    server = origin({"paths": {"/retried": [BUSY, OK], "/between": [OK if earned else MISSING], "/last": [BUSY, OK]}})
    policy = {"budget_refill_per_s": 0, "budget_ratio": 0.5, "budget_tokens": 1}
    host.run(server.url("/retried"), policy=policy)
    host.run(server.url("/between"), policy=policy)
    result = host.run(server.url("/last"), policy=policy)
    # Both successes together earn a token.
    assert last_reason(result) == ("success" if earned else "budget_empty")


def test_d05_visitors_of_many_origins_leave_room(origin, host, runner):
    """A crawler has been to 5,000 origins; then eight processes meet one that fails."""
    server = origin({"paths": {"/page": [ALWAYS_OK], "/fails": [ALWAYS_BUSY]}})
    env = {"TENACURL_STATE": str(host.directory)}
    crawl = ["curl", "-s", "-o", "/dev/null", "--connect-to", f"::127.0.0.1:{server.port}", "http://h[1-5000].example/page"]
    assert runner.run(crawl, {**FAST, "log": "none"}, env=env).returncode == 0
    policy = {**NO_REFILL, "budget_tokens": 3, "max_attempts": 4, "breaker": "off"}
    running = [host.start(server.url("/fails"), policy=policy) for _ in range(8)]
    for process in running:
        process.wait()
    assert sum(request.target == "/fails" for request in server.requests) == 8 + 3
    (entry,) = [entry for entry in host.state.entries if entry.origin == server.url("")]
    assert (entry.operations, entry.succeeded, entry.retries) == (8, 0, 3)
    metrics = subprocess.run([runner.tenacurl, "stats", "--prometheus", "--state", host.directory], check=True,
                             capture_output=True, text=True).stdout
    assert f'tenacurl_operations_total{{origin="{server.url("")}"' in metrics
    # As many as there are places: no more series, whatever is visited.
    assert metrics.count("tenacurl_breaker_state{") == 512
    assert re.search(r"^tenacurl_origins_dropped_total (\d+)$", metrics, re.M)[1] == str(5001 - 512)


def test_many_processes_that_always_fail_send_hardly_more(origin, host):
    processes, operations, tokens = 64, 40, 20
    server = origin([ALWAYS_BUSY])
    url = server.url("/x")
    policy = {"budget_tokens": tokens, "max_attempts": 4, "breaker": "off", "log_events": "retries", "log": "none"}
    running = [host.start(url, *further(url, operations - 1), policy=policy) for _ in range(processes)]
    assert all(process.wait().returncode == 0 for process in running)
    total = processes * operations
    retries = len(server.requests) - total
    assert tokens <= retries <= tokens + 0.03 * total
    entry = host.state.entry
    assert (entry.operations, entry.attempts, entry.retries) == (total, total + retries, retries)


def test_audit_takes_nothing_from_others(origin, host):
    """But decides as if it acted."""
    server = origin([BUSY, BUSY, BUSY, OK])
    url = server.url("/x")
    policy = {**NO_REFILL, "budget_tokens": 1}
    audited = host.run(url, *further(url, 1), policy={**policy, "mode": "audit"})
    assert audited.reasons == ["transient_failure", "budget_empty"]
    assert host.run(url, policy=policy).reasons == ["transient_failure", "success"]
    sections = {entry.section: entry for entry in host.state.entries}
    assert sections["policy"].stops == {"success": 1}
    assert sections["policy (audit)"].stops == {"transient_failure": 1, "budget_empty": 1}
    assert sections["policy (audit)"].retries == 0


# The circuit breaker.


def test_no_retries_while_it_is_open(origin, host):
    server = origin([ALWAYS_BUSY])
    policy = {**BREAKER, "max_attempts": 2, "breaker_open_ms": NEVER_AGAIN_MS}
    results = [host.run(server.url("/x"), policy=policy) for _ in range(4)]
    # Attempts are what is counted: the third one belongs to the second operation.
    assert [result.reasons for result in results] == [
        ["transient_failure", "attempt_cap"],
        ["breaker_open"],
        ["breaker_open"],
        ["breaker_open"],
    ]
    assert len(server.requests) == 5
    assert host.state.entry.events == {"breaker_opened": 1, "exhausted": 1}


@pytest.mark.parametrize("answer", [OK, MISSING, {"status": 429}], ids=lambda step: str(step["status"]))
def test_an_answer_closes_it(origin, host, answer):
    server = origin({"paths": {"/fails": [ALWAYS_BUSY], "/answers": [answer], "/later": [BUSY, OK]}})
    policy = {**BREAKER, "max_attempts": 1, "breaker_open_ms": NEVER_AGAIN_MS}
    for _ in range(3):
        host.run(server.url("/fails"), policy=policy)
    policy["max_attempts"] = 2
    assert last_reason(host.run(server.url("/fails"), policy=policy)) == "breaker_open"
    host.run(server.url("/answers"), "postfields=never-repeated", policy=policy)
    assert host.run(server.url("/later"), policy=policy).reasons == ["transient_failure", "success"]


FAIL_FAST = {**BREAKER, "breaker_action": "fail-fast", "max_attempts": 1}


def open_breaker(host, server, policy, path="/fails"):
    for _ in range(3):
        assert statuses(host.run(server.url(path), policy=policy)) == [503]


def test_fail_fast_fails_as_promised(origin, host):
    server = origin({"paths": {"/fails": [ALWAYS_BUSY], "/x": [ALWAYS_OK]}})
    policy = {**FAIL_FAST, "breaker_open_ms": NEVER_AGAIN_MS}
    open_breaker(host, server, policy)
    before = len(server.connections)
    result = host.run(server.url("/x"), policy=policy)
    assert len(server.requests) == 3 and len(server.connections) == before
    assert re.search(rb"^result 7 tenacurl: the circuit breaker is open", result.stdout, re.M), result
    assert statuses(result) == [0]
    assert not re.search(rb"^(header|write) ", result.stdout, re.M)
    operation = result.operation
    assert (operation["reason"], operation["attempts"], operation["sends"]) == ("breaker_open", 0, 0)
    assert host.state.entry.events == {"breaker_opened": 1, "refused": 1}


def test_refusal_leaves_the_handle_as_it_was(origin, host):
    """Nothing of an earlier transfer is told, and the next request of the same handle is made."""
    servers = [origin([ALWAYS_BUSY]), origin([ALWAYS_OK])]
    policy = {**FAIL_FAST, "breaker_open_ms": NEVER_AGAIN_MS}
    open_breaker(host, servers[0], policy, "/x")
    urls = [f"url={servers[i].url('/y')}" for i in (0, 1)]
    result = host.run(servers[1].url("/x"), "--", urls[0], "--", urls[1], policy=policy)
    assert (codes(result), statuses(result)) == ([0, 7, 0], [200, 0, 200])
    assert [len(server.requests) for server in servers] == [3, 2]


def test_fail_fast_in_audit_mode_only_notes(origin, host):
    server = origin({"paths": {"/fails": [ALWAYS_BUSY], "/x": [ALWAYS_OK]}})
    policy = {**FAIL_FAST, "breaker_open_ms": NEVER_AGAIN_MS, "mode": "audit"}
    open_breaker(host, server, policy)
    result = host.run(server.url("/x"), policy=policy)
    assert (codes(result), statuses(result)) == ([0], [200])
    assert result.operation["reason"] == "breaker_open"


@pytest.mark.parametrize("action", ["no-retry", "fail-fast"])
def test_rc_35_probe_that_gets_a_404(origin, host, action):
    """RC-35: the breaker closes, whatever kind of answer the probe gets."""
    server = origin({"paths": {"/fails": [ALWAYS_BUSY], "/probe": [MISSING, ALWAYS_OK], "/x": [ALWAYS_OK]}})
    policy = {**FAIL_FAST, "breaker_action": action, "breaker_open_ms": 500}
    open_breaker(host, server, policy)
    refused = host.run(server.url("/fails"), policy={**policy, "breaker_open_ms": NEVER_AGAIN_MS})
    assert codes(refused) == [7 if action == "fail-fast" else 0]

    def probe():
        result = host.run(server.url("/probe"), policy=policy)
        return result if statuses(result) != [0] else None

    assert statuses(wait_until(probe, "probe")) == [404]
    closed = host.run(server.url("/x"), policy={**policy, "breaker_open_ms": NEVER_AGAIN_MS})
    assert statuses(closed) == [200]


def test_probe_that_fails_opens_it_anew(origin, host):
    server = origin([ALWAYS_BUSY])
    policy = {**FAIL_FAST, "breaker_open_ms": 300}
    open_breaker(host, server, policy)
    wait_until(lambda: statuses(host.run(server.url("/x"), policy=policy)) == [503], "probe")
    again = host.run(server.url("/x"), policy={**policy, "breaker_open_ms": NEVER_AGAIN_MS})
    assert codes(again) == [7]
    assert host.state.entry.events["breaker_opened"] == 1


@pytest.mark.parametrize("end", ["killed", "jumped"])
def test_place_of_a_prober_that_is_gone(origin, host, end):
    """RC-35: killed in the middle, or left by longjmp: the next round has a place of its own."""
    lists = {"/fails": [ALWAYS_BUSY], "/hangs": [{"fault": "silence"}], "/x": [ALWAYS_OK]}
    server = origin({"paths": lists})
    open_ms = 1500
    policy = {**FAIL_FAST, "breaker_open_ms": open_ms}
    open_breaker(host, server, policy)

    def probe():
        """A process that waits for the answer, once it was let through."""
        prober = host.start(server.url("/hangs"), policy=policy)
        wait_until(lambda: prober.process.poll() is not None or len(server.requests) > 3, "prober to be let through")
        if len(server.requests) > 3:
            return prober
        prober.wait()
        return None

    def probe_and_jump():
        """A program that leaves its probe, and goes on."""
        host.run(server.url("/fails"), "jump_header=HTTP", "--", "url=" + server.url("/x"), policy=policy)
        return len(server.requests) > 3

    if end == "jumped":
        wait_until(probe_and_jump, "prober")
    else:
        prober = wait_until(probe, "prober")
        prober.process.kill()
        prober.process.communicate()
        # Its place is taken until the round is over, which it may be by now on a busy machine.
        let_through_us = server.requests[3].first_byte_us
        result = host.run(server.url("/x"), policy=policy)
        assert codes(result) == [7] or time.monotonic_ns() // 1000 - let_through_us >= open_ms * 1000
    assert wait_until(lambda: statuses(host.run(server.url("/x"), policy=policy)) == [200], "another probe")


def test_two_sections_of_an_origin(origin, host):
    server = origin([ALWAYS_BUSY])
    where = f"127.0.0.1:{server.port}"
    policy = {
        "policy": {**BREAKER, "max_attempts": 2, "breaker_open_ms": NEVER_AGAIN_MS},
        "upstream slow": {"match": f"{where}/slow/*"},
        "upstream quick": {"match": f"{where}/quick/*"},
    }

    def reasons(path):
        env = {"TENACURL_STATE": str(host.directory)}
        return host.runner.run([host.client, server.url(path)], policy, env=env).reasons

    assert reasons("/slow/1") == ["transient_failure", "attempt_cap"]
    assert reasons("/slow/2") == ["breaker_open"]
    assert reasons("/quick/1") == ["transient_failure", "attempt_cap"]
    assert {entry.section for entry in host.state.entries} == {"slow", "quick"}


def test_job_of_many_calls_to_a_dead_origin(origin, host):
    calls = 200
    server = origin([ALWAYS_BUSY])
    url = server.url("/x")
    policy = {"jitter": "none", "backoff_base_ms": 20, "budget_tokens": 0, "max_attempts": 3}
    policy |= {"breaker_failures": 5, "breaker_outage_ms": 200, "breaker_open_ms": NEVER_AGAIN_MS}
    result = host.run(url, *further(url, calls - 1), policy=policy)
    attempts = [operation["attempts"] for operation in result.operations]
    opened = result.reasons.index("breaker_open")
    # Once the outage was longer than what could be waited out, each call makes its one request.
    before = [record["operation"] for record in result.attempts[: opened + 1]][-1]
    assert before < calls / 2
    assert attempts[before:] == [1] * (calls - before)
    assert {record["reason"] for record in result.operations[before:]} == {"breaker_open"}
    assert len(server.requests) == sum(attempts) < calls + 2 * before + 1


def test_m07_parallel_workers_survive_an_outage(origin, host):
    server = origin([ALWAYS_OK], refuse_ms=3000)
    policy = {"backoff_base_ms": 1000, "backoff_cap_ms": 10000}
    running = [host.start(server.url("/x"), policy=policy) for _ in range(20)]
    results = [process.wait() for process in running]
    assert [codes(result) for result in results] == [[0]] * 20
    assert len(server.requests) == 20
    assert "breaker_opened" not in host.state.entry.events


def test_failure_rate(origin, host):
    server = origin([OK, OK, BUSY, BUSY, BUSY, OK])
    url = server.url("/x")
    policy = {**FAST, "max_attempts": 2, "breaker_failures": 1000, "breaker_open_ms": NEVER_AGAIN_MS}
    policy |= {"breaker_failure_pct": 60, "breaker_min_attempts": 5, "breaker_window_ms": NEVER_AGAIN_MS}
    assert host.run(url, *further(url, 1), policy=policy).reasons == ["success"] * 2
    # The fifth attempt makes it three of five.
    assert host.run(url, policy=policy).reasons == ["transient_failure", "attempt_cap"]
    assert host.run(url, policy=policy).reasons == ["breaker_open"]


# Operations between attempts.


def test_max_retrying_over_processes(origin, host):
    asks = {**BUSY, "headers": [["Retry-After", "2"]]}
    server = origin({"paths": {"/first": [asks, OK], "/second": [BUSY, OK], "/third": [BUSY, OK]}})
    policy = {"max_retrying": 1}
    first = host.start(server.url("/first"), policy=policy)
    wait_until(lambda: first.records, "first process to wait")
    second = host.run(server.url("/second"), policy=policy)
    assert second.reasons == ["retry_concurrency"] and statuses(second) == [503]
    assert first.wait().reasons == ["transient_failure", "success"]
    # The place was given back, long before it would have ended by itself.
    assert host.run(server.url("/third"), policy=policy).reasons == ["transient_failure", "success"]


@pytest.mark.parametrize("how", ["abort", "final_body"])
def test_place_is_given_back_when_the_retry_is_not_made(origin, host, how):
    asks = {"status": 503, "headers": [["Retry-After", "20"]], "body": "out of quota"}
    server = origin({"paths": {"/first": [asks], "/second": [BUSY, OK]}})
    policy = {"max_retrying": 1, **({"final_body": "quota"} if how == "final_body" else {})}
    options = ["progress=new", "abort_progress_after_ms=200"] if how == "abort" else []
    first = host.run(server.url("/first"), *options, policy=policy)
    assert codes(first) == [42 if how == "abort" else 0]
    assert host.run(server.url("/second"), policy=policy).reasons == ["transient_failure", "success"]


def test_place_of_a_waiting_process_that_is_killed(origin, host):
    """It ends with the wait that it was for."""
    asks = {**BUSY, "headers": [["Retry-After", "1"]]}
    server = origin({"paths": {"/first": [asks], "/x": [ALWAYS_BUSY]}})
    policy = {"max_retrying": 1, "max_attempts": 2}
    first = host.start(server.url("/first"), policy=policy)
    wait_until(lambda: first.records, "first process to wait")
    first.process.kill()
    first.process.communicate()
    wait_until(lambda: last_reason(host.run(server.url("/x"), policy=policy)) == "attempt_cap", "free place")


# Forks.


def run_forks(origin, host, build, fork, policy, count=6):
    lists = {f"/child/{i}": [BUSY, {"body": str(i)}] for i in range(count)}
    lists["/parent"] = [{**BUSY, "headers": [["Retry-After", "1"]]}, {"body": "parent"}]
    server = origin({"paths": lists})
    host.client = build / "tests/clients/forks"
    result = host.runner.run(
        [host.client, "waiting", fork, server.url(""), str(count)],
        {**FAST, **policy},
        env={"TENACURL_STATE": str(host.directory)},
    )
    if result.stdout == b"no _Fork\n":
        pytest.skip("this C library has no _Fork")
    lines = sorted(result.stdout.decode().split("\n")[:-1])
    assert len(lines) == count + 1 and lines[-1] == "parent result 0 status 200 body parent"
    return [line.split()[4] for line in lines[:-1]]


@pytest.mark.parametrize("fork", ["fork", "_Fork"])
@pytest.mark.parametrize("key,value", [("budget_tokens", 1), ("max_retrying", 1)])
def test_rc_39_child_begins_anew_with_state_of_the_process(origin, host, build, fork, key, value):
    """RC-39: its parent's retry, which is just being waited for, has taken all there is."""
    policy = {**NO_REFILL, "state": "process", key: value}
    assert run_forks(origin, host, build, fork, policy) == ["200"] * 6
    assert not host.directory.exists()


@pytest.mark.parametrize("fork", ["fork", "_Fork"])
def test_rc_39_child_shares_the_budget_of_the_user(origin, host, build, fork):
    policy = {**NO_REFILL, "budget_tokens": 4}
    # The parent has taken one.
    assert sorted(run_forks(origin, host, build, fork, policy)) == ["200"] * 3 + ["503"] * 3
    assert host.state.entry.retries == 4


@pytest.mark.parametrize("fork", ["fork", "_Fork"])
def test_rc_39_child_leaves_the_place_of_its_parent_alone(origin, host, build, fork):
    assert run_forks(origin, host, build, fork, {"max_retrying": 1}) == ["503"] * 6


# Where it is.


def test_place_of_the_state(origin, host, tmp_path):
    """TENACURL_STATE, before what the policy says."""
    server = origin([BUSY, OK])
    other = tmp_path / "other"
    host.run(server.url("/x"), policy={"state_dir": other})
    (file,) = host.directory.iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600 and stat.S_IMODE(host.directory.stat().st_mode) == 0o700
    assert not other.exists()
    assert host.run(server.url("/x"), policy={"state_dir": other}, env={"TENACURL_STATE": ""}).returncode == 0
    assert StateFile(other).entry.operations == 1


@pytest.mark.parametrize("state,tokens", [("process", 1), ("none", 3)])
def test_state_of_a_process_alone(origin, host, state, tokens):
    """With none there is no budget, no breaker, no limit."""
    server = origin([ALWAYS_BUSY])
    policy = {"state": state, **NO_REFILL, "budget_tokens": 1, "max_attempts": 4}
    results = [host.run(server.url("/x"), policy=policy) for _ in range(2)]
    assert len(server.requests) == 2 * (1 + tokens)
    assert [last_reason(result) for result in results] == [
        "budget_empty" if state == "process" else "attempt_cap"
    ] * 2
    assert not host.directory.exists()


def test_none_has_no_breaker(origin, host):
    server = origin([ALWAYS_BUSY])
    policy = {**FAIL_FAST, "state": "none", "breaker_open_ms": NEVER_AGAIN_MS, "max_retrying": 1}
    results = [host.run(server.url("/x"), policy=policy) for _ in range(5)]
    assert [statuses(result) for result in results] == [[503]] * 5


def test_names_of_an_origin(origin, host):
    """However it is spelt, and without its secrets."""
    server = origin([ALWAYS_OK])
    port = server.port
    spellings = [f"http://user:S3CRET@127.0.0.1:{port}/a?T0KEN#f", f"HTTP://127.0.0.1:{port}", f"127.0.0.1:{port}/b"]
    host.run(spellings[0], "--", "url=" + spellings[1], "--", "url=" + spellings[2])
    state = host.state
    assert (state.entry.origin, state.entry.operations, state.entry.plain) == (f"http://127.0.0.1:{port}", 3, 3)
    assert b"S3CRET" not in state.data and b"T0KEN" not in state.data


def test_d04_file_that_lost_its_name_is_opened_again(origin, host):
    """As at the end of a session, while the program waits."""
    server = origin([BUSY, OK])
    process = host.start(server.url("/x"), policy={"backoff_base_ms": 2000, "backoff_cap_ms": 2000})
    wait_until(lambda: server.requests and server.requests[0].answer, "the first attempt")
    shutil.rmtree(host.directory)
    assert process.wait().reasons == ["transient_failure", "success"]
    assert (host.state.entry.operations, host.state.entry.retries) == (1, 1)
    (flight,) = host.state.flights
    assert flight.attempts == 2


def running(host):
    done = subprocess.run([host.runner.tenacurl, "last", "--running", "--json", "--state", host.directory],
                          capture_output=True, text=True)
    return json.loads(done.stdout)["running"]


def said_of_running(host, command):
    words = [host.runner.tenacurl, *command, "--state", host.directory]
    return subprocess.run(words, capture_output=True, text=True).stdout


def test_d06_what_is_under_way_can_be_seen(origin, host):
    """While it waits, while it makes another attempt, and what died in a wait; not what is over."""
    server = origin({"paths": {"/waits/v1": [ALWAYS_BUSY], "/hangs": [BUSY, {"fault": "silence"}], "/over": [BUSY, OK]}})
    long_wait = {"backoff_base_ms": 60_000, "backoff_cap_ms": 60_000, "retry_max_time_ms": 600_000, "deadline_ms": 0}
    host.run(server.url("/over"))
    waiting = host.start(server.url("/waits/v1?key=S3CRET"), policy=long_wait, env={"TENACURL_JOB": "nightly"})
    (seen,) = wait_until(lambda: host.directory.exists() and running(host), "the wait to be seen")
    assert (seen["phase"], seen["died"], seen["attempts"], seen["status"]) == ("waiting", False, 1, 503)
    assert (seen["method"], seen["origin"], seen["path"]) == ("GET", server.url(""), "/waits/v1")
    assert (seen["job"], seen["pid"], seen["failure"]) == ("nightly", waiting.process.pid, "status")
    assert "waits until" in (text := said_of_running(host, ["last", "--running"])) and "S3CRET" not in text
    assert "1 under way, 0 ended" in said_of_running(host, ["stats"])
    assert "nightly" in said_of_running(host, ["last", "--running", "--job", "nightly"])
    assert said_of_running(host, ["last", "--running", "--job", "daily"]) == ""

    waiting.process.kill()
    waiting.process.wait()
    (seen,) = running(host)
    assert (seen["phase"], seen["died"]) == ("waiting", True)
    assert "its process ended in the wait for attempt 2" in said_of_running(host, ["last", "--running"])
    assert "0 under way, 1 ended" in said_of_running(host, ["stats"])
    assert "0 under way, 1 ended" in said_of_running(host, ["last"])
    told = subprocess.run([host.runner.tenacurl, "last", "--job", "nightly", "--state", host.directory], capture_output=True,
                          text=True)
    assert (told.returncode, told.stdout) == (1, "") and "0 under way, 1 ended" in told.stderr
    assert "under way" not in said_of_running(host, ["last", "--job", "curl", "--json"])

    hanging = host.start(server.url("/hangs"))
    wait_until(lambda: any(one["phase"] == "performing" for one in running(host)), "the attempt to be seen")
    assert "makes attempt 2" in said_of_running(host, ["last", "--running"])
    hanging.process.kill()
    hanging.process.wait()


IN_COMMON = """
set -eu
mount -t tmpfs -o mode=755 none /run; mount -t tmpfs -o mode=1777 none /dev/shm
mkdir -m 755 /run/tenacurl; mkdir -m 1777 /run/tenacurl/state; chmod 1777 /run/tenacurl/state
eval "$PREPARE"
as_user() { setpriv --reuid 54321 --regid 54321 --clear-groups "$@"; }
printf 'success 3 http://a:80 policy 1\n' | as_user "$WRITE" ""
find /run /dev/shm -name 'state-*' >&2
as_user "$TENACURL" stats
"$TENACURL" stats --all-users
"""


@pytest.fixture
def in_common(build, runner, tmp_path):
    """in_common(preparation) -> Result of what uses the usual places of another user, in a mount namespace of its own."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root")
    if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/run"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    with tempfile.TemporaryDirectory(dir="/tmp") as directory:
        os.chmod(directory, 0o755)
        for program in ("tests/soak/write_state", "tenacurl"):
            shutil.copy(build / program, directory)
        env = {"WRITE": f"{directory}/write_state", "TENACURL": f"{directory}/tenacurl"}
        yield lambda preparation: runner.bare(["env", "-u", "TENACURL_STATE", "unshare", "-m", "sh", "-c", IN_COMMON],
                                              env={**env, "PREPARE": preparation})


@pytest.mark.parametrize(
    "preparation, place",
    [
        (":", "/run/tenacurl/state/54321/"),
        ("mkdir -m 700 /run/tenacurl/54321; chown 54321 /run/tenacurl/54321", "/run/tenacurl/54321/"),
        ("mount -o remount,ro /run", "/dev/shm/tenacurl-54321/"),
        ("rmdir /run/tenacurl/state", "/dev/shm/tenacurl-54321/"),
        ("chmod 0777 /run/tenacurl/state", "/dev/shm/tenacurl-54321/"),
        ("chown 54322 /run/tenacurl/state", "/dev/shm/tenacurl-54321/"),
        ("mkdir -m 700 /run/tenacurl/state/54321; chown 54322 /run/tenacurl/state/54321", "/dev/shm/tenacurl-54321/"),
        ("ln -s /dev/shm /run/tenacurl/state/54321", "/dev/shm/tenacurl-54321/"),
    ],
)
def test_d04_place_that_outlives_sessions(in_common, preparation, place):
    result = in_common(preparation)
    assert result.returncode == 0, result
    assert place.encode() + b"state-" in result.stderr
    assert result.stdout.count(b"http://a:80") == 2


def test_d04_somebody_elses_folder_is_told(in_common):
    """To who looks for a state where there is none."""
    result = in_common('mkdir -m 700 /run/tenacurl/state/54321; chown 54322 /run/tenacurl/state/54321; WRITE=true')
    assert b"/run/tenacurl/state/54321: another user made the directory of this user's number" in result.stderr


def survives(host, server, complaint):
    """A retry is made, the program succeeds, and one line says what is wrong."""
    result = host.run(server.url("/x"), *further(server.url("/x"), 1))
    assert (result.returncode, codes(result), statuses(result)) == (0, [0, 0], [200, 200])
    assert result.reasons == ["transient_failure", "success"] * 2
    (note,) = notes(result)
    assert complaint in note, note


@pytest.mark.parametrize("what", ["garbage", "short", "readable", "symlink", "fifo"])
def test_file_that_is_not_trusted_is_replaced(origin, host, what, tmp_path):
    server = origin([BUSY, OK] * 3)
    host.run(server.url("/x"))
    (file,) = host.directory.iterdir()
    victim = tmp_path / "victim"
    victim.write_bytes(os.urandom(file.stat().st_size))
    victim.chmod(0o600)
    kept = victim.read_bytes()
    if what == "garbage":
        file.write_bytes(kept)
    elif what == "short":
        file.write_bytes(b"x" * 100)
    elif what == "readable":
        file.chmod(0o644)
    else:
        file.unlink()
        os.symlink(victim, file) if what == "symlink" else os.mkfifo(file, 0o600)
    survives(host, server, "replaced by a fresh one")
    assert host.state.entry.operations == 2
    assert victim.read_bytes() == kept


def make_world_writable(directory, tmp_path):
    directory.mkdir()
    directory.chmod(0o777)


def make_file(directory, tmp_path):
    directory.write_text("in the way")


def make_link(directory, tmp_path):
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    directory.symlink_to(tmp_path / "elsewhere")


def make_occupied(directory, tmp_path):
    """A directory in the place of the file, which can't be removed."""
    directory.mkdir(mode=0o700)
    boot_id = open("/proc/sys/kernel/random/boot_id").read().strip()
    (directory / f"state-{LAYOUT_VERSION}-{boot_id}" / "in").mkdir(parents=True)


@pytest.mark.parametrize("make", [make_world_writable, make_file, make_link, make_occupied])
def test_place_that_is_not_trusted(origin, host, make, tmp_path):
    make(host.directory, tmp_path)
    survives(host, origin([BUSY, OK] * 2), "shares no retry budget")
    assert not (tmp_path / "elsewhere").exists() or not list((tmp_path / "elsewhere").iterdir())


def test_place_that_does_not_exist(origin, host):
    host.directory = host.directory / "below" / "nothing"
    survives(host, origin([BUSY, OK] * 2), "can't open the state directory (errno 2)")


def in_mount_namespace(host, prepare):
    """Every program of the host runs after `prepare`, a shell command, in a mount namespace of its own."""
    host.directory.mkdir(mode=0o700)
    client = host.client
    script = host.directory.parent / "in_namespace"
    script.write_text(f'#!/bin/sh\n{prepare} && exec {client} "$@"\n')
    script.chmod(0o755)
    if subprocess.run(["unshare", "-m", "sh", "-c", prepare], capture_output=True, check=False).returncode != 0:
        pytest.skip("this user can't mount here")
    start = host.runner.start

    def start_in_namespace(argv, policy, **arguments):
        return start(["unshare", "-m", script, *argv[1:]], policy, **arguments)

    host.runner.start = start_in_namespace


def test_file_system_that_is_full(origin, host):
    in_mount_namespace(host, f"mount -t tmpfs -o size=64k,mode=700 tmpfs {host.directory}")
    survives(host, origin([BUSY, OK] * 2), "can't make the state file (errno 28)")


def test_file_system_that_is_read_only(origin, host):
    place = host.directory
    in_mount_namespace(host, f"mount -t tmpfs -o mode=700 tmpfs {place} && mount -o remount,ro tmpfs {place}")
    survives(host, origin([BUSY, OK] * 2), "can't make the state file (errno 30)")


def test_trouble_goes_nowhere_but_to_the_log(origin, host, bare):
    """Without a log nothing is printed."""
    servers = [origin([OK]) for _ in range(2)]
    host.directory.write_text("in the way")
    result = host.run(servers[0].url("/x"), policy={"log": "none"})
    expected = bare([host.client, servers[1].url("/x")])
    assert result.stdout == expected.stdout
    assert re.sub(rb"\d+", b"N", result.stderr) == re.sub(rb"\d+", b"N", expected.stderr)


# Counters and flights.


def test_counters(origin, host):
    lists = {"/fine": [ALWAYS_OK], "/late": [BUSY, BUSY, OK], "/missing": [MISSING], "/busy": [ALWAYS_BUSY]}
    server = origin({"paths": lists})
    paths = ["/fine", "/fine", "/late", "/missing", "/busy"]
    options = [word for path in paths[1:] for word in ("--", "url=" + server.url(path))]
    host.run(server.url(paths[0]), *options, policy={"max_attempts": 3})
    entry = host.state.entry
    assert (entry.operations, entry.plain, entry.succeeded) == (5, 2, 3)
    assert entry.attempts == entry.sends == len(server.requests) == 2 + 3 + 1 + 3
    assert entry.retries == 4
    assert entry.stops == {"success": 1, "terminal_error": 1, "attempt_cap": 1}
    assert entry.events == {"exhausted": 1}


def test_flights(origin, host):
    """What was retried, stopped or failed, with who it was."""
    lists = {"/fine": [ALWAYS_OK], "/late": [BUSY, OK], "/missing": [MISSING], "/busy": [ALWAYS_BUSY]}
    server = origin({"paths": lists})
    paths = ["/fine", "/late", "/missing", "/busy"]
    options = [word for path in paths[1:] for word in ("--", "url=" + server.url(path))]
    process = host.start(server.url(paths[0]), *options, policy={"max_attempts": 2}, options=["--job", "nightly"])
    result = process.wait()
    flights = host.state.flights
    seen = [(flight.reason, flight.attempts, flight.sends, flight.status, flight.curl_code) for flight in flights]
    assert seen == [("success", 2, 2, 200, 0), ("terminal_error", 1, 1, 404, 0), ("attempt_cap", 2, 2, 503, 0)]
    for flight in flights:
        assert (flight.job, flight.program, flight.section) == ("nightly", "transfer", "policy")
        assert flight.origin == server.url("")
        assert flight.run == result.operations[0]["run"] != ""
        assert flight.pid == result.operations[0]["pid"]


def test_flight_of_a_child_has_its_own_pid(origin, host, build):
    run_forks(origin, host, build, "fork", {}, count=3)
    assert len({flight.pid for flight in host.state.flights}) == 4


def test_no_system_call_for_an_operation(origin, build, runner, tmp_path):
    """All of it happens in mapped memory."""
    if not os.path.exists("/usr/bin/strace"):
        pytest.skip("strace is not installed")
    server = origin([{**ALWAYS_OK, "delay_ms": 1}])

    def calls(gets, preload):
        out = tmp_path / "strace.out"
        options = ["--env=LD_PRELOAD=" + str(build / "libtenacurl.so")] if preload else []
        argv = ["/usr/bin/strace", "-c", "-U", "calls,name", "-e", "trace=%file,%desc,%memory,%process,getpid"]
        argv += ["-o", out, *options, build / "tests/clients/keepalive", server.url(), str(gets)]
        result = runner.bare(argv, env={"TENACURL_STATE": str(tmp_path / "state")})
        assert result.returncode == 0, result
        counted = re.findall(r"^\s*(\d+)\s+(\w+)$", out.read_text(), re.M)
        # Of these the kernel decides how many: a look at the socket too early, for one.
        chance = {"poll", "total", "recvfrom", "sendto", "read", "write"}
        if is_filtered():
            chance.add("getpid")
        return sum(int(count) for count, name in counted if name not in chance)

    # Once a second it looks at the policy file and the kill switch, with a few calls.
    extra = (calls(120, True) - calls(20, True)) - (calls(120, False) - calls(20, False))
    assert extra < 50
