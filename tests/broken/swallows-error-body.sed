# SPDX-License-Identifier: MIT
# file: gate.c
# Delivers an error without its body.
s/\t\treturn take_live(handle->active, HELD_WRITE, bytes, size \* count);/\t\treturn handle->active->gate.block.status >= 400 ? size * count : take_live(handle->active, HELD_WRITE, bytes, size * count);/
