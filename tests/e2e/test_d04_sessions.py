# SPDX-License-Identifier: MIT
"""What a host remembers outlives sessions and units: a booted systemd with its logind, and the drop-in that we hand out (D-04)."""

import json
import pathlib
import shutil

import pytest
from support.booted import Machine

BUSY, RIGHT = {"status": 503, "body": "busy"}, {"body": "right"}
LAST = "/usr/local/bin/tenacurl last --json"
LOGIND = "/lib/systemd/systemd-logind"
PAM_SYSTEMD = list(pathlib.Path("/usr/lib").glob("*/security/pam_systemd.so"))
USER, USER_NUMBER = "visitor", 4321
# What tmpfiles.d makes at the boot of a host.
MAKE_PLACE = ["ExecStart=/usr/bin/systemd-tmpfiles --create tenacurl.conf"]
# What the machine lacks of a host's own units.
NO_DEPENDENCIES = {"machine.conf": "[Unit]\nDefaultDependencies=no\n"}

# One process, before and after the end of its user's last session. Nothing else of the user's is in /dev/shm than a sign
# that logind removes.
WORKER = """<?php
$sign = '/dev/shm/of-the-user';
function get($url) { $c = curl_init($url); curl_setopt($c, CURLOPT_RETURNTRANSFER, 1); echo curl_exec($c), "\n"; }
get($argv[1] . '/before');
touch($sign);
for ($end = time() + 30; file_exists($sign) && time() < $end; clearstatcache()) usleep(10000);
echo file_exists($sign) ? "stays\n" : "is gone\n";
get($argv[1] . '/after');
"""
# The user comes and goes.
SESSION = f"""
until [ -e /dev/shm/of-the-user ]; do sleep 0.05; done
exec su -l {USER} -c 'echo "session $XDG_SESSION_ID"'
"""


@pytest.fixture
def drop_in(repository):
    return (repository / "contrib/systemd/tenacurl.conf").read_text()


@pytest.fixture
def machine(tmp_path, repository, build):
    made = Machine(tmp_path / "machine")
    made.install(repository, build)
    return made


def add_user_who_leaves(machine):
    """With logind, and the message bus by which it hears of sessions."""
    machine.add_user(USER, USER_NUMBER)
    machine.add_unit_of_host("dbus", NO_DEPENDENCIES, "socket")
    machine.add_unit_of_host("dbus", NO_DEPENDENCIES)
    settings = ["Type=dbus", "BusName=org.freedesktop.login1", f"ExecStart={LOGIND}"]
    (machine.directory / "files/logind.conf").write_text("[Login]\nRemoveIPC=yes\nUserStopDelaySec=0\n")
    configure = f"ExecStart=/usr/bin/install -D -m 644 {Machine.FILES}/logind.conf /run/systemd/logind.conf.d/trial.conf"
    machine.add_service("configure", [configure])
    machine.add_service("systemd-logind", settings, after=["configure", "dbus"])
    (machine.directory / "files/session").write_text(SESSION)
    machine.add_service("session", [f"ExecStart=/bin/sh {Machine.FILES}/session"], after=["systemd-logind"])


def told(machine, service):
    """[(job, method, path, status, attempts), ...] as the service's `tenacurl last --json` told them, the oldest first."""
    operations = json.loads(machine.output_of(service)[0])["operations"]
    facts = ("job", "method", "path", "status", "attempts")
    return [tuple(operation[fact] for fact in facts) for operation in reversed(operations)]


@pytest.mark.skipif(not shutil.which("php") or not PAM_SYSTEMD, reason="php8.2-cli or libpam-systemd is not installed")
@pytest.mark.parametrize("has_place", [True, False], ids=["place", "dev-shm"])
def test_d04_a_users_service_over_the_users_logout(machine, origin, drop_in, has_place):
    """Saved before and after; where the host has no place for it, what was before the logout is forgotten, and nothing else."""
    server = origin([BUSY, RIGHT] * 2)
    add_user_who_leaves(machine)
    if has_place:
        machine.add_service("place", MAKE_PLACE)
    (machine.directory / "files/worker.php").write_text(WORKER)
    worker = [f"User={USER}", f"ExecStart=/usr/bin/php {Machine.FILES}/worker.php {server.url('')}"]
    machine.add_service("worker", worker, drop_in, after=["place"])
    machine.add_service("last", [f"User={USER}", f"ExecStart={LAST}"], after=["worker"])
    machine.add_service("last-of-all", [f"ExecStart={LAST} --all-users"], after=["worker"])
    machine.boot(proof="session")
    if machine.output_of("session")[0] == b"session \n":
        pytest.skip("su begins no session of logind here")

    assert machine.output_of("worker") == (b"right\nis gone\nright\n", b"")
    paths = [request.target for request in server.requests]
    assert paths == ["/before"] * 2 + ["/after"] * 2
    expected = [("worker", "GET", path, 200, 2) for path in ("/before", "/after")]
    assert told(machine, "last") == told(machine, "last-of-all") == expected[0 if has_place else 1 :]


# Name of a unit: its settings.
UNITS = {
    "dynamic": ["DynamicUser=yes"],
    "dynamic-hidden": ["DynamicUser=yes", "PrivateUsers=yes", "PrivateIPC=yes", "ProtectProc=invisible",
                       "ProcSubset=pid"],
    "strict-root": ["ProtectSystem=strict"],
    "strict-user": ["ProtectSystem=strict", f"User={USER}"],
    "strict-removes": ["ProtectSystem=strict", f"User={USER}", "RemoveIPC=yes", "PrivateTmp=yes", "NoNewPrivileges=yes"],
}


def test_d04_units_that_may_write_nowhere(machine, origin, drop_in):
    """Each is saved, and root is told of each after its end, though a dynamic user's number means nobody by then."""
    machine.add_user(USER, USER_NUMBER)
    machine.add_service("place", MAKE_PLACE)
    servers = {name: origin([BUSY, RIGHT]) for name in UNITS}
    for name, settings in UNITS.items():
        command = f"ExecStart=/usr/bin/curl -sS -f {servers[name].url('/' + name)}?key=S3CRET"
        machine.add_service(name, [*settings, command], drop_in, after=["place"])
    machine.add_service("last", [f"ExecStart={LAST} --all-users"], after=UNITS)
    machine.boot(proof="last")

    for name in UNITS:
        assert (machine.output_of(name), len(servers[name].requests)) == ((b"right", b""), 2), name
    assert sorted(told(machine, "last")) == sorted((name, "GET", f"/{name}", 200, 2) for name in UNITS)
    assert b"S3CRET" not in machine.output_of("last")[0]
