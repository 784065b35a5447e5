# SPDX-License-Identifier: MIT
"""Log records made by hand, for what reads logs. Any field can be given."""

import json

INTENT = "00112233445566ff"


def who(pid, operation):
    return {"schema": 1, "time": "2026-01-02T03:04:05.678901Z", "pid": pid, "program": "curl", "job": None,
            "run": "0123456789abcdef", "mode": "enforce", "policy": None, "policy_hash": "built-in",
            "section": "policy", "libcurl_flavour": "OPENSSL_4", "libcurl_version": "7.88.1", "operation": operation,
            "method": "GET", "url": "http://example.org/x", "curl_code": 0, "curl": "CURLE_OK", "lost": 0}


def attempt(pid, operation, number, **fields):
    return {**who(pid, operation), "kind": "attempt", "attempt": number, "status": 200, "failure": "none",
            "unsent": False, "ambiguous": False, "total_ms": 9, "retry_after_ms": None, "verdict": "deliver",
            "reason": "success", "wait_ms": None, "left_ms": None, **fields}


def retried(pid, operation, number, **fields):
    return attempt(pid, operation, number, **{"status": 503, "failure": "status", "total_ms": 21,
                                              "retry_after_ms": 1000, "verdict": "retry",
                                              "reason": "transient_failure", "wait_ms": 1034, **fields})


def operation_of(pid, operation, **fields):
    return {**who(pid, operation), "kind": "operation", "status": 200, "failure": "none", "verdict": "deliver",
            "reason": "success", "attempts": 2, "sends": 2, "waited_ms": 1034, "elapsed_ms": 1067, "left_ms": None,
            **fields}


def nested(pid, operation, **fields):
    return {**who(pid, operation), "kind": "nested", "owner": "outer", "evidence": "observed", "intent": INTENT,
            "intent_operations": 2, "intent_sends": 1, "gap_ms": 1020, **fields}


def note(text, **fields):
    return {**who(7, None), "kind": "note", "note": text, **fields}


def lines_of(*records):
    return "".join(json.dumps(record) + "\n" for record in records)
