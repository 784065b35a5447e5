/* SPDX-License-Identifier: MIT */
#include "base/boot_id.h"

#include <string.h>

#include "base/ascii.h"
#include "base/proc.h"

bool boot_id_read(char id[static BOOT_ID_BYTES + 1])
{
	return proc_read("/proc/sys/kernel/random/boot_id", id, BOOT_ID_BYTES + 1) == BOOT_ID_BYTES;
}

bool boot_id_begins(const char *text)
{
	for (size_t i = 0; i < BOOT_ID_BYTES; i++) {
		bool hyphen = i == 8 || i == 13 || i == 18 || i == 23;
		bool hexadecimal = ascii_is_digit(text[i]) || (text[i] >= 'a' && text[i] <= 'f');
		if (hyphen ? text[i] != '-' : !hexadecimal)
			return false;
	}
	return true;
}
