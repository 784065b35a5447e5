# SPDX-License-Identifier: MIT
"""
Real programs, as installed from Debian packages, at a server that fails: corpus/clients.toml says which and how.

Here come the cheap ones; scripts/corpus --all tries all. What a program does without tenacurl is the baseline.
"""

import pytest

from support.corpus import FAULTS, PASSING, installed_packages, load, why_not
from support.corpus_report import Row, summary
from support.corpus_run import MAX_ATTEMPTS, Corpus, scratch

# Those that retry by themselves are test_nested_programs.py's.
CHEAP = [client for client in load() if client.cheap and not client.retries]
COVERED, NOT_COVERED = 0, 2


@pytest.fixture(scope="module")
def corpus(build):
    with scratch() as directory:
        yield Corpus(build, directory)


@pytest.fixture(scope="module")
def installed():
    return installed_packages()


@pytest.fixture(scope="module")
def rows(corpus, request):
    """Every client's outcomes, run once, by name. At the end, what they come to."""
    rows = {}
    yield rows
    plugins = request.config.pluginmanager
    with plugins.get_plugin("capturemanager").global_and_fixture_disabled():
        reporter = plugins.get_plugin("terminalreporter")
        reporter.write_line("")
        for line in summary(rows.values()):
            reporter.write_line(f"# corpus: {line.strip()}")


@pytest.fixture
def client(request, installed):
    reason = why_not(request.param, installed)
    if reason:
        pytest.skip(reason)
    return request.param


@pytest.fixture
def row(client, corpus, rows):
    if client.name not in rows:
        rows[client.name] = Row(client).run(corpus)
    return rows[client.name]


each_client = pytest.mark.parametrize("client", CHEAP, ids=str, indirect=True)
each_wrapped_client = pytest.mark.parametrize("client", [c for c in CHEAP if c.is_wrapped], ids=str, indirect=True)
each_other_client = pytest.mark.parametrize("client", [c for c in CHEAP if not c.is_wrapped], ids=str, indirect=True)
each_bound_client = pytest.mark.parametrize("client", [c for c in CHEAP if c.needs_binder], ids=str, indirect=True)


@each_client
def test_without_a_fault_nothing_changes(row):
    bare, wrapped = row.bare["ok"], row.wrapped["ok"]
    assert bare.success, bare
    assert wrapped.told == bare.told, wrapped
    assert wrapped.attempts == bare.attempts


@each_wrapped_client
def test_passing_fault_is_survived(row):
    for fault in PASSING:
        bare, wrapped = row.bare[fault], row.wrapped[fault]
        assert not bare.success, (fault, bare)
        assert wrapped.success, (fault, wrapped)
        assert wrapped.attempts == row.wrapped["ok"].attempts + 1, fault


@each_wrapped_client
def test_lasting_fault_is_told_as_without(row):
    bare, wrapped = row.bare["down"], row.wrapped["down"]
    assert not bare.success
    assert wrapped.told == bare.told, (bare, wrapped)
    assert bare.attempts < wrapped.attempts <= MAX_ATTEMPTS * bare.attempts


@each_wrapped_client
def test_nobody_is_taken_for_a_retry_layer(row):
    for fault in FAULTS:
        evidence = row.wrapped[fault].evidence
        assert evidence and set(evidence) == {None}, (fault, evidence)


@each_other_client
def test_multi_interface_is_left_alone(row):
    for fault in FAULTS:
        bare, wrapped = row.bare[fault], row.wrapped[fault]
        assert (wrapped.told, wrapped.attempts) == (bare.told, bare.attempts), fault


@each_bound_client
def test_without_the_binder_nothing_changes(client, row, corpus):
    for fault in FAULTS:
        bare, wrapped = row.bare[fault], corpus.run(client, fault, ["--no-binder"])
        assert (wrapped.told, wrapped.attempts) == (bare.told, bare.attempts), fault
    assert corpus.check(client, "--no-binder").status == NOT_COVERED


@each_client
def test_check_says_beforehand_what_happens(client, row, corpus):
    row.check(corpus)
    assert row.foretold == row.observed
    assert row.observed != (NOT_COVERED if client.is_wrapped else COVERED)
