# SPDX-License-Identifier: MIT
"""`tenacurl simulate` against the vectors of the deadline model, and what it refuses."""

import copy
import json
import os
import pathlib
import subprocess

import pytest

REPO = pathlib.Path(__file__).resolve().parents[2]
TENACURL = pathlib.Path(os.environ.get("BUILD", REPO / "build")).resolve() / "tenacurl"
VECTORS = REPO / "tests" / "vectors"

GOOD = {
    "policy": {
        "total_ms": 1500,
        "per_try_ms": 600,
        "max_attempts": 3,
        "min_try_ms": 100,
        "base_ms": 200,
        "backoff_cap_ms": 800,
        "replay_safe": True,
    },
    "outcomes": [
        {"duration_ms": 30, "status": 503, "retry_after_ms": None},
        {"duration_ms": 20, "status": 200, "retry_after_ms": None},
    ],
    "draws": [0.5],
}


def simulate(*arguments, text=b""):
    return subprocess.run(
        [TENACURL, "simulate", *arguments], input=text, stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=60
    )


def results_of(text):
    """The results of lines given on standard input, which must all be taken as data."""
    done = simulate("-", text=text.encode() if isinstance(text, str) else text)
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return [json.loads(line) for line in done.stdout.splitlines()]


def is_rejection(result):
    return set(result) == {"rejected", "error"} and result["rejected"] is True and len(result["error"]) > 0


def changed(path, value):
    """GOOD with the member at `path` replaced, as a line."""
    line = copy.deepcopy(GOOD)
    place = line
    for key in path[:-1]:
        place = place[key]
    place[path[-1]] = value
    return json.dumps(line)


def read_vectors(name):
    return [json.loads(line) for line in (VECTORS / name).read_text().splitlines()]


def test_every_vector_gives_its_result():
    vectors = read_vectors("deadline.jsonl")
    done = simulate(VECTORS / "deadline.jsonl")
    assert done.returncode == 0
    results = [json.loads(line) for line in done.stdout.splitlines()]
    assert len(vectors) == len(results) == 2000
    wrong = [vector["name"] for vector, result in zip(vectors, results) if vector["result"] != result]
    assert wrong == []


def test_every_bad_vector_is_refused():
    vectors = read_vectors("deadline-rejected.jsonl")
    results = results_of((VECTORS / "deadline-rejected.jsonl").read_bytes())
    assert len(vectors) == len(results) == 45
    accepted = [vector["name"] for vector, result in zip(vectors, results) if not is_rejection(result)]
    assert accepted == []


def test_shape_of_the_output():
    done = simulate("-", text=json.dumps(GOOD).encode())
    assert done.stdout.decode() == (
        '{"ok":true,"stop":"success","attempts":2,"elapsed_ms":150,"trace":['
        '{"kind":"attempt","number":1,"start_ms":0,"limit_ms":600,"spent_ms":30,"status":503},'
        '{"kind":"wait","start_ms":30,"wait_ms":100},'
        '{"kind":"attempt","number":2,"start_ms":130,"limit_ms":600,"spent_ms":20,"status":200}]}\n'
    )


def test_full_attempt_is_reserved_within_the_deadline():
    """Of 12 s, attempts of 4 s fit at 0 and 5. A third would start at 11 with 1 s left, so its wait isn't slept."""
    hangs = {"duration_ms": 60_000, "status": "timeout", "retry_after_ms": None}
    answers = {"duration_ms": 20, "status": 200, "retry_after_ms": None}
    case = {
        "policy": {
            "total_ms": 12_000,
            "per_try_ms": 4_000,
            "min_try_ms": 4_000,
            "max_attempts": 10,
            "base_ms": 1_000,
            "backoff_cap_ms": 10_000,
            "replay_safe": True,
        },
        "outcomes": [hangs, hangs, answers],
        "draws": [1, 1],  # the longest of each wait: 1 s and 2 s
    }
    assert results_of(json.dumps(case)) == [{
        "ok": False,
        "stop": "retry_budget",
        "attempts": 2,
        "elapsed_ms": 9_000,
        "trace": [
            {"kind": "attempt", "number": 1, "start_ms": 0, "limit_ms": 4_000, "spent_ms": 4_000, "status": "timeout"},
            {"kind": "wait", "start_ms": 4_000, "wait_ms": 1_000},
            {"kind": "attempt", "number": 2, "start_ms": 5_000, "limit_ms": 4_000, "spent_ms": 4_000,
             "status": "timeout"},
        ],
    }]
    # With 3 s more there is room for it.
    case["policy"]["total_ms"] = 15_000
    result = results_of(json.dumps(case))[0]
    assert (result["ok"], result["attempts"], result["elapsed_ms"]) == (True, 3, 11_020)


@pytest.mark.parametrize(
    "draw", ["1.0000001", "-0.1", "2", "-1", "true", "false", '"0.5"', "NaN", "Infinity", "-Infinity", "1e999", "null", "[0.5]"]
)
def test_draw_is_refused(draw):
    line = json.dumps(GOOD).replace('"draws": [0.5]', f'"draws": [{draw}]')
    assert line != json.dumps(GOOD)
    assert is_rejection(results_of(line)[0])


@pytest.mark.parametrize("draw", ["0", "1", "0.0", "1.0", "1e-3"])
def test_draw_is_taken(draw):
    line = json.dumps(GOOD).replace('"draws": [0.5]', f'"draws": [{draw}]')
    assert results_of(line)[0]["ok"] is True


@pytest.mark.parametrize(
    "path, value, word",
    [
        (["draws"], [], "draws"),
        (["draws"], [0.5, 0.5], "draws"),
        (["draws"], 0.5, "draws"),
        (["outcomes"], {}, "outcomes"),
        (["outcomes", 0], 503, "outcomes[0]"),
        (["outcomes", 1, "status"], "Timeout", "outcomes[1]"),
        (["outcomes", 1, "status"], None, "outcomes[1]"),
        (["outcomes", 0, "retry_after_ms"], False, "retry_after_ms"),
        (["outcomes", 0, "duration_ms"], 10**18, "duration_ms"),
        (["outcomes", 0, "duration_ms"], 10**30, "JSON"),
        (["outcomes", 0, "body"], 1, "body"),
        (["policy"], [], "policy"),
        (["policy", "total_ms"], 10**15, "total_ms"),
        (["policy", "max_attempts"], 10**9, "max_attempts"),
        (["policy", "jitter"], "full", "jitter"),
        (["policy", "replay_safe"], "true", "replay_safe"),
        (["policy", "replay_safe"], None, "replay_safe"),
        (["policy", "min_try_ms"], 601, "min_try_ms"),
        (["name"], 1, "name"),
        (["seed"], 1, "seed"),
    ],
)
def test_value_is_refused_and_named(path, value, word):
    result = results_of(changed(path, value))[0]
    assert is_rejection(result)
    assert word in result["error"]


@pytest.mark.parametrize("path", [["policy"], ["outcomes"], ["draws"], ["policy", "base_ms"], ["outcomes", 0, "status"]])
def test_missing_member_is_refused_and_named(path):
    line = copy.deepcopy(GOOD)
    place = line
    for key in path[:-1]:
        place = place[key]
    del place[path[-1]]
    result = results_of(json.dumps(line))[0]
    assert is_rejection(result)
    assert path[-1] in result["error"]


@pytest.mark.parametrize(
    "line",
    [
        b"{",
        b"[]",
        b"1",
        b"null",
        json.dumps(GOOD).encode() + b" x",
        json.dumps(GOOD).encode() * 2,
        json.dumps(GOOD).encode().replace(b'"draws"', b'"draws": [0.5], "draws"'),
        json.dumps(GOOD).encode().replace(b'"base_ms"', b'"base_ms": 1, "base_ms"'),
        json.dumps(GOOD).encode() + b"\0",
        b"\0" + json.dumps(GOOD).encode(),
        b"\xff\xfe",
        b'{"\xff": 1}',
        b"[" * 100000,
        b"\xef\xbb\xbf" + json.dumps(GOOD).encode(),
    ],
)
def test_line_is_refused(line):
    assert is_rejection(results_of(line)[0])


def test_refused_line_loses_nothing():
    good = json.dumps(GOOD)
    results = results_of(f"{good}\n\n   \t\r\nnonsense\n{good}\r\n{good}")
    assert [is_rejection(result) for result in results] == [False, True, False, False]


def test_name_result_and_rejected_are_ignored():
    line = dict(GOOD, name="a name", result={"ok": False}, rejected=True)
    assert results_of(json.dumps(line)) == results_of(json.dumps(GOOD))


def test_line_of_any_length():
    line = copy.deepcopy(GOOD)
    line["outcomes"] = line["outcomes"] * 50000
    assert results_of(json.dumps(line))[0]["attempts"] == 2


def test_redirect_that_nobody_follows_is_not_ok():
    result = results_of(changed(["outcomes", 1, "status"], 302))[0]
    assert (result["ok"], result["stop"], result["attempts"]) == (False, "terminal_error", 2)


def test_several_files_in_order(tmp_path):
    (tmp_path / "one").write_text(json.dumps(GOOD) + "\n")
    (tmp_path / "two").write_text(changed(["outcomes", 0, "status"], 200).replace("[0.5]", "[]") + "\n")
    done = simulate(tmp_path / "one", "-", tmp_path / "two", text=json.dumps(GOOD).encode())
    assert done.returncode == 0
    assert [json.loads(line)["attempts"] for line in done.stdout.splitlines()] == [2, 2, 1]


def test_file_that_cannot_be_read(tmp_path):
    (tmp_path / "one").write_text(json.dumps(GOOD) + "\n")
    done = simulate(tmp_path / "missing", tmp_path / "one")
    assert done.returncode == 2
    assert str(tmp_path / "missing") in done.stderr.decode()
    assert len(done.stdout.splitlines()) == 1
    assert simulate(tmp_path).returncode == 2


@pytest.mark.parametrize("arguments, what", [
    ([], "which file?"), (["--nonsense"], "'--nonsense'"), (["-x"], "'-x'"), (["--"], "which file?"),
    (["--json", "x"], "go with --fleet"),
])
def test_usage(arguments, what):
    done = simulate(*arguments)
    assert done.returncode == 2
    assert done.stderr.startswith(b"tenacurl simulate: ") and what.encode() in done.stderr
    assert done.stdout == b""


def test_help():
    done = simulate("--help")
    assert done.returncode == 0
    assert done.stdout.startswith(b"Usage: tenacurl simulate")


def test_output_that_cannot_be_written():
    with open("/dev/full", "wb") as full:
        done = subprocess.run(
            [TENACURL, "simulate", VECTORS / "deadline.jsonl"], stdout=full, stderr=subprocess.PIPE, timeout=60
        )
    assert done.returncode == 2
    assert b"standard output" in done.stderr
