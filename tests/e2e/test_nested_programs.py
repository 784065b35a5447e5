# SPDX-License-Identifier: MIT
"""
One owner of retries: real programs that retry by themselves, at a server that fails. corpus/clients.toml says which;
the slow ones come with scripts/corpus --all.
"""

import pytest
from support.corpus import installed_packages, load, why_not
from support.corpus_run import MAX_ATTEMPTS, Corpus, scratch

PROGRAMS = [client for client in load() if client.loops and client.cheap]


@pytest.fixture(scope="module")
def corpus(build):
    with scratch() as directory:
        yield Corpus(build, directory)


@pytest.fixture(params=PROGRAMS, ids=str)
def program(request):
    reason = why_not(request.param, installed_packages())
    if reason:
        pytest.skip(reason)
    return request.param


def test_lasting_fault_is_asked_about_as_often_as_without(program, corpus):
    bare = corpus.run(program, "down")
    first, second = corpus.run_again(program, "down", (), 2)
    assert bare.attempts >= 2 and not bare.success
    assert bare.attempts <= first.attempts <= bare.attempts + MAX_ATTEMPTS - 1
    assert second.attempts == bare.attempts
    assert first.told == second.told == bare.told


def test_reset_is_survived_by_one_of_the_two(program, corpus):
    bare, wrapped = corpus.run(program, "reset"), corpus.run(program, "reset", ())
    assert wrapped.success, wrapped.output
    assert wrapped.attempts == bare.attempts + (not bare.success)


def test_without_a_fault_nothing_changes(program, corpus):
    bare, wrapped = corpus.run(program, "ok"), corpus.run(program, "ok", ())
    assert bare.success, bare.output
    assert (wrapped.told, wrapped.attempts) == (bare.told, bare.attempts)
