# SPDX-License-Identifier: MIT
"""Words for tests/clients/transfer."""


def further(url, count):
    """
    Options for so many further performs, each of a URL of its own below `url`: that of a perform that failed would be the
    program's own retry, and have one attempt.
    """
    return [word for number in range(1, count + 1) for word in ("--", f"url={url}/{number}")]
