/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_PROCESS_OBJECTS_H
#define TENACURL_CLI_CHECK_PROCESS_OBJECTS_H

/*
 * What the objects that a process has mapped have to do with libcurl. All is read from its memory, so that a library
 * counts as it was when the process mapped it, also if its file was replaced since.
 */

#include "cli/check/process_memory.h"

/* A place that holds, or will hold, the address of one of libcurl's functions. */
struct process_reference {
	const char *function;
	bool is_data; /* not in the procedure linkage table */
	uintptr_t address;
};

struct process_object {
	const char *path; /* the mapping's */
	uintptr_t begin, end;
	char *strings;      /* the object's own; the other texts lie in it */
	const char *soname; /* "": none */
	const char **needed;
	size_t needed_count;
	bool exports_easy;    /* curl_easy_perform */
	const char *node;     /* the version that its curl_easy_perform has; "": none */
	uintptr_t bind_table; /* address of interpose/bind/bind.h's table; 0: it has none */
	struct process_reference *references;
	size_t reference_count;
};

struct process_objects {
	struct process_object *all;
	size_t count;
};

/*
 * Reads the objects of this program's own class that are mapped; what makes no sense is left out. Returns false without
 * memory. To be freed whatever is returned; paths belong to `memory`.
 */
bool process_objects_read(const struct process_memory *memory, struct process_objects *objects);
void process_objects_free(struct process_objects *objects);

/* Returns the object that an address lies in, NULL if none does. */
const struct process_object *process_objects_at(const struct process_objects *objects, uintptr_t address);

/* Whether a function makes transfers, by the one interface or the other. */
bool process_is_easy_function(const char *function);
bool process_is_multi_function(const char *function);

#endif
