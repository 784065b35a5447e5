# SPDX-License-Identifier: MIT
"""What `make install` puts on a host, and a host to paste commands on: this one, with changes that nobody else sees."""

import os
import subprocess

import pytest

# $1 a directory for what is written, which is lost; $2 a script to run there; then directories that both see, the first of which
# the script starts in.
ENTER = """
set -e
base=$1 script=$2
shift 2
mount --make-rprivate /
mount -t tmpfs -o mode=755 tmpfs "$base"
mkdir "$base/upper" "$base/work" "$base/root"
mount -t overlay -o "lowerdir=/,upperdir=$base/upper,workdir=$base/work" overlay "$base/root"
rm -rf "$base"/root/usr/local/* "$base/root/etc/tenacurl" "$base"/root/etc/cron.d/*
for shared in /dev /proc /sys "$@"; do
    mkdir -p "$base/root$shared"
    mount --rbind "$shared" "$base/root$shared"
done
mount -t proc proc "$base/root/proc"
for private in /run /dev/shm; do
    mount -t tmpfs -o mode=1777 tmpfs "$base/root$private"
done
exec chroot "$base/root" /bin/sh -c "cd '$1' && . '$script'"
"""
# make and apt-get in there: what is built already is taken as it is, and what is installed already is enough.
MAKE = '#!/bin/sh\nexec /usr/bin/make -s -C "{repository}" -o all BUILD="{build}" "$@"\n'
APT_GET = '#!/bin/sh\n[ "$1" = update ] || exec /usr/bin/apt-get -q --simulate --no-upgrade "$@"\n'
PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TIMEOUT_S = 90


def make_install(repository, build, root):
    """Installs what is built, as it is, below `root`."""
    command = ["make", "-s", "-C", repository, "-o", "all", "install", f"BUILD={build}", f"DESTDIR={root}"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60)
    assert done.returncode == 0, done


class Host:
    """A bare host for each script: nothing of tenacurl is there but what `make install` puts into /usr/local."""

    def __init__(self, directory, repository, build):
        self.directory = directory
        self.shared = directory / "shared"
        self.tools = self.shared / "tools"
        self.seen = [self.shared, repository, build]
        for path in (self.tools, directory / "mount"):
            path.mkdir(parents=True)
        # Cron's jobs come here as well.
        for path in (directory, self.shared, self.tools):
            path.chmod(0o755)
        self.add("tools/make", MAKE.format(repository=repository, build=build))
        self.add("tools/apt-get", APT_GET)

    def add(self, name, text):
        """An executable file in `shared`, where scripts start."""
        path = self.shared / name
        path.write_text(text)
        path.chmod(0o755)

    def run(self, script, install=True):
        """(exit status, standard output, standard error) of the script. Skips where no such host can be had."""
        if os.geteuid() != 0:
            pytest.skip("only root can have a host to paste on")
        before = f"echo begins >&2\n{self.tools}/make install >/dev/null || exit 99\n" if install else "echo begins >&2\n"
        (self.shared / "script").write_text(before + script)
        command = ["unshare", "--mount", "--pid", "--ipc", "--fork", "--kill-child", "/bin/sh", "-c", ENTER, "sh",
                   self.directory / "mount", self.shared / "script", *self.seen]
        done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=TIMEOUT_S,
                              env={"PATH": PATH, "HOME": "/root", "LANG": "C.UTF-8"})
        if "begins" not in done.stderr:
            pytest.skip(f"no host to paste on can be had here: {done.stderr.strip()[-200:]}")
        return done.returncode, done.stdout, done.stderr.split("begins\n", 1)[1]
