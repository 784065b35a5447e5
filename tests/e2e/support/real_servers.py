# SPDX-License-Identifier: MIT
"""nginx, haproxy and nghttpx as fronts of an origin: in the foreground, on free ports, from templates in servers/."""

import pathlib
import shutil
import socket
import string
import subprocess

from .waiting import wait_until

TEMPLATES = pathlib.Path(__file__).resolve().parent.parent / "servers"
COMMANDS = {
    "nginx": lambda conf, directory: ["nginx", "-p", str(directory), "-c", str(conf), "-e", str(directory / "error.log")],
    "haproxy": lambda conf, directory: ["haproxy", "-db", "-f", str(conf)],
    "nghttpx": lambda conf, directory: ["nghttpx", f"--conf={conf}"],
}
SBIN_PATH = "/usr/local/sbin:/usr/sbin:/sbin:/usr/local/bin:/usr/bin:/bin"


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


def accepts(port):
    with socket.socket() as probe:
        probe.settimeout(1)
        return probe.connect_ex(("127.0.0.1", port)) == 0


class Certificate:
    """A self-signed certificate for localhost and 127.0.0.1; `path` serves as the clients' CA file too."""

    def __init__(self, directory):
        directory.mkdir(parents=True, exist_ok=True)
        self.path = directory / "cert.pem"
        self.key_path = directory / "key.pem"
        self.pair_path = directory / "pair.pem"  # both in one file, as haproxy wants them
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes"]
            + ["-keyout", str(self.key_path), "-out", str(self.path), "-days", "2", "-subj", "/CN=localhost"]
            + ["-addext", "subjectAltName=DNS:localhost,IP:127.0.0.1"],
            check=True,
            capture_output=True,
        )
        self.pair_path.write_bytes(self.path.read_bytes() + self.key_path.read_bytes())


class RealServer:
    """One server in front of 127.0.0.1:origin_port; use it through the fixture of its name."""

    def __init__(self, name, directory, origin_port, certificate):
        directory.mkdir(parents=True)
        self.port = free_port()
        self.plain_port = free_port()
        template = string.Template((TEMPLATES / f"{name}.conf").read_text())
        conf = directory / f"{name}.conf"
        conf.write_text(
            template.substitute(
                PORT=self.port,
                PLAIN_PORT=self.plain_port,
                ORIGIN_PORT=origin_port,
                DIRECTORY=directory,
                CERTIFICATE=certificate.path,
                KEY=certificate.key_path,
                PAIR=certificate.pair_path,
            )
        )
        command = COMMANDS[name](conf, directory)
        command[0] = shutil.which(command[0], path=SBIN_PATH)
        with open(directory / "output.log", "wb") as output:
            self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=output, stderr=output)
        wait_until(lambda: self._is_up(directory), f"{name} on port {self.port}")

    def _is_up(self, directory):
        if self.process.poll() is not None:
            raise AssertionError((directory / "output.log").read_text())
        return accepts(self.port)

    def url(self, path="/"):
        return f"https://localhost:{self.port}{path}"

    def plain_url(self, path="/"):
        return f"http://127.0.0.1:{self.plain_port}{path}"

    def stop(self):
        if self.process.poll() is None:
            self.process.terminate()
        try:
            self.process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()


def is_installed(name):
    return shutil.which(name, path=SBIN_PATH) is not None
