# SPDX-License-Identifier: MIT
"""One reader of URLs: section, breaker, budget and log go by the URL that libcurl requests."""

import json

import pytest

CURL = "/usr/bin/curl"
FAST = {"backoff_base_ms": 1, "backoff_cap_ms": 1, "breaker": "off"}
BUSY = {"status": 503, "repeat": True}


def sections(match):
    return {"policy": FAST, "upstream it": {"match": match, "mode": "off"}}


def origins_of(build, runner, directory):
    """The origins that the state in this directory knows."""
    done = runner.bare([build / "tenacurl", "stats", "--json"], env={"TENACURL_STATE": str(directory)})
    return {row["origin"] for user in json.loads(done.stdout)["users"] for row in user["origins"]}


@pytest.mark.parametrize("match, connections", [("https://*", 1), ("http://*", 4)])
def test_h14_the_default_protocol_chooses_the_section(origin, tenacurl_run, match, connections):
    """A server that can't speak TLS: each attempt is a connection."""
    server = origin({"paths": {}})
    result = tenacurl_run([CURL, "-s", "--proto-default", "https", f"127.0.0.1:{server.port}/x"], policy=sections(match))
    assert result.returncode == 35
    assert len(server.connections) == connections


def test_h14_the_default_protocol_is_part_of_the_origin(build, origin, runner, tmp_path):
    server = origin({"paths": {}})
    result = runner.run([CURL, "-s", "--proto-default", "https", f"127.0.0.1:{server.port}/x"],
                        policy={**FAST, "max_attempts": 2}, env={"TENACURL_STATE": str(tmp_path)})
    there = f"https://127.0.0.1:{server.port}"
    assert {record["url"] for record in result.records} == {f"{there}/x"}
    assert origins_of(build, runner, tmp_path) == {there}


def test_h14_curlopt_port_is_part_of_the_origin(build, origin, runner, tmp_path):
    server = origin({"paths": {"/x": [BUSY]}})
    result = runner.run([build / "tests/clients/transfer", "http://127.0.0.1:1/x", f"port={server.port}"],
                        policy=sections(f"127.0.0.1:{server.port}"), env={"TENACURL_STATE": str(tmp_path)})
    assert result.returncode == 0 and len(server.requests) == 1
    runner.run([build / "tests/clients/transfer", "http://127.0.0.1:1/x", f"port={server.port}"],
               policy={**FAST, "max_attempts": 2}, env={"TENACURL_STATE": str(tmp_path)})
    assert len(server.requests) == 3
    assert origins_of(build, runner, tmp_path) == {server.url("").rstrip("/")}


@pytest.mark.parametrize("spelling", [
    "127.0.0.1:{port}/x", "HTTP://127.0.0.1:{port}/x", "http:/127.0.0.1:{port}/x", "http:///127.0.0.1:{port}/x",
    "http://u:p@127.0.0.1:{port}/x", "http://127.1:{port}/x", "http://0x7f000001:0{port}/x",
    "http://%31%32%37.0.0.1:{port}/x", "http://127.0.0.1:{port}/y/../x", "http://127.0.0.1:{port}/x#f"])
def test_h14_all_spellings_of_a_url_get_its_section(origin, tenacurl_run, spelling):
    server = origin({"paths": {"/x": [BUSY]}})
    policy = sections(f"http://127.0.0.1:{server.port}/x")
    result = tenacurl_run([CURL, "-s", spelling.format(port=server.port)], policy=policy)
    assert (result.returncode, len(server.requests)) == (0, 1)


@pytest.mark.parametrize("url, code", [
    ("ftp.localhost:1/x", 7), ("http://127.0.0.1:1x/", 3), ("http://a@b@127.0.0.1:1/", 3), ("file:///nowhere", 37)])
def test_h14_what_is_no_http_url_is_left_alone(tenacurl_run, url, code):
    argv = [CURL, "-s", "--resolve", "ftp.localhost:1:127.0.0.1", url]
    result = tenacurl_run(argv, policy={**FAST, "log_events": "all"})
    assert (result.returncode, result.records) == (code, [])


def test_h14_explain_says_what_is_left_alone(build, bare):
    def explained(url):
        return bare([build / "tenacurl", "policy", "explain", url]).stdout.decode()

    assert "no upstream section's match fits the URL" in explained("http://h/")
    for url in ("ftp://h/", "ftp.h", "http://h:x/", "file:///x"):
        assert "tenacurl stays out" in explained(url)


@pytest.mark.parametrize("path, told", [
    ("/services/T024BE7LD/B03KC5NK0DV/uQ3xKZ1yV7mJ8wPfT2aLcR9d", None), ("/a;jsessionid=uQ3xKZ/b", "/a/b"),
    ("/token/uQ3xKZ", None), ("/v1beta1/how-to-retry-2024", "/v1beta1/how-to-retry-2024")])
def test_a16_tokens_in_paths_reach_no_log(origin, runner, tmp_path, path, told):
    server = origin({"paths": {path: [BUSY]}})
    result = runner.run([CURL, "-s", server.url(path)], policy={**FAST, "max_attempts": 2},
                        env={"TENACURL_STATE": str(tmp_path / "state")})
    assert len(server.requests) == 2 and len(result.records) == 3
    (url,) = {record["url"] for record in result.records}
    assert "uQ3x" not in url and url.startswith(server.url(""))
    assert told is None or url == server.url(told)
    for file in (tmp_path / "state").rglob("*"):
        assert not file.is_file() or b"uQ3x" not in file.read_bytes()
