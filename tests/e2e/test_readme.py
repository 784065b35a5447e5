# SPDX-License-Identifier: MIT
"""What README.md says of the log and of policies is what the program does."""

import json
import re
import subprocess

import pytest

KINDS = {"A": "attempt", "O": "operation", "X": "nested", "N": "note"}


@pytest.fixture
def readme(repository):
    return (repository / "README.md").read_text()


def schema(readme):
    """{kind: [field, ...]} in the order of the README's table."""
    rows = re.findall(r"^\| (`\w+`(?:, `\w+`)*) \| ([AOXN](?: [AOXN])*) \|", readme, re.MULTILINE)
    fields = {kind: [] for kind in KINDS.values()}
    for names, letters in rows:
        for letter in letters.split():
            fields[KINDS[letter]] += re.findall(r"\w+", names)
    return fields


def test_records_have_the_fields_of_the_readme_in_its_order(readme, origin, tenacurl_run):
    documented = schema(readme)
    server = origin([{"status": 503}, {"body": "the answer\n"}])
    result = tenacurl_run(["/usr/bin/curl", "-sS", "-f", server.url("/x")], policy={"backoff_base_ms": 1})
    assert result.returncode == 0, result
    assert [record["kind"] for record in result.records] == ["attempt", "attempt", "operation"]
    for record in result.records:
        assert list(record) == documented[record["kind"]]


def test_returns_of_an_outer_layer_have_the_fields_of_the_readme_in_its_order(readme, origin, tenacurl_run):
    server = origin([{"status": 503}] * 9)
    twice = f"curl -sS -o /dev/null {server.url('/x')}; curl -sS -o /dev/null {server.url('/x')}"
    result = tenacurl_run(["/bin/sh", "-c", twice], policy={"backoff_base_ms": 1, "max_attempts": 2})
    [returned] = [record for record in result.records if record["kind"] == "nested"]
    assert list(returned) == schema(readme)["nested"]


def test_notes_have_the_fields_of_the_readme_in_its_order(readme, origin, runner, build, tmp_path):
    server = origin([{"body": "the answer\n"}])
    log = tmp_path / "notes.jsonl"
    # Without `run`, which would warn: only the object can tell.
    environment = {"LD_PRELOAD": str(build / "libtenacurl.so"), "TENACURL_MODE": "loud", "TENACURL_LOG": str(log)}
    result = runner.bare(["/usr/bin/curl", "-sS", server.url("/x")], env=environment)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"the answer\n", b"")
    [note] = [json.loads(line) for line in log.read_text().splitlines()]
    assert list(note) == schema(readme)["note"]


def test_policies_in_the_readme_are_good(readme, build, tmp_path):
    policies = re.findall(r"^```\n((?:\$ cat [^\n]*\n)?\[policy\]\n.*?)^(?:```|\$ )", readme, re.MULTILINE | re.DOTALL)
    assert len(policies) == 1
    for text in policies:
        path = tmp_path / "policy.ini"
        path.write_text(re.sub(r"^\$.*\n", "", text))
        path.chmod(0o644)
        done = subprocess.run([build / "tenacurl", "policy", "check", path], capture_output=True, text=True, timeout=60)
        assert (done.returncode, done.stderr) == (0, "")


def test_reasons_in_the_readme_are_the_engines(readme, repository):
    named = set(re.findall(r'= "(\w+)"', (repository / "engine" / "names.c").read_text()))
    table = re.search(r"^\| reason \| meaning \|\n\|.*\n((?:\|.*\n)+)", readme, re.MULTILINE)[1]
    reasons = [name for row in table.splitlines() for name in re.findall(r"`(\w+)`", row.split("|")[1])]
    classes = re.search(r"^\| `failure` \|.*$", readme, re.MULTILINE)[0]
    classes = re.findall(r"`(\w+)`", classes.split("|", 3)[3])
    assert sorted(reasons + classes) == sorted(named)
