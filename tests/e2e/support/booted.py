# SPDX-License-Identifier: MIT
"""
A real systemd: it is process 1 of namespaces of its own, with a control group, /run, /tmp and /dev/shm of its own and all else
read-only, runs the units that it is given, and ends. Nothing of the host's systemd, if there is one, is touched.
"""

import os
import pathlib
import shutil
import subprocess

import pytest

from .installed import make_install

UNIT_PATHS = [pathlib.Path("/lib/systemd/system"), pathlib.Path("/usr/lib/systemd/system")]
SYSTEMD = next((path for path in ("/lib/systemd/systemd", "/usr/lib/systemd/systemd") if os.path.exists(path)), None)

# What runs before systemd, the first half in the host's process tree: a control group, so that systemd finds an empty one
# as its root. $1 is the machine's directory, $2 what comes then, $3 systemd.
OUTER = """
set -e
mkdir "$1/groups"
mount -t cgroup2 cgroup2 "$1/groups"
home=$1/groups$(sed -n 's/^0:://p' /proc/self/cgroup)
mkdir "$home/trial-$$"
echo $$ >"$home/trial-$$/cgroup.procs"
status=0
timeout --signal=KILL 60 unshare --cgroup --pid --ipc --uts --mount --fork --kill-child --mount-proc \
    sh -c "$2" sh "$1" "$3" || status=$?
echo $$ >"$home/cgroup.procs"
find "$home/trial-$$" -depth -type d -exec rmdir {} +
exit $status
"""
INNER = """
set -e
umount "$1/groups"
umount -R /sys/fs/cgroup 2>/dev/null || true
mount -t cgroup2 cgroup2 /sys/fs/cgroup
mount -t tmpfs -o mode=755 tmpfs /run
mkdir /run/machine
mount --bind "$1" /run/machine
mount --bind /proc/sys /proc/sys
for kept in / /sys /proc/sys; do
    mount -o remount,bind,ro "$kept"
done
for shared in /tmp /var/tmp /dev/shm; do
    mount -t tmpfs -o mode=1777 tmpfs "$shared"
done
mount -t tmpfs -o mode=755 tmpfs /var/log
[ ! -d /run/machine/local ] || mount --bind /run/machine/local /usr/local
for file in passwd group; do
    mount --bind "/run/machine/etc/$file" "/etc/$file"
done
exec env -i container=trial SYSTEMD_UNIT_PATH=/run/machine/units SYSTEMD_GENERATOR_PATH=/nowhere \
    PATH=/usr/sbin:/usr/bin:/sbin:/bin "$2" --system --unit=trial.service --show-status=no
"""
TIMEOUT_S = 75

# Ends the machine once all others have ended.
LAST = """
[Unit]
DefaultDependencies=no
Wants={units}
After={units}
SuccessAction=exit-force
FailureAction=exit-force
[Service]
Type=oneshot
ExecStart=/bin/true
"""


class Machine:
    """Units to run, and files that they find in Machine.FILES."""

    FILES = "/run/machine/files"

    def __init__(self, directory):
        self.directory = directory
        for name in ("units", "files", "outputs", "etc"):
            (directory / name).mkdir(parents=True)
        for name in ("passwd", "group"):
            shutil.copy(f"/etc/{name}", directory / "etc")
        directory.chmod(0o755)
        self.services = []

    def add_user(self, name, number):
        """An ordinary user without a password, with a group of the same name and number."""
        with open(self.directory / "etc/passwd", "a", encoding="utf-8") as passwd:
            passwd.write(f"{name}:*:{number}:{number}::/:/bin/sh\n")
        with open(self.directory / "etc/group", "a", encoding="utf-8") as group:
            group.write(f"{name}:x:{number}:\n")

    def add_file(self, path):
        shutil.copy(path, self.directory / "files")

    def install(self, repository, build):
        """tenacurl in the machine's /usr/local, by make install."""
        make_install(repository, build, self.directory / "root")
        (self.directory / "root/usr/local").rename(self.directory / "local")

    def add_unit_of_host(self, name, drop_ins, kind="service"):
        """A unit as its package has it. drop_ins: {file name: text}. Skips where it isn't installed."""
        file_name = f"{name}.{kind}"
        unit = next((path for path in UNIT_PATHS if (path / file_name).exists()), None)
        if not unit:
            pytest.skip(f"{file_name} is not installed")
        shutil.copy(unit / file_name, self.directory / "units")
        (self.directory / "units" / f"{file_name}.d").mkdir()
        for file, text in drop_ins.items():
            (self.directory / "units" / f"{file_name}.d" / file).write_text(text)
        if kind == "service":
            self.services.append(name)

    def add_service(self, name, settings, drop_in=None, after=()):
        """
        settings: of [Service]. drop_in: text of a file as an administrator would put it in NAME.service.d. after: names of
        services that have ended, or are up, before.
        """
        out = f"/run/machine/outputs/{name}"
        order = " ".join(f"{other}.service" for other in after)
        text = ["[Unit]", "DefaultDependencies=no", f"After={order}", "[Service]", "Type=oneshot", f"StandardOutput=file:{out}",
                f"StandardError=file:{out}.err", *settings, ""]
        (self.directory / "units" / f"{name}.service").write_text("\n".join(text))
        if drop_in:
            (self.directory / "units" / f"{name}.service.d").mkdir()
            (self.directory / "units" / f"{name}.service.d/tenacurl.conf").write_text(drop_in)
        self.services.append(name)

    def boot(self, proof):
        """Runs all services to their ends. Skips where that isn't possible: then the service named `proof` printed nothing."""
        if os.geteuid() != 0 or not SYSTEMD or not shutil.which("unshare"):
            pytest.skip("only root can boot a systemd, where there is one")
        units = " ".join(f"{name}.service" for name in self.services)
        (self.directory / "units/trial.service").write_text(LAST.format(units=units))
        command = ["unshare", "--mount", "--propagation=private", "sh", "-c", OUTER, "sh", self.directory, INNER, SYSTEMD]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace",
                              timeout=TIMEOUT_S)
        if not self.output_of(proof)[0]:
            pytest.skip(f"no systemd can be booted here: {(done.stderr or done.stdout).strip()[-300:]}")

    def output_of(self, name):
        """What a service wrote: standard output, standard error."""
        paths = [self.directory / "outputs" / file for file in (name, f"{name}.err")]
        return tuple(path.read_bytes() if path.exists() else b"" for path in paths)
