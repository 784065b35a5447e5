# SPDX-License-Identifier: MIT
"""
What the differential harness combines: the axes, what is impossible and why, and which differences are allowed and why.

A new kind of transfer is a value of an axis here; what it means is said in differential.py, in _steps() for the server
and in _options() for the client.
"""

from .pairwise import Constraint

AXES = {
    "fault": [
        "none",
        "busy",
        "reset",
        "cut-header",
        "cut-body",
        "refused-by-proxy",
        "busy-after-step",
        "busy-for-ever",
    ],
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
    "auth": ["none", "basic", "digest", "refused"],
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
    Constraint(
        "only a CONNECT can be refused by a proxy; else it is an answer",
        fault=["refused-by-proxy"],
        proxy=["none", "plain"],
    ),
    Constraint(
        "bare libcurl (7.88) hangs in the first round of authentication, whose body is left out without saying so",
        auth=["digest"],
        body=["chunked-seek", "chunked"],
    ),
    Constraint("the same over HTTP/2, with every body", auth=["digest"], body=BODIES, http=["2"]),
    Constraint(
        "libcurl sends the program's own Transfer-Encoding with the GET that follows, and the server waits for a body",
        method=["POST"],
        body=["chunked-seek", "chunked"],
        redirect=["followed-302", "limit"],
    ),
    Constraint(
        "for a hop libcurl itself seeks a file to its very beginning: some bytes too many, which begin the next request",
        body=["file"],
        redirect=["followed-302", "followed-307", "limit"],
    ),
    Constraint(
        "there is no step after which it could come",
        fault=["busy-after-step"],
        redirect=["none", "not-followed"],
        auth=["none", "basic", "refused"],
    ),
    Constraint("the last hop is never reached", fault=["busy-after-step", "cut-body"], redirect=["limit"]),
    Constraint("the body of a redirect is short", fault=["cut-body"], redirect=["not-followed"]),
    Constraint("the refusal has no body: it is held to the end", fault=["cut-body"], auth=["refused"]),
    Constraint("nobody receives a header that could be paused", delivery=["none"], pause=["header"]),
    Constraint(
        "after a pause with CURLOPT_HEADER lines come in other pieces: both callbacks take turns line by line",
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
    ("fault", "proxy", "flavour"),
    ("fault", "compression", "split"),
]
SEED = 20260


def idempotent(combination):
    return combination["method"] in ("GET", "HEAD", "PUT", "DELETE")


# What can be sent again: everything but what is too large to be copied and can't be rewound.
NOT_REPLAYABLE = {"read-large"}
SEEKABLE_BODIES = {"read-seek", "chunked-seek"}

# A fault that comes after a step is not always retried, or not reached.
NOT_RETRIED_AFTER_STEP = [
    Constraint(
        "libcurl itself can't rewind the body for the hop, with or without us",
        redirect=["followed-302", "followed-307"],
        body=["read", "chunked", "read-large"],
    ),
    Constraint(
        "libcurl keeps the answer to a challenge that may have been another hop's: the first host isn't to see it",
        redirect=["followed-302", "followed-307"],
        auth=["digest"],
    ),
]

# What older libcurls can't do, which is no fault of ours.
BODY_LOST_BY_STEP = Constraint(
    "libcurl before 7.71 makes a GET of the request for good",
    fault=["busy-after-step"],
    redirect=["followed-302"],
    body=["postfields", "copypostfields", "mime-data", "mime-file", "form"],
)
NO_HEADERS_OF_ERRORS = Constraint(
    "libcurl before 7.75 shows no header of a response that FAILONERROR fails",
    fault=["busy-for-ever"],
    delivery=["failonerror"],
    proxy=["tunnel"],
    pause=["header"],
)

# Info values that may differ where a retry happened and the comparison is with a run without the fault, and why. What
# may differ of the streams is said in differential.py: blocks of connection set-up (a tunnel, a Digest round) that the
# retry doesn't need.
DIFFERS_AFTER_RETRY = {
    "num_connects": "the retry goes over a connection that is open already, or needs a new one",
    "request_size": "libcurl before 8.5 counts the CONNECT of a tunnel, which isn't sent again",
}
# The same for the two transfers that follow on the same handle.
DIFFERS_BY_CHANCE = {
    "num_connects": "whether libcurl notices in time that a connection is dead, or sends twice",
    "request_size": "the same",
}
DIFFERS_AFTER_RETRY_THROUGH_TUNNEL = {
    "header_size": "the proxy's answer to CONNECT counts, and isn't given again for a tunnel that is open",
    "connect_code": "that of the last CONNECT, which an earlier attempt may have made",
}
DIFFERS_AFTER_RETRY_WITH_DIGEST = {
    "redirect_count": "an authentication round counts, and a retry with a known nonce needs none",
    "header_size": "counts all rounds",
    "httpauth_avail": "what the 401 offered, if there was one",
}
DIFFERS_AFTER_RETRY_FROM_COPY = {
    "progress": "of a chunked upload libcurl (not 7.88) counts the framing too, and a copy comes in larger chunks",
    "size_upload": "the same",
}
