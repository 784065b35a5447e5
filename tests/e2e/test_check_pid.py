# SPDX-License-Identifier: MIT
"""`tenacurl check --pid`: where the references of a running process lead, and what keeps tenacurl out of it."""

import os
import pathlib
import shutil
import subprocess

import pytest

from support.check import compile_c, read_report, running, shared_directory, wait_for_line, wait_for_request
from test_check_run import CURL, PHP, PYTHON, assert_wrapped, needs, needs_php_curl, needs_root

RIGHT = {"body": "right"}
SILENT = {"fault": "silence"}

WAIT = "print('ready', flush=True); input()"
CTYPES_WAIT = f"import ctypes; ctypes.CDLL('libcurl.so.4').curl_easy_perform; {WAIT}"
AS_NOBODY = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]


@pytest.fixture
def command(runner, build):
    def run(*words, prefix=()):
        return runner.bare([*map(str, prefix), str(build / "tenacurl"), "check", *map(str, words)])

    return run


@pytest.fixture
def check(command):
    """check(process) -> its Report."""

    def run(process, **keywords):
        done = command("--json", "--pid", process.pid, **keywords)
        assert done.stderr == b"", done
        report = read_report(done)
        assert report.program_status is None
        return report

    return run


@pytest.fixture
def under_tenacurl(runner, build, tmp_path):
    """under_tenacurl(argv, options=(), env=None) -> the process, which `tenacurl run` has become."""

    def start(argv, options=(), env=None):
        command = [build / "tenacurl", "run", *options, "--", *argv]
        return running(runner, command, env={"TENACURL_STATE": str(tmp_path), **(env or {})})

    return start


@pytest.fixture
def on_demand(build):
    return build / "tests" / "clients" / "on_demand"


@pytest.mark.parametrize("options", [(), ("--no-binder",)])
def test_before_and_after_the_first_transfer(check, under_tenacurl, on_demand, origin, options):
    server = origin([RIGHT] * 2)
    with under_tenacurl([on_demand, server.url()], options) as process:
        wait_for_line(process, b"ready")
        for _ in range(2):
            report = check(process)
            assert (report.verdict, report.observed, report.binder) == ("covered", True, not options)
            assert report.chain == [str(on_demand)]
            assert report.use["program"] == report.use["object"] == str(on_demand)
            assert (report.use["role"], report.use["interfaces"]) == ("program", ["easy"])
            assert report.use["libcurl_flavour"] == "OPENSSL_4"
            assert report.use["libcurl_version"]
            assert_wrapped(report.use, "preload")
            process.stdin.write(b"\n")
            process.stdin.flush()
            wait_for_line(process, b"result 0 status 200")
    assert len(server.requests) == 2


def test_started_without_tenacurl(check, runner, on_demand, origin):
    with running(runner, [on_demand, origin([RIGHT]).url()]) as process:
        wait_for_line(process, b"ready")
        report = check(process)
    assert (report.verdict, report.reason) == ("not", "environment")
    assert "LD_PRELOAD" in report.detail
    assert (report.use["wrapped"], report.use["reason"], report.use["libcurl_flavour"]) == (
        False,
        "environment",
        "OPENSSL_4",
    )


def test_started_with_a_cleared_environment(check, under_tenacurl, origin):
    server = origin([SILENT])
    with under_tenacurl(["env", "-i", CURL, "-sS", server.url()]) as process:
        wait_for_request(server)
        report = check(process)
    assert (report.verdict, report.reason) == ("not", "environment")


def test_multi_transfers(check, under_tenacurl, origin):
    server = origin([SILENT])
    with under_tenacurl([CURL, "-sSZ", server.url()]) as process:
        wait_for_request(server)
        report = check(process)
    assert report.verdict == "not"
    assert (report.use["interfaces"], report.use["wrapped"]) == (["multi"], False)


def test_a_plugin(check, bare, under_tenacurl):
    if bare([PYTHON, "-c", "import pycurl"]).returncode != 0:
        pytest.skip("pycurl is not installed")
    with under_tenacurl([PYTHON, "-c", f"import pycurl; {WAIT}"]) as process:
        wait_for_line(process, b"ready")
        report = check(process)
    use = report.use
    assert (use["role"], use["libcurl_flavour"], use["binding"]) == ("plugin", "GNUTLS_3", "preload")
    assert pathlib.Path(use["object"]).name.startswith("pycurl.")


@pytest.mark.parametrize(
    "options, verdict, binding, reason",
    [((), "covered", "binder", None), (("--no-binder",), "not", "none", "dlsym")],
)
def test_dlsym_on_a_handle(check, under_tenacurl, options, verdict, binding, reason):
    with under_tenacurl([PYTHON, "-c", CTYPES_WAIT], options) as process:
        wait_for_line(process, b"ready")
        report = check(process)
    use = report.use
    assert (report.verdict, use["binding"], use["reason"]) == (verdict, binding, reason)
    assert use["object"] == os.path.realpath(PYTHON)


@needs_php_curl
@pytest.mark.parametrize(
    "options, verdict, reason", [((), "covered", None), (("--no-binder",), "not", "deepbind")]
)
def test_a_plugin_that_is_bound_to_its_own_libraries_first(check, under_tenacurl, origin, options, verdict, reason):
    server = origin([SILENT])
    with under_tenacurl([PHP, "-r", "curl_exec(curl_init($argv[1]));", server.url()], options) as process:
        wait_for_request(server)
        report = check(process)
    assert (report.verdict, report.use["reason"]) == (verdict, reason)
    assert pathlib.Path(report.use["object"]).name == "curl.so"


@pytest.mark.parametrize("how, verdict, reason", [("local", "covered", None), ("deepbind", "not", "deepbind-data")])
def test_addresses_in_data(check, under_tenacurl, build, origin, how, verdict, reason):
    plugins = build / "tests" / "plugins"
    plugin = plugins / "fetch-no-plt.so"
    server = origin([SILENT])
    with under_tenacurl([plugins / "host", "open", "p", plugin, how, "get", "p", server.url()]) as process:
        wait_for_request(server)
        report = check(process)
    use = report.use_of(plugin.name)
    assert (report.verdict, use["reason"]) == (verdict, reason)


def test_nothing_uses_libcurl(check, under_tenacurl):
    with under_tenacurl(["sh", "-c", "echo ready; read line"]) as process:
        wait_for_line(process, b"ready")
        report = check(process)
    assert (report.verdict, report.reason, report.uses) == ("not", "no-libcurl", [])


def test_switched_off(check, runner, build, on_demand, origin):
    env = {"LD_PRELOAD": str(build / "libtenacurl.so"), "TENACURL_DISABLE": "1"}
    with running(runner, [on_demand, origin([RIGHT]).url()], env=env) as process:
        wait_for_line(process, b"ready")
        report = check(process)
    assert (report.verdict, report.reason, report.use["reason"]) == ("not", "off", "off")


def test_a_library_that_was_replaced_since(check, under_tenacurl, on_demand, bare, origin, tmp_path):
    """An upgrade leaves running processes with the old file, which has no name any more."""
    copy = tmp_path / "libcurl.so.4"
    linked = bare(["ldd", on_demand]).stdout.decode()
    original = next(line.split()[2] for line in linked.splitlines() if "libcurl.so.4" in line)
    shutil.copy(original, copy)
    with under_tenacurl([on_demand, origin([RIGHT]).url()], env={"LD_LIBRARY_PATH": str(tmp_path)}) as process:
        wait_for_line(process, b"ready")
        copy.unlink()
        report = check(process)
    assert (report.verdict, report.use["libcurl"]) == ("covered", f"{copy} (deleted)")
    assert report.use["libcurl_flavour"] == "OPENSSL_4"


WAITS = '#include <stdio.h>\nint main(void) { puts("ready"); fflush(stdout); getchar(); return 0; }'


@pytest.mark.parametrize("flags", [(), ("-rdynamic",)])
def test_a_libcurl_inside_the_program(check, under_tenacurl, tmp_path, flags):
    program = compile_c(tmp_path / "bundled", f"int curl_easy_perform(void *curl) {{ return !curl; }}\n{WAITS}", *flags)
    with under_tenacurl([program]) as process:
        wait_for_line(process, b"ready")
        report = check(process)
    assert (report.verdict, report.reason) == ("not", "bundled")


def test_a_static_program(check, under_tenacurl, tmp_path):
    program = compile_c(tmp_path / "static", WAITS, "-static")
    with under_tenacurl([program]) as process:
        wait_for_line(process, b"ready")
        report = check(process)
    assert (report.verdict, report.reason) == ("not", "static")


def test_another_architecture(check, under_tenacurl, tmp_path):
    source = """
    static long call(long number, long a, long b, long c)
    {
        __asm__ volatile("int $0x80" : "+a"(number) : "b"(a), "c"(b), "d"(c) : "memory");
        return number;
    }
    void _start(void)
    {
        char byte;
        call(4, 1, (long)"ready\\n", 6);
        call(3, 0, (long)&byte, 1);
        call(1, 0, 0, 0);
    }
    """
    program = compile_c(tmp_path / "other", source, "-m32", "-nostdlib", "-static", "-O1", "-fno-pie", "-no-pie")
    try:
        subprocess.run([program], stdin=subprocess.DEVNULL, check=True, stdout=subprocess.DEVNULL)
    except (OSError, subprocess.CalledProcessError):
        pytest.skip("this system doesn't run 32-bit programs")
    with under_tenacurl([program]) as process:
        wait_for_line(process, b"ready")
        report = check(process)
    assert (report.verdict, report.reason) == ("not", "class")


@needs_root
def test_a_setgid_program(check, under_tenacurl, on_demand, origin):
    with shared_directory() as directory:
        program = directory / "setgid"
        shutil.copy(on_demand, program)
        os.chown(program, 0, 65534)
        program.chmod(0o2755)
        with under_tenacurl([program, origin([RIGHT]).url()]) as process:
            wait_for_line(process, b"ready")
            report = check(process)
    assert (report.verdict, report.reason, report.use["reason"]) == ("not", "setgid", "setgid")


@needs_root
@needs("setpriv")
def test_a_process_of_another_user(runner, build):
    with shared_directory() as directory, running(runner, ["sh", "-c", "echo ready; read line"]) as process:
        wait_for_line(process, b"ready")
        tool = directory / "tenacurl"
        shutil.copy(build / "tenacurl", tool)
        tool.chmod(0o755)
        report = read_report(runner.bare([*AS_NOBODY, str(tool), "check", "--json", "--pid", str(process.pid)]))
    assert (report.verdict, report.reason, report.chain, report.uses) == ("unknown", "unreadable", ["sh"], [])


def test_no_such_process(command):
    with subprocess.Popen(["true"]) as ended:
        ended.wait()
    done = command("--pid", ended.pid)
    assert (done.returncode, done.stdout) == (125, b"")
    assert done.stderr.startswith(b"tenacurl check: ") and done.stderr.count(b"\n") == 1
