# SPDX-License-Identifier: MIT
"""Programs whose standard error is a terminal."""

import os
import pty
import subprocess
import tty


def on_terminal(argv, env, cwd=None, timeout=60):
    """Runs argv with a terminal as fd 2 alone. Returns its exit status and what it wrote there."""
    master, slave = pty.openpty()
    tty.setraw(slave)  # no "\r" before a newline
    process = subprocess.Popen([str(word) for word in argv], env=env, cwd=cwd, stdin=subprocess.DEVNULL,
                               stdout=subprocess.DEVNULL, stderr=slave)
    os.close(slave)
    written = b""
    try:
        while chunk := os.read(master, 4096):
            written += chunk
    except OSError:  # EIO: nobody has the other end any more
        pass
    os.close(master)
    return process.wait(timeout), written.decode()
