# SPDX-License-Identifier: MIT
# file: parts/outcome.c
# Doesn't note that a byte went to the program.
s/\.delivered = gate->committed ||/.delivered = false \&\&/
