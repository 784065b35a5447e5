# SPDX-License-Identifier: MIT
"""What a program saw of a transfer: the output of tests/clients/transfer, made comparable."""

import re


def seen(result, port):
    """
    The lines of a transfer's output, by callback kind: first header and write as one sequence with the result, then read and
    seek. Consecutive body writes are joined, since how the network cuts a body is chance; the server's port is replaced.
    Header lines come one by one: after a pause libcurl before 8.7 gives several in one call, tenacurl gives them as they came.
    """
    lines = []
    text = result.stdout.decode("latin-1").replace(str(port), "PORT")
    for line in text.split("\n"):
        # Port numbers differ in length, so counts of bytes that hold one do too.
        line = re.sub(r"^(header|write|header-by-write|file|sent) \d+ ", r"\1 ", line)
        if line.startswith("header "):
            *complete, rest = line[len("header ") :].split("\\x0d\\x0a")
            lines += [f"header {part}\\x0d\\x0a" for part in complete] + ([f"header {rest}"] if rest else [])
        elif line.startswith("write ") and lines and lines[-1].startswith("write "):
            lines[-1] += line[len("write ") :]
        else:
            lines.append(line)
    is_upload = [line.startswith(("read ", "seek ")) for line in lines]
    return [line for line, up in zip(lines, is_upload) if not up] + [line for line, up in zip(lines, is_upload) if up]


def without_info(lines, *names):
    """The lines without these info values."""
    prefixes = tuple(f"info {name} " for name in names)
    return [line for line in lines if not line.startswith(prefixes)]
