# SPDX-License-Identifier: MIT
"""`tenacurl stats`: what the host remembers of each origin."""

import json
import os
import pathlib
import re
import shutil
import subprocess

import pytest

from support.state import EVENTS, FAILURES, REASONS

API = ("https://api.example.org:443", "policy")
DEAD = ("http://dead.example:80", "policy")
NAMED = " ".join(API)
CURL = "/usr/bin/curl"

KNOWN = [
    f"success 96 {NAMED} 8",
    f"operation 2 {NAMED} 1 2 3 1100 {REASONS['success']}",
    f"operation 1 {NAMED} 0 4 4 7500 {REASONS['attempt_cap']}",
    f"operation 1 {NAMED} 0 0 0 0 {REASONS['deadline_budget']}",
    f"retry 2 {NAMED} {FAILURES['status']} 1000",
    f"retry 3 {NAMED} {FAILURES['connect']} 2000",
    f"event 1 {NAMED} {EVENTS['exhausted']}",
    f"event 4 {NAMED} {EVENTS['budget_empty']}",
    f"event 1 {NAMED} {EVENTS['refused']}",
    f"token 50 {NAMED}",
]
# Long enough ago for a breaker to open; it opened just now and is open for 5 s.
OUTAGE = [f"failing 1 {' '.join(DEAD)} 31000", f"event 1 {' '.join(DEAD)} {EVENTS['breaker_opened']}"]


@pytest.fixture
def promtool():
    if not shutil.which("promtool"):
        pytest.skip("promtool (of Debian's prometheus) is not installed")

    def check(kind, text, *arguments):
        done = subprocess.run(["promtool", "check", kind, *arguments], input=text, capture_output=True, text=True,
                              timeout=60)
        return done.returncode, done.stdout + done.stderr

    return check


def test_every_number_is_in_the_json(state):
    state.write(*KNOWN)
    row = state.stats()[API]
    assert (row["operations"], row["succeeded"], row["failed"], row["rescued"]) == (100, 98, 2, 2)
    assert row["success"] == pytest.approx(0.98)
    assert (row["attempts"], row["sends"]) == (96 + 2 * 2 + 4, 96 + 2 * 3 + 4)
    assert row["attempts_per_operation"] == [1, 96, 2, 0, 1, 0, 0, 0, 0, 0]
    assert row["sends_per_operation"] == [1, 96, 0, 2, 1, 0, 0, 0, 0, 0]
    assert (row["retries"], row["retries_by_failure"]) == (5, {"status": 2, "connect": 3})
    assert row["stops"] == {"success": 2, "attempt_cap": 1, "deadline_budget": 1}
    assert [row[key] for key in ("exhausted", "budget_empty", "breaker_opened", "refused")] == [1, 4, 0, 1]
    assert row["waits"]["sum_ms"] == 8000
    assert row["time_to_success"]["sum_ms"] == 96 * 8 + 2 * 1100
    assert 5 <= row["time_to_success"]["p50_ms"] <= 10
    assert row["budget"]["of"] == 100 and 50 <= row["budget"]["tokens"] < 100
    assert row["breaker"] == {"state": "closed", "for_ms": None}
    assert row["retrying"] == 0


def test_an_open_breaker_is_told_with_its_age(state):
    state.write(*OUTAGE)
    row = state.stats()[DEAD]
    assert row["breaker_opened"] == 1
    assert row["breaker"]["state"] in ("open", "half-open")
    assert row["breaker"]["for_ms"] >= 0


def test_quantiles_are_estimated_within_their_bucket(state):
    state.write(f"success 90 {NAMED} 60", f"success 10 {NAMED} 7000")
    times = state.stats()[API]["time_to_success"]
    assert 50 < times["p50_ms"] <= 100 and times["p50_ms"] == pytest.approx(50 + 50 * 50 / 90)
    assert times["p95_ms"] == pytest.approx(7500)


def test_nothing_was_slower_than_the_largest_bound(state):
    state.write(f"success 1 {NAMED} 9999999")
    times = state.stats()[API]["time_to_success"]
    assert times["p50_ms"] == json.loads(state.text("stats", "--json"))["bounds_ms"][-1]
    assert times["counts"][-1] == 1


def test_the_table_is_for_people(state):
    state.write(*KNOWN, *OUTAGE)
    lines = state.text("stats").splitlines()
    assert lines[0].split() == ["OPERATIONS", "SUCCESS", "ATTEMPTS", "SENDS", "RETRIES", "EXHAUSTED", "WAITED", "P50",
                                "P95", "BUDGET", "BREAKER"]
    at = lines.index(f"{API[0]}  [policy]")
    words = lines[at + 1].split()
    assert words[:8] == ["100", "98.00", "%", "1.04", "1.06", "5", "connect", "1"]
    assert words[8:10] == ["8.0", "s"]
    assert lines[at + 1].endswith("closed")
    assert "/100" in lines[at + 1]
    assert lines.index(f"{DEAD[0]}  [policy]") < at, "sorted by origin"
    assert max(map(len, lines)) <= 120


def test_success_is_never_rounded_up_to_all(state):
    state.write(f"success 999999 {NAMED} 1", f"operation 1 {NAMED} 0 1 1 1 {REASONS['attempt_cap']}")
    assert "  99.99 %" in state.text("stats")


def test_sections_of_one_origin_are_told_apart(state):
    state.write(f"success 1 {API[0]} policy 1", f"success 2 {API[0]} payments 1")
    assert {section: row["operations"] for (_, section), row in state.stats().items()} == {"policy": 1, "payments": 2}


def test_budget_and_breaker_of_an_unknown_section_are_unknown(state, tmp_path):
    state.write(f"success 1 {API[0]} payments 1")
    row = state.stats()[API[0], "payments"]
    assert (row["budget"], row["breaker"]["state"]) == (None, "unknown")
    policy = tmp_path / "policy.ini"
    policy.write_text("[upstream payments]\nmatch = *\nbudget_tokens = 7\nbreaker = off\n")
    row = state.stats("--policy", policy)[API[0], "payments"]
    assert (row["budget"], row["breaker"]["state"]) == ({"tokens": 7, "of": 7}, "off")


def test_promtool_accepts_the_exposition(state, promtool):
    state.write(*KNOWN, *OUTAGE, r'success 1 https://a\b"c:443 po"li\cy 1')
    assert promtool("metrics", state.text("stats", "--prometheus")) == (0, "")


def test_promtool_accepts_an_empty_state(state, promtool):
    assert promtool("metrics", state.text("stats", "--prometheus")) == (0, "")
    state.write()
    assert promtool("metrics", state.text("stats", "--prometheus")) == (0, "")


def test_exposition_has_the_numbers(state):
    state.write(*KNOWN, *OUTAGE)
    samples = state.samples()
    labels = f'origin="{API[0]}",section="policy"'
    expected = {
        f'tenacurl_operations_total{{{labels},result="success"}}': 98,
        f'tenacurl_operations_total{{{labels},result="failure"}}': 2,
        f"tenacurl_operations_rescued_total{{{labels}}}": 2,
        f"tenacurl_operations_refused_total{{{labels}}}": 1,
        f"tenacurl_sends_total{{{labels}}}": 106,
        f'tenacurl_attempts_bucket{{{labels},le="1"}}': 97,
        f'tenacurl_attempts_bucket{{{labels},le="2"}}': 99,
        f'tenacurl_attempts_bucket{{{labels},le="+Inf"}}': 100,
        f"tenacurl_attempts_sum{{{labels}}}": 104,
        f"tenacurl_attempts_count{{{labels}}}": 100,
        f'tenacurl_retries_total{{{labels},reason="status"}}': 2,
        f'tenacurl_retries_total{{{labels},reason="connect"}}': 3,
        f'tenacurl_stops_total{{{labels},reason="attempt_cap"}}': 1,
        f"tenacurl_retry_exhausted_total{{{labels}}}": 1,
        f"tenacurl_retry_budget_empty_total{{{labels}}}": 4,
        f"tenacurl_retry_budget_tokens_max{{{labels}}}": 100,
        f"tenacurl_breaker_open_total{{{labels}}}": 0,
        f"tenacurl_breaker_state{{{labels}}}": 0,
        f'tenacurl_retry_wait_seconds_bucket{{{labels},le="1"}}': 2,
        f'tenacurl_retry_wait_seconds_bucket{{{labels},le="2.5"}}': 5,
        f"tenacurl_retry_wait_seconds_sum{{{labels}}}": 8,
        f'tenacurl_time_to_success_seconds_bucket{{{labels},le="0.005"}}': 0,
        f'tenacurl_time_to_success_seconds_bucket{{{labels},le="0.01"}}': 96,
        f"tenacurl_time_to_success_seconds_count{{{labels}}}": 98,
        "tenacurl_origins_unlisted_total": 0,
        "tenacurl_origins_dropped_total": 0,
    }
    assert {name: samples.get(name) for name in expected} == expected
    dead = f'{{origin="{DEAD[0]}",section="policy"}}'
    assert samples[f"tenacurl_breaker_open_total{dead}"] == 1
    assert samples[f"tenacurl_breaker_state{dead}"] in (1, 2)


def test_labels_are_escaped(state):
    state.write(r'success 1 https://a\b"c:443 policy 1')
    assert r'tenacurl_sends_total{origin="https://a\\b\"c:443",section="policy"}' in state.samples()


def test_the_counters_of_a_full_table_are_kept_and_the_rest_is_told(state):
    """An origin whose budget was used stays."""
    state.write(*(f"token 1 http://h{i}:80 policy" for i in range(600)))
    assert len(state.stats()) == 512
    user = json.loads(state.text("stats", "--json"))["users"][0]
    assert user["table_full"] > 0 and user["origins_dropped"] == 0
    assert f"{user['table_full']} times an origin found no place" in state.text("stats")


def test_d05_what_made_room_is_told(state):
    state.write(*(f"success 1 http://h{i}:80 policy 1" for i in range(600)))
    assert len(state.stats()) == 512
    user = json.loads(state.text("stats", "--json"))["users"][0]
    assert (user["table_full"], user["origins_dropped"]) == (0, 88)
    assert "88 origins of user" in state.text("stats")
    assert state.samples()["tenacurl_origins_dropped_total"] == 88


def test_reset_sets_counters_to_zero_and_keeps_budgets(state):
    state.write(*KNOWN, *OUTAGE, state.flight())
    state.text("stats", "reset")
    row = state.stats()[API]
    assert (row["operations"], row["retries"], row["exhausted"], row["waits"]["sum_ms"]) == (0, 0, 0, 0)
    assert row["success"] is None and row["time_to_success"]["p50_ms"] is None
    assert row["budget"]["tokens"] < 100
    assert state.stats()[DEAD]["breaker"]["state"] != "closed"
    assert json.loads(state.text("stats", "--json"))["users"][0]["resets"] > 0
    assert state.tenacurl("last").returncode == 1
    assert "         0        -         -      -  0 " in state.text("stats")


def test_reset_all_also_fills_budgets_and_closes_breakers(state):
    state.write(*KNOWN, *OUTAGE)
    state.text("stats", "reset", "--all")
    assert state.stats()[API]["budget"]["tokens"] == 100
    assert state.stats()[DEAD]["breaker"]["state"] == "closed"


def test_nothing_is_made_where_there_is_no_state(state):
    assert state.text("stats") == "Nothing was counted yet.\n"
    assert json.loads(state.text("stats", "--json"))["users"] == []
    state.text("stats", "reset")
    assert not state.directory.exists()


def test_a_state_that_cannot_be_trusted_is_not_shown(state):
    state.write(*KNOWN)
    state.directory.chmod(0o777)
    for arguments in (["stats"], ["stats", "--json"], ["stats", "reset"], ["last"]):
        done = state.tenacurl(*arguments)
        assert done.returncode == 1
        assert b"isn't this user's alone" in done.stderr and str(state.directory).encode() in done.stderr
    state.directory.chmod(0o700)
    assert state.stats()[API]["operations"] == 100, "reset touched nothing"


def test_a_damaged_file_is_not_shown_and_not_replaced(state):
    state.write(*KNOWN)
    file, = state.directory.iterdir()
    os.truncate(file, 4096)
    for arguments in (["stats"], ["stats", "reset"]):
        done = state.tenacurl(*arguments)
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"wrong size" in done.stderr
    assert file.stat().st_size == 4096


def test_a_file_full_of_noise_gives_nothing_worse_than_wrong_numbers(state, promtool):
    state.write(*KNOWN, state.flight())
    file, = state.directory.iterdir()
    with open(file, "r+b") as stream:
        stream.seek(4096)
        stream.write(os.urandom(file.stat().st_size - 4096))
    for arguments in (["stats"], ["stats", "--json"], ["stats", "--prometheus"], ["last"], ["last", "--json"]):
        done = state.tenacurl(*arguments)
        assert done.returncode in (0, 1)
        assert all(byte >= 0x20 or byte == 0x0a for byte in done.stdout) and done.stdout.isascii()
    assert promtool("metrics", state.text("stats", "--prometheus"))[0] == 0


def test_the_directory_is_searched_as_by_the_object(state, tmp_path, runner):
    """--state before TENACURL_STATE before the policy's state_dir."""
    places = {name: tmp_path / name for name in ("option", "environment", "policy")}
    policy = tmp_path / "policy.ini"
    policy.write_text(f"[policy]\nstate_dir = {places['policy']}\n")
    for name, directory in places.items():
        state.directory = directory
        state.write(f"success 1 http://{name}:80 policy 1")

    def seen(*arguments, environment, launcher=()):
        env = {"TENACURL_POLICY": str(policy), **environment}
        done = runner.bare([*launcher, state.build / "tenacurl", "stats", "--json", *arguments], env=env)
        return json.loads(done.stdout)["users"][0]["origins"][0]["origin"]

    by_environment = {"TENACURL_STATE": str(places["environment"])}
    assert seen("--state", places["option"], environment=by_environment) == "http://option:80"
    assert seen(environment=by_environment) == "http://environment:80"
    assert seen(environment={"TENACURL_STATE": ""}) == "http://policy:80"
    assert seen(environment={}, launcher=["env", "-u", "TENACURL_STATE"]) == "http://policy:80"


def test_a_bad_policy_costs_budgets_and_breakers_only(state, tmp_path):
    state.write(*KNOWN)
    policy = tmp_path / "policy.ini"
    policy.write_text("[policy]\nmode = perhaps\n")
    done = state.tenacurl("stats", "--json", "--policy", policy)
    row = json.loads(done.stdout)["users"][0]["origins"][0]
    assert done.returncode == 0 and b"mode" in done.stderr
    assert (row["operations"], row["budget"], row["breaker"]["state"]) == (100, None, "unknown")


ALL_USERS = """
set -eu
mount -t tmpfs none /dev/shm; mount -t tmpfs none /run; mkdir -m 755 /run/tenacurl
give() { mkdir -m 700 "$1"; chown "$2" "$1"; printf '%s\\n' "$3" | setpriv --reuid "$2" --regid "$2" --clear-groups "$WRITE" "$1"; }
give /run/tenacurl/54321 54321 'success 3 http://of-run:80 policy 1
learned 1 http://of-run:80 policy sync - 5000 60000 0 3 1=4'
give /dev/shm/tenacurl-54322 54322 'success 4 http://of-shm:80 policy 1'
give /dev/shm/tenacurl-54323 54324 'success 5 http://of-a-stranger:80 policy 1'
exec "$@"
"""


@pytest.fixture
def as_root_of_many(state):
    """Runs tenacurl where three users have a state, one of them not their own."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root")
    if subprocess.run(["unshare", "-m", "mount", "-t", "tmpfs", "none", "/run"], capture_output=True).returncode != 0:
        pytest.skip("no mount namespaces here")
    writer = pathlib.Path("/tmp") / f"write_state.{os.getpid()}"
    shutil.copy(state.build / "tests" / "soak" / "write_state", writer)
    writer.chmod(0o755)

    def run(*arguments, wrapper=()):
        script = ALL_USERS.replace("exec", run.preparation + "exec")
        return state.runner.bare(["unshare", "-m", "sh", "-c", script, "sh", *wrapper, state.build / "tenacurl", *arguments],
                                 env={"WRITE": str(writer)})

    run.preparation = ""
    run.writer = str(writer)
    yield run
    writer.unlink()


def test_root_sees_all_users(as_root_of_many, promtool):
    done = as_root_of_many("stats", "--json", "--all-users")
    users = {user["uid"]: user for user in json.loads(done.stdout)["users"]}
    assert {uid: user["origins"][0]["operations"] for uid, user in users.items()} == {54321: 3, 54322: 4}
    assert b"/dev/shm/tenacurl-54323" in done.stderr and done.returncode == 0

    text = as_root_of_many("stats", "--prometheus", "--all-users").stdout.decode()
    assert 'tenacurl_sends_total{origin="http://of-run:80",section="policy",user="54321"} 3' in text.splitlines()
    assert promtool("metrics", text) == (0, "")
    assert "http://of-shm:80  [policy]  of 54322" in as_root_of_many("stats", "--all-users").stdout.decode()


TRAPS = """
mkdir -p /run/mallory/.config/tenacurl; mkdir -m 755 /run/safe
printf '[policy]\\nmode = S3CRET\\n' >/run/safe/secret.ini; chmod 600 /run/safe/secret.ini
mkfifo -m 666 /run/safe/fifo
sed '/^mallory:/d' /etc/passwd >/run/passwd
echo 'mallory:x:54321:54321::/run/mallory:/bin/sh' >>/run/passwd; mount --bind /run/passwd /etc/passwd
ln -s TARGET /run/mallory/.config/tenacurl/policy.ini; chown -hR 54321:54321 /run/mallory
"""


@pytest.mark.parametrize("target, complaint", [
    ("/run/safe/secret.ini", b"Permission denied"), ("/run/safe/fifo", b"not a regular file"),
    ("/dev/zero", b"not a regular file"), ("policy.ini", b"Too many levels of symbolic links"),
])
def test_a14_root_is_not_led_to_other_files(as_root_of_many, tmp_path, target, complaint):
    """A user's policy is a link to what root alone may read, or nobody should open."""
    as_root_of_many.preparation = TRAPS.replace("TARGET", target)
    trace = tmp_path / "trace"
    wrapper = ("strace", "-f", "-e", "trace=openat,open", "-o", str(trace)) if shutil.which("strace") else ()
    for command in (["stats", "--json", "--all-users"], ["last", "--all-users"]):
        done = as_root_of_many(*command, wrapper=wrapper)
        assert b"S3CRET" not in done.stdout + done.stderr
        assert complaint in done.stderr, done.stderr
    if wrapper:
        calls = trace.read_text()
        assert "/run/tenacurl/54321" in calls
        assert not re.search(rf'"({target}|{target.rsplit("/", 1)[-1]})", O_RDONLY[^=]*= \d', calls)
    users = {user["uid"] for user in json.loads(as_root_of_many("stats", "--json", "--all-users").stdout)["users"]}
    assert users == {54321, 54322}


def test_a14_a_user_s_own_policy_counts(as_root_of_many):
    as_root_of_many.preparation = TRAPS.replace("ln -s TARGET", "printf '[policy]\\nbudget_tokens = 7\\n' >")
    done = as_root_of_many("stats", "--json", "--all-users")
    users = {user["uid"]: user for user in json.loads(done.stdout)["users"]}
    assert users[54321]["origins"][0]["budget"]["of"] == 7


def test_root_sees_whose_the_retries_of_all_users_are(as_root_of_many):
    users = json.loads(as_root_of_many("stats", "--owners", "--json", "--all-users").stdout)["users"]
    assert {user["uid"]: [caller["program"] for caller in user["callers"]] for user in users} == {
        54321: ["sync"], 54322: []}
    assert "sync: http://of-run:80  of 54321" in as_root_of_many("stats", "--owners", "--all-users").stdout.decode()


def test_root_may_name_the_directory_of_another_user(as_root_of_many):
    done = as_root_of_many("stats", "--json", "--state", "/dev/shm/tenacurl-54322")
    assert [user["uid"] for user in json.loads(done.stdout)["users"]] == [54322]


def shell_of(text):
    """The shell's part of a unit or a crontab: what is behind ExecStart, or behind the user's name."""
    for line in text.splitlines():
        if line.startswith("ExecStart="):
            return line.split("'")[1]
        if line.startswith("* * * * *  root  "):
            return line.removeprefix("* * * * *  root  ")
    raise AssertionError("there is no command")


@pytest.mark.parametrize("file", ["prometheus/tenacurl-metrics.service", "cron/tenacurl-metrics"])
def test_what_contrib_starts_writes_a_file_for_the_collector(as_root_of_many, state, repository, tmp_path, file):
    command = shell_of((repository / "contrib" / file).read_text())
    script = f'PATH={state.build}:$PATH; DIRECTORY={tmp_path}; {command}'
    done = state.runner.bare(["unshare", "-m", "sh", "-c", ALL_USERS, "sh", "sh", "-c", script],
                             env={"WRITE": as_root_of_many.writer})
    assert done.returncode == 0, done
    assert [path.name for path in tmp_path.glob("*prom*")] == ["tenacurl.prom"]
    written = (tmp_path / "tenacurl.prom").read_text().splitlines()
    assert 'tenacurl_sends_total{origin="http://of-shm:80",section="policy",user="54322"} 4' in written


ALERTS = """
rule_files: [{rules}]
evaluation_interval: 1m
tests:
  - interval: 1m
    input_series:
      - {{series: 'tenacurl_breaker_state{{origin="o"}}', values: '0x20 2 1 2 1 2 1'}}
      - {{series: 'tenacurl_retry_budget_empty_total{{origin="o"}}', values: '0x20 5+5x20'}}
      - {{series: 'tenacurl_retry_exhausted_total{{origin="o"}}', values: '0x30 1+1x30'}}
      - {{series: 'tenacurl_operations_total{{origin="o",result="success"}}', values: '0+20x60'}}
      - {{series: 'tenacurl_operations_total{{origin="o",result="failure"}}', values: '0x30 1+1x30'}}
    alert_rule_test:
      - {{eval_time: 15m, alertname: TenacurlBreakerOpen, exp_alerts: []}}
      - {{eval_time: 15m, alertname: TenacurlRetryBudgetEmpty, exp_alerts: []}}
      - {{eval_time: 25m, alertname: TenacurlRetriesExhausted, exp_alerts: []}}
"""
FIRING = {"TenacurlBreakerOpen": "24m", "TenacurlRetryBudgetEmpty": "35m", "TenacurlRetriesExhausted": "55m"}


def test_promtool_accepts_the_alert_rules(promtool, repository):
    status, said = promtool("rules", None, repository / "contrib/prometheus/tenacurl-alerts.yml")
    assert status == 0 and "SUCCESS" in said


@pytest.mark.parametrize("alert,at", FIRING.items())
def test_alerts_fire(promtool, repository, tmp_path, alert, at):
    rules = repository / "contrib/prometheus/tenacurl-alerts.yml"
    tests = tmp_path / "tests.yml"

    def run(text):
        tests.write_text(text.format(rules=rules))
        done = subprocess.run(["promtool", "test", "rules", tests], capture_output=True, text=True, timeout=60)
        return done.returncode, done.stdout + done.stderr

    status, said = run(ALERTS)
    assert status == 0, said
    status, said = run(ALERTS + f"      - {{{{eval_time: {at}, alertname: {alert}, exp_alerts: []}}}}\n")
    assert status != 0 and f'alertname="{alert}"' in said, "it should fire now"


def test_alert_rules_name_metrics_that_there_are(state, repository):
    state.write(*KNOWN, *OUTAGE)
    names = {sample.split("{")[0] for sample in state.samples()}
    rules = (repository / "contrib/prometheus/tenacurl-alerts.yml").read_text()
    assert set(re.findall(r"\btenacurl_\w+", rules)) <= names


@pytest.mark.parametrize("arguments", [
    ["--json", "--prometheus"], ["--all"], ["reset", "--json"], ["reset", "--all-users"], ["--state"], ["--policy"],
    ["--unknown"], ["everything"], ["reset", "reset"], ["--state", ""],
], ids=" ".join)
def test_wrong_usage(state, arguments):
    done = state.tenacurl("stats", *arguments)
    assert done.returncode == 2 and b"tenacurl stats --help" in done.stderr


def test_a_full_disk_is_told(state):
    state.write(*KNOWN)
    with open("/dev/full", "wb") as full:
        for form in ([], ["--json"], ["--prometheus"]):
            done = subprocess.run([state.build / "tenacurl", "stats", *form], stdout=full, stderr=subprocess.PIPE,
                                  env={"TENACURL_STATE": str(state.directory)}, timeout=60)
            assert done.returncode == 1 and b"can't write" in done.stderr


# What the object itself writes.


def test_a_run_is_counted(state, origin, tenacurl_run):
    server = origin([{"status": 503}, {"status": 503}, {"body": "good"}, {"body": "good", "repeat": True}])
    policy = {"jitter": "none", "backoff_base_ms": 100}
    for _ in range(3):
        done = tenacurl_run([CURL, "-sSf", server.url()], policy, env={"TENACURL_STATE": str(state.directory)})
        assert (done.returncode, done.stdout) == (0, b"good")
    assert len(server.requests) == 5

    (name, section), row = state.stats().popitem()
    assert (name, section) == (f"http://127.0.0.1:{server.port}", "policy")
    assert (row["operations"], row["succeeded"], row["rescued"]) == (3, 3, 1)
    assert (row["attempts"], row["sends"]) == (5, 5)
    assert row["retries_by_failure"] == {"status": 2}
    assert row["waits"]["sum_ms"] >= 300
    assert row["time_to_success"]["sum_ms"] >= 300
    assert row["budget"]["tokens"] < 100


def test_a_run_that_fails_is_counted(state, origin, tenacurl_run):
    server = origin([{"status": 503, "repeat": True}])
    policy = {"jitter": "none", "backoff_base_ms": 50, "max_attempts": 3}
    assert tenacurl_run([CURL, "-sSf", server.url()], policy,
                        env={"TENACURL_STATE": str(state.directory)}).returncode != 0
    assert len(server.requests) == 3
    row = state.stats()[f"http://127.0.0.1:{server.port}", "policy"]
    assert (row["operations"], row["failed"], row["exhausted"], row["stops"]) == (1, 1, 1, {"attempt_cap": 1})
    assert row["attempts_per_operation"][3] == 1


def test_an_empty_budget_is_counted(state, origin, tenacurl_run):
    server = origin([{"status": 503, "repeat": True}])
    policy = {"jitter": "none", "backoff_base_ms": 50, "budget_tokens": 1, "budget_refill_per_s": 0}
    tenacurl_run([CURL, "-sSf", server.url()], policy, env={"TENACURL_STATE": str(state.directory)})
    assert len(server.requests) == 2
    row = state.stats()[f"http://127.0.0.1:{server.port}", "policy"]
    assert (row["budget_empty"], row["stops"]) == (1, {"budget_empty": 1})
