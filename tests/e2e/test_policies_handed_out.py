# SPDX-License-Identifier: MIT
"""The policies that we hand out against what goes wrong at night. docs/policies.md has the table; here it is measured."""

import re

import pytest

RIGHT = {"body": "right"}
FAULTS = {
    "503": {"status": 503, "body": "down"},
    "429": {"status": 429, "body": "slow down"},
    "500": {"status": 500, "body": "broken"},
    "reset": {"fault": "reset"},
    "empty": {"fault": "fin"},
}
METHODS = {"GET": [], "POST": ["-d", "order=1"]}
COLUMNS = [f"{method} {fault}" for method in METHODS for fault in FAULTS]
BUILT_IN = "no policy file"
# Where a visitor waits, a busy test machine must not be what ends the attempt.
SHORT_MS = 10000
TIME_LIMITS = "deadline_ms|per_try_ms|connect_timeout_ms"


def handed_out(repository):
    """{name: path} of each policy that is installed."""
    paths = [repository / "config/policy.ini", *sorted((repository / "config/examples").glob("*.ini"))]
    return {path.name: path for path in paths}


def with_time(text):
    """The policy with its time limits 20 times as long, if it is for somebody who waits."""
    deadline = re.search(r"^deadline_ms = (\d+)", text, re.MULTILINE)
    if not deadline or not 0 < int(deadline[1]) < SHORT_MS:
        return text
    return re.sub(rf"^({TIME_LIMITS}) = (\d+)", lambda found: f"{found[1]} = {int(found[2]) * 20}", text, flags=re.MULTILINE)


def rows_of(text):
    """{policy: [cell, ...]} of the table in docs/policies.md."""
    head = "| policy | " + " | ".join(COLUMNS) + " |\n"
    table = text[text.index(head) + len(head) :].split("\n\n")[0].splitlines()[1:]
    cells = [[cell.strip().strip("`") for cell in line.strip("|").split("|")] for line in table]
    return {row[0]: row[1:] for row in cells}


@pytest.fixture
def measure(origin, runner, tmp_path):
    """measure(policy text or None) -> {"GET 503": "again" or "no", …}: each request meets the fault once."""

    def started(policy, method, fault):
        server = origin([FAULTS[fault], RIGHT])
        command = ["/usr/bin/curl", "-sS", "-f", *METHODS[method], server.url("/report")]
        options = [] if policy is None else ["--log", str(tmp_path / "log.jsonl")]
        return server, runner.start(command, policy, options)

    def measure(policy):
        runs = {(method, fault): started(policy, method, fault) for method in METHODS for fault in FAULTS}
        cells = {}
        for (method, fault), (server, running) in runs.items():
            result = running.wait()
            sent = len(server.requests)
            assert (result.returncode == 0, sent) in ((True, 2), (False, 1)), (method, fault, result)
            cells[f"{method} {fault}"] = "again" if sent == 2 else "no"
        return cells

    return measure


POLICIES = ["cron.ini", "internal-service.ini", "llm-api.ini", "php-workers.ini", "policy.ini", BUILT_IN]


@pytest.mark.parametrize("name", POLICIES)
def test_m02_the_table_in_the_docs_is_what_each_policy_does(repository, measure, name):
    text = None if name == BUILT_IN else with_time(handed_out(repository)[name].read_text())
    measured = measure(text)
    assert dict(zip(COLUMNS, rows_of((repository / "docs/policies.md").read_text())[name])) == measured


def test_m02_the_table_has_every_policy(repository):
    documented = rows_of((repository / "docs/policies.md").read_text())
    assert sorted(documented) == sorted(POLICIES)
    assert set(POLICIES) == {*handed_out(repository), BUILT_IN}


def test_m02_the_opening_story_is_true_with_each(repository):
    """One 503 to a GET is survived whatever file a reader begins with, and no order is placed twice unless the file says why."""
    for name, cells in rows_of((repository / "docs/policies.md").read_text()).items():
        cells = dict(zip(COLUMNS, cells))
        assert {cells[f"GET {fault}"] for fault in FAULTS} == {"again"}, name
        repeated = [fault for fault in FAULTS if cells[f"POST {fault}"] == "again"]
        assert repeated == (["429"] if name == "llm-api.ini" else []), name


def test_m02_what_contrib_hands_out_is_among_them(repository):
    text = "".join(path.read_text() for path in (repository / "contrib").rglob("*") if path.is_file())
    assert set(re.findall(r"examples/([\w-]+\.ini)", text)) <= set(handed_out(repository))
