# SPDX-License-Identifier: MIT
"""`tenacurl check --run`: the program runs as under `tenacurl run`, and its calls are what is reported."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

import pytest

from support.check import compile_c, read_report, shared_directory
from support.waiting import PATIENCE_S

CURL = "/usr/bin/curl"
PYTHON = "/usr/bin/python3"
PHP = shutil.which("php") or "php"
GIT_HELPER = "/usr/lib/git-core/git-remote-http"

BUSY = {"status": 503, "body": "busy"}
RIGHT = {"body": "right"}
FAST = "[policy]\njitter = none\nbackoff_base_ms = 1\n"

PYCURL = """
import sys, pycurl
curl = pycurl.Curl()
curl.setopt(curl.URL, sys.argv[1])
curl.perform()
"""
CTYPES = """
import ctypes, sys
libcurl = ctypes.CDLL("libcurl.so.4")
libcurl.curl_easy_init.restype = ctypes.c_void_p
handle = ctypes.c_void_p(libcurl.curl_easy_init())
libcurl.curl_easy_setopt(handle, ctypes.c_int(10002), ctypes.c_char_p(sys.argv[1].encode()))
sys.exit(libcurl.curl_easy_perform(handle))
"""
PHP_FETCH = "$c = curl_init($argv[1]); curl_setopt($c, CURLOPT_RETURNTRANSFER, true); echo curl_exec($c);"

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def needs(*paths):
    missing = [path for path in paths if not (shutil.which(path) or pathlib.Path(path).exists())]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {' '.join(missing)}")


needs_php_curl = pytest.mark.skipif(
    not shutil.which("php")
    or b"curl" not in subprocess.run([PHP, "-m"], capture_output=True).stdout.splitlines(),
    reason="php with curl is not installed",
)


@pytest.fixture
def command(build, runner, tmp_path):
    """command(words…, env=None) -> Result of `tenacurl check --run` with a policy that retries at once."""
    policy = tmp_path / "policy.ini"
    policy.write_text(FAST)
    policy.chmod(0o600)

    def run(*words, env=None, input=None, prefix=()):
        state = {"TENACURL_POLICY": str(policy), "TENACURL_STATE": str(tmp_path)}
        argv = [*prefix, build / "tenacurl", "check", "--run", *words]
        return runner.bare([str(word) for word in argv], env={**state, **(env or {})}, input=input)

    return run


@pytest.fixture
def check(command):
    """check(words…) -> its Report, with what the program printed."""

    def run(*words, **keywords):
        done = command("--json", *words, **keywords)
        assert len(done.stdout.splitlines()) == 1, done
        return read_report(done, errors=done.stderr)

    return run


def assert_wrapped(use, binding):
    assert use["wrapped"] and use["binding"] == binding and use["reason"] is None, use


# What is seen.


def test_easy_transfers_of_the_main_program(check, origin):
    server = origin([BUSY, RIGHT])
    report = check(CURL, "-sS", server.url())
    assert (report.verdict, report.observed, report.program_status) == ("covered", True, 0)
    assert report.program_errors == b"right"
    assert len(server.requests) == 2, "the policy wasn't in force"
    assert report.use["program"] == report.use["object"] == os.path.realpath(CURL)
    assert (report.use["role"], report.use["interfaces"]) == ("program", ["easy"])
    assert report.use["libcurl_flavour"] == "OPENSSL_4"
    assert os.path.realpath(report.use["libcurl"]).startswith("/usr/lib/")
    version = subprocess.run([CURL, "--version"], capture_output=True, text=True).stdout
    assert f"libcurl/{report.use['libcurl_version']}" in version
    assert_wrapped(report.use, "preload")


def test_multi_transfers_of_the_main_program(check, origin):
    server = origin([RIGHT])
    report = check(CURL, "-sSZ", server.url())
    assert (report.verdict, report.program_status) == ("not", 0)
    assert (report.use["interfaces"], report.use["wrapped"]) == (["multi"], False)
    assert len(server.requests) == 1


def test_a_program_that_does_both_is_partly_covered(check, origin):
    server = origin([RIGHT] * 2)
    report = check("sh", "-c", f"{CURL} -sS {server.url()}; {CURL} -sSZ {server.url()}")
    assert report.verdict == "partly"
    assert (report.use["role"], report.use["interfaces"]) == ("helper", ["easy", "multi"])
    assert_wrapped(report.use, "preload")


def test_the_same_use_is_told_once(check, origin):
    server = origin([RIGHT] * 3)
    report = check("sh", "-c", f"for i in 1 2 3; do {CURL} -sS {server.url()}; done; exit 3")
    assert (report.verdict, report.program_status) == ("covered", 3)
    assert report.use["object"] == os.path.realpath(CURL)
    assert len(server.requests) == 3


@needs("git", GIT_HELPER)
def test_a_helper_program(check, origin):
    server = origin([{"status": 404}] * 4)
    report = check("git", "ls-remote", server.url("/x"))
    assert report.verdict == "not"
    assert report.program_status == 128
    assert report.use["role"] == "helper"
    assert report.use["program"] == os.path.realpath(GIT_HELPER)
    assert report.use["interfaces"] == ["multi"]


def test_a_plugin(check, bare, origin):
    if bare([PYTHON, "-c", "import pycurl"]).returncode != 0:
        pytest.skip("pycurl is not installed")
    server = origin([BUSY, RIGHT])
    report = check(PYTHON, "-c", PYCURL, server.url())
    assert report.verdict == "covered"
    assert pathlib.Path(report.use["object"]).name.startswith("pycurl.")
    assert (report.use["role"], report.use["libcurl_flavour"]) == ("plugin", "GNUTLS_3")
    assert_wrapped(report.use, "preload")
    assert len(server.requests) == 2


def test_dlsym_on_a_handle(check, origin):
    server = origin([BUSY, RIGHT])
    report = check(PYTHON, "-c", CTYPES, server.url())
    assert (report.verdict, report.binder) == ("covered", True)
    assert pathlib.Path(report.use["object"]).name.startswith("_ctypes.")
    assert report.use["libcurl_flavour"] == "OPENSSL_4"
    assert_wrapped(report.use, "binder")
    assert len(server.requests) == 2


def test_dlsym_on_a_handle_without_the_binder(check, origin):
    server = origin([BUSY, RIGHT])
    report = check("--no-binder", PYTHON, "-c", CTYPES, server.url())
    assert (report.verdict, report.binder, report.use["reason"]) == ("not", False, "dlsym")
    assert report.use["libcurl_flavour"] == "OPENSSL_4"
    assert len(server.requests) == 1


@needs_php_curl
def test_a_plugin_that_is_bound_to_its_own_libraries_first(check, origin):
    server = origin([BUSY, RIGHT])
    report = check(PHP, "-r", PHP_FETCH, server.url())
    assert report.verdict == "covered"
    assert pathlib.Path(report.use["object"]).name == "curl.so"
    assert_wrapped(report.use, "binder")
    assert len(server.requests) == 2


@needs_php_curl
def test_a_plugin_that_is_bound_to_its_own_libraries_first_without_the_binder(check, origin):
    server = origin([BUSY, RIGHT])
    report = check("--no-binder", PHP, "-r", PHP_FETCH, server.url())
    assert (report.verdict, report.use["reason"]) == ("not", "deepbind")
    assert len(server.requests) == 1


def test_addresses_in_data_are_told_though_their_calls_are_not_seen(check, build, origin):
    plugins = build / "tests" / "plugins"
    plugin = plugins / "fetch-no-plt.so"
    server = origin([RIGHT])
    report = check(plugins / "host", "open", "p", plugin, "local", "get", "p", server.url())
    assert report.verdict == "covered"
    assert report.use["object"] == str(plugin)
    assert_wrapped(report.use, "preload")


def test_addresses_in_data_that_lead_past_tenacurl(check, build, origin):
    plugins = build / "tests" / "plugins"
    plugin = plugins / "fetch-no-plt.so"
    server = origin([BUSY])
    report = check(plugins / "host", "open", "p", plugin, "deepbind", "get", "p", server.url())
    assert (report.verdict, report.use["reason"]) == ("not", "deepbind-data")
    assert report.use["object"] == str(plugin)
    assert len(server.requests) == 1


def test_two_flavours_in_one_process(check, build, origin):
    plugins = build / "tests" / "plugins"
    if not (plugins / "fetch-gnutls.so").exists():
        pytest.skip("the gnutls flavour of libcurl is not installed")
    server = origin([RIGHT] * 2)
    opened = [word for f in ("openssl", "gnutls") for word in ("open", f, plugins / f"fetch-{f}.so", "local")]
    report = check(plugins / "host", *opened, "get", "openssl", server.url(), "get", "gnutls", server.url())
    assert report.verdict == "covered"
    assert report.use_of("fetch-openssl.so")["libcurl_flavour"] == "OPENSSL_4"
    assert report.use_of("fetch-gnutls.so")["libcurl_flavour"] == "GNUTLS_3"


# What keeps tenacurl out.


def test_nothing_was_called(check):
    report = check("true")
    assert (report.verdict, report.reason, report.observed, report.uses) == ("not", "no-libcurl", True, [])


def test_a_libcurl_that_is_linked_but_not_called(check):
    report = check(CURL, "--version")
    assert (report.verdict, report.reason, report.observed, report.uses) == ("not", "no-libcurl", True, [])


def test_the_environment_is_cleared(check, origin):
    server = origin([RIGHT])
    report = check("env", "-i", CURL, "-sS", server.url())
    assert (report.verdict, report.reason) == ("not", "environment")
    assert [(use["object"], use["reason"]) for use in report.uses] == [(CURL, "environment")]
    assert report.program_errors == b"right"
    assert len(server.requests) == 1


def test_what_a_script_sets_for_one_command(check, origin):
    """The same program where tenacurl gets to it and where it doesn't, as it is predicted."""
    server = origin([BUSY, RIGHT, *[BUSY] * 4])
    fetch = f"{CURL} -sS {server.url()}"
    command = ["sh", "-c", f"{fetch}; env -i {fetch}; LD_PRELOAD= {fetch}; TENACURL_DISABLE=1 {fetch}; "
               f"unset LD_PRELOAD; {fetch}"]
    report = check(*command)
    assert report.verdict == "partly"
    assert sorted((use["reason"] or "", use["wrapped"]) for use in report.uses) == [
        ("", True), ("environment", False), ("off", False)]
    assert len(server.requests) == 6


def test_a_cleared_environment_beside_one_that_is_not(check, origin):
    server = origin([BUSY, RIGHT, BUSY])
    fetch = f"{CURL} -sS {server.url()}"
    report = check("sh", "-c", f"{fetch}; env -i {fetch}")
    assert report.verdict == "partly"
    assert [(use["reason"], use["wrapped"]) for use in report.uses] == [(None, True), ("environment", False)]
    assert len(server.requests) == 3


def test_switched_off(check, origin):
    server = origin([BUSY])
    report = check(CURL, "-sS", server.url(), env={"TENACURL_DISABLE": "1"})
    assert report.verdict == "not"
    assert report.use["reason"] == "off"
    assert len(server.requests) == 1


def test_switched_off_for_one_program(check, origin, tmp_path):
    policy = tmp_path / "skip.ini"
    policy.write_text("[policy]\nskip_programs = curl\n")
    policy.chmod(0o600)
    server = origin([BUSY])
    report = check(CURL, "-sS", server.url(), env={"TENACURL_POLICY": str(policy)})
    assert report.verdict == "not"
    assert report.use["reason"] == "off"
    assert len(server.requests) == 1


def test_a_libcurl_inside_the_program(check, build, origin):
    """Nobody sees its calls."""
    program = build / "tests" / "plugins" / "host-own"
    report = check(program, "get", "self", origin([RIGHT]).url())
    assert (report.verdict, report.observed, report.program_status) == ("not", True, 0)
    assert (report.use["object"], report.use["reason"]) == (str(program), "bundled")


# What can't be watched runs all the same.


def test_a_static_program(check, tmp_path):
    program = compile_c(tmp_path / "static", '#include <stdio.h>\nint main(void) { puts("here"); return 7; }', "-static")
    report = check(program)
    assert (report.verdict, report.reason, report.observed) == ("not", "static", False)
    assert (report.program_status, report.program_errors) == (7, b"here\n")


def test_too_much_static_tls(check, tmp_path):
    library = compile_c(
        tmp_path / "libwide.so",
        "__thread char wide[4096]; char *wide_begin(void) { return wide; }",
        *("-shared", "-fPIC", "-ftls-model=initial-exec", "-Wl,-soname,libwide.so"),
    )
    program = compile_c(
        tmp_path / "wide",
        '#include <stdio.h>\nchar *wide_begin(void);\nint main(void) { puts("here"); return !wide_begin(); }',
        *(library, f"-Wl,-rpath,{tmp_path}"),
    )
    report = check(program)
    assert (report.observed, report.binder, report.program_status) == (False, False, 0)
    assert report.program_errors == b"here\n"
    assert "unwatched" in report.note


# How it runs.


def test_the_programs_streams_are_its_own(command):
    done = command("sh", "-c", "cat; echo errors >&2", input=b"words\n")
    output = done.stdout.decode().split("\n")
    assert output[0] == "words"
    assert output[1].startswith("not covered: ")
    assert done.stderr == b"errors\n"


def test_with_json_only_the_report_is_on_standard_output(command):
    done = command("--json", "sh", "-c", "cat; echo errors >&2", input=b"words\n")
    assert done.stderr == b"words\nerrors\n"
    assert done.stdout.startswith(b"{") and done.stdout.count(b"\n") == 1


def test_a_signal_is_a_status_as_a_shell_has_it(check):
    assert check("sh", "-c", "kill -TERM $$").program_status == 128 + signal.SIGTERM


def test_an_interrupt_is_the_programs(command):
    """What the terminal sends to both ends the program, not the report."""
    words = "import os, signal; os.kill(os.getppid(), signal.SIGINT); os.kill(os.getpid(), signal.SIGINT)"
    done = command("--json", sys.executable, "-c", f"import signal; signal.signal(2, signal.SIG_DFL); {words}")
    assert read_report(done).program_status == 128 + signal.SIGINT


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_what_ends_check_ends_the_program(build, runner, number):
    argv = [str(build / "tenacurl"), "check", "--json", "--run", "sh", "-c", "echo ready >&2; exec cat"]
    started = runner.start_bare(argv, stdin=subprocess.PIPE)
    assert started.process.stderr.readline() == b"ready\n"
    started.process.send_signal(number)
    started.process.wait(timeout=PATIENCE_S)  # before its standard input is closed, which would end cat, too
    report = read_report(started.wait())
    assert report.program_status == 128 + number
    left = [path for path in pathlib.Path(runner.environment()["TMPDIR"]).iterdir() if "tenacurl" in path.name]
    assert left == []


def test_a_child_is_waited_for_though_sigchld_is_ignored(command):
    ignore = "import os, signal, sys; signal.signal(signal.SIGCHLD, signal.SIG_IGN); os.execv(sys.argv[1], sys.argv[1:])"
    done = command("--json", "sh", "-c", "exit 5", prefix=[sys.executable, "-c", ignore])
    assert read_report(done).program_status == 5


def test_a_program_that_is_not_there(command):
    done = command("/no/such/program")
    assert (done.returncode, done.stdout) == (127, b"")
    assert done.stderr.startswith(b"tenacurl check: ") and done.stderr.count(b"\n") == 1


def test_nowhere_to_watch_from(command):
    done = command("--", "true", env={"TMPDIR": "/nonexistent"})
    assert (done.returncode, done.stdout) == (125, b"")
    assert done.stderr.startswith(b"tenacurl check: ")


def test_nothing_is_left_behind(check, runner, origin):
    check(CURL, "-sS", origin([RIGHT]).url())
    left = [path for path in pathlib.Path(runner.environment()["TMPDIR"]).iterdir() if "tenacurl" in path.name]
    assert left == []


@needs_root
@needs("setpriv")
def test_a_program_that_gives_up_its_rights_is_still_seen(check, origin):
    server = origin([RIGHT])
    drop = ["setpriv", "--reuid=65534", "--clear-groups"]
    with shared_directory() as directory:
        report = check(*drop, CURL, "-sS", server.url(), env={"TMPDIR": str(directory)})
        assert list(directory.iterdir()) == []
    assert report.use["object"] == os.path.realpath(CURL)
    assert report.use["interfaces"] == ["easy"]


# What the watcher must not change.


CALLEE = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

static int tell(const char *name, void *caller, long a, long b, long c, long d)
{
	Dl_info who = {0};
	dladdr(caller, &who);
	printf("%s by %s errno %d: %ld %ld %ld %ld\\n", name, strrchr(who.dli_fname, '/') + 1, errno, a, b, c, d);
	return 42;
}

int curl_easy_perform(void *a) { return tell("easy", __builtin_return_address(0), (long)a, 0, 0, 0); }
int curl_multi_perform(void *a, int *b) { return tell("perform", __builtin_return_address(0), (long)a, (long)b, 0, 0); }
int curl_multi_socket_action(void *a, int b, int c, int *d)
{
	return tell("action", __builtin_return_address(0), (long)a, b, c, (long)d);
}
"""
CALLER = """
#include <errno.h>
#include <stdio.h>
int curl_easy_perform(void *);
int curl_multi_perform(void *, int *);
int curl_multi_socket_action(void *, int, int, int *);
int main(void)
{
	for (int i = 0; i < 2; i++) {
		errno = 77;
		int sum = curl_easy_perform((void *)11);
		errno = 77;
		sum += curl_multi_perform((void *)21, (int *)22);
		errno = 77;
		sum += curl_multi_socket_action((void *)31, -32, 33, (int *)34);
		printf("%d\\n", sum);
	}
	return 0;
}
"""


@pytest.mark.parametrize("binding", ["lazy", "now"])
def test_who_is_called_sees_its_caller_and_arguments(bare, build, tmp_path, binding):
    """The stub in front of a function is a jump: return address, arguments, errno and result are as without it."""
    compile_c(tmp_path / "libcallee.so", CALLEE, "-shared", "-fPIC", "-Wl,-soname,libcallee.so", "-ldl")
    program = compile_c(
        tmp_path / "caller",
        CALLER,
        *("-L", tmp_path, "-lcallee", f"-Wl,-rpath,{tmp_path}", f"-Wl,-z,{binding}"),
    )
    seen = tmp_path / "seen"
    seen.touch()
    without = bare([program])
    watched = bare([program], env={"LD_AUDIT": str(build / "libtenacurl-watch.so"), "TENACURL_WATCH": str(seen)})
    assert without.stdout.count(b"easy by caller errno 77: 11 0 0 0\n") == 2
    assert b"action by caller errno 77: 31 -32 33 34\n126\n" in without.stdout
    assert (watched.returncode, watched.stdout, watched.stderr) == (0, without.stdout, b"")
    lines = [line.split("\t") for line in seen.read_text().splitlines()]
    calls = [line[5] for line in lines if line[0] == "call"]
    assert calls == ["curl_easy_perform", "curl_multi_perform", "curl_multi_socket_action"]


def test_plugins_that_come_and_go(check, build, origin):
    """More bindings than there are stubs for."""
    plugins = build / "tests" / "plugins"
    server = origin([{**RIGHT, "repeat": True}])
    once = ["open", "p", plugins / "fetch-openssl.so", "local", "get", "p", server.url(), "close", "p"]
    report = check(plugins / "host", *once * 60)
    assert report.program_status == 0
    assert report.program_errors.count(b" status 200 ") == 60
    assert report.use["object"] == str(plugins / "fetch-openssl.so")


def test_threads(check, build, origin):
    server = origin([{"echo": True, "repeat": True}])
    report = check(build / "tests" / "clients" / "threads", server.url(), "threads=8", "performs=4")
    assert report.program_errors == b"32 of 32 right\n", report
    assert_wrapped(report.use, "preload")


def test_lines_that_make_no_sense_are_ignored(check):
    """The program can write what it wants to the file that it is watched through."""
    script = 'printf "call\\t1\\nnonsense\\ncall\\tx\\t/x\\t/x\\tstart\\tcurl_easy_perform\\tlibcurl\\t\\tplt\\n\\t\\t" >>'
    report = check("sh", "-c", f'{script} "$TENACURL_WATCH"; head -c 100000 /dev/zero >> "$TENACURL_WATCH"')
    assert (report.verdict, report.reason, report.uses) == ("not", "no-libcurl", [])
