# SPDX-License-Identifier: MIT
"""`tenacurl stats --owners` and `tenacurl forget`: what is known of programs that retry by themselves."""

import json
import os
import re
import subprocess

import pytest

from support.state import EVENTS, REASONS

API = ("https://api.example.org:443", "policy")
OTHER = "http://other.example:80"
NAMED = " ".join(API)
NESTED = REASONS["nested"]

LEFT_3_REFUSED_2 = [
    f"success 20 {NAMED} 8",
    f"operation 3 {NAMED} 0 1 1 30 {NESTED}",
    f"operation 2 {NAMED} 0 0 0 0 {NESTED}",
    f"event 2 {NAMED} {EVENTS['refused']}",
    f"event 2 {NAMED} {EVENTS['nested_refused']}",
    # Refused for another reason.
    f"operation 1 {NAMED} 0 0 0 0 {REASONS['deadline_budget']}",
    f"event 1 {NAMED} {EVENTS['refused']}",
]


@pytest.fixture
def three(state):
    state.write(state.learned(origin=API[0], program="import.sh", after={"status": 12, "connect": 3}, kept=14),
                state.learned(origin=OTHER, program="import.sh", after={"resolve": 2}),
                state.learned(origin=OTHER, program="s3fs", caller="-", after={"receive": 255}, promised_ms=4000))
    return state


def programs_and_origins(state):
    return [(caller["program"], caller["origin"]) for caller in state.owners()[1]]


def test_operations_that_were_left_and_refused_are_told_apart(state):
    state.write(*LEFT_3_REFUSED_2, f"success 4 {OTHER} policy 1")
    origins, callers = state.owners()
    assert origins[API] == {"origin": API[0], "section": API[1], "operations": 26, "left": 3, "refused": 2}
    assert origins[OTHER, "policy"] == {"origin": OTHER, "section": "policy", "operations": 4, "left": 0, "refused": 0}
    assert callers == []


def test_what_was_learned_is_told(three):
    callers = three.owners()[1]
    assert [(caller["program"], caller["caller"], caller["origin"]) for caller in callers] == [
        ("import.sh", "libfetch.so.1", OTHER), ("import.sh", "libfetch.so.1", API[0]), ("s3fs", "", OTHER)]
    assert [caller["repeats_after"] for caller in callers] == [
        {"resolve": 2}, {"status": 12, "connect": 3}, {"receive": 255}]
    assert [caller["kept"] for caller in callers] == [0, 14, 0]
    assert [caller["expected_for_ms"] is None for caller in callers] == [True, True, False]
    assert callers[2]["expected_for_ms"] >= 4000
    for caller in callers:
        assert caller["age_ms"] >= 120000 and 0 < caller["expires_in_ms"] <= 500000000
        assert caller["age_ms"] + caller["expires_in_ms"] == 500120000


def test_the_tables_are_for_people(three):
    three.write(*LEFT_3_REFUSED_2, f"success 4 {OTHER} policy 1")
    lines = three.text("stats", "--owners").splitlines()
    assert lines[0].split() == ["LEFT", "REFUSED", "OPERATIONS", "ORIGIN"]
    assert lines[1].split() == ["3", "2", "26", API[0], "[policy]"]
    assert lines[2] == "", "an origin where nothing was left isn't told of"
    assert re.split(" {2,}", lines[3].strip()) == ["REPEATS AFTER", "KEPT", "LEARNED", "EXPIRES", "CALLER"]
    assert re.split(" {2,}", lines[5]) == [
        "status 12, connect 3", "14", "2.0 min ago", "in 5.8 d", f"import.sh, libfetch.so.1: {API[0]}"]
    assert lines[6].startswith("receive 255+ ") and lines[6].endswith(f"  s3fs: {OTHER}")
    assert len(lines) == 7


def test_nothing_is_told_where_nothing_is_known(state):
    expected = "No operation was left to its caller.\n\nOf no caller was it learned that it retries by itself.\n"
    assert state.text("stats", "--owners") == expected
    assert json.loads(state.text("stats", "--owners", "--json")) == {"schema": 1, "users": []}
    assert not state.directory.exists()
    state.write(f"success 1 {NAMED} 1")
    assert state.text("stats", "--owners") == expected


def test_what_has_expired_is_not_told(state):
    state.write(state.learned(expires_in_ms=-1000), state.learned(program="b", expires_in_ms=9 * 86400000))
    assert state.owners()[1] == []


def test_names_never_reach_the_terminal_raw(state):
    state.write(state.learned(program="\x1b]0;title\x07", caller="\x9b31m", origin="http://\x1b[2J:80"))
    for text in (state.text("stats", "--owners"), state.text("stats", "--owners", "--json")):
        assert text.isascii() and all(character == "\n" or character >= " " for character in text)


def test_a_file_full_of_noise_tells_nothing_worse_than_wrong_numbers(three):
    file, = three.directory.iterdir()
    with open(file, "r+b") as stream:
        stream.seek(4096)
        stream.write(os.urandom(file.stat().st_size - 4096))
    assert three.owners()[1] == []
    assert three.text("stats", "--owners").isascii()
    assert three.text("forget", "--all") == "Forgot 0 of 0 callers.\n"


def test_only_a_reset_of_everything_forgets(three):
    three.text("stats", "reset")
    assert len(three.owners()[1]) == 3
    three.text("stats", "reset", "--all")
    assert three.owners()[1] == []


@pytest.mark.parametrize("arguments,left", [
    (["--program", "s3fs"], [("import.sh", OTHER), ("import.sh", API[0])]),
    (["--program", "*.sh"], [("s3fs", OTHER)]),
    (["--origin", OTHER], [("import.sh", API[0])]),
    (["--origin", OTHER, "--program", "import*"], [("import.sh", API[0]), ("s3fs", OTHER)]),
    (["--program", "import"], [("import.sh", OTHER), ("import.sh", API[0]), ("s3fs", OTHER)]),
    (["--origin", "http://other.example"], [("import.sh", OTHER), ("import.sh", API[0]), ("s3fs", OTHER)]),
    (["--all"], []),
], ids=lambda value: " ".join(map(str, value)))
def test_what_fits_is_forgotten(three, arguments, left):
    assert three.text("forget", *arguments) == f"Forgot {3 - len(left)} of 3 callers.\n"
    assert programs_and_origins(three) == left


def test_what_was_forgotten_can_be_learned_again(three):
    three.text("forget", "--all")
    three.write(three.learned(program="s3fs", origin=OTHER, caller="-"))
    assert programs_and_origins(three) == [("s3fs", OTHER)]


def test_a_name_that_was_cut_is_forgotten(state):
    origin = "http://" + "a" * 300 + ".example:80"
    state.write(state.learned(origin=origin))
    assert state.text("forget", "--origin", origin) == "Forgot 1 of 1 callers.\n"


def test_forgetting_touches_nothing_else(three):
    three.write(*LEFT_3_REFUSED_2, three.flight())
    three.text("forget", "--all")
    assert three.stats()[API]["operations"] == 26
    assert len(three.last()) == 1


def test_nothing_is_made_where_there_is_nothing_to_forget(state):
    assert state.text("forget", "--all") == "Forgot 0 of 0 callers.\n"
    assert not state.directory.exists()


def test_the_directory_can_be_named(three, tmp_path):
    directory, three.directory = three.directory, tmp_path / "elsewhere"
    assert three.text("forget", "--all") == "Forgot 0 of 0 callers.\n"
    assert len(three.owners("--state", directory)[1]) == 3
    assert three.text("forget", "--all", "--state", directory) == "Forgot 3 of 3 callers.\n"


def test_a_state_that_cannot_be_trusted_is_not_touched(three):
    three.directory.chmod(0o777)
    for arguments in (["stats", "--owners"], ["forget", "--all"]):
        done = three.tenacurl(*arguments)
        assert (done.returncode, done.stdout) == (1, b"")
        assert b"isn't this user's alone" in done.stderr
    three.directory.chmod(0o700)
    assert len(three.owners()[1]) == 3


def test_forget_says_what_it_needs(three):
    done = three.tenacurl("forget")
    assert done.returncode == 2
    assert all(option in done.stderr for option in (b"--program", b"--origin", b"--all"))
    assert len(three.owners()[1]) == 3


@pytest.mark.parametrize("arguments", [
    ["forget", "--all", "--program", "x"], ["forget", "--program"], ["forget", "--program", ""], ["forget", "--origin"],
    ["forget", "--all", "--all-users"], ["forget", "--all", "extra"], ["stats", "--owners", "--prometheus"],
    ["stats", "reset", "--owners"], ["stats", "--owners", "--all"],
], ids=" ".join)
def test_wrong_usage(three, arguments):
    done = three.tenacurl(*arguments)
    assert done.returncode == 2 and f"tenacurl {arguments[0]} --help".encode() in done.stderr
    assert len(three.owners()[1]) == 3


@pytest.mark.parametrize("arguments", [["stats", "--owners"], ["stats", "--owners", "--json"], ["forget", "--all"]],
                         ids=" ".join)
def test_a_full_disk_is_told(three, arguments):
    with open("/dev/full", "wb") as full:
        done = subprocess.run([three.build / "tenacurl", *arguments], stdout=full, stderr=subprocess.PIPE,
                              env={"TENACURL_STATE": str(three.directory)}, timeout=60)
    assert done.returncode == 1 and b"can't write" in done.stderr


def test_the_exposition_counts_what_was_left(state):
    state.write(*LEFT_3_REFUSED_2)
    assert state.samples()[f'tenacurl_stops_total{{origin="{API[0]}",section="policy",reason="nested"}}'] == 5
