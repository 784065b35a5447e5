# SPDX-License-Identifier: MIT
"""scripts/check-includes: who may include whom, as the table of docs/design.md has it."""

import subprocess
import sys

import pytest

PAGE = """
## Folders

| folder | one sentence | may know |
|---|---|---|
| `low/` | the ground | nothing else |
| `mid/room/` | a room | `low/`, but for now only that |
| `mid/` | what is round it | `mid/room/`; of the ground `low/a.h` |
| `tests/`, `docs/` | – | – |

## What follows

| `above/` | isn't of the table | nothing |
"""
SOUND = {
    "low/a.h": "", "low/a.c": '#include "low/a.h"\n#include <stdio.h>\n', "low/b.h": '#include "low/a.h"\n',
    "mid/room/r.h": '#include "low/b.h"\n', "mid/m.c": '#include "mid/room/r.h"\n # include "low/a.h"\n',
    "tests/t.c": '#include "mid/nowhere.h"\n'}


@pytest.fixture
def check(repository, tmp_path):
    def check(*folders, page=PAGE, **changed):
        for name, text in {**SOUND, **changed, "docs/design.md": page}.items():
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).write_text(text)
        done = subprocess.run([sys.executable, repository / "scripts/check-includes", "-C", tmp_path, *folders],
                              capture_output=True, text=True, timeout=60)
        assert done.stderr == ""
        faults = [line.removeprefix("check-includes: ") for line in done.stdout.splitlines()]
        assert done.returncode == (1 if faults else 0)
        return faults
    return check


def test_a_sound_tree_has_no_faults(check):
    assert check() == []


@pytest.mark.parametrize("name, text, fault", [
    ("low/b.h", '\n#include "mid/room/r.h"',
     'low/b.h:2 includes "mid/room/r.h", which is upward: low/ stands below mid/room/'),
    ("mid/room/s.c", '#include "mid/n.h"',
     'mid/room/s.c:1 includes "mid/n.h", which is upward: mid/room/ stands below mid/'),
    ("mid/n.c", '#include "low/b.h"',
     'mid/n.c:1 includes "low/b.h", and all that mid/ may know is mid/room/, low/a.h'),
    ("mid/n.c", '#include "n.h"', 'mid/n.c:1 includes "n.h", which is no file in a folder of the table'),
    ("mid/n.c", '#include "low/c.h"', 'mid/n.c:1 includes "low/c.h", which is no file in a folder of the table')])
def test_a_way_that_isn_t_in_the_table_is_a_fault(check, name, text, fault):
    assert fault in check(**{"mid/n.h": "", name: text})


def test_a_circle_is_named_a_source_and_its_header_counted_as_one(check):
    circle = {"low/c.h": "", "low/c.c": '#include "low/d.h"\n', "low/d.h": '#include "low/e.h"\n',
              "low/e.h": '#include "low/c.h"\n'}
    assert check(**circle) == ["a circle: low/c → low/d → low/e → low/c"]
    assert check("mid", **circle) == []


def test_two_circles_are_told_apart(check):
    assert check(**{"low/c.h": '#include "low/d.h"', "low/d.h": '#include "low/c.h"',
                    "low/e.h": '#include "low/f.h"', "low/f.h": '#include "low/e.h"'}) == [
        "a circle: low/c → low/d → low/c", "a circle: low/e → low/f → low/e"]


def test_only_folders_that_are_named_are_looked_at(check):
    wrong = {"low/b.h": '#include "nowhere.h"'}
    assert len(check("low", **wrong)) == len(check("mid", "low/", **wrong)) == 1
    assert check("mid", **wrong) == []
    assert check("mid", "lo", **wrong) == ["lo/ is no folder of the table"]


def test_the_table_itself_goes_downward(check):
    page = PAGE.replace("nothing else", "`mid/`")
    assert check(page=page) == ["docs/design.md: low/ may know mid/, which is of no row above it"]
    assert check(page="") == ["docs/design.md has no table of folders"]
