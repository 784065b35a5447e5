# SPDX-License-Identifier: MIT
"""System call filters as systemd makes them of SystemCallFilter=, from the lists that it prints itself."""

import ctypes
import functools
import shutil
import struct
import subprocess

import pytest

KILL, EPERM, ENOSYS = "kill", "EPERM", "ENOSYS"

# What a filter says of a call (linux/seccomp.h), and its instructions (linux/bpf_common.h).
_ALLOW = 0x7FFF0000
_REFUSALS = {KILL: 0x80000000, EPERM: 0x00050000 | 1, ENOSYS: 0x00050000 | 38}
_LOAD_NUMBER = struct.pack("=HBBI", 0x20, 0, 0, 0)


def _skip_unless_equal(number):
    return struct.pack("=HBBI", 0x15, 0, 1, number)


def _answer(value):
    return struct.pack("=HBBI", 0x06, 0, 0, value)


def is_filtered():
    """Whether the tests themselves run under a filter, as in most containers."""
    with open("/proc/self/status") as status:
        return "\nSeccomp:\t0\n" not in status.read()


@functools.cache
def groups():
    """{"@file-system": ["access", …], …}; groups may name other groups."""
    if not shutil.which("systemd-analyze"):
        pytest.skip("systemd-analyze isn't there to tell its lists of system calls")
    printed = subprocess.run(["systemd-analyze", "syscall-filter", "--no-pager"], capture_output=True, text=True, check=True)
    found, name = {}, None
    for line in printed.stdout.splitlines():
        if line.startswith("@"):
            name = line.strip()
            found[name] = []
        elif name and line.strip() and not line.strip().startswith("#"):
            found[name].append(line.strip())
    return found


def members(name):
    """The system calls of a group, or the one of that name."""
    if not name.startswith("@"):
        return {name}
    return set().union(*(members(member) for member in groups()[name]))


@functools.cache
def _numbers():
    try:
        library = ctypes.CDLL("libseccomp.so.2")
    except OSError:
        pytest.skip("libseccomp isn't there to tell the numbers of system calls")
    numbers = {name: library.seccomp_syscall_resolve_name(name.encode()) for name in members("@known")}
    return {name: number for name, number in numbers.items() if number >= 0}


def number_of(name):
    return _numbers()[name]


def allowed(setting):
    """The names of the system calls that SystemCallFilter=`setting` allows; several settings are separated by `;`."""
    calls, is_first = set(), True
    for line in setting.split(";"):
        words, is_denial = line.strip().lstrip("~").split(), line.strip().startswith("~")
        if is_first:
            calls = members("@known") if is_denial else members("@default")
            is_first = False
        named = set().union(*(members(word) for word in words))
        calls = calls - named if is_denial else calls | named
    return calls


def write_filter(path, calls, refusal):
    """For tests/clients/confined: `calls` are allowed, all others meet the refusal."""
    numbers = _numbers()
    instructions = [_LOAD_NUMBER]
    for number in sorted(numbers[name] for name in calls if name in numbers):
        instructions += [_skip_unless_equal(number), _answer(_ALLOW)]
    path.write_bytes(b"".join([*instructions, _answer(_REFUSALS[refusal])]))
    return path
