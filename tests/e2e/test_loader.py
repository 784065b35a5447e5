# SPDX-License-Identifier: MIT
"""
Transfers while another thread holds the dynamic linker's lock and waits for them (tests/plugins/hooked_host.c). What took that
lock, at a process's first transfer or later, would hang. LOADER_RUNS says how often each is tried (default 10; 1000 for a
thorough look), once in a process and as often in another one.
"""

import os

import pytest
from support.layouts import BUSY, FAST, RIGHT, binder, got_right, plugins  # noqa: F401

RUNS = int(os.environ.get("LOADER_RUNS", "10"))
LIMIT_S = 60 + RUNS
# The host, and what transfers are made in: by a libcurl that comes with the plugin, or by the program's own.
WAYS = [("hooked-host", way) for way in ("constructor", "destructor", "beside", "listing", "fork")]
WAYS += [("hooked-host-openssl", way) for way in ("constructor", "destructor", "beside", "callback", "listing", "fork")]
NAMES = {"fork": "child"}


def script_of(way, runs, busy):
    return [*([RIGHT] if way == "callback" else []), *([BUSY] if busy else []), RIGHT] * runs


def lines_of(way, runs):
    each = [got_right(NAMES.get(way, way), "libcurl.so.4")]
    if way == "callback":
        each = [got_right("constructor", "libcurl.so.4"), "callback result 0 status 200"]
    return sorted([*(each * runs), "end", ""])


@pytest.mark.parametrize("host,way", WAYS)
def test_a05_transfer_that_the_loader_waits_for(origin, bare, tenacurl_run, plugins, host, way, binder):
    for run, runs, busy in ((bare, 1, False), (tenacurl_run, 1, True), (tenacurl_run, RUNS, True)):
        server = origin(script_of(way, runs, busy))
        argv = [plugins / host, way, plugins / "hooked.so", server.url("/x"), runs]
        options = {} if run is bare else {"policy": {**FAST, "budget_tokens": 0}, "binder": binder}
        result = run(argv, timeout=LIMIT_S, **options)
        assert (result.returncode, result.stderr) == (0, b""), result
        assert sorted(result.stdout.decode().split("\n")) == lines_of(way, runs)
        assert len(server.requests) == len(script_of(way, runs, busy))
