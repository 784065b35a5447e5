# SPDX-License-Identifier: MIT
"""scripts/check tells beforehand what it will do, and on a terminal how far a long stage is (M-04)."""

import os
import pty
import re
import subprocess

import pytest

from support.waiting import wait_until

# The stage ends once the file $1 is there.
STAGES = """
set -u
. scripts/lib/terminal.sh
. scripts/lib/stages.sh
stage_long() {
    printf '[ RUN      ] test_a\\n[       OK ] test_a\\n'
    printf '..s.F [ 50%%]\\n...'
    until [ -e "$1" ]; do read -rt 0.05 <> <(:); done
    echo '7 passed, 1 failed, 1 skipped in 1.00s'
}
eval "stage_long_() { stage_long '$1'; }"
run_stages long_
"""


@pytest.fixture
def start(repository, tmp_path):
    def start(stdout):
        env = {**os.environ, "LOGS": str(tmp_path), "LIVE_AFTER_S": "0.1", "TERM": "xterm"}
        return subprocess.Popen(["bash", "-c", STAGES, "check", str(tmp_path / "go")], cwd=repository, env=env, stdout=stdout,
                                stdin=subprocess.DEVNULL)

    return start


def test_m04_a_long_stage_shows_how_far_it_is(start, tmp_path):
    ours, theirs = pty.openpty()
    check = start(theirs)
    os.close(theirs)
    shown = b""

    def has_progress():
        nonlocal shown
        shown += os.read(ours, 4096)
        return re.search(rb"\rlong_ +\S*\d+ s, 9 tests", shown)

    wait_until(has_progress, "line of progress")
    (tmp_path / "go").touch()
    check.wait(timeout=60)
    shown = os.read(ours, 4096)
    os.close(ours)
    assert b"\r\x1b[Klong_" in shown and b"ok" in shown


def test_m04_without_a_terminal_there_is_a_line_a_stage(start, tmp_path):
    (tmp_path / "go").touch()
    out = start(subprocess.PIPE).communicate(timeout=60)[0].decode()
    assert re.fullmatch(r"long_ +ok \d+ s\n\n7 passed, 1 failed\n", out), out


@pytest.mark.parametrize("installed", [True, False], ids=["installed", "bare"])
def test_m04_check_says_beforehand_what_it_does(repository, tmp_path, installed):
    """Nothing is run: the stages are cut off."""
    text = (repository / "scripts/check").read_text().replace("${BASH_SOURCE[0]}", str(repository / "scripts/check"))
    assert text.rstrip().endswith('run_stages "$@"')
    query = "#!/bin/sh\nprintf installed\n" if installed else "#!/bin/sh\nexit 1\n"
    (tmp_path / "dpkg-query").write_text(query)
    (tmp_path / "dpkg-query").chmod(0o755)
    env = {"PATH": f"{tmp_path}:{os.environ['PATH']}", "CHECK_BUILD": str(tmp_path / "build")}
    done = subprocess.run(["bash", "-c", text.rstrip().removesuffix('run_stages "$@"')], env=env, capture_output=True, text=True,
                          timeout=60)
    assert (done.returncode, done.stderr) == (0, "")
    assert re.search(r"\b\d+ stages, 20 to 30 minutes on 2 cores\b", done.stdout)
    assert (" libcmocka-dev " in done.stdout) == (not installed)
