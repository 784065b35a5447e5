# SPDX-License-Identifier: MIT
# file: gate/gate.c
# Shows a redirect step in each attempt.
s/return step < gate->delivered_steps \&\&/return false \&\& step < gate->delivered_steps \&\&/
