# SPDX-License-Identifier: MIT
# file: gate.c
# With CURLOPT_HEADER gives each line to the header callback first.
/^static size_t take_write(/,/^}/{s/hold(operation, HELD_WRITE/hold(operation, HELD_HEADER/; s/show(operation, HELD_WRITE/show(operation, HELD_HEADER/}
