# SPDX-License-Identifier: MIT
"""
The ways in which a program can reach libcurl that a preload can't see (tests/plugins). With the binder one 503 is survived, by
the very libcurl that made the handle; without it, and where the binder can't see it either, the program runs as it would bare.
"""

import functools

import pytest
from support.layouts import (  # noqa: F401
    BUSY,
    FAST,
    INTERLEAVED,
    PAIRS,
    RIGHT,
    SONAMES,
    binder,
    check_absence,
    check_survival,
    flavour,
    got_busy,
    got_right,
    installed,
    interleaved_lines,
    passes_by_preload,
    passes_through,
    plugins,
    survives,
    survives_bound,
)

HOW_BOUND = ["deepbind", "deepbind-lazy"]


def own_libraries(plugins, plugin, how):
    argv = [plugins / "host", "open", "p", plugins / f"{plugin}.so", how, "get", "p", "URL"]
    return [*argv, "init", "h", "p", "URL", "jump", "h", "end", "h", "close", "p"]


@pytest.mark.parametrize("how", HOW_BOUND)
def test_plugin_bound_to_its_own_libraries(passes_by_preload, plugins, flavour, how):
    passes_by_preload(own_libraries(plugins, f"fetch-{flavour}", how), 2)


@pytest.mark.parametrize("bind_now", [{}, {"LD_BIND_NOW": "1"}], ids=["", "bind_now"])
@pytest.mark.parametrize("how", HOW_BOUND)
def test_plugin_bound_to_its_own_libraries_and_to_us(survives_bound, plugins, flavour, how, bind_now):
    expected = [got_right(name, SONAMES[flavour]) for name in "ph"]
    survives_bound(own_libraries(plugins, f"fetch-{flavour}", how), expected, [flavour] * 2, env=bind_now)


@pytest.mark.parametrize("how", HOW_BOUND)
@pytest.mark.parametrize("first,second", PAIRS)
def test_program_of_one_flavour_and_plugin_bound_to_another(survives_bound, plugins, first, second, how):
    argv = [plugins / f"host-{installed(plugins, first)}"]
    argv += ["open", "b", plugins / f"fetch-{installed(plugins, second)}.so", how]
    words = ["self" if word == "a" else word for word in INTERLEAVED]
    survives_bound([*argv, *words], interleaved_lines(first, second), [first, second, first, second])


@pytest.mark.parametrize("how", HOW_BOUND)
def test_plugins_bound_to_two_flavours(survives_bound, plugins, how):
    first, second = "openssl", installed(plugins, "gnutls")
    argv = [plugins / "host"]
    for name, flavour in (("a", first), ("b", second)):
        argv += ["open", name, plugins / f"fetch-{flavour}.so", how]
    survives_bound([*argv, *INTERLEAVED], interleaved_lines(first, second), [first, second, first, second])


def test_bound_plugin_that_is_closed_and_loaded_again(survives_bound, plugins, flavour):
    again = ["open", "p", plugins / f"fetch-{flavour}.so", "deepbind-lazy", "get", "p", "URL", "close", "p"]
    survives_bound([plugins / "host", *again * 3], [got_right("p", SONAMES[flavour])] * 3, [flavour] * 3)


# Addresses that an object keeps in its data: of all functions (-fno-plt), or of one.
KEEPERS = ["fetch-no-plt", "fetch-address"]


@pytest.mark.parametrize("plugin", KEEPERS)
@pytest.mark.parametrize("how", ["local", "global"])
def test_plugin_that_keeps_addresses(survives, plugins, plugin, how):
    expected = [got_right(name, SONAMES["openssl"]) for name in "ph"]
    survives(own_libraries(plugins, plugin, how), expected, ["openssl"] * 2)


@pytest.mark.parametrize("plugin", KEEPERS)
@pytest.mark.parametrize("how", HOW_BOUND)
def test_plugin_that_keeps_addresses_of_its_own_libraries(passes_through, plugins, plugin, how):
    """We would see a part of what it does with a handle at most: its callbacks must be called as it set them."""
    passes_through(own_libraries(plugins, plugin, how), 2)


@pytest.mark.parametrize("plugin", KEEPERS)
def test_plugin_that_keeps_addresses_beside_one_that_does_not(origin, bare, tenacurl_run, plugins, plugin):
    """The same libcurl: what the one escapes has no part in what the other does."""
    server, argv = origin([BUSY, RIGHT, BUSY]), [plugins / "host"]
    argv += ["open", "a", plugins / "fetch-openssl.so", "deepbind", "open", "b", plugins / f"{plugin}.so", "deepbind"]
    result = tenacurl_run([*argv, "get", "a", server.url(), "get", "b", server.url()], FAST, binder=True)
    lines = [got_right("a", "libcurl.so.4"), got_busy("b", "libcurl.so.4"), "end", ""]
    assert result.stdout.decode().split("\n") == lines, result
    assert len(server.requests) == 3
    assert result.operation["attempts"] == 2


def test_plugin_in_a_namespace_of_its_own(passes_through, plugins, flavour):
    """Where the preloaded object isn't."""
    passes_through(own_libraries(plugins, f"fetch-{flavour}", "namespace"), 2)


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


def test_functions_found_by_ctypes(passes_by_preload):
    passes_by_preload(["/usr/bin/python3", "-c", CTYPES, "URL"], 1)


# Any of i(nit) s(etopt) p(erform) c(leanup) by dlsym, the others by linking.
WORDS = ["".join(letter for bit, letter in enumerate("ispc") if mask & 1 << bit) or "-" for mask in range(16)]
# They ask for the same URL each time: that isn't to count as the program's own retry here.
EACH_TWICE = {**FAST, "max_attempts": 2, "nested": "off"}


@pytest.mark.parametrize("word", WORDS)
def test_functions_found_in_part(origin, bare, tenacurl_run, build, binder, word):
    outputs = []
    tenacious = functools.partial(tenacurl_run, policy=EACH_TWICE, binder=binder)
    for run in (bare, tenacious):
        server = origin([{**BUSY, "repeat": True}])
        outputs.append(run([build / "tests/clients/mixed", server.url("/x"), word, word, word]))
        assert outputs[-1].returncode == 0, outputs[-1]
    assert (outputs[1].stdout, outputs[1].stderr) == (outputs[0].stdout, outputs[0].stderr)
    assert outputs[0].stdout.decode().split("\n") == [f"{word} result 0 status 503 body 4"] * 3 + [""]
    # Without the binder a handle is ours if everything but its end went through us.
    assert len(server.requests) == (6 if binder or word in ("-", "c") else 3)


def test_functions_found_in_part_after_one_another(origin, tenacurl_run, build, binder):
    """
    The second handle is likely to have the address of the first, whose end we may have missed: then it can be taken for the
    first one, and where its body goes is all that we may get wrong.
    """
    server = origin([{**BUSY, "repeat": True}])
    words = [word for first in WORDS for second in WORDS for word in (first, second)]
    argv = [build / "tests/clients/mixed", server.url("/x"), *words]
    result = tenacurl_run(argv, {**EACH_TWICE, "budget_tokens": 0}, binder=binder)
    assert result.returncode == 0 and result.stdout.count(b" result 0 status 503 ") == len(words), result
    if binder:
        assert result.stdout.count(b" result 0 status 503 body 4\n") == len(words), result
        assert len(server.requests) == 2 * len(words)


def test_version_that_nobody_knows(passes_by_preload, plugins):
    installed(plugins, "gnutls")
    passes_by_preload([plugins / "host-unknown", "get", "self", "URL"], 1)


@pytest.mark.parametrize("bind_now", [{}, {"LD_BIND_NOW": "1"}], ids=["", "bind_now"])
def test_version_that_only_the_binder_needs_not_know(survives_bound, plugins, bind_now):
    installed(plugins, "gnutls")
    argv = [plugins / "host-unknown", "get", "self", "URL"]
    survives_bound(argv, [got_right("self", SONAMES["gnutls"])], ["unknown"], env=bind_now)


def test_library_on_a_version_that_nobody_knows(survives_bound, plugins):
    installed(plugins, "gnutls")
    argv = [plugins / "host-through-unknown", "get", "self", "URL"]
    survives_bound(argv, [got_right("self", SONAMES["gnutls"])], ["unknown"])


def test_library_that_is_bound_before_we_are_ready(passes_through, plugins):
    """At start, when the preloaded object isn't relocated yet. What the program binds later has to go the same way."""
    installed(plugins, "gnutls")
    argv = [plugins / "host-through-unknown-now", "get", "self", "URL"]
    passes_through([*argv, "open", "p", plugins / "fetch-unknown.so", "deepbind-lazy", "get", "p", "URL"], 2)


@pytest.mark.parametrize("how", ["local", "global"])
def test_plugin_with_a_libcurl_inside(passes_through, plugins, how):
    """It calls its own functions, through the dynamic linker; whatever becomes of that, it must work."""
    installed(plugins, "gnutls")
    argv = [plugins / "host", "open", "p", plugins / "fetch-bundled.so", how, "get", "p", "URL"]
    passes_through([*argv, "init", "h", "p", "URL", "jump", "h", "end", "h", "close", "p"], 2)


def test_program_that_is_its_own_libcurl(tenacurl_run, bare, plugins, binder):
    argv = [plugins / "host-own", "get", "self", "http://127.0.0.1:1/"]
    result = tenacurl_run(argv, binder=binder)
    assert result.stdout == bare(argv).stdout
    assert result.stdout.startswith(b"self result 77 status 0") and b"\ncleaned up\nend\n" in result.stdout
    assert (result.returncode, result.stderr, result.records) == (0, b"", [])


def test_program_that_is_its_own_libcurl_for_its_plugins_too(tenacurl_run, bare, plugins, flavour, binder):
    argv = [plugins / "host-own", "open", "p", plugins / f"fetch-{flavour}.so", "local", "get", "p", "http://127.0.0.1:1/"]
    result = tenacurl_run(argv, binder=binder)
    assert result.stdout == bare(argv).stdout
    assert result.stdout.startswith(b"p result 77 status 0")
    assert (result.returncode, result.stderr, result.records) == (0, b"", [])


def test_probe_for_a_libcurl_that_is_not_there(tenacurl_run, bare, plugins, binder):
    assert bare([plugins / "weak_probe"]).stdout == b"no libcurl\n"
    result = tenacurl_run([plugins / "weak_probe"], binder=binder)
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
