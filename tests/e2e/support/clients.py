# SPDX-License-Identifier: MIT
"""
Stock programs on libcurl, each of which fetches one URL and says by its exit status whether that worked.

Between them: the main program linked with libcurl (curl, cmake), and extension modules loaded RTLD_LOCAL, of the
OpenSSL flavour (lua) and the GnuTLS flavour (pycurl, perl).
"""

import dataclasses
import pathlib

import pytest

PYCURL = """
import sys, pycurl
curl = pycurl.Curl()
curl.setopt(curl.URL, sys.argv[1])
curl.setopt(curl.FAILONERROR, 1)
curl.perform()
"""
PERL = 'my $r = WWW::Curl::Simple->new->get($ARGV[0]); print $r->content; exit(!$r->is_success)'
LUA = (
    'require "curl"; local c = curl.easy_init(); c:setopt(curl.OPT_URL, arg[1]); c:setopt(curl.OPT_FAILONERROR, 1);'
    " os.exit(c:perform())"
)
CMAKE = """
file(DOWNLOAD "${URL}" "${CMAKE_CURRENT_LIST_DIR}/downloaded" STATUS status)
list(GET status 0 code)
if(NOT code EQUAL 0)
  message(FATAL_ERROR "${status}")
endif()
file(READ "${CMAKE_CURRENT_LIST_DIR}/downloaded" body)
message("${body}")
"""


def _script(directory, name, text):
    path = directory / name
    path.write_text(text)
    return str(path)


@dataclasses.dataclass(frozen=True)
class Client:
    name: str
    program: str
    argv: object  # (url, directory for scripts) -> the command
    probe: tuple = None  # a command that succeeds if what it needs is installed

    def __str__(self):
        return self.name


CLIENTS = [
    Client("curl", "/usr/bin/curl", lambda url, _: ["/usr/bin/curl", "-sS", "-f", url]),
    Client(
        "pycurl",
        "/usr/bin/python3",
        lambda url, _: ["/usr/bin/python3", "-c", PYCURL, url],
        ("/usr/bin/python3", "-c", "import pycurl"),
    ),
    Client(
        "perl",
        "/usr/bin/perl",
        lambda url, _: ["/usr/bin/perl", "-MWWW::Curl::Simple", "-e", PERL, url],
        ("/usr/bin/perl", "-MWWW::Curl::Simple", "-e", "1"),
    ),
    Client(
        "lua",
        "/usr/bin/lua5.1",
        lambda url, directory: ["/usr/bin/lua5.1", _script(directory, "get.lua", LUA), url],
        ("/usr/bin/lua5.1", "-e", 'require "curl"'),
    ),
    Client(
        "cmake",
        "/usr/bin/cmake",
        lambda url, directory: ["/usr/bin/cmake", f"-DURL={url}", "-P", _script(directory, "get.cmake", CMAKE)],
    ),
]


def require(client, bare):
    """Skips the test where the client isn't installed."""
    if not pathlib.Path(client.program).exists() or (client.probe and bare(list(client.probe)).returncode != 0):
        pytest.skip(f"{client.name} is not installed")
