# SPDX-License-Identifier: MIT
# file: parts/body.c
# Goes on where the body is instead of rewinding it.
s/\tif (!body->was_read)/\tif (true)/
