# SPDX-License-Identifier: MIT
"""
slow_home.py DIRECTORY STOP PROGRAM [ARGUMENT...]

Runs a program, as a user that isn't root, whose HOME is a file system in user space (FUSE): an empty one that answers
until the file STOP is there, and never again afterwards. Exit status 77: that can't be had here.
"""

import ctypes
import os
import signal
import struct
import sys

CLONE_NEWNS, CLONE_NEWUSER = 0x20000, 0x10000000
FORGET, GETATTR, INIT, BATCH_FORGET = 2, 3, 26, 42
LOOKUP, INTERRUPT, DESTROY = 1, 36, 38
ENOENT, ENOSYS = 2, 38
UNAVAILABLE = 77
PR_SET_PDEATHSIG = 1


def become_user(libc):
    """In namespaces of its own: there it may mount, and isn't root."""
    user, group = os.geteuid(), os.getegid()
    if libc.unshare(CLONE_NEWUSER | CLONE_NEWNS) != 0:
        sys.exit(UNAVAILABLE)
    for name, text in ("setgroups", "deny"), ("uid_map", f"1000 {user} 1"), ("gid_map", f"1000 {group} 1"):
        with open(f"/proc/self/{name}", "w") as file:
            file.write(text)


def mount(libc, directory):
    try:
        device = os.open("/dev/fuse", os.O_RDWR)
    except OSError:
        sys.exit(UNAVAILABLE)
    options = f"fd={device},rootmode=40000,user_id={os.geteuid()},group_id={os.getegid()}".encode()
    if libc.mount(b"slow_home", directory.encode(), b"fuse", 0, options) != 0:
        sys.exit(UNAVAILABLE)
    return device


def answer_to(opcode):
    """(negative errno, payload) as linux/fuse.h has them, version 7.23."""
    if opcode == INIT:
        return 0, struct.pack("<IIIIHHIIHHI28x", 7, 23, 0, 0, 0, 0, 4096, 1, 0, 0, 0)
    if opcode == GETATTR:
        attributes = struct.pack("<QQQQQQIIIIIIIIII", 1, 0, 0, 0, 0, 0, 0, 0, 0, 0o40755, 2, 1000, 1000, 0, 512, 0)
        return 0, struct.pack("<QII", 0, 0, 0) + attributes
    return (-ENOENT if opcode == LOOKUP else -ENOSYS), b""


def serve(device, stop):
    while True:
        try:
            request = os.read(device, 1 << 17)
        except OSError:
            return
        opcode, unique = struct.unpack_from("<IQ", request, 4)
        if os.path.exists(stop):
            signal.pause()
        if opcode not in (FORGET, BATCH_FORGET, INTERRUPT, DESTROY):
            error, payload = answer_to(opcode)
            os.write(device, struct.pack("<IiQ", 16 + len(payload), error, unique) + payload)


def main(directory, stop, *argv):
    libc = ctypes.CDLL(None, use_errno=True)
    become_user(libc)
    device = mount(libc, directory)
    server = os.fork()
    if server == 0:
        libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
        serve(device, stop)
        os._exit(0)
    program = os.fork()
    if program == 0:
        os.close(device)
        os.execve(argv[0], argv, {**os.environ, "HOME": directory})
    os.close(device)
    status = os.waitpid(program, 0)[1]
    # That ends the file system, too.
    os.kill(server, signal.SIGKILL)
    os.waitpid(server, 0)
    os._exit(os.waitstatus_to_exitcode(status))


if __name__ == "__main__":
    main(*sys.argv[1:])
