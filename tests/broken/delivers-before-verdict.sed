# SPDX-License-Identifier: MIT
# file: gate.c
# Lets every response through as it comes.
s/gate->state = gate->observes ? GATE_LIVE : GATE_HOLD;/gate->state = GATE_LIVE;/
