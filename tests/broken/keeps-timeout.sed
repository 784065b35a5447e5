# SPDX-License-Identifier: MIT
# file: parts/lend.c
# Doesn't give CURLOPT_TIMEOUT back.
/{&lent->timeout, CURLOPT_TIMEOUT_MS, program->timeout_ms},/d
