/* SPDX-License-Identifier: MIT */
#include "cli/elf/binder.h"

#include <gnu/libc-version.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/elf/colon_list.h"
#include "interpose/bind/bind.h"

#define STATIC_TLS_TUNABLE "glibc.rtld.optional_static_tls="

/* The first glibc whose audit interface sees the bindings of libraries that bind at once. */
#define GLIBC_MAJOR 2
#define GLIBC_MINOR 35

static bool is_glibc_new_enough(void)
{
	unsigned major = 0, minor = 0;
	return sscanf(gnu_get_libc_version(), "%u.%u", &major, &minor) == 2 &&
	       (major > GLIBC_MAJOR || (major == GLIBC_MAJOR && minor >= GLIBC_MINOR));
}

/* Whether this program was started by the same dynamic linker, so that what is known of its C library counts. */
static bool is_our_linker(const char *interpreter)
{
	struct stat theirs, ours;
	const char *own = elf_own_interpreter();
	return own && stat(interpreter, &theirs) == 0 && stat(own, &ours) == 0 && theirs.st_dev == ours.st_dev &&
	       theirs.st_ino == ours.st_ino;
}

enum binder_state binder_decide(const struct link_tree *tree, bool complete)
{
	if (tree->count == 0)
		return BINDER_NO_UNKNOWN;
	const struct elf_file *program = &tree->objects[0];
	if (!elf_file_is_native(program))
		return BINDER_NO_FOREIGN;
	if (!is_glibc_new_enough())
		return BINDER_NO_OLD_GLIBC;
	if (!program->interpreter)
		return BINDER_SAFE;
	if (!is_our_linker(program->interpreter))
		return BINDER_NO_FOREIGN;
	if (!complete)
		return BINDER_NO_UNKNOWN;
	if (tree->has_sanitizer)
		return BINDER_NO_SANITIZER;
	return tree->static_tls_bytes > BINDER_TLS_BYTES_MAX ? BINDER_NO_TLS : BINDER_SAFE;
}

const char *binder_reason(enum binder_state state)
{
	static const char *const REASONS[] = {
	    [BINDER_SAFE] = "",
	    [BINDER_NO_OLD_GLIBC] = "glibc is older than 2.35",
	    [BINDER_NO_TLS] = "its libraries hold too much static thread-local storage",
	    [BINDER_NO_SANITIZER] = "it has a sanitizer",
	    [BINDER_NO_FOREIGN] = "it is of another architecture or C library",
	    [BINDER_NO_UNKNOWN] = "its libraries can't be found out",
	};
	return REASONS[state];
}

static bool is_others_module(const char *entry)
{
	return strcmp(basename(entry), BIND_LIBRARY) != 0;
}

char *binder_compose_audit(const char *inherited, const char *binder)
{
	struct colon_list from = colon_list_read(inherited, ":"), list = {0};
	if (binder)
		colon_list_add(&list, binder);
	colon_list_add_some(&list, &from, is_others_module);
	return colon_list_end(&list, &from);
}

static bool is_other_tunable(const char *entry)
{
	return strncmp(entry, STATIC_TLS_TUNABLE, strlen(STATIC_TLS_TUNABLE)) != 0;
}

char *binder_compose_tunables(const char *inherited)
{
	char ours[sizeof(STATIC_TLS_TUNABLE) + 24];
	unsigned long long room = BINDER_OPTIONAL_STATIC_TLS_BYTES;
	struct colon_list from = colon_list_read(inherited, ":"), list = {0};
	for (const char *at = inherited; at && (at = strstr(at, STATIC_TLS_TUNABLE));) {
		at += strlen(STATIC_TLS_TUNABLE);
		unsigned long long value = strtoull(at, NULL, 0);
		room = value > room ? value : room;
	}
	snprintf(ours, sizeof(ours), "%s%llu", STATIC_TLS_TUNABLE, room);
	colon_list_add_some(&list, &from, is_other_tunable);
	colon_list_add(&list, ours);
	return colon_list_end(&list, &from);
}
