# SPDX-License-Identifier: MIT
"""
A scripted HTTP/2 server over TLS, for what only frames can say: RST_STREAM and GOAWAY.

Each request takes the next step of the script; when it is used up, the answer is 418. A step is one of

    {"status": 200, "body": b"…"}    an answer; with "send_bytes": N, "reset": "CANCEL": RST_STREAM once the client has
                                     N bytes of it (it answered a PING behind them); with "goaway": "at": GOAWAY after
    {"reset": "INTERNAL_ERROR"}      RST_STREAM instead of an answer
    {"goaway": "below" | "at"}       GOAWAY instead of an answer, whose last stream is the one before or this one; then
                                     the connection is closed
"""

import contextlib
import dataclasses
import socket
import ssl
import threading

from h2.config import H2Configuration
from h2.connection import H2Connection
from h2.errors import ErrorCodes
from h2.events import DataReceived, PingAckReceived, RequestReceived, StreamEnded
from h2.exceptions import ProtocolError

from .waiting import PATIENCE_S

USED_UP = {"status": 418, "body": b""}
READ_BYTES = 65536


@dataclasses.dataclass
class H2Request:
    connection: int
    stream: int
    method: str
    path: str
    body: bytes = b""


class H2Origin:
    """A running server. requests and connections tell what it saw."""

    def __init__(self, steps, certificate):
        self.steps = list(steps)
        self.requests = []
        self.connections = 0
        self.lock = threading.Lock()
        self.context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        self.context.load_cert_chain(certificate.path, certificate.key_path)
        self.context.set_alpn_protocols(["h2"])
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def url(self, path="/"):
        return f"https://localhost:{self.port}{path}"

    def stop(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(client, self.connections), daemon=True).start()

    def _serve(self, client, number):
        try:
            with self.context.wrap_socket(client, server_side=True) as secured:
                _Session(self, secured, number).run()
        except (OSError, ProtocolError):
            client.close()

    def next_step(self, request):
        with self.lock:
            self.requests.append(request)
            return self.steps.pop(0) if self.steps else USED_UP


class _Session:
    """One connection."""

    def __init__(self, origin, secured, number):
        self.origin, self.socket, self.number = origin, secured, number
        self.connection = H2Connection(H2Configuration(client_side=False, header_encoding="utf-8"))
        self.open_requests = {}
        self.resets_at_ping = {}  # data of a PING: (stream, error code)

    def run(self):
        self.connection.initiate_connection()
        self._flush()
        going = True
        while going and (received := self.socket.recv(READ_BYTES)):
            for event in self.connection.receive_data(received):
                going = going and self._take(event)
            self._flush()
        self._leave()

    def _leave(self):
        """Closes without a reset, which would overtake what was sent: all that still comes is read first."""
        self.socket.settimeout(PATIENCE_S)
        with contextlib.suppress(OSError):  # the client may speak instead of taking leave
            self.socket.unwrap()
        with contextlib.suppress(OSError):
            socket.socket.shutdown(self.socket, socket.SHUT_WR)
            while socket.socket.recv(self.socket, READ_BYTES):
                pass

    def _flush(self):
        self.socket.sendall(self.connection.data_to_send())

    def _take(self, event):
        """Returns whether the connection goes on."""
        if isinstance(event, RequestReceived):
            headers = dict(event.headers)
            request = H2Request(self.number, event.stream_id, headers[":method"], headers[":path"])
            self.open_requests[event.stream_id] = request
        elif isinstance(event, DataReceived):
            self.open_requests[event.stream_id].body += event.data
            self.connection.acknowledge_received_data(event.flow_controlled_length, event.stream_id)
        elif isinstance(event, StreamEnded):
            request = self.open_requests.pop(event.stream_id)
            return self._act(request.stream, self.origin.next_step(request))
        elif isinstance(event, PingAckReceived) and event.ping_data in self.resets_at_ping:
            self.connection.reset_stream(*self.resets_at_ping.pop(event.ping_data))
        return True

    def _act(self, stream, step):
        if "status" in step:
            self._answer(stream, step)
        if "status" in step and "reset" in step:
            ping = stream.to_bytes(8, "big")
            self.resets_at_ping[ping] = stream, ErrorCodes[step["reset"]]
            self.connection.ping(ping)
        elif "reset" in step:
            self.connection.reset_stream(stream, ErrorCodes[step["reset"]])
        if "goaway" in step:
            last = stream - 2 if step["goaway"] == "below" else stream
            self.connection.close_connection(ErrorCodes.NO_ERROR, last_stream_id=max(last, 0))
        return "goaway" not in step

    def _answer(self, stream, step):
        body = step.get("body", b"")
        ends = "reset" not in step
        headers = [(":status", str(step["status"]))]
        if step["status"] != 204:
            headers.append(("content-length", str(len(body))))
        self.connection.send_headers(stream, headers, end_stream=ends and not body)
        if body:
            self.connection.send_data(stream, body[: step.get("send_bytes", len(body))], end_stream=ends)
