# SPDX-License-Identifier: MIT
"""
Runs combinations of differential_axes.py through tests/clients/observe, bare and with the object preloaded, and
compares what the program saw and what the server saw.

One fault origin serves all runs, each under a path of its own, with nginx in front for TLS and HTTP/2.
"""

import concurrent.futures
import gzip
import json
import os
import re
import shutil
import subprocess

from . import differential_axes as axes
from .origin import Origin
from .real_servers import RealServer, is_installed

WORKERS = 10
PATIENCE_S = 60
MAX_ATTEMPTS = 4
# A limit that nothing reaches, but which is lent to libcurl: it must be seen whether it is given back.
POLICY = f"""[policy]
backoff_base_ms = 1
jitter = none
max_attempts = {MAX_ATTEMPTS}
per_try_ms = 40000
log_events = all
"""
PROGRAM_TIMEOUT_MS = 77000

TEXT = "".join(f"{number * number * 7919 % 1000003:x}\n" for number in range(400))
ERROR = {"status": 503, "headers": [["X-Busy", "yes"]], "body": "come back later"}
CHALLENGE = ["WWW-Authenticate", 'Digest realm="r", nonce="n", qop="auth"']
REFUSAL = {"status": 401, "headers": [["WWW-Authenticate", 'Basic realm="r"']]}
UNAUTHORISED = {"status": 401, "headers": [CHALLENGE], "body": "who?"}
# In every so many combinations the last answer takes longer than libcurl's short timers, those of connecting, are
# there: then the client can see for how long libcurl wants to be left alone.
TIMER_EVERY = 4
TIMER_DELAY_MS = 500


def name_of(number, combination):
    return "-".join([f"{number:03}", *combination.values()])


def is_retried(combination):
    """Whether tenacurl is to repeat the request."""
    fault = combination["fault"]
    if fault in ("none", "cut-body"):
        return False
    if fault == "refused-by-proxy":
        return True  # nothing was sent, nothing was read
    # Who receives header lines has seen the beginning of a success. (Over TLS nginx makes a 502 of what was cut.)
    if fault == "cut-header" and combination["delivery"] != "none" and combination["tls"] == "no":
        return False
    if fault == "busy-after-step" and any(exception.forbids(combination) for exception in axes.NOT_RETRIED_AFTER_STEP):
        return False
    # The first round of Digest leaves the body out: what was never read can be sent.
    was_read = combination["auth"] != "digest" or fault == "busy-after-step"
    return axes.idempotent(combination) and not (was_read and combination["body"] in axes.NOT_REPLAYABLE)


# The server.


def _final_step(combination):
    gzipped = combination["compression"] == "gzip"
    body = gzip.compress(TEXT.encode(), mtime=0) if gzipped else TEXT.encode()
    step = {"status": 200, "headers": [["X-Final", "yes"]], "body": {"hex": body.hex()}}
    if gzipped:
        step["headers"].append(["Content-Encoding", "gzip"])
    if combination["split"] == "drip":
        step["drip"] = {"bytes": 512, "every_ms": 1}
    elif combination["split"] == "chunked":
        step["framing"] = "chunked"
    if combination["fault"] == "cut-body":
        step.update(send_bytes=len(body) // 2, end="close")
    return step


def _steps(combination, prefix, faulty, multi_delay_ms):
    """{path: steps} of one run's first transfer."""
    fault = combination["fault"] if faulty else "none"
    digest, redirect = combination["auth"] == "digest", combination["redirect"]
    late = fault == "busy-after-step"
    final = REFUSAL if combination["auth"] == "refused" else _final_step(combination)
    status = 307 if redirect == "followed-307" else 302
    step = {"status": status, "headers": [["Location", f"{prefix}/end"]], "body": "moved"}
    loop = {**step, "headers": [["Location", f"{prefix}/start"]], "repeat": True}
    at_end = [ERROR, final] if late else [final]
    rounds = {
        "none": at_end,
        "followed-302": [step] * (1 + late),
        "followed-307": [step] * (1 + late),
        "not-followed": [ERROR] * late + [step],
        "limit": [loop],
    }[redirect]
    first = {
        "busy": [ERROR],
        "reset": [{"fault": "reset"}],
        "cut-header": [{"status": 200, "body": "never seen", "header_cut": 30, "end": "close"}],
        "busy-for-ever": [{**ERROR, "repeat": True}],
    }.get(fault, [])
    return {
        f"{prefix}/start": first + [UNAUTHORISED] * digest + rounds,
        f"{prefix}/end": at_end,
        f"{prefix}/again": [{"echo": True}],
        f"{prefix}/multi": [{"echo": True, "delay_ms": multi_delay_ms}],
    }


# The client.

DELIVERY = {
    "function": ["delivery=function"],
    "data-only": ["delivery=data-only"],
    "none": ["delivery=none"],
    "header": ["delivery=function", "header=1"],
    "failonerror": ["delivery=function", "failonerror=1"],
}
REDIRECT = {"none": [], "not-followed": [], "limit": ["follow=1", "maxredirs=2"]}
BASIC = ["httpauth=1", "userpwd=u:p"]
AUTH = {"none": [], "basic": BASIC, "digest": ["httpauth=2", "userpwd=u:p"], "refused": BASIC}
HTTP_VERSION = {"1.1": "http_version=2", "2": "http_version=4"}


def _options(combination):
    return [
        f"method={combination['method']}",
        f"body={combination['body']}",
        f"timeout_ms={PROGRAM_TIMEOUT_MS}",
        HTTP_VERSION[combination["http"]],
        *DELIVERY[combination["delivery"]],
        *REDIRECT.get(combination["redirect"], ["follow=1"]),
        *AUTH[combination["auth"]],
        *(["encoding=gzip"] if combination["compression"] == "gzip" else []),
        *([f"pause={combination['pause']}"] if combination["pause"] != "none" else []),
    ]


def _parse(text):
    """{section: {stream: [lines]}} of the client's output."""
    sections, lines = {}, None
    for line in text.split("\n")[:-1]:
        if line.startswith("## "):
            section = sections[line[3:]] = {}
        elif line.startswith("# "):
            lines = section[line[2:]] = []
        else:
            lines.append(line)
    return sections


class Run:
    """What one run of a combination came to."""

    def __init__(self, returncode, sections, stderr, log):
        self.returncode, self.sections, self.stderr, self.log = returncode, sections, stderr, log
        self.requests = []  # as the origin saw the first transfer's; filled when its record is read

    @property
    def evidence(self):
        """What tenacurl took for the sign of a retry layer above the client, which has none."""
        records = [json.loads(line) for line in self.log.splitlines()]
        return [record["evidence"] for record in records if record.get("evidence")]


class Bench:
    """Servers for `run_names` runs of each combination. Use as a context manager."""

    def __init__(self, combinations, run_names, build, directory, certificate, patience_s=PATIENCE_S):
        self.combinations = combinations  # {number: combination}
        self.run_numbers = {name: number for number, name in enumerate(run_names)}
        self.build, self.directory, self.certificate = build, directory, certificate
        self.patience_s = patience_s
        self.front, self.origins = None, []
        self.features = {}

    def __enter__(self):
        self.directory.mkdir(parents=True, exist_ok=True)
        paths = {}
        for number, combination in self.combinations.items():
            for name in self.run_numbers:
                faulty = name != "bare" or not is_retried(combination) or combination["fault"] == "busy-for-ever"
                delay_ms = TIMER_DELAY_MS if number % TIMER_EVERY == 0 else 0
                paths.update(_steps(combination, self.prefix(name, number), faulty, delay_ms))
        self.origin = self._start_origin({"paths": paths}, "origin")
        self.tunnel = self._start_origin({"paths": {"CONNECT": [{"tunnel": True, "repeat": True}]}}, "tunnel")
        if is_installed("nginx"):
            self.front = RealServer("nginx", self.directory / "nginx", self.origin.port, self.certificate)
        self.file = self.directory / "upload"
        self.file.write_text("0123456" + "the bytes of a file\n" * 100)
        self.policy = self.directory / "policy.ini"
        self.policy.write_text(POLICY)
        self.policy.chmod(0o600)
        return self

    def __exit__(self, *_):
        if self.front:
            self.front.stop()
        for origin in self.origins:
            origin.stop()

    def _start_origin(self, script, name):
        self.origins.append(Origin(self.build / "tests/origin/origin", script, self.directory / name))
        return self.origins[-1]

    def prefix(self, run_name, number):
        return f"/r{self.run_numbers[run_name]:02}/{number:03}"

    def client(self, combination):
        # With another libcurl.so.4 everything is run against that one.
        flavour = "openssl" if os.environ.get("TEST_LIBRARY_PATH") else combination["flavour"]
        return self.build / "tests" / f"observe-{flavour}"

    def environment(self, library=None, log=None):
        env = {"PATH": os.environ["PATH"], "HOME": str(self.directory), "LANG": "C.UTF-8"}
        if os.environ.get("TEST_LIBRARY_PATH"):
            env["LD_LIBRARY_PATH"] = os.environ["TEST_LIBRARY_PATH"]
        if library:
            env.update(LD_PRELOAD=str(library), TENACURL_POLICY=str(self.policy), TENACURL_LOG=str(log))
            env["TENACURL_STATE"] = str(self._state(log))
        return env

    @staticmethod
    def _state(log):
        return log.with_suffix(".state")

    def lacks(self, combination):
        """Why the combination can't be run here, or None."""
        client = self.client(combination)
        if not client.exists():
            return f"{client.name} was not built: no such libcurl"
        if client not in self.features:
            argv = [client, "--features"]
            done = subprocess.run(argv, env=self.environment(), capture_output=True, check=True)
            self.features[client] = done.stdout.decode().split()
        if combination["tls"] == "yes" and not self.front:
            return "nginx is not installed"
        if axes.BODY_LOST_BY_STEP.forbids(combination) and self._version(client) < (7, 71):
            return "this libcurl leaves the body out after the redirect for good: not retried"
        if axes.NO_HEADERS_OF_ERRORS.forbids(combination) and self._version(client) < (7, 75):
            return "this libcurl shows no header of an error: the proxy's answer comes with an earlier attempt"
        needed = {
            "tls": combination["tls"] == "yes",
            "http2": combination["http"] == "2",
            "gzip": combination["compression"] == "gzip",
            "mime": combination["body"].startswith("mime"),
        }
        features = self.features[client]
        missing = [feature for feature, is_needed in needed.items() if is_needed and feature not in features]
        return f"this libcurl has no {missing[0]}" if missing else None

    def _version(self, client):
        """The first two numbers of the client's libcurl."""
        words = self.features[client]
        return tuple(int(number) for number in words[words.index("version") + 1].split(".")[:2])

    def _proxy(self, combination, faulty, directory):
        if combination["proxy"] == "none":
            return None
        if combination["proxy"] == "plain":
            return self.origin
        if combination["fault"] != "refused-by-proxy" or not faulty:
            return self.tunnel
        script = {"paths": {"CONNECT": [{**ERROR, "body": "no tunnel"}, {"tunnel": True, "repeat": True}]}}
        return Origin(self.build / "tests/origin/origin", script, directory)

    def run(self, number, run_name, library=None):
        """Runs one combination once. `bare`, without a library, meets its fault only if nothing is to be retried."""
        combination = self.combinations[number]
        directory = self.directory / f"{run_name}-{number:03}"
        base = self.front.url() if combination["tls"] == "yes" else self.origin.url()
        base = base.rstrip("/").replace("localhost", "127.0.0.1") + self.prefix(run_name, number)
        proxy = self._proxy(combination, library is not None, directory)
        argv = [str(self.client(combination)), f"{base}/start", f"again={base}/again", f"multi={base}/multi"]
        argv += [f"file={self.file}", *_options(combination)]
        if proxy:
            argv += [f"proxy=http://127.0.0.1:{proxy.port}"] + ["proxytunnel=1"] * (combination["proxy"] == "tunnel")
        log = self.directory / f"{run_name}-{number:03}.jsonl"
        try:
            env = self.environment(library, log)
            done = subprocess.run(argv, env=env, capture_output=True, timeout=self.patience_s)
            text = self._neutral(done.stdout.decode("latin-1"), run_name, number, proxy)
            result = Run(done.returncode, _parse(text), done.stderr.decode("latin-1"), "")
        except subprocess.TimeoutExpired as late:
            result = Run("hangs", {}, f"after {(late.stdout or b'').decode('latin-1')}", "")
        if proxy not in (None, self.origin, self.tunnel):
            proxy.stop()
        if log.exists():
            result.log = log.read_text()
        shutil.rmtree(self._state(log), ignore_errors=True)
        return result

    def _neutral(self, text, run_name, number, proxy=None):
        """The text without what differs from run to run by chance or by our own doing."""
        text = text.replace(self.prefix(run_name, number), "/RUN")
        text = re.sub(r"-{20,}[0-9A-Za-z]{16,24}", "BOUNDARY", text)
        text = re.sub(r"([Aa]uthorization: Digest) .*?\\x0d\\x0a", r"\1\\x0d\\x0a", text)
        text = re.sub(r"((?:^|\\x0a| )[Dd]ate: ).*?\\x0d\\x0a", r"\1DATE\\x0d\\x0a", text)
        # The hashes of pieces that hold one of these.
        return re.sub(r"^(\S+ \d+) [0-9a-f]{8} (?=.*(?:/RUN|BOUNDARY|Digest|DATE))", r"\1 ", text, flags=re.M)

    def run_all(self, jobs):
        """{(number, run name): Run} of jobs (number, run name, library), with what the origin saw."""
        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            runs = list(pool.map(lambda job: self.run(*job), jobs))
        results = {(number, name): run for (number, name, _), run in zip(jobs, runs)}
        self._add_requests(results)
        return results

    def _add_requests(self, results):
        by_prefix = {self.prefix(name, number): run for (number, name), run in results.items()}
        names = {self.prefix(name, number): (name, number) for number, name in results}
        for request in self.origin.requests:
            path = re.sub(r"^http://[^/]+", "", request.target)
            prefix, _, step = path.rpartition("/")
            if prefix not in by_prefix or step in ("again", "multi"):
                continue
            headers = "".join(f"{name}: {value}\\x0d\\x0a" for name, value in request.headers)
            head = self._neutral(f"{request.method} {step} {headers}", *names[prefix])
            body = self._neutral(request.body.decode("latin-1"), *names[prefix])
            by_prefix[prefix].requests.append((head, body))


# The comparison.


def _without_block(lines, status=None):
    """The lines without the first header block, or that of a status. A pause that came in it stays."""
    begin = next((i for i, line in enumerate(lines) if status and f" {status} " in line), 0)
    for end in range(begin, len(lines)):
        if re.match(r"(header|header-by-write|header-in) 2 ", lines[end]):
            return [line for i, line in enumerate(lines) if not begin <= i <= end or line == "pause"]
    return lines


def _without_100(lines):
    """
    Without the 100 that an upload which waits for it gets in each attempt, and without the proxy's answer before it,
    which comes along.
    """
    kept, proxys, block = [], [], []
    for line in lines:
        block.append(line)
        if not re.match(r"header(-by-write)? 2 ", line):
            continue
        texts = [line.split(" ", 3)[-1] for line in block if line != "pause"]
        statuses = [text.split(" ")[1] for text in texts if text.startswith("HTTP/")]
        if "100" in statuses:
            kept += [line for line in proxys + block if line == "pause"]
            proxys, block = [], []
        elif len(texts) == 2 * len(statuses) and "200" in statuses:
            proxys, block = proxys + block, []
        else:
            kept, proxys, block = kept + proxys + block, [], []
    return kept + proxys + block


def _possible_deliveries(combination, lines):
    """What the program may see: blocks of connection set-up aren't made again where the retry needs none."""
    possible = [lines]
    if combination["proxy"] == "tunnel":
        possible.append(_without_block(lines))
    if combination["auth"] == "digest" and combination["fault"] == "busy-after-step":
        possible += [_without_block(variant, 401) for variant in possible]
    return possible


def _differences_of_upload(combination, expected, actual):
    if combination["body"] not in axes.SEEKABLE_BODIES:
        return actual != expected
    before, end = actual[: len(actual) - len(expected)], actual[len(actual) - len(expected) :]
    return end != expected or bool(before and before[-1] != "seek 0 0")


def _comparable_sent(combination, lines):
    """Without what may differ after a retry: the making of a tunnel, and the chunks that come from tenacurl's copy."""
    is_copied = combination["body"] == "chunked"
    return [line for line in lines if " CONNECT " not in line and not (is_copied and line.startswith("data-out "))]


def _is_changed_by_retry(combination, stream, expected, actual):
    """Whether a stream of a retried transfer differs from that of a transfer without a fault."""
    if stream == "delivery":
        if combination["body"] != "none":
            expected, actual = _without_100(expected), _without_100(actual)
        return actual not in _possible_deliveries(combination, expected)
    if stream == "upload":
        return _differences_of_upload(combination, expected, actual)
    if stream in ("sent", "received"):
        # The debug callback sees all attempts; the last one is what it would have been.
        if stream == "sent":
            expected, actual = _comparable_sent(combination, expected), _comparable_sent(combination, actual)
        elif combination["proxy"] == "tunnel":
            expected = _without_block(expected)
        if combination["auth"] == "digest" and combination["fault"] == "busy-after-step":
            expected = expected[-1:]
        return actual[len(actual) - len(expected) :] != expected
    return actual != expected


def _without_allowed(combination, section, stream, lines, retried):
    if section != "first" and stream == "result" and lines[:1] == ["code 0"]:
        return lines[:1]  # the text is what libcurl's own sending twice left behind
    if section != "first" and stream == "sent":
        # Whether libcurl notices in time that a connection is dead, or sends twice, is chance.
        requests = [i for i, line in enumerate(lines) if line.startswith("header-out ") and " CONNECT " not in line]
        return lines[requests[-1] :] if requests else []
    allowed = set(axes.DIFFERS_BY_CHANCE if section != "first" else ())
    if retried:
        allowed |= set(axes.DIFFERS_AFTER_RETRY)
        allowed |= set(axes.DIFFERS_AFTER_RETRY_THROUGH_TUNNEL if combination["proxy"] == "tunnel" else ())
        allowed |= set(axes.DIFFERS_AFTER_RETRY_WITH_DIGEST if combination["auth"] == "digest" else ())
        allowed |= set(axes.DIFFERS_AFTER_RETRY_FROM_COPY if combination["body"] == "chunked" else ())
    if stream == "progress" and "progress" in allowed:
        return [" ".join(line.split(" ")[:2]) for line in lines]  # the download's
    return [line for line in lines if line.split(" ")[0] not in allowed] if stream == "info" else lines


def _expected_requests(combination, requests):
    """What the origin is to see of a retried transfer, if it sees `requests` of one without the fault."""
    fault = combination["fault"]
    if fault == "busy-for-ever":
        return requests * MAX_ATTEMPTS
    if fault == "busy-after-step":
        return requests + requests[combination["auth"] == "digest" :]
    return requests if fault == "refused-by-proxy" else requests[:1] + requests


def _difference(what, expected, actual):
    return "\n  ".join([f"{what}: instead of", *map(str, expected), "there is", *map(str, actual)])


def differences(combination, bare, preloaded):
    """A list of texts: what the program or the server could tell that it shouldn't."""
    if preloaded.returncode != bare.returncode or preloaded.stderr != bare.stderr:
        return [f"exit status {preloaded.returncode} instead of {bare.returncode}: {preloaded.stderr}"]
    retried = is_retried(combination)
    found = []
    for section, streams in bare.sections.items():
        for stream, lines in streams.items():
            expected = _without_allowed(combination, section, stream, lines, retried)
            seen = preloaded.sections.get(section, {}).get(stream, [])
            if stream == "timer" and not seen:
                continue  # on a busy machine it isn't always to be seen
            actual = _without_allowed(combination, section, stream, seen, retried)
            compares_retry = retried and section == "first"
            if _is_changed_by_retry(combination, stream, expected, actual) if compares_retry else actual != expected:
                found.append(_difference(f"{section} {stream}", expected, actual))
    requests = _expected_requests(combination, bare.requests) if retried else bare.requests
    if preloaded.requests != requests:
        found.append(_difference("requests", requests, preloaded.requests))
    return found
