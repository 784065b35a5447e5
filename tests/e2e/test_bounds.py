# SPDX-License-Identifier: MIT
"""
What bounds retries without a word of the policy: the watchdog of the service that the program is (H-05), the expiry of a
signed request (H-07), hosts that are only asked to find out where one is (H-08).
"""

import datetime
import email.utils

import pytest
from support.seen import seen

OK = {"status": 200, "body": "fine"}
BUSY = {"status": 503, "body": "busy"}
EXPIRED = {"status": 403, "body": "Request has expired", "repeat": True}
SILENCE = {"fault": "silence"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}
# Instead of what the policy would allow: some 7 s, or 30.
IN_TIME_S = 5


def asks(seconds):
    return {**BUSY, "headers": [["Retry-After", str(seconds)]]}


@pytest.fixture
def transfer(build, tenacurl_run):
    """transfer(url, *options, env=None, **policy) -> Result of tests/clients/transfer under `tenacurl run`."""

    def run(url, *options, env=None, **policy):
        return tenacurl_run([build / "tests/clients/transfer", url, *options], policy={**FAST, **policy}, env=env)

    return run


# A service's watchdog.

WATCHED = {"WATCHDOG_USEC": "2000000"}


def added_ms(result):
    """What retries added, by the log: all but the first attempts, which fail at once."""
    return sum(record["elapsed_ms"] for record in result.operations)


def test_h05_a_wait_that_the_watchdog_would_not_survive(origin, transfer):
    server = origin([asks(1), OK])
    result = transfer(server.url(), env=WATCHED)
    assert (len(server.requests), result.reasons) == (1, ["watchdog_limit"])
    assert b"busy" in result.stdout and b"response_code 503" in result.stdout


def test_h05_retries_that_fit_are_made(origin, transfer):
    server = origin([BUSY, BUSY, OK])
    result = transfer(server.url(), env=WATCHED)
    assert result.reasons == ["transient_failure", "transient_failure", "success"]


def test_h05_by_the_built_in_policy(build, origin, tenacurl_run):
    """Refused: bare an error in a millisecond."""
    server = origin([OK])
    url = server.url()
    server.stop()
    result = tenacurl_run([build / "tests/clients/transfer", url], env=WATCHED)
    assert result.reasons[-1] == "watchdog_limit"
    assert added_ms(result) < 1000


def test_h05_a_retry_that_hangs_is_ended(origin, transfer):
    server = origin([BUSY, SILENCE])
    result = transfer(server.url(), env=WATCHED)
    assert b"result 28 " in result.stdout
    # libcurl looks at its timeout once a second at least.
    assert result.elapsed_s < IN_TIME_S


def test_h05_calls_one_after_the_other_share_it(origin, transfer):
    """The program tells its watchdog that it lives when it comes back to its loop, after several calls maybe."""
    server = origin([{**BUSY, "repeat": True}])
    further = [word for number in range(4) for word in ("--", f"url={server.url(f'/{number}')}")]
    policy = {"backoff_base_ms": 300, "backoff_multiplier": 1, "jitter": "none", "max_attempts": 10, "budget_tokens": 0}
    result = transfer(server.url(), *further, env=WATCHED, **policy)
    assert len(result.operations) == 5
    # Waits of 300 ms: three of them fit into the one second less min_try_ms, and none of the later calls has any.
    assert sum(record["waited_ms"] for record in result.operations) <= 900
    assert {record["reason"] for record in result.operations} == {"watchdog_limit"}


@pytest.mark.parametrize("prefix, limited", [
    ("WATCHDOG_PID=$$ exec", True),
    ("WATCHDOG_PID=1 exec", False),
    ("WATCHDOG_USEC=0 exec", False),
    ("WATCHDOG_USEC=rubbish exec", False),
    ("WATCHDOG_USEC=600000000 exec", False),
])
def test_h05_whose_watchdog_it_is(origin, build, tenacurl_run, prefix, limited):
    server = origin([asks(1), OK])
    script = f'{prefix} "$@"'
    argv = ["sh", "-c", script, "sh", build / "tests/clients/transfer", server.url()]
    result = tenacurl_run(argv, policy=FAST, env=WATCHED)
    assert len(server.requests) == (1 if limited else 2), result.reasons


# Signed requests expire.


def at(seconds, form="%Y%m%dT%H%M%SZ"):
    """So many seconds from now."""
    return (datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=seconds)).strftime(form)


def epoch(seconds):
    return int(datetime.datetime.now().timestamp()) + seconds


def http_date(seconds):
    return email.utils.formatdate(epoch(seconds), usegmt=True)


AWS4 = "Authorization: AWS4-HMAC-SHA256 Credential=A/20260101/eu-west-1/s3/aws4_request, SignedHeaders=host, Signature=0"
# (query, header lines) of a request that expires in so many seconds.
SIGNED = {
    "aws": lambda left: (f"X-Amz-Date={at(left - 60)}&X-Amz-Expires=60&X-Amz-Signature=0", []),
    "google": lambda left: (f"X-Goog-Signature=0&X-Goog-Expires=60&X-Goog-Date={at(left - 60)}", []),
    "azure": lambda left: ("sp=r&se=" + at(left, "%Y-%m-%dT%H%%3A%M%%3A%SZ") + "&sig=0", []),
    "cloudfront": lambda left: (f"Expires={epoch(left)}&Signature=0&Key-Pair-Id=K", []),
    "aws-header": lambda left: ("x=1", [AWS4, f"X-Amz-Date: {at(left - 900)}"]),
    "azure-header": lambda left: ("x=1", ["Authorization: SharedKey a:0", f"x-ms-date: {http_date(left - 900)}"]),
}


def signed(server, name, left):
    query, headers = SIGNED[name](left)
    return [f"{server.url('/object')}?{query}", *(f"h={line}" for line in headers)]


@pytest.mark.parametrize("name", SIGNED)
def test_h07_no_attempt_starts_after_the_expiry(origin, build, bare, transfer, name):
    """The 503 is what the program gets, not the 403 that would follow."""
    servers = [origin([asks(6)]), origin([asks(6), EXPIRED])]
    expected = seen(bare([build / "tests/clients/transfer", *signed(servers[0], name, 4)]), servers[0].port)
    result = transfer(*signed(servers[1], name, 4))
    assert (len(servers[1].requests), result.reasons) == (1, ["request_expired"])
    assert seen(result, servers[1].port) == expected
    assert result.operation["waited_ms"] == 0


def test_h07_in_the_request_target(origin, transfer):
    server = origin([BUSY, EXPIRED])
    query, _ = SIGNED["aws"](-30)
    result = transfer(server.url("/other"), f"request_target=/object?{query}")
    assert (len(server.requests), result.reasons) == (1, ["request_expired"])


@pytest.mark.parametrize("name", SIGNED)
def test_h07_until_then_it_is_retried(origin, transfer, name):
    server = origin([BUSY, OK])
    assert transfer(*signed(server, name, 30)).reasons == ["transient_failure", "success"]


@pytest.mark.parametrize("name", SIGNED)
def test_h07_one_that_had_expired_is_made_once(origin, transfer, name):
    server = origin([BUSY, EXPIRED])
    result = transfer(*signed(server, name, -30))
    assert (len(server.requests), result.reasons) == (1, ["request_expired"])
    assert b"response_code 503" in result.stdout


# Probes.

PROBES = [
    "http://169.254.169.254/latest/meta-data/", "http://2852039166/", "http://0xa9.0xfe.43518/", "http://[fe80::1]/",
    "http://[fd00:ec2::254]/", "http://[::ffff:169.254.170.2]/", "http://metadata.google.internal/", "http://metadata/",
    "http://100.100.100.200/",
]


def ask(tenacurl_run, server, url, policy=None):
    """As if the server were there."""
    argv = ["curl", "-sS", "--noproxy", "*", "--connect-to", f"::127.0.0.1:{server.port}", url]
    return tenacurl_run(argv, policy=policy or FAST)


@pytest.mark.parametrize("url", PROBES)
def test_h08_a_probe_is_made_once(origin, tenacurl_run, url):
    server = origin([BUSY, OK])
    result = ask(tenacurl_run, server, url)
    assert (len(server.requests), result.stdout) == (1, b"busy")
    assert result.reasons == ["terminal_error"]


def test_h08_no_connection_is_an_answer(origin, tenacurl_run):
    server = origin([OK])
    server.stop()
    result = ask(tenacurl_run, server, "http://169.254.169.254/")
    assert (result.returncode, result.operation["attempts"], result.operation["waited_ms"]) == (7, 1, 0)


@pytest.mark.parametrize("match, requests", [("169.254.169.254", 2), ("169.254.*", 2), ("*", 1)])
def test_h08_a_section_that_names_the_host_opts_in(origin, tenacurl_run, match, requests):
    server = origin([BUSY, OK])
    ask(tenacurl_run, server, "http://169.254.169.254/", {"policy": FAST, "upstream metadata": {"match": match}})
    assert len(server.requests) == requests


def test_h08_other_hosts_are_retried(origin, tenacurl_run):
    server = origin([BUSY, OK])
    assert ask(tenacurl_run, server, "http://metadata.example.com/").stdout == b"fine"


def test_h08_explain_says_so(build, bare):
    probe = bare([build / "tenacurl", "policy", "explain", "http://2852039166/"])
    other = bare([build / "tenacurl", "policy", "explain", "http://example.com/"])
    assert b"\nretries: none, " in probe.stdout and b"\nretries: " not in other.stdout
