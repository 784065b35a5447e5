# SPDX-License-Identifier: MIT
"""Services of a booted systemd, locked up as the ones that people take as models are (H-02)."""

import re

import pytest
from support.booted import Machine

BUSY, RIGHT = {"status": 503, "body": "busy"}, {"body": "right"}

HARDENED = """
SystemCallFilter=@system-service
SystemCallFilter=~@privileged @resources
SystemCallArchitectures=native
NoNewPrivileges=yes
DynamicUser=yes
CapabilityBoundingSet=
ProtectSystem=strict
ProtectHome=yes
ProtectProc=invisible
ProcSubset=pid
ProtectKernelTunables=yes
ProtectKernelModules=yes
ProtectKernelLogs=yes
ProtectControlGroups=yes
ProtectClock=yes
ProtectHostname=yes
PrivateTmp=yes
PrivateDevices=yes
PrivateUsers=yes
PrivateIPC=yes
MemoryDenyWriteExecute=yes
RestrictAddressFamilies=AF_INET AF_INET6
RestrictNamespaces=yes
RestrictRealtime=yes
RestrictSUIDSGID=yes
LockPersonality=yes
UMask=0777
LimitNOFILE=32
""".split("\n")[1:-1]

CODE = "$$c = curl_init($$argv[1]); curl_setopt($$c, CURLOPT_RETURNTRANSFER, 1); echo curl_exec($$c);"
CURL = "/usr/bin/curl -sS"
PHP = f"/usr/bin/php -r '{CODE}'"
RUN = f"{Machine.FILES}/tenacurl run --policy {Machine.FILES}/policy.ini -- {CURL}"
REFUSED = ["SystemCallErrorNumber=EPERM"]

# Name: the command without its URL, further settings, whether tenacurl comes by the drop-in, requests.
SERVICES = {
    "curl-bare": (CURL, [], False, 1),
    "php-bare": (PHP, [], False, 1),
    "curl": (CURL, [], True, 2),
    "curl-refused": (CURL, REFUSED, True, 2),
    "php": (PHP, [], True, 2),
    "php-refused": (PHP, REFUSED, True, 2),
    "run": (RUN, [], False, 2),
    "run-refused": (RUN, REFUSED, False, 2),
}


@pytest.fixture
def drop_in(repository):
    """contrib's, with the binder, and a policy that doesn't wait long."""
    text = (repository / "contrib/systemd/tenacurl.conf").read_text()
    text = re.sub(r"^#(Environment=)", r"\1", text, flags=re.MULTILINE).replace("/usr/local/lib/tenacurl", Machine.FILES)
    assert f"LD_PRELOAD={Machine.FILES}/libtenacurl.so" in text
    assert f"LD_AUDIT={Machine.FILES}/libtenacurl-bind.so" in text
    return text + f"Environment=TENACURL_POLICY={Machine.FILES}/policy.ini\n"


def test_h02_hardened_services_of_a_booted_systemd(build, origin, tmp_path, drop_in):
    """Without tenacurl each gets the 503; with it each is saved, by the drop-in as well as by `run`."""
    machine = Machine(tmp_path / "machine")
    (tmp_path / "policy.ini").write_text("[policy]\njitter = none\nbackoff_base_ms = 1\n")
    for file in (build / "tenacurl", build / "libtenacurl.so", build / "libtenacurl-bind.so", tmp_path / "policy.ini"):
        machine.add_file(file)
    servers = {name: origin([BUSY, RIGHT]) for name in SERVICES}
    for name, (command, settings, has_drop_in, _) in SERVICES.items():
        words = f"ExecStart={command} {servers[name].url()}"
        machine.add_service(name, [*HARDENED, *settings, words], drop_in if has_drop_in else None)
    machine.boot(proof="curl-bare")
    for name, (_, _, _, requests) in SERVICES.items():
        body = b"busy" if requests == 1 else b"right"
        assert (machine.output_of(name), len(servers[name].requests)) == ((body, b""), requests), name
