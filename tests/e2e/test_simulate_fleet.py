# SPDX-License-Identifier: MIT
"""`tenacurl simulate --fleet`: what many clients do to a server, with the very engine that programs get."""

import json
import subprocess
import xml.etree.ElementTree

import pytest

BARE, NAIVE, TENACURL = range(3)


@pytest.fixture
def simulate(build):
    def start(*arguments, stdout=subprocess.PIPE):
        return subprocess.run([build / "tenacurl", "simulate", "--fleet", *arguments], stdout=stdout,
                              stderr=subprocess.PIPE, text=True, env={}, timeout=120)

    return start


@pytest.fixture
def fleet(simulate):
    """fleet(name=value, …) -> the results without retries, of the naive loop, and of tenacurl."""

    def run(**settings):
        done = simulate("--json", *(f"{name}={value}" for name, value in settings.items()))
        assert (done.returncode, done.stderr) == (0, "")
        policies = json.loads(done.stdout)["policies"]
        assert [policy["policy"] for policy in policies] == ["no retries", "naive", "tenacurl"]
        for policy in policies:
            bins = [sum(column) for column in zip(*policy["bins"])]
            assert bins == [policy["requests"], policy["operations"], policy["succeeded"]]
            assert sum(policy["stops"].values()) == policy["operations"]
        return policies

    return run


def amplification(result):
    return result["requests"] / result["operations"]


# The share of failures; requests per operation and success without retries, with three tries, and with a bucket into
# which a success puts a tenth of what a retry takes. Made by another program, of 200 000 requests each.
AMPLIFICATION = [
    (0.01, (1.00, 0.990), (1.010, 1.000), (1.010, 1.000)),
    (0.05, (1.00, 0.950), (1.052, 1.000), (1.052, 1.000)),
    (0.10, (1.00, 0.901), (1.110, 0.999), (1.099, 0.990)),
    (0.20, (1.00, 0.800), (1.241, 0.992), (1.087, 0.869)),
    (0.30, (1.00, 0.700), (1.390, 0.972), (1.076, 0.753)),
    (0.50, (1.00, 0.500), (1.749, 0.875), (1.053, 0.527)),
    (0.90, (1.00, 0.101), (2.711, 0.272), (1.011, 0.102)),
    (1.00, (1.00, 0.000), (3.000, 0.000), (1.000, 0.000)),
]


@pytest.mark.parametrize("breaker", ["on", "off"])
@pytest.mark.parametrize("failure,bare,naive,bucket", AMPLIFICATION)
def test_amplification(fleet, failure, bare, naive, bucket, breaker):
    results = fleet(clients=1, interval_ms=1, latency_ms=1, operations=200000, duration_ms=0, failure=failure,
                    max_attempts=3, backoff_base_ms=1, retry_max_time_ms=0, budget_refill_per_s=0, breaker=breaker)
    for result, (requests, success) in zip(results, (bare, naive, bucket)):
        assert amplification(result) == pytest.approx(requests, rel=0.03)
        assert result["success"] == pytest.approx(success, abs=0.005)


def test_64_processes_at_a_server_that_always_fails(fleet):
    """Once the tokens of the start are gone, retries are few; with no breaker that would help."""
    results = fleet(clients=64, interval_ms=1000, failure=1, duration_ms=600000, breaker="off")
    later = results[TENACURL]["bins"][120:]
    requests, operations = sum(bin[0] for bin in later), sum(bin[1] for bin in later)
    assert operations > 30000
    assert requests / operations <= 1.03
    assert results[TENACURL]["requests"] <= results[BARE]["requests"] + 100 + 0.1 * 600
    assert amplification(results[NAIVE]) == 3


def test_64_processes_at_a_server_that_fails_five_percent(fleet):
    results = fleet(clients=64, interval_ms=1000, failure=0.05, duration_ms=600000)
    assert results[TENACURL]["success"] >= 0.999
    assert results[BARE]["success"] < 0.96
    assert results[TENACURL]["breaker_opened"] == 0


@pytest.mark.parametrize("retry_after_ms", [0, 20000])
def test_job_of_500_calls_at_a_dead_server(fleet, retry_after_ms):
    results = fleet(clients=1, interval_ms=0, operations=500, duration_ms=0, failure=1, retry_after_ms=retry_after_ms)
    assert results[BARE]["operations"] == results[TENACURL]["operations"] == 500
    assert results[TENACURL]["elapsed_ms"] - results[BARE]["elapsed_ms"] <= 120000
    assert results[TENACURL]["breaker_opened"] == 1
    without = fleet(clients=1, interval_ms=0, operations=500, duration_ms=0, failure=1, retry_after_ms=20000, breaker="off")
    assert without[TENACURL]["elapsed_ms"] > 10 * 120000


def test_one_percent_of_a_thousand_a_second_never_opens_a_breaker(fleet):
    results = fleet(clients=100, interval_ms=100, failure=0.01, duration_ms=600000, breaker_outage_ms=0,
                    breaker_failure_pct=10, breaker_min_attempts=100)
    assert results[TENACURL]["operations"] > 500000
    assert results[TENACURL]["breaker_opened"] == 0


@pytest.mark.parametrize("seed", range(1, 6))
@pytest.mark.parametrize("kind", ["refuse", "error"])
@pytest.mark.parametrize("clients", [20, 33])
def test_m07_each_call_survives_an_outage_of_3_s(fleet, clients, kind, seed):
    """By the built-in policy. The tokens are enough for three retries of 33 callers."""
    settings = {"clients": clients, "interval_ms": 100, "duration_ms": 20000, "outage_kind": kind, "seed": seed}
    results = fleet(**settings, outages="5000+3000")
    assert results[BARE]["success"] < 0.9
    assert results[TENACURL]["success"] == 1


@pytest.mark.parametrize("seed", range(1, 6))
def test_breaker_leaves_an_outage_of_3_s_to_the_retries(fleet, seed):
    settings = {"clients": 20, "interval_ms": 100, "duration_ms": 20000, "outages": "5000+3000", "seed": seed}
    classic = fleet(**settings, breaker_outage_ms=0)
    assert classic[TENACURL]["success"] < 1


@pytest.mark.parametrize("capacity_per_s", [250, 300])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_retry_storm(fleet, capacity_per_s, seed):
    """A server that stalls for 5 s and works off what queued: the naive loop never lets it."""
    bare, naive, tenacurl = fleet(clients=200, capacity_per_s=capacity_per_s, per_try_ms=300, duration_ms=90000,
                                  outages="10000+5000", outage_kind="stall", seed=seed)
    assert bare["recovery_ms"] > 0
    assert tenacurl["recovery_ms"] <= 1.2 * bare["recovery_ms"]
    assert amplification(tenacurl) <= 1.10
    assert naive["recovery_ms"] is None
    assert amplification(naive) > 2
    assert naive["peak_requests_per_s"] > 2 * tenacurl["peak_requests_per_s"]


@pytest.mark.parametrize("retries", ["max_retrying=5", "budget_tokens=5"])
def test_what_clients_share_bounds_them_all(fleet, retries):
    """Shared by a host, by a process, by nobody."""
    name, value = retries.split("=")
    settings = {"clients": 20, "interval_ms": 100000, "operations": 1, "duration_ms": 0, "failure": 1,
                "max_attempts": 2, "budget_refill_per_s": 0, "backoff_base_ms": 10000000, "backoff_cap_ms": 10000000,
                "retry_max_time_ms": 0, "jitter": "none", "breaker": "off", name: value}
    extra = [fleet(**settings, **more)[TENACURL]["requests"] - 20
             for more in ({}, {"hosts": 2}, {"state": "process"}, {"state": "none"})]
    assert extra == [5, 10, 20, 20]


def test_fail_fast_makes_one_request_in_each_breaker_open_ms(fleet):
    outage = {"clients": 20, "interval_ms": 100, "duration_ms": 60000, "outages": "1000+50000", "max_attempts": 1,
              "breaker_outage_ms": 1000, "breaker_open_ms": 5000}
    bare, _, no_retry = fleet(**outage)
    fail_fast = fleet(**outage, breaker_action="fail-fast")[TENACURL]
    assert no_retry["requests"] == bare["requests"]
    assert fail_fast["stops"]["breaker_open"] > 8000
    during = sum(bin[0] for bin in fail_fast["bins"][6:100])
    assert 8 <= during <= 10
    assert 0 <= fail_fast["recovery_ms"] <= 5500


def test_program_timeout_ends_everything(fleet):
    results = fleet(clients=50, failure=1, timeout_ms=2000, duration_ms=10000, budget_tokens=0, max_attempts=10)
    assert results[TENACURL]["longest_ms"] <= 2000
    assert results[TENACURL]["requests"] > results[BARE]["requests"]


def test_queue_that_is_full_answers_503(fleet):
    results = fleet(clients=200, interval_ms=100, capacity_per_s=1000, queue=50, duration_ms=5000)
    assert results[BARE]["succeeded"] == pytest.approx(5 * 1000 + 50, rel=0.02)
    assert results[BARE]["longest_ms"] <= 20 + 51 + 1


def test_same_arguments_same_bytes(simulate):
    arguments = ["--json", "clients=50", "failure=0.2", "outages=10000+5000,20000+1000", "capacity_per_s=70"]
    first, again, other = simulate(*arguments), simulate(*arguments), simulate(*arguments, "seed=2")
    assert first.returncode == 0
    assert first.stdout == again.stdout != other.stdout


def test_table(simulate):
    done = simulate("clients=10", "duration_ms=10000", "failure=1", "naive_attempts=2", "outages=1000+1000")
    assert done.returncode == 0
    rows = {line[:30].strip(): line[30:].split() for line in done.stdout.splitlines()[2:]}
    assert rows[""] == ["no", "retries", "naive", "tenacurl"]
    assert rows["operations"][:2] == ["100", "100"]
    assert rows["requests per operation"][:2] == ["1.000", "2.000"]
    assert rows["failed: attempt_cap"][0] == "100"
    assert "until it works as before" in rows
    assert done.stdout.startswith("clients=10 hosts=1 interval_ms=1000 ")


def test_file_policy_and_command_line(simulate, tmp_path):
    policy = tmp_path / "policy.ini"
    policy.write_text("[policy]\nmax_attempts = 2\nbudget_tokens = 0\nbreaker = off\nbackoff_cap_ms = 1\n")
    policy.chmod(0o644)
    scenario = tmp_path / "scenario"
    scenario.write_text("# what the fleet is\n\nclients = 7   # not more\nfailure = 1\noperations=10\n\tseed = 3\n")

    def requests(*arguments):
        done = simulate("--policy", policy, "--json", *arguments)
        assert (done.returncode, done.stderr) == (0, "")
        return json.loads(done.stdout)["policies"][TENACURL]["requests"]

    assert requests(scenario) == 140
    assert requests(scenario, "max_attempts=3") == 210
    assert requests("max_attempts=3", "clients=2", scenario) == 210
    assert requests(scenario, "clients=2") == 40


def test_svg(simulate, tmp_path):
    picture = tmp_path / "load.svg"
    done = simulate("--svg", picture, "outages=10000+5000", "capacity_per_s=150", "clients=100")
    assert (done.returncode, done.stderr) == (0, "")
    assert "requests per operation" in done.stdout
    root = xml.etree.ElementTree.parse(picture).getroot()
    space = {"svg": "http://www.w3.org/2000/svg"}
    width, height = float(root.get("width")), float(root.get("height"))
    lines = root.findall("svg:polyline", space)
    assert len(lines) == 6
    for line in lines:
        points = [tuple(map(float, point.split(","))) for point in line.get("points").split()]
        assert len(points) > 100
        assert all(0 <= x <= width and 0 <= y <= height for x, y in points)
    texts = [text.text for text in root.findall("svg:text", space)]
    assert {"no retries", "naive", "tenacurl"} <= set(texts)
    assert len(root.findall("svg:rect", space)) == 1 + 2


@pytest.mark.parametrize(
    "setting,words",
    [
        ("clients=0", "from 1 to 100000"),
        ("clients=-1", "from 1 to 100000"),
        ("clients=1e3", "from 1 to 100000"),
        ("clients=", "from 1 to 100000"),
        ("failure=1.5", "from 0 to 1"),
        ("failure=nan", "from 0 to 1"),
        ("outages=5", "START+LENGTH"),
        ("outages=1000+0", "at least 1 ms"),
        ("outages=1000+1000,", "START+LENGTH"),
        ("outages=1000+1000,1500+10", "order of time"),
        ("outages=1+1,3+1,5+1,7+1,9+1,11+1,13+1,15+1,17+1", "more than 8"),
        ("outage_kind=fire", "refuse, error, stall"),
        ("jitter=much", "full, equal, none"),
        ("max_attempts=0", "from 1 to 100"),
        ("nested=own", "can't be set here: a fleet's programs don't retry by themselves"),
        ("nested_quiet_ms=1", "can't be set here"),
        ("match=*", "can't be set here: a fleet asks one origin only"),
        ("colour=red", "neither"),
        ("duration_ms=0", "never ends"),
        ("hosts=1000", "more than clients"),
    ],
)
def test_setting_is_refused_and_named(simulate, setting, words):
    done = simulate(setting)
    assert done.returncode == 2
    assert done.stdout == ""
    assert len(done.stderr.splitlines()) == 1
    assert setting.split("=")[0] in done.stderr
    assert words in done.stderr


def test_line_of_a_file_is_named(simulate, tmp_path):
    scenario = tmp_path / "scenario"
    scenario.write_text("clients = 3\nclints = 4\n")
    done = simulate(scenario)
    assert done.returncode == 2
    assert f"{scenario}:2: clints: " in done.stderr


@pytest.mark.parametrize("arguments", [["--nonsense"], ["--svg"], ["--policy"]])
def test_usage(simulate, arguments):
    done = simulate(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith("tenacurl simulate: ") and arguments[0] in done.stderr


def test_files_that_cannot_be_used(simulate, tmp_path):
    missing = tmp_path / "missing"
    for arguments in ([missing], ["--policy", missing], ["--svg", missing / "x", "clients=1"], [tmp_path]):
        done = simulate(*arguments)
        assert done.returncode == 2
        assert str(tmp_path) in done.stderr
        assert done.stdout == ""
    with open("/dev/full", "w") as full:
        done = simulate("--json", stdout=full)
    assert done.returncode == 2
    assert "standard output" in done.stderr


def test_help_names_every_setting(simulate):
    done = simulate("--help")
    assert done.returncode == 0
    for name in ("clients", "hosts", "outages", "naive_attempts"):
        assert f"  {name} " in done.stdout
    assert "      --svg FILE " in done.stdout
