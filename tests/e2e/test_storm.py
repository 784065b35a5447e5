# SPDX-License-Identifier: MIT
"""scripts/storm. Its real part takes minutes and a quiet machine; here are the simulated one and what both count by."""

import importlib.machinery
import importlib.util
import os
import subprocess
import xml.etree.ElementTree

import pytest

from support.capacity_origin import Queue


@pytest.fixture(scope="module")
def storm(repository):
    loader = importlib.machinery.SourceFileLoader("storm", str(repository / "scripts" / "storm"))
    module = importlib.util.module_from_spec(importlib.util.spec_from_loader("storm", loader))
    loader.exec_module(module)
    return module


def test_simulated_storm_keeps_its_targets(build, repository, tmp_path):
    picture = tmp_path / "storm.svg"
    done = subprocess.run([repository / "scripts" / "storm", "--simulate-only", "--svg", picture], text=True,
                          capture_output=True, env={**os.environ, "BUILD": str(build)}, timeout=300)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.count("  met ") == 4 and "MISSED" not in done.stdout
    lines = xml.etree.ElementTree.parse(picture).getroot().iter("{http://www.w3.org/2000/svg}polyline")
    assert len(list(lines)) == 2 * 3


def test_a_server_that_is_never_short_makes_no_storm(build, repository):
    done = subprocess.run([repository / "scripts" / "storm", "--simulate-only", "--capacity", "100000"], text=True,
                          capture_output=True, env={**os.environ, "BUILD": str(build)}, timeout=300)
    assert done.returncode == 1 and "MISSED  simulated: the naive loop recovers later" in done.stdout


GOOD, BAD = (10, 10, 10), (10, 10, 9)


@pytest.mark.parametrize("bins,recovery_ms", [
    ([GOOD] * 20, 0),
    ([GOOD] * 4 + [BAD] * 4 + [GOOD] * 12, 1000),
    ([GOOD] * 4 + [BAD] * 4 + [GOOD] * 4 + [BAD] + [GOOD] * 7, 3500),
    ([GOOD] * 4 + [BAD] * 16, None),
    ([GOOD] * 4 + [(10, 0, 0)] * 2 + [GOOD] * 14, 0),
], ids=["nothing happened", "recovers", "relapses", "never", "nothing ended"])
def test_recovery_is_until_the_last_bad_span(storm, bins, recovery_ms):
    assert storm.recovery_of(bins, outage_over_ms=3000, duration_ms=10000) == recovery_ms


def test_the_server_does_one_request_after_the_other_and_rests_while_it_stalls():
    queue = Queue(10, stall_from=1, stall_to=3)
    assert [queue.take(0), queue.take(0)] == pytest.approx([0.1, 0.2])
    assert queue.take(0.95) == pytest.approx(3.05), "half of it is done when the stall begins"
    assert queue.take(2) == pytest.approx(3.15)
    assert queue.take(5) == pytest.approx(5.1)


def test_a_stall_delays_what_came_before_it_only_if_it_waits():
    queue = Queue(10, stall_from=1, stall_to=3)
    assert queue.take(0.9) == pytest.approx(1.0)
    assert queue.take(1.5) == pytest.approx(3.1)
