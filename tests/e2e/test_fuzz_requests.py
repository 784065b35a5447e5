# SPDX-License-Identifier: MIT
"""A sample of scripts/fuzz-requests; and that it finds what is broken on purpose."""

import os
import re
import subprocess

import pytest

RUNS = 3000
SECONDS = 12
# Each breaks one promise that the histories are judged by.
BROKEN = ["repeats-any-method", "sends-without-rewinding", "retries-after-delivery"]


def fuzz(repository, build, *options):
    library = os.environ.get("TEST_LIBRARY_PATH")
    command = [repository / "scripts/fuzz-requests", "--runs", str(RUNS), *(["--libcurl", library] if library else []), *options]
    env = {**os.environ, "BUILD": str(build)}
    return subprocess.run(command, env=env, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)


def test_random_histories(repository, build):
    result = fuzz(repository, build, "--seconds", str(SECONDS))
    assert result.returncode == 0, result.stdout
    assert sum(int(number) for number in re.findall(r" (\d+)(?=,|$)", result.stdout.splitlines()[-1])) > 100


@pytest.mark.parametrize("name", BROKEN)
def test_broken_object_is_noticed(repository, build, name):
    result = fuzz(repository, build, "--object", build / "broken" / name / "libtenacurl.so", "--stop-after", "1")
    assert result.returncode == 1, result.stdout
