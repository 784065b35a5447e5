# SPDX-License-Identifier: MIT
"""
The binder (interpose/bind): programs that look libcurl's functions up themselves, or have ld.so bind them past the preload.
test_layouts_unseen.py has the ways in which C programs do that; here are the real ones, several libcurls at once, and how the
binder stays out of the way.
"""

import itertools
import shutil
import subprocess

import pytest

BUSY = {"status": 503, "body": "busy"}
RESET = {"fault": "reset"}
RIGHT = {"body": "right"}
FAST = {"jitter": "none", "backoff_base_ms": 1}

PYTHON = "/usr/bin/python3"

# A libcurl that Python's FFI calls: open(path), then init, perform and end as often as one likes.
FFI = """
import ctypes, os, sys, threading
import _ctypes

class Libcurl:
    def __init__(self, path):
        self.path, self.library = path, ctypes.CDLL(path)
        self.library.curl_easy_init.restype = ctypes.c_void_p

    def init(self, url, collected=None):
        curl, body = ctypes.c_void_p(self.library.curl_easy_init()), []
        def on_body(pointer, size, count, _):
            body.append(ctypes.string_at(pointer, size * count).decode())
            return size * count
        callback = ctypes.CFUNCTYPE(ctypes.c_size_t, ctypes.c_void_p, ctypes.c_size_t, ctypes.c_size_t, ctypes.c_void_p)(on_body)
        self.library.curl_easy_setopt(curl, 10002, url.encode())
        self.library.curl_easy_setopt(curl, 20011, callback)
        self.library.curl_easy_setopt(curl, 99, ctypes.c_long(1))
        return self, curl, body, callback

    def close(self):
        _ctypes.dlclose(self.library._handle)

def perform(transfer):
    libcurl, curl, body, _ = transfer
    status = ctypes.c_long()
    del body[:]
    result = libcurl.library.curl_easy_perform(curl)
    libcurl.library.curl_easy_getinfo(curl, 0x200002, ctypes.byref(status))
    return f"{result} {status.value} {''.join(body)}"

def end(transfer):
    transfer[0].library.curl_easy_cleanup(transfer[1])

url = sys.argv[1]
"""


def ffi(code):
    return [PYTHON, "-c", FFI + code]


PHP = "$c = curl_init($argv[1]); curl_setopt($c, CURLOPT_RETURNTRANSFER, 1); echo 'body ', curl_exec($c);"
PROGRAMS = {
    "php": ["php", "-r", PHP],
    "ctypes": ffi("print('body', perform(Libcurl('libcurl.so.4').init(url))[6:])"),
    "ethon": ["ruby", "-rethon", "-e", "e = Ethon::Easy.new(url: ARGV[0]); e.perform; print 'body ', e.response_body"],
    "typhoeus": ["ruby", "-rtyphoeus", "-e", "print 'body ', Typhoeus.get(ARGV[0]).body"],
    "d": ["fetch-d"],
}
PROBES = {
    "php": ["php", "-r", "exit(extension_loaded('curl') ? 0 : 1);"],
    "ctypes": [PYTHON, "-c", ""],
    "ethon": ["ruby", "-rethon", "-e", ""],
    "typhoeus": ["ruby", "-rtyphoeus", "-e", ""],
    "d": ["test", "-x", "fetch-d"],
}


def is_installed(name, plugins):
    probe = PROBES[name]
    return shutil.which(probe[0]) and subprocess.run(probe, capture_output=True, cwd=plugins).returncode == 0


@pytest.fixture(scope="session")
def plugins(build):
    return build / "tests" / "plugins"


@pytest.fixture(params=PROGRAMS)
def program(request, plugins):
    if not is_installed(request.param, plugins):
        pytest.skip(f"{request.param} is not installed")
    return [plugins / word if word == "fetch-d" else word for word in PROGRAMS[request.param]]


@pytest.mark.parametrize("fault", [BUSY, RESET], ids=["503", "reset"])
def test_program_survives(origin, bare, tenacurl_run, program, fault):
    """One fault is survived with the binder; without it the program behaves as bare."""
    right, failed = origin([RIGHT]), origin([fault])
    whole, broken = bare([*program, right.url()]), bare([*program, failed.url()])
    assert b"body right" in whole.stdout and b"body right" not in broken.stdout

    server = origin([fault, RIGHT])
    result = tenacurl_run([*program, server.url()], FAST, binder=True)
    assert (result.returncode, result.stdout, result.stderr) == (whole.returncode, whole.stdout, whole.stderr)
    assert len(server.requests) == 2
    assert result.operation["attempts"] == 2 and result.operation["libcurl_flavour"] == "OPENSSL_4"

    server = origin([fault, RIGHT])
    result = tenacurl_run([*program, server.url()], FAST, binder=False)
    assert (result.returncode, result.stderr) == (broken.returncode, broken.stderr)
    assert b"body right" not in result.stdout and not result.records
    assert len(server.requests) == 1


def test_program_without_a_fault(origin, bare, tenacurl_run, program):
    outputs = []
    for run in (bare, lambda argv: tenacurl_run(argv, FAST, binder=True)):
        server = origin([RIGHT])
        outputs.append(run([*program, server.url()]))
        assert len(server.requests) == 1
    assert (outputs[0].returncode, outputs[0].stdout, outputs[0].stderr) == (
        outputs[1].returncode, outputs[1].stdout, outputs[1].stderr)


PHP_UPLOAD = """
$c = curl_init($argv[1]);
curl_setopt_array($c, [CURLOPT_RETURNTRANSFER => 1, CURLOPT_POSTFIELDS => ["f" => new CURLFile($argv[2]), "a" => "b"]]);
echo curl_exec($c);
"""


def test_php_sends_a_form_again(origin, tenacurl_run, plugins, tmp_path):
    """Its MIME functions are bound to us as well: else nobody would know that the body can be sent twice."""
    if not is_installed("php", plugins):
        pytest.skip("php is not installed")
    (tmp_path / "file.txt").write_text("contents of a file\n")
    server = origin([BUSY, RIGHT])
    argv = ["php", "-r", PHP_UPLOAD, server.url(), tmp_path / "file.txt"]
    result = tenacurl_run(argv, {**FAST, "replay": "all"}, binder=True)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"right", b"")
    first, second = (request.body for request in server.requests)
    assert first == second and b"contents of a file\n" in first and b'name="a"' in first


# Several libcurls.

SONAMES = {"OPENSSL_4": "libcurl.so.4", "GNUTLS_3": "libcurl-gnutls.so.4", "NSS_3": "libcurl-nss.so.4"}


@pytest.fixture
def installed_sonames():
    """The flavours that are installed, at least two."""
    found = {}
    for flavour, soname in SONAMES.items():
        if subprocess.run([PYTHON, "-c", f"import ctypes; ctypes.CDLL({soname!r})"], capture_output=True).returncode == 0:
            found[flavour] = soname
    if len(found) < 2:
        pytest.skip("a second flavour of libcurl is not installed")
    return found


def lines_of(result):
    assert (result.returncode, result.stderr) == (0, b""), result
    return result.stdout.decode().split("\n")[:-1]


def test_flavours_at_once(origin, tenacurl_run, plugins, installed_sonames):
    """Also one that has no versions, as a program brings it along."""
    libraries = {**installed_sonames, "unversioned": str(plugins / "libcurl-forward-a.so")}
    code = f"""
transfers = [Libcurl(path).init(url) for path in {list(libraries.values())!r}]
for transfer in transfers + transfers[::-1]:
    print(perform(transfer))
for transfer in transfers:
    end(transfer)
"""
    server = origin([BUSY, RIGHT] * 2 * len(libraries))
    result = tenacurl_run([*ffi(code), server.url()], FAST, binder=True)
    assert lines_of(result) == ["0 200 right"] * 2 * len(libraries)
    assert len(server.requests) == 4 * len(libraries)
    flavours = [record["libcurl_flavour"] for record in result.operations]
    assert flavours == [*libraries, *reversed(libraries)]


def test_flavours_loaded_and_unloaded(origin, tenacurl_run, plugins, installed_sonames):
    """
    Functions are looked up and not called: then the libcurl is really unmapped, and what is mapped next takes its place and
    its slot, over more libcurls than there are slots.
    """
    libraries = [*installed_sonames.values(), *(str(plugins / f"libcurl-forward-{name}.so") for name in "ab")]
    code = f"""
import gc
for turn in range(10):
    for path in {libraries!r}:
        libcurl = Libcurl(path)
        libcurl.library.curl_easy_perform, libcurl.library.curl_easy_setopt
        libcurl.close()
def mapped():
    return sum("libcurl-forward" in line for line in open("/proc/self/maps"))
print("mapped", mapped())
for path in {libraries!r}:
    transfer = Libcurl(path).init(url)
    print(perform(transfer))
    end(transfer)
    transfer[0].close()
"""
    server = origin([BUSY, RIGHT] * len(libraries))
    result = tenacurl_run([*ffi(code), server.url()], FAST, binder=True)
    assert lines_of(result) == ["mapped 0", *["0 200 right"] * len(libraries)]
    assert len(server.requests) == 2 * len(libraries)
    names = [(record["libcurl_flavour"], record["libcurl_version"]) for record in result.operations]
    assert [flavour for flavour, _ in names] == [*installed_sonames, "unversioned", "unversioned"]
    assert [version for _, version in names[-2:]] == ["forward-a", "forward-b"]


SLOTS = 8


def test_more_libcurls_than_slots(origin, tenacurl_run, plugins, tmp_path, installed_sonames):
    """The ninth is none of ours, and works; so does each of the others, all along."""
    copies = []
    for number in range(SLOTS + 2):
        copies.append(str(shutil.copy(plugins / "libcurl-forward-a.so", tmp_path / f"libcurl-{number}.so")))
    code = f"""
transfers = [Libcurl(path).init(url) for path in {copies!r}]
for transfer in transfers:
    print(perform(transfer))
for transfer in transfers:
    end(transfer)
"""
    server = origin([*[BUSY, RIGHT] * SLOTS, BUSY, BUSY])
    result = tenacurl_run([*ffi(code), server.url()], FAST, binder=True)
    assert lines_of(result) == [*["0 200 right"] * SLOTS, "0 503 busy", "0 503 busy"]
    assert len(server.requests) == 2 * SLOTS + 2
    assert len(result.operations) == SLOTS


def test_threads_look_up_while_others_close(origin, tenacurl_run, plugins, installed_sonames):
    code = f"""
def transfers():
    for turn in range(10):
        transfer = Libcurl("libcurl.so.4").init(url)
        lines.append(perform(transfer))
        end(transfer)
def comes_and_goes(path):
    for turn in range(50):
        libcurl = Libcurl(path)
        libcurl.library.curl_easy_perform, libcurl.library.curl_easy_init
        libcurl.close()
lines = []
threads = [threading.Thread(target=transfers) for _ in range(8)]
paths = [{str(plugins)!r} + f"/libcurl-forward-{{name}}.so" for name in "abab"]
threads += [threading.Thread(target=comes_and_goes, args=(path,)) for path in paths]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(len(lines), set(lines))
"""
    server = origin([{**RIGHT, "repeat": True}])
    result = tenacurl_run([*ffi(code), server.url()], FAST, binder=True)
    assert lines_of(result) == ["80 {'0 200 right'}"]
    assert len(server.requests) == 80 and len(result.operations) == 80


def test_child_of_a_program(origin, tenacurl_run):
    """What was bound before the fork serves the child, what is bound in the child too."""
    code = """
libcurl = Libcurl("libcurl.so.4")
print(perform(libcurl.init(url)), flush=True)
if os.fork() == 0:
    print(perform(libcurl.init(url)), flush=True)
    print(perform(Libcurl("libcurl.so.4").init(url)), flush=True)
    os._exit(0)
os.wait()
"""
    server = origin([BUSY, RIGHT] * 3)
    result = tenacurl_run([*ffi(code), server.url()], FAST, binder=True)
    assert lines_of(result) == ["0 200 right"] * 3
    assert len(server.requests) == 6


# Where it stays out.

MAPPED = """
for line in open("/proc/self/maps"):
    if "libtenacurl-bind" in line:
        print("binder")
        break
print(perform(Libcurl("libcurl.so.4").init(url)))
"""


def test_switched_off(origin, bare, tenacurl_run, runner, build):
    server = origin([BUSY, RIGHT, BUSY, BUSY])
    argv = [*ffi(MAPPED), server.url()]
    assert lines_of(tenacurl_run(argv, FAST, binder=True)) == ["binder", "0 200 right"]
    env = {**runner.binder_environment(), "LD_PRELOAD": str(build / "libtenacurl.so")}
    assert lines_of(bare(argv, env={**env, "TENACURL_DISABLE": "1"})) == ["0 503 busy"]
    # Only 1 does.
    assert lines_of(bare(argv, env={**env, "TENACURL_DISABLE": "0", "TENACURL_MODE": "off"})) == ["binder", "0 503 busy"]


def test_without_the_preloaded_object(origin, bare, runner):
    """A program that removes LD_PRELOAD for its children leaves LD_AUDIT to them."""
    server = origin([BUSY])
    result = bare([*ffi(MAPPED), server.url()], env=runner.binder_environment())
    assert lines_of(result) == ["binder", "0 503 busy"]


@pytest.mark.parametrize("argv", [["/bin/true"], ["/bin/sh", "-c", "/bin/echo a | /bin/cat"]], ids=" ".join)
def test_program_without_libcurl(bare, tenacurl_run, argv):
    without, result = bare(argv), tenacurl_run(argv, binder=True)
    assert (result.returncode, result.stdout, result.stderr) == (without.returncode, without.stdout, b"")


# Another preload that wraps curl_easy_perform, or all there is, in front of us or behind us.

INTERPOSERS = ["interposer", "interposer-of-all"]
BEFORE, AFTER = "before", "after"


@pytest.fixture
def preloaded(runner, build, plugins, tmp_path):
    """preloaded(interposer, order) -> the environment with the interposer and us."""

    def environment(interposer, order):
        preloads = [str(plugins / f"{interposer}.so"), str(build / "libtenacurl.so")]
        policy = tmp_path / "policy.ini"
        policy.write_text("[policy]\njitter = none\nbackoff_base_ms = 1\n")
        return {"LD_PRELOAD": " ".join(preloads if order == BEFORE else preloads[::-1]), "TENACURL_POLICY": str(policy)}

    return environment


# Below a plugin that was opened RTLD_LOCAL the one that wraps all finds no getinfo behind it, with us or without.
@pytest.mark.parametrize("order", [BEFORE, AFTER])
@pytest.mark.parametrize("interposer,how", [*itertools.product(INTERPOSERS, ["linked", "deepbind"]), ("interposer", "local")])
def test_another_interposer(origin, bare, runner, preloaded, plugins, interposer, how, order):
    """It is called as often as without the binder, and nothing goes in circles."""
    interposed = []
    for extra in ({}, runner.binder_environment()):
        server = origin([BUSY, RIGHT])
        argv = [plugins / "host-openssl", "get", "self", server.url()]
        if how != "linked":
            argv = [plugins / "host", "open", "p", plugins / "fetch-openssl.so", how, "get", "p", server.url()]
        result = bare(argv, env={**preloaded(interposer, order), **extra})
        assert result.returncode == 0, result
        is_right = b" status 200 " in result.stdout
        assert is_right == (how != "deepbind" or bool(extra)), result
        assert len(server.requests) == (2 if is_right else 1)
        interposed.append(result.stderr)
    assert interposed[1] == interposed[0]


@pytest.mark.parametrize("order", [BEFORE, AFTER])
@pytest.mark.parametrize("interposer", INTERPOSERS)
def test_ctypes_with_another_interposer(origin, bare, runner, preloaded, interposer, order):
    """What looks the functions up in libcurl itself passes by the interposer, with us as bare."""
    server = origin([BUSY, RIGHT])
    argv = [*ffi("print(perform(Libcurl('libcurl.so.4').init(url)))"), server.url()]
    result = bare(argv, env={**preloaded(interposer, order), **runner.binder_environment()})
    assert lines_of(result) == ["0 200 right"]
    assert len(server.requests) == 2


def test_functions_of_a_library_that_has_some_of_them(origin, bare, runner, preloaded, plugins):
    """It is no libcurl: what it makes of a call is its own affair."""
    server = origin([BUSY])
    code = f"""
ctypes.CDLL("libcurl.so.4", ctypes.RTLD_GLOBAL)
transfer = Libcurl("libcurl.so.4").init(url)
transfer[0].library = ctypes.CDLL({str(plugins / "interposer.so")!r})
print(transfer[0].library.curl_easy_perform(transfer[1]), transfer[2])
"""
    result = bare([*ffi(code), server.url()], env={**preloaded("interposer", AFTER), **runner.binder_environment()})
    assert (result.returncode, result.stdout, result.stderr) == (0, b"0 ['busy']\n", b"interposed\n")
    assert len(server.requests) == 1
