# SPDX-License-Identifier: MIT
"""One owner of retries where the request has a body: it is known again by what went out, files by which they are."""

import os

import pytest
from support.nested import ALWAYS_BUSY, BUSY, MAX_ATTEMPTS, OK, calls, nested_records, owners

OBSERVED, NOBODY, LEARNED = ("outer", "observed"), ("us", None), ("outer", "learned")
CALLS = 5
ABORTED = 42
REPEATS = {"replay": "all"}

# source: whether the body is known before it is sent
SOURCES = {"seek": False, "put": False, "chunked": False, "file": True, "mime": True, "form": True, "mimefile": True, "formfile": True, "mimeseek": False}


def names_a_file(source):
    return source.endswith("file")


@pytest.fixture
def body(tmp_path):
    """body(source, text) -> the option of tests/clients/nested that gives this body."""

    def option(source, text="what is to be stored"):
        if not names_a_file(source):
            return f"body={text}"
        path = tmp_path / "body"
        path.write_text(text)
        return f"body={path}"

    return option


def loop(source, body, *options):
    return [f"source={source}", body(source), *options]


@pytest.mark.parametrize("source", SOURCES)
def test_d02_a_body_that_comes_back_is_recognised(origin, caller, body, source):
    """Bare 5 calls are 5 requests; two returns teach, from then on each call is one."""
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), *loop(source, body, f"outer={CALLS}"), **REPEATS)
    assert len(server.requests) == MAX_ATTEMPTS + CALLS - 1
    assert owners(result) == [NOBODY] + [OBSERVED] * (CALLS - 1)


@pytest.mark.parametrize("source", SOURCES)
def test_d02_what_came_back_is_learned(origin, caller, body, source):
    server = origin([ALWAYS_BUSY])
    options = loop(source, body, f"outer={CALLS}")
    caller.loop(server.url("/x"), *options, **REPEATS)
    assert caller.sends(server, server.url("/x"), *options, **REPEATS) == CALLS


@pytest.mark.parametrize("source", ["mimeseek", "chunked"])
def test_d02_own_shares_what_it_cannot_read_before(origin, caller, body, source):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), *loop(source, body, "outer=3"), nested="own", **REPEATS)
    assert [record["attempts"] for record in result.operations] == [MAX_ATTEMPTS, 1, 1]


@pytest.mark.parametrize("source", [source for source in SOURCES if source not in ("mimeseek", "chunked")])
def test_d02_own_refuses_from_the_second_call_on(origin, caller, body, source):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), *loop(source, body, f"outer={CALLS}"), nested="own", **REPEATS)
    assert len(server.requests) == MAX_ATTEMPTS
    assert [record["attempts"] for record in result.operations] == [MAX_ATTEMPTS] + [0] * (CALLS - 1)
    # Each time the whole body.
    assert len({request.body for request in server.requests if not source.startswith(("mime", "form"))}) <= 1


@pytest.mark.parametrize("nested", ["yield", "own"])
@pytest.mark.parametrize("source", [source for source in SOURCES if not names_a_file(source)])
def test_d02_another_body_is_another_request(origin, caller, body, source, nested):
    """Of the same size, so that it has to be read."""
    server = origin([ALWAYS_BUSY])
    options = loop(source, body, "outer=3", "vary_body=1")
    result = caller.loop(server.url("/x"), *options, nested=nested, **REPEATS)
    assert len(server.requests) == 3 * MAX_ATTEMPTS
    assert owners(result) == [NOBODY] * 3
    if source in ("seek", "put", "chunked"):
        sent = [request.body for request in server.requests]
        assert sent == [b"what is to be stored %d" % call for call in (1, 2, 3) for _ in range(MAX_ATTEMPTS)]


@pytest.mark.parametrize("change, intents", [(":", 1), ('printf "what was to be stored" >"$2"', 2), ('touch -d @1 "$2"', 2)])
@pytest.mark.parametrize("source", [source for source in SOURCES if names_a_file(source)])
def test_d02_another_state_of_a_file_is_another_request(origin, caller, body, source, change, intents):
    server = origin([ALWAYS_BUSY])
    call = f'"$0" "$1" source={source} body="$2"'
    path = body(source).removeprefix("body=")
    argv = ["/bin/sh", "-c", f"{call}; {change}; {call}", caller.client, server.url("/x"), path]
    caller.run(argv, nested="own", **REPEATS)
    assert len(server.requests) == intents * MAX_ATTEMPTS


def test_d02_an_upload_that_gets_through_is_no_repeat(origin, caller, body):
    server = origin([BUSY, {**OK, "repeat": True}])
    result = caller.loop(server.url("/x"), *loop("put", body, "outer=3"), nested="own", **REPEATS)
    assert [call.ok for call in calls(result)] == [True] * 3
    assert {request.body for request in server.requests} == {b"what is to be stored"}


def test_d02_a_body_that_cannot_be_rewound_is_not_read_ahead(origin, caller):
    """curl has a seek callback for a pipe, too. What comes next is another body, and must go out."""
    server = origin([BUSY, {**OK, "repeat": True}])
    call = 'echo "body %d" | /usr/bin/curl -s -f -o /dev/null -T - "$1"'
    argv = ["/bin/sh", "-c", "; ".join(call % number for number in (1, 2, 3)), "sh", server.url("/x")]
    result = caller.run(argv, nested="own", **REPEATS)
    assert result.returncode == 0
    assert [request.body for request in server.requests] == [b"body %d\n" % number for number in (1, 2, 3)]


@pytest.mark.parametrize("source", ["put", "seek"])
def test_d02_an_abort_of_the_read_callback_is_final(origin, caller, body, source):
    server = origin([ALWAYS_BUSY])
    result = caller.loop(server.url("/x"), *loop(source, body, "outer=2", "vary_body=1", "abort_call=2"), nested="own", **REPEATS)
    assert calls(result)[1].code == ABORTED
    assert len(server.requests) == MAX_ATTEMPTS


CURL_LOOP = 'for i in 1 2 3 4 5; do /usr/bin/curl -s -f -o /dev/null %s "$1"; done'


@pytest.mark.parametrize("nested, sends", [("yield", MAX_ATTEMPTS + 4), ("own", MAX_ATTEMPTS)])
@pytest.mark.parametrize("option", ['-T "$2"', '-F "part=@$2"', '--data-binary "@$2"'], ids=["T", "F", "data"])
def test_d02_a_loop_over_curl_with_a_file_is_recognised(origin, caller, tmp_path, nested, sends, option):
    server = origin([ALWAYS_BUSY])
    path = tmp_path / "file"
    path.write_bytes(os.urandom(40000))
    argv = ["/bin/sh", "-c", CURL_LOOP % option, "sh", server.url("/x"), path]
    result = caller.run(argv, nested=nested, **REPEATS)
    assert len(server.requests) == sends
    assert all(path.read_bytes() in request.body for request in server.requests)
    assert len(nested_records(result)) == 4
    if nested == "yield":
        before = len(server.requests)
        caller.run(argv, **REPEATS)
        assert len(server.requests) - before == 5
