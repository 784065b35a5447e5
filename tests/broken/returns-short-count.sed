# SPDX-License-Identifier: MIT
# file: gate/gate.c
# Tells libcurl that less was taken than came.
s/^\treturn gate->observes ? deliver_now(gate, kind, data, bytes) : bytes;/\treturn bytes - 1;/; /^static size_t keep_rest(/,/^}/s/? bytes :/? bytes - 1 :/
