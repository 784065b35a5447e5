# SPDX-License-Identifier: MIT
# file: gate/deliver.c
# Takes a pause during the flush for consent.
s/\t\t\treturn DELIVER_PAUSED;/\t\t\ttaken = event.bytes;/
