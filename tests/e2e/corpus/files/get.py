# SPDX-License-Identifier: MIT
"""Prints what a URL gives, by pycurl."""
import sys

import pycurl

curl = pycurl.Curl()
curl.setopt(curl.URL, sys.argv[1])
curl.setopt(curl.FAILONERROR, 1)
curl.perform()
