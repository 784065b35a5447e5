# SPDX-License-Identifier: MIT
"""
Programs that use a handle, or fork, in a callback of its own transfer (cases A-06 and A-18), and programs that go on with
the same stream after a failed upload (case A-03).
"""

import pytest

OK = {"body": "stored"}
BUSY = {"status": 503, "body": "busy"}
GOES_AWAY = {**BUSY, "headers": [["Connection", "close"]], "refuse": {"for_ms": 20000}}
UNAUTHORISED = {"status": 401}  # held to the end: nobody can say sooner that no round of authentication follows
SAFE = {"replay": "all", "jitter": "none"}


def lines(result):
    return result.stdout.decode().splitlines()


@pytest.fixture
def meddles(build, tenacurl_run):
    def run(server, where, what, **keys):
        # Long enough for a few progress calls in it.
        policy = {**SAFE, "backoff_base_ms": 600 if where == "wait" else 1, **keys}
        return tenacurl_run([build / "tests/clients/meddles", server.url("/x"), where, what], policy=policy)

    return run


def guards_calls(result):
    """Whether this libcurl refuses what mustn't be called in a callback (from 8.22)."""
    return tuple(int(part) for part in result.operation["libcurl_version"].split(".")[:2]) >= (8, 22)


@pytest.mark.parametrize("where,script", [
    ("wait", [BUSY, OK]),
    ("seek", [BUSY, OK]),
    ("header", [BUSY, OK]),
    ("write", [BUSY, OK]),
    ("header", [UNAUTHORISED]),
], ids=["in-a-wait", "in-the-seek-callback", "in-the-header-callback", "in-the-write-callback", "in-what-was-held"])
def test_a06_second_perform_is_refused_as_libcurl_does(origin, meddles, where, script):
    server = origin(script)
    result = meddles(server, where, "perform")
    said = lines(result)
    refusal = "93 " if guards_calls(result) else "2 easy handle already used in multi handle"
    assert said[0] == f"second perform {refusal}"
    assert said[1].startswith("program result 0 status " + str(script[-1].get("status", 200)))
    assert len(said) == 2
    assert len(server.requests) == len(script)


def test_a06_a_read_function_that_is_taken_away_reads_to_the_end(origin, meddles):
    """libcurl goes by what was set when the transfer began."""
    server = origin([OK])
    assert lines(meddles(server, "read", "unread")) == ["program result 0 status 200 body 6"]
    assert [request.body for request in server.requests] == [b"the whole body"]


@pytest.mark.parametrize("mode", ["enforce", "audit"])
def test_a06_what_a_read_function_was_for_is_no_file_without_it(origin, meddles, mode):
    server = origin([BUSY])
    assert lines(meddles(server, "read", "unread", mode=mode)) == ["program result 0 status 503 body 4"]
    assert len(server.requests) == 1


@pytest.mark.parametrize("what", ["duplicate", "pause", "set"])
@pytest.mark.parametrize("where", ["wait", "seek"])
def test_a06_what_libcurl_allows_in_callbacks_is_allowed(origin, meddles, where, what):
    server = origin([BUSY, OK])
    result = meddles(server, where, what)
    assert lines(result)[-1] == "program result 0 status 200 body 6"
    assert lines(result)[:-1] == {"pause": ["pause 0"], "set": ["set 0"], "duplicate": []}[what]
    assert len(server.requests) == 2


@pytest.mark.parametrize("where,script", [
    ("wait", [BUSY, OK]),
    ("seek", [BUSY, OK]),
    ("header", [UNAUTHORISED]),
], ids=["in-a-wait", "in-the-seek-callback", "in-what-was-held"])
def test_a06_operation_ends_when_its_handle_is_cleaned_up(origin, meddles, where, script):
    server = origin(script)
    result = meddles(server, where, "cleanup")
    assert result.returncode == 0
    if result.operations and guards_calls(result):
        assert lines(result)[0].startswith("program result 0 ")  # nothing was cleaned up
        return
    assert lines(result) == ["program result 42 status 0 body 0"]
    assert len(server.requests) == 1


def test_a06_reset_in_a_wait_ends_the_retries(origin, meddles):
    server = origin([BUSY, OK])
    result = meddles(server, "wait", "reset")
    assert result.returncode == 0
    if guards_calls(result):
        assert lines(result) == ["program result 0 status 200 body 6"]  # nothing was reset
        return
    # What was held isn't given to anybody: the callbacks that it was for are gone.
    assert lines(result) == ["program result 0 status 0 body 0"]
    assert len(server.requests) == 1


def test_a06_handle_that_is_given_to_a_multi_handle_in_a_wait_sends_nothing_more(origin, meddles):
    """libcurl takes it, since it doesn't perform; the retry is then refused like any perform of such a handle."""
    server = origin([BUSY, OK])
    assert lines(meddles(server, "wait", "add"))[-1].startswith("program result 2 ")
    assert len(server.requests) == 1


@pytest.mark.parametrize("way", ["fork", "_Fork", "clone"])
@pytest.mark.parametrize("where", ["wait", "seek"])
def test_a18_child_that_was_forked_in_a_callback_delivers(origin, meddles, where, way):
    server = origin([BUSY, OK, OK])
    result = meddles(server, where, way)
    assert result.returncode == 0
    assert sorted(lines(result)) == ["child result 0 status 503 body 4", "program result 0 status 200 body 6"]
    assert [request.body for request in server.requests] == [b"the whole body"] * 2


@pytest.fixture
def segments(build, tenacurl_run, tmp_path):
    """segments(source, urls, cancels, policy) -> Result; the file has three segments of 3000 bytes."""
    path = tmp_path / "file"
    path.write_bytes(b"a" * 3000 + b"b" * 3000 + b"c" * 3000)

    def run(source, urls, cancels=False, size=3000, **policy):
        argv = [build / "tests/clients/segments", path, str(size), source, "cancels" if cancels else "-", *urls]
        return tenacurl_run(argv, policy={"backoff_base_ms": 1, "log_events": "all", **policy})

    return run


def letters(server):
    """Of which segment each request was: one letter a request, or all that it is made of."""
    return ["".join(sorted(set(request.body.decode()))) + f" {len(request.body)}" for request in server.requests]


SOURCES = ["seek", "ioctl", "read"]
LATER = {**BUSY, "headers": [["Retry-After", "20"]]}
# name: (answers, cancels, policy, what becomes of the segments)
TAKEN_BACK = {
    "no-budget": ([BUSY, OK, BUSY, OK], False, {"budget_tokens": 1, "budget_ratio": 0, "budget_refill_per_s": 0}, "aabc"),
    "final-body": ([{**BUSY, "body": "over quota"}, OK, OK], False, {"final_body": "quota"}, "abc"),
    "cancelled": ([LATER, OK, OK], True, {}, "abc"),
    "too-late": ([LATER, OK, OK], False, {"retry_max_time_ms": 1000}, "abc"),
    "retried": ([BUSY, OK, BUSY, OK, OK], False, {}, "aabbc"),
}


@pytest.mark.parametrize("name", TAKEN_BACK)
@pytest.mark.parametrize("source", SOURCES)
def test_a03_next_segment_is_the_next_one(origin, segments, source, name):
    answers, cancels, policy, expected = TAKEN_BACK[name]
    server = origin(answers)
    segments(source, [server.url("/x")] * 3, cancels, **policy)
    assert letters(server) == [f"{letter} 3000" for letter in expected]


@pytest.mark.parametrize("name", TAKEN_BACK)
def test_a03_file_that_libcurl_reads_stays_where_it_was(origin, segments, name):
    answers, cancels, policy, _ = TAKEN_BACK[name]
    server = origin(answers)
    seen = lines(segments("file", [server.url("/x")], cancels, size=9000, **policy))
    assert [line.split()[2] for line in seen] == ["9000"]
    assert all(request.body_bytes == 9000 for request in server.requests)


@pytest.mark.parametrize("source", ["seek", "read"])
def test_a03_stream_is_put_back_where_the_attempt_left_it_that_read_it(origin, segments, source):
    """The retry is refused at once and reads nothing, and is the last one."""
    first, others = origin([GOES_AWAY]), origin([OK, OK])
    result = segments(source, [first.url("/x"), others.url("/x"), others.url("/x")], max_attempts=2)
    assert lines(result) == ["7 0 3000", "0 200 6000", "0 200 9000"]
    assert letters(first) == ["a 3000"]
    assert letters(others) == ["b 3000", "c 3000"]


def test_a03_stream_that_resumes_is_put_back_likewise(origin, segments):
    """Where libcurl begins to read is the program's RESUME_FROM."""
    first, others = origin([GOES_AWAY]), origin([OK])
    result = segments("resume", [first.url("/x"), others.url("/x")], max_attempts=2)
    assert lines(result) == ["7 0 3000", "0 200 6000"]
    assert [letters(server) for server in (first, others)] == [["a 2000"], ["b 2000"]]


def test_a03_file_is_put_back_likewise(origin, segments):
    server = origin([GOES_AWAY])
    assert lines(segments("file", [server.url("/x")], size=9000, max_attempts=2)) == ["7 0 9000"]
