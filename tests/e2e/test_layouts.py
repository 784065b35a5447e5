# SPDX-License-Identifier: MIT
"""
The ways in which a program can reach libcurl (tests/plugins), all bound by name: a preload sees them. One 503 is survived, by the
very libcurl that made the handle. With the binder and without it.
"""

import pathlib

import pytest
from support.layouts import (  # noqa: F401
    BUSY,
    FAST,
    INTERLEAVED,
    PAIRS,
    RIGHT,
    SONAMES,
    binder,
    check_survival,
    flavour,
    got_busy,
    got_right,
    installed,
    interleaved_lines,
    plugins,
    survives,
)


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


@pytest.mark.parametrize("how,second", [("local", "forward-b"), ("global", "forward-a")])
def test_libcurl_without_versions_beside_another(origin, tenacurl_run, plugins, how, second):
    """What was opened RTLD_GLOBAL serves later plugins too. Only the dynamic linker knows what was, and whom it bound where."""
    installed(plugins, "gnutls")
    server = origin([BUSY, RIGHT] * 2)
    argv = [plugins / "host", "open", "a", plugins / "fetch-forward-a.so", how, "open", "b", plugins / "fetch-forward-b.so", how]
    result = tenacurl_run([*argv, "get", "b", server.url(), "get", "a", server.url()], FAST)
    assert result.returncode == 0 and result.stdout.count(b"status 200") == 2, result
    assert [record["libcurl_version"] for record in result.operations] == [second, "forward-a"]


def test_plugin_without_versions_in_a_program_on_libcurl(survives, plugins):
    """What the program is linked to comes first for its plugins too, so the plugin's own libcurl never serves."""
    installed(plugins, "gnutls")
    argv = [plugins / "host-openssl", "open", "p", plugins / "fetch-forward-a.so", "local"]
    argv += ["init", "h", "p", "URL", "jump", "h", "perform", "h", "end", "h", "get", "p", "URL"]
    expected = [got_right(name, "libcurl.so.4") for name in ("h", "h", "p")]
    result = survives(argv, expected, ["openssl"] * 3)
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
def test_transfer_outside_main(origin, tenacurl_run, bare, plugins, host, moment, binder):
    server = origin([BUSY, RIGHT])
    result = tenacurl_run([plugins / host], FAST, env={moment: server.url()}, binder=binder)
    assert got_right(moment, "libcurl.so.4") in result.stdout.decode().split("\n"), result
    assert (result.returncode, result.stderr) == (0, bare([plugins / host]).stderr)
    assert len(server.requests) == 2
    assert result.operation["attempts"] == 2


@pytest.mark.parametrize("moment", MOMENTS)
@pytest.mark.parametrize("how,binder", [("local", False), ("local", True), ("deepbind", True), ("deepbind-lazy", True)])
def test_transfer_while_a_plugin_comes_or_goes(origin, tenacurl_run, bare, plugins, how, binder, moment):
    """Twice; whatever it takes to find the plugin's libcurl, its constructor runs once a time."""
    server = origin([BUSY, RIGHT] * 2)
    words = ["open", "p", plugins / "early.so", how, "close", "p"]
    result = tenacurl_run([plugins / "host", *words, *words], FAST, env={moment: server.url()}, binder=binder)
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
