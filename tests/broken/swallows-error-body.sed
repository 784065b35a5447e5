# SPDX-License-Identifier: MIT
# file: gate.c
# Delivers an error without its body.
s/\t\treturn take_live(operation, kind, data, bytes);/\t\treturn kind == HELD_WRITE \&\& gate->block.status >= 400 ? bytes : take_live(operation, kind, data, bytes);/
