# SPDX-License-Identifier: MIT
"""
An FTP server that loses its clients: it takes an upload, carries it out, and ends the connection without a word. What it
carried out is in `executed`, as (command, argument, bytes).
"""

import socket
import threading


class FtpOrigin:
    def __init__(self):
        self.executed = []
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def stop(self):
        self.listener.close()

    def _accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        with client, client.makefile("rb") as commands, socket.create_server(("127.0.0.1", 0)) as data:
            client.sendall(b"220 ready\r\n")
            for line in commands:
                command, _, argument = line.decode().strip().partition(" ")
                if command in ("APPE", "STOR"):
                    return self._take_upload(client, data, command, argument)
                if "HTTP/" in argument:
                    return
                client.sendall(self._answer(command, data.getsockname()[1]))

    @staticmethod
    def _answer(command, data_port):
        answers = {
            "USER": "331 password",
            "PASS": "230 welcome",
            "PWD": '257 "/"',
            "EPSV": f"229 entering (|||{data_port}|)",
            "TYPE": "200 binary",
            "CWD": "250 there",
        }
        return answers.get(command, "502 no").encode() + b"\r\n"

    def _take_upload(self, client, data, command, argument):
        client.sendall(b"150 send it\r\n")
        stream, _ = data.accept()
        with stream, stream.makefile("rb") as body:
            self.executed.append((command, argument, body.read()))
