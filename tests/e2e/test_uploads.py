# SPDX-License-Identifier: MIT
"""Whole bodies: an upload is rewound or replayed from our own copy, or the operation is not retried."""

import os
import re

import pytest

OK = {"status": 200, "body": "stored"}
BUSY = {"status": 503, "body": "busy"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}
BODY = bytes(ord("a") + i % 26 for i in range(200000))


@pytest.fixture
def upload(build, tenacurl_run):
    """upload(server, source, *options, policy) -> Result of tests/clients/upload."""

    def run(server, source, *options, policy=None):
        argv = [build / "tests/clients/upload", server.url("/x"), source, *options]
        result = tenacurl_run(argv, policy={**FAST, **(policy or {})})
        assert result.returncode == 0, result
        return result

    return run


def has_result(result, code, status):
    return re.search(rb"^result %d %d$" % (code, status), result.stdout, re.M)


def read_bytes(result):
    """How much the program's read callback gave."""
    return int(re.search(rb"^read \w+ (\d+)$", result.stdout, re.M)[1])


# source: whether the program's callback gives the body twice (rewound) or once (our copy)
REPLAYED = {
    "callback": 1,
    "seek": 2,
    "ioctl": 2,
    "file": None,
    "mime": None,
    "mime-seek": 2,
    "mime-file": None,
    "form": None,
}
NOT_REPLAYED = ["failing-seek", "pipe", "mime-callback", "mime-failing-seek", "mime-nested-callback", "mime-pipe", "form-stream"]


# Mimes and forms know their size.
FRAMINGS = [(source, "sized") for source in REPLAYED] + [(s, "chunked") for s in ("callback", "seek", "ioctl", "file")]


@pytest.mark.parametrize("fault", ["busy", "reset"])
@pytest.mark.parametrize("source,framing", FRAMINGS)
def test_replayed_whole(origin, upload, source, framing, fault):
    """RC-17."""
    server = origin([BUSY if fault == "busy" else {"fault": "reset"}, OK])
    result = upload(server, source, *(["chunked=1"] if framing == "chunked" else []))
    first, second = server.requests
    assert has_result(result, 0, 200)
    bodies = [re.sub(rb"--------+\w+", b"BOUNDARY", request.body) for request in (first, second)]
    assert bodies[0] == bodies[1]
    assert BODY[:2000] in bodies[0] or source == "mime"
    assert first.header("Content-Length") == second.header("Content-Length")
    assert b"busy" not in result.stdout
    if REPLAYED[source]:
        assert read_bytes(result) == 2000 * REPLAYED[source]


@pytest.mark.parametrize("source", NOT_REPLAYED)
def test_not_replayable_is_one_attempt_with_the_true_result(origin, upload, source):
    server = origin([BUSY, OK])
    result = upload(server, source)
    assert len(server.requests) == 1
    assert has_result(result, 0, 503)
    assert b"body busy" in result.stdout
    assert result.operation["reason"] == "body_not_replayable"


@pytest.mark.parametrize("source", REPLAYED)
def test_offset_of_a_file_and_sizes_beyond_a_read(origin, upload, source):
    server = origin([BUSY, BUSY, OK])
    result = upload(server, source, "size=50000", "offset=100" if source == "file" else "offset=0")
    assert has_result(result, 0, 200)
    assert len(server.requests) == 3
    assert all(BODY[:50000] in request.body for request in server.requests) or source == "mime"
    assert source != "file" or all(request.body == BODY[:50000] for request in server.requests)


@pytest.mark.parametrize("options", [[], ["chunked=1"]], ids=["sized", "chunked"])
def test_body_over_the_bound_of_our_copy(origin, upload, options):
    server = origin([BUSY, OK])
    result = upload(server, "callback", "size=200000", *options)
    assert len(server.requests) == 1
    assert server.requests[0].body == BODY[:200000]
    assert has_result(result, 0, 503)
    assert read_bytes(result) == 200000
    assert result.operation["reason"] == "body_not_replayable"


def test_seekable_body_over_the_bound_of_our_copy(origin, upload):
    server = origin([BUSY, OK])
    result = upload(server, "seek", "size=200000")
    assert [request.body for request in server.requests] == [BODY[:200000]] * 2
    assert has_result(result, 0, 200)


def test_replay_body_bytes(origin, upload):
    server = origin([BUSY, OK])
    upload(server, "callback", "size=200000", "chunked=1", policy={"replay_body_bytes": 300000})
    assert [request.body for request in server.requests] == [BODY[:200000]] * 2


@pytest.mark.parametrize("source", ["callback", "seek", "failing-seek", "ioctl", "pipe"])
def test_nothing_needs_rewinding_if_nothing_was_read(origin, upload, source):
    """Refused connections, whatever the body and the method: the read callback was never called."""
    server = origin([OK], refuse_ms=60000)
    result = upload(server, source, "post=1", policy={"max_attempts": 3})
    assert len(result.attempts) == 3
    assert read_bytes(result) == 0


DUE = [("callback", []), ("callback", ["chunked=1"]), ("file", []), ("file", ["offset=100"]), ("seek", []), ("ioctl", []),
       ("mime-seek", []), ("form", [])]
# Not all versions wait for the connection: then it is done, or has failed, before we are asked.
REWOUND_AT_THE_HOP = [("callback", []), ("callback", ["chunked=1"]), ("file", ["offset=100"])]


@pytest.mark.parametrize("source,options", DUE)
def test_body_that_libcurl_still_has_to_rewind(origin, upload, source, options):
    """
    A redirect to where nobody listens: libcurl is about to rewind the body, and does so in the next perform. By itself
    it fails with what it can't rewind, and takes a file to its very beginning.
    """
    dead = origin([OK], refuse_ms=600_000)
    moved = {"status": 307, "headers": [["Location", dead.url("/y")]]}
    server = origin([moved, OK])
    result = upload(server, source, "follow=1", *options)
    if os.environ.get("TEST_LIBRARY_PATH") and (source, options) in REWOUND_AT_THE_HOP and len(server.requests) == 1:
        assert has_result(result, 65 if source == "callback" else 7, 307)
        return
    assert has_result(result, 0, 200)
    first, second = (re.sub(rb"--------+\w+", b"BOUNDARY", request.body) for request in server.requests)
    assert len(first) >= 2000 and first == second


@pytest.mark.parametrize("options", [[], ["post=1"], ["chunked=1"], ["offset=100"], ["post=1", "offset=100"]], ids=" ".join)
@pytest.mark.parametrize("source", REPLAYED)
def test_repeat_after_which_the_kept_connection_dies(origin, upload, source, options):
    """libcurl sends it again by itself, from where the body begins: our copy and a file in its middle too."""
    server = origin([BUSY, {"fault": "fin"}, OK])
    result = upload(server, source, *options, policy={"replay": "all"})
    assert has_result(result, 0, 200)
    assert len(server.requests) == 3
    assert len({re.sub(rb"--------+\w+", b"BOUNDARY", request.body) for request in server.requests}) == 1


@pytest.mark.parametrize("source,options", [("callback", []), ("file", []), ("file", ["offset=100"])])
def test_seek_callback_that_is_set_in_the_middle_of_a_repeat(origin, upload, source, options):
    """The program's function isn't called with our data, and its stream isn't read where our copy is."""
    server = origin([BUSY, {"fault": "fin"}, OK])
    result = upload(server, source, "post=1", "size=900", "seek_at_send=2", *options, policy={"replay": "all"})
    assert has_result(result, 0, 200)
    assert len(server.requests) == 3
    assert len({request.body for request in server.requests}) == 1


@pytest.mark.parametrize("source", ["seek", "file"])
def test_upload_that_a_redirect_made_a_get(origin, upload, source):
    """Some libcurls forget then that it was an upload: the repeat would have no body."""
    server = origin({"paths": {"/x": [{"status": 303, "headers": [["Location", "/y"]]}, OK], "/y": [BUSY]}})
    result = upload(server, source, "follow=1")
    assert has_result(result, 0, 200)
    assert [(request.method, request.body) for request in server.requests] == [
        ("PUT", BODY[:2000]), ("GET", b""), ("PUT", BODY[:2000])]


@pytest.mark.parametrize("source", ["callback", "seek", "file"])
def test_answer_before_the_body_was_read(origin, upload, source):
    """An early 503: the server answers at the header block and closes."""
    early = {"status": 503, "read": "headers", "end": "close"}
    server = origin([early, OK])
    result = upload(server, source, "size=60000")
    assert has_result(result, 0, 200)
    assert server.requests[-1].body == BODY[:60000]


@pytest.mark.parametrize("source", ["callback", "seek", "file", "mime", "form"])
def test_post_is_not_repeated_after_an_answer(origin, upload, source):
    server = origin([BUSY, OK])
    result = upload(server, source, "post=1")
    assert len(server.requests) == 1
    assert has_result(result, 0, 503)
    assert result.operation["reason"] == "unsafe_replay"


def test_endless_post_on_a_stale_connection(origin, build, tenacurl_run, bare):
    """RC-16: exactly what the unwrapped library gives, and the callback is called by the first attempt alone."""
    outputs = []
    for run in (bare, tenacurl_run):
        server = origin([OK, {"read": "full", "fault": "fin"}])
        argv = [build / "tests/clients/transfer", server.url("/x"), "--", "postread=3000", "h=Expect:"]
        result = run(argv)
        reads = [line for line in result.stdout.split(b"\n") if line.startswith(b"read ")]
        outputs.append((re.findall(rb"^result (\d+)", result.stdout, re.M), reads))
    assert outputs[0] == outputs[1]


def test_expect_100_continue(origin, upload):
    server = origin([BUSY, OK])
    result = upload(server, "callback", "size=1100000", policy={"replay_body_bytes": 2000000})
    assert has_result(result, 0, 200)
    assert [request.header("Expect") for request in server.requests] == [["100-continue"]] * 2
    assert all(request.body_bytes == 1100000 for request in server.requests)


def test_audit_does_not_touch_the_body(origin, upload):
    server = origin([BUSY, OK])
    result = upload(server, "callback", policy={"mode": "audit"})
    assert len(server.requests) == 1
    assert result.reasons == ["transient_failure"]
    assert read_bytes(result) == 2000
    assert b"seeks no" in result.stdout


def test_upload_with_trailers_is_one_attempt(origin, upload):
    """A second perform on a handle with a trailer function crashes in libcurl, whoever makes it."""
    server = origin([BUSY, OK])
    result = upload(server, "trailers")
    assert len(server.requests) == 1
    assert has_result(result, 0, 503)
    assert b"trailers 1\n" in result.stdout
    assert result.operation["reason"] == "body_not_replayable"


def test_stream_that_is_rewound_to_another_place_is_not_sent(origin, runner, tmp_path):
    """curl seeks its standard input to the file's begin, though a shell had read of it: that is another body."""
    server = origin([{"status": 503}, {"status": 200, "repeat": True}])
    path = tmp_path / "file"
    path.write_bytes(b"line1\nline2\nline3\n")
    script = '(read first; /usr/bin/curl -sSf -T - "$1") <"$2"'
    result = runner.run(["/bin/sh", "-c", script, "sh", server.url("/x"), path], {"backoff_base_ms": 1, "jitter": "none"})
    assert result.returncode == 65
    assert b"the body isn't the one that was sent before" in result.stderr
    assert [request.body for request in server.requests if request.body.endswith(b"line3\n")] == [b"line2\nline3\n"]


@pytest.mark.parametrize("nested", ["yield", "own"])
def test_first_attempt_reads_on_where_the_stream_stands(origin, runner, tmp_path, nested):
    server = origin([{"status": 503}, {"status": 200, "repeat": True}])
    path = tmp_path / "file"
    path.write_bytes(b"line1\nline2\nline3\n")
    script = '(read a; /usr/bin/curl -sS -T - "$1") <"$2"; (read a; read b; /usr/bin/curl -sSf -T - "$1") <"$2"'
    runner.run(["/bin/sh", "-c", script, "sh", server.url("/x"), path], {"max_attempts": 1, "nested": nested})
    assert [request.body for request in server.requests] == [b"line2\nline3\n", b"line3\n"]
