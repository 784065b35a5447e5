# SPDX-License-Identifier: MIT
"""Runs a client of the corpus against one fault, bare or under tenacurl, and says whether it got what it wanted."""

import contextlib
import dataclasses
import json
import os
import pathlib
import shutil
import signal
import subprocess
import tempfile
import time

from .corpus import CORPUS, fill, origin_script
from .origin import Origin
from .real_servers import accepts, free_port
from .runner import SYSTEM_PATH, policy_text

# Short waits, so that the whole table is quick; otherwise the defaults.
QUICK = {"jitter": "none", "backoff_base_ms": 50, "backoff_cap_ms": 200, "max_attempts": 4}
MAX_ATTEMPTS = QUICK["max_attempts"]
TIMEOUT_S = 90
# Daemons that don't get what they want go on for ever: their own retries, if any, are seconds apart.
DAEMON_S = 8


@dataclasses.dataclass(frozen=True)
class Outcome:
    attempts: int  # requests at the path with the fault
    status: int  # exit status; of a daemon 0 if it got what it wanted, else 1
    success: bool
    output: bytes
    records: list  # the log, parsed; empty without tenacurl
    url: str = ""  # of the server

    @property
    def evidence(self):
        """
        What tenacurl took for the sign of a retry layer, one for each operation at the server. Some clients ask elsewhere
        too, where nobody answers, and again: flatpak for the repository that it has just learned of.
        """
        operations = (record for record in self.records if record["kind"] == "operation")
        return [record["evidence"] for record in operations if record["url"].startswith(self.url)]

    @property
    def told(self):
        """What the user is told, beside the number of requests."""
        return (self.status, self.success)


@contextlib.contextmanager
def scratch():
    """A directory for a Corpus. Servers that change their user get into it, as pytest's own would not let them."""
    directory = pathlib.Path(tempfile.mkdtemp(prefix="tenacurl-corpus."))
    directory.chmod(0o755)
    try:
        yield directory
    finally:
        shutil.rmtree(directory)


class Place:
    """A directory with everything that one run may touch, and what the words of the table stand for there."""

    def __init__(self, directory, state=None):
        directory.mkdir(parents=True)
        (directory / "home").mkdir()
        self.directory = directory
        self.state = state or directory
        self.log = directory / "log.jsonl"
        self.values = {"tmp": directory, "files": CORPUS / "files"}

    def serve_from(self, port):
        self.values.update({"port": port, "url": f"http://127.0.0.1:{port}", "listen": free_port()})

    def fill(self, text):
        return fill(text, self.values)

    def words(self, command):
        return [self.fill(word) for word in command]

    def environment(self, client):
        env = {"PATH": SYSTEM_PATH, "HOME": str(self.directory / "home"), "LANG": "C.UTF-8"}
        env.update({"TMPDIR": str(self.directory), "TENACURL_STATE": str(self.state)})
        env.update({name: self.fill(value) for name, value in client.env.items()})
        return env

    def write(self, files):
        for name, text in files.items():
            path = self.directory / name
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(self.fill(text))
            path.chmod(0o600)

    def call(self, client, commands):
        """Runs commands of the table that must succeed."""
        for command in commands:
            done = subprocess.run(
                self.words(command),
                env=self.environment(client),
                cwd=self.directory,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=TIMEOUT_S,
            )
            assert done.returncode == 0, f"{client}: {command}: {done.stdout.decode(errors='replace')}"


class _Program:
    """The client's program, as it runs; its output goes to a file, so that nothing it leaves behind can hold us up."""

    def __init__(self, client, place, command, server):
        self.client = client
        self.place = place
        self.server = server
        self.output_path = place.directory / "output"
        input_path = place.directory / "stdin"
        input_path.write_text(place.fill(client.stdin))
        with open(input_path, "rb") as stdin, open(self.output_path, "wb") as output:
            self.process = subprocess.Popen(
                command,
                env=place.environment(client),
                cwd=place.directory,
                stdin=stdin,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
            )

    @property
    def output(self):
        return self.output_path.read_bytes()

    def has_what_it_wants(self):
        """What the table calls success, but for the exit status."""
        file = self.client.file and pathlib.Path(self.place.fill(self.client.file))
        if file and not (file.exists() and file.stat().st_size > 0):
            return False
        if self.client.delivered and not any(_is_good(request) for request in _counted(self.client, self.server)):
            return False
        wanted = self.client.output
        return wanted is None or self.place.fill(wanted).encode() in self.output

    def finish(self):
        """Waits for its end. -> (exit status as a shell has it, success)"""
        try:
            code = self.process.wait(TIMEOUT_S)
        finally:
            self._end_all()
        status = code if code >= 0 else 128 - code
        return status, status == self.client.status and self.has_what_it_wants()

    def watch(self):
        """Waits until a daemon has what it wants, or long enough, and ends it. -> (0 or 1, success)"""
        end = time.monotonic() + DAEMON_S
        if self.client.poke:
            self._poke(end)
            end = 0  # what it was asked for, it has answered
        while not self.has_what_it_wants() and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        success = self.has_what_it_wants()
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            pass
        self._end_all()
        return 0 if success else 1, success

    def _poke(self, end):
        """Asks a daemon, once it listens, for what makes it transfer; the answer is part of its output."""
        while not accepts(self.place.values["listen"]) and self.process.poll() is None and time.monotonic() < end:
            time.sleep(0.02)
        with open(self.output_path, "ab") as output:
            subprocess.run(
                self.place.words(self.client.poke),
                env=self.place.environment(self.client),
                cwd=self.place.directory,
                stdin=subprocess.DEVNULL,
                stdout=output,
                timeout=TIMEOUT_S,
            )

    def _end_all(self):
        """Ends what is left of the session that it was started in."""
        try:
            os.killpg(self.process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        self.process.wait()


def _counted(client, server):
    """The requests that took their answers from the list of the path that meets the fault."""
    return [request for request in server.requests if request.answer and request.answer["list"] == client.faulty_path]


def _is_good(request):
    return 200 <= request.answer["status"] < 300


class Corpus:
    """Runs clients. `build` is the build directory, `directory` one for what the runs leave."""

    def __init__(self, build, directory):
        self.tenacurl = build / "tenacurl"
        self.origin = build / "tests" / "origin" / "origin"
        self.directory = directory
        self.count = 0

    def run(self, client, fault, options=None):
        """One run; options None: bare, else those of `tenacurl run`."""
        return self.run_again(client, fault, options, 1)[0]

    def run_again(self, client, fault, options, times):
        """Runs one after the other at one origin, with one shared state; the server begins anew each time."""
        return self._run(client, fault, client.daemon, lambda place: self._command(client, place, options), times)

    def check(self, client, *options):
        """`tenacurl check` of the client's command, where nothing fails: the Outcome's status is the verdict."""
        return self._run(
            client,
            "ok",
            False,
            lambda place: [str(self.tenacurl), "check", *options, "--", *place.words(client.command)],
        )[0]

    def _command(self, client, place, options):
        command = place.words(client.command)
        if options is None:
            return command
        policy = {**QUICK, "log": place.log, "log_events": "all", **client.policy}
        place.write({"policy.ini": policy_text(policy)})
        return [str(self.tenacurl), "run", "--policy", str(place.directory / "policy.ini"), *options, "--", *command]

    def _places(self, times):
        """A place for each run; all have the state of the first one."""
        self.count += 1
        first = Place(self.directory / f"run{self.count}")
        others = [Place(self.directory / f"run{self.count}.{turn}", first.state) for turn in range(2, times + 1)]
        return [first, *others]

    def _run(self, client, fault, is_daemon, command_of, times=1):
        places, outcomes, port = self._places(times), [], None
        for place in places:
            place.call(client, client.make)
            script = origin_script(client, fault, place.values)
            server = Origin(self.origin, script, place.directory / "origin", port=port)
            port = server.port  # what is known of an origin is known of this port
            try:
                place.serve_from(port)
                place.write(client.write)
                place.call(client, client.setup)
                program = _Program(client, place, command_of(place), server)
                status, success = program.watch() if is_daemon else program.finish()
            finally:
                server.stop()
            attempts = len(_counted(client, server))
            records = _records(place.log)
            outcomes.append(Outcome(attempts, status, success, program.output, records, server.url("/")))
        return outcomes


def _records(path):
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []
