# SPDX-License-Identifier: MIT
"""The corpus as a table: attempts and exit status without and with tenacurl side by side, and what check said."""

import argparse
import pathlib
import sys
import time

from .corpus import FAULTS, PASSING, PATHS, installed_packages, load, why_not
from .corpus_run import MAX_ATTEMPTS, Corpus, scratch

VERDICTS = {0: "covered", 1: "partly", 2: "not"}


class Row:
    """What one client came to: outcomes by fault, bare and wrapped."""

    def __init__(self, client):
        self.client = client
        self.bare = {}
        self.wrapped = {}
        self.again = None
        self.foretold = None
        self.observed = None

    def run(self, corpus):
        for fault in FAULTS:
            self.bare[fault] = corpus.run(self.client, fault)
            self.wrapped[fault] = corpus.run(self.client, fault, ())
        return self

    def run_again(self, corpus):
        """A program with retries of its own meets the lasting fault twice: at the second time it is known."""
        if self.client.loops and not self.client.daemon:
            self.again = corpus.run_again(self.client, "down", (), 2)
        return self

    def check(self, corpus):
        """What check says from the files, and by running it. Of a daemon, which goes on, only the former."""
        self.foretold = corpus.check(self.client).status
        if not self.client.daemon:
            self.observed = corpus.check(self.client, "--run").status
        return self

    @property
    def counts(self):
        """Without a fault it gets what it wants, so that what else is seen means something."""
        return self.bare["ok"].success and not self.client.never

    @property
    def failing(self):
        """The passing faults that it doesn't survive by itself."""
        return [fault for fault in PASSING if not self.bare[fault].success]

    @property
    def is_saved(self):
        """It fails without tenacurl, and with it succeeds at every fault that it fails at without."""
        return bool(self.failing) and all(self.wrapped[fault].success for fault in self.failing)

    @property
    def is_lost(self):
        """tenacurl should have helped it, and has not."""
        return self.counts and self.client.is_wrapped and bool(self.failing) and not self.is_saved

    @property
    def is_multiplied(self):
        """Its retries and ours came together: more than once ours at first contact, or any when it is known."""
        if self.again is None:
            return False
        bare = self.bare["down"].attempts
        first, second = (outcome.attempts for outcome in self.again)
        return first > bare + MAX_ATTEMPTS - 1 or second > bare

    @property
    def is_mistaken(self):
        """It has no retry layer, and was taken for one."""
        return not self.client.retries and any(any(self.wrapped[fault].evidence) for fault in PASSING)

    def lines(self):
        """A line for each fault, one for the second time, and one for check."""
        for fault, text in FAULTS.items():
            yield f"{self.client.name:26} {text:11}" + _half(self.bare[fault]) + "  " + _half(self.wrapped[fault])
        if self.again:
            first, second = (outcome.attempts for outcome in self.again)
            alone = self.bare["down"].attempts
            yield f"{'':26} always 503: {alone} by itself, {first} at first contact, {second} when it is known"
        if self.foretold is not None:
            observed = "" if self.observed is None else f", observed: {_verdict(self.observed)}"
            yield f"{'':26} check: {_verdict(self.foretold)}{observed}"
        if self.client.never:
            yield f"{'':26} not counted: {self.client.never}"
        elif not self.bare["ok"].success:
            yield f"{'':26} not counted: fails here without a fault: {self.bare['ok'].output[-300:]!r}"


HEAD = (
    f"{'':26} {'':11}{'without tenacurl':>23}  {'with tenacurl':>23}",
    f"{'client':26} {'the server':11}{'attempts':>8}{'exit':>6}{'':9}  {'attempts':>8}{'exit':>6}",
)


def _verdict(status):
    return VERDICTS.get(status, f"exit {status}")


def _half(outcome):
    return f"{outcome.attempts:8d}{outcome.status:6d}  {'success' if outcome.success else 'failure'}"


def summary(rows):
    """The last lines: how many programs tenacurl saves, and by which path they get to libcurl."""
    rows = [row for row in rows if row.counts]
    saved = [row for row in rows if row.is_saved]
    for path, text in PATHS.items():
        of_path = [row for row in rows if row.client.path == path]
        if of_path:
            yield f"  {text}: {sum(row.is_saved for row in of_path)} of {len(of_path)}"
    others = [row for row in rows if not row.is_saved]
    multi = sum(row.client.interface == "multi" for row in others)
    own = sum(row.client.interface == "easy" and not row.failing for row in others)
    yield f"  of the others, {multi} use the multi interface, {own} get through by their own retries"
    yield from _summary_of_check([row for row in rows if row.observed is not None])
    yield f"{len(saved)} programs fail without and succeed with tenacurl, of {len(rows)} tried"


def _summary_of_check(rows):
    if rows:
        right = sum(row.foretold == row.observed for row in rows)
        yield f"  check said beforehand what check --run observed: {right} of {len(rows)}"


def _parse(arguments):
    parser = argparse.ArgumentParser(prog="corpus", description=__doc__)
    parser.add_argument("--build", type=pathlib.Path, required=True, help="the build directory")
    parser.add_argument("--all", action="store_true", help="not only the cheap ones")
    parser.add_argument("--list", action="store_true", help="only name them")
    parser.add_argument("--no-check", action="store_true", help="without `tenacurl check`")
    parser.add_argument("clients", nargs="*", help="only these, by name")
    return parser.parse_args(arguments)


def _chosen(options):
    clients = load()
    unknown = set(options.clients) - {client.name for client in clients}
    if unknown:
        sys.exit(f"corpus: no client is called {', '.join(sorted(unknown))}")
    if options.clients:
        return [client for client in clients if client.name in options.clients]
    return [client for client in clients if options.all or client.cheap]


def _try(client, corpus, options):
    """Runs a client and prints its lines. -> its Row, or None if it can't be tried here."""
    reason = why_not(client, installed_packages())
    if reason:
        print(f"{client.name:26} skipped: {reason}", flush=True)
        return None
    row = Row(client).run(corpus).run_again(corpus)
    if not options.no_check:
        row.check(corpus)
    print(*row.lines(), sep="\n", flush=True)
    return row


def main(arguments=None):
    """Prints the table. The exit status is 1 if one that can be saved isn't, or tenacurl is wrong about its retries."""
    options = _parse(arguments)
    if options.list:
        print(*(client.name for client in _chosen(options)), sep="\n")
        return 0
    began = time.monotonic()
    print(*HEAD, sep="\n")
    with scratch() as directory:
        corpus = Corpus(options.build.resolve(), directory)
        rows = [row for row in (_try(client, corpus, options) for client in _chosen(options)) if row]
    print(f"\n{time.monotonic() - began:.0f} s", *summary(rows), sep="\n")
    faults = {
        "not saved": [row.client.name for row in rows if row.is_lost],
        "sends more than its own retries and ours": [row.client.name for row in rows if row.is_multiplied],
        "taken for a retry layer": [row.client.name for row in rows if row.is_mistaken],
    }
    for what, names in faults.items():
        if names:
            print(f"{what}: {', '.join(names)}")
    return 1 if any(faults.values()) else 0


if __name__ == "__main__":
    sys.exit(main())
