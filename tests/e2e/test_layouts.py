# SPDX-License-Identifier: MIT
"""
The ways in which a program can reach libcurl (tests/plugins). A preload sees what the dynamic linker binds by name: there
one 503 is survived, by the very libcurl that made the handle. What it can't see runs as it would without.
"""

import os
import pathlib

import pytest

BUSY = {"status": 503, "body": "busy"}
RIGHT = {"body": "right"}
FAST = {"jitter": "none", "backoff_base_ms": 1}

SONAMES = {"openssl": "libcurl.so.4", "gnutls": "libcurl-gnutls.so.4", "nss": "libcurl-nss.so.4"}
# A libcurl.so.4 without versions serves whoever asks for one; then how the bare program runs is all that is expected.
ANOTHER_LIBCURL = "TEST_LIBRARY_PATH" in os.environ
NODES = {"openssl": "OPENSSL_4", "gnutls": "GNUTLS_3", "nss": "NSS_3"}


@pytest.fixture(scope="session")
def plugins(build):
    """Where the programs and plugins are."""
    return build / "tests" / "plugins"


@pytest.fixture(params=SONAMES)
def flavour(request, plugins):
    return installed(plugins, request.param)


def installed(plugins, flavour):
    if not (plugins / f"host-{flavour}").exists():
        pytest.skip(f"the {flavour} flavour of libcurl is not installed")
    return flavour


def is_node(name, flavour):
    """Whether the log names the flavour; "any" is a reference without a version."""
    return ANOTHER_LIBCURL or name == NODES.get(flavour, "unversioned")


def got_right(name, served_by):
    return f"{name} result 0 status 200 served by {served_by} body right"


def got_busy(name, served_by):
    return f"{name} result 0 status 503 served by {served_by} body busy"


@pytest.fixture
def survives(origin, bare, tenacurl_run):
    """
    survives(argv, expected lines, flavours of the operations): each transfer meets one 503, bare as well as under tenacurl.
    "URL" in argv stands for the server.
    """

    def check(argv, expected, flavours, env=None):
        def words(server):
            return [server.url("/x") if word == "URL" else word for word in argv]

        clean, faulty, server = origin([RIGHT] * len(expected)), origin([BUSY]), origin([BUSY, RIGHT] * len(expected))
        without = bare(words(clean), env=env)
        if ANOTHER_LIBCURL and without.stdout.count(b" result 0 status 200 ") != len(expected):
            pytest.skip("libcurls of this kind get into each other's way without tenacurl")
        if not ANOTHER_LIBCURL:
            assert without.stdout.decode().split("\n") == [*expected, "end", ""], without
        assert "status 503" in bare(words(faulty), env=env).stdout.decode().split("\n")[0]

        result = tenacurl_run(words(server), FAST, env=env)
        assert result.returncode == 0, result
        assert (result.stdout, result.stderr) == (without.stdout, without.stderr), result
        assert len(server.requests) == 2 * len(expected)
        assert [record["attempts"] for record in result.operations] == [2] * len(expected)
        seen = [record["libcurl_flavour"] for record in result.operations]
        assert len(seen) == len(flavours) and all(map(is_node, seen, flavours)), seen
        return result

    return check


@pytest.fixture
def passes_through(origin, bare, tenacurl_run):
    """passes_through(argv, number of transfers): every transfer is one request, and the program sees each 503."""

    def check(argv, count, env=None):
        outputs = []
        for run in (bare, tenacurl_run):
            server = origin([{**BUSY, "repeat": True}])
            result = run([server.url("/x") if word == "URL" else word for word in argv], env=env)
            assert result.returncode == 0, result
            assert len(server.requests) == count, result
            assert not result.records
            outputs.append((result.stdout, result.stderr))
        assert outputs[1] == outputs[0]
        assert outputs[0][0].count(b" status 503 ") == count

    return check


# Seen: bound by name.


def test_program_linked_to_libcurl(survives, plugins, flavour):
    survives([plugins / f"host-{flavour}", "get", "self", "URL"], [got_right("self", SONAMES[flavour])], [flavour])


def test_program_linked_to_a_library_on_libcurl(survives, plugins, flavour):
    argv = [plugins / f"host-through-{flavour}", "get", "self", "URL"]
    survives(argv, [got_right("self", SONAMES[flavour])], [flavour])


@pytest.mark.parametrize("how", ["local", "global"])
def test_plugin(survives, plugins, flavour, how):
    argv = [plugins / "host", "open", "p", plugins / f"fetch-{flavour}.so", how, "get", "p", "URL", "close", "p"]
    survives(argv, [got_right("p", SONAMES[flavour])], [flavour])


@pytest.mark.parametrize("host", ["host", "host-openssl"])
def test_tail_call_in_a_plugin(survives, plugins, flavour, host):
    argv = [plugins / host, "open", "p", plugins / f"fetch-{flavour}.so", "local"]
    argv += ["init", "h", "p", "URL", "jump", "h", "end", "h"]
    survives(argv, [got_right("h", SONAMES[flavour])], [flavour])


def test_plugin_that_is_closed_and_loaded_again(survives, plugins, flavour):
    again = ["open", "p", plugins / f"fetch-{flavour}.so", "local", "get", "p", "URL", "close", "p"]
    survives([plugins / "host", *again, *again, *again], [got_right("p", SONAMES[flavour])] * 3, [flavour] * 3)


def test_plugins_that_take_turns_at_one_place(survives, plugins):
    """The second is likely to be mapped where the first one was."""
    argv, expected, flavours = [plugins / "host"], [], []
    for flavour in ("openssl", "gnutls", "openssl", "gnutls"):
        installed(plugins, flavour)
        argv += ["open", "p", plugins / f"fetch-{flavour}.so", "local", "get", "p", "URL", "close", "p"]
        expected.append(got_right("p", SONAMES[flavour]))
        flavours.append(flavour)
    survives(argv, expected, flavours)


PAIRS = [("openssl", "gnutls"), ("gnutls", "openssl"), ("gnutls", "nss")]
INTERLEAVED = ["init", "h1", "a", "URL", "init", "h2", "b", "URL", "perform", "h1", "jump", "h2", "jump", "h1"]
INTERLEAVED += ["perform", "h2", "end", "h1", "end", "h2"]


def interleaved_lines(first, second):
    served = {"h1": SONAMES[first], "h2": SONAMES[second]}
    return [got_right(handle, served[handle]) for handle in ("h1", "h2", "h1", "h2")]


@pytest.mark.parametrize("first,second", PAIRS)
def test_plugins_of_two_flavours(survives, plugins, first, second):
    argv = [plugins / "host"]
    for name, flavour in (("a", first), ("b", second)):
        argv += ["open", name, plugins / f"fetch-{installed(plugins, flavour)}.so", "local"]
    survives([*argv, *INTERLEAVED], interleaved_lines(first, second), [first, second, first, second])


@pytest.mark.parametrize("how", ["local", "global"])
@pytest.mark.parametrize("first,second", PAIRS)
def test_program_of_one_flavour_and_plugin_of_another(survives, plugins, first, second, how):
    argv = [plugins / f"host-{installed(plugins, first)}"]
    argv += ["open", "b", plugins / f"fetch-{installed(plugins, second)}.so", how]
    words = ["self" if word == "a" else word for word in INTERLEAVED]
    survives([*argv, *words], interleaved_lines(first, second), [first, second, first, second])


def test_libcurl_without_versions(origin, tenacurl_run, plugins):
    """Two of them, loaded so that each plugin sees its own: nothing but the caller tells whose a call is."""
    installed(plugins, "gnutls")
    argv = [plugins / "host"]
    for name, copy in (("a", "fetch-forward-a.so"), ("b", "fetch-forward-b.so")):
        argv += ["open", name, plugins / copy, "local"]
    server = origin([BUSY, RIGHT] * 2)
    argv += ["init", "h1", "a", server.url(), "init", "h2", "b", server.url()]
    result = tenacurl_run([*argv, "perform", "h2", "perform", "h1", "end", "h1", "end", "h2"], FAST)
    assert result.returncode == 0 and result.stdout.count(b"status 200") == 2, result
    assert len(server.requests) == 4
    seen = [(record["libcurl_flavour"], record["libcurl_version"]) for record in result.operations]
    assert seen == [("unversioned", "forward-b"), ("unversioned", "forward-a")]


def test_plugin_without_versions_in_a_program_on_libcurl(survives, plugins):
    """What the program is linked to comes first for its plugins too, so the plugin's own libcurl never serves."""
    installed(plugins, "gnutls")
    argv = [plugins / "host-openssl", "open", "p", plugins / "fetch-forward-a.so", "local"]
    argv += ["init", "h", "p", "URL", "jump", "h", "perform", "h", "end", "h", "get", "p", "URL"]
    expected = [got_right(name, "libcurl.so.4") for name in ("h", "h", "p")]
    result = survives(argv, expected, ["any"] * 3)
    assert "forward-a" not in [record["libcurl_version"] for record in result.operations]


def test_libcurl_without_versions_in_place_of_one_with(origin, tenacurl_run, bare, plugins):
    """A vendor's build in LD_LIBRARY_PATH; the dynamic linker warns of it, with and without us."""
    installed(plugins, "gnutls")
    env = {"LD_LIBRARY_PATH": str(plugins / "unversioned")}
    faulty, server = origin([BUSY]), origin([BUSY, RIGHT])
    without = bare([plugins / "host-openssl", "get", "self", faulty.url()], env=env)
    result = tenacurl_run([plugins / "host-openssl", "get", "self", server.url()], FAST, env=env)
    assert b"status 503" in without.stdout and b"status 200" in result.stdout
    assert result.stderr == without.stderr and b"no version information" in result.stderr
    assert (result.operation["libcurl_flavour"], result.operation["libcurl_version"]) == ("unversioned", "unversioned")
    assert len(server.requests) == 2


# Not seen: as without tenacurl.


def test_plugin_bound_to_its_own_libraries(passes_through, plugins, flavour):
    argv = [plugins / "host", "open", "p", plugins / f"fetch-{flavour}.so", "deepbind", "get", "p", "URL"]
    passes_through([*argv, "init", "h", "p", "URL", "jump", "h", "end", "h", "close", "p"], 2)


CTYPES = """
import ctypes, sys
curl = ctypes.CDLL("libcurl.so.4")
curl.curl_easy_init.restype = ctypes.c_void_p
handle = ctypes.c_void_p(curl.curl_easy_init())
status = ctypes.c_long()
curl.curl_easy_setopt(handle, 10002, sys.argv[1].encode())
print("\\nresult", curl.curl_easy_perform(handle))
curl.curl_easy_getinfo(handle, 0x200002, ctypes.byref(status))
print(" status", status.value, "")
curl.curl_easy_cleanup(handle)
"""


def test_functions_found_by_ctypes(passes_through):
    passes_through(["/usr/bin/python3", "-c", CTYPES, "URL"], 1)


# Any of i(nit) s(etopt) p(erform) c(leanup) by dlsym, the others by linking.
WORDS = ["".join(letter for bit, letter in enumerate("ispc") if mask & 1 << bit) or "-" for mask in range(16)]


@pytest.mark.parametrize("word", WORDS)
def test_functions_found_in_part(origin, bare, tenacurl_run, build, word):
    outputs = []
    for run in (bare, lambda argv: tenacurl_run(argv, {**FAST, "max_attempts": 2})):
        server = origin([{**BUSY, "repeat": True}])
        outputs.append(run([build / "tests/clients/mixed", server.url("/x"), word, word, word]))
        assert outputs[-1].returncode == 0, outputs[-1]
    assert (outputs[1].stdout, outputs[1].stderr) == (outputs[0].stdout, outputs[0].stderr)
    assert outputs[0].stdout.decode().split("\n") == [f"{word} result 0 status 503 body 4"] * 3 + [""]
    # A handle is ours if everything but its end went through us.
    assert len(server.requests) == (6 if word in ("-", "c") else 3)


def test_functions_found_in_part_after_one_another(origin, tenacurl_run, build):
    """
    The second handle is likely to have the address of the first, whose end we may have missed: then it can be taken for the
    first one, and where its body goes is all that we may get wrong.
    """
    server = origin([{**BUSY, "repeat": True}])
    words = [word for first in WORDS for second in WORDS for word in (first, second)]
    argv = [build / "tests/clients/mixed", server.url("/x"), *words]
    result = tenacurl_run(argv, {**FAST, "max_attempts": 2, "budget_tokens": 0})
    assert result.returncode == 0 and result.stdout.count(b" result 0 status 503 ") == len(words), result


def test_version_that_nobody_knows(passes_through, plugins):
    installed(plugins, "gnutls")
    passes_through([plugins / "host-unknown", "get", "self", "URL"], 1)


@pytest.mark.parametrize("how", ["local", "global"])
def test_plugin_with_a_libcurl_inside(passes_through, plugins, how):
    """It calls its own functions, through the dynamic linker; whatever becomes of that, it must work."""
    installed(plugins, "gnutls")
    argv = [plugins / "host", "open", "p", plugins / "fetch-bundled.so", how, "get", "p", "URL"]
    passes_through([*argv, "init", "h", "p", "URL", "jump", "h", "end", "h", "close", "p"], 2)


def test_program_that_is_its_own_libcurl(tenacurl_run, bare, plugins):
    argv = [plugins / "host-own", "get", "self", "http://127.0.0.1:1/"]
    result = tenacurl_run(argv)
    assert result.stdout == bare(argv).stdout
    assert result.stdout.startswith(b"self result 77 status 0") and b"\ncleaned up\nend\n" in result.stdout
    assert (result.returncode, result.stderr, result.records) == (0, b"", [])


def test_program_that_is_its_own_libcurl_for_its_plugins_too(tenacurl_run, bare, plugins, flavour):
    argv = [plugins / "host-own", "open", "p", plugins / f"fetch-{flavour}.so", "local", "get", "p", "http://127.0.0.1:1/"]
    result = tenacurl_run(argv)
    assert result.stdout == bare(argv).stdout
    assert result.stdout.startswith(b"p result 77 status 0")
    assert (result.returncode, result.stderr, result.records) == (0, b"", [])


def test_probe_for_a_libcurl_that_is_not_there(tenacurl_run, bare, plugins):
    assert bare([plugins / "weak_probe"]).stdout == b"no libcurl\n"
    result = tenacurl_run([plugins / "weak_probe"])
    lines = ["init (nil)", "setopt 2", "perform 2", "perform 2", "pause 2", "duphandle (nil)", ""]
    assert result.stdout.decode().split("\n") == lines
    assert (result.returncode, result.stderr) == (0, b"")
    assert [record["kind"] for record in result.records] == ["note"]
    assert "no libcurl can be found" in result.records[0]["note"]


def test_probe_without_a_log_says_nothing(tenacurl_run, plugins):
    result = tenacurl_run([plugins / "weak_probe"], {"log": "none"})
    assert (result.returncode, result.stderr) == (0, b"") and result.stdout.startswith(b"init (nil)\n")


def test_program_of_another_c_library(build, bare, tenacurl_run, plugins):
    if not (plugins / "musl").exists():
        pytest.skip("musl-gcc is not installed")
    for result in (
        tenacurl_run([plugins / "musl"]),
        tenacurl_run(["/bin/sh", "-c", f"{plugins}/musl && {plugins}/musl"]),
        bare([plugins / "musl"], env={"LD_PRELOAD": str(build / "libtenacurl.so")}),
    ):
        assert (result.returncode, result.stderr) == (0, b""), result
        assert set(result.stdout.split(b"\n")) == {b"hello from musl", b""}


# What else is in the process.


def test_program_with_functions_of_iniparsers_names(survives, plugins):
    """survives() runs it with a policy file, which is logged to: what that says counts."""
    result = survives([plugins / "host-dictionary", "get", "self", "URL"], [got_right("self", "libcurl.so.4")], ["openssl"])
    assert result.operation["policy"]


def test_sections_behind_functions_of_iniparsers_names(origin, tenacurl_run, plugins):
    server = origin([{**BUSY, "repeat": True}])
    policy = {"policy": FAST, "upstream local": {"match": "127.0.0.1", "max_attempts": 3}}
    result = tenacurl_run([plugins / "host-dictionary", "get", "self", server.url()], policy)
    assert result.stdout.decode().split("\n") == [got_busy("self", "libcurl.so.4"), "end", ""]
    assert len(server.requests) == 3
    assert result.operation["section"] == "local"


def test_bind_now(survives, plugins, flavour):
    argv = [plugins / f"host-{flavour}", "get", "self", "URL"]
    survives(argv, [got_right("self", SONAMES[flavour])], [flavour], env={"LD_BIND_NOW": "1"})


@pytest.mark.parametrize("host", ["host-openssl", "host"])
def test_another_allocator_preloaded(survives, plugins, host):
    jemalloc = "libjemalloc.so.2"
    if not any(pathlib.Path("/usr/lib").glob(f"*/{jemalloc}")):
        pytest.skip("libjemalloc2 is not installed")
    argv = [plugins / host, "open", "p", plugins / "fetch-openssl.so", "local", "get", "p", "URL"]
    survives(argv, [got_right("p", "libcurl.so.4")], ["openssl"], env={"LD_PRELOAD": jemalloc})


def test_program_with_address_sanitizer(survives, plugins):
    argv = [plugins / "host-asan", "init", "h", "self", "URL", "perform", "h", "jump", "h", "end", "h"]
    survives(argv, [got_right("h", "libcurl.so.4")] * 2, ["openssl"] * 2)


# Before main() and after it.

MOMENTS = ["FETCH_IN_CONSTRUCTOR", "FETCH_AT_EXIT", "FETCH_IN_DESTRUCTOR"]


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("host", ["host-early", "host-early-library"])
def test_transfer_outside_main(origin, tenacurl_run, bare, plugins, host, moment):
    server = origin([BUSY, RIGHT])
    result = tenacurl_run([plugins / host], FAST, env={moment: server.url()})
    assert got_right(moment, "libcurl.so.4") in result.stdout.decode().split("\n"), result
    assert (result.returncode, result.stderr) == (0, bare([plugins / host]).stderr)
    assert len(server.requests) == 2
    assert result.operation["attempts"] == 2


@pytest.mark.parametrize("moment", MOMENTS)
def test_transfer_while_a_plugin_comes_or_goes(origin, tenacurl_run, bare, plugins, moment):
    """Twice; whatever it takes to find the plugin's libcurl, its constructor runs once a time."""
    server = origin([BUSY, RIGHT] * 2)
    words = ["open", "p", plugins / "early.so", "local", "close", "p"]
    result = tenacurl_run([plugins / "host", *words, *words], FAST, env={moment: server.url()})
    assert result.stdout.decode().split("\n") == [got_right(moment, "libcurl.so.4")] * 2 + ["end", ""], result
    assert (result.returncode, result.stderr) == (0, bare([plugins / "host", *words]).stderr)
    assert len(server.requests) == 4


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("host", ["host-early", "host-early-library"])
def test_policy_holds_outside_main(origin, tenacurl_run, plugins, host, moment):
    server = origin([{**BUSY, "repeat": True}])
    result = tenacurl_run([plugins / host], {**FAST, "max_attempts": 2}, env={moment: server.url()})
    assert result.returncode == 0 and len(server.requests) == 2


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("host", ["host-early", "host-early-library"])
def test_switched_off_outside_main(origin, bare, build, plugins, host, moment):
    server = origin([BUSY])
    env = {"LD_PRELOAD": str(build / "libtenacurl.so"), "TENACURL_DISABLE": "1", moment: server.url()}
    result = bare([plugins / host], env=env)
    assert got_busy(moment, "libcurl.so.4") in result.stdout.decode().split("\n"), result
    assert len(server.requests) == 1


# A program that changes its environment changes nothing for us.


@pytest.mark.parametrize(
    "words",
    [
        ["clearenv"],
        ["setenv", "TENACURL_DISABLE", "1"],
        ["setenv", "TENACURL_MODE", "off"],
        ["setenv", "TENACURL_POLICY", "/nonexistent"],
        ["setenv", "TENACURL_LOG", "stderr"],
        ["setenv", "HOME", "/nonexistent"],
    ],
    ids=" ".join,
)
def test_environment_changed_by_the_program(survives, plugins, words):
    argv = [plugins / "host-openssl", *words, "get", "self", "URL"]
    survives(argv, [got_right("self", "libcurl.so.4")], ["openssl"])
