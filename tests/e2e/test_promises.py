# SPDX-License-Identifier: MIT
"""
Promises that are easily broken in a corner: what audit mode leaves alone, handles that are left in the middle,
callbacks that change options, bodies that decide, headers that nobody receives, and what a handle shares with others.
"""

import errno
import re

import pytest
from support.seen import seen, without_info

OK = {"status": 200, "headers": [["X-Final", "yes"]], "body": "hello world"}
BUSY = {"status": 503, "headers": [["X-Busy", "yes"]], "body": "come back later"}
LEAVING = {**BUSY, "headers": [["X-Busy", "yes"], ["Connection", "close"]]}
ASKS_20_S = {"status": 503, "headers": [["Retry-After", "20"]]}
TO_FINAL = {"status": 302, "headers": [["Location", "/final"], ["X-Step", "1"]], "body": "moved"}
DIGEST = {"status": 401, "headers": [["WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"']], "body": "who"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}
# As in test_transparency.py: what a retry changes by being one.
DIFFERS_AFTER_RETRY = ("num_connects", "request_size")
# Far longer than anything here takes, far shorter than what the server would keep a client waiting.
GENEROUS_MS = 10_000


@pytest.fixture
def plain(build, bare):
    """plain(server, *options) -> Result of tests/clients/transfer without tenacurl."""
    return lambda server, *options: bare([build / "tests/clients/transfer", server.url("/first"), *options])


@pytest.fixture
def enforced(build, tenacurl_run):
    """enforced(server, *options, **policy) -> Result of tests/clients/transfer under `tenacurl run`."""

    def run(server, *options, **policy):
        argv = [build / "tests/clients/transfer", server.url("/first"), *options]
        return tenacurl_run(argv, policy={**FAST, **policy})

    return run


def result_codes(result):
    return [int(code) for code in re.findall(rb"^result (\d+) ", result.stdout, re.M)]


def elapsed_ms(result):
    return [int(ms) for ms in re.findall(rb"^elapsed_ms (\d+) ", result.stderr, re.M)]


def without_times(lines):
    """Without the milliseconds that libcurl writes into some errors."""
    return [re.sub(r"after \d+ ms", "after N ms", line) for line in lines]


def after_retry(result, server):
    return without_info(seen(result, server.port), *DIFFERS_AFTER_RETRY)


# Audit changes nothing.


@pytest.mark.parametrize(
    "policy",
    [
        {"per_try_ms": 100},
        {"deadline_ms": 100},
        {"connect_timeout_ms": 1},
        {"retry_max_time_ms": 1},
        {"resend": "forbid"},
        {"add_idempotency_key": "yes"},
        {"hold_success_bytes": 10000, "hold_redirects": "yes"},
    ],
    ids=lambda policy: "+".join(policy),
)
def test_audit_changes_nothing(origin, plain, enforced, policy):
    script = [{**TO_FINAL, "delay_ms": 150}, {**OK, "delay_ms": 150}, {"fault": "fin"}, OK]
    options = ["follow=1", "postfields=a=b", "--", "url=URL"]
    servers = [origin(script) for _ in range(2)]
    with_url = [[option.replace("URL", server.url("/second")) for option in options] for server in servers]
    expected = seen(plain(servers[0], *with_url[0]), servers[0].port)
    audited = enforced(servers[1], *with_url[1], mode="audit", min_try_ms=10, **policy)
    assert seen(audited, servers[1].port) == expected
    requests = [[(r.method, r.target, r.head.replace(b"%d" % s.port, b"PORT")) for r in s.requests] for s in servers]
    assert requests[1] == requests[0]


def test_audit_does_not_act_on_a_spent_deadline(origin, build, plain, tenacurl_run):
    servers = [origin([OK]) for _ in range(2)]
    expected = seen(plain(servers[0]), servers[0].port)
    script = f"sleep 0.3; exec {build}/tests/clients/transfer {servers[1].url('/first')}"
    audited = tenacurl_run(["sh", "-c", script], policy={"mode": "audit"}, options=["--deadline", "100ms"])
    assert seen(audited, servers[1].port) == expected
    assert len(servers[1].requests) == 1


# `resend = forbid` is about libcurl's silent resends, not about the requests that a transfer consists of.

CHAINS = {
    "redirects": ([TO_FINAL, {**TO_FINAL, "status": 307}, OK], ["follow=1"]),
    "redirected-post": ([{**TO_FINAL, "status": 307}, OK], ["follow=1", "postfields=a=b"]),
    "digest": ([DIGEST, OK], ["httpauth=2", "userpwd=u:p"]),
    "digest-post": ([DIGEST, OK], ["httpauth=2", "userpwd=u:p", "postfields=a=b"]),
    "any-auth": ([DIGEST, OK], ["httpauth=-17", "userpwd=u:p"]),
    "redirect-then-digest": ([TO_FINAL, DIGEST, OK], ["follow=1", "httpauth=2", "userpwd=u:p"]),
    "expect": ([OK], ["postfields=a=b", "h=Expect: 100-continue"]),
    "second-on-the-connection": ([OK, OK], ["postfields=a=b", "--"]),
}


@pytest.mark.parametrize("name", CHAINS)
def test_forbidden_resends_leave_chains_alone(origin, plain, enforced, name):
    script, options = CHAINS[name]
    servers = [origin(script) for _ in range(2)]
    expected = after_retry(plain(servers[0], *options), servers[0])
    # libcurl before 7.80 gets fresh connections instead, which is no other transfer for the program.
    assert after_retry(enforced(servers[1], *options, resend="forbid"), servers[1]) == expected
    assert len(servers[1].requests) == len(servers[0].requests)


def test_error_text_of_a_forbidden_resend(origin, enforced):
    server = origin([OK, {"fault": "fin"}, OK])
    result = enforced(server, "--", "postfields=a", resend="forbid")
    assert len(server.requests) == 2
    assert b"\nresult 52 Empty reply from server\n" in result.stdout


# Handles that are left in the middle.


@pytest.mark.parametrize("how,who", [("jump", "same"), ("jump", "other"), ("cancel", "other")])
def test_handle_that_was_left_in_a_wait_can_be_used_again(build, origin, tenacurl_run, how, who):
    server = origin([ASKS_20_S, BUSY, OK, BUSY, OK])
    result = tenacurl_run([build / "tests/clients/abandoned", server.url("/x"), how, who], policy=FAST)
    left = {"jump": "jumped", "cancel": "cancelled"}[how]
    good = f"result 0 status 200 body {len(OK['body'])}"
    # Further down its stack the thread might be in the callback still: refused, as libcurl would.
    again = "result 2 status 503 body 0" if (how, who) == ("jump", "same") else good
    assert result.stdout.decode().splitlines() == [left, f"again {again}", f"last {good}"], result
    assert len(server.requests) == (5 if again == good else 3)


@pytest.mark.parametrize("thrower", ["header", "write", "progress"])
def test_exception_through_a_callback(build, origin, tenacurl_run, thrower):
    client = build / "tests/clients/thrown"
    if not client.exists():
        pytest.skip("built without a C++ compiler")
    script = [BUSY, OK] if thrower == "progress" else [OK]
    server = origin(([ASKS_20_S] if thrower == "progress" else [OK]) + [BUSY, OK] + script)
    result = tenacurl_run([client, server.url("/x"), thrower], policy=FAST)
    lines = [f"caught {thrower}", "fresh result 0 status 200"]
    if thrower == "progress":
        lines.append("same result 0 status 200")
    assert result.stdout.decode().splitlines() == lines, result
    assert len(server.requests) == (5 if thrower == "progress" else 3)


def test_address_of_a_handle_goes_to_another_thread(build, origin, tenacurl_run):
    """One arena: the memory that one thread frees is what the other gets next."""
    server = origin([BUSY, OK] * 600)
    argv = [build / "tests/clients/recycled", server.url("/x"), "2", "300", "4"]
    policy = {**FAST, "max_attempts": 50, "budget_tokens": 0}
    result = tenacurl_run(argv, policy=policy, env={"MALLOC_ARENA_MAX": "1"})
    assert result.stdout == b"600 whole\n", result.stderr


# What counts as delivered, and what is final.


@pytest.mark.parametrize("end,code", [("reset", 56), ("close", 18)])
def test_headers_that_nobody_receives_commit_nothing(origin, enforced, end, code):
    cut = {**OK, "send_bytes": 0, "end": end}
    server = origin([cut, OK])
    result = enforced(server, "callbacks=file")
    assert result_codes(result) == [0]
    assert len(server.requests) == 2
    server = origin([cut, OK])
    result = enforced(server, "callbacks=both")
    assert result_codes(result) == [code]
    assert len(server.requests) == 1


def test_refused_socket_is_final(origin, plain, enforced):
    servers = [origin([{**OK, "repeat": True}]) for _ in range(2)]
    expected = seen(plain(servers[0], "opensocket=refuse"), servers[0].port)
    result = enforced(servers[1], "opensocket=refuse")
    assert without_times(seen(result, servers[1].port)) == without_times(expected)
    assert len(result.attempts) == 1
    assert result.reasons == ["cancelled"]


def test_time_condition_makes_a_delete_conditional(origin, enforced):
    server = origin([BUSY, OK])
    enforced(server, "request=DELETE", "timecondition=1", "timevalue=1000000000")
    assert server.requests[0].header("If-Modified-Since")
    assert len(server.requests) == 1


def test_good_response_with_too_many_headers_is_a_success(origin, plain, enforced):
    step = {**OK, "headers": [["X-Long", "x" * 1000]] * 80}
    servers = [origin([step]) for _ in range(2)]
    expected = seen(plain(servers[0]), servers[0].port)
    result = enforced(servers[1], hold_body_bytes=10000)
    assert seen(result, servers[1].port) == expected
    assert result.reasons == ["success"]
    assert result.operation["reason"] == "success"


def test_held_success_may_take_its_time(origin, enforced):
    slow = {"status": 200, "body_bytes": 3000, "drip": {"bytes": 300, "every_ms": 150}}
    server = origin([BUSY, slow])
    result = enforced(server, hold_success_bytes=10000, retry_max_time_ms=600)
    assert result_codes(result) == [0]
    assert sum(int(n) for n in re.findall(rb"^write (\d+) ", result.stdout, re.M)) == 3000
    assert elapsed_ms(result)[0] > 600


def test_head_of_an_error_page_keeps_the_connection(origin, enforced):
    page = {"status": 503, "declared_bytes": 1_000_000, "send_bytes": 0, "end": "keep"}
    server = origin([page, {**page, "status": 200}])
    result = enforced(server, "nobody=1")
    assert result_codes(result) == [0]
    assert [request.connection for request in server.requests] == [1, 1]


# Bodies that decide.

QUOTA = "insufficient_quota"
LONG_QUOTA = "x" * 30 + QUOTA + "y" * 30


@pytest.mark.parametrize(
    "page",
    [
        {"body": LONG_QUOTA, "drip": {"bytes": 7, "every_ms": 10}},
        {"body": LONG_QUOTA, "drip": {"bytes": 9, "every_ms": 10}, "framing": "chunked"},
        {"body": LONG_QUOTA, "drip": {"bytes": 40, "every_ms": 50}, "framing": "close"},
    ],
    ids=["drip", "chunked", "in-two"],
)
def test_final_body_that_comes_in_pieces(origin, plain, enforced, page):
    servers = [origin([{"status": 429, **page}, OK]) for _ in range(2)]
    expected = seen(plain(servers[0]), servers[0].port)
    result = enforced(servers[1], final_body=QUOTA)
    assert seen(result, servers[1].port) == expected
    assert result.reasons == ["terminal_error"]
    assert len(servers[1].requests) == 1


def test_final_body_before_a_stall(origin, plain, enforced):
    """The text was there: the response is the program's, and so is what becomes of the rest."""
    page = {"status": 429, "body": LONG_QUOTA, "declared_bytes": 1000, "end": "silence"}
    servers = [origin([page, OK]) for _ in range(2)]
    expected = [line for line in seen(plain(servers[0], "timeout_ms=1200"), servers[0].port) if line[:6] != "result"]
    result = enforced(servers[1], "timeout_ms=1200", final_body=QUOTA)
    assert [line for line in seen(result, servers[1].port) if line[:6] != "result"] == expected
    assert result_codes(result) == [28]
    assert len(servers[1].requests) == 1


@pytest.mark.parametrize(
    "page",
    [
        {"body": "slow down", "declared_bytes": 1000, "end": "silence"},
        {"body": "", "declared_bytes": 1000, "end": "silence"},
        {"body_bytes": 1000, "drip": {"bytes": 1, "every_ms": 50}},
    ],
    ids=["stalls", "stalls-at-once", "drips"],
)
def test_no_final_body_in_sight(origin, enforced, page):
    server = origin([{"status": 429, **page}, OK])
    result = enforced(server, final_body=QUOTA)
    assert len(server.requests) == 2
    assert result_codes(result) == [0]
    assert elapsed_ms(result)[0] < GENEROUS_MS


# Proxies and HTTP/2.


@pytest.mark.parametrize("faults", [[], [LEAVING]], ids=["at-once", "in-a-retry"])
@pytest.mark.parametrize("callbacks", [["header=0"], ["header=1"], ["callbacks=header-by-write"]], ids=lambda c: c[0])
@pytest.mark.parametrize("suppress", [0, 1])
def test_headers_of_a_tunnel(origin, plain, enforced, callbacks, suppress, faults):
    """The proxy's answer belongs to the attempt that made the tunnel, and goes to the header callback as ever."""
    accept = {"status": 200, "tunnel": True, "headers": [["X-Proxy", "yes"]], "repeat": True}
    outputs = []
    for run, script in ((plain, [OK]), (enforced, [*faults, OK])):
        proxy, server = origin({"paths": {"CONNECT": [accept]}}), origin(script)
        options = [f"proxy=http://127.0.0.1:{proxy.port}", "proxytunnel=1", f"suppress_connect={suppress}", *callbacks]
        outputs.append(after_retry(run(server, *options), server))
    assert outputs[1] == outputs[0]
    assert len(proxy.requests) == len(server.requests) == 1 + len(faults)


def test_upgrade_to_http2(origin, real_server, build, bare, tenacurl_run):
    outputs = []
    for run, script in ((bare, [OK]), (tenacurl_run, [BUSY, OK])):
        server = origin(script)
        front = real_server("nghttpx", server.port)
        arguments = {} if run is bare else {"policy": FAST}
        result = run([build / "tests/clients/transfer", front.plain_url("/x"), "http_version=3"], **arguments)
        outputs.append([line for line in seen(result, front.plain_port) if not line.startswith("header date:")])
        if run is bare and "info http_version 3" not in outputs[0]:
            pytest.skip("this libcurl has no HTTP/2")
    assert len(server.requests) == 2
    # A connection that is HTTP/2 already isn't upgraded again.
    without_upgrade = [[line for line in lines if " 101 " not in line] for lines in outputs]
    body_and_result = [[line for line in lines if not line.startswith(("header", "info"))] for lines in without_upgrade]
    assert body_and_result[1] == body_and_result[0]
    assert "header HTTP/2 200 \\x0d\\x0a" in outputs[1]
    assert not any("x-busy" in line for line in outputs[1])


# Pauses, progress.


@pytest.mark.parametrize("at", range(1, 8))
def test_pause_anywhere_in_a_redirect_step(origin, plain, enforced, at):
    """Four lines and a blank one of the step, then those of the final response."""
    options = ["follow=1", f"pause_header={at}", "progress=new"]
    servers = [origin([TO_FINAL, OK]), origin([TO_FINAL, OK]), origin([BUSY, TO_FINAL, OK])]
    expected = seen(plain(servers[0], *options), servers[0].port)
    assert sum(line == "pause header" for line in expected) == 1
    assert seen(enforced(servers[1], *options), servers[1].port) == expected
    survived = after_retry(enforced(servers[2], *options), servers[2])
    assert survived == without_info(expected, *DIFFERS_AFTER_RETRY)


def test_progress_callback_that_libcurl_calls_is_called_in_waits(origin, plain, enforced):
    """Setting the older function to NULL takes nothing from the newer one: libcurl goes on calling it, and so do we."""
    options = ["progress=then-null", "abort_progress_after_ms=300"]
    if result_codes(plain(origin([{"fault": "silence"}]), *options, "timeout_ms=5000")) == [28]:
        pytest.skip("this libcurl has the older function only")
    server = origin([ASKS_20_S, OK])
    result = enforced(server, *options)
    assert result_codes(result) == [42]
    assert elapsed_ms(result)[0] < GENEROUS_MS


# Options that change inside callbacks.

SLOW_OK = {**OK, "delay_ms": 900}
SLOW_BODY = {**OK, "body_delay_ms": 900}
SILENT_BODY = {**OK, "send_bytes": 3, "end": "silence"}
AT_STEP, AT_FINAL = "at_header=HTTP/1.1 302", "at_header=HTTP/1.1 200"
TIMEOUT_CHANGES = {
    "shorter": ("timeout_ms=60000", "500", {"fault": "silence"}, SILENT_BODY, 28),
    "first": ("timeout_ms=0", "500", {"fault": "silence"}, SILENT_BODY, 28),
    "longer": ("timeout_ms=500", "20000", SLOW_OK, SLOW_BODY, 0),
    "none": ("timeout_ms=500", "0", SLOW_OK, SLOW_BODY, 0),
}


@pytest.mark.parametrize("faults", [[], [BUSY]], ids=["at-once", "in-a-retry"])
@pytest.mark.parametrize("where", ["step", "final"])
@pytest.mark.parametrize("name", TIMEOUT_CHANGES)
def test_timeout_that_changes_inside_a_callback(origin, plain, enforced, name, where, faults):
    before, after, second_hop, body, code = TIMEOUT_CHANGES[name]
    chain = [TO_FINAL, second_hop] if where == "step" else [body]
    options = ["follow=1", before, AT_STEP if where == "step" else AT_FINAL, f"then=timeout_ms={after}"]
    if result_codes(plain(origin(chain), *options)) != [code]:
        pytest.skip("this libcurl keeps the timeout that a transfer began with")
    # Once the timeout is over there is no time for a retry, so a response that was cut by it is the last one.
    server = origin([*faults, *chain])
    result = enforced(server, *options)
    assert result_codes(result) == [code]
    assert len(server.requests) == len(faults) + len(chain)
    assert elapsed_ms(result)[0] < GENEROUS_MS


@pytest.mark.parametrize("faults", [[], [BUSY]], ids=["at-once", "in-a-retry"])
def test_timeout_that_changed_inside_a_callback_stays(origin, enforced, faults):
    server = origin([*faults, TO_FINAL, OK, SLOW_OK])
    result = enforced(server, "follow=1", "timeout_ms=500", AT_STEP, "then=timeout_ms=0", "--")
    assert result_codes(result) == [0, 0]


@pytest.mark.parametrize("faults", [[], [BUSY]], ids=["at-once", "in-a-retry"])
@pytest.mark.parametrize("which", ["header", "write", "both"])
@pytest.mark.parametrize("at", ["HTTP/1.1 200", "X-Final", "Content-Length"])
def test_callbacks_that_change_inside_a_header_callback(origin, plain, enforced, at, which, faults):
    options = [f"at_header={at}", f"then=others={which}"]
    servers = [origin([OK]), origin([*faults, OK])]
    expected = after_retry(plain(servers[0], *options), servers[0])
    assert any(line.startswith("other-") for line in expected)
    assert after_retry(enforced(servers[1], *options), servers[1]) == expected


@pytest.mark.parametrize("faults", [[], [BUSY]], ids=["at-once", "in-a-retry"])
def test_write_callback_that_changes_inside_a_write(origin, enforced, faults):
    server = origin([*faults, {"status": 200, "body_bytes": 200_000}])
    result = enforced(server, "at_write=1", "then=others=write")
    own = re.findall(rb"^write (\d+) ", result.stdout, re.M)
    other = re.findall(rb"^other-write (\d+) ", result.stdout, re.M)
    assert len(own) == 1 and other
    assert sum(int(n) for n in own + other) == 200_000


def test_copy_of_a_handle_that_is_made_in_its_own_callback(origin, plain, enforced):
    options = [AT_FINAL, "then=copy=1"]
    servers = [origin([OK, OK]), origin([BUSY, OK, BUSY, OK])]
    expected = after_retry(plain(servers[0], *options), servers[0])
    assert expected.count("copy result 0") == 1
    assert after_retry(enforced(servers[1], *options), servers[1]) == expected
    assert len(servers[1].requests) == 4


# What a handle shares with others.


def test_cookie_of_a_failed_response_is_sent_with_the_retry(origin, enforced):
    """As a browser does; docs/design.md names it."""
    server = origin([{**BUSY, "headers": [["Set-Cookie", "s=1"]]}, OK])
    enforced(server, "cookiefile=/dev/null")
    assert [request.header("Cookie") for request in server.requests] == [[], ["s=1"]]


def test_locks_of_a_share(origin, build, tenacurl_run):
    busy = {**BUSY, "headers": [["Set-Cookie", "s=1"], ["Retry-After", "0.7"]]}
    server = origin([busy, OK, OK])
    result = tenacurl_run([build / "tests/clients/shared", server.url("/x")], policy=FAST)
    assert result.stdout.decode().splitlines() == [
        "result 0 held 0",
        "result 0 held 0",
        "share 0 held 0 in callbacks 0 locks used",
    ]
    assert server.requests[2].header("Cookie") == ["s=1"]


def test_memory_of_hosts_and_services(origin, real_server, certificate, build, bare, tenacurl_run, tmp_path):
    """HSTS and alt-svc files hold what libcurl wrote, once, whether the response that said it was retried or not."""
    says = [["Strict-Transport-Security", "max-age=1000"], ["Alt-Svc", 'h2="localhost:1"; ma=1000']]
    kept = []
    runs = [(bare, [OK]), (bare, [{**OK, "headers": says}]), (tenacurl_run, [{**BUSY, "headers": says}, OK])]
    for run, script in runs:
        directory = tmp_path / f"kept{len(kept)}"
        directory.mkdir()
        front = real_server("haproxy", origin(script).port)
        options = [f"hsts={directory}/hsts", "hsts_ctrl=1", f"altsvc={directory}/altsvc", "altsvc_ctrl=8"]
        argv = [build / "tests/clients/transfer", front.url("/x"), f"cainfo={certificate.path}", *options]
        result = run(argv, **({} if run is bare else {"policy": FAST}))
        if result_codes(result) != [0]:
            pytest.skip("this libcurl has no TLS")
        kept.append({path.name: entries(path, front.port) for path in directory.iterdir()})
    if kept[0] == kept[1]:
        pytest.skip("this libcurl keeps neither HSTS nor alt-svc")
    assert kept[2] == kept[1]


def entries(path, port):
    """Lines of an HSTS or alt-svc file without comments, dates and port."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("#")]
    return [re.sub(r'"[\d: ]+"', "DATE", line.replace(str(port), "PORT")) for line in lines]


def test_errno_is_never_ours(origin, build, plain, runner, tmp_path):
    """What libcurl leaves in errno varies; our own failures (here: a log that can't be written) never show in it."""
    ours = {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EBADF, errno.ENOSYS, errno.EINVAL}

    def errno_after(result):
        return [int(number) for number in re.findall(rb" errno (\d+)$", result.stderr, re.M)]

    left_by_libcurl = errno_after(plain(origin([OK, OK]), "--"))
    assert not ours & set(left_by_libcurl)
    server = origin([OK, BUSY, OK, TO_FINAL])
    environment = {"LD_PRELOAD": str(build / "libtenacurl.so"), "TENACURL_LOG": str(tmp_path / "missing" / "log")}
    argv = [build / "tests/clients/transfer", server.url("/x"), "--", "--"]
    result = runner.bare(argv, environment)
    assert len(server.requests) == 4
    assert not ours & set(errno_after(result)), errno_after(result)
