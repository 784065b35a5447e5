/* SPDX-License-Identifier: MIT */
#include "cli/elf/colon_list.h"

#include <argz.h>
#include <stdlib.h>
#include <string.h>

void colon_list_add(struct colon_list *list, const char *entry)
{
	list->has_failed |= argz_add(&list->entries, &list->bytes, entry) != 0;
}

struct colon_list colon_list_read(const char *text, const char *separators)
{
	struct colon_list list = {0};
	char *copy = strdup(text ? text : ""), *rest = copy;
	for (char *entry; (entry = strsep(&rest, separators));)
		if (*entry)
			colon_list_add(&list, entry);
	list.has_failed |= !copy;
	free(copy);
	return list;
}

void colon_list_add_some(struct colon_list *list, const struct colon_list *from, bool (*belongs)(const char *entry))
{
	for (char *entry = NULL; (entry = argz_next(from->entries, from->bytes, entry));)
		if (belongs(entry))
			colon_list_add(list, entry);
}

char *colon_list_end(struct colon_list *list, struct colon_list *from)
{
	bool has_failed = list->has_failed || from->has_failed;
	free(from->entries);
	if (list->entries)
		argz_stringify(list->entries, list->bytes, ':');
	if (!has_failed)
		return list->entries ? list->entries : strdup("");
	free(list->entries);
	return NULL;
}
