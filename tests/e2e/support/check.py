# SPDX-License-Identifier: MIT
"""`tenacurl check` that looks at programs which run: reports, and programs built for one test."""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import subprocess
import tempfile

import pytest

from .waiting import wait_until

STATUS = {"covered": 0, "partly": 1, "not": 2, "unknown": 3}


@dataclasses.dataclass
class Report:
    """What check printed with --json, beside what the program itself printed."""

    fields: dict
    program_output: bytes
    program_errors: bytes

    def __getattr__(self, name):
        return self.fields[name]

    @property
    def use(self):
        """The only use."""
        assert len(self.uses) == 1, self
        return self.uses[0]

    def use_of(self, name):
        """The only use by a file of this name."""
        found = [use for use in self.uses if pathlib.Path(use["object"]).name == name]
        assert len(found) == 1, self
        return found[0]


def read_report(done, output=b"", errors=b""):
    """The report of a run of check; its exit status is held against it."""
    fields = json.loads(done.stdout.splitlines()[-1])
    assert done.returncode == STATUS[fields["verdict"]], done
    return Report(fields, output, errors)


def compile_c(path, source, *flags):
    """Builds a program or library; skips the test where the compiler can't."""
    file = path.with_name(path.name + ".c")
    file.write_text(source)
    compiler = os.environ.get("CC", "cc")
    done = subprocess.run([compiler, "-o", path, file, *flags], capture_output=True, text=True)
    if done.returncode != 0:
        pytest.skip(f"{compiler} {' '.join(map(str, flags))}: {done.stderr}")
    return path


@contextlib.contextmanager
def shared_directory():
    """A directory below /tmp that other users can enter."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tenacurl-test-", dir="/tmp"))
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


@contextlib.contextmanager
def running(runner, argv, **keywords):
    """A program in the background, with a pipe as its standard input; ended afterwards."""
    program = runner.start_bare(argv, stdin=subprocess.PIPE, **keywords)
    try:
        yield program.process
    finally:
        program.process.kill()
        program.process.communicate()


def wait_for_line(process, line):
    """Waits until the program has printed the line."""
    read = process.stdout.readline()
    assert read == line + b"\n", read


def wait_for_request(server, count=1):
    wait_until(lambda: len(server.requests) >= count, f"request {count}")
