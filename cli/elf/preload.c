/* SPDX-License-Identifier: MIT */
#include "cli/elf/preload.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/elf/colon_list.h"
#include "interpose/bind/bind.h"

#define SEPARATORS ": " /* ld.so(8) takes both */

enum entry_kind { ENTRY_SANITIZER, ENTRY_OTHER, ENTRY_TENACURL };

struct entry {
	const char *start;
	size_t bytes;
};

static bool next_entry(const char **list, struct entry *entry)
{
	*list += strspn(*list, SEPARATORS);
	*entry = (struct entry){*list, strcspn(*list, SEPARATORS)};
	*list += entry->bytes;
	return entry->bytes > 0;
}

static bool begins_with(struct entry name, const char *start)
{
	size_t bytes = strlen(start);
	return name.bytes >= bytes && memcmp(name.start, start, bytes) == 0;
}

static enum entry_kind kind_of(struct entry entry)
{
	static const char *const SANITIZERS[] = {"libasan.", "libtsan.",   "libubsan.",
	                                         "liblsan.", "libhwasan.", "libclang_rt."};
	const char *slash = memrchr(entry.start, '/', entry.bytes);
	struct entry name = entry;
	if (slash)
		name = (struct entry){slash + 1, entry.bytes - (size_t)(slash + 1 - entry.start)};
	for (size_t i = 0; i < sizeof(SANITIZERS) / sizeof(SANITIZERS[0]); i++)
		if (begins_with(name, SANITIZERS[i]))
			return ENTRY_SANITIZER;
	bool ours = name.bytes == strlen(PRELOAD_LIBRARY) && begins_with(name, PRELOAD_LIBRARY);
	return ours ? ENTRY_TENACURL : ENTRY_OTHER;
}

static void append_entries(char *out, const char *list, enum entry_kind kind)
{
	struct entry entry;
	while (next_entry(&list, &entry))
		if (kind_of(entry) == kind)
			colon_list_append(out, entry.start, entry.bytes);
}

char *preload_compose(const char *inherited, const char *object)
{
	if (!inherited)
		inherited = "";
	char *out = malloc(strlen(inherited) + (object ? strlen(object) : 0) + 3);
	if (!out)
		return NULL;
	out[0] = '\0';
	append_entries(out, inherited, ENTRY_SANITIZER);
	if (object)
		colon_list_append(out, object, strlen(object));
	append_entries(out, inherited, ENTRY_OTHER);
	return out;
}

char *preload_compose_asan_options(const char *inherited)
{
	static const char OPTION[] = "verify_asan_link_order=0";
	if (!inherited)
		inherited = "";
	char *out = malloc(strlen(inherited) + sizeof(OPTION) + 1);
	if (!out)
		return NULL;
	strcpy(out, inherited);
	/* The user may have set it either way; the last one would win. */
	if (!strstr(inherited, "verify_asan_link_order="))
		colon_list_append(out, OPTION, sizeof(OPTION) - 1);
	return out;
}
