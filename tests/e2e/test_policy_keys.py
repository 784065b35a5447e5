# SPDX-License-Identifier: MIT
"""What each policy key does, seen at the server and by the program."""

import re
import subprocess

import pytest
from support.transfers import further
from support.waiting import wait_until

OK = {"status": 200, "body": "fine"}
BUSY = {"status": 503, "body": "busy"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}


@pytest.fixture
def transfer(build, tenacurl_run):
    """transfer(server, *options, policy) -> Result of tests/clients/transfer."""

    def run(server, *options, policy=None, url=None):
        argv = [build / "tests/clients/transfer", url or server.url("/x"), *options]
        return tenacurl_run(argv, policy={**FAST, **(policy or {})})

    return run


def has_result(result, code):
    return re.search(rb"^result %d " % code, result.stdout, re.M)


# Replay.


@pytest.mark.parametrize(
    "replay,options,attempts",
    [
        ("idempotent", [], 2),
        ("idempotent", ["request=OPTIONS"], 2),
        ("idempotent", ["request=DELETE"], 2),
        ("idempotent", ["request=DELETE", "h=If-Match: x"], 1),
        ("idempotent", ["postfields=a", "request=PUT"], 2),
        ("idempotent", ["postfields=a", "request=PUT", "h=if-none-match: *"], 1),
        ("idempotent", ["postfields=a"], 1),
        ("idempotent", ["postfields=a", "request=PATCH"], 1),
        ("idempotent", ["postfields=a", "request=GET"], 1),
        ("idempotent", ["request=PATCH"], 1),
        ("idempotent", ["postfields=a", "h=Idempotency-Key: 1"], 2),
        ("idempotent", ["postfields=a", "h=idempotency-key: 1"], 2),
        ("idempotent", ["postfields=a", "h=Idempotency-Key;"], 1),
        ("idempotent", ["postfields=a", "h=Idempotency-Key:"], 1),
        ("idempotent", ["postfields=a", "nobody=1"], 2),
        ("idempotent", ["postfields=a", "httpget=1"], 2),
        ("unsent", [], 1),
        ("none", [], 1),
        ("all", ["postfields=a"], 2),
        ("all", ["copypostfields=a"], 2),
        ("all", ["mime=a"], 2),
        ("all", ["form=a"], 2),
    ],
)
def test_replay_of_an_answered_request(origin, transfer, replay, options, attempts):
    server = origin([BUSY, OK])
    result = transfer(server, *options, policy={"replay": replay})
    assert len(server.requests) == attempts
    assert len({re.sub(rb"--------+\w+", b"", request.body) for request in server.requests}) == 1
    assert (result.operation["reason"] == "success") == (attempts == 2)


@pytest.mark.parametrize("replay,attempts", [("unsent", 2), ("idempotent", 2), ("none", 1)])
def test_replay_of_a_post_that_was_never_sent(origin, transfer, replay, attempts):
    server = origin([OK], refuse_ms=60000)
    result = transfer(server, "postfields=a", policy={"replay": replay, "max_attempts": 2})
    assert len(result.attempts) == attempts
    assert all(record["unsent"] for record in result.attempts)
    assert has_result(result, 7)


@pytest.mark.parametrize("fault", ["fin", "reset"])
def test_post_whose_answer_was_lost_is_not_repeated(origin, transfer, fault):
    """RC-19."""
    server = origin([{"fault": fault}, OK])
    result = transfer(server, "postfields=order=7")
    assert len(server.requests) == 1
    assert has_result(result, 52 if fault == "fin" else 56)
    assert result.reasons == ["unsafe_replay"]


def test_ambiguous_replay_is_logged(origin, transfer):
    server = origin([{"fault": "reset"}, OK])
    result = transfer(server, "postfields=a", policy={"replay": "all"})
    assert len(server.requests) == 2
    assert [record["ambiguous"] for record in result.attempts] == [True, False]


def test_refused_status_is_proof_for_any_method(origin, transfer):
    server = origin([{"status": 429}, OK])
    transfer(server, "postfields=a", policy={"refused_status": "429"})
    assert len(server.requests) == 2


@pytest.mark.parametrize("method,attempts", [([], 2), (["nobody=1"], 2), (["request=DELETE"], 1)])
def test_retry_status_get_only(origin, transfer, method, attempts):
    server = origin([{"status": 500}, {"status": 200}])
    transfer(server, *method)
    assert len(server.requests) == attempts


def test_post_that_was_redirected_to_a_get_stays_unsafe(origin, transfer):
    server = origin([{"status": 303, "headers": [["Location", "/result"]]}, BUSY, OK])
    transfer(server, "postfields=a", "follow=1")
    assert [request.method for request in server.requests] == ["POST", "GET"]


# Idempotency keys.


def test_added_idempotency_key_is_the_same_in_all_attempts(origin, transfer):
    server = origin([BUSY, {"fault": "reset"}, OK, OK])
    policy = {"add_idempotency_key": "yes"}
    transfer(server, "postfields=a", "h=X-Own: 1", "--", "url=" + server.url("/second"), policy=policy)
    keys = [request.header("Idempotency-Key") for request in server.requests]
    assert len(keys) == 4
    assert keys[0] == keys[1] == keys[2] != keys[3]
    assert re.fullmatch(r"[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}", keys[0][0])
    assert all(request.header("X-Own") == ["1"] for request in server.requests)


@pytest.mark.parametrize(
    "options",
    [
        ["postfields=a", "h=Idempotency-Key: mine"],
        ["postfields=a", "h=Authorization: AWS4-HMAC-SHA256 Credential=x"],
        [],
        ["request=DELETE"],
    ],
)
def test_no_idempotency_key_is_added(origin, transfer, options):
    server = origin([OK])
    transfer(server, *options, policy={"add_idempotency_key": "yes"})
    assert [key for key in server.requests[0].header("Idempotency-Key") if key != "mine"] == []


def test_added_key_is_gone_afterwards(origin, transfer):
    server = origin([OK, OK])
    options = ["postfields=a", "h=X-Own: 1", "--", "url=" + server.url("/y"), "httpget=1"]
    transfer(server, *options, policy={"add_idempotency_key": "yes"})
    first, second = server.requests
    assert first.header("Idempotency-Key") and not second.header("Idempotency-Key")
    assert second.header("X-Own") == ["1"]


# Bodies that decide.


@pytest.mark.parametrize("framing", ["length", "chunked", "close"])
def test_final_body(origin, build, tenacurl_run, framing):
    quota = {"status": 429, "body": '{"error": "insufficient_quota"}', "framing": framing}
    server = origin([quota, OK])
    argv = [build / "tests/clients/transfer", server.url("/x")]
    result = tenacurl_run(argv, policy={**FAST, "final_body": "insufficient_quota"})
    assert len(server.requests) == 1
    assert b"insufficient_quota" in result.stdout
    assert result.reasons == ["terminal_error"]


def test_final_body_that_is_not_there(origin, transfer):
    server = origin([{"status": 429, "body": "slow down"}, OK])
    result = transfer(server, policy={"final_body": "insufficient_quota"})
    assert len(server.requests) == 2
    assert b"slow down" not in result.stdout


def test_final_body_in_audit_mode(origin, transfer):
    server = origin([{"status": 429, "body": "insufficient_quota"}, {"status": 429, "body": "slow down"}])
    policy = {"final_body": "insufficient_quota", "mode": "audit"}
    result = transfer(server, "--", "url=" + server.url("/y"), policy=policy)
    assert result.reasons == ["terminal_error", "transient_failure"]
    assert len(server.requests) == 2


def test_long_error_page_is_cut(origin, transfer):
    page = {"status": 503, "body_bytes": 10_000_000, "framing": "chunked"}
    server = origin([page, OK])
    result = transfer(server)
    assert len(server.requests) == 2
    assert has_result(result, 0)
    answer = wait_until(lambda: server.requests[0].answer, "the server's record of the page")
    assert answer["sent_bytes"] < 10_000_000


def test_dripping_error_page_is_cut(origin, transfer):
    page = {"status": 503, "body_bytes": 1000, "drip": {"bytes": 1, "every_ms": 50}}
    server = origin([page, OK])
    result = transfer(server)
    assert len(server.requests) == 2
    # 1000 bytes at 50 ms each would be 50 s.
    assert result.operation["elapsed_ms"] < 5000


def test_connection_is_kept_after_a_short_error_page(origin, transfer):
    server = origin([BUSY, OK])
    transfer(server)
    assert [request.connection for request in server.requests] == [1, 1]


def test_connection_is_fresh_after_a_reset(origin, transfer):
    server = origin([OK, {"fault": "reset", "end": "reset"}, OK])
    transfer(server, "--", "url=" + server.url("/y"))
    assert server.requests[-1].connection != server.requests[0].connection


@pytest.mark.parametrize("end,framing", [("close", "length"), ("reset", "chunked")])
def test_hold_success_bytes(origin, transfer, end, framing):
    cut = {"status": 200, "body_bytes": 3000, "send_bytes": 1000, "end": end, "framing": framing}
    server = origin([cut, {**cut, "send_bytes": 3000, "end": "keep"}])
    result = transfer(server, policy={"hold_success_bytes": 10000})
    assert len(server.requests) == 2
    assert has_result(result, 0)
    assert sum(int(n) for n in re.findall(rb"^write (\d+) ", result.stdout, re.M)) == 3000


@pytest.mark.parametrize(
    "step",
    [
        {"body_bytes": 30000, "send_bytes": 20000},
        {"body_bytes": 30000, "send_bytes": 20000, "framing": "chunked"},
        {"body_bytes": 300, "send_bytes": 200, "headers": [["Content-Type", "text/event-stream"]]},
    ],
)
def test_hold_success_bytes_has_a_bound(origin, transfer, step):
    server = origin([{"status": 200, "end": "close", **step}, OK])
    transfer(server, policy={"hold_success_bytes": 10000, "hold_body_bytes": 1000})
    assert len(server.requests) == 1


def test_flood_of_headers_is_let_through(origin, transfer):
    step = {"status": 503, "headers": [["X-Long", "x" * 1000]] * 80}
    server = origin([step, OK])
    result = transfer(server, policy={"hold_body_bytes": 10000})
    assert len(server.requests) == 1
    assert len(re.findall(rb"^header ", result.stdout, re.M)) == 80 + 3


# Budget, sections, programs.


def test_budget(build, origin, tenacurl_run):
    server = origin([{**BUSY, "repeat": True}])
    url = server.url("/x")
    argv = [build / "tests/clients/transfer", url, *further(url, 9)]
    policy = {**FAST, "budget_tokens": 5, "budget_refill_per_s": 0, "max_attempts": 3}
    result = tenacurl_run(argv, policy=policy)
    assert len(server.requests) == 10 + 5
    assert result.operations[-1]["reason"] == "budget_empty"


def test_budget_is_per_origin(build, origin, tenacurl_run):
    servers = [origin([{**BUSY, "repeat": True}]) for _ in range(2)]
    argv = [build / "tests/clients/transfer", servers[0].url("/x"), "--", "url=" + servers[1].url("/x")]
    tenacurl_run(argv, policy={**FAST, "budget_tokens": 1, "budget_refill_per_s": 0, "max_attempts": 5})
    assert [len(server.requests) for server in servers] == [2, 2]


@pytest.mark.parametrize(
    "keys,requests",
    [
        ({"budget_ratio": 0.5}, 6),
        ({"budget_ratio": 0.5, "budget_tokens": 0}, 7),
        ({"budget_ratio": 0}, 5),
        ({"budget_ratio": 0, "budget_refill_per_s": 1000, "jitter": "none", "backoff_base_ms": 100}, 7),
    ],
)
def test_what_comes_back_to_the_budget(origin, transfer, keys, requests):
    server = origin([BUSY, OK, OK, BUSY, OK, BUSY, OK])
    policy = {"budget_tokens": 1, "budget_refill_per_s": 0, "max_attempts": 2, **keys}
    result = transfer(server, *further(server.url("/x"), 3), policy=policy)
    # With what was earned: busy and fine, fine, busy and fine, busy.
    assert len(result.attempts) == len(server.requests)
    assert len(server.requests) == requests


# What a breaker that opened at the third failure leaves of five operations of two attempts.
OPEN, CLOSED = 3 + 1 + 1 + 1, 10


@pytest.mark.parametrize(
    "keys,requests",
    [
        ({}, OPEN),
        ({"breaker": "off"}, CLOSED),
        ({"breaker_failures": 100}, CLOSED),
        ({"breaker_outage_ms": 600_000}, CLOSED),
        ({"breaker_failures": 100, "breaker_failure_pct": 50, "breaker_min_attempts": 3}, OPEN),
        ({"breaker_failures": 100, "breaker_failure_pct": 50, "breaker_min_attempts": 100}, CLOSED),
        ({"breaker_action": "fail-fast"}, 3),
        ({"state": "process"}, OPEN),
        ({"state": "none"}, CLOSED),
    ],
    ids=lambda keys: "+".join(keys) if isinstance(keys, dict) else "",
)
def test_breaker(origin, transfer, keys, requests):
    server = origin([{**BUSY, "repeat": True}])
    policy = {"max_attempts": 2, "breaker_failures": 3, "breaker_outage_ms": 0, "breaker_open_ms": 600_000, **keys}
    transfer(server, *further(server.url("/x"), 4), policy=policy)
    assert len(server.requests) == requests


def test_upstream_sections(build, origin, tenacurl_run):
    server = origin([{**BUSY, "repeat": True}])
    policy = {
        "policy": {**FAST, "max_attempts": 2},
        "upstream slow": {"match": f"http://127.0.0.1:{server.port}/slow/*", "max_attempts": 4},
        "upstream none": {"match": "127.0.0.1/never*", "mode": "off"},
        "upstream port": {"match": f"*:{server.port}/never*", "mode": "off"},
    }
    argv = [build / "tests/clients/transfer", server.url("/x"), "--", "url=" + server.url("/slow/x"), "--"]
    result = tenacurl_run([*argv, "url=" + server.url("/never")], policy=policy)
    targets = [request.target for request in server.requests]
    assert [targets.count(target) for target in ("/x", "/slow/x", "/never")] == [2, 4, 1]
    assert {record["section"] for record in result.records} == {"policy", "slow"}


@pytest.mark.parametrize(
    "policy,attempts",
    [
        ({"programs": "curl"}, 2),
        ({"programs": "wget, cur*"}, 2),
        ({"programs": "wget"}, 1),
        ({"skip_programs": "curl"}, 1),
        ({"programs": "nightly"}, 2),
    ],
)
def test_programs(origin, tenacurl_run, policy, attempts):
    server = origin([{**BUSY, "repeat": True}])
    tenacurl_run(
        ["curl", "-sS", server.url("/x")], policy={**FAST, "max_attempts": 2, **policy}, options=["--job", "nightly"]
    )
    assert len(server.requests) == attempts


def test_program_is_known_by_its_script(origin, tenacurl_run, tmp_path):
    script = tmp_path / "fetch_rates.py"
    script.write_text(
        "import pycurl, sys\nc = pycurl.Curl()\nc.setopt(c.URL, sys.argv[1])\nc.setopt(c.WRITEFUNCTION, lambda b: None)\n"
        "c.perform()\n"
    )
    server = origin([{**BUSY, "repeat": True}])
    policy = {**FAST, "max_attempts": 2, "programs": "fetch_*.py"}
    result = tenacurl_run(["/usr/bin/python3", str(script), server.url("/x")], policy=policy)
    assert len(server.requests) == 2
    assert result.operation["program"] == "fetch_rates.py"


# Proxies.


@pytest.mark.parametrize("options", [[], ["postfields=a"], ["suppress_connect=1"]], ids=["get", "post", "suppressed"])
def test_proxy_that_refuses_connect_for_a_while(origin, transfer, options):
    """RC-25: the request never left, so a POST may be repeated too."""
    proxy = origin({"paths": {"CONNECT": [{"status": 502}, {"status": 200, "tunnel": True}]}})
    server = origin([OK])
    result = transfer(server, f"proxy=http://127.0.0.1:{proxy.port}", "proxytunnel=1", *options)
    assert has_result(result, 0)
    assert len(proxy.requests) == 2
    assert len(server.requests) == 1
    assert [record["failure"] for record in result.attempts] == ["proxy", "none"]


@pytest.mark.parametrize("status", [403, 407])
def test_proxy_that_refuses_connect_for_good(origin, transfer, status):
    proxy = origin({"paths": {"CONNECT": [{"status": status, "repeat": True}]}})
    server = origin([OK])
    result = transfer(server, f"proxy=http://127.0.0.1:{proxy.port}", "proxytunnel=1")
    assert len(proxy.requests) == 1
    assert b"info connect_code %d\n" % status in result.stdout


def test_proxy_asks_for_a_wait(origin, transfer):
    refusal = {"status": 503, "headers": [["Retry-After", "0.4"]]}
    proxy = origin({"paths": {"CONNECT": [refusal, {"status": 200, "tunnel": True}]}})
    server = origin([OK])
    transfer(server, f"proxy=http://127.0.0.1:{proxy.port}", "proxytunnel=1")
    first, second = proxy.requests
    assert second.first_byte_us - first.answer["us"] >= 400_000


def test_busy_origin_behind_a_proxy_tunnel(origin, transfer):
    proxy = origin({"paths": {"CONNECT": [{"status": 200, "tunnel": True, "repeat": True}]}})
    server = origin([BUSY, OK])
    result = transfer(server, f"proxy=http://127.0.0.1:{proxy.port}", "proxytunnel=1")
    assert len(server.requests) == 2
    assert b"busy" not in result.stdout and has_result(result, 0)


# libcurl's own resends.


def test_resends_are_counted(origin, transfer):
    server = origin([OK, {"fault": "fin", "repeat": 1}, OK])
    result = transfer(server, "--", "url=" + server.url("/y"))
    assert len(server.requests) == 3
    assert [record["sends"] for record in result.operations] == [1, 2]
    assert [record["attempts"] for record in result.operations] == [1, 1]


def test_resends_are_forbidden(origin, transfer):
    server = origin([OK, {"fault": "fin"}, OK])
    options = ["--", "url=" + server.url("/y"), "postfields=a"]
    result = transfer(server, *options, policy={"resend": "forbid"})
    assert len(server.requests) == 2
    assert has_result(result, 52)
    assert result.operations[1]["reason"] == "unsafe_replay"


@pytest.mark.parametrize("resend,posts", [("count", range(2, 9)), ("forbid", [1])])
def test_post_over_seven_dead_connections(origin, transfer, resend, posts):
    """Connections that the server closes as soon as it has read a request: libcurl goes from one to the next."""
    server = origin({"paths": {"/post": [{"fault": "fin", "repeat": True}]}, "steps": [{**OK, "repeat": True}]})
    url = "url=" + server.url("/x")
    fill_the_pool = ["maxconnects=20", "fresh=1"] + ["--", url] * 6
    result = transfer(server, *fill_the_pool, "--", "fresh=0", "url=" + server.url("/post"), "postfields=a",
                      policy={"resend": resend})
    seen = [request for request in server.requests if request.target == "/post"]
    assert len(seen) in posts
    assert result.operations[-1]["sends"] == len(seen)
    assert result.operations[-1]["attempts"] == 1


# What reads right to a person and means nothing.


@pytest.mark.parametrize(
    "text,status,told",
    [
        ("[policy]\nlog = \u201c/tmp/x.jsonl\u201d\n", 1, "typographic quotes are part of the value; allowed:"),
        ("[policy]\nprograms = git,\u00a0curl\n", 1, "a non-breaking space (U+00A0) in the value; allowed:"),
        ("[policy]\nlog = /tmp/a\tb.jsonl\n", 1, "a control character in the path; allowed:"),
        ("[upstream a]\nmatch = https://api.example/\n", 0, "fits this one path alone; for all below it put * behind it"),
        ("[policy]\nskip_programs = /usr/bin/curl\n", 0, "programs are known by the name of their file alone"),
        ("[upstream a]\nmatch = https//api.example\n", 0, "a scheme has :// behind it"),
        ("[upstream a]\nmatch = 10.0.0.0/8\n", 0, "networks aren't matched"),
        ("[upstream a]\nmatch = *.example\n[upstream b]\nmatch = b.example\n", 0, "so this section is never used"),
    ],
)
def test_d10_what_has_no_effect_is_told(build, tmp_path, text, status, told):
    path = tmp_path / "policy.ini"
    path.write_text(text)
    command = subprocess.run([build / "tenacurl", "policy", "check", path], capture_output=True, text=True)
    assert (command.returncode, told in command.stderr) == (status, True), command.stderr
