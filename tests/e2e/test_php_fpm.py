# SPDX-License-Identifier: MIT
"""PHP-FPM as Debian has it, in a booted systemd with the drop-in that we hand out (M-03)."""

import shutil

import pytest

from support.booted import Machine
from support.check import running
from support.documents import block_that_begins
from support.waiting import wait_until

BUSY, RIGHT = {"status": 503, "body": "busy"}, {"body": "right"}
FPM = "/usr/sbin/php-fpm8.2"
# What the machine lacks of a host's own units.
IN_MACHINE = "[Unit]\nDefaultDependencies=no\n[Service]\nRuntimeDirectory=php\nPrivateTmp=yes\n"
PAGE = "<?php $c = curl_init($_SERVER['QUERY_STRING']); curl_setopt($c, CURLOPT_RETURNTRANSFER, 1); echo curl_exec($c);"
ASK = "/usr/bin/cgi-fcgi -bind -connect /run/php/php8.2-fpm.sock"
PAGE_PATH = f"{Machine.FILES}/page.php"

pytestmark = pytest.mark.skipif(
    not (shutil.which("cgi-fcgi") and shutil.which(FPM)), reason="php8.2-fpm or libfcgi-bin is not installed"
)


def add_visitor(machine, name, url, after):
    """Somebody who asks for the page, which asks for the URL."""
    request = ["REQUEST_METHOD=GET", f"SCRIPT_FILENAME={PAGE_PATH}", "SCRIPT_NAME=/page.php", f"QUERY_STRING={url}"]
    settings = [*[f"Environment={word}" for word in request], f"ExecStartPre=/bin/sh -c 'test -S {ASK.split()[-1]}'"]
    machine.add_service(name, [*settings, f"ExecStart={ASK}"], after=[after])


def boot(machine, repository, build, drop_ins, url):
    (machine.directory / "files/page.php").write_text(PAGE)
    machine.install(repository, build)
    machine.add_unit_of_host("php8.2-fpm", {"machine.conf": IN_MACHINE, **drop_ins})
    add_visitor(machine, "visitor", url, "php8.2-fpm")
    machine.add_service("last", ["ExecStart=/usr/local/bin/tenacurl last --all-users"], after=["visitor"])
    machine.boot(proof="visitor")
    return machine.output_of("visitor")[0].split(b"\r\n\r\n", 1)[1], machine.output_of("last")[0].decode()


@pytest.mark.parametrize("helped", [False, True], ids=["bare", "readme"])
def test_m03_php_fpm_is_saved_from_one_503(repository, build, origin, tmp_path, helped):
    server = origin([BUSY, RIGHT])
    drop_ins = {"override.conf": block_that_begins(repository / "README.md", "[Service]")} if helped else {}
    body, last = boot(Machine(tmp_path / "machine"), repository, build, drop_ins, server.url("/report"))
    assert (body, len(server.requests)) == ((b"right", 2) if helped else (b"busy", 1))
    assert (f"127.0.0.1:{server.port}" in last) == helped, last


def test_m03_contrib_and_the_readme_hand_out_the_same(repository):
    contrib = (repository / "contrib/systemd/tenacurl.conf").read_text().splitlines()
    settings = [line for line in contrib if line and not line.startswith("#")]
    assert settings == block_that_begins(repository / "README.md", "[Service]").splitlines()


def pool(directory):
    """A pool of the test's own: one worker, no system directories."""
    (directory / "fpm.conf").write_text(
        f"[global]\nerror_log = {directory}/fpm.log\n[www]\nlisten = {directory}/fpm.sock\npm = static\npm.max_children = 1\n"
        f"user = www-data\ngroup = www-data\n"
    )
    return [FPM, "--nodaemonize", "--allow-to-run-as-root", "--fpm-config", str(directory / "fpm.conf")]


def lines_of(text):
    return [line.strip() for line in text.splitlines() if line.strip().startswith("Environment=")]


@pytest.mark.parametrize("has_preload", [True, False], ids=["without-binder", "without-anything"])
def test_m03_check_pid_names_the_lines_to_add(build, runner, tmp_path, repository, has_preload):
    object_path = build.resolve() / "libtenacurl.so"
    env = {"LD_PRELOAD": str(object_path)} if has_preload else {}
    with running(runner, pool(tmp_path), env=env) as process:
        try:
            wait_until(lambda: (tmp_path / "fpm.sock").exists(), "a socket")
            told = runner.bare([str(build / "tenacurl"), "check", "--pid", str(process.pid)]).stdout.decode()
        finally:
            process.terminate()  # so that it ends its worker
            process.wait(timeout=60)
    drop_in = (repository / "contrib/systemd/tenacurl.conf").read_text().replace("/usr/local/lib/tenacurl", str(build.resolve()))
    wanted = [line for line in lines_of(drop_in) if "TENACURL_" not in line]
    assert lines_of(told) == wanted[1 if has_preload else 0 :], told
