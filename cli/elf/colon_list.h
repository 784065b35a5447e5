/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_ELF_COLON_LIST_H
#define TENACURL_CLI_ELF_COLON_LIST_H

/* Lists as LD_PRELOAD, LD_AUDIT and GLIBC_TUNABLES hold them: entries with a colon between them. */

#include <stdbool.h>
#include <stddef.h>

struct colon_list {
	char *entries; /* as argz_add(3) has them; to free(). NULL: none */
	size_t bytes;
	bool has_failed; /* no memory */
};

/* Reads the entries of `text` (NULL: none), with any of the separators between them; empty ones aren't any. */
struct colon_list colon_list_read(const char *text, const char *separators);
void colon_list_add(struct colon_list *list, const char *entry);

/* Adds the entries of `from` for which `belongs` is true. */
void colon_list_add_some(struct colon_list *list, const struct colon_list *from, bool (*belongs)(const char *entry));

/* Returns the text of `list`, to free(), and frees both. NULL if there was no memory. */
char *colon_list_end(struct colon_list *list, struct colon_list *from);

#endif
