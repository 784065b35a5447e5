# SPDX-License-Identifier: MIT
"""What docs/tenacurl.1 says of the log is what the program writes."""

import json
import re

import pytest

KINDS = {"A": "attempt", "O": "operation", "X": "nested", "N": "note"}


@pytest.fixture
def page(repository):
    return (repository / "docs" / "tenacurl.1").read_text().split(".Sh LOG RECORDS", 1)[1].split("\n.Sh ", 1)[0]


def schema(page):
    """{kind: [field, ...]} in the order of the page's list."""
    rows = re.findall(r"^\.It Cm (\w+(?: , \w+)*) Pq ([AOXN](?: [AOXN])*)$", page, re.MULTILINE)
    fields = {kind: [] for kind in KINDS.values()}
    for names, letters in rows:
        for letter in letters.split():
            fields[KINDS[letter]] += re.findall(r"\w+", names)
    return fields


def test_records_have_the_fields_of_the_page_in_its_order(page, origin, tenacurl_run):
    documented = schema(page)
    server = origin([{"status": 503}, {"body": "the answer\n"}])
    result = tenacurl_run(["/usr/bin/curl", "-sS", "-f", server.url("/x")], policy={"backoff_base_ms": 1})
    assert result.returncode == 0, result
    assert [record["kind"] for record in result.records] == ["attempt", "attempt", "operation"]
    for record in result.records:
        assert list(record) == documented[record["kind"]]


def test_returns_of_an_outer_layer_have_the_fields_of_the_page_in_its_order(page, origin, tenacurl_run):
    server = origin([{"status": 503}] * 9)
    twice = f"curl -sS -o /dev/null {server.url('/x')}; curl -sS -o /dev/null {server.url('/x')}"
    result = tenacurl_run(["/bin/sh", "-c", twice], policy={"backoff_base_ms": 1, "max_attempts": 2})
    [returned] = [record for record in result.records if record["kind"] == "nested"]
    assert list(returned) == schema(page)["nested"]


def test_notes_have_the_fields_of_the_page_in_its_order(page, origin, runner, build, tmp_path):
    server = origin([{"body": "the answer\n"}])
    log = tmp_path / "notes.jsonl"
    # Without `run`, which would warn: only the object can tell.
    environment = {"LD_PRELOAD": str(build / "libtenacurl.so"), "TENACURL_MODE": "loud", "TENACURL_LOG": str(log)}
    result = runner.bare(["/usr/bin/curl", "-sS", server.url("/x")], env=environment)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"the answer\n", b"")
    [note] = [json.loads(line) for line in log.read_text().splitlines()]
    assert list(note) == schema(page)["note"]


def test_reasons_in_the_page_are_the_engines(page, repository):
    named = set(re.findall(r'= "(\w+)"', (repository / "engine" / "names.c").read_text()))
    rows = re.findall(r"^\.It Cm (\w+(?: , \w+)*)$", page.split("The reasons are\n", 1)[1], re.MULTILINE)
    reasons = [name for row in rows for name in row.split(" , ")]
    classes = re.search(r"^\.It Cm failure Pq .*\n((?:(?!\.It).*\n)+)", page, re.MULTILINE)[1]
    classes = re.findall(r"^\.Cm (\w+)", classes, re.MULTILINE)
    assert sorted(reasons + classes) == sorted(named)
