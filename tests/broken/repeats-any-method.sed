# SPDX-License-Identifier: MIT
# file: parts/outcome.c
# Takes every request for one that may be repeated.
s/\.method = method_of(handle, &wire),/.method = ENGINE_METHOD_GET,/
