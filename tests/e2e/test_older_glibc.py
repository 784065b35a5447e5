# SPDX-License-Identifier: MIT
"""
Programs that bring an older C library and its loader along: vendors' bundles, other roots. Here those of an older release, which
scripts/check unpacks to build/older-release (OLDER_RELEASE names another directory).
"""

import os
import subprocess

import pytest
from support.layouts import BUSY, FAST, RIGHT

MULTIARCH = "x86_64-linux-gnu"


@pytest.fixture(scope="module")
def root(repository):
    root = repository / "build" / "older-release"
    if "OLDER_RELEASE" in os.environ:
        root = type(root)(os.environ["OLDER_RELEASE"])
    if not (root / "lib" / MULTIARCH).exists():
        pytest.skip("no older release is unpacked (`scripts/check packages` does it)")
    return root


@pytest.fixture(scope="module")
def old(root):
    """old(program, *words): the command that starts it with the older loader."""
    [loader] = (root / "lib" / MULTIARCH).glob("ld-2.*.so")
    libraries = f"{root}/lib/{MULTIARCH}:{root}/usr/lib/{MULTIARCH}"
    return lambda program, *words: [str(word) for word in (loader, "--library-path", libraries, program, *words)]


@pytest.fixture(scope="module")
def compiled(root, repository, tmp_path_factory):
    """compiled(name, sources, *flags): a program of tests/plugins, made for that release."""
    directory = tmp_path_factory.mktemp("older")
    where = [f"--sysroot={root}", f"-B{root}/usr/lib/{MULTIARCH}", f"-L{root}/usr/lib/{MULTIARCH}"]
    where += [f"-L{root}/lib/{MULTIARCH}", f"-isystem{root}/usr/include/{MULTIARCH}", f"-I{repository}", "-D_GNU_SOURCE"]

    def compile_program(name, sources, *flags):
        path = directory / name
        paths = [repository / "tests/plugins" / source for source in sources.split()]
        argv = [os.environ.get("CC", "cc"), *where, "-o", path, *paths, *flags]
        subprocess.run(argv, check=True, capture_output=True)
        return path

    return compile_program


@pytest.fixture
def preload(build):
    return {"LD_PRELOAD": str(build / "libtenacurl.so")}


@pytest.fixture
def policy(tmp_path):
    path = tmp_path / "policy.ini"
    path.write_text("[policy]\n" + "".join(f"{key} = {value}\n" for key, value in FAST.items()))
    path.chmod(0o600)
    return {"TENACURL_POLICY": str(path)}


def test_h03_dash_starts(bare, old, root, preload, build):
    for env in (preload, {**preload, "LD_AUDIT": str(build / "libtenacurl-bind.so")}):
        result = bare(old(root / "bin/dash", "-c", "echo started"), env=env)
        assert (result.returncode, result.stdout, result.stderr) == (0, b"started\n", b"")


def test_h03_dash_starts_below_run(tenacurl_run, old, root):
    result = tenacurl_run(["/bin/sh", "-c", '"$@"', "sh", *old(root / "bin/dash", "-c", "echo started")], options=["--require"])
    assert (result.returncode, result.stdout, result.stderr) == (0, b"started\n", b"")


def test_h03_curl_is_retried(origin, bare, old, root, preload, policy):
    server = origin([BUSY, RIGHT])
    argv = old(root / "usr/bin/curl", "-sS", "-w", " %{http_code}", server.url("/x"))
    result = bare(argv, env={**preload, **policy})
    assert (result.returncode, result.stdout, result.stderr) == (0, b"right 200", b"")
    assert len(server.requests) == 2


def test_h03_curl_is_retried_below_run(origin, tenacurl_run, old, root):
    server = origin([BUSY, RIGHT])
    argv = old(root / "usr/bin/curl", "-sS", server.url("/x"))
    result = tenacurl_run(["/bin/sh", "-c", '"$@"', "sh", *argv], FAST)
    assert (result.returncode, result.stdout, result.stderr) == (0, b"right", b"")
    assert result.operation["attempts"] == 2


@pytest.mark.parametrize("threads", [[], ["-Wl,--no-as-needed", "-l:libpthread.so.0"]], ids=["late", "there"])
def test_h03_libcurl_of_a_plugin(origin, bare, old, compiled, preload, policy, threads):
    """The C library's functions for threads are elsewhere there: they come with the plugin's libcurl, or with the program."""
    host = compiled("host", "host.c", "-l:libdl.so.2", *threads)
    plugin = compiled("fetch.so", "fetch.c", "-shared", "-fPIC", "-lcurl")
    server = origin([BUSY, RIGHT] * 3)
    again = ["open", "p", plugin, "local", "get", "p", server.url("/x"), "close", "p"]
    result = bare(old(host, *again, *again, *again), env={**preload, **policy})
    line = b"p result 0 status 200 served by libcurl.so.4 body right\n"
    assert (result.returncode, result.stdout, result.stderr) == (0, 3 * line + b"end\n", b"")
    assert len(server.requests) == 6


@pytest.mark.parametrize("way", ["constructor", "destructor", "beside", "fork"])
def test_a05_transfer_that_the_older_loader_waits_for(origin, bare, old, compiled, preload, policy, way):
    """As in test_loader.py; there the list of objects is asked each time."""
    host = compiled("hooked-host", "hooked_host.c", "-rdynamic", "-l:libdl.so.2", "-l:libpthread.so.0")
    plugin = compiled("hooked.so", "hooked.c fetch.c", "-shared", "-fPIC", "-lcurl")
    server = origin([BUSY, RIGHT] * 10)
    result = bare(old(host, way, plugin, server.url("/x"), "10"), env={**preload, **policy})
    assert (result.returncode, result.stderr) == (0, b""), result
    assert result.stdout.count(b" result 0 status 200 served by libcurl.so.4 body right\n") == 10
    assert len(server.requests) == 20
