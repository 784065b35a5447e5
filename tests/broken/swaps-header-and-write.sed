# SPDX-License-Identifier: MIT
# file: gate/gate.c
# With CURLOPT_HEADER gives each line to the header callback first.
/^static size_t take_write(/,/^}/{s/hold(gate, HELD_WRITE/hold(gate, HELD_HEADER/; s/show(gate, HELD_WRITE/show(gate, HELD_HEADER/}
