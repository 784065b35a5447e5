# SPDX-License-Identifier: MIT
"""`tenacurl check` from files alone: the verdict, what it says of each use of libcurl, and each reason why not."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile

import pytest

CURL = "/usr/bin/curl"
PHP = "/usr/bin/php8.2"
PHP_EXTENSION = "/usr/lib/php/20220829/curl.so"
PYTHON = "/usr/bin/python3"
GIT = "/usr/bin/git"

REPORT_KEYS = ["schema", "verdict", "reason", "detail", "observed", "program_status", "binder", "binder_reason", "note",
               "chain", "uses"]
USE_KEYS = ["program", "object", "role", "interfaces", "libcurl", "libcurl_version", "libcurl_flavour", "wrapped",
            "binding", "reason"]
STATUS = {"covered": 0, "partly": 1, "not": 2, "unknown": 3}

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="needs root")


def needs(*paths):
    missing = [path for path in paths if not (shutil.which(path) or pathlib.Path(path).exists())]
    return pytest.mark.skipif(bool(missing), reason=f"not installed: {' '.join(missing)}")


@pytest.fixture
def shared(build):
    """A directory that other users can look into, with tenacurl in it."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tenacurl-check-", dir="/tmp"))
    directory.chmod(0o755)
    (directory / "bin").mkdir()
    for name in ("tenacurl", "libtenacurl.so", "libtenacurl-bind.so"):
        shutil.copy(build / name, directory / "bin" / name)
        (directory / "bin" / name).chmod(0o755)
    yield directory
    shutil.rmtree(directory)


class Check:
    def __init__(self, runner, tenacurl):
        self.runner, self.tenacurl = runner, tenacurl

    def run(self, *arguments, env=None, prefix=()):
        return self.runner.bare([*prefix, self.tenacurl, "check", *arguments], env=env)

    def __call__(self, *arguments, **keywords):
        """The report; its exit status and the text for people are held against it."""
        done = self.run("--json", *arguments, **keywords)
        assert done.stderr == b"", done
        report = json.loads(done.stdout)
        assert list(report) == REPORT_KEYS
        assert all(list(use) == USE_KEYS for use in report["uses"])
        assert done.returncode == STATUS[report["verdict"]]
        text = self.run(*arguments, **keywords)
        assert text.returncode == done.returncode
        first = text.stdout.decode().splitlines()[0]
        assert first.startswith({0: "covered: ", 1: "partly covered: ", 2: "not covered: ", 3: "unknown: "}[done.returncode])
        return report


@pytest.fixture
def check(runner, build):
    return Check(runner, build / "tenacurl")


@pytest.fixture
def check_as_nobody(runner, shared):
    """As another user than the owner of the files."""
    if os.geteuid() != 0 or not shutil.which("setpriv"):
        pytest.skip("needs root and setpriv")
    as_nobody = Check(runner, shared / "bin" / "tenacurl")
    prefix = ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"]
    return lambda *arguments: as_nobody(*arguments, prefix=prefix)


def compile_c(path, source, *flags, compiler="gcc"):
    """Builds a program or library; skips the test where the compiler can't."""
    if not shutil.which(compiler):
        pytest.skip(f"{compiler} is not installed")
    file = path.with_name(path.name + ".c")
    file.write_text(source)
    done = subprocess.run([compiler, "-o", path, file, *flags], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{compiler} {' '.join(map(str, flags))}: {done.stderr}")
    return path


def write_script(path, text):
    path.write_text(text)
    path.chmod(0o755)
    return path


def only_use(report):
    assert len(report["uses"]) == 1, report
    return report["uses"][0]


def refused(report, reason):
    """Not covered as a whole, for this reason, and so is each use."""
    assert (report["verdict"], report["reason"]) == ("not", reason), report
    assert all(not use["wrapped"] and use["reason"] == reason for use in report["uses"])


# What is covered


def test_the_main_program(check):
    report = check(CURL, "http://127.0.0.1/")
    use = only_use(report)
    version = subprocess.run([CURL, "--version"], capture_output=True, text=True).stdout
    libcurl = pathlib.Path(use.pop("libcurl"))
    assert report["verdict"] == "covered"
    assert report["chain"] == [CURL]
    assert libcurl.name == "libcurl.so.4" and libcurl.exists()
    assert use == {"program": CURL, "object": CURL, "role": "program", "interfaces": ["easy"],
                   "libcurl_version": re.search(r"libcurl/(\S+)", version)[1], "libcurl_flavour": "OPENSSL_4",
                   "wrapped": True, "binding": "preload", "reason": None}


def test_a_program_is_found_on_the_path(check):
    assert check("curl", "http://127.0.0.1/")["chain"][0].endswith("/curl")


@pytest.mark.parametrize("option", ["-Z", "--parallel", "-sZ"])
def test_the_multi_interface_is_left_alone(check, option):
    report = check(CURL, option, "http://127.0.0.1/")
    assert (report["verdict"], report["reason"]) == ("not", "multi")
    assert only_use(report)["interfaces"] == ["multi"]


@needs(GIT, "/usr/lib/git-core/git-remote-http")
def test_a_program_that_another_one_starts(check):
    report = check(GIT, "ls-remote", "http://127.0.0.1/x")
    use = only_use(report)
    assert report["verdict"] == "not"
    assert use["role"] == "helper" and use["program"] == "/usr/lib/git-core/git-remote-http"
    assert use["interfaces"] == ["multi"] and use["libcurl_flavour"] == "GNUTLS_3"


@needs("/usr/lib/python3/dist-packages/pycurl.cpython-311-x86_64-linux-gnu.so")
def test_a_plugin(check):
    report = check(PYTHON, "-c", "import pycurl")
    use = only_use(report)
    assert report["verdict"] == "covered"
    assert use["role"] == "plugin" and use["binding"] == "preload" and use["libcurl_flavour"] == "GNUTLS_3"
    assert pathlib.Path(use["libcurl"]).name == "libcurl-gnutls.so.4"
    assert check(PYTHON, "-c", "import json")["reason"] == "no-libcurl"


@needs("/usr/lib/python3/dist-packages/pycurl.cpython-311-x86_64-linux-gnu.so")
def test_a_plugin_that_the_script_names(check, tmp_path):
    script = write_script(tmp_path / "job", f"#!/usr/bin/env -S {PYTHON} -u\nimport pycurl\n")
    report = check(script)
    assert report["verdict"] == "covered"
    assert report["chain"] == [str(script), "/usr/bin/env", PYTHON]


def test_look_ups_need_the_binder(check):
    command = [PYTHON, "-c", "import ctypes; ctypes.CDLL('libcurl.so.4')"]
    with_binder, without = check(*command), check("--no-binder", *command)
    assert with_binder["verdict"] == "covered" and only_use(with_binder)["binding"] == "binder"
    refused(without, "dlsym")
    assert without["binder_reason"] == "--no-binder"


@needs(PHP, PHP_EXTENSION)
def test_php_needs_the_binder(check):
    command = [PHP, "-r", "curl_exec(curl_init('http://127.0.0.1/'));"]
    with_binder, without = check(*command), check("--no-binder", *command)
    assert with_binder["verdict"] == "covered"
    use = only_use(with_binder)
    assert (use["object"], use["role"], use["binding"]) == (PHP_EXTENSION, "plugin", "binder")
    refused(without, "deepbind")


def test_d_programs_look_libcurl_up(check, tmp_path):
    library = compile_c(tmp_path / "libphobos.so", "int _D3std3net4curl3getFZi;\n", "-shared", "-fPIC")
    program = compile_c(tmp_path / "program", "extern int _D3std3net4curl3getFZi;\n"
                        "int main(void) { return _D3std3net4curl3getFZi; }\n", library, f"-Wl,-rpath,{tmp_path}")
    assert only_use(check(program))["binding"] == "binder"
    refused(check("--no-binder", program), "dlsym")


def test_a_program_without_libcurl(check):
    report = check("/bin/true")
    assert (report["verdict"], report["reason"], report["uses"]) == ("unknown", "no-libcurl", [])
    assert b"check --run" in check.run("/bin/true").stdout


def test_nothing_is_executed(check, tmp_path):
    program = compile_c(tmp_path / "program", "#include <fcntl.h>\n"
                        "__attribute__((constructor)) static void begin(void) { creat(MARK, 0600); }\n"
                        "int main(void) { return 0; }\n", f'-DMARK="{tmp_path}/mark"')
    script = write_script(tmp_path / "script", f"#!/bin/sh\n{program}\n$(touch {tmp_path}/mark)\n")
    check(program)
    check(script)
    assert not (tmp_path / "mark").exists()


# Shell scripts

SCRIPT = f"""#!/bin/sh
# git fetch is only spoken of here
set -eu
body=$({CURL} -s "http://127.0.0.1/$(date +%s)" | cat)
case $body in
  git) echo git ;;
esac
cat <<END
git is only spoken of here, too
END
if ! timeout 5 /usr/bin/cmake -P x.cmake; then exit 1; fi
"""


def test_a_script_is_read_for_the_programs_that_it_names(check, tmp_path):
    script = write_script(tmp_path / "job.sh", SCRIPT)
    for command in ([script], ["sh", script], ["nice", "-n", "5", "bash", "-eu", script]):
        report = check(*command)
        assert report["verdict"] == "covered"
        assert {use["program"] for use in report["uses"]} == {CURL, "/usr/bin/cmake"}
        assert all(use["role"] == "helper" for use in report["uses"])


def test_a_script_does_all_that_its_commands_do(check):
    report = check("sh", "-c", f"{CURL} http://127.0.0.1/ && {CURL} -Z http://127.0.0.1/")
    use = only_use(report)
    assert report["verdict"] == "partly"
    assert use["interfaces"] == ["easy", "multi"] and use["wrapped"]


def test_a_command_of_a_script_can_be_out_of_reach(check):
    refused(check("sh", "-c", f"env -i {CURL} http://127.0.0.1/"), "environment")
    refused(check("env", "-i", "sh", "-c", f"{CURL} http://127.0.0.1/"), "environment")


@pytest.mark.parametrize("text, verdict, reasons", [
    # What it keeps, or doesn't touch.
    ("A=1 PATH=/usr/bin @", "covered", [None]),
    ("LD_PRELOAD=/x.so:$LD_PRELOAD @", "covered", [None]),
    ("LD_PRELOAD=${LD_PRELOAD}:/x.so; @", "covered", [None]),
    ("unset A; LD_PRELOAD=/lib/libtenacurl.so @", "covered", [None]),
    ("echo $LD_PRELOAD ${TENACURL_DISABLE}; @", "covered", [None]),
    # What it changes: whether that reaches the program is said by the run.
    ("LD_PRELOAD= @", "unknown", [None]),
    ("LD_PRELOAD=/usr/lib/other.so @", "unknown", [None]),
    ("LD_PRELOAD=\"$(cat list)\" @", "unknown", [None]),
    ("unset LD_PRELOAD; @", "unknown", [None]),
    ("unset -f LD_PRELOAD; @", "unknown", [None]),
    ("export LD_PRELOAD=\n@", "unknown", [None]),
    ("export -n LD_PRELOAD; @", "unknown", [None]),
    ("(unset LD_PRELOAD; @); @", "unknown", [None]),
    ("x=$(unset LD_PRELOAD); @", "unknown", [None]),
    ("LD_PRELOAD= sh -c '@'; @", "unknown", [None]),
    ("env -u LD_PRELOAD @", "unknown", ["environment", None]),
    ("TENACURL_DISABLE=1 @", "unknown", [None]),
    ("export TENACURL_DISABLE=1; unset TENACURL_DISABLE; @", "unknown", [None]),
    ("env TENACURL_DISABLE=1 @", "unknown", [None]),
    # What clears it all.
    ("@; env -i @", "partly", [None, "environment"]),
    ("sudo @", "not", ["environment"]),
    ("sudo sh -c 'cd /; @'; @", "partly", ["environment", None]),
    ("sh -c \"sudo true; @\"", "covered", [None]),
    ("sudo tenacurl run -- @", "covered", [None]),
    ("env -i LD_PRELOAD= @", "not", ["environment"]),
])
def test_what_a_script_does_to_variables(check, text, verdict, reasons):
    report = check("sh", "-c", text.replace("@", f"{CURL} http://127.0.0.1/"))
    assert [use["reason"] for use in report["uses"]] == reasons
    assert report["verdict"] == verdict
    if verdict == "unknown":
        assert report["reason"] == "variables" and report["detail"] in ("LD_PRELOAD", "TENACURL_DISABLE")


def test_a_script_that_switches_on_again_what_is_off_is_unknown(check):
    off = {"TENACURL_DISABLE": "1"}
    refused(check("sh", "-c", f"{CURL} http://127.0.0.1/", env=off), "off")
    report = check("sh", "-c", f"TENACURL_DISABLE=; {CURL} http://127.0.0.1/", env=off)
    assert (report["verdict"], report["reason"], report["detail"]) == ("unknown", "variables", "TENACURL_DISABLE")


def test_scripts_that_start_themselves_come_to_an_end(check, tmp_path):
    script = tmp_path / "script"
    write_script(script, f"#!/bin/sh\n{script}\n{script} x\n{CURL} http://127.0.0.1/\n")
    assert check(script)["verdict"] == "covered"


@pytest.mark.parametrize("text", ["$(" * 5000, "`" * 99, "'", '"$(', "<<", "<<A", "a <<A\n", "((((", ")", "\\", "${",
                                  "a\0b\n", "x <<'A'\nA", "&>", "case x in", "f()"])
def test_strange_scripts_do_no_harm(check, tmp_path, text):
    assert check(write_script(tmp_path / "script", "#!/bin/sh\n" + text))["reason"] == "no-libcurl"


# Each reason


def test_static(check, tmp_path):
    program = compile_c(tmp_path / "program", "int main(void) { return 0; }\n", "-static")
    report = check(program)
    refused(report, "static")
    assert report["uses"] == []


OWN_LIBCURL = """
char *curl_version(void) { return "libcurl/8.0.1 zlib/1.2"; }
int curl_easy_perform(void *curl) { return curl != 0; }
int main(int count, char **arguments) { return curl_easy_perform(arguments) + curl_version()[count]; }
"""


@pytest.mark.parametrize("flags", [["-static"], ["-static-pie"], ["-static", "-s"]], ids=" ".join)
def test_static_with_libcurl_inside(check, tmp_path, flags):
    report = check(compile_c(tmp_path / "program", OWN_LIBCURL, "-O0", *flags))
    refused(report, "static")
    assert only_use(report)["libcurl_version"] == "8.0.1"
    assert only_use(report)["libcurl"] == str(tmp_path / "program")


@pytest.mark.parametrize("flags", [[], ["-s"], ["-rdynamic"]], ids=" ".join)
def test_libcurl_inside_a_dynamic_program(check, tmp_path, flags):
    report = check(compile_c(tmp_path / "program", OWN_LIBCURL, "-O0", *flags))
    refused(report, "bundled")
    assert only_use(report)["libcurl_version"] == "8.0.1"


def test_a_programs_own_libcurl_comes_before_ours(check, tmp_path):
    """What its libraries call is bound to the program's symbol then, and to no preload."""
    library = compile_c(tmp_path / "libget.so", "int curl_easy_perform(void *);\n"
                        "int get(void) { return curl_easy_perform(0); }\n", "-shared", "-fPIC")
    program = compile_c(tmp_path / "program", "int get(void);\nint curl_easy_perform(void *curl) { return curl == 0; }\n"
                        "int main(void) { return get(); }\n", library, "-rdynamic", f"-Wl,-rpath,{tmp_path}")
    report = check(program)
    refused(report, "bundled")
    assert {use["object"] for use in report["uses"]} == {str(program), str(library)}


def test_another_architecture(check, tmp_path):
    program = compile_c(tmp_path / "program", "void _start(void) {}\n", "-m32", "-nostdlib", "-static")
    report = check(program)
    refused(report, "class")
    assert report["detail"] == "i386" and not report["binder"]


def test_musl(check, tmp_path):
    program = compile_c(tmp_path / "program", "int main(void) { return 0; }\n", compiler="musl-gcc")
    refused(check(program), "musl")


@pytest.mark.parametrize("mode, reason", [(0o4755, "setuid"), (0o2755, "setgid")])
def test_other_rights(check, check_as_nobody, shared, mode, reason):
    program = shared / "curl"
    shutil.copy(CURL, program)
    program.chmod(mode)
    report = check_as_nobody(program, "http://127.0.0.1/")
    refused(report, reason)
    assert only_use(report)["libcurl_flavour"] == "OPENSSL_4"
    mine = check(program, "http://127.0.0.1/")
    assert mine["verdict"] == "covered" and "other users" in mine["note"]


@needs("setcap")
def test_file_capabilities(check, check_as_nobody, shared):
    program = shared / "curl"
    shutil.copy(CURL, program)
    if subprocess.run(["setcap", "cap_net_raw+ep", program], capture_output=True).returncode != 0:
        pytest.skip("capabilities can't be set here")
    refused(check_as_nobody(program, "http://127.0.0.1/"), "capabilities")
    assert check(program, "http://127.0.0.1/")["verdict"] == "covered"


def test_unreadable(check_as_nobody, shared):
    program = shared / "curl"
    shutil.copy(CURL, program)
    program.chmod(0o711)
    report = check_as_nobody(program, "http://127.0.0.1/")
    assert (report["verdict"], report["reason"], report["uses"]) == ("unknown", "unreadable", [])
    assert report["detail"] == "Permission denied"


def test_damaged(check, tmp_path):
    program, whole = tmp_path / "program", pathlib.Path(CURL).read_bytes()
    for size in (5, 64, 100, 500, 4000, len(whole) // 2):
        program.write_bytes(whole[:size])
        program.chmod(0o755)
        report = check(program)
        assert (report["verdict"], report["reason"]) in (("unknown", "unreadable"), ("not", "static"))


def test_environment(check, build):
    report = check("env", "-i", CURL, "http://127.0.0.1/")
    refused(report, "environment")
    assert report["detail"] == "/usr/bin/env"
    inside = check("env", "-i", build / "tenacurl", "run", "--", CURL, "http://127.0.0.1/")
    assert inside["verdict"] == "covered"


@needs("chroot")
def test_chroot(check, build, tmp_path):
    root = tmp_path / "root"
    (root / "bin").mkdir(parents=True)
    shutil.copy(CURL, root / "bin" / "curl")
    refused(check("chroot", root, "/bin/curl", "http://127.0.0.1/"), "chroot")
    inside = root / str(build)[1:]
    inside.mkdir(parents=True)
    shutil.copy(build / "libtenacurl.so", inside)
    assert check("chroot", root, "/bin/curl", "http://127.0.0.1/")["verdict"] == "covered"


def test_static_thread_local_storage(check, tmp_path):
    library = compile_c(tmp_path / "liblarge.so", "__thread char room[8000] __attribute__((tls_model(\"initial-exec\")));\n"
                        "int use(void) { return room[1]; }\n", "-shared", "-fPIC")
    program = compile_c(tmp_path / "python3", "int use(void);\nint main(void) { return use(); }\n", library,
                        f"-Wl,-rpath,{tmp_path}")
    report = check(program, "-c", "ctypes.CDLL('libcurl.so.4')")
    refused(report, "tls")
    assert not report["binder"] and "thread-local" in report["binder_reason"]


@needs_root
@needs("unshare", PHP, PHP_EXTENSION)
def test_addresses_as_data_below_deepbind(check, tmp_path):
    extension = compile_c(tmp_path / "curl.so", "int curl_easy_perform(void *);\n"
                          "int (*address)(void *) = curl_easy_perform;\n", "-shared", "-fPIC", "-lcurl")
    inside = ["unshare", "-m", "sh", "-c", f'mount --bind {extension} {PHP_EXTENSION} && exec "$@"', "sh"]
    if subprocess.run([*inside, "true"], capture_output=True).returncode != 0:
        pytest.skip("no mounts here")
    refused(check(PHP, "-r", "curl_exec($c);", prefix=inside), "deepbind-data")


@pytest.mark.parametrize("env, word", [({"TENACURL_DISABLE": "1"}, "TENACURL_DISABLE"), ({"TENACURL_MODE": "off"}, "mode"),
                                       ({"TENACURL_POLICY": "/nonexistent/policy.ini"}, "/nonexistent/policy.ini")])
def test_switched_off(check, env, word):
    report = check(CURL, "http://127.0.0.1/", env=env)
    refused(report, "off")
    assert word in report["detail"]


def test_switched_off_for_this_program(check, tmp_path):
    policy = tmp_path / "policy.ini"
    policy.write_text("[policy]\nskip_programs = curl\n")
    policy.chmod(0o600)
    env = {"TENACURL_POLICY": str(policy)}
    report = check(CURL, "http://127.0.0.1/", env=env)
    refused(report, "off")
    assert str(policy) in report["detail"]
    assert check("/usr/bin/cmake", env=env)["verdict"] == "covered"


def test_a_missing_library_is_told(check, tmp_path):
    library = compile_c(tmp_path / "libgone.so", "int gone(void) { return 0; }\n", "-shared", "-fPIC")
    program = compile_c(tmp_path / "program", "int gone(void);\nint main(void) { return gone(); }\n", library)
    library.unlink()
    assert "libgone.so" in check(program)["note"]


# The command itself


@pytest.mark.parametrize("arguments, status, words", [
    ([], 125, "which program?"),
    (["--no-such-option", "x"], 125, "unrecognized option"),
    (["--pid", "x"], 125, "not 'x'"),
    (["--pid", "-1"], 125, "not '-1'"),
    (["--pid", "1", CURL], 125, "--pid goes with --json alone"),
    (["--pid", "1", "--run"], 125, "--pid goes with --json alone"),
    (["no-such-program-here"], 127, "can't check 'no-such-program-here': No such file or directory"),
    (["/no/such/program"], 127, "No such file or directory"),
    (["/etc/passwd"], 126, "Permission denied"),
    (["/tmp"], 126, "can't check '/tmp'"),
])
def test_refusals(check, arguments, status, words):
    done = check.run(*arguments)
    assert done.returncode == status and done.stdout == b""
    assert done.stderr.startswith(b"tenacurl check: ") and words.encode() in done.stderr


def test_a_library_is_no_program(check, tmp_path):
    library = compile_c(tmp_path / "libx.so", "int puts(const char *);\nint x(void) { return puts(\"\"); }\n",
                        "-shared", "-fPIC")
    assert check.run(library).returncode == 126


def test_help_names_the_options(check):
    done = check.run("--help")
    assert done.returncode == 0
    for option in (b"--run", b"--pid", b"--no-binder", b"--json"):
        assert option in done.stdout


def test_output_that_does_not_arrive(check):
    done = check.runner.bare(["sh", "-c", f'exec "$0" check {CURL} http://127.0.0.1/ >/dev/full', check.tenacurl])
    assert done.returncode == 125 and b"can't write" in done.stderr
