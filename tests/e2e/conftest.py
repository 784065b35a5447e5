# SPDX-License-Identifier: MIT
"""
Fixtures of the end-to-end tests. BUILD names the build directory (default: build/ of the repository).

Everything runs on 127.0.0.1 and in temporary directories: neither the user's HOME nor a policy of theirs is looked at.
"""

import os
import pathlib
import shutil
import signal
import tempfile

import pytest

from support.nested import Caller
from support.origin import Origin
from support.real_servers import Certificate, RealServer, is_installed
from support.runner import Runner
from support.state import State

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent

# Servers and administrators' tools are on root's path only.
os.environ["PATH"] = f"{os.environ.get('PATH', '/usr/bin:/bin')}:/usr/local/sbin:/usr/sbin:/sbin"

# A suite that a shell started in the background has these ignored, and so would the programs under test. What has a
# handler here is at its default in them.
signal.signal(signal.SIGINT, signal.default_int_handler)
signal.signal(signal.SIGQUIT, lambda number, frame: os._exit(128 + number))
if signal.getsignal(signal.SIGHUP) is signal.SIG_IGN:  # nohup: the suite itself goes on
    signal.signal(signal.SIGHUP, lambda number, frame: None)


def _is_reachable_by_others(directory):
    """Whether other users could start what was built there."""
    return all(path.stat().st_mode & 0o001 for path in [directory / "tenacurl", directory, *directory.parents])


def _copy_for_others(directory, copy):
    ignored = shutil.ignore_patterns("*.o", "*.d", "logs", "corpus")
    shutil.copytree(directory, copy, symlinks=True, ignore=ignored, dirs_exist_ok=True)
    for path in [copy, *copy.rglob("*")]:
        if not path.is_symlink():
            mode = path.stat().st_mode
            path.chmod(mode | 0o444 | (0o111 if mode & 0o100 else 0))


@pytest.fixture(scope="session")
def build():
    """The build directory; a copy of it where tests that give up root's rights couldn't reach it (a home of 0700, a umask of 077)."""
    directory = pathlib.Path(os.environ.get("BUILD") or REPOSITORY / "build").resolve()
    assert (directory / "tenacurl").exists(), f"{directory}/tenacurl is missing: run make tests first"
    if os.geteuid() != 0 or _is_reachable_by_others(directory):
        yield directory
        return
    with tempfile.TemporaryDirectory(prefix="tenacurl-build-") as copy:
        _copy_for_others(directory, pathlib.Path(copy))
        yield pathlib.Path(copy)


@pytest.fixture(scope="session")
def repository():
    return REPOSITORY


HAS_FAILED = pytest.StashKey()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item):
    outcome = yield
    if outcome.get_result().failed:
        item.stash[HAS_FAILED] = True


@pytest.fixture
def tmp_path(request, tmp_path):
    """pytest's own, but gone after a test that passed: thousands of tests, each with a state of 2 MB, fill a disk."""
    yield tmp_path
    if not request.node.stash.get(HAS_FAILED, False):
        shutil.rmtree(tmp_path, ignore_errors=True)


@pytest.fixture
def origin(tmp_path):
    """Starts fault servers: origin(script, refuse_ms=…, blackhole=…, blackhole_ms=…) -> Origin. Ended with the test."""
    build_directory = pathlib.Path(os.environ.get("BUILD") or REPOSITORY / "build").resolve()
    binary = build_directory / "tests" / "origin" / "origin"
    started = []

    def start(script, **options):
        started.append(Origin(binary, script, tmp_path / f"origin{len(started)}", **options))
        return started[-1]

    yield start
    for server in started:
        server.stop()


@pytest.fixture
def runner(build, tmp_path):
    """Runs programs: see support/runner.py."""
    return Runner(build / "tenacurl", tmp_path / "programs")


@pytest.fixture
def tenacurl_run(runner):
    """tenacurl_run(argv, policy=None, options=(), env=None, binder=None) -> Result of argv under `tenacurl run`."""
    return runner.run


@pytest.fixture
def bare(runner):
    """bare(argv, env=None) -> Result of argv without tenacurl, in the same environment."""
    return runner.bare


@pytest.fixture
def state(build, runner, tmp_path):
    """A shared state of the test's own: see support/state.py. It isn't there until somebody writes to it."""
    return State(build, runner, tmp_path / "state")


@pytest.fixture
def caller(build, runner, tmp_path):
    """Programs that retry by themselves, under one state: see support/nested.py."""
    return Caller(runner, build / "tests" / "clients" / "nested", tmp_path / "state")


@pytest.fixture(scope="session")
def certificate(tmp_path_factory):
    """A certificate for localhost, for all real servers of the session."""
    return Certificate(tmp_path_factory.mktemp("certificate"))


@pytest.fixture
def real_server(tmp_path, certificate):
    """real_server("nginx" | "haproxy" | "nghttpx", origin_port) -> RealServer. Ended with the test."""
    started = []

    def start(name, origin_port):
        if not is_installed(name):
            pytest.skip(f"{name} is not installed")
        directory = tmp_path / f"{name}{len(started)}"
        started.append(RealServer(name, directory, origin_port, certificate))
        return started[-1]

    yield start
    for server in started:
        server.stop()


def _passed(terminalreporter, name):
    return [report for report in terminalreporter.stats.get("passed", []) if name in report.nodeid]


def pytest_terminal_summary(terminalreporter):
    """What the big tables came to: the last lines of scripts/check repeat these."""
    cases = _passed(terminalreporter, "::test_rc_")
    ids = {report.nodeid.split("::test_rc_")[1][:2] for report in cases}
    counts = {
        "differential combinations without a difference": len(_passed(terminalreporter, "::test_nobody_notices")),
        "broken gates that were noticed": len(_passed(terminalreporter, "::test_broken_gate_is_noticed")),
        "field cases": f"{len(ids)}, in {len(cases)} tests",
    }
    if cases:
        for what, count in counts.items():
            terminalreporter.write_line(f"# {what}: {count}")
