# SPDX-License-Identifier: MIT
"""The state file as state/layout.h lays it out, read without the code under test."""

import dataclasses
import struct

LAYOUT_VERSION = 4
HEADER_BYTES, ENTRY_BYTES, ENTRIES, SLOT_BYTES, SLOTS = 4096, 2752, 512, 768, 256
PLAIN_MS, OTHER = 144, 320  # offsets in an entry: histogram of plain successes, all other counters
STOPS, RETRIES, EVENTS = OTHER + 8 * 49, OTHER + 8 * 81, OTHER + 8 * 122
ORIGIN, SECTION = 1408, 1664
BUCKETS_MS = 16

# In the order of enum engine_reason, of enum state_event, of enum state_evidence.
REASONS = (
    "cancelled delivered deadline success terminal_error unsafe_replay request_changed body_not_replayable nested"
    " attempt_cap retry_after_limit retry_max_time wait_exceeds_deadline watchdog_limit request_expired breaker_open"
    " retry_concurrency budget_empty"
    " transient_failure deadline_budget passed_through"
).split()
EVENTS_BY_NAME = ["exhausted", "budget_empty", "breaker_opened", "refused", "nested_refused"]
EVIDENCE = "none header program curl learned observed".split()


def _text(data):
    return data.split(b"\0")[0].decode("ascii")


def _words(data, offset, count):
    return struct.unpack_from(f"<{count}Q", data, offset)


@dataclasses.dataclass
class Entry:
    origin: str
    section: str
    operations: int
    plain: int  # of those: succeeded with one attempt and one send
    succeeded: int
    attempts: int
    sends: int
    stops: dict  # without the plain ones
    retries: int
    events: dict


@dataclasses.dataclass
class Flight:
    pid: int
    sends: int
    attempts: int
    reason: str
    evidence: str
    status: int
    curl_code: int
    job: str
    run: str
    program: str
    section: str
    origin: str


def _entry(data):
    plain = sum(_words(data, PLAIN_MS, BUCKETS_MS))
    failed, succeeded = sum(_words(data, OTHER, 10)), sum(_words(data, OTHER + 80, 10))
    return Entry(
        origin=_text(data[ORIGIN:SECTION]),
        section=_text(data[SECTION : SECTION + 64]),
        operations=plain + failed + succeeded,
        plain=plain,
        succeeded=plain + succeeded,
        attempts=plain + _words(data, OTHER + 160, 1)[0],
        sends=plain + _words(data, OTHER + 248, 1)[0],
        stops={name: n for name, n in zip(REASONS, _words(data, STOPS, 32)) if n},
        retries=sum(_words(data, RETRIES, 24)),
        events={name: n for name, n in zip(EVENTS_BY_NAME, _words(data, EVENTS, 8)) if n},
    )


def _flight(data):
    _, _, pid, sends, _, _ = struct.unpack_from("<6q", data)
    reason, _, status, curl_code, attempts, evidence = struct.unpack_from("<6i", data, 48)
    texts, at = [], 72
    for room in (64, 32, 64, 64, 200):
        texts.append(_text(data[at : at + room]))
        at += room
    return Flight(pid, sends, attempts, REASONS[reason], EVIDENCE[evidence], status, curl_code, *texts)


class StateFile:
    """What was in the only state file of a directory when this was made."""

    def __init__(self, directory):
        (path,) = directory.glob("state-*")
        self.data = path.read_bytes()

    @property
    def entries(self):
        chunks = (self.data[HEADER_BYTES + i * ENTRY_BYTES :][:ENTRY_BYTES] for i in range(ENTRIES))
        return [_entry(chunk) for chunk in chunks if _words(chunk, 0, 1)[0]]

    @property
    def entry(self):
        """The only entry."""
        (entry,) = self.entries
        return entry

    @property
    def flights(self):
        """The oldest first."""
        begin = HEADER_BYTES + ENTRIES * ENTRY_BYTES
        slots = [self.data[begin + i * SLOT_BYTES :][:SLOT_BYTES] for i in range(SLOTS)]
        numbered = sorted((_words(slot, 0, 1)[0], slot) for slot in slots if _words(slot, 0, 1)[0] % 2 == 0)
        return [_flight(slot[16:]) for sequence, slot in numbered if sequence]
