# SPDX-License-Identifier: MIT
"""The scripted fault server (tests/origin) as a Python object."""

import dataclasses
import json
import signal
import subprocess

from .waiting import wait_until


@dataclasses.dataclass
class Request:
    """One request as the server saw it. Times are microseconds of CLOCK_MONOTONIC."""

    connection: int
    number: int
    on_connection: int
    first_byte_us: int
    head_us: int
    body_us: int
    method: str
    target: str
    head: bytes
    body: bytes
    body_bytes: int
    body_read: bool
    answer: dict = None  # the "answered" event, once there is one

    @property
    def headers(self):
        """A list of (name, value), in order."""
        lines = self.head.decode("latin-1").split("\r\n")[1:]
        return [tuple(part.strip() for part in line.split(":", 1)) for line in lines if ":" in line]

    def header(self, name):
        """All values of a header."""
        return [value for key, value in self.headers if key.lower() == name.lower()]


@dataclasses.dataclass
class Connection:
    number: int
    accepted_us: int
    closed_us: int = None
    closed_by: str = None  # peer, reset, origin


class Origin:
    """A running server; use it through the `origin` fixture."""

    def __init__(self, binary, script, directory, *, port=None, refuse_ms=None, blackhole=False, blackhole_ms=None):
        directory.mkdir(parents=True)
        self.record_path = directory / "record.jsonl"
        script_path = directory / "script.json"
        script_path.write_text(json.dumps(script))
        command = [str(binary), "--script", str(script_path), "--record", str(self.record_path)]
        if port is not None:
            command += ["--port", str(port)]
        if refuse_ms is not None:
            command += ["--refuse-ms", str(refuse_ms)]
        if blackhole:
            command += ["--blackhole"]
        if blackhole_ms is not None:
            command += ["--blackhole-ms", str(blackhole_ms)]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE)
        ready = self.process.stdout.readline()
        assert ready, f"origin did not start: {command}"
        self.port = json.loads(ready)["port"]

    def url(self, path="/"):
        return f"http://127.0.0.1:{self.port}{path}"

    def come_up(self):
        """Ends a refusal or a black hole at once."""
        self.process.send_signal(signal.SIGUSR1)

    def stop(self):
        """Ends the server; its record is complete afterwards."""
        if self.process.poll() is None:
            self.process.terminate()
        self.process.wait(timeout=30)
        self.process.stdout.close()
        assert self.process.returncode == 0, f"origin ended with {self.process.returncode}"

    @property
    def events(self):
        """Every event so far. A line that is just being written is left out."""
        if not self.record_path.exists():
            return []
        lines = self.record_path.read_text().split("\n")
        return [json.loads(line) for line in lines[:-1]]

    @property
    def requests(self):
        requests = {}
        for event in self.events:
            if event["event"] == "request":
                requests[event["request"]] = self._request(event)
            elif event["event"] == "late_body":
                request = requests[event["request"]]
                request.body_us, request.body_bytes = event["body_us"], event["body_bytes"]
                request.body = bytes.fromhex(event["body_hex"])
            elif event["event"] == "answered" and event["request"] in requests:
                requests[event["request"]].answer = event
        return [requests[number] for number in sorted(requests)]

    @staticmethod
    def _request(event):
        return Request(
            connection=event["connection"],
            number=event["request"],
            on_connection=event["on_connection"],
            first_byte_us=event["us"],
            head_us=event["head_us"],
            body_us=event["body_us"],
            method=event["method"],
            target=event["target"],
            head=bytes.fromhex(event["head_hex"]),
            body=bytes.fromhex(event["body_hex"]),
            body_bytes=event["body_bytes"],
            body_read=event["body_read"],
        )

    @property
    def connections(self):
        connections = {}
        for event in self.events:
            if event["event"] == "accepted":
                connections[event["connection"]] = Connection(event["connection"], event["us"])
            elif event["event"] == "closed":
                connections[event["connection"]].closed_us = event["us"]
                connections[event["connection"]].closed_by = event["by"]
        return [connections[number] for number in sorted(connections)]

    def gap_ms(self, earlier=0, later=1):
        """Milliseconds from the first byte of one request's answer, whose headers are what is judged, to that of another request."""

        def both():
            requests = self.requests
            return len(requests) > later and requests[earlier].answer and requests

        requests = wait_until(both, f"answer to request {earlier} and request {later}")
        answer = requests[earlier].answer
        return (requests[later].first_byte_us - (answer["us"] or answer["ended_us"])) / 1000
