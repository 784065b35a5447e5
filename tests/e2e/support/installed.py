# SPDX-License-Identifier: MIT
"""What `make install` puts on a host."""

import subprocess


def make_install(repository, build, root):
    """Installs what is built, as it is, below `root`."""
    command = ["make", "-s", "-C", repository, "-o", "all", "install", f"BUILD={build}", f"DESTDIR={root}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done
