/* SPDX-License-Identifier: MIT */
#include "cli/elf/colon_list.h"

#include <string.h>

void colon_list_append(char *list, const char *entry, size_t entry_bytes)
{
	size_t used = strlen(list);
	if (used)
		list[used++] = ':';
	memcpy(list + used, entry, entry_bytes);
	list[used + entry_bytes] = '\0';
}
