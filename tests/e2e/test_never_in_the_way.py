# SPDX-License-Identifier: MIT
"""
Never in the way: programs of all kinds that meet tenacurl by being started under it, or by being a child of something
that was, start and work as without it. stdout, stderr and status are those of the bare program, byte for byte.
"""

import os
import re
import shutil
import signal
import subprocess

import pytest
from support import much_tls
from support.waiting import wait_until

OK = {"status": 200, "body": "fine", "repeat": True}

JEMALLOC = "/usr/lib/x86_64-linux-gnu/libjemalloc.so.2"

HELLO = """
#include <stdio.h>
#include <stdlib.h>
int main(void)
{
	char *volatile text = malloc(6);
	sprintf(text, "hello");
	puts(text);
	fputs("and goodbye\\n", stderr);
	free(text);
	return 3;
}
"""

# Without a C library: there need be no 32-bit headers to build it.
HELLO_32 = """
int puts(const char *text);
void exit(int status);
void _start(void)
{
	puts("hello");
	exit(3);
}
"""

# Each a compiler's command line without the source and the output.
BUILDS = {
    "plain": ["gcc"],
    "static": ["gcc", "-static"],
    "static-pie": ["gcc", "-static-pie"],
    "musl": ["musl-gcc"],
    "musl-static": ["musl-gcc", "-static"],
    "asan": ["gcc", "-fsanitize=address"],
    "asan-clang": ["clang", "-fsanitize=address"],
    "tsan": ["gcc", "-fsanitize=thread"],
    "tsan-clang": ["clang", "-fsanitize=thread"],
    "ubsan": ["gcc", "-fsanitize=undefined"],
    "msan-clang": ["clang", "-fsanitize=memory"],
    "32-bit": ["gcc", "-m32", "-nostdlib", "-no-pie", "-fno-builtin", "-Wl,-dynamic-linker,/lib/ld-linux.so.2",
               "-L/lib32", "-l:libc.so.6"],
}


@pytest.fixture(scope="module")
def programs(tmp_path_factory):
    """programs(name) -> path of the program that BUILDS makes."""
    directory = tmp_path_factory.mktemp("programs")
    directory.chmod(0o755)

    def build(name):
        path, source = directory / name, directory / f"{name}.c"
        if not path.exists():
            compiler, *flags = BUILDS[name]
            source.write_text(HELLO_32 if name == "32-bit" else HELLO)
            subprocess.run([compiler, "-o", path, source, *flags], check=True, capture_output=True)
        return path

    return build


@pytest.fixture
def ways(build, runner):
    """
    ways[name](argv, env=None) -> Result: the ways in which a program meets tenacurl. `run`: started under it. `child`:
    started by a shell that was. `by hand`: with what `run` may set, whatever it thinks of this program.
    """
    # The directory that `run` names: ld.so fills $LIB in, so that 32-bit programs find something of their class.
    multiarch = build / "multiarch"
    directory = f"{multiarch}/$LIB" if multiarch.is_dir() else str(build)
    by_hand = {
        "LD_PRELOAD": f"{directory}/libtenacurl.so",
        "LD_AUDIT": f"{directory}/libtenacurl-bind.so",
        "GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=2304",
    }

    def child(argv, env=None, **rest):
        return runner.run(["sh", "-c", '"$@"; exit $?', "sh", *argv], env=env, **rest)

    def set_by_hand(argv, env=None, **rest):
        assert (build / "libtenacurl-bind.so").exists()
        inherited = (env or {}).get("LD_PRELOAD")
        preload = {"LD_PRELOAD": f"{inherited}:{by_hand['LD_PRELOAD']}"} if inherited else {}
        return runner.bare(argv, {**by_hand, **(env or {}), **preload}, **rest)

    return {"run": runner.run, "child": child, "by hand": set_by_hand}


WAYS = ["run", "child", "by hand"]


def outcome(result):
    return result.returncode, result.stdout, result.stderr


def sanitizer_options(name, way):
    """What `run` sets for ASan has to be set by hand, too, where everything is."""
    return {"ASAN_OPTIONS": "verify_asan_link_order=0"} if way == "by hand" and name.startswith("asan") else {}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", BUILDS)
def test_program_of_any_build(programs, ways, bare, name, way):
    program = programs(name)
    try:
        expected = outcome(bare([program]))
    except OSError:
        pytest.skip("this kernel doesn't start such programs")
    assert expected[:2] == (3, b"hello\n")
    assert outcome(ways[way]([program], env=sanitizer_options(name, way))) == expected


@pytest.mark.parametrize("way", ["run", "child"])
@pytest.mark.parametrize("options", ["detect_leaks=0", "verify_asan_link_order=0", "verbosity=0:halt_on_error=1"])
def test_options_of_asan_are_kept(programs, ways, bare, options, way):
    env = {"ASAN_OPTIONS": options}
    assert outcome(ways[way]([programs("asan")], env=env)) == outcome(bare([programs("asan")], env=env))


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", ["asan", "asan-clang", "tsan", "tsan-clang", "msan-clang"])
def test_sanitizer_still_finds_what_is_wrong(tmp_path, ways, bare, name, way):
    source = tmp_path / "wrong.c"
    source.write_text(
        "#include <pthread.h>\n#include <stdlib.h>\nint shared;\n"
        "static void *add(void *data) { shared++; return data; }\n"
        "int main(void) { pthread_t thread; char *bytes = malloc(4); if (bytes[3]) shared = 0;\n"
        "pthread_create(&thread, 0, add, 0); shared++; pthread_join(thread, 0); free(bytes); return bytes[3]; }\n"
    )
    compiler, *flags = BUILDS[name]
    subprocess.run([compiler, "-w", "-g", "-o", tmp_path / "wrong", source, *flags], check=True, capture_output=True)
    expected = bare([tmp_path / "wrong"])
    result = ways[way]([tmp_path / "wrong"], env=sanitizer_options(name, way))

    def summary(result):
        """Whether the two threads meet is chance, and so whether that race is found."""
        found = re.findall(rb"SUMMARY: .*?: [-a-z ]+", result.stderr)
        return result.returncode, [line for line in found if b"data race" not in line]

    assert expected.returncode != 0 and b"SUMMARY: " in expected.stderr
    assert summary(result) == summary(expected)
    assert b"SUMMARY: " in result.stderr


# Programs that people have: id, argv, environment. Nothing of them depends on time or on the process.
EVERYDAY = {
    "busybox, which is static": (["busybox", "sh", "-c", "echo hello; exit 3"], {}),
    "a pipeline": (["bash", "-c", "seq 1 1000 | sort -rn | tail -n 3; exit ${PIPESTATUS[1]}"], {}),
    "200 quick children": (["sh", "-c", "i=0; while [ $i -lt 200 ]; do /bin/echo $i; i=$((i+1)); done | cat"], {}),
    "su": (["su", "nobody", "-s", "/bin/sh", "-c", "id -un; echo $HOME >&2; exit 3"], {}),
    "env -i": (["env", "-i", "/bin/sh", "-c", "echo hello; exit 3"], {}),
    "valgrind": (["valgrind", "-q", "--error-exitcode=9", "/bin/echo", "hello"], {}),
    "gdb": (["gdb", "-batch", "-nx", "-ex", "print 6*7"], {}),
    "python": (["/usr/bin/python3", "-c", "import ctypes, ssl, threading, sys; print('hello'); sys.exit(3)"], {}),
    "perl": (["perl", "-e", "fork() == 0 ? exit 3 : wait; print $? >> 8, qq(\\n)"], {}),
    "little address space": (["sh", "-c", "ulimit -v 65536; /bin/echo hello"], {}),
    "eight descriptors": (["sh", "-c", "ulimit -n 8; /bin/echo hello"], {}),
    "a small stack": (["sh", "-c", "ulimit -s 128; /bin/echo hello"], {}),
    "no HOME to write to": (["sh", "-c", "echo $HOME"], {"HOME": "/proc"}),
    "jemalloc": (["/bin/echo", "hello"], {"LD_PRELOAD": JEMALLOC}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("name", EVERYDAY)
def test_everyday_program(ways, bare, name, way):
    argv, env = EVERYDAY[name]
    if name == "su" and os.geteuid() != 0:
        pytest.skip("only root isn't asked for a password")
    assert shutil.which(argv[0]), f"{argv[0]} is missing"
    expected = outcome(bare(argv, env=env))
    assert expected[1]
    assert outcome(ways[way](argv, env=env)) == expected


def test_jemalloc_behind_us(build, bare):
    env = {
        "LD_PRELOAD": f"{build / 'libtenacurl.so'}:{JEMALLOC}",
        "LD_AUDIT": str(build / "libtenacurl-bind.so"),
        "GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=2304",
    }
    result = bare(["cat", "/proc/self/maps"], env=env)
    assert result.returncode == 0 and result.stderr == b""
    assert b"libjemalloc" in result.stdout and b"libtenacurl.so" in result.stdout


@pytest.mark.parametrize("way", WAYS)
def test_setuid_program(tmp_path_factory, ways, bare, way):
    if os.geteuid() != 0:
        pytest.skip("only root can make one for somebody else")
    directory = tmp_path_factory.mktemp("setuid")
    directory.chmod(0o755)
    program = shutil.copy("/usr/bin/id", directory / "id")
    shutil.chown(program, "nobody")
    os.chmod(program, 0o4755)
    expected = outcome(bare([program, "-un"]))
    assert expected[:2] == (0, b"nobody\n")
    assert outcome(ways[way]([program, "-un"])) == expected


@pytest.fixture
def other_root(tmp_path):
    """A directory with a shell and its libraries, as a container or a mock has."""
    if os.geteuid() != 0:
        pytest.skip("only root can change the root")
    root = tmp_path / "root"
    libraries = subprocess.run(["ldd", "/bin/sh"], capture_output=True, text=True, check=True).stdout
    for path in ["/bin/sh", *re.findall(r"(/\S+) \(0x", libraries)]:
        copy = root / path.lstrip("/")
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(path, copy)
    return root


# What ld.so itself says of an object that it was told to load and can't find; nobody can keep it from saying so.
LD_SO_COMPLAINT = re.compile(
    rb"ERROR: ld\.so: object '[^']*/libtenacurl(-bind)?\.so' (from LD_PRELOAD cannot be preloaded|"
    rb"cannot be loaded as audit interface)[^\n]*[:;] ignored\.\n"
)


@pytest.mark.parametrize("way", WAYS)
def test_child_in_another_root(other_root, ways, bare, way):
    argv = ["chroot", other_root, "/bin/sh", "-c", "echo hello; echo and goodbye >&2; exit 3"]
    expected = outcome(bare(argv))
    assert expected == (3, b"hello\n", b"and goodbye\n")
    result = ways[way](argv)
    assert outcome(result)[:2] == expected[:2]
    assert LD_SO_COMPLAINT.sub(b"", result.stderr) == expected[2]


# What makes transfers, or serves them.


@pytest.mark.parametrize("way", WAYS)
def test_look_up_tool(ways, bare, way):
    """bind9's programs have much static TLS (jemalloc)."""
    argv = ["host", "-W", "1", "-p", "1", "-t", "A", "nowhere.invalid", "127.0.0.1"]
    expected = bare(argv)
    result = ways[way](argv)
    assert (result.returncode, result.stdout) == (expected.returncode, expected.stdout)
    assert b"error while loading" not in result.stderr
    assert expected.returncode == 1 and b"connection refused" in expected.stdout


@pytest.mark.parametrize("way", ["child", "by hand"])
@pytest.mark.parametrize("use", much_tls.USES)
def test_much_thread_local_storage(tmp_path, ways, use, way):
    program, stays = much_tls.build_program(tmp_path, use)
    assert outcome(ways[way]([program])) == (0, b"program bound\n" if stays else b"program not bound\n", b"")


@pytest.mark.parametrize("use", much_tls.USES)
def test_much_thread_local_storage_of_a_program_that_run_looks_at(tmp_path, ways, use):
    """Which, with all that it knows, may do without the binder where it could stay."""
    result = ways["run"]([much_tls.build_program(tmp_path, use)[0]])
    assert (result.returncode, result.stderr) == (0, b"")


@pytest.mark.parametrize("way", WAYS)
def test_much_thread_local_storage_of_a_program_that_is_no_longer_there(tmp_path, ways, way):
    program, _ = much_tls.build_program(tmp_path, "at a fixed offset")
    argv = ["sh", "-c", 'exec 3<"$1"; rm "$1"; exec /proc/self/fd/3', "sh", program]
    result = ways[way](argv)
    assert (result.returncode, result.stdout.split(b" ", 1)[1], result.stderr) == (0, b"not bound\n", b"")
    assert not program.exists()


@pytest.mark.parametrize("name", ["link", "script"])
def test_much_thread_local_storage_of_a_program_by_another_name(tmp_path, ways, bare, name):
    """Started anew it is called what it was called; a script's interpreter is the interpreter again."""
    program, _ = much_tls.build_program(tmp_path, "at a fixed offset")
    path = tmp_path / name
    if name == "link":
        path.symlink_to(program)
    else:
        path.write_text(f"#!{program} option\n")
        path.chmod(0o755)
    result = ways["by hand"]([path, "argument"])
    called = b"link" if name == "link" else b"program"
    assert outcome(result) == (0, called + b" not bound\n", b"")


@pytest.mark.parametrize("way", WAYS)
def test_nghttpx_serves(build, origin, runner, tmp_path, way):
    server = origin([OK])
    env = {}
    argv = ["nghttpx", "--conf=/dev/null", "--no-ocsp", f"-b127.0.0.1,{server.port}", f"-funix:{tmp_path}/socket;no-tls",
            "--errorlog-file=/dev/null", "--workers=1", "--single-process"]
    if way == "by hand":
        env = {"LD_PRELOAD": str(build / "libtenacurl.so"), "LD_AUDIT": str(build / "libtenacurl-bind.so"),
               "GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=2304"}
        running = runner.start_bare(argv, env)
    else:
        running = runner.start(argv if way == "run" else ["sh", "-c", 'exec "$@"', "sh", *argv])
    try:
        wait_until((tmp_path / "socket").exists, "nghttpx")
        result = runner.bare(["curl", "-sS", "--unix-socket", tmp_path / "socket", "http://front/x"])
    finally:
        running.process.send_signal(signal.SIGTERM)
        ended = running.wait()
    assert (result.returncode, result.stdout) == (0, b"fine"), (result, ended)


@pytest.mark.parametrize("way", ["bare", *WAYS])
@pytest.mark.parametrize("limit", ["ulimit -v 131072", "ulimit -n 8", "ulimit -s 128", "ulimit -f 0"])
def test_transfer_under_a_limit(build, origin, ways, bare, limit, way):
    server = origin([OK])
    argv = ["sh", "-c", f'{limit}; exec "$@"', "sh", build / "tests/clients/transfer", server.url("/x")]
    result = (bare if way == "bare" else ways[way])(argv)
    assert result.returncode == 0 and b"result 0 " in result.stdout
    assert len(server.requests) == 1


@pytest.mark.parametrize("way", ["bare", *WAYS])
def test_transfer_of_a_program_that_locked_itself_up(build, origin, ways, bare, way):
    """A filter that knows what libcurl needs refuses most of what we would do: then we do without."""
    server = origin([OK])
    argv = [build / "tests/clients/sandboxed", server.url("/x")]
    result = (bare if way == "bare" else ways[way])(argv)
    if result.returncode == 77:
        pytest.skip("no system call filters here")
    assert outcome(result) == (0, b"result 0 status 200\n", b"")
    assert len(server.requests) == 1
