# SPDX-License-Identifier: MIT
"""
What an attempt did decides whether it may be repeated, not what its last request came to: an attempt can be several
requests, and not all of them HTTP. Executions are counted at the servers, and compared with those of the bare program.
"""

import pytest
from support.ftp_origin import FtpOrigin
from support.real_servers import free_port

OK = {"status": 200, "body": "fine"}
BUSY = {"status": 503, "body": "busy"}
REFUSED = {"status": 429, "body": "slow down"}
TUNNEL = {"status": 200, "tunnel": True}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}


@pytest.fixture
def transfer(build, bare, tenacurl_run):
    """transfer(url, *options, **policy) -> Result of tests/clients/transfer, bare without a policy."""

    def run(url, *options, **policy):
        argv = [build / "tests/clients/transfer", url, *options]
        return tenacurl_run(argv, policy={**FAST, **policy}) if policy else bare(argv)

    return run


@pytest.fixture
def ftp_origin():
    servers = [FtpOrigin() for _ in range(2)]
    yield servers
    for server in servers:
        server.stop()


def posts(server):
    return len([request for request in server.requests if request.method == "POST"])


# never sent.


def post_twice(origin, transfer, connects, second, options=(), **policy):
    """Two POSTs on one handle through a tunnel. Returns how many the server got, and the Result."""
    proxy = origin({"paths": {"CONNECT": [*connects, {**TUNNEL, "repeat": True}]}})
    server = origin([OK, second, {**OK, "repeat": True}])
    url = server.url("/x")
    options = [f"proxy=http://127.0.0.1:{proxy.port}", "proxytunnel=1", "postfields=a", *options]
    result = transfer(url, *options, "--", f"url={url}/second", **policy)
    return posts(server), result


@pytest.mark.parametrize("status", [503, 502, 504])
@pytest.mark.parametrize("options", [(), ("share=1",), ("suppress_connect=1",)], ids=["own", "shared", "suppressed"])
def test_a01_refused_tunnel_of_a_resend_is_no_proof(origin, transfer, options, status):
    """The kept tunnel dies once the request has run; the resend's own tunnel is refused."""
    connects = [TUNNEL, {"status": status}]
    executed, _ = post_twice(origin, transfer, connects, {"fault": "fin"}, options)
    assert executed == 2
    executed, result = post_twice(origin, transfer, connects, {"fault": "fin"}, options, max_attempts=4)
    assert executed == 2
    assert not result.attempts[-1]["unsent"]
    assert result.operations[-1]["reason"] == "unsafe_replay"


@pytest.mark.parametrize("before", [(), ("--", "url=URL/before")], ids=["first", "second"])
def test_a01_refused_tunnel_of_a_fresh_connection_is_proof(origin, transfer, before):
    """The handle's first request, and one after a request that never went out either."""
    proxy = origin({"paths": {"CONNECT": [BUSY, BUSY, {**TUNNEL, "repeat": True}]}})
    server = origin([{**OK, "repeat": True}])
    before = [word.replace("URL", server.url()) for word in before]
    options = [f"proxy=http://127.0.0.1:{proxy.port}", "proxytunnel=1", "postfields=a"]
    result = transfer(server.url("/x"), *options, *before, max_attempts=2 if before else 4)
    assert posts(server) == 1
    assert [record["unsent"] for record in result.attempts[:2]] == [True, True]


def test_a01_refused_connection_of_a_resend_is_no_proof(origin, transfer):
    server = origin([OK, {"fault": "fin", "refuse": {"for_ms": 60000}}])
    result = transfer(server.url("/x"), "postfields=a", "--", f"url={server.url('/y')}", max_attempts=4)
    assert posts(server) == 2
    assert result.operations[-1]["attempts"] == 1 and not result.attempts[-1]["unsent"]


def test_a01_refused_connection_is_proof(origin, transfer):
    """Once more on a handle that has kept a connection to somebody else."""
    other, server = origin([OK]), origin([OK], refuse_ms=200)
    result = transfer(other.url("/"), "postfields=a", "--", f"url={server.url('/x')}", max_attempts=9,
                      backoff_base_ms=100, jitter="none")
    assert posts(server) == 1
    assert result.operations[-1]["attempts"] > 1 and result.operations[-1]["reason"] == "success"


def test_a01_failed_lookup_is_proof(transfer):
    result = transfer("http://nowhere.invalid/", "postfields=a", max_attempts=2)
    assert [record["unsent"] for record in result.attempts] == [True, True]


def test_a01_failed_handshake_is_proof(origin, transfer):
    server = origin([{"read": "accept", "fault": "fin", "repeat": True}])
    result = transfer(server.url("/").replace("http:", "https:"), "postfields=a", max_attempts=2)
    assert [record["unsent"] for record in result.attempts] == [True, True]
    assert len(server.connections) == 2


# H-01: a refusal is of one request.

JOBS = {"paths": {"/jobs": [{"status": 303, "headers": [["Location", "/jobs/1"]], "repeat": True}],
                  "/jobs/1": [{**REFUSED, "repeat": True}]}}


def test_h01_refusal_of_a_later_hop_is_none_of_the_first(origin, transfer, repository, tenacurl_run, build):
    server = origin(JOBS)
    policy = (repository / "config/examples/llm-api.ini").read_text().replace("log = stderr", "log = none")
    tenacurl_run([build / "tests/clients/transfer", server.url("/jobs"), "postfields=a", "follow=1"], policy=policy)
    assert [request.method for request in server.requests] == ["POST", "GET"]


def test_h01_refusal_of_a_later_hop_is_not_called_unambiguous(origin, transfer):
    server = origin(JOBS)
    result = transfer(server.url("/jobs"), "postfields=a", "follow=1", refused_status=429, replay="all", max_attempts=2)
    retries = [record for record in result.attempts if record["verdict"] == "retry"]
    assert all(record["ambiguous"] for record in retries)
    assert posts(server) == 1 + len(retries)


@pytest.mark.parametrize("dead", [1, 2])
def test_h01_refusal_of_a_resend_is_none_of_the_request(origin, transfer, dead):
    """Kept connections turn out dead once the request has run; libcurl's resend is refused."""
    for policy in ({}, {"refused_status": 429}):
        server = origin({"paths": {"/dead": [{"fault": "fin"}] * dead + [REFUSED, {**OK, "repeat": True}]},
                         "steps": [{**OK, "repeat": True}]})
        keep = ["--", "url=" + server.url("/x")] * (dead - 1)
        last = ["--", "fresh=0", "url=" + server.url("/dead")]
        transfer(server.url("/x"), "postfields=a", "fresh=1", *keep, *last, **policy)
        assert len([request for request in server.requests if request.target == "/dead"]) == dead + 1


def test_h01_refusal_after_a_challenge_is_of_the_last_round(origin, transfer):
    challenge = {"status": 401, "headers": [["WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"']]}
    server = origin([challenge, REFUSED, {**OK, "repeat": True}])
    transfer(server.url("/"), "postfields=a", "userpwd=u:p", "httpauth=2", refused_status=429)
    assert posts(server) == 2


@pytest.mark.parametrize("kept", [False, True])
def test_h01_refusal_of_the_only_request_is_proof(origin, transfer, kept):
    server = origin({"paths": {"/x": [REFUSED, OK]}, "steps": [{**OK, "repeat": True}]})
    first = [server.url("/before"), "postfields=a", "--", f"url={server.url('/x')}"]
    transfer(*(first if kept else [server.url("/x"), "postfields=a"]), refused_status=429)
    assert len([request for request in server.requests if request.target == "/x"]) == 2


# other protocols.

UPLOAD = ["upload=5", "uploadsize=5", "append=1"]


def test_a02_guessed_scheme_behind_a_password(ftp_origin, transfer):
    """libcurl guesses the protocol from the host's name, behind a user as well (7.61 doesn't)."""
    for server, policy in zip(ftp_origin, ({}, {"max_attempts": 4})):
        host = f"ftp.test:{server.port}"
        result = transfer(f"user:pw@{host}/j", f"resolve={host}:127.0.0.1", *UPLOAD, "timeout_ms=5000", **policy)
        assert server.executed == ftp_origin[0].executed
        assert result.records == []
    assert len(ftp_origin[0].executed) <= 1


@pytest.mark.parametrize("status", [301, 302, 307, 308])
def test_a02_redirect_to_ftp(origin, ftp_origin, transfer, status):
    for ftp, policy in zip(ftp_origin, ({}, {"max_attempts": 4})):
        server = origin([{"status": status, "headers": [["Location", f"ftp://127.0.0.1:{ftp.port}/j"]], "repeat": True}])
        transfer(server.url("/x"), *UPLOAD, "seek=1", "follow=1", **policy)
        assert ftp.executed == [("APPE", "j", b"abcde")]
        assert len(server.requests) == 1


SCHEMES = ["ftp", "ftps", "dict", "gopher", "imap", "pop3", "smtp", "scp", "sftp", "ldap", "telnet", "rtsp", "smb", "file",
           "ws", "wss"]


@pytest.mark.parametrize("listens", [False, True], ids=["refused", "closed"])
def test_a02_redirect_to_any_other_protocol(origin, transfer, listens):
    """The other server is nobody, or one that ends each connection."""
    other = origin([{"read": "accept", "fault": "fin", "repeat": True}]) if listens else None
    port = other.port if other else free_port()
    hops = {f"/{scheme}": [{"status": 302, "headers": [["Location", f"{scheme}://127.0.0.1:{port}/a/b"]], "repeat": True}]
            for scheme in SCHEMES}
    server = origin({"paths": hops})
    each = [word for scheme in SCHEMES[1:] for word in ("--", "url=" + server.url(f"/{scheme}"))]
    transfer(server.url("/ftp"), "follow=1", "redir_protocols=-1", *each, max_attempts=2)
    assert [request.target for request in server.requests] == [f"/{scheme}" for scheme in SCHEMES]
