/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_ELF_COLON_LIST_H
#define TENACURL_CLI_ELF_COLON_LIST_H

/* Lists as LD_PRELOAD, LD_AUDIT, GLIBC_TUNABLES and ASAN_OPTIONS hold them: entries with a colon between them. */

#include <stddef.h>

/* Appends an entry to `list`, a text in a buffer with room for the entry and two bytes more. */
void colon_list_append(char *list, const char *entry, size_t entry_bytes);

#endif
