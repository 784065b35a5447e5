/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_BOOT_ID_H
#define TENACURL_BASE_BOOT_ID_H

/* The id that the kernel gives each boot of a host: a UUID in small letters (random(4)). */

#include <stdbool.h>

#define BOOT_ID_BYTES   36
#define BOOT_ID_UNKNOWN "00000000-0000-0000-0000-000000000000" /* stands for one that can't be read */

/*
 * Reads the id of this boot, terminated. Returns false if it isn't there to be read: for want of a descriptor, or with
 * ProcSubset=pid. System calls, no allocation, any thread; errno isn't kept.
 */
bool boot_id_read(char id[static BOOT_ID_BYTES + 1]);

/* Whether the text begins with what looks like one. Pure, async-signal-safe. */
bool boot_id_begins(const char *text);

#endif
