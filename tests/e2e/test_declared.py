# SPDX-License-Identifier: MIT
"""A retry layer above us that shows itself owns what it retries: one attempt an operation, from the start."""

import pathlib
import shutil

import pytest

DOWN = [{"status": 503, "body": "down\n"}] * 20
UP = {"body": "the answer\n"}

# Ours are quick, and no other limit than max_attempts is in the way. curl waits a second at least.
POLICY = {
    "jitter": "none",
    "backoff_base_ms": 1,
    "backoff_cap_ms": 1,
    "max_attempts": 4,
    "budget_tokens": 0,
    "breaker": "off",
}

CURL = ["/usr/bin/curl", "-sS", "-f"]
RETRY = ["--retry", "1", "--retry-delay", "1"]

pytestmark = pytest.mark.skipif(not pathlib.Path(CURL[0]).exists(), reason="curl is not installed")


def yielded(result, evidence):
    """All verdicts left it to the layer above, for that reason."""
    assert result.reasons and set(result.reasons) == {"nested"}, result
    assert {record["owner"] for record in result.operations} == {"outer"}, result
    assert {record["evidence"] for record in result.operations} == {evidence}, result
    return True


def test_curl_retries_a_503_by_itself(origin, runner):
    without, server = origin(DOWN), origin(DOWN)
    bare = runner.bare([*CURL, *RETRY, without.url("/x")])
    result = runner.run([*CURL, *RETRY, server.url("/x")], POLICY)
    assert len(server.requests) == len(without.requests) == 2
    assert result.returncode == bare.returncode == 22
    assert yielded(result, "argv:--retry")


def test_curl_without_retry_is_ours(origin, runner):
    server = origin([*DOWN[:2], UP])
    result = runner.run([*CURL, server.url("/x")], POLICY)
    assert result.returncode == 0 and result.stdout == b"the answer\n"
    assert len(server.requests) == 3
    assert result.operation["owner"] == "us"


def test_a_reset_which_curl_would_not_retry_is_survived(origin, runner):
    script = [{"fault": "reset"}, UP]
    without, server = origin(script), origin(script)
    assert runner.bare([*CURL, *RETRY, without.url("/x")]).returncode != 0
    result = runner.run([*CURL, *RETRY, server.url("/x")], POLICY)
    assert result.returncode == 0 and result.stdout == b"the answer\n"
    assert len(server.requests) == 2


def test_with_retry_all_errors_a_reset_is_curls(origin, runner):
    script = [{"fault": "reset"}] * 20
    argv = [*CURL, *RETRY, "--retry-all-errors"]
    without, server = origin(script), origin(script)
    if runner.bare([*argv, without.url("/x")]).returncode == 2:
        pytest.skip("curl before 7.71")
    result = runner.run([*argv, server.url("/x")], POLICY)
    assert len(server.requests) == len(without.requests) == 2
    assert result.returncode == 56
    assert yielded(result, "argv:--retry")


def test_with_retry_connrefused_a_refused_connection_is_curls(origin, runner):
    server = origin([UP], refuse_ms=600_000)
    ours = runner.run([*CURL, *RETRY, server.url("/x")], POLICY)
    assert len(ours.attempts) == 4
    result = runner.run([*CURL, *RETRY, "--retry-connrefused", server.url("/x")], POLICY)
    assert result.returncode == 7 and len(result.attempts) == 2
    assert yielded(result, "argv:--retry")


@pytest.mark.parametrize(
    "words",
    [
        ["-o", "--retry", "-w", "3"],  # arguments of others
        ["--retry", "0"],
        ["--retry", "3", "--retry", "0"],
    ],
    ids=" ".join,
)
def test_what_only_looks_like_retry_is_ours(origin, runner, words):
    server = origin([DOWN[0], UP])
    result = runner.run([*CURL, *words, server.url("/x")], POLICY)
    assert result.returncode == 0 and len(server.requests) == 2
    assert result.operation["owner"] == "us"


def test_one_url_of_two_that_is_not_retried_is_ours(origin, runner):
    server = origin([UP, DOWN[0], UP])
    result = runner.run([*CURL, *RETRY, server.url("/1"), "--next", "-sS", "-f", server.url("/2")], POLICY)
    assert result.returncode == 0, result
    assert [request.target for request in server.requests] == ["/1", "/2", "/2"]


def test_a_config_file_on_the_command_line(origin, runner, tmp_path):
    config = tmp_path / "curl.conf"
    config.write_text('# ours\nretry = "1"\nretry-delay = 1\n')
    server = origin(DOWN)
    result = runner.run([*CURL, "-K", config, server.url("/x")], POLICY)
    assert len(server.requests) == 2
    assert yielded(result, "curlrc:--retry")


def test_a_config_file_from_a_pipe_is_not_read_twice(origin, runner):
    server = origin([DOWN[0], UP])
    result = runner.run([*CURL, "-K", "-"], POLICY, input=f'url = "{server.url("/x")}"\n'.encode())
    assert result.returncode == 0 and result.stdout == b"the answer\n"
    assert len(server.requests) == 2


# Where curl may look, with what has to be set for it; which of these it does look at depends on its release.
CURLRC_PLACES = [
    ("HOME", ".curlrc"),
    ("HOME", ".config/curlrc"),
    ("CURL_HOME", ".curlrc"),
    ("CURL_HOME", ".config/curlrc"),
    ("XDG_CONFIG_HOME", ".curlrc"),
    ("XDG_CONFIG_HOME", "curlrc"),
]


@pytest.mark.parametrize("variable, name", CURLRC_PLACES)
def test_curlrc_counts_where_curl_reads_it(origin, runner, tmp_path, variable, name):
    home = tmp_path / "place"
    curlrc = home / name
    curlrc.parent.mkdir(parents=True)
    curlrc.write_text("retry = 1\nretry-delay = 1\n")
    env = {variable: str(home)}
    without, server = origin(DOWN), origin(DOWN)

    runner.bare([*CURL, without.url("/x")], env=env)
    result = runner.run([*CURL, server.url("/x")], POLICY, env=env)
    if len(without.requests) == 2:
        assert len(server.requests) == 2
        assert yielded(result, "curlrc:--retry")
    else:
        assert len(server.requests) == POLICY["max_attempts"]
        assert result.operation["owner"] == "us"


def test_curlrc_that_curl_was_told_not_to_read(origin, runner, tmp_path):
    (tmp_path / ".curlrc").write_text("retry = 1\n")
    server = origin([DOWN[0], UP])
    result = runner.run(["/usr/bin/curl", "-q", "-sS", "-f", server.url("/x")], POLICY, env={"HOME": str(tmp_path)})
    assert result.returncode == 0 and len(server.requests) == 2
    assert result.operation["owner"] == "us"


@pytest.mark.parametrize(
    "header, name",
    [
        ("amz-sdk-request: attempt=1", "amz-sdk-request"),
        ("Amz-Sdk-Request: ttl=20260822T124521Z; attempt=2; max=3", "amz-sdk-request"),
        ("x-goog-api-client: gl-php/8.2 gccl-invocation-id/1f2e gccl-attempt-count/1", "x-goog-api-client"),
        ("amz-sdk-invocation-id: 0123", "amz-sdk-invocation-id"),
        ("aws-sdk-retry: 0/0", "aws-sdk-retry"),
        ("X-Stainless-Retry-Count: 0", "x-stainless-retry-count"),
        ("Idempotency-Key: stainless-php-retry-0123", "Idempotency-Key"),
    ],
)
def test_a_header_that_shows_a_layer(build, origin, runner, header, name):
    server = origin(DOWN)
    result = runner.run([build / "tests/clients/transfer", server.url("/x"), f"h={header}"], POLICY)
    assert len(server.requests) == 1
    assert yielded(result, f"header:{name}")


@pytest.mark.parametrize(
    "header",
    ["amz-sdk-request: attempt=1; max=1", "amz-sdk-request:", "Idempotency-Key: 0123", "amz-sdk-invocation-id;"],
)
def test_a_header_that_shows_none(build, origin, runner, header):
    server = origin([DOWN[0], UP])
    result = runner.run([build / "tests/clients/transfer", server.url("/x"), f"h={header}"], POLICY)
    assert len(server.requests) == 2
    assert result.operation["owner"] == "us"


@pytest.mark.parametrize("order", [1, -1])
def test_a_sender_of_one_attempt_is_no_layer(build, origin, runner, order):
    headers = ["h=amz-sdk-invocation-id: 0123", "h=amz-sdk-request: attempt=1; max=1"][::order]
    server = origin([DOWN[0], UP])
    result = runner.run([build / "tests/clients/transfer", server.url("/x"), *headers], POLICY)
    assert len(server.requests) == 2
    assert result.operation["owner"] == "us"


def test_a_header_that_the_policy_names(build, origin, runner):
    policy = {**POLICY, "nested_headers": "X-Ours-Attempt"}
    client = build / "tests/clients/transfer"
    server = origin(DOWN)
    result = runner.run([client, server.url("/x"), "h=x-ours-attempt: 1"], policy)
    assert len(server.requests) == 1
    assert yielded(result, "header:X-Ours-Attempt")

    others = origin([DOWN[0], UP])
    runner.run([client, others.url("/x"), "h=amz-sdk-request: attempt=1"], policy)
    assert len(others.requests) == 2


@pytest.fixture
def named(build, tmp_path):
    """named("s3backer"): the client under another name."""

    def copy(name):
        return shutil.copy(build / "tests/clients/transfer", tmp_path / name)

    return copy


def test_a_program_that_is_known_to_retry(origin, runner, named):
    server = origin(DOWN)
    result = runner.run([named("s3backer"), server.url("/x")], POLICY)
    assert len(server.requests) == 1
    assert yielded(result, "program:s3backer")


def test_what_such_a_program_does_not_retry_is_survived(origin, runner, named):
    server = origin([{"status": 522}, UP])
    runner.run([named("syslog-ng"), server.url("/x")], POLICY)
    assert len(server.requests) == 2


def test_a_program_that_the_policy_names(origin, runner, named):
    server = origin(DOWN)
    result = runner.run([named("sync-all"), server.url("/x")], {**POLICY, "nested_programs": "sync-*"})
    assert len(server.requests) == 1
    assert yielded(result, "program:sync-all")


def test_a_job_that_the_policy_names(build, origin, runner):
    server = origin(DOWN)
    argv = [build / "tests/clients/transfer", server.url("/x")]
    result = runner.run(argv, {**POLICY, "nested_programs": "nightly"}, env={"TENACURL_JOB": "nightly"})
    assert len(server.requests) == 1
    assert yielded(result, "program:nightly")


def test_a_long_command_line(origin, runner):
    ignored = ["--user-agent", "x" * 100_000] * 5
    server = origin(DOWN)
    result = runner.run([*CURL, *ignored, "-A", "curl", *RETRY, server.url("/x")], POLICY)
    assert len(server.requests) == 2
    assert yielded(result, "argv:--retry")


@pytest.mark.parametrize("nested, sends", [("off", 8), ("yield", 2)])
def test_off_multiplies(origin, runner, nested, sends):
    server = origin(DOWN)
    runner.run([*CURL, *RETRY, server.url("/x")], {**POLICY, "nested": nested})
    assert len(server.requests) == sends
