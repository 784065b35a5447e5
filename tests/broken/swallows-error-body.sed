# SPDX-License-Identifier: MIT
# file: gate/gate.c
# Delivers an error without its body.
s/\t\treturn take_live(gate, HELD_WRITE, bytes, count_bytes);/\t\treturn gate->block.status >= 400 ? count_bytes : take_live(gate, HELD_WRITE, bytes, count_bytes);/
