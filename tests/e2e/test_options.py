# SPDX-License-Identifier: MIT
"""The command lines of all commands: read as getopt_long(3) reads them, told by --help, refused by name."""

import re
import subprocess

import pytest

from conftest import REPOSITORY
from support.launcher import TENACURL
from support.records import lines_of, note

# Command, and the status of its wrong usage (docs/tenacurl.1).
COMMANDS = {"run": 125, "check": 125, "policy": 2, "simulate": 2, "log": 2, "report": 2, "stats": 2, "forget": 2, "last": 2}
# Where a command isn't in a room of its own name.
ROOMS = {"report": "log", "forget": "stats", "last": "stats"}


def tenacurl(*arguments, **env):
    return subprocess.run([TENACURL, *arguments], env={"PATH": "/usr/bin:/bin", **env}, capture_output=True, text=True,
                          timeout=60)


@pytest.fixture
def state(tmp_path):
    return {"TENACURL_STATE": str(tmp_path / "none")}


def options_of(text):
    return set(re.findall(r"--[a-z][a-z-]*", text))


def options_in_help(command):
    rows = tenacurl(command, "--help").stdout.partition("\nOptions:\n")[2].partition("\n\n")[0]
    return options_of("\n".join(re.match(r"(?:  (?:-\w|  )(?:, |  )?)(\S*)", row)[1] for row in rows.splitlines()
                                if not row.startswith(" " * 8)))


def options_in_manual(command):
    synopsis = (REPOSITORY / "docs/tenacurl.1").read_text().partition(".Sh SYNOPSIS\n")[2].partition("\n.Sh ")[0]
    forms = [form for form in synopsis.split(".Nm\n") if re.match(rf"\.Cm {command}\b", form)]
    return {f"--{name}" for form in forms for name in re.findall(r"Fl -([a-z][a-z-]*)", form)}


@pytest.mark.parametrize("command", COMMANDS)
def test_help_and_manual_name_the_same_options(command):
    assert options_in_help(command) - {"--help", "--verbose"} == options_in_manual(command)


@pytest.mark.parametrize("command", COMMANDS)
def test_help_has_examples_of_the_command(command):
    examples = tenacurl(command, "--help").stdout.partition("\nExamples:\n")[2].splitlines()
    assert examples and any(f"tenacurl {command}" in line for line in examples)
    assert all(line.startswith("  ") for line in examples)


@pytest.mark.parametrize("command", COMMANDS)
def test_what_is_wrong_is_named(command):
    for wrong in ("--frobnicate", "-x"):
        done = tenacurl(command, wrong)
        assert (done.returncode, done.stdout) == (COMMANDS[command], "")
        assert done.stderr == (f"tenacurl {command}: unrecognized option '{wrong}'\n"
                               f"Try 'tenacurl {command} --help'.\n")
    assert tenacurl(command, "-h").stdout == tenacurl(command, "--help").stdout


@pytest.mark.parametrize("arguments, told", [
    (["last", "--job"], "--job needs a value: NAME"),
    (["last", "--job="], "--job needs a value: NAME"),
    (["last", "-n"], "-n needs a value: COUNT"),
    (["last", "-n1x"], "-n needs a number above 0, not '1x'"),
    (["last", "--pid=0"], "--pid needs the id of a process, not '0'"),
    (["last", "--pid=2147483648"], "--pid needs the id of a process, not '2147483648'"),
    (["last", "--json=1"], "--json takes no value"),
    (["last", "--p"], "'--p' can be several options"),
    (["last", "more"], "what is 'more'?"),
    (["last", "\x1b[31m"], "what is '\\x1b[31m'?"),
    (["last", "--pid", "1", "--run", "a"], "one of --job, --run and --pid, not several"),
    (["stats", "--json", "--prometheus"], "--json or --prometheus, not both"),
    (["stats", "reset", "again"], "what is 'again'?"),
    (["stats", "--all"], "--all goes with reset"),
    (["stats", "--all-users", "--state", "/tmp"], "--all-users looks in the usual places: not with --state"),
    (["last", "--state=/tmp", "--running", "--all-users"], "--all-users looks in the usual places: not with --state"),
    (["forget", "--all", "--origin", "x"], "--all goes without --program and --origin"),
    (["policy", "check", "a", "b"], "one too many: 'b'"),
    (["policy", "check", "--policy", "a", "b"], "--policy goes with explain"),
    (["report"], "which file? (- is standard input)"),
    (["run"], "which command?"),
], ids=" ".join)
def test_wrong_usage_says_what_is_wrong(arguments, told, state):
    done = tenacurl(*arguments, **state)
    assert done.returncode == COMMANDS[arguments[0]] and done.stdout == ""
    assert done.stderr == f"tenacurl {arguments[0]}: {told}\nTry 'tenacurl {arguments[0]} --help'.\n"


@pytest.mark.parametrize("arguments", [
    ["last", "--job=x"], ["last", "--job", "x"], ["last", "--jo=x"], ["last", "-n5"], ["last", "-n", "5", "--json"],
], ids=" ".join)
def test_values_stand_with_their_option_or_behind_it(arguments, state):
    done = tenacurl(*arguments, **state)
    assert done.returncode == 1 and "Try" not in done.stderr  # read, and nothing there


def test_stats_takes_its_policy_either_way(tmp_path, state):
    policy = tmp_path / "policy.ini"
    policy.write_text("[policy]\nmax_attempts = none\n")
    told = [tenacurl("stats", *words, **state) for words in (["--policy", policy], [f"--policy={policy}"])]
    assert [done.returncode for done in told] == [0, 0]
    assert told[0].stderr == told[1].stderr and str(policy) in told[0].stderr


@pytest.mark.parametrize("env", [{}, {"POSIXLY_CORRECT": "1"}], ids=["plain", "posix"])
def test_options_may_follow_operands(env, tmp_path, state):
    log = tmp_path / "log"
    log.write_text(lines_of(note("one")))
    assert tenacurl("report", log, "--json", **env).stdout.startswith("{")
    assert tenacurl("stats", "reset", "--all", **env, **state).returncode == 0
    assert tenacurl("stats", "reset", "--json", **env, **state).returncode == 2
    assert "'--help' isn't there" in tenacurl("log", "--", "--help", **env).stderr


@pytest.mark.parametrize("env", [{}, {"POSIXLY_CORRECT": "1"}], ids=["plain", "posix"])
def test_what_follows_a_programs_name_is_its_own(env):
    for before in ([], ["--"], ["--mode=enforce"]):
        done = tenacurl("run", *before, "echo", "--help", "-v", "--", "x", **env)
        assert (done.stdout, done.returncode) == ("--help -v -- x\n", 0)
    assert tenacurl("check", "true", "--frobnicate", **env).returncode != 125


@pytest.mark.parametrize("word", ["--help", "-h"])
def test_the_help_of_help_is_that_of_all(word):
    assert tenacurl("help", word).stdout == tenacurl("--help").stdout != ""


@pytest.mark.parametrize("command, status, told", [
    ("", 127, "No such file or directory"), ("/tmp/", 126, "Permission denied"), ("./none/", 127, "No such file or directory"),
])
def test_m05_a_command_without_a_name_is_told_as_such(command, status, told):
    done = tenacurl("run", command)
    assert (done.returncode, done.stderr) == (status, f"tenacurl run: can't run '{command}': {told}\n")


@pytest.mark.parametrize("word", ["-", "stdout", "STDERR", "Syslog", "None"])
def test_l01_a_sink_that_is_nearly_one_is_no_file(word, tmp_path):
    done = subprocess.run([TENACURL, "run", "--log", word, "true"], cwd=tmp_path, capture_output=True, text=True, timeout=60)
    assert done.returncode == 125 and not list(tmp_path.iterdir())
    assert done.stderr == f"tenacurl run: --log {word}: allowed: none, stderr, stderr-json, syslog or a file (./{word})\n"
    assert tenacurl("run", "--log", f"{tmp_path}/stdout", "true").returncode == 0


def test_no_parser_is_written_by_hand():
    """Each command has a table, and only what reads tables knows how options look."""
    with_dashes = re.compile(r'strn?cmp\([^;]*"--?[a-z]')
    for source in (REPOSITORY / "cli").rglob("*.c"):
        assert "getopt" not in source.read_text() or source.name == "options.c", source
    for command in COMMANDS:
        source = REPOSITORY / "cli" / ROOMS.get(command, command) / f"{command}.c"
        text = source.read_text()
        assert not with_dashes.search(text), source
        assert "say_read_options" in text, source
