# SPDX-License-Identifier: MIT
"""docs/tenacurl-policy.5 is made from the schema, so that it can't tell another story than the program."""

import re
import subprocess
import sys

import pytest


@pytest.fixture
def keys(build):
    return subprocess.run([build / "tenacurl", "policy", "keys"], capture_output=True, text=True, check=True,
                          timeout=60).stdout


@pytest.fixture
def generate(repository):
    def start(text):
        return subprocess.run([sys.executable, repository / "scripts" / "gen-policy-man"], input=text,
                              capture_output=True, text=True, timeout=60)
    return start


@pytest.fixture
def page(repository):
    return (repository / "docs" / "tenacurl-policy.5").read_text()


def test_the_page_is_what_the_generator_makes_of_the_schema(generate, keys, page):
    made = generate(keys)
    assert (made.returncode, made.stderr) == (0, "")
    assert page == made.stdout, "run: build/tenacurl policy keys | scripts/gen-policy-man >docs/tenacurl-policy.5"


def test_the_page_has_every_key_once(keys, page):
    names = re.findall(r"^(\w+)", keys, re.MULTILINE)
    assert len(names) > 40
    assert re.findall(r"^\.It Cm (\w+)$", page, re.MULTILINE) == names


def test_the_default_in_the_page_is_the_one_in_force(build, page, tmp_path):
    empty = tmp_path / "empty.ini"
    empty.write_text("[policy]\n")
    empty.chmod(0o644)
    explained = subprocess.run([build / "tenacurl", "policy", "explain", "--policy", empty], capture_output=True,
                               text=True, check=True, env={}, timeout=60).stdout
    for name in ("max_attempts", "retry_max_time_ms", "backoff_base_ms", "min_try_ms", "replay"):
        value = re.search(rf"^{name} += (\S+) +default ", explained, re.MULTILINE)[1]
        assert re.search(rf"^\.It Cm {name}\n(?:[^.].*\n)*Default: {value}\.$", page, re.MULTILINE)


@pytest.mark.parametrize("text", ["", "mode\n", "mode\n    doc\n    takes: a\n    default: a\n",
                                  "mode\n    doc\n    takes: a\n    where: x\n    default: a\n"])
def test_what_is_no_list_of_keys_makes_no_page(generate, text):
    made = generate(text)
    assert made.returncode != 0
    assert made.stdout == ""
    assert made.stderr.startswith("gen-policy-man: ")
