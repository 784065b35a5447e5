# SPDX-License-Identifier: MIT
"""Programs run with and without tenacurl, in an environment that nothing of the user's reaches."""

import dataclasses
import json
import os
import subprocess
import time

SYSTEM_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
TIMEOUT_S = 90


@dataclasses.dataclass
class Result:
    argv: list
    returncode: int
    stdout: bytes
    stderr: bytes
    elapsed_s: float
    records: list  # the log, parsed; empty without tenacurl

    @property
    def attempts(self):
        return [record for record in self.records if record["kind"] == "attempt"]

    @property
    def operations(self):
        return [record for record in self.records if record["kind"] == "operation"]

    @property
    def operation(self):
        """The only operation's record."""
        assert len(self.operations) == 1, self
        return self.operations[0]

    @property
    def reasons(self):
        """The reason of each attempt's verdict."""
        return [record["reason"] for record in self.attempts]


def policy_text(policy):
    """INI from {key: value} for [policy], or {"policy": {...}, "upstream NAME": {...}}."""
    if not any(isinstance(value, dict) for value in policy.values()):
        policy = {"policy": policy}
    lines = []
    for section, keys in policy.items():
        lines.append(f"[{section}]")
        lines += [f"{key} = {value}" for key, value in keys.items()]
    return "\n".join(lines) + "\n"


class Running:
    """A program that is running; wait() gives its Result."""

    def __init__(self, argv, env, cwd, log_path, stdin):
        self.argv = [str(word) for word in argv]
        self.log_path = log_path
        self.started = time.monotonic()
        self.process = subprocess.Popen(
            self.argv, env=env, cwd=cwd, stdin=stdin, stdout=subprocess.PIPE, stderr=subprocess.PIPE
        )

    @property
    def records(self):
        """The log so far."""
        if self.log_path is None or not self.log_path.exists():
            return []
        lines = self.log_path.read_text().split("\n")
        return [json.loads(line) for line in lines[:-1]]

    def wait(self, input=None, timeout=TIMEOUT_S):
        try:
            stdout, stderr = self.process.communicate(input=input, timeout=timeout)
        finally:
            if self.process.poll() is None:
                self.process.kill()
                self.process.communicate()
        elapsed_s = time.monotonic() - self.started
        return Result(self.argv, self.process.returncode, stdout, stderr, elapsed_s, self.records)


class Runner:
    """Runs programs in its own directory. `tenacurl` is the command line tool under test."""

    def __init__(self, tenacurl, directory):
        self.tenacurl = tenacurl
        self.directory = directory
        self.count = 0

    def environment(self, extra=None):
        home = self.directory / "home"
        home.mkdir(parents=True, exist_ok=True)
        env = {"PATH": SYSTEM_PATH, "HOME": str(home), "LANG": "C.UTF-8", "TMPDIR": str(home)}
        # Not the user's, for a program that preloads the object by hand.
        env["TENACURL_STATE"] = str(self.directory / "state")
        if os.environ.get("TEST_LIBRARY_PATH"):
            # A directory with another libcurl.so.4: the whole suite can be run against it.
            env["LD_LIBRARY_PATH"] = os.environ["TEST_LIBRARY_PATH"]
        env.update(extra or {})
        return env

    def start_bare(self, argv, env=None, stdin=subprocess.DEVNULL):
        return Running(argv, self.environment(env), self.directory, None, stdin)

    def bare(self, argv, env=None, input=None, timeout=TIMEOUT_S):
        """Runs argv as it is."""
        stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
        return self.start_bare(argv, env, stdin).wait(input, timeout)

    def binder_environment(self):
        """What lets ld.so load the binder beside the preloaded object."""
        binder = self.tenacurl.parent / "libtenacurl-bind.so"
        return {"LD_AUDIT": str(binder), "GLIBC_TUNABLES": "glibc.rtld.optional_static_tls=2304"}

    def start(self, argv, policy=None, options=(), env=None, stdin=subprocess.DEVNULL, binder=None):
        """
        Starts argv under `tenacurl run`.

        binder: True with it, False without it, None as `tenacurl run` decides.

        policy: None for the built-in one, a dict (see policy_text) or the text of a policy file. A dict without `log`
        logs all events to a file that becomes the result's records; without a policy `--log` does, for retries.
        """
        self.count += 1
        directory = self.directory / f"run{self.count}"
        directory.mkdir(parents=True)
        log_path = directory / "log.jsonl"
        command = [str(self.tenacurl), "run"]
        if policy is None:
            command += ["--log", str(log_path)]
        else:
            command += ["--policy", str(self._write_policy(policy, directory, log_path))]
        if binder:
            env = {**self.binder_environment(), **(env or {})}
        elif binder is False:
            options = ["--no-binder", *options]
        command += [*options, "--", *argv]
        full_env = self.environment({"TENACURL_STATE": str(directory), **(env or {})})
        return Running(command, full_env, self.directory, log_path, stdin)

    def run(self, argv, policy=None, options=(), env=None, input=None, timeout=TIMEOUT_S, binder=None):
        """As start(), and waits for the end."""
        stdin = subprocess.DEVNULL if input is None else subprocess.PIPE
        return self.start(argv, policy, options, env, stdin, binder).wait(input, timeout)

    @staticmethod
    def _write_policy(policy, directory, log_path):
        if not isinstance(policy, str):
            sections = policy if "policy" in policy else {"policy": policy}
            process_wide = {"log": log_path, "log_events": "all", **sections["policy"]}
            policy = policy_text({**sections, "policy": process_wide})
        path = directory / "policy.ini"
        path.write_text(policy)
        path.chmod(0o600)
        return path
