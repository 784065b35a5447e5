# SPDX-License-Identifier: MIT
"""`tenacurl run` and what is to be started: which program that is, what can be in its way, and what is set for it."""

import json
import os
import platform
import shlex
import shutil
import stat
import struct
import subprocess
import tempfile
from pathlib import Path

import pytest

from support.launcher import (AUDIT, BUILD, OBJECT, PRELOAD, PRINT_ENVIRONMENT, TENACURL, TUNABLES, environment,
                              foreign_elf, read_terminal, refused, run, seen)

NOBODY = 65534
IS_ROOT = os.geteuid() == 0
needs_root = pytest.mark.skipif(not IS_ROOT, reason="only root can make files of others")


def build_program(path, *flags, compiler="gcc", source="int main(void) { return 0; }\n"):
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    subprocess.run([compiler, "-x", "c", "-", "-x", "none", "-o", str(path), *flags], input=source, text=True,
                   check=True, timeout=60)
    return path


# Programs that can't be helped


def test_a_program_of_another_architecture_is_started_without_the_object(run, tmp_path):
    # What counts is that nothing is preloaded, and that no shell tries to read it.
    program = foreign_elf(tmp_path / "foreign")
    done = run("-v", "--", program)
    assert "another architecture" in done.stderr
    assert "LD_PRELOAD" not in done.stderr and "LD_AUDIT" not in done.stderr
    assert done.returncode == 126
    assert done.stderr.endswith(f"tenacurl run: can't run '{program}': Exec format error\n")
    assert done.stdout == ""


def test_a_program_of_another_architecture_is_found_on_the_path(run, environment, tmp_path):
    foreign_elf(tmp_path / "foreign-tool")
    done = run("--", "foreign-tool", env={"PATH": f"{tmp_path}:{environment['PATH']}"})
    assert done.returncode == 126
    assert done.stderr == "tenacurl run: can't run 'foreign-tool': Exec format error\n"


def test_what_an_outer_run_set_is_taken_back_for_another_architecture(run, tmp_path):
    # A launcher that can be started, for a program that can't.
    program = foreign_elf(tmp_path / "foreign")
    inherited = {"LD_PRELOAD": PRELOAD, "LD_AUDIT": AUDIT}
    done = run("-v", "--", "env", program, env=inherited)
    assert "LD_PRELOAD" not in done.stderr and "LD_AUDIT" not in done.stderr
    others = {"LD_PRELOAD": f"{PRELOAD}:/x/other.so", "LD_AUDIT": f"/x/audit.so:{AUDIT}"}
    done = run("-v", "--", "env", program, env=others)
    assert "LD_PRELOAD=/x/other.so\n" in done.stderr and "LD_AUDIT=/x/audit.so\n" in done.stderr


def test_a_script_without_an_interpreter_line_goes_to_the_shell(run, environment, tmp_path):
    script = tmp_path / "plain-script"
    script.write_text('echo "a shell read this: $1"\nexit 7\n')
    script.chmod(0o755)
    for command, env in ((script, {}), ("plain-script", {"PATH": f"{tmp_path}:{environment['PATH']}"})):
        done = run("--", command, "argument", env=env)
        assert (done.returncode, done.stdout, done.stderr) == (7, "a shell read this: argument\n", "")


def test_a_static_program_starts_and_its_children_are_helped(run, tmp_path):
    program = build_program(tmp_path / "static", "-static")
    done = run("-v", "--", program)
    assert done.returncode == 0
    assert f"{program} is statically linked" in done.stderr
    assert f"LD_PRELOAD={PRELOAD}\n" in done.stderr and f"LD_AUDIT={AUDIT}\n" in done.stderr


def test_what_is_known_is_told_once_on_a_terminal_only(run, environment, tmp_path):
    program = build_program(tmp_path / "static", "-static")
    assert run("--", program).stderr == ""
    status, printed = read_terminal([str(TENACURL), "run", str(program)], environment)
    assert status == 0
    warning = f"tenacurl run: warning: {program} is statically linked: only its children can be helped"
    assert printed.splitlines() == [warning]


# Which program it is in the end


@pytest.fixture
def target(tmp_path):
    """Followed to this one, run says that it is foreign and gives its path."""
    return foreign_elf(tmp_path / "target")


@pytest.fixture
def launchers(environment, tmp_path):
    """Does nothing under the name of any launcher: what counts is how its command line is read."""
    directory = tmp_path / "launchers"
    directory.mkdir()

    def path_of(name):
        shutil.copy(shutil.which("true"), directory / name)
        return {"PATH": f"{directory}:{tmp_path}:{environment['PATH']}"}
    return path_of


@pytest.mark.parametrize("words", [
    "env target", "env -u NAME --unset=OTHER A=1 B= target", "env -uNAME -- target", "env -v -C . ./target",
    "env --chdir / target", "env -S target", "env -S'A=1 target -x'", "env --split-string 'A=1 target'",
    "nice target", "nice -n 5 target", "nice -5 target", "nice --adjustment 5 target", "nohup target",
    "setsid -fw target",
    "timeout 5 target", "timeout -k 3 -s KILL --foreground 5s target", "timeout --signal KILL --kill-after=3 5 target",
    "stdbuf -o L -eL -i0 target", "stdbuf --output=L target", "ionice -c 2 -n 7 -t target", "ionice -c3 target",
    "taskset 3 target", "taskset -c 0-1 target", "chrt -b 0 target", "chrt -d -T 1 -P 5 0 target",
    "prlimit --nofile=100 -n100 target", "numactl -N 0 --membind 0 target", "time -f %e -o times target",
    "flock lock target", "flock -n -w 5 -E 7 lock target", "xargs -n 1 -I {} -a list target {}", "xargs -i target {}",
    "watch -n 1 -x target", "strace -f -o trace -e trace=none target", "valgrind --tool=none target",
    "faketime -f @0 target", "envdir variables target", "setuidgid user target", "su-exec user target",
    "gosu user:group target", "tini -g -- target", "dumb-init -r 15:3 target", "dbus-run-session -- target",
    "unshare -n --map-users 0,0,1 target", "nsenter -n -t 1 target", "setpriv --reuid 1 --clear-groups target",
    "runuser -u user -- target", "systemd-run --scope -p A=b --uid 1 target", "tenacurl run --policy none -v -- target",
    "nice nohup timeout 5 env A=1 setsid target",
])
def test_launchers_are_followed_to_the_program(run, launchers, target, words):
    command = shlex.split(words)
    done = run("-v", "--", *command, env=launchers(command[0]))
    expected = f"{target} is of another architecture"
    if command[0] == "tenacurl":
        assert expected not in done.stderr  # that run tells
    else:
        assert expected in done.stderr or f"/./{target.name} is of another architecture" in done.stderr, done.stderr


@pytest.mark.parametrize("words", ["flock lock -c target", "watch target", "su -c target", "runuser user -c target",
                                   "env", "env A=1", "taskset -p 1", "sudoedit target", "tenacurl check target"])
def test_what_starts_a_shell_or_nothing_is_not_followed(run, launchers, target, words):
    command = words.split()
    done = run("-v", "--", *command, env=launchers(command[0]))
    assert str(target) not in done.stderr
    assert f"LD_PRELOAD={PRELOAD}\n" in done.stderr


@pytest.mark.parametrize("words", ["env -i sh", "env - sh", "env --ignore-environment sh", "env -u LD_PRELOAD sh",
                                   "env LD_PRELOAD=/x/other.so sh", "sudo -E -u user A=1 sh", "doas -u user sh",
                                   "pkexec --user user sh", "su - user", "su -l user -c true", "runuser -l user",
                                   "setpriv --reset-env sh", "systemd-run -p A=b sh"])
def test_a_cleared_environment_is_told(run, launchers, words):
    command = words.split()
    assert f"/{command[0]} clears the environment" in run("-v", "--", *command, env=launchers(command[0])).stderr


@pytest.mark.parametrize("words", ["env -i tenacurl run -- sh", "sudo tenacurl run sh",
                                   "env -i LD_PRELOAD={object} sh"])
def test_what_sets_the_object_again_is_no_clearing(run, launchers, words):
    command = words.format(object=OBJECT).split()
    launchers("tenacurl")
    assert "clears" not in run("-v", "--", *command, env=launchers(command[0])).stderr


@pytest.mark.parametrize("words", ["chroot {root} /sh", "chroot --userspec=1:1 {root} sh", "unshare -R {root} /sh",
                                   "unshare --root {root} /sh", "sudo -R {root} /sh"])
def test_another_root_without_the_object_gets_nothing_preloaded(run, launchers, tmp_path, words):
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    for place in ("sh", "bin/sh"):
        shutil.copy("/bin/sh", root / place)
    command = words.format(root=root).split()
    done = run("-v", "--", *command, env=launchers(command[0]))
    assert f"starts in {root}, which has no libtenacurl.so at the same path" in done.stderr
    assert "LD_PRELOAD" not in done.stderr and "LD_AUDIT" not in done.stderr
    inside = root / str(OBJECT)[1:]
    inside.parent.mkdir(parents=True)
    shutil.copy(OBJECT, inside)
    done = run("-v", "--", *command, env=launchers(command[0]))
    assert "starts in" not in done.stderr
    assert f"LD_PRELOAD={OBJECT}\n" in done.stderr and "LD_AUDIT" not in done.stderr


@pytest.mark.parametrize("line", ["#!{target}", "#! {target} -x", "#!/usr/bin/env target",
                                  "#!/usr/bin/env -S target -x"])
def test_scripts_are_followed_to_their_interpreter(run, environment, target, tmp_path, line):
    script = tmp_path / "script"
    script.write_text(line.format(target=target) + "\n")
    script.chmod(0o755)
    through = tmp_path / "through"
    through.write_text(f"#!{script}\n")
    through.chmod(0o755)
    for command in ([script], [through], ["env", script], ["nice", "-n1", through]):
        done = run("-v", "--", *command, env={"PATH": f"{tmp_path}:{environment['PATH']}"})
        assert f"{target} is of another architecture" in done.stderr


def test_a_circle_of_scripts_ends(run, tmp_path):
    script = tmp_path / "script"
    script.write_text(f"#!{script}\n")
    script.chmod(0o755)
    done = run("--", script)
    assert done.returncode == 126 and len(done.stderr.splitlines()) == 1


# The binder


def without_binder(done):
    told = [line for line in done.stderr.splitlines() if "without the binder" in line]
    assert "LD_AUDIT=" not in done.stderr
    return told[0] if told else ""


def test_no_binder_leaves_it_out(seen):
    found = seen("--no-binder")
    assert found["LD_PRELOAD"] == PRELOAD
    assert "LD_AUDIT" not in found and "GLIBC_TUNABLES" not in found


@pytest.mark.parametrize("inherited, expected, left", [
    ("", "{binder}", None),
    ("/x/audit.so", "{binder}:/x/audit.so", "/x/audit.so"),
    ("{binder}", "{binder}", None),
    ("/old/libtenacurl-bind.so:/x/a.so:{binder}:/x/b.so", "{binder}:/x/a.so:/x/b.so", "/x/a.so:/x/b.so"),
])
def test_audit_lists_are_composed(run, inherited, expected, left):
    # Those modules don't exist, which the dynamic linker says of each program: only what is set counts.
    env = {"LD_AUDIT": inherited.format(binder=AUDIT)}
    for options, wanted in (([], expected), (["--no-binder"], left), ([], expected)):
        done = run(*options, "--", "cat", "/proc/self/environ", env=env)
        variables = dict(entry.split("=", 1) for entry in done.stdout.split("\0") if "=" in entry)
        assert (variables.get("LD_AUDIT") or None) == (wanted and wanted.format(binder=AUDIT))


@pytest.mark.parametrize("inherited, expected", [
    ("glibc.malloc.check=0", f"glibc.malloc.check=0:{TUNABLES}"),
    ("glibc.rtld.optional_static_tls=512", TUNABLES),
    ("glibc.rtld.optional_static_tls=0x4000:glibc.malloc.check=0",
     "glibc.malloc.check=0:glibc.rtld.optional_static_tls=16384"),
])
def test_tunables_are_composed(seen, inherited, expected):
    assert seen(env={"GLIBC_TUNABLES": inherited})["GLIBC_TUNABLES"] == expected


def test_a_run_within_a_run_sets_the_same(run):
    names = ("LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "ASAN_OPTIONS", "TENACURL_RUN")
    once = json.loads(run("--", *PRINT_ENVIRONMENT).stdout)
    twice = json.loads(run("--", TENACURL, "run", "--", TENACURL, "run", "--", *PRINT_ENVIRONMENT).stdout)
    assert [once[name] for name in names[:-1]] == [twice[name] for name in names[:-1]]


def test_switched_off_leaves_the_binder_out(run, seen):
    assert "LD_AUDIT" not in seen(env={"TENACURL_DISABLE": "1"})
    assert "LD_AUDIT" not in seen(env={"TENACURL_DISABLE": "1", "LD_AUDIT": AUDIT})
    assert "TENACURL_DISABLE" in without_binder(run("-v", "true", env={"TENACURL_DISABLE": "1"}))


def test_an_installation_without_the_binder_does_without(run, tmp_path):
    for file in (TENACURL, OBJECT):
        shutil.copy(file, tmp_path)
    done = run("-v", "true", tenacurl=tmp_path / "tenacurl")
    assert done.returncode == 0
    assert "libtenacurl.so" in without_binder(done)
    assert run("true", tenacurl=tmp_path / "tenacurl").stderr == ""


@pytest.mark.parametrize("command", [["host", "-V"], ["nghttpx", "--version"]])
def test_programs_with_some_static_tls_have_the_binder_and_start(run, command):
    if not shutil.which(command[0]):
        pytest.skip(f"{command[0]} is not installed")
    for words in (command, ["sh", "-c", " ".join(command)]):
        done = run("-v", "--", *words)
        assert done.returncode == 0, done.stderr
        assert f"LD_AUDIT={AUDIT}\n" in done.stderr and "error" not in done.stderr


def tls_library(path, tls_bytes):
    source = f'__thread char block[{tls_bytes}] __attribute__((tls_model("initial-exec")));\n' \
             "char block_at(int i);\nchar block_at(int i) { return block[i]; }\n"
    return build_program(path, "-shared", "-fPIC", "-O1", source=source)


@pytest.mark.parametrize("tls_bytes, has_binder", [(2800, True), (4000, False), (1 << 20, False)])
def test_static_tls_is_added_up(run, tmp_path, tls_bytes, has_binder):
    library = tls_library(tmp_path / "libblock.so", tls_bytes)
    source = "char block_at(int i);\nint main(void) { return block_at(0); }\n"
    program = build_program(tmp_path / "program", str(library), source=source)
    done = run("-v", "--", program)
    assert done.returncode == 0, done.stderr
    assert ("LD_AUDIT=" in done.stderr) == has_binder
    assert has_binder or "thread-local storage" in without_binder(done)
    done = run("-v", "--", "true", env={"LD_PRELOAD": str(library)})
    assert done.returncode == 0, done.stderr
    assert ("LD_AUDIT=" in done.stderr) == has_binder


@pytest.mark.parametrize("compiler", ["gcc", "clang"])
@pytest.mark.parametrize("sanitizer", ["address", "thread", "undefined"])
def test_programs_with_a_sanitizer_do_without_the_binder(run, tmp_path, compiler, sanitizer):
    program = build_program(tmp_path / "program", f"-fsanitize={sanitizer}", compiler=compiler)
    done = run("-v", "--", program)
    assert done.returncode == 0, done.stderr
    assert "sanitizer" in without_binder(done)


def test_a_musl_program_starts_without_the_binder(run, tmp_path):
    program = build_program(tmp_path / "musl", compiler="musl-gcc")
    for words in ([program], ["sh", "-c", f"{program}; {program}"]):
        done = run("--", *words)
        assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    done = run("-v", "--", program)
    assert "musl, where tenacurl does nothing" in done.stderr and "C library" in without_binder(done)


# Programs of another architecture among the children


def names_by_architecture():
    return sorted(path for path in (BUILD / "multiarch").rglob("libtenacurl*.so"))


def test_each_name_leads_to_one_architecture():
    if not names_by_architecture():
        pytest.skip("no placeholder could be built")
    classes = {path: path.read_bytes()[4] for path in names_by_architecture() if path.exists()}
    assert set(classes.values()) == {1, 2}
    for path, elf_class in classes.items():
        assert path.resolve().name == (path.name if elf_class == 2 else "libtenacurl-placeholder.so")
        assert elf_class == classes[path.with_name("libtenacurl.so")]


CHILD = """
int puts(const char *);
void exit(int);
__asm__(".globl _start\\n_start: and $-16, %esp\\n call begin\\n");
__attribute__((used)) void begin(void) { puts("32 bits"); exit(7); }
"""


@pytest.fixture
def child32(tmp_path):
    """How to start a 32-bit program: as it is, or in an emulator where the kernel can't."""
    linker = Path("/lib/ld-linux.so.2")
    if platform.machine() != "x86_64" or not linker.exists() or not names_by_architecture():
        pytest.skip("no 32-bit dynamic linker (libc6-i386), or no placeholder")
    libc = next(path for path in (Path("/lib32/libc.so.6"), Path("/lib/i386-linux-gnu/libc.so.6")) if path.exists())
    program = build_program(tmp_path / "child32", "-m32", "-nostdlib", "-nostartfiles", "-no-pie", "-fno-pic",
                            "-fno-stack-protector", str(libc), f"-Wl,--dynamic-linker={linker}", source=CHILD)
    for emulator in ([], ["qemu-i386-static"], ["qemu-i386"]):
        try:
            if subprocess.run([*emulator, program], capture_output=True, timeout=60).returncode == 7:
                return " ".join([*emulator, str(program)])
        except OSError:
            continue
    pytest.skip("32-bit programs can't be started here")


def test_a_32_bit_child_does_not_notice(run, child32):
    done = run("--", "sh", "-c", child32)
    assert (done.returncode, done.stdout, done.stderr) == (7, "32 bits\n", "")


def test_a_linker_that_expands_the_name_otherwise_gets_the_object_itself(run, tmp_path):
    for file in (TENACURL, OBJECT):
        shutil.copy(file, tmp_path)
    (tmp_path / "multiarch" / "elsewhere").mkdir(parents=True)
    done = run("-v", "true", tenacurl=tmp_path / "tenacurl")
    assert f"LD_PRELOAD={tmp_path}/libtenacurl.so\n" in done.stderr
    assert "ERROR" not in done.stderr


# --require


def test_what_can_be_helped_is_started(run):
    for command in (["true"], ["sh", "-c", "true"], ["env", "A=1", "true"], PRINT_ENVIRONMENT):
        done = run("--require", "--", *command)
        assert (done.returncode, done.stderr) == (0, ""), done


def test_require_refuses_what_cannot_be_helped(run, tmp_path):
    foreign = foreign_elf(tmp_path / "foreign")
    refused(run("--require", "--", foreign), str(foreign), "another architecture")
    refused(run("--require", "--", "nice", foreign), str(foreign), "another architecture")
    static = build_program(tmp_path / "static", "-static")
    refused(run("--require", "--", static), "statically linked")
    refused(run("--require", "--", "env", "-i", "sh", "-c", "echo started"), "clears the environment")
    refused(run("--require", "--", "chroot", tmp_path, "/static"), "no libtenacurl.so")


def test_require_refuses_a_musl_program(run, tmp_path):
    refused(run("--require", "--", build_program(tmp_path / "musl", compiler="musl-gcc")), "musl")


def test_require_refuses_when_switched_off(run):
    refused(run("--require", "--", "echo", "started", env={"TENACURL_DISABLE": "1"}), "TENACURL_DISABLE")


@pytest.mark.parametrize("options, env", [(["--mode", "off"], {}), ([], {"TENACURL_MODE": "off"})])
def test_require_refuses_a_mode_that_does_nothing(run, options, env):
    refused(run("--require", *options, "--", "curl", "--version", env=env), "curl", "switched off")


def test_require_refuses_what_only_the_binder_would_reach(run):
    if not shutil.which("php"):
        pytest.skip("php is not installed")
    command = ["php", "-r", "echo curl_init() ? 'started' : '';"]
    assert run("--require", "--", *command).returncode == 0
    refused(run("--require", "--no-binder", "--", *command), "php", "binder")


def test_require_refuses_transfers_that_are_left_alone(run):
    if not shutil.which("git"):
        pytest.skip("git is not installed")
    refused(run("--require", "--", "git", "ls-remote", "http://127.0.0.1:1/x"), "git", "multi")


def test_require_leaves_a_missing_program_to_127(run):
    assert run("--require", "--", "/no/such/program").returncode == 127


@pytest.mark.parametrize("variable", ["TENACURL_POLICY", "TENACURL_MODE", "HOME"])
def test_require_refuses_a_bad_policy_from_anywhere(run, environment, tmp_path, variable):
    bad = tmp_path / "bad.ini"
    bad.write_text("[policy]\nmax_attempts = many\n")
    if variable == "HOME" and IS_ROOT:
        pytest.skip("root has no policy of its own in HOME")
    place = Path(environment["HOME"]) / ".config" / "tenacurl"
    place.mkdir(parents=True)
    shutil.copy(bad, place / "policy.ini")
    env, word = {"TENACURL_POLICY": ({"TENACURL_POLICY": str(bad)}, "max_attempts"),
                 "TENACURL_MODE": ({"TENACURL_MODE": "loud"}, "loud"),
                 "HOME": ({}, "max_attempts")}[variable]
    refused(run("--require", "--", "echo", "started", env=env), word)


@pytest.fixture
def open_directory():
    """A directory that everybody can look into."""
    with tempfile.TemporaryDirectory() as name:
        os.chmod(name, 0o755)
        yield Path(name)


def own_copy(directory, mode, owner=None):
    program = directory / "program"
    shutil.copy(shutil.which("true"), program)
    if owner is not None:
        os.chown(program, owner, owner)
    program.chmod(mode)
    return program


@needs_root
@pytest.mark.parametrize("bit, word", [(stat.S_ISUID, "is setuid"), (stat.S_ISGID, "is setgid")])
def test_a_program_of_another_user_with_a_bit_is_told(run, tmp_path, bit, word):
    program = own_copy(tmp_path, 0o755 | bit, owner=NOBODY)
    assert f"{program} {word}" in run("-v", "--", program).stderr
    refused(run("--require", "--", program), word)
    own = own_copy(tmp_path, 0o755 | bit, owner=0)
    assert word not in run("-v", "--", own).stderr


@needs_root
def test_capabilities_and_unreadable_programs_are_told_to_other_users(run, open_directory):
    for file in (TENACURL, OBJECT):
        shutil.copy(file, open_directory)
    as_nobody = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    keywords = {"tenacurl": open_directory / "tenacurl", "before": as_nobody, "cwd": "/", "env": {"HOME": "/"}}
    program = own_copy(open_directory, 0o755)
    assert run("--require", "--", program, **keywords).returncode == 0
    # cap_net_raw, permitted and effective: what setcap(8) writes.
    os.setxattr(program, "security.capability", struct.pack("<IIIII", 0x02000001, 1 << 13, 0, 0, 0))
    assert f"{program} has file capabilities" in run("-v", "--", program, **keywords).stderr
    refused(run("--require", "--", program, **keywords), "has file capabilities")
    assert run("--require", "--", program).returncode == 0  # root gains nothing
    program.unlink()
    program = own_copy(open_directory, 0o711)
    done = run("--", program, **keywords)
    assert (done.returncode, done.stderr) == (0, "")
    refused(run("--require", "--", program, **keywords), "can't be read")
