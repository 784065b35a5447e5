/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_WATCH_FILE_H
#define TENACURL_CLI_CHECK_WATCH_FILE_H

/*
 * The file to which watched processes append what they see (interpose/bind/watch_format.h has its format), and what is
 * read from it. Whoever the program is can write to it, so nothing in it is believed to be well-formed.
 */

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>

struct watch_file {
	char directory[PATH_MAX];
	char path[PATH_MAX];
	int fd; /* -1: there is none */
};

/* Where a call went. */
enum watch_target { WATCH_TARGET_UNKNOWN, WATCH_TARGET_PRELOAD, WATCH_TARGET_BINDER, WATCH_TARGET_LIBCURL };

struct watch_process {
	long id;
	const char *program;
	bool has_tenacurl;
	bool is_switched_off; /* by its own TENACURL_DISABLE */
};

struct watch_libcurl {
	long process_id;
	const char *program;
	const char *path;
	const char *node; /* "CURL_OPENSSL_4"; "": it has no versions */
};

/* That an object called a function, or has its address in its data. */
struct watch_call {
	long process_id;
	const char *program;
	const char *object;
	bool is_multi;
	bool is_data; /* whether it was called isn't known */
	bool is_from_start;
	bool is_by_dlsym;
	enum watch_target target;
	const char *libcurl; /* "": not known */
};

struct watch_log {
	char *text; /* all texts lie in it */
	struct watch_process *processes;
	size_t process_count;
	struct watch_libcurl *libcurls;
	size_t libcurl_count;
	struct watch_call *calls;
	size_t call_count;
};

/* Makes a new, empty file. Returns false with errno set; `file` is to be removed in any case. */
bool watch_file_create(struct watch_file *file);

/* Removes the file and its directory. */
void watch_file_remove(struct watch_file *file);

/*
 * Reads what was written so far; lines that make no sense are left out. Returns false without memory or if the file
 * can't be read. The log is to be freed with watch_log_free() whatever is returned.
 */
bool watch_file_read(const struct watch_file *file, struct watch_log *log);
void watch_log_free(struct watch_log *log);

/* Returns the process that was this program under this id, NULL if it never told of itself. */
const struct watch_process *watch_log_process(const struct watch_log *log, long id, const char *program);

#endif
