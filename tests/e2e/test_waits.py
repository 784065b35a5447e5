# SPDX-License-Identifier: MIT
"""
Waits are as long as the clock says, and end when there is a reason: in sandboxes that refuse to let a program sleep, and
when tenacurl is switched off meanwhile. What ends a wait early delivers the failure that it followed, whole.
"""

import os
import time

import pytest
from support.seen import seen
from support.waiting import wait_until

OK = {"status": 200, "body": "hello world"}
BUSY = {"status": 503, "headers": [["X-Busy", "yes"]], "body": "come back later"}
ASKS = {**BUSY, "headers": [["X-Busy", "yes"], ["Retry-After-Ms", "400"]]}
ASKED_MS = 400
ASKS_20_S = {**BUSY, "headers": [["X-Busy", "yes"], ["Retry-After", "20"]]}
EXACT = {"retry_after_headers": "Retry-After, Retry-After-Ms", "retry_after_jitter_pct": 0, "backoff_base_ms": 1}
# Every call that could put this process to sleep, but for those that libcurl waits for its sockets with.
SLEEPS = ["clock_nanosleep", "nanosleep", "empty-poll", "empty-ppoll", "empty-pselect"]
NO_SECCOMP = 77
# Each 250 ms at least, and some by libcurl itself.
CALLBACKS_MAX = 100


def progress_calls(result):
    return result.stdout.count(b"progress ")


def saw(result, server):
    return [line for line in seen(result, server.port) if not line.startswith("progress ")]


def told(result):
    """The notes in the log."""
    return [record["note"] for record in result.records if record["kind"] == "note"]


@pytest.fixture
def confined(build, tenacurl_run):
    """confined(errno, calls, url, *options, **policy) -> Result of tests/clients/transfer in such a sandbox."""

    def run(error, calls, url, *options, **policy):
        sandbox = [build / "tests/clients/refused", error, *calls, "--"]
        result = tenacurl_run([*sandbox, build / "tests/clients/transfer", url, *options], policy={**EXACT, **policy})
        if result.returncode == NO_SECCOMP:
            pytest.skip("this kernel has no seccomp filters")
        return result

    return run


@pytest.mark.parametrize("progress", [[], ["progress=new", "print_progress=1"]], ids=["plain", "progress"])
@pytest.mark.parametrize("error, calls", [
    ("EPERM", SLEEPS[:2]),
    ("ENOSYS", SLEEPS[:3]),
    ("EINVAL", SLEEPS[:4]),
    ("EINTR", SLEEPS[:2]),
    ("0", SLEEPS[:3]),
], ids=lambda value: value if isinstance(value, str) else len(value))
def test_h04_a_wait_is_as_long_as_asked(origin, confined, error, calls, progress):
    """By another call, whichever the sandbox leaves, and whatever it answers to those that it refuses."""
    server = origin([ASKS, OK])
    result = confined(error, calls, server.url(), *progress)
    assert b"result 0 " in result.stdout and b"hello world" in result.stdout
    assert len(server.requests) == 2
    assert server.gap_ms() >= ASKED_MS
    assert progress_calls(result) < CALLBACKS_MAX
    assert told(result) == []


@pytest.mark.parametrize("progress", [[], ["progress=new", "print_progress=1"]], ids=["plain", "progress"])
@pytest.mark.parametrize("error", ["EPERM", "ENOSYS", "0", "EINTR"])
def test_h04_where_nothing_sleeps_the_failure_is_delivered(origin, build, bare, confined, error, progress):
    """At once, and whole: not a second request, no spinning."""
    servers = [origin([ASKS]), origin([ASKS, OK])]
    expected = saw(bare([build / "tests/clients/transfer", servers[0].url(), *progress]), servers[0])
    result = confined(error, SLEEPS, servers[1].url(), *progress)
    assert len(servers[1].requests) == 1
    assert saw(result, servers[1]) == expected
    assert b"result 0 " in result.stdout
    assert progress_calls(result) < CALLBACKS_MAX
    assert result.operation["reason"] == "passed_through"
    assert result.operation["waited_ms"] <= result.operation["elapsed_ms"] < 10_000
    # An answer as if it had slept isn't known before the wait.
    assert len(told(result)) == (error in ("EPERM", "ENOSYS"))


# Switched off in the middle of a wait (H-12).

KILL_SWITCH = "/run/tenacurl/off"
# Of a wait of 20 s; what must be over within a second may take some more on a busy machine.
SOON_S = 5
LONG = 5000


def switch_off_by_policy(running, policy):
    newer = policy.with_suffix(".new")
    newer.write_text(policy.read_text() + "mode = off\n")
    newer.chmod(0o600)
    newer.rename(policy)
    return running.wait()


def switch_off_by_root(running, policy):
    try:
        open(KILL_SWITCH, "x").close()
        return running.wait()
    finally:
        os.unlink(KILL_SWITCH)


@pytest.fixture
def broken_off(build, runner):
    """broken_off(url, *options, by=switch_off_…) -> Result of a transfer in whose first wait tenacurl is switched off."""

    def run(url, *options, by=switch_off_by_policy):
        running = runner.start([build / "tests/clients/transfer", url, *options], policy=EXACT)
        wait_until(lambda: running.records, "the first attempt's record")
        switched = time.monotonic()
        result = by(running, runner.directory / "run1" / "policy.ini")
        assert time.monotonic() - switched < SOON_S
        operation = result.operation
        assert (operation["reason"], operation["attempts"]) == ("passed_through", 1)
        assert operation["waited_ms"] <= operation["elapsed_ms"] < SOON_S * 1000
        return result

    return run


@pytest.mark.parametrize("options", [[], ["progress=new"], ["nobody=1"], ["failonerror=1"], ["callbacks=write"]],
                         ids=lambda options: "".join(options) or "plain")
def test_h12_switched_off_in_a_wait(origin, build, bare, broken_off, options):
    servers = [origin([ASKS_20_S]), origin([ASKS_20_S, OK])]
    expected = saw(bare([build / "tests/clients/transfer", servers[0].url(), *options]), servers[0])
    result = broken_off(servers[1].url(), *options)
    assert len(servers[1].requests) == 1
    assert saw(result, servers[1]) == expected


# What a newer policy says, that the wait may be for nothing by.
SWITCHED_OFF = {
    "a-section-that-was-not-there": "[upstream new]\nmatch = {url}\nmode = off\n",
    "skip-programs": "skip_programs = transfer\n",
    "programs": "programs = another\n",
    "audit": "mode = audit\n",
}


@pytest.mark.parametrize("name", SWITCHED_OFF)
def test_h12_left_alone_by_a_newer_policy_in_a_wait(origin, broken_off, name):
    """By whichever of its sections and keys: it is as if it had said so from the first."""

    def switch_off(running, policy):
        newer = policy.with_suffix(".new")
        newer.write_text(policy.read_text() + SWITCHED_OFF[name].format(url=server.url("/*")))
        newer.chmod(0o600)
        newer.rename(policy)
        return running.wait()

    server = origin([ASKS_20_S, OK])
    broken_off(server.url(), by=switch_off)
    assert len(server.requests) == 1


def test_h12_kill_switch_in_a_wait(origin, build, bare, broken_off):
    if os.geteuid() != 0 or os.path.exists(KILL_SWITCH):
        pytest.skip("the kill switch belongs to root, and somebody uses it")
    os.makedirs(os.path.dirname(KILL_SWITCH), exist_ok=True)
    servers = [origin([ASKS_20_S]), origin([ASKS_20_S, OK])]
    expected = saw(bare([build / "tests/clients/transfer", servers[0].url()]), servers[0])
    assert saw(broken_off(servers[1].url(), by=switch_off_by_root), servers[1]) == expected
    assert len(servers[1].requests) == 1


@pytest.mark.parametrize("asks, body", [
    ({"body_bytes": LONG}, b""),
    ({"body_bytes": LONG, "framing": "chunked", "drip": {"bytes": 3000, "every_ms": 1}}, b"write "),
    ({"body_bytes": 2000, "drip": {"bytes": 1500, "every_ms": 3000}}, b"write 1500 "),
], ids=["long", "long-chunked", "slow"])
def test_h12_a_response_that_was_cut_is_not_passed_off_as_whole(origin, broken_off, asks, body):
    """Of a long or slow one the rest wasn't read. What came is delivered, as cut."""
    server = origin([{"status": 503, "headers": ASKS_20_S["headers"], **asks}, OK])
    result = broken_off(server.url(), "callbacks=both")
    assert len(server.requests) == 1
    assert b"result 18 tenacurl: " in result.stdout and b"info response_code 503" in result.stdout
    assert b"X-Busy: yes" in result.stdout and body in result.stdout


def test_h12_a_cancelled_wait_counts_as_long_as_it_was(origin, build, tenacurl_run):
    server = origin([ASKS_20_S, OK])
    argv = [build / "tests/clients/transfer", server.url(), "progress=new", "abort_progress_after_ms=400"]
    operation = tenacurl_run(argv, policy=EXACT).operation
    assert operation["reason"] == "cancelled"
    assert 0 < operation["waited_ms"] <= operation["elapsed_ms"]


# Progress: several attempts look like one transfer.

PATIENT = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0, "replay": "all"}
REFUSED = {"status": 429, "body_bytes": 3000, "drip": {"bytes": 500, "every_ms": 5}, "headers": [["Retry-After", "1"]]}
SERVED = {"status": 200, "body_bytes": 1000}


def shown_progress(result):
    """What the progress callback was told: download total and now, upload total and now."""
    return [tuple(map(int, line.split()[1:5])) for line in result.stdout.decode().splitlines() if line.startswith("progress ")]


def asked_sizes(result):
    """What getinfo told the progress callback: the body's length, and how much there is."""
    return [tuple(map(int, line.split()[6:])) for line in result.stdout.decode().splitlines() if line.startswith("progress ")]


def goes_back(numbers):
    return any(after < before for column in zip(*numbers) for before, after in zip(column, column[1:]))


@pytest.mark.parametrize("callback", ["new", "old"])
@pytest.mark.parametrize("body", [[], ["postfields=" + 3000 * "x"]], ids=["download", "upload"])
@pytest.mark.parametrize("policy", [{}, {"final_body": "never"}, {"hold_success_bytes": 5000}], ids=["plain", "search", "hold"])
def test_d07_progress_of_a_withheld_response_is_not_shown(build, origin, tenacurl_run, callback, body, policy):
    server = origin([REFUSED, SERVED])
    argv = [build / "tests/clients/transfer", server.url(), f"progress={callback}", "print_progress=1", *body]
    result = tenacurl_run(argv, policy={**PATIENT, **policy})
    numbers = shown_progress(result)
    assert len(server.requests) == 2
    assert len(numbers) > 4
    assert {total for total, *_ in numbers} == {0, 1000}
    assert not goes_back(numbers), numbers
    assert numbers[-1] == (1000, 1000, *(2 * [3000] if body else [0, 0]))
    assert {length for length, _ in asked_sizes(result)} <= {-1, 1000} and not goes_back(asked_sizes(result))


@pytest.mark.parametrize("policy", [PATIENT, {**PATIENT, "retry_status": "599"}], ids=["withheld", "shown"])
@pytest.mark.parametrize("callback", ["new", "old"])
@pytest.mark.parametrize("call", [1, 2, 3])
def test_d07_progress_that_ends_the_transfer_is_not_called_again(build, origin, tenacurl_run, call, callback, policy):
    server = origin([REFUSED, SERVED])
    options = [f"progress={callback}", "print_progress=1", f"abort_progress_call={call}"]
    result = tenacurl_run([build / "tests/clients/transfer", server.url(), *options], policy=policy)
    shown = [line.split()[0] for line in result.stdout.decode().splitlines() if line.startswith(("progress ", "aborts"))]
    assert shown == ["progress"] * call + ["aborts"]
    assert b"result 42 " in result.stdout


def test_d07_progress_that_is_set_later_and_taken_away(build, origin, tenacurl_run):
    """The program's functions and data are its own again where it asks for no progress, and for a copy of the handle."""
    server = origin([SERVED, REFUSED, SERVED, SERVED])
    argv = [build / "tests/clients/transfer", server.url(), "--", "progress=new", "print_progress=1", "--", "duplicate=1"]
    result = tenacurl_run(argv, policy=PATIENT)
    numbers = shown_progress(result)
    assert len(server.requests) == 4
    assert {total for total, *_ in numbers} == {0, 1000}


def test_d07_curls_own_meter_shows_one_transfer(origin, tenacurl_run, tmp_path):
    server = origin([REFUSED, SERVED])
    result = tenacurl_run(["curl", "-o", tmp_path / "body", server.url()], policy=PATIENT)
    assert len(server.requests) == 2
    assert b"1000" in result.stderr and b"3000" not in result.stderr, result.stderr
