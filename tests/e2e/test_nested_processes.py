# SPDX-License-Identifier: MIT
"""One owner of retries, over processes: curl's own --retry, loops of a shell, scripts, pollers."""

import pytest
from support.clients import CLIENTS, require
from support.nested import ALWAYS_BUSY, BUSY, MAX_ATTEMPTS, OK, RESET, apart_ms, calls, nested_records, owners
from support.waiting import wait_until

CURL = "/usr/bin/curl"
PYTHON = "/usr/bin/python3"
CLIENT = {client.name: client for client in CLIENTS}
OBSERVED, NOBODY = ("outer", "observed"), ("us", None)


def sh(script, *words):
    return ["/bin/sh", "-c", script, "sh", *words]


@pytest.fixture
def sends(origin, caller, runner):
    """sends(script, steps=…, policy=…) -> (requests, Result) of a script that has the URL as $1; policy None: bare."""

    def run(script, steps=(ALWAYS_BUSY,), policy=None):
        server = origin(list(steps))
        argv = sh(script, server.url("/x"))
        result = runner.bare(argv) if policy is None else caller.run(argv, **policy)
        return len(server.requests), result

    return run


@pytest.fixture
def both(origin, caller, runner):
    """both(script, **policy) -> (requests, Result) without and with tenacurl, at the same time."""

    def run(script, **policy):
        servers = [origin([ALWAYS_BUSY]) for _ in range(2)]
        running = [runner.start_bare(sh(script, servers[0].url("/x"))),
                   caller.start(sh(script, servers[1].url("/x")), **policy)]
        results = [program.wait() for program in running]
        return [(len(server.requests), result) for server, result in zip(servers, results)]

    return run


# curl --retry.

CURL_RETRY_3 = 'curl -sS -f -o /dev/null --retry 3 --retry-delay 1 "$1"'


def test_curl_does_not_retry_a_reset_so_we_do(sends):
    assert sends(CURL_RETRY_3, [RESET, OK])[0] == 1
    requests, result = sends(CURL_RETRY_3, [RESET, OK], policy={})
    assert (requests, result.returncode) == (2, 0)


def test_curl_retries_503_so_we_do_not(both):
    (bare_requests, bare), (requests, result) = both(CURL_RETRY_3, max_attempts=4)
    assert (bare_requests, bare.returncode) == (4, 22)
    assert (requests, result.returncode) == (4, 22)
    assert {record["evidence"] for record in result.operations} == {"argv:--retry"}
    assert [record["attempts"] for record in result.operations] == [1] * 4


def test_curl_that_retries_says_nothing_of_one_that_does_not(origin, caller):
    """Both call libcurl at the same place of the same program."""
    server = origin([BUSY] * 4 + [BUSY, OK])
    caller.run(sh(CURL_RETRY_3, server.url("/x")))
    assert len(server.requests) == 4
    result = caller.run(sh('curl -s -f -o /dev/null "$1"', server.url("/y")))
    assert (result.returncode, result.operation["attempts"]) == (0, 2)


def test_curl_that_retries_all_errors_has_them_to_itself(sends):
    script = 'curl -sS -f -o /dev/null --retry 1 --retry-delay 1 --retry-all-errors "$1"'
    requests, result = sends(script, [{**RESET, "repeat": True}], policy={})
    assert (requests, result.returncode) == (2, 56)


def test_rc_33_curl_retry_on_a_boot_path(origin, caller):
    """Each transfer is bounded, and so are the waits between: they are the tool's own."""
    server = origin([{"status": 429, "headers": [["Retry-After", "1"]], "repeat": True}])
    result = caller.run([CURL, "-m", "2", "--retry", "2", "-sf", server.url("/x")], max_attempts=4)
    assert (len(server.requests), result.returncode) == (3, 22)
    # The tool knows how long to wait.
    assert all(apart_ms(server, n, n + 1) >= 1000 for n in (0, 1))
    assert [record["waited_ms"] for record in result.operations] == [0] * 3


# Loops of a shell.

FOR = 'for i in 1 2 3; do curl -sf -o /dev/null {options} "$1"; done'
FOR_RETRY = FOR.format(options="--retry 2 --retry-delay 1")
FOR_PLAIN = FOR.format(options="")
PROCESSES = 3


def test_shell_loop_of_curl_retry_yield(both):
    """Never above what the script sends without us and our retries of one operation."""
    (bare_requests, _), (requests, result) = both(FOR_RETRY)
    assert bare_requests == PROCESSES * 3
    assert bare_requests <= requests <= bare_requests + MAX_ATTEMPTS - 1
    assert {record["owner"] for record in result.operations} == {"outer"}


def test_shell_loop_of_curl_retry_own(sends):
    requests, result = sends(FOR_RETRY, policy={"nested": "own"})
    assert requests == MAX_ATTEMPTS
    # All of them are operations of one intent.
    assert len({record["intent"] for record in result.operations}) == 1
    assert len({record["pid"] for record in result.operations}) == PROCESSES


def test_shell_loop_is_observed_and_learned(origin, caller):
    server = origin([ALWAYS_BUSY])
    script = sh(FOR_PLAIN, server.url("/x"))
    first = caller.run(script)
    assert len(server.requests) == PROCESSES + MAX_ATTEMPTS - 1
    assert owners(first) == [NOBODY, OBSERVED, OBSERVED]
    assert len(nested_records(first)) == 2
    second = caller.run(script)
    assert len(server.requests) == PROCESSES + MAX_ATTEMPTS - 1 + PROCESSES
    assert second.operations[0]["evidence"] == "learned"


def test_shell_loop_teaches_nothing_of_other_addresses(origin, caller):
    """The script retries one of them; the other one is ours."""
    server = origin({"steps": [ALWAYS_BUSY], "paths": {"/file": [BUSY, OK]}})
    script = sh(f'{FOR_PLAIN}; curl -sf -o /dev/null "${{1%/*}}/file"', server.url("/x"))
    assert caller.run(script).returncode == 0


def test_shell_loop_own(sends):
    requests, result = sends(FOR_PLAIN, policy={"nested": "own"})
    assert requests == MAX_ATTEMPTS
    assert [record["attempts"] for record in result.operations] == [MAX_ATTEMPTS, 0, 0]


def test_shell_loop_off(sends):
    requests, result = sends(FOR_PLAIN, policy={"nested": "off"})
    assert requests == PROCESSES * MAX_ATTEMPTS
    assert owners(result) == [NOBODY] * PROCESSES


def test_shell_loop_over_addresses_is_none(sends):
    requests, result = sends('for i in 1 2 3; do curl -sf "$1?$i"; done', policy={})
    assert requests == PROCESSES * MAX_ATTEMPTS
    assert owners(result) == [NOBODY] * PROCESSES


def test_processes_at_once_are_no_loop(sends):
    """The second one is there before the first one has failed."""
    slow = [{**ALWAYS_BUSY, "delay_ms": 500}]
    requests, result = sends('curl -sf "$1" & curl -sf "$1" & wait', slow, policy={})
    assert requests == 2 * MAX_ATTEMPTS
    assert owners(result) == [NOBODY] * 2


def test_processes_of_two_runs_are_no_loop(origin, caller):
    server = origin([ALWAYS_BUSY])
    for turn in range(1, 4):
        result = caller.run([CURL, "-sf", server.url("/x")])
        assert len(server.requests) == turn * MAX_ATTEMPTS
        assert owners(result) == [NOBODY]


CURL_URL = 'curl -sf -o /dev/null "$1"'
WRAPPED = [
    f"({CURL_URL}; true)",
    f"body=$({CURL_URL} | cat)",
    f"timeout 60 {CURL_URL}",
    f"body=$(timeout 60 {CURL_URL} | cat)",
    f"""sh -c '{CURL_URL}; true' sh "$1" """,
]


@pytest.mark.parametrize("turn", WRAPPED)
def test_loop_whose_turns_are_processes_themselves(origin, caller, turn):
    """The shell that loops isn't curl's parent, but starts the same commands again."""
    server = origin([ALWAYS_BUSY])
    loop = sh(f"for i in 1 2 3; do {turn}; done", server.url("/x"))
    first = caller.run(loop)
    assert len(server.requests) <= PROCESSES + MAX_ATTEMPTS - 1
    assert owners(first) == [NOBODY, OBSERVED, OBSERVED]
    caller.run(loop)
    assert len(server.requests) <= 2 * PROCESSES + MAX_ATTEMPTS - 1


@pytest.mark.parametrize("turn", WRAPPED)
def test_loop_whose_turns_are_processes_themselves_own(sends, turn):
    assert sends(f"for i in 1 2 3; do {turn}; done", policy={"nested": "own"})[0] == MAX_ATTEMPTS


def test_shells_of_other_commands_are_no_loop(sends):
    """They could be jobs that have nothing to do with one another."""
    jobs = "; ".join(f"""sh -c '{CURL_URL}; : {job}' sh "$1" """ for job in range(PROCESSES))
    requests, result = sends(jobs, policy={})
    assert requests == PROCESSES * MAX_ATTEMPTS
    assert owners(result) == [NOBODY] * PROCESSES


def test_subshells_at_once_are_no_loop(sends):
    slow = [{**ALWAYS_BUSY, "delay_ms": 500}]
    requests, result = sends(f"({CURL_URL}; true) & ({CURL_URL}; true) & wait", slow, policy={})
    assert requests == 2 * MAX_ATTEMPTS
    assert owners(result) == [NOBODY] * 2


# Scripts of one interpreter.

LOOP = """
import sys, pycurl
for turn in range(int(sys.argv[2])):
    curl = pycurl.Curl()
    curl.setopt(curl.URL, sys.argv[1])
    curl.setopt(curl.WRITEFUNCTION, lambda bytes: len(bytes))
    curl.perform()
    curl.close()
"""


def test_learned_of_a_script_is_not_of_another_one(origin, caller, bare, tmp_path):
    require(CLIENT["pycurl"], bare)
    scripts = [tmp_path / "nightly.py", tmp_path / "hourly.py"]
    for script in scripts:
        script.write_text(LOOP)
    server = origin([ALWAYS_BUSY])

    def sends_of(script, turns):
        before = len(server.requests)
        caller.run([PYTHON, script, server.url("/x"), str(turns)])
        return len(server.requests) - before

    assert sends_of(scripts[0], 3) == 3 + MAX_ATTEMPTS - 1
    assert sends_of(scripts[0], 1) == 1
    assert sends_of(scripts[1], 1) == MAX_ATTEMPTS


# Pollers: they come back whether it worked or not.

ROUNDS, EVERY = 200, 20  # 5 %


def faulty_rounds():
    """The answers to ROUNDS polls, one in EVERY of which meets a fault first; of changing kinds."""
    faults = [BUSY, RESET, {"status": 429}, {"fault": "fin"}]
    steps = []
    for turn in range(ROUNDS):
        if turn % EVERY == EVERY - 1:
            steps.append(faults[turn // EVERY % len(faults)])
        steps.append(OK)
    return steps


@pytest.mark.parametrize("nested", ["yield", "own"])
@pytest.mark.parametrize("handles", ["new", "same"])
def test_poller_survives_every_fault(origin, caller, handles, nested):
    """A round every 20 ms instead of every second."""
    server = origin(faulty_rounds())
    result = caller.loop(server.url("/x"), f"outer={ROUNDS}", "sleep_ms=20", f"handles={handles}", nested=nested)
    assert [(call.code, call.status) for call in calls(result)] == [(0, 200)] * ROUNDS
    assert len(server.requests) == ROUNDS + ROUNDS // EVERY
    assert {record["evidence"] for record in result.operations} == {None}


def test_poller_survives_faults_as_processes(origin, caller):
    rounds = 28
    server = origin([BUSY, OK, OK, OK, OK] * (rounds // 4))
    script = f'i=0; while [ $i -lt {rounds} ]; do curl -sf "$1" >/dev/null || echo failed; i=$((i+1)); done'
    result = caller.run(sh(script, server.url("/x")))
    assert result.stdout == b""
    assert [record["evidence"] for record in result.operations] == [None] * rounds


def test_poller_that_met_an_outage(origin, caller):
    """
    The first outage makes it look like a retry layer; that it comes back after a success says what it is. In the next
    outage each round has all its attempts: the second one gets through.
    """
    outage = [BUSY] * (MAX_ATTEMPTS + 2)
    next_outage = [BUSY] * (2 * MAX_ATTEMPTS - 1)
    server = origin([OK, OK, *outage, *[OK] * 10, *next_outage, OK])
    result = caller.loop(server.url("/x"), "outer=17", "sleep_ms=100")
    statuses = [call.status for call in calls(result)]
    assert statuses == [200, 200, 503, 503, 503, *[200] * 10, 503, 200]
    assert [record["attempts"] for record in result.operations][-2:] == [MAX_ATTEMPTS, MAX_ATTEMPTS]


# A script that waits for a service, a tenth of: `sleep 1`, and 5 s of silence.

QUIET_MS, ROUND_MS = 500, 100
HEALTH = 'until curl -f -s -o /dev/null "$1"; do sleep 0.1; done'
OWN = {"nested": "own", "nested_quiet_ms": QUIET_MS, "max_attempts": 2, "backoff_base_ms": 10}


def test_health_check_notices_that_the_service_is_back(origin, caller):
    server = origin([OK], refuse_ms=600_000)
    running = caller.start(sh(HEALTH, server.url("/health")), **OWN)

    def operations():
        return [record for record in running.records if record["kind"] == "operation"]

    def has_refused():
        return sum(record["attempts"] == 0 for record in operations()) >= 3

    wait_until(has_refused, "calls that are refused")
    server.come_up()
    already = len(operations())
    assert running.wait().returncode == 0
    # Rounds that were refused after the service was back: what fits into the silence, and the one under way.
    later = operations()[already:]
    assert len(later) <= QUIET_MS / ROUND_MS + 2
    assert later[-1]["status"] == 200
    assert len(server.requests) == 1


def test_health_check_asks_once_after_each_silence(origin, caller):
    busy = 4
    server = origin([BUSY] * busy + [OK])
    result = caller.run(sh(HEALTH, server.url("/health")), **OWN)
    assert result.returncode == 0
    assert [record["attempts"] for record in result.operations if record["attempts"]] == [2, 1, 1, 1]
    # Instants are whole milliseconds.
    assert all(apart_ms(server, n, n + 1) > QUIET_MS - 1 for n in range(1, busy))
    assert all(record["status"] is None and record["curl_code"] == 7
               for record in result.operations if record["attempts"] == 0)


def test_health_check_under_yield_is_the_scripts(origin, caller):
    """After the first round each round asks once, as it would without us."""
    server = origin([BUSY] * 6 + [OK])
    result = caller.run(sh(HEALTH, server.url("/health")))
    assert [record["attempts"] for record in result.operations] == [MAX_ATTEMPTS, 1, 1, 1, 1]
    assert result.returncode == 0
