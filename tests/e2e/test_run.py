# SPDX-License-Identifier: MIT
"""`tenacurl run`: what the program finds in its environment, and with which status run ends."""

import os
import re
import shutil
import subprocess
import sys
import time
from pathlib import Path

import pytest

from support.launcher import (AUDIT, OBJECT, PRELOAD, TENACURL, TUNABLES, environment, read_terminal, refused, run,
                              seen)

BOOT_ID = Path("/proc/sys/kernel/random/boot_id").read_text().strip()


def good_policy(directory, text="[policy]\nmax_attempts = 3\n"):
    path = directory / "policy.ini"
    path.write_text(text)
    path.chmod(0o644)
    return path


# Exit statuses


def test_the_status_is_the_programs(run):
    assert run("--", "sh", "-c", "exit 42").returncode == 42
    assert run("sh", "-c", "kill -TERM $$").returncode == -15


def test_a_program_that_is_not_there_is_127(run):
    for name in ("no-such-program-here", "/no/such/program"):
        done = run("--", name)
        assert done.returncode == 127
        assert done.stderr == f"tenacurl run: can't run '{name}': No such file or directory\n"


def test_a_program_that_cannot_be_executed_is_126(run, tmp_path):
    script = tmp_path / "script"
    script.write_text("#!/bin/sh\n")
    script.chmod(0o644)
    for name in (script, tmp_path):
        done = run("--", name)
        assert done.returncode == 126
        assert done.stderr == f"tenacurl run: can't run '{name}': Permission denied\n"


def test_the_programs_own_options_are_its_own(run):
    done = run("echo", "--policy", "--help", "-v", "--", "x")
    assert done.stdout == "--policy --help -v -- x\n"


def test_usage_errors_are_125(run):
    for arguments in (["--no-such-option", "true"], ["--policy"], []):
        done = run(*arguments)
        assert done.returncode == 125
        assert done.stderr.startswith("tenacurl run: ")
        assert done.stderr.endswith("Try 'tenacurl run --help'.\n")


def test_standard_streams_are_passed_on(environment):
    done = subprocess.run([TENACURL, "run", "--", "sh", "-c", "cat; echo err >&2"], env=environment, input=b"in",
                          capture_output=True, timeout=60)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"in", b"err\n")


# What the program sees


def test_without_options_only_the_objects_a_run_id_and_a_name_are_set(seen):
    found = seen()
    assert {name for name in found if name.startswith("TENACURL_")} == {"TENACURL_RUN", "TENACURL_JOB"}
    assert re.fullmatch("[0-9a-f]{16}", found["TENACURL_RUN"])
    assert found["LD_PRELOAD"] == PRELOAD
    assert (found["LD_AUDIT"], found["GLIBC_TUNABLES"]) == (AUDIT, TUNABLES)
    assert found["ASAN_OPTIONS"] == "verify_asan_link_order=0"


def test_each_run_has_its_own_id(seen):
    assert seen()["TENACURL_RUN"] != seen()["TENACURL_RUN"]


def test_options_become_variables(seen, tmp_path):
    good_policy(tmp_path)
    found = seen("--policy", "policy.ini", "--mode", "audit", "--log", "out.log", "--job", "nightly import")
    assert found["TENACURL_POLICY"] == str(tmp_path / "policy.ini")
    assert found["TENACURL_MODE"] == "audit"
    assert found["TENACURL_LOG"] == str(tmp_path / "out.log")
    assert found["TENACURL_JOB"] == "nightly import"


def test_a_link_to_a_policy_stays_a_link(seen, tmp_path):
    good_policy(tmp_path)
    (tmp_path / "current.ini").symlink_to("policy.ini")
    assert seen("--policy", "current.ini")["TENACURL_POLICY"] == str(tmp_path / "current.ini")


@pytest.mark.parametrize("sink", ["none", "stderr", "syslog", "/tmp/tenacurl-%u.log"])
def test_sinks_that_are_no_relative_files_stay_as_they_are(seen, sink):
    assert seen("--log", sink)["TENACURL_LOG"] == sink


@pytest.mark.parametrize("inherited, expected", [
    ("", "{object}"),
    ("/x/other.so", "{object}:/x/other.so"),
    ("/x/one.so /x/two.so", "{object}:/x/one.so:/x/two.so"),
    ("{object}", "{object}"),
    ("/x/one.so:{object}: /x/two.so", "{object}:/x/one.so:/x/two.so"),
    ("/old/place/libtenacurl.so:/x/one.so", "{object}:/x/one.so"),
    ("/x/libasan.so.8:/x/one.so", "/x/libasan.so.8:{object}:/x/one.so"),
    ("/x/libtsan.so.2 /x/libubsan.so.1 /x/one.so", "/x/libtsan.so.2:/x/libubsan.so.1:{object}:/x/one.so"),
    ("/llvm/libclang_rt.asan-x86_64.so", "/llvm/libclang_rt.asan-x86_64.so:{object}"),
])
def test_preload_lists_are_composed(run, inherited, expected):
    # The objects named here don't exist: run's own start, and cat's, must not depend on the dynamic linker's patience.
    done = run("--", "cat", "/proc/self/environ", env={"LD_PRELOAD": inherited.format(object=PRELOAD)})
    variables = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
    assert variables["LD_PRELOAD"] == expected.format(object=PRELOAD)


def test_sanitizer_options_of_the_user_stay(seen):
    assert seen(env={"ASAN_OPTIONS": "detect_leaks=0"})["ASAN_OPTIONS"] == "detect_leaks=0:verify_asan_link_order=0"
    chosen = "verify_asan_link_order=1"
    assert seen(env={"ASAN_OPTIONS": chosen})["ASAN_OPTIONS"] == chosen


def test_verbose_tells_what_is_set(run):
    done = run("-v", "--job", "j", "true")
    assert done.returncode == 0
    assert "tenacurl run: TENACURL_JOB=j\n" in done.stderr
    assert f"tenacurl run: LD_PRELOAD={PRELOAD}\n" in done.stderr


# Deadlines


def now_ms():
    return time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1_000_000


def split_deadline(text):
    boot_id, ms, pid, start, namespace = text.split(":")
    assert int(namespace) == os.stat("/proc/self/ns/pid").st_ino
    return boot_id, int(ms), int(pid), int(start)


def start_time(pid):
    return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])


@pytest.mark.parametrize("text, ms", [
    ("30s", 30000), ("90", 90000), ("1500000ms", 1500000), ("2m", 120000), ("1h", 3600000), ("1d", 86400000),
    ("365d", 365 * 86400000), (".5h", 1800000), ("99.5s", 99500), ("0.1m", 6000), ("60.0000001s", 60001),
])
def test_times_are_read(seen, text, ms):
    before = now_ms()
    boot_id, deadline_ms, _, _ = split_deadline(seen("--deadline", text)["TENACURL_DEADLINE"])
    assert before + ms <= deadline_ms <= now_ms() + ms
    assert boot_id == BOOT_ID


@pytest.mark.parametrize("text", [
    "0", "0s", "0.0", "-1", "+1", "s", "1x", "1 s", "1S", "1sec", "1e3", "0x10", "inf", "nan", "1.", ".", "1.s",
    "366d", "99999999999999999999", "9223372036854775807ms", "1s ", " 1s", "1,5s"])
def test_what_is_no_time_is_refused(run, text):
    refused(run(f"--deadline={text}", "true"), f"--deadline {text}: not a time")


def test_the_launcher_in_a_deadline_is_the_program_itself(run):
    show = "import os; s = open('/proc/self/stat').read().rpartition(')')[2].split()[19];" \
           "print(os.environ['TENACURL_DEADLINE'], os.getpid(), s)"
    text, pid, start = run("--deadline", "1h", "--", sys.executable, "-c", show).stdout.split()
    assert split_deadline(text)[2:] == (int(pid), int(start))


def deadline_of(pid, ms, start=None, boot_id=BOOT_ID):
    return f"{boot_id}:{ms}:{pid}:{start_time(pid) if start is None else start}"


def test_a_nested_run_keeps_the_tighter_deadline_and_the_id(seen):
    run_id = "0123456789abcdef"
    tight = {"TENACURL_DEADLINE": deadline_of(os.getpid(), now_ms() + 600_000), "TENACURL_RUN": run_id}
    found = seen("--deadline", "1h", env=tight)
    assert (found["TENACURL_DEADLINE"], found["TENACURL_RUN"]) == (tight["TENACURL_DEADLINE"], run_id)
    found = seen(env=tight)
    assert (found["TENACURL_DEADLINE"], found["TENACURL_RUN"]) == (tight["TENACURL_DEADLINE"], run_id)
    found = seen("--deadline", "1m", env=tight)
    assert split_deadline(found["TENACURL_DEADLINE"])[1] <= now_ms() + 60_000
    assert found["TENACURL_RUN"] == run_id


def finished_process():
    child = subprocess.Popen(["true"])
    child.wait()
    return child.pid


@pytest.mark.parametrize("void", [
    lambda: deadline_of(os.getpid(), now_ms() + 1000, boot_id="01234567-89ab-cdef-0123-456789abcdef"),
    lambda: deadline_of(os.getpid(), now_ms() + 1000, start=1),
    lambda: deadline_of(finished_process(), now_ms() + 1000, start=1),
    lambda: "junk",
    lambda: "",
])
def test_a_deadline_whose_launcher_is_gone_is_void(seen, void):
    inherited = {"TENACURL_DEADLINE": void(), "TENACURL_RUN": "0123456789abcdef"}
    found = seen(env=inherited)
    assert "TENACURL_DEADLINE" not in found
    assert found["TENACURL_RUN"] != inherited["TENACURL_RUN"]
    found = seen("--deadline", "1h", env=inherited)
    assert split_deadline(found["TENACURL_DEADLINE"])[1] > now_ms() + 3_000_000


def test_a_launcher_that_is_a_zombie_is_gone(seen):
    child = subprocess.Popen(["sleep", "1000"])
    inherited = deadline_of(child.pid, now_ms() + 1000)
    assert seen(env={"TENACURL_DEADLINE": inherited})["TENACURL_DEADLINE"] == inherited
    child.kill()
    os.waitid(os.P_PID, child.pid, os.WEXITED | os.WNOWAIT)
    assert "TENACURL_DEADLINE" not in seen(env={"TENACURL_DEADLINE": inherited})
    child.wait()


# Policies


BAD_POLICY = "[policy]\nmax_attempts = many\n"


def test_a_bad_policy_on_the_command_line_is_refused(run, tmp_path):
    refused(run("--policy", good_policy(tmp_path, BAD_POLICY), "echo", "started"), "policy.ini", "max_attempts", "many")
    refused(run("--policy", tmp_path / "missing.ini", "echo", "started"), "missing.ini")
    refused(run("--policy", tmp_path, "echo", "started"), str(tmp_path))


def test_bad_words_on_the_command_line_are_refused(run, tmp_path):
    refused(run("--mode", "loud", "true"), "mode", "loud", "enforce, audit, off")
    for option, value in (("mode", "MODE"), ("log", "SINK"), ("job", "NAME"), ("deadline", "TIME"), ("policy", "FILE")):
        done = run(f"--{option}", "", "echo", "started")
        assert (done.returncode, done.stdout) == (125, "")
        assert done.stderr == f"tenacurl run: --{option} needs a value: {value}\nTry 'tenacurl run --help'.\n"


def test_a_log_that_cannot_be_written_is_refused(run, tmp_path):
    refused(run("--log", tmp_path / "missing" / "log", "true"), "--log", "missing")
    refused(run("--log", tmp_path, "true"), "not a regular file")
    refused(run("--log", "/dev/null", "true"), "not a regular file")
    (tmp_path / "link").symlink_to("elsewhere")
    refused(run("--log", "link", "true"), "not a regular file")


def test_audit_needs_a_log(run, seen, tmp_path):
    refused(run("--mode", "audit", "true"), "--mode audit", "--log")
    refused(run("--mode", "audit", "--log", "none", "true"), "--mode audit", "--log")
    assert seen("--mode", "audit", "--log", "syslog")["TENACURL_MODE"] == "audit"
    assert seen("--mode", "audit", env={"TENACURL_LOG": "syslog"})["TENACURL_LOG"] == "syslog"
    with_log = good_policy(tmp_path, f"[policy]\nlog = {tmp_path}/audit.log\n")
    assert seen("--mode", "audit", "--policy", with_log)["TENACURL_MODE"] == "audit"


AUDIT_POLICY = "[policy]\nmode = audit\n"


def test_a_policy_that_audits_may_leave_its_log_to_others(run, seen, tmp_path):
    policy = good_policy(tmp_path, AUDIT_POLICY)
    by_environment = {"TENACURL_POLICY": str(policy)}
    assert seen("--policy", policy, "--log", "out.log")["TENACURL_LOG"] == str(tmp_path / "out.log")
    assert seen("--log", "syslog", env=by_environment)["TENACURL_LOG"] == "syslog"
    assert seen("--policy", policy, env={"TENACURL_LOG": "syslog"})["TENACURL_LOG"] == "syslog"
    refused(run("--policy", policy, "echo", "started"), "mode = audit", "log = none")


def test_words_that_contradict_the_policy_are_refused(run, tmp_path):
    policy = good_policy(tmp_path, f"[policy]\nmode = audit\nlog = {tmp_path}/audit.log\n")
    for arguments, env in ((["--policy", policy], {}), ([], {"TENACURL_POLICY": str(policy)})):
        refused(run(*arguments, "--log", "none", "echo", "started", env=env), "mode = audit", "log = none")


def test_a_bad_policy_on_the_command_line_is_told_before_a_bad_variable(run, tmp_path):
    bad = good_policy(tmp_path, BAD_POLICY)
    refused(run("--policy", bad, "echo", "started", env={"TENACURL_MODE": "loud"}), "policy.ini", "max_attempts")


def test_a_variable_that_makes_the_policy_useless_is_told_on_a_terminal(environment):
    status, printed = read_terminal([str(TENACURL), "run", "echo", "started"],
                                    {**environment, "TENACURL_MODE": "audit"})
    assert status == 0
    warning, started = printed.splitlines()
    assert "running without tenacurl's help" in warning and "log = none" in warning
    assert started == "started"


def test_a_bad_policy_from_elsewhere_keeps_no_program_from_running(run, tmp_path):
    bad = good_policy(tmp_path, BAD_POLICY)
    done = run("echo", "started", env={"TENACURL_POLICY": str(bad)})
    assert (done.returncode, done.stdout, done.stderr) == (0, "started\n", "")
    done = run("echo", "started", env={"TENACURL_MODE": "loud"})
    assert (done.returncode, done.stdout, done.stderr) == (0, "started\n", "")


def test_a_bad_policy_from_elsewhere_is_told_on_a_terminal(environment, tmp_path):
    bad = good_policy(tmp_path, BAD_POLICY)
    status, printed = read_terminal([str(TENACURL), "run", "echo", "started"],
                                    {**environment, "TENACURL_POLICY": str(bad)})
    assert status == 0
    warning, started = printed.splitlines()
    assert warning.startswith("tenacurl run: warning: ") and "max_attempts" in warning
    assert started == "started"


@pytest.mark.skipif(os.geteuid() == 0, reason="root has no policy of its own in HOME")
def test_a_bad_policy_at_home_is_told_too(environment, tmp_path):
    directory = Path(environment["HOME"]) / ".config" / "tenacurl"
    directory.mkdir(parents=True)
    good_policy(directory, BAD_POLICY)
    status, printed = read_terminal([str(TENACURL), "run", "true"], environment)
    assert status == 0
    assert "max_attempts" in printed


# Finding the object


def copy_tree(directory, with_object):
    """An installation of the object alone: without binder, and without names by architecture."""
    binary = directory / "bin" / "tenacurl"
    binary.parent.mkdir(parents=True)
    shutil.copy(TENACURL, binary)
    installed = directory / "lib" / "tenacurl" / "libtenacurl.so"
    installed.parent.mkdir(parents=True)
    if with_object:
        shutil.copy(OBJECT, installed)
    return binary, installed


def test_an_installed_object_is_found_from_the_executable(seen, tmp_path):
    binary, installed = copy_tree(tmp_path / "prefix", with_object=True)
    assert seen(tenacurl=binary)["LD_PRELOAD"] == str(installed)
    link = tmp_path / "link"
    link.symlink_to(binary)
    assert seen(tenacurl=link)["LD_PRELOAD"] == str(installed)


def test_the_object_beside_the_executable_comes_first(seen, tmp_path):
    binary, _ = copy_tree(tmp_path / "prefix", with_object=True)
    beside = binary.parent / "libtenacurl.so"
    shutil.copy(OBJECT, beside)
    assert seen(tenacurl=binary)["LD_PRELOAD"] == str(beside)


def test_no_object_is_refused(run, tmp_path):
    binary, _ = copy_tree(tmp_path / "prefix", with_object=False)
    done = run("echo", "started", tenacurl=binary)
    if done.returncode == 0:
        pytest.skip("tenacurl is installed where it was configured to be")
    refused(done, "libtenacurl.so")


@pytest.mark.parametrize("name", ["with blank", "with:colon"])
def test_a_path_that_the_dynamic_linker_cannot_take_is_refused(run, tmp_path, name):
    binary, _ = copy_tree(tmp_path / name, with_object=True)
    refused(run("echo", "started", tenacurl=binary), name, "blank or a colon")


@pytest.mark.parametrize("name", ["$LIB", "a${ORIGIN}b", "x-$PLATFORM-y"])
def test_a21_a_path_that_the_dynamic_linker_expands_is_refused(run, tmp_path, name):
    binary, _ = copy_tree(tmp_path / name, with_object=True)
    refused(run("echo", "started", tenacurl=binary), name, "for a variable")


@pytest.mark.parametrize("name", ["$LIBS", "$", "${}", "$HOME", "100%", "ü", "a'b\"c", "(x)&;|*?"])
def test_a21_other_odd_paths_are_taken(seen, tmp_path, name):
    binary, installed = copy_tree(tmp_path / name, with_object=True)
    assert seen(tenacurl=binary)["LD_PRELOAD"] == str(installed)


def test_an_object_that_is_a_directory_is_refused(run, tmp_path):
    binary, installed = copy_tree(tmp_path / "prefix", with_object=False)
    installed.mkdir()
    refused(run("echo", "started", tenacurl=binary), "not a regular file")


# Help and version


def tenacurl(*arguments):
    return subprocess.run([TENACURL, *arguments], capture_output=True, text=True, timeout=60)


def test_version():
    done = tenacurl("--version")
    assert re.fullmatch(r"tenacurl \d+\.\d+\.\d+\n", done.stdout)
    assert (done.returncode, done.stderr) == (0, "")


def test_help_names_every_command_and_each_has_its_own():
    for arguments in (["--help"], ["help"]):
        done = tenacurl(*arguments)
        assert done.returncode == 0
        for command in ("run", "policy", "simulate", "log"):
            assert re.search(rf"^  {command} ", done.stdout, re.MULTILINE)
    for command in ("run", "policy", "simulate", "log"):
        asked, told = tenacurl(command, "--help"), tenacurl("help", command)
        assert asked.returncode == told.returncode == 0
        assert asked.stdout == told.stdout
        assert f"tenacurl {command}" in asked.stdout


def test_what_is_no_command_is_2():
    for arguments in (["frobnicate"], ["help", "frobnicate"], ["--frobnicate"], []):
        done = tenacurl(*arguments)
        assert done.returncode == 2
        assert done.stdout == ""
        assert "tenacurl" in done.stderr


def test_output_that_goes_nowhere_is_an_error():
    with open("/dev/full", "w") as full:
        for arguments in (["--help"], ["--version"]):
            assert subprocess.run([TENACURL, *arguments], stdout=full, stderr=subprocess.DEVNULL).returncode == 1
