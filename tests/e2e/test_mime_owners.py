# SPDX-License-Identifier: MIT
"""MIME bodies and forms that change owners and contents before they are sent: no stale callback, no needless seek."""

import re
import resource
import shutil
import subprocess

import pytest

from support.waiting import wait_until

OK = {"status": 200, "body": "stored"}
BUSY = {"status": 503, "body": "busy"}
EARLY_BUSY = {"status": 503, "body": "busy", "read": "headers", "expect_continue": False, "end": "close"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}
# A refused connection is tried again until the server is up.
PATIENT = {**FAST, "jitter": "none", "max_attempts": 100, "backoff_cap_ms": 200, "breaker": "off", "budget_tokens": 0}

# Streams that are no part of the body any more: they must not be asked.
GONE = [
    "stream-became-text",
    "stream-became-nothing",
    "stream-became-a-file",
    "inner-was-taken-out",
    "inner-was-replaced",
    "inner-was-freed",
    "mime-was-freed",
    "handle-was-reset",
]
COPIES = ["copied-text", "copied-stream", "copied-twice", "copy-got-another", "copied-form", "copied-stream-form",
          "copied-postfields", "copied-copypostfields"]
NEVER_READ = [*GONE, *COPIES, "stream", "stream-became-another", "inner-has-a-stream", "pipe-part", "pipe-upload"]
REWOUND = {"stream": "1 0", "stream-became-another": "0 1", "inner-has-a-stream": "1 0", "copied-stream": "1 0",
           "copied-twice": "1 0", "copy-got-another": "0 1"}
# What libcurl itself can't rewind once it was read: a part that is left without content is among it.
ONCE = ["copied-stream-form", "pipe-part", "pipe-upload", "stream-became-nothing", "inner-was-taken-out", "inner-was-freed"]
NEEDS_NO_SEEK = [*sorted(set(GONE) - set(ONCE)), "copied-text", "copied-form", "copied-postfields", "copied-copypostfields"]


@pytest.fixture
def client(build):
    return build / "tests/clients/mime"


def after_refusals(origin, runner, argv, **options):
    """The result of argv, whose connections are refused until its first attempt was recorded; and what it sent then."""
    server = origin([OK], refuse_ms=600_000)
    running = runner.start([server.url("/") if word == "URL" else word for word in argv], policy=PATIENT, **options)
    wait_until(lambda: running.records or running.process.poll() is not None, "record of a refused attempt")
    server.come_up()
    return running.wait(), server.requests


def bodies(requests):
    return [re.sub(rb"--------+\w+", b"BOUNDARY", request.body) for request in requests]


def bare_body(origin, bare, client, scenario):
    server = origin([OK])
    assert bare([client, server.url(), scenario]).returncode == 0
    return bodies(server.requests)


@pytest.mark.parametrize("scenario", NEVER_READ)
def test_a09_a19_a20_what_was_never_sent_needs_no_rewind(origin, bare, runner, client, scenario):
    result, requests = after_refusals(origin, runner, [client, "URL", scenario])
    assert (result.returncode, result.stdout) == (0, b"result 0 200 seeks 0 0\n"), result
    assert bodies(requests) == bare_body(origin, bare, client, scenario)


@pytest.mark.parametrize("scenario", [*REWOUND, *NEEDS_NO_SEEK])
def test_a09_a20_what_was_sent_is_rewound_by_its_owner(origin, bare, tenacurl_run, client, scenario):
    """One answer 503: we ask before the retry is certain, and libcurl asks once more before it sends."""
    server = origin([BUSY, OK])
    result = tenacurl_run([client, server.url(), scenario], policy={**FAST, "replay": "all"})
    seeks = [int(number) for number in re.match(rb"result 0 200 seeks (\d+) (\d+)\n", result.stdout).groups()]
    asked = [int(number) for number in REWOUND.get(scenario, "0 0").split()]
    assert [bool(number) for number in seeks] == [bool(number) for number in asked], result
    expected = bare_body(origin, bare, client, scenario)
    assert bodies(server.requests) == expected * 2


@pytest.mark.parametrize("scenario", ONCE)
def test_a09_a20_what_was_read_and_cannot_be_rewound_is_sent_once(origin, tenacurl_run, client, scenario):
    server = origin([BUSY, OK])
    result = tenacurl_run([client, server.url(), scenario], policy={**FAST, "replay": "all"})
    assert result.stdout.startswith(b"result 0 503") and len(server.requests) == 1
    assert result.operation["reason"] == "body_not_replayable"


@pytest.mark.parametrize("scenario", ["stream", "inner-has-a-stream", "copied-stream", "copied-twice"])
def test_a19_stream_that_was_not_read_is_not_asked(origin, tenacurl_run, client, scenario):
    """The answer comes before the body: the request was sent, but no part of it was read."""
    server = origin([EARLY_BUSY, OK])
    argv = [client, server.url(), scenario, "Expect: 100-continue"]
    result = tenacurl_run(argv, policy={**FAST, "replay": "all"})
    assert result.stdout == b"result 0 200 seeks 0 0\n"
    assert len(server.requests) == 2


PHP = """
$c = curl_init($argv[1]);
curl_setopt_array($c, [CURLOPT_RETURNTRANSFER => 1, CURLOPT_POSTFIELDS => FORM]);
$d = curl_copy_handle($c);
ANOTHER
echo curl_exec($d);
"""
FILE_FORM = "['f' => new CURLFile($argv[2]), 'a' => 'b']"


@pytest.mark.parametrize("form,another", [
    (FILE_FORM, ""),
    ("['a' => 'b']", ""),
    ("'a=b'", ""),
    (FILE_FORM, f"curl_setopt($d, CURLOPT_POSTFIELDS, {FILE_FORM});"),
    (FILE_FORM, "curl_setopt($d, CURLOPT_POSTFIELDS, ['c' => 'd']);"),
], ids=["file", "text", "string", "file-then-file", "file-then-text"])
def test_a19_a20_php_copies_a_handle_with_a_form(origin, runner, tmp_path, form, another):
    if not shutil.which("php") or subprocess.run(["php", "-r", "exit(extension_loaded('curl') ? 0 : 1);"]).returncode:
        pytest.skip("php with curl is not installed")
    (tmp_path / "file.txt").write_text("contents of a file\n")
    code = PHP.replace("FORM", form, 1).replace("ANOTHER", another)
    result, requests = after_refusals(origin, runner, ["php", "-r", code, "URL", tmp_path / "file.txt"], binder=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"stored", b"")
    assert (b"contents of a file\n" in requests[0].body) == ("CURLFile" in (another or form))


def cpu_s(run):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert run().returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime - before.ru_utime


@pytest.mark.parametrize("scenario", ["many-parts", "many-mimes"])
def test_a09_a_part_costs_the_same_however_many_there_are(origin, bare, tenacurl_run, client, scenario):
    """60,000 parts took 47 s; libcurl alone takes a tenth of one."""
    server = origin([{**OK, "repeat": True}])
    alone_s = cpu_s(lambda: bare([client, server.url(), scenario]))
    ours_s = cpu_s(lambda: tenacurl_run([client, server.url(), scenario], policy=FAST))
    assert ours_s < 3 * alone_s + 2
