# SPDX-License-Identifier: MIT
"""`log = stderr` in real servers, whose workers have another fd 2 than their start: PHP-FPM and Apache (L-02)."""

import json
import os
import shutil
import subprocess

import pytest
from support.runner import policy_text
from support.waiting import wait_until

BUSY = {"status": 503, "body": "busy"}
FAST = {"backoff_base_ms": 1, "retry_after_jitter_pct": 0}
MODULES = "/usr/lib/apache2/modules"

FPM = """
[global]
error_log = {directory}/fpm.log
daemonize = no
[www]
listen = {directory}/socket
listen.mode = 0666
pm = static
pm.max_children = 1
clear_env = no
catch_workers_output = {catch}
decorate_workers_output = no
user = www-data
group = www-data
"""

APACHE = """
ServerRoot {directory}
ServerName localhost
Listen 127.0.0.1:{port}
PidFile {directory}/pid
ErrorLog {log}
User www-data
Group www-data
LoadModule mpm_prefork_module {modules}/mod_mpm_prefork.so
LoadModule authn_core_module {modules}/mod_authn_core.so
LoadModule authz_core_module {modules}/mod_authz_core.so
LoadModule authz_user_module {modules}/mod_authz_user.so
LoadModule auth_openidc_module {modules}/mod_auth_openidc.so
OIDCProviderMetadataURL {metadata}
OIDCClientID c
OIDCClientSecret s
OIDCRedirectURI http://127.0.0.1:{port}/back
OIDCCryptoPassphrase p
<Location />
  AuthType openid-connect
  Require valid-user
</Location>
"""
METADATA = {"issuer": "http://127.0.0.1", "authorization_endpoint": "http://127.0.0.1/a",
            "token_endpoint": "http://127.0.0.1/t", "jwks_uri": "http://127.0.0.1/j",
            "response_types_supported": ["code"]}


def needs(*programs):
    missing = [program for program in programs if not shutil.which(program) and not os.path.exists(program)]
    if missing or os.geteuid() != 0:
        pytest.skip(f"{missing or 'root'} isn't here")


@pytest.fixture
def serve(runner, build, tmp_path):
    """serve(argv) starts a server under tenacurl with `log = stderr`. Ended with the test."""
    started = []
    tmp_path.chmod(0o755)
    policy = tmp_path / "policy.ini"
    policy.write_text(policy_text({**FAST, "log": "stderr", "state": "none"}))
    policy.chmod(0o644)

    def start(argv):
        command = [build / "tenacurl", "run", "--policy", policy, "--", *argv]
        process = subprocess.Popen([str(word) for word in command], env=runner.environment(), cwd="/",
                                   stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                   start_new_session=True)  # Apache ends its whole process group
        started.append(process)
        return process

    yield start
    for process in started:
        process.terminate()
        process.wait(30)


def reachable(tmp_path):
    """Workers are www-data: they get nowhere below a directory of 0700."""
    if any(not path.stat().st_mode & 0o001 for path in tmp_path.parents):
        for path in tmp_path.parents:
            if path.owner() == "root" and not path.stat().st_mode & 0o001 and str(path).startswith("/tmp/"):
                path.chmod(path.stat().st_mode | 0o011)


def ask_fpm(socket, script):
    env = {"SCRIPT_FILENAME": str(script), "REQUEST_METHOD": "GET", "PATH": os.environ["PATH"]}
    return subprocess.run(["cgi-fcgi", "-bind", "-connect", str(socket)], env=env, capture_output=True, timeout=60)


@pytest.mark.parametrize("catch", ["yes", "no"])
def test_l02_php_fpm_worker(origin, serve, tmp_path, catch):
    """Its workers' stderr is a pipe to the master, or, unless that wants what they say, /dev/null: that is no sink."""
    needs("php-fpm8.2", "cgi-fcgi")
    reachable(tmp_path)
    server = origin([BUSY, {"body": "right"}])
    (tmp_path / "fpm.conf").write_text(FPM.format(directory=tmp_path, catch=catch))
    script = tmp_path / "get.php"
    script.write_text(f'<?php $c = curl_init("{server.url("/x")}"); curl_setopt($c, CURLOPT_RETURNTRANSFER, 1); echo curl_exec($c);')
    script.chmod(0o644)
    serve(["php-fpm8.2", "-n", "-d", "extension=curl", "-y", tmp_path / "fpm.conf"])
    wait_until((tmp_path / "socket").exists, "the pool's socket")
    answer = ask_fpm(tmp_path / "socket", script)
    assert answer.stdout.endswith(b"right"), answer
    assert len(server.requests) == 2
    log = tmp_path / "fpm.log"
    if catch == "yes":
        wait_until(lambda: log.read_text().count(" GET http") == 3, "what the worker said")
    else:
        assert " GET http" not in log.read_text()


@pytest.mark.parametrize("piped", [False, True], ids=["file", "pipe"])
def test_l02_apache_worker(origin, serve, tmp_path, piped):
    """Its stderr is the ErrorLog."""
    needs("apache2", f"{MODULES}/mod_auth_openidc.so", "curl")
    reachable(tmp_path)
    server = origin([BUSY, {"headers": [["Content-Type", "application/json"]], "body": json.dumps(METADATA), "repeat": True}])
    port_holder = origin([BUSY])
    port = port_holder.port
    port_holder.stop()
    log = tmp_path / "error.log"
    (tmp_path / "apache.conf").write_text(APACHE.format(
        directory=tmp_path, port=port, modules=MODULES, metadata=server.url("/metadata"),
        log=f'"|$cat >>{log}"' if piped else log))
    serve(["apache2", "-D", "FOREGROUND", "-f", tmp_path / "apache.conf"])
    wait_until((tmp_path / "pid").exists, "apache")
    subprocess.run(["curl", "-sS", "--retry", "5", "--retry-connrefused", "-o", "/dev/null", f"http://127.0.0.1:{port}/x"],
                   check=True, timeout=60)
    assert len(server.requests) >= 2
    wait_until(lambda: log.read_text().count("tenacurl: ") >= 3, "what the worker said")
    assert "attempt 1: 503, retry in" in log.read_text()
