# SPDX-License-Identifier: MIT
"""Field cases: being inside a foreign process, and what the log tells."""

import os
import re

import pytest
from support.field_cases import T0, field_case, log_text, performed  # noqa: F401

OK = {"status": 200, "body": "ok"}
BUSY = {"status": 503, "body": "busy"}


# How libcurl comes into the process.


@pytest.mark.parametrize("flavour", ["openssl", "gnutls"])
def test_rc_36_plugin_that_a_preload_cannot_see(build, origin, bare, tenacurl_run, flavour):
    """RTLD_DEEPBIND: the program runs as it would without us, and no record claims otherwise."""
    plugin = build / f"tests/plugins/fetch-{flavour}.so"
    if not plugin.exists():
        pytest.skip(f"the {flavour} flavour of libcurl is not installed")
    outputs = []
    for run, arguments in ((bare, {}), (tenacurl_run, {"policy": T0, "binder": False})):
        server = origin([{**BUSY, "repeat": True}])
        get = ["get", "p", server.url("/x"), "close", "p"]
        result = run([build / "tests/plugins/host", "open", "p", plugin, "deepbind", *get], **arguments)
        assert result.returncode == 0 and len(server.requests) == 1, result
        assert not result.records
        outputs.append((result.stdout, result.stderr))
    assert outputs[0] == outputs[1]
    assert b"result 0 status 503" in outputs[1][0]


@pytest.mark.parametrize("flavour", ["openssl", "gnutls"])
def test_rc_37_plugin_that_rtld_next_cannot_see(build, origin, tenacurl_run, flavour):
    """A program without libcurl, a plugin opened RTLD_LOCAL: this is how Python, R and Perl come by it."""
    plugin = build / f"tests/plugins/fetch-{flavour}.so"
    if not plugin.exists():
        pytest.skip(f"the {flavour} flavour of libcurl is not installed")
    server = origin([BUSY, OK])
    argv = [build / "tests/plugins/host", "open", "p", plugin, "local", "get", "p", server.url("/x"), "close", "p"]
    result = tenacurl_run(argv, policy=T0)
    assert b"p result 0 status 200 " in result.stdout and b"body ok\n" in result.stdout, result
    assert len(server.requests) == 2
    assert result.operation["attempts"] == 2


# Forks.


def test_rc_39_children_of_a_process_that_waits(build, origin, tenacurl_run):
    """Eight children, forked while another thread of the parent waits for its retry; each gets what it asked for."""
    count = 8
    paths = {f"/child/{i}": [BUSY, {"body": f"id{i}"}] for i in range(count)}
    paths["/parent"] = [{**BUSY, "headers": [["Retry-After", "1"]]}, {"body": "parent"}]
    server = origin({"paths": paths})
    argv = [build / "tests/clients/forks", "waiting", "fork", server.url(""), str(count)]
    result = tenacurl_run(argv, policy=T0)
    assert result.returncode == 0, result
    expected = [f"child/{i} result 0 status 200 body id{i}" for i in range(count)]
    assert sorted(result.stdout.decode().splitlines()) == [*expected, "parent result 0 status 200 body parent"]
    assert sorted(request.target for request in server.requests) == sorted(list(paths) * 2)

    pids = {record["url"].partition(str(server.port))[2]: record["pid"] for record in result.operations}
    assert len(set(pids.values())) == count + 1
    for record in result.attempts:
        assert record["pid"] == pids[record["url"].partition(str(server.port))[2]]
    # Dice that came along with the fork would fall alike in all children.
    of_children = [record for record in result.attempts if "/child/" in record["url"]]
    waits_ms = [record["wait_ms"] for record in of_children if record["attempt"] == 1]
    assert len(waits_ms) == count and len(set(waits_ms)) > 1
    # Records of nine processes, each a whole line: the parser of the log would have failed else.
    assert len(result.records) == 3 * (count + 1)


def test_rc_39_handle_of_the_parent(build, origin, tenacurl_run):
    """A handle that performed before the fork is the parent's: the child's use of it is passed through."""
    names = ("parent", "inherited", "prepared", "own", "again")
    server = origin({"paths": {f"/{name}": [BUSY, {"body": name}] for name in names}})
    result = tenacurl_run([build / "tests/clients/forks", "handles", "fork", server.url("")], policy=T0)
    assert result.returncode == 0, result
    lines = dict(line.split(" ", 1) for line in result.stdout.decode().splitlines())
    assert lines["inherited"] == "result 0 status 503 body busy"
    for name in ("parent", "prepared", "own", "again"):
        assert lines[name] == f"result 0 status 200 body {name}"


# What isn't a request and its answer.


def test_rc_40_connect_only(build, origin, bare, tenacurl_run):
    outputs = []
    for run, arguments in ((bare, {}), (tenacurl_run, {"policy": T0})):
        server = origin([BUSY, OK])
        result = run([build / "tests/clients/left_alone", server.url("/x"), "connect-only"], **arguments)
        assert result.returncode == 0, result
        assert [request.target for request in server.requests] == ["/by-hand"]
        outputs.append(result.stdout)
    assert outputs[0] == outputs[1]
    assert b"result 0 " in outputs[1] and b"HTTP/1.1 503" in outputs[1]


@pytest.mark.parametrize("connect_only", [1, 2])
def test_rc_40_connect_only_that_is_refused(build, origin, bare, tenacurl_run, connect_only):
    outputs = []
    for run, arguments in ((bare, {}), (tenacurl_run, {"policy": T0})):
        server = origin([OK], refuse_ms=600_000)
        result = run([build / "tests/clients/transfer", server.url("/x"), f"connect_only={connect_only}"], **arguments)
        (case,) = performed(result)
        outputs.append((case.result, case.events))
    assert outputs == [(7, [])] * 2


def test_rc_40_websocket_style_connect_only(build, origin, bare, tenacurl_run):
    outputs = []
    for run, arguments in ((bare, {}), (tenacurl_run, {"policy": T0})):
        server = origin([BUSY, OK])
        argv = [build / "tests/clients/transfer", server.url("/x"), "connect_only=2", "timeout_ms=3000"]
        (case,) = performed(run(argv, **arguments))
        outputs.append((case.result, case.events, len(server.requests)))
    assert outputs[0] == outputs[1] and outputs[1][2] <= 1


# More is announced than comes.
EVENTS = {
    "status": 200,
    "headers": [["Content-Type", "text/event-stream"]],
    "declared_bytes": 1000,
    "body": "data: 1\n\ndata: 2\n\ndata: 3\n\n",
    "drip": {"bytes": 9, "every_ms": 20},
}
ALL_EVENTS = "data: 1\\x0a\\x0adata: 2\\x0a\\x0adata: 3\\x0a\\x0a"


@pytest.mark.parametrize("options", [[], ["postfields=a"]], ids=["get", "post"])
@pytest.mark.parametrize("held", [0, 65536])
def test_rc_40_event_stream_that_breaks_off(field_case, options, held):
    """Whatever the policy holds of other successes."""
    steps = [{**EVENTS, "end": "close"}, OK]
    seen = field_case(steps, *options, policy={"hold_success_bytes": held}).came(requests=1, result=18, status=200)
    assert seen.case.body == ALL_EVENTS


def test_rc_40_event_stream_that_is_reset(field_case):
    # The reset may overtake the last event on its way into libcurl.
    steps = [{**EVENTS, "end": "reset"}, OK]
    seen = field_case(steps, compares=False).came(requests=1, result=56, status=200)
    assert ALL_EVENTS.startswith(seen.case.body)


def test_rc_40_event_stream_that_the_program_ends(field_case):
    steps = [{**EVENTS, "end": "silence"}, OK]
    seen = field_case(steps, "timeout_ms=1000").came(requests=1, result=28, status=200)
    assert seen.case.body == ALL_EVENTS
    assert seen.case.elapsed_ms >= 1000


# The log.

LEAKY = [{**BUSY, "headers": [["Set-Cookie", "s=SETC"], ["Location", "http://x:LOCPW@h/?t=LOCTOK"]]}, OK]
NEVER_LOGGED = "S3CRET T0KEN SIGN B3ARER C00KIE PW2 PPW SETC LOCPW LOCTOK frag us3r".split()


def has_no_secret(result):
    text = log_text(result)
    found = [secret for secret in NEVER_LOGGED if secret in text]
    assert not found, text
    return text


@pytest.mark.parametrize("log_url", ["path", "full-path", "origin", "hash"])
def test_rc_41_no_secret_in_the_log(build, origin, tenacurl_run, log_url):
    server = origin(LEAKY)
    url = f"http://us3r:S3CRET@127.0.0.1:{server.port}/p/ath?token=T0KEN&X-Amz-Signature=SIGN#frag"
    options = ["h=Authorization: Bearer B3ARER", "h=Cookie: c=C00KIE", "proxyuserpwd=pu:PPW"]
    result = tenacurl_run([build / "tests/clients/transfer", url, *options], policy={**T0, "log_url": log_url})
    assert performed(result)[0].result == 0 and len(server.requests) == 2
    # The request itself is unchanged.
    assert {request.target for request in server.requests} == {"/p/ath?token=T0KEN&X-Amz-Signature=SIGN"}
    assert all(request.header("Authorization") == ["Bearer B3ARER"] for request in server.requests)
    has_no_secret(result)
    first = result.attempts[0]
    assert (first["method"], first["status"], first["attempt"]) == ("GET", 503, 1) and first["wait_ms"] <= 100
    assert first["url"].startswith(f"http://127.0.0.1:{server.port}")
    assert ("/p/ath" in first["url"]) == (log_url in ("path", "full-path"))


def test_rc_41_passwords_that_are_options(build, origin, tenacurl_run):
    server = origin(LEAKY)
    argv = [build / "tests/clients/transfer", server.url("/p/ath"), "userpwd=us3r:PW2", "proxyuserpwd=pu:PPW"]
    result = tenacurl_run(argv, policy=T0)
    assert len(server.requests) == 2 and all(request.header("Authorization") for request in server.requests)
    has_no_secret(result)


@pytest.mark.parametrize(
    "userinfo",
    ["us3r%40S3CRET:S3CRET@", "us3r:S3CRET@PW2@", "us3r:S3CRET/PW2@", "us3r@S3CRET:PW2@", "us3r;S3CRET:PW2@"],
)
def test_rc_41_userinfo_that_is_hard_to_read(build, origin, tenacurl_run, userinfo):
    """Whatever libcurl makes of it; some of these it refuses."""
    server = origin(LEAKY)
    url = f"http://{userinfo}127.0.0.1:{server.port}/p/ath?token=T0KEN"
    has_no_secret(tenacurl_run([build / "tests/clients/transfer", url], policy=T0))


@pytest.mark.parametrize(
    "url",
    ["http://us3r:S3CRET@[127.0.0.1/T0KEN", "http://us3r:S3CRET@127.0.0.1:99999999/T0KEN", "S3CRET us3r T0KEN"],
)
def test_rc_41_address_that_does_not_parse(build, bare, tenacurl_run, url):
    argv = [build / "tests/clients/transfer", url, "timeout_ms=2000"]
    without, result = performed(bare(argv))[0], tenacurl_run(argv, policy=T0)
    case = performed(result)[0]
    assert (case.result, case.error) == (without.result, without.error)
    has_no_secret(result)


def test_rc_41_control_bytes_in_the_path(build, origin, tenacurl_run):
    """A record stays one line of valid JSON, and the byte that a terminal would obey isn't in it."""
    server = origin(LEAKY)
    argv = [build / "tests/clients/transfer", server.url("/p\x1b[2J\ta\x7fth"), "timeout_ms=2000"]
    result = tenacurl_run(argv, policy={**T0, "log_url": "full-path"})
    text = has_no_secret(result)
    assert re.search(r"[\x00-\x09\x0b-\x1f\x7f]", text) is None
    assert len(text.splitlines()) == len(result.records)


def test_rc_41_address_as_a_url_object(build, origin, bare, tenacurl_run):
    server = origin(LEAKY)
    url = f"http://us3r:S3CRET@127.0.0.1:{server.port}/p/ath?token=T0KEN#frag"
    argv = [build / "tests/clients/transfer", "", "curlu=" + url]
    bare(argv)
    if not server.requests:
        pytest.skip("this libcurl knows no URL objects as addresses")
    server = origin(LEAKY)
    argv[2] = f"curlu=http://us3r:S3CRET@127.0.0.1:{server.port}/p/ath?token=T0KEN#frag"
    result = tenacurl_run(argv, policy=T0)
    assert server.requests[0].target == "/p/ath?token=T0KEN"
    has_no_secret(result)


def test_rc_41_error_text_that_repeats_the_address(build, tenacurl_run):
    argv = [build / "tests/clients/unlucky", "http://us3r:S3CRET@host.test/T0KEN?PW2", "resolve", "failures=1000"]
    result = tenacurl_run(argv, policy={**T0, "max_attempts": 2, "log_url": "hash"})
    assert b"result 6 0" in result.stdout
    assert "resolve host" not in has_no_secret(result)


@pytest.mark.parametrize("make", ["symlink", "unwritable", "full"])
def test_rc_41_log_that_cannot_be_written(build, origin, bare, runner, tmp_path, make):
    """The transfer is what it is without a log."""
    log, elsewhere = tmp_path / "log", tmp_path / "elsewhere"
    elsewhere.write_text("")
    elsewhere.chmod(0o600)
    if make == "symlink":
        log.symlink_to(elsewhere)
        if os.geteuid() == 0:
            os.chown(log, 12345, 12345, follow_symlinks=False)
    elif make == "unwritable":
        log = tmp_path / "missing" / "log"
    client = build / "tests/clients/transfer"
    expected = performed(bare([client, origin([OK]).url("/x")]))[0]
    server = origin([BUSY, OK])
    # No file of this process may grow, as on a full disk.
    limits = ["sh", "-c", 'ulimit -f 0; exec "$@"', "-"] if make == "full" else []
    result = runner.run([*limits, client, server.url("/x")], policy={**T0, "log": log})
    case = performed(result)[0]
    assert result.returncode == 0, result
    assert (case.result, case.headers, case.body) == (expected.result, expected.headers, expected.body)
    assert len(server.requests) == 2
    assert elsewhere.read_text() == ""
    assert not log.exists() or log.read_text() == ""
