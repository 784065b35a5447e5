# SPDX-License-Identifier: MIT
"""What the command line tool prints never commands the terminal, nor reads other than it is."""

import json
import shutil
import stat

import pytest

ESC, BELL, CSI, OVERRIDE, ISOLATE = "\x1b", "\x07", "\x9b", "\u202e", "\u2066"
EVIL = f"a{ESC}]0;t{BELL}{CSI}31m{OVERRIDE}b{ISOLATE}\nforged: line\udcff"


def is_harmless(output):
    """Printable text and line ends. A line that a name forged would begin with "forged"."""
    text = output.decode()  # and it is UTF-8
    return all(c.isprintable() or c == "\n" for c in text) and not any(
        line.startswith("forged") for line in text.split("\n"))


@pytest.fixture
def evil(tmp_path):
    """A directory of such a name."""
    directory = tmp_path / EVIL
    directory.mkdir()
    return directory


def everything(*arguments):
    return [list(argument) for argument in arguments]


def test_a21_check_of_any_path(build, bare, evil):
    program = evil / "curl"
    shutil.copy("/usr/bin/curl", program)
    script = evil / "script"
    script.write_text(f"#!/bin/sh\n'{program}' x\n", errors="surrogateescape")
    script.chmod(stat.S_IRWXU)
    broken = evil / "broken"
    broken.write_text("no program")
    tool = build / "tenacurl"
    for words in everything((program,), (script,), (broken,), (evil / "missing",), ("--run", program, "--version"),
                            (EVIL,)):
        done = bare([tool, "check", *words])
        assert is_harmless(done.stderr), words
        if "--run" not in words:
            assert is_harmless(done.stdout), words
    done = bare([tool, "check", "--json", program])
    report = json.loads(done.stdout)
    assert is_harmless(done.stdout) and report["verdict"] == "covered" and ESC in report["uses"][0]["program"]


def test_a21_policies_by_any_path(build, bare, evil):
    tool, policy, other = build / "tenacurl", evil / "policy.ini", evil / "bad.ini"
    policy.write_text(f"[policy]\nmax_attempts = 2\nskip_programs = x{OVERRIDE}{CSI}y\n"
                      f"[upstream n]\nmatch = h{OVERRIDE}\n")
    other.write_text(f"[policy]\nmax_attempts = {ESC}2{OVERRIDE}\n")
    for path in (policy, other, evil / "missing", EVIL):
        for words in everything(("policy", "check", path), ("policy", "explain", "--policy", path, f"http://h{OVERRIDE}/"),
                                ("run", "--policy", path, "--", "/bin/true"), ("stats", "--policy", path),
                                ("simulate", "--fleet", "--policy", path), ("simulate", path), ("log", path),
                                ("report", path), ("policy", path), (path,), ("policy", "explain", "h", path),
                                ("run", "--", path), ("run", "-v", "--", "/bin/true")):
            done = bare([tool, *words], env={"TENACURL_POLICY": str(policy)})
            assert is_harmless(done.stdout) and is_harmless(done.stderr), words


def test_a21_state_of_any_writer(state):
    """Whatever another process wrote."""
    state.write(state.flight(origin=f"http://{CSI}h", section=OVERRIDE, job=ESC, run=ISOLATE, program=f"{BELL}p"),
                state.learned(program=f"{ESC}]0;t{BELL}", caller=f"{CSI}31m", origin=f"http://{OVERRIDE}:80"))
    for words in everything(("last",), ("last", "--json"), ("stats",), ("stats", "--json"), ("stats", "--prometheus"),
                            ("stats", "--owners"), ("stats", "--owners", "--json")):
        done = state.tenacurl(*words)
        assert is_harmless(done.stdout) and is_harmless(done.stderr), words


def test_a21_logs_of_any_writer(build, bare, tmp_path):
    text = json.dumps(f"a{ESC}{CSI}{OVERRIDE}{ISOLATE}\u2028\u200f\nforged{BELL}\x7f", ensure_ascii=False)
    record = (f'{{"schema":1,"kind":"%s","time":{text},"pid":1,"program":{text},"job":{text},"mode":"enforce","section":{text},'
              f'"operation":1,"attempt":1,"attempts":1,"method":{text},"url":{text},"owner":{text},"evidence":{text},'
              f'"intent":{text},"curl":{text},"curl_code":7,"failure":{text},"verdict":{text},"reason":{text},'
              f'"note":{text},"lost":0}}\n')
    log = tmp_path / "log"
    log.write_text("".join(record % kind for kind in ("attempt", "operation", "nested", "note", f"x{ESC}")))
    with log.open("ab") as file:
        file.write(b'{"schema":1,"kind":"note","note":"\xff\x9b\x1b"}\n\x1b\x9b\xff\n')
    for words in everything(("log", log), ("report", log), ("report", "--json", log)):
        done = bare([build / "tenacurl", *words])
        assert is_harmless(done.stdout) and is_harmless(done.stderr), words


def test_a21_records_have_no_order_for_a_terminal(build, origin, runner, tmp_path):
    """Who reads the log itself, with cat."""
    server = origin({"paths": {"/x": [{"status": 503, "repeat": True}]}})
    log = tmp_path / "log"
    runner.run(["/usr/bin/curl", "-s", server.url("/x")], policy={"max_attempts": 1, "log": log},
               env={"TENACURL_JOB": f"j{ESC}{CSI}{OVERRIDE}{ISOLATE}\u2028"})
    assert is_harmless(log.read_bytes()) and OVERRIDE in json.loads(log.read_text().split("\n")[0])["job"]
