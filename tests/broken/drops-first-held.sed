# SPDX-License-Identifier: MIT
# file: gate/deliver.c
# Forgets the first event that was held.
s/size_t taken = deliver_event(/size_t taken = held->next_event == 0 ? event.bytes : deliver_event(/
