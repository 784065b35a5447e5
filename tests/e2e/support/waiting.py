# SPDX-License-Identifier: MIT
"""Waiting for something that another process does."""

import time

# Generous: it only matters when something is broken.
PATIENCE_S = 30


def wait_until(condition, what, patience_s=PATIENCE_S):
    """Returns the first true value of condition(), or fails naming what never came."""
    end = time.monotonic() + patience_s
    while True:
        value = condition()
        if value:
            return value
        if time.monotonic() > end:
            raise AssertionError(f"after {patience_s} s still no {what}")
        time.sleep(0.005)
