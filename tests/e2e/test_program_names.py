# SPDX-License-Identifier: MIT
"""What a process is called: by `skip_programs`, in logs and state, and which words of its command line may be told."""

import json
import shutil

import pytest

CURL = "/usr/bin/curl"
SECRET = "S3CRET"
DOWN = {"status": 503, "repeat": True}
ONCE = {"max_attempts": 1, "breaker": "off"}

@pytest.fixture
def named(build, tmp_path):
    """named("perl5.36") -> a program of that name that asks for $URL."""

    def make(name):
        path = tmp_path / "bin" / name
        path.parent.mkdir(exist_ok=True)
        if not path.exists():
            shutil.copy(build / "tests/clients/named", path)
        return path

    return make


@pytest.fixture
def told(runner, named, origin, tmp_path):
    """told(name, words, files=…) -> the `program` of the log for this command line. Files exist where it runs."""
    server = origin({"paths": {"/x": [DOWN]}})

    def run(name, words, files=("s",), policy=ONCE, **env):
        runner.directory.mkdir(exist_ok=True)
        for file in files:
            path = runner.directory / file
            path.parent.mkdir(parents=True, exist_ok=True)
            path.touch()
        result = runner.run([named(name), *words], policy=policy, env={"URL": server.url("/x"), **env})
        assert result.returncode == 22, result
        assert SECRET not in str(result.records)
        return result.records[0]["program"] if result.records else None

    return run


@pytest.mark.parametrize("name, line, expected", [
    ("python3.11", "-W ignore p.py", "p.py"),
    ("php8.2", "-d memory_limit=512M job.php", "job.php"),
    ("perl5.36-x86_64-linux-gnu", "-I lib job.pl", "job.pl"),
    ("ruby3.1", "-r json ./job.rb", "job.rb"),
    ("lua5.4", "-l os deep/er/job.lua", "job.lua"),
    ("node", "--require fs job.js", "job.js"),
    ("R", "--no-echo --no-restore --file=job.R --args x", "job.R"),
    ("bash", "-eo pipefail job.sh", "job.sh"),
    # What is no interpreter has no script.
    ("curl", "job.py", "curl"),
    ("java", "-jar job.jar", "java"),
])
def test_h15_the_script_is_what_the_interpreter_runs(told, name, line, expected):
    words = line.split(" ")
    assert told(name, words, files=[word.split("=")[-1] for word in words if "job." in word or ".py" in word]) == expected


@pytest.mark.parametrize("name, words", [
    ("python3", ["-uc", f"password = '{SECRET}'"]),
    ("python3", ["-W", "ignore", f"{SECRET}"]),
    ("python3", ["--unknown-option", SECRET]),
    ("python3", ["-m", f"{SECRET}"]),
    ("cmake", ["-D", f"TOKEN={SECRET}", ".."]),
    ("bash", ["-c", f"TOKEN={SECRET} curl x"]),
    ("php", ["-d", f"key={SECRET}"]),
    ("perl", ["-lne", SECRET]),
    ("node", ["--eval", SECRET]),
    ("sh", [f"https://user:{SECRET}@host/x"]),
    ("sh", ["x" * 300 + SECRET]),
    ("sh", [f"\x1b]0;{SECRET}\x07\n"]),
])
def test_a07_words_that_are_no_file_are_not_told(told, named, runner, build, tmp_path, name, words):
    """Neither in the log (`told` looks) nor in the state."""
    assert told(name, words, files=[], TENACURL_STATE=str(tmp_path / "state"), CALLS="4") == name
    done = runner.bare([build / "tenacurl", "last", "--json"], env={"TENACURL_STATE": str(tmp_path / "state")})
    operations = json.loads(done.stdout)["operations"]
    assert {operation["program"] for operation in operations} == {name}
    for path in (tmp_path / "state").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()


@pytest.mark.parametrize("file, expected", [
    ("with a blank.py", "with a blank.py"), ("new\nline\x1b[31m.py", "new?line?[31m.py"), ("größe.py", "größe.py"),
    ("-dash.py", "-dash.py"), ("TOKEN=x.py", "TOKEN=x.py"), ("d" * 250, "d" * 250), ("\udcff.py", "\ufffd.py")])
def test_a07_names_of_files_may_be_anything(told, file, expected):
    assert told("python3", ["-u", f"./{file}"], files=[file]) == expected


def test_a07_a_directory_or_a_pipe_is_no_script(told):
    assert told("python3", ["."], files=[]) == "python3"
    assert told("bash", ["/dev/stdin"], files=[]) == "bash"
    assert told("bash", [""], files=[]) == "bash"


def test_h15_a_daemon_that_went_elsewhere_is_still_called_by_its_script(told, runner):
    assert told("python3", ["job.py"], files=["job.py"], CHDIR="/", PWD=str(runner.directory)) == "job.py"
    assert told("python3", ["job.py"], files=["job.py"], CHDIR="/", PWD="nowhere") == "python3"


@pytest.mark.parametrize("line", ["-W ignore s.py", "-uW ignore ./s.py", "-X dev -- s.py"])
def test_a07_skip_programs_finds_the_script(told, line):
    skips = {**ONCE, "skip_programs": "s.py"}
    assert told("python3", line.split(" "), files=["s.py"], policy=skips) is None
    assert told("python3", ["-m", "s.py"], files=[], policy=skips) is None  # a module, by its name
    assert told("python3", ["-W", "s.py", "other.py"], files=["s.py", "other.py"], policy=skips) == "other.py"


def test_a07_a_shebang_with_options(runner, named, origin):
    """The kernel passes the words of the line as one; env -S takes them apart."""
    server = origin({"paths": {"/x": [DOWN]}})
    for number, line in enumerate(["{0} -W ignore", "/usr/bin/env -S {0} -W ignore -u", "/usr/bin/env {0}", "{0}"]):
        script = runner.directory / f"script{number}"
        script.parent.mkdir(exist_ok=True)
        script.write_text(f"#!{line.format(named('python3'))}\n")
        script.chmod(0o755)
        result = runner.run([script], policy=ONCE, env={"URL": server.url("/x")})
        assert result.records[0]["program"] == f"script{number}", line


def test_a07_an_executable_that_was_replaced_keeps_its_name(runner, named, origin):
    server = origin({"paths": {"/x": [DOWN]}})
    program = named("worker")
    result = runner.run(["/bin/sh", "-c", 'exec 3<"$1"; rm "$1"; exec /proc/self/fd/3', "sh", program], policy=ONCE,
                        env={"URL": server.url("/x")})
    assert result.records[0]["program"] == "worker"


@pytest.mark.parametrize("first, second", [
    (["-d", "memory_limit=512M", "a.php"], ["-d", "memory_limit=512M", "b.php"]),
    (["-r", "first();"], ["-r", "second();"]),
    (["x/job.php"], ["y/job.php"]),
    (["-d", "x=" + "1" * 5000, "a.php"], ["-d", "x=" + "1" * 5000, "b.php"]),
])
def test_h15_two_jobs_do_not_share_what_was_learned(runner, named, origin, tmp_path, first, second):
    """The first job's loop is learned: it is left one attempt. The second one has its retries."""
    server = origin({"paths": {"/x": [DOWN]}})
    for words in (first, second):
        for word in words:
            if word.endswith(".php"):
                path = runner.directory / word
                path.parent.mkdir(parents=True, exist_ok=True)
                path.touch()
    policy = {"max_attempts": 2, "backoff_base_ms": 1, "breaker": "off"}
    env = {"URL": server.url("/x"), "TENACURL_STATE": str(tmp_path / "state")}

    def sends(words, calls):
        before = len(server.requests)
        runner.run([named("php8.2"), *words], policy=policy, env={**env, "CALLS": calls})
        return len(server.requests) - before

    assert sends(first, "4") == 5
    assert sends(first, "1") == 1
    assert sends(second, "1") == 2


@pytest.mark.parametrize("verb, expected", [
    ("PROPFIND", "PROPFIND"), ("M-SEARCH", "M-SEARCH"), ("post", "post"), ("S3CRET", "?"), ("Bearer eyJhbG", "?"),
    ("\x1b[31mGET", "?"), ("SecretKey", "?"), ("A" * 40, "?"), ("---", "?")])
def test_a07_a_verb_that_is_no_word_is_not_told(tenacurl_run, origin, verb, expected):
    server = origin({"paths": {"/x": [DOWN]}})
    result = tenacurl_run([CURL, "-s", "-X", verb, server.url("/x")], policy=ONCE)
    assert {record["method"] for record in result.records} == {expected}
    assert SECRET not in str(result.records)


def test_a07_what_loops_is_called_by_its_executable(build, origin, runner, tmp_path):
    """A shell under a name with a secret in it, whose loop of curls is learned."""
    server = origin({"paths": {"/x": [DOWN]}})
    loop = f"for i in 1 2 3; do {CURL} -sf -o /dev/null {server.url('/x')}; done"
    env = {"TENACURL_STATE": str(tmp_path / "state")}
    argv = ["/bin/bash", "-c", f"exec -a '{SECRET}' /bin/bash -c '{loop}; true'"]
    runner.run(argv, policy={"max_attempts": 2, "backoff_base_ms": 1, "breaker": "off"}, env=env)
    done = runner.bare([build / "tenacurl", "stats", "--owners", "--json"], env=env)
    (user,) = json.loads(done.stdout)["users"]
    assert [caller["caller"] for caller in user["callers"]] == ["bash"]
    for path in (tmp_path / "state").rglob("*"):
        assert not path.is_file() or SECRET.encode() not in path.read_bytes()
