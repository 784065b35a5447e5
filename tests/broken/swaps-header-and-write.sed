# SPDX-License-Identifier: MIT
# file: gate.c
# With CURLOPT_HEADER gives each line to the header callback first.
s/return hold(operation, HELD_WRITE, data, bytes);/return hold(operation, HELD_HEADER, data, bytes);/
