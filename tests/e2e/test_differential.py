# SPDX-License-Identifier: MIT
"""
Nobody notices: combinations of everything that a transfer can be made of, each run bare and with the object preloaded.
Where nothing is retried both are equal; where something is, the program sees what it would have seen without the fault,
and the server sees exactly the repeats that there should be.

That the comparison sees anything is shown on objects that are broken on purpose (tests/broken).
"""

import os

import pytest
from conftest import REPOSITORY
from support.differential import Bench, differences, name_of
from support.differential_axes import AXES, CHOSEN_SETS, CONSTRAINTS, SEED
from support.pairwise import combine, covers, groups_of

COMBINATIONS = dict(enumerate(combine(AXES, CONSTRAINTS, CHOSEN_SETS, SEED)))
NAMES = {number: name_of(number, combination) for number, combination in COMBINATIONS.items()}
# The broken gates meet every so many of the combinations; one that hangs is given up on sooner.
BROKEN_EVERY = 8
BROKEN_PATIENCE_S = 10
BROKEN = sorted(path.stem for path in (REPOSITORY / "tests/broken").glob("*.sed"))


def test_every_possible_pair_is_there():
    axes = list(AXES)
    for i, first in enumerate(axes):
        for second in axes[i + 1 :]:
            there = {covers(combination, (first, second)) for combination in COMBINATIONS.values()}
            assert there == set(groups_of(AXES, (first, second), CONSTRAINTS))
    assert len(COMBINATIONS) >= 400


def run_all(bench):
    """({number: why it can't be run}, {(number, "bare" | "preloaded" | name of a broken gate): Run})."""
    libraries = {name: bench.build / "broken" / name / "libtenacurl.so" for name in BROKEN}
    libraries.update(bare=None, preloaded=bench.build / "libtenacurl.so")
    assert all(library is None or library.exists() for library in libraries.values())
    lacking = {number: bench.lacks(combination) for number, combination in bench.combinations.items()}
    jobs = [(number, name, libraries[name]) for number in lacking if not lacking[number] for name in bench.run_numbers]
    return lacking, bench.run_all(jobs)


@pytest.fixture(scope="module")
def chosen(request):
    """{name of a parameter: its values} of the tests that were chosen; nothing else is run."""
    values = {}
    for item in request.session.items:
        for name, value in item.callspec.params.items() if hasattr(item, "callspec") else ():
            values.setdefault(name, []).append(value)
    return values


@pytest.fixture(scope="module")
def results(chosen, build, certificate, tmp_path_factory):
    """The outcome of run_all() for the combinations whose tests were chosen."""
    combinations = {number: COMBINATIONS[number] for number in chosen["number"]}
    directory = tmp_path_factory.mktemp("differential")
    with Bench(combinations, ["bare", "preloaded"], build, directory, certificate) as bench:
        return run_all(bench)


@pytest.mark.parametrize("number", COMBINATIONS, ids=NAMES.values())
def test_nobody_notices(results, number):
    lacking, runs = results
    if lacking[number]:
        pytest.skip(lacking[number])
    bare, preloaded = runs[number, "bare"], runs[number, "preloaded"]
    if bare.returncode != 0 and os.environ.get("TEST_LIBRARY_PATH"):
        pytest.skip("this libcurl crashes or hangs by itself")
    assert bare.returncode == 0, bare.stderr
    found = differences(COMBINATIONS[number], bare, preloaded)
    assert not found, "\n".join([*found, preloaded.log])
    assert preloaded.evidence == []


@pytest.fixture(scope="module")
def broken_results(chosen, build, certificate, tmp_path_factory):
    """The runs of a part of the combinations with each broken gate whose test was chosen."""
    combinations = {number: COMBINATIONS[number] for number in COMBINATIONS if number % BROKEN_EVERY == 0}
    directory = tmp_path_factory.mktemp("broken")
    names = ["bare", "preloaded", *chosen["broken"]]
    with Bench(combinations, names, build, directory, certificate, BROKEN_PATIENCE_S) as bench:
        return run_all(bench)[1]


@pytest.mark.parametrize("broken", BROKEN)
def test_broken_gate_is_noticed(broken_results, broken):
    def differs(number, name):
        return bool(differences(COMBINATIONS[number], broken_results[number, "bare"], broken_results[number, name]))

    # Beside what differs without the breakage, if anything does.
    numbers = [number for number, name in broken_results if name == broken]
    noticed = [NAMES[number] for number in numbers if differs(number, broken) and not differs(number, "preloaded")]
    print(f"{len(noticed)} of {len(numbers)} combinations notice: {noticed}")
    assert noticed
