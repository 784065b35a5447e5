# SPDX-License-Identifier: MIT
"""`tenacurl run` as its own tests start it: fixtures to be imported, and what one can ask of an answer."""

import json
import os
import pty
import subprocess
import sys
from pathlib import Path

import pytest

BUILD = Path(os.environ.get("BUILD", Path(__file__).resolve().parents[3] / "build")).resolve()
TENACURL = BUILD / "tenacurl"
OBJECT = BUILD / "libtenacurl.so"

# As the variables name them: by architecture, where a placeholder for the other one could be built.
NAMES = BUILD / "multiarch" / "$LIB" if (BUILD / "multiarch").is_dir() else BUILD
PRELOAD = str(NAMES / "libtenacurl.so")
AUDIT = str(NAMES / "libtenacurl-bind.so")
TUNABLES = "glibc.rtld.optional_static_tls=2304"

PRINT_ENVIRONMENT = [sys.executable, "-c", "import json, os; print(json.dumps(dict(os.environ)))"]
CLEARED = ("LD_PRELOAD", "LD_AUDIT", "GLIBC_TUNABLES", "ASAN_OPTIONS")


@pytest.fixture
def environment(tmp_path):
    """No HOME or tenacurl setting of whoever runs the tests."""
    home = tmp_path / "home"
    home.mkdir()
    kept = {name: value for name, value in os.environ.items()
            if not name.startswith("TENACURL_") and name not in CLEARED}
    return {**kept, "HOME": str(home), "LC_ALL": "C"}


@pytest.fixture
def run(environment, tmp_path):
    """run(*arguments of tenacurl run) -> CompletedProcess."""
    def start(*arguments, env=(), tenacurl=TENACURL, cwd=tmp_path, before=()):
        return subprocess.run([*map(str, before), str(tenacurl), "run", *map(str, arguments)],
                              env={**environment, **dict(env)}, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True,
                              text=True, errors="replace", timeout=60)
    return start


@pytest.fixture
def seen(run):
    """The environment that the program sees."""
    def start(*options, **keywords):
        done = run(*options, "--", *PRINT_ENVIRONMENT, **keywords)
        assert done.returncode == 0, done.stderr
        assert done.stderr == ""
        return json.loads(done.stdout)
    return start


def refused(done, *words):
    """Status 125 and one clear line; nothing was started."""
    assert done.returncode == 125, done
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("tenacurl run: ")
    for word in words:
        assert word in lines[0]


def read_terminal(command, env):
    """Runs a command on a terminal of its own; returns its status and all that it printed."""
    pid, terminal = pty.fork()
    if pid == 0:
        os.execve(command[0], command, env)
    printed = b""
    while True:
        try:
            got = os.read(terminal, 4096)
        except OSError:
            break
        if not got:
            break
        printed += got
    os.close(terminal)
    return os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]), printed.decode()


def foreign_elf(path):
    """A program of another ELF class and machine, made from this interpreter's first bytes. No kernel can start it."""
    header = bytearray(Path(sys.executable).resolve().read_bytes()[:4096])
    header[4] = 1 if header[4] == 2 else 2
    header[18] ^= 0x55
    # No program headers and sections: they would be of the old class.
    header[28:] = bytes(len(header) - 28)
    path.write_bytes(header)
    path.chmod(0o755)
    return path
