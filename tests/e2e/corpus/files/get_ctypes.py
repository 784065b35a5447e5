# SPDX-License-Identifier: MIT
"""Prints what a URL gives, by libcurl through ctypes. The exit status is libcurl's."""
import ctypes
import sys

URL, FAILONERROR = 10002, 45

curl = ctypes.CDLL("libcurl.so.4")
curl.curl_easy_init.restype = ctypes.c_void_p
handle = ctypes.c_void_p(curl.curl_easy_init())
curl.curl_easy_setopt(handle, URL, ctypes.c_char_p(sys.argv[1].encode()))
curl.curl_easy_setopt(handle, FAILONERROR, ctypes.c_long(1))
sys.exit(curl.curl_easy_perform(handle))
