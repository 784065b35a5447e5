# SPDX-License-Identifier: MIT
"""
What the differential harness combines: the axes, what is impossible and why, and which differences are allowed and why.

A new kind of transfer is a value of an axis here, and what it means is said in differential.py (for the server: steps_of; for
the client: arguments_of).
"""

from .pairwise import Constraint

AXES = {
    "fault": ["none", "busy", "reset", "cut-header", "cut-body", "refused-by-proxy", "busy-after-step", "busy-for-ever"],
    "method": ["GET", "HEAD", "POST", "PUT", "DELETE", "PATCH"],
    "body": [
        "none",
        "postfields",
        "copypostfields",
        "read-seek",
        "read",
        "read-large",
        "file",
        "mime-data",
        "mime-file",
        "form",
        "chunked-seek",
        "chunked",
    ],
    "delivery": ["function", "data-only", "none", "header", "failonerror"],
    "redirect": ["none", "followed-302", "followed-307", "not-followed", "limit"],
    "auth": ["none", "basic", "digest"],
    "compression": ["identity", "gzip"],
    "split": ["one-piece", "drip", "chunked"],
    "pause": ["none", "header", "write"],
    "http": ["1.1", "2"],
    "tls": ["no", "yes"],
    "proxy": ["none", "plain", "tunnel"],
    "flavour": ["openssl", "gnutls", "nss"],
}

BODIES = [body for body in AXES["body"] if body != "none"]
FAULTS = AXES["fault"]

CONSTRAINTS = [
    Constraint("a GET with a body is another thing: its method says nothing", method=["GET", "HEAD"], body=BODIES),
    Constraint("a HEAD has no body that could come in pieces", method=["HEAD"], split=["drip", "chunked"]),
    Constraint("a HEAD has no body that could be cut", method=["HEAD"], fault=["cut-body"]),
    Constraint("a HEAD has no body at which a program could pause", method=["HEAD"], pause=["write"]),
    Constraint("the servers speak HTTP/2 over TLS only", http=["2"], tls=["no"]),
    Constraint("https through a proxy always is a tunnel", tls=["yes"], proxy=["plain"]),
    Constraint("follows from the two above", http=["2"], proxy=["plain"]),
    Constraint("only a CONNECT can be refused by a proxy; else it is an answer", fault=["refused-by-proxy"], proxy=["none", "plain"]),
    Constraint(
        "there is no step after which it could come",
        fault=["busy-after-step"],
        redirect=["none", "not-followed"],
        auth=["none", "basic"],
    ),
    Constraint("the last hop is never reached", fault=["busy-after-step", "cut-body"], redirect=["limit"]),
    Constraint("the body of a redirect is short", fault=["cut-body"], redirect=["not-followed"]),
    Constraint("nobody receives a header that could be paused", delivery=["none"], pause=["header"]),
    Constraint(
        "after a pause with CURLOPT_HEADER lines come in other pieces: write and header callback take turns line by line",
        delivery=["header"],
        pause=["header", "write"],
    ),
]

# Who repeats what depends on these together; what is shown of steps on those.
CHOSEN_SETS = [
    ("fault", "method", "body"),
    ("fault", "redirect", "delivery"),
    ("fault", "redirect", "auth"),
    ("fault", "pause", "delivery"),
]
SEED = 20260


def idempotent(combination):
    return combination["method"] in ("GET", "HEAD", "PUT", "DELETE")


# What can be sent again: everything but what is too large to be copied and can't be rewound.
NOT_REPLAYABLE = {"read-large"}
READ_BODIES = {"read-seek", "read", "read-large", "chunked-seek", "chunked"}
SEEKABLE_BODIES = {"read-seek", "chunked-seek"}

# {stream or info value: why it may differ}, where a retry happened and the comparison is with a run without the fault.
DIFFERS_AFTER_RETRY = {
    "num_connects": "the retry goes over a connection that is open already, or needs a new one",
    "request_size": "the CONNECT of a tunnel that is open already isn't sent again (libcurl before 8.5 counts it)",
}
# The same where a Digest nonce was learned before the fault.
DIFFERS_AFTER_RETRY_WITH_DIGEST = {
    "delivery": "the retry begins with the known nonce: the 401 isn't there to be shown",
    "sent": "one round less",
    "received": "one round less",
    "redirect_count": "an authentication round counts",
    "header_size": "counts all rounds",
}
