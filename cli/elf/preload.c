/* SPDX-License-Identifier: MIT */
#include "cli/elf/preload.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "cli/elf/colon_list.h"
#include "interpose/bind/bind.h"

static bool is_sanitizer(const char *entry)
{
	static const char *const SANITIZERS[] = {"libasan.", "libtsan.",   "libubsan.",
	                                         "liblsan.", "libhwasan.", "libclang_rt."};
	for (size_t i = 0; i < sizeof(SANITIZERS) / sizeof(SANITIZERS[0]); i++)
		if (strncmp(basename(entry), SANITIZERS[i], strlen(SANITIZERS[i])) == 0)
			return true;
	return false;
}

static bool is_other(const char *entry)
{
	return !is_sanitizer(entry) && strcmp(basename(entry), PRELOAD_LIBRARY) != 0;
}

char *preload_compose(const char *inherited, const char *object)
{
	/* ld.so(8) takes both. */
	struct colon_list from = colon_list_read(inherited, ": "), list = {0};
	colon_list_add_some(&list, &from, is_sanitizer);
	if (object)
		colon_list_add(&list, object);
	colon_list_add_some(&list, &from, is_other);
	return colon_list_end(&list, &from);
}

char *preload_compose_asan_options(const char *inherited)
{
	char *out = NULL;
	inherited = inherited ? inherited : "";
	/* The user may have set it either way; the last one would win. */
	bool is_set = strstr(inherited, "verify_asan_link_order=") != NULL;
	const char *ours = is_set ? "" : "verify_asan_link_order=0";
	return asprintf(&out, "%s%s%s", inherited, *inherited && *ours ? ":" : "", ours) < 0 ? NULL : out;
}
