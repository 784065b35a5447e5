# SPDX-License-Identifier: MIT
"""
Programs with two kinds of libcurl in one process: each handle stays with the one that made it, time after time.

A call that reaches the other one ends in a wrong code or in a crash. TWO_FLAVOURS_RUNS says how often each is tried
(default 4; scripts/corpus --crashes: 100). What they do are rows of corpus/clients.toml; in apache2 both transfer:
mod_security2 (GnuTLS) asks for rules that it doesn't get, mod_auth_openidc (OpenSSL) for its provider.
"""

import os
import subprocess

import pytest

from support.corpus import PASSING, installed_packages, load, why_not
from support.corpus_run import Corpus, scratch

RUNS = int(os.environ.get("TWO_FLAVOURS_RUNS", "4"))
FLAVOURS = ("libcurl-gnutls.so.4", "libcurl.so.4")
MODULES = "/usr/lib/apache2/modules"
# The files by which the programs of a package get their two.
LINKED = {
    "gdal-bin": ["/usr/bin/gdalinfo"],
    "netcdf-bin": ["/usr/bin/ncdump"],
    "octave": ["/usr/bin/octave-cli"],
    "apache2-bin": [f"{MODULES}/mod_security2.so", f"{MODULES}/mod_auth_openidc.so"],
}
CLIENTS = [client for client in load() if client.path == "flavours" and client.is_wrapped]


@pytest.fixture(params=CLIENTS, ids=str)
def client(request):
    reason = why_not(request.param, installed_packages())
    if reason:
        pytest.skip(reason)
    return request.param


@pytest.fixture
def corpus(build):
    with scratch() as directory:
        yield Corpus(build, directory)


def test_both_are_loaded(client):
    """Else the other test would show nothing."""
    libraries = subprocess.run(["ldd", *LINKED[client.packages[0]]], capture_output=True, text=True, check=True).stdout
    assert [flavour for flavour in FLAVOURS if f"\t{flavour} =>" in libraries] == list(FLAVOURS)


def test_each_handle_stays_with_its_own(client, corpus):
    for number in range(RUNS):
        outcome = corpus.run(client, PASSING[number % len(PASSING)], ())
        assert outcome.success, (number, outcome)
        assert outcome.attempts >= 2, number
