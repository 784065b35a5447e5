# SPDX-License-Identifier: MIT
"""
What the tests of layouts share: the programs and plugins of tests/plugins, and what is to be seen of a transfer that meets
one 503. A preload sees what the dynamic linker binds by name, the binder besides that what is bound past us.
"""

import functools
import os

import pytest

BUSY = {"status": 503, "body": "busy"}
RIGHT = {"body": "right"}
FAST = {"jitter": "none", "backoff_base_ms": 1}

SONAMES = {"openssl": "libcurl.so.4", "gnutls": "libcurl-gnutls.so.4", "nss": "libcurl-nss.so.4"}
# A libcurl.so.4 without versions serves whoever asks for one; then how the bare program runs is all that is expected.
ANOTHER_LIBCURL = "TEST_LIBRARY_PATH" in os.environ
NODES = {"openssl": "OPENSSL_4", "gnutls": "GNUTLS_3", "nss": "NSS_3", "unknown": "FAKE_9"}


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


@pytest.fixture(params=[False, True], ids=["preload", "binder"])
def binder(request):
    """Whether the program has the binder."""
    return request.param


@pytest.fixture
def check_survival(origin, bare, tenacurl_run):
    """
    check_survival(argv, expected lines, flavours of the operations, binder): each transfer meets one 503, bare as well as
    under tenacurl. "URL" in argv stands for the server.
    """

    def check(argv, expected, flavours, binder, env=None):
        def words(server):
            return [server.url("/x") if word == "URL" else word for word in argv]

        clean, faulty, server = origin([RIGHT] * len(expected)), origin([BUSY]), origin([BUSY, RIGHT] * len(expected))
        without = bare(words(clean), env=env)
        if ANOTHER_LIBCURL and without.stdout.count(b" result 0 status 200 ") != len(expected):
            pytest.skip("libcurls of this kind get into each other's way without tenacurl")
        if not ANOTHER_LIBCURL:
            assert without.stdout.decode().split("\n") == [*expected, "end", ""], without
        assert "status 503" in bare(words(faulty), env=env).stdout.decode().split("\n")[0]

        result = tenacurl_run(words(server), FAST, env=env, binder=binder)
        assert result.returncode == 0, result
        assert (result.stdout, result.stderr) == (without.stdout, without.stderr), result
        assert len(server.requests) == 2 * len(expected)
        assert [record["attempts"] for record in result.operations] == [2] * len(expected)
        seen = [record["libcurl_flavour"] for record in result.operations]
        assert len(seen) == len(flavours) and all(map(is_node, seen, flavours)), seen
        return result

    return check


@pytest.fixture
def survives(check_survival, binder):
    """check_survival() with the binder and without."""
    return functools.partial(check_survival, binder=binder)


@pytest.fixture
def survives_bound(check_survival):
    """check_survival() with the binder."""
    return functools.partial(check_survival, binder=True)


@pytest.fixture
def check_absence(origin, bare, tenacurl_run):
    """check_absence(argv, number of transfers, binder): every transfer is one request, and the program sees each 503."""

    def check(argv, count, binder, env=None):
        outputs = []
        for run in (bare, functools.partial(tenacurl_run, binder=binder)):
            server = origin([{**BUSY, "repeat": True}])
            result = run([server.url("/x") if word == "URL" else word for word in argv], env=env)
            assert result.returncode == 0, result
            assert len(server.requests) == count, result
            assert not result.records
            outputs.append((result.stdout, result.stderr))
        assert outputs[1] == outputs[0]
        assert outputs[0][0].count(b" status 503 ") == count

    return check


@pytest.fixture
def passes_through(check_absence, binder):
    """check_absence() with the binder and without."""
    return functools.partial(check_absence, binder=binder)


@pytest.fixture
def passes_by_preload(check_absence):
    """check_absence() without the binder."""
    return functools.partial(check_absence, binder=False)


PAIRS = [("openssl", "gnutls"), ("gnutls", "openssl"), ("gnutls", "nss")]
INTERLEAVED = ["init", "h1", "a", "URL", "init", "h2", "b", "URL", "perform", "h1", "jump", "h2", "jump", "h1"]
INTERLEAVED += ["perform", "h2", "end", "h1", "end", "h2"]


def interleaved_lines(first, second):
    served = {"h1": SONAMES[first], "h2": SONAMES[second]}
    return [got_right(handle, served[handle]) for handle in ("h1", "h2", "h1", "h2")]
