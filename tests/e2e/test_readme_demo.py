# SPDX-License-Identifier: MIT
"""What README.md shows of scripts/demo is what it prints."""

import os
import re
import subprocess

import pytest

from support.documents import block_that_begins
from support.installed import PATH

PACKAGES = ["curl", "python3-pycurl", "cmake"]


def masked(text):
    """Without what is another each time: times, process and port numbers, random waits."""
    text = re.sub(r"^Building\.\n", "", text, flags=re.MULTILINE)
    text = re.sub(r"^\d{4}-\d\d-\d\d\S* ?\d\d:\S+", "TIME", text, flags=re.MULTILINE)
    text = re.sub(r"\[\d+\]|:\d{4,5}/", "[N]", text)
    text = re.sub(r"\d+\.\d+ s\b", "N s", text)
    text = re.sub(r" +\d+\.\d\b", " N", text)  # the columns of seconds
    return re.sub(r"\b\d+ ms", "N ms", text).strip()


def test_m01_the_demo_in_the_readme_is_true(repository, build, tmp_path):
    missing = [name for name in PACKAGES if subprocess.run(["dpkg", "-s", name], capture_output=True).returncode != 0]
    if missing:
        pytest.skip(f"not installed: {missing}")
    # It is built already, and by other flags than the demo would.
    (tmp_path / "make").symlink_to("/bin/true")
    env = {"PATH": f"{tmp_path}:{PATH}", "HOME": str(tmp_path), "BUILD": str(build), "LANG": "C.UTF-8"}
    done = subprocess.run([repository / "scripts/demo"], env=env, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          timeout=150, cwd=os.fspath(tmp_path))
    shown = block_that_begins(repository / "README.md", "$ scripts/demo").split("\n", 1)[1]
    assert (done.returncode, masked(done.stdout)) == (0, masked(shown)), done
