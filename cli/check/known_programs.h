/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_KNOWN_PROGRAMS_H
#define TENACURL_CLI_CHECK_KNOWN_PROGRAMS_H

/*
 * What ELF files don't tell: which plugins a program loads, by which of libcurl's interfaces it usually works when it
 * imports both, which other programs it starts for its transfers. Each row was seen at run time (tests/e2e/corpus).
 *
 * Patterns are globs (fnmatch) on file names; a program's is the name it was called by or the one its links lead to.
 * The words of a row say when it counts: "pycurl|libcurl.so" if one of them occurs, "curl_exec&curl_multi_" if both do.
 * They are searched in the arguments, in the script, and in the files that the arguments name. What a word can be:
 *
 *   -Z, --parallel   an option: a whole argument, what is before its '=', or one letter of several ("-sZ")
 *
 *   @/etc/x/x.ini    a file that is there, as glob(3) has it
 *
 *   *                of plugins: the file's own name, without "lib" or "mod_" and the rest from the first dot on, as a
 *                    whole word
 *
 *   anything else    a text, wherever it occurs
 */

#include <stdbool.h>
#include <stddef.h>

#include "cli/check/report.h"
#include "cli/launch/subject.h"

/* What a program does with libcurl, through one of its objects. The first row that applies to an object counts. */
struct known_use {
	const char *program;            /* glob on the program's file name */
	const char *object;             /* glob on the object's file name; "": the program itself */
	const char *words;              /* NULL: whatever the command line says */
	enum check_interface interface; /* 0: it doesn't use libcurl then */
};

/* A plugin, module or binding that a program loads by dlopen. */
struct known_plugin {
	const char *program; /* glob on the program's file name */
	const char *files;   /* glob(3) of whole paths; with KNOWN_DLSYM what calls dlsym, NULL: the program itself */
	const char *words;   /* NULL: always loaded */
	enum known_load { KNOWN_LOCAL, KNOWN_GLOBAL, KNOWN_DEEPBIND, KNOWN_DLSYM } load;
};

/* A program that another one starts for its transfers. */
struct known_helper {
	const char *program; /* glob on the file name of the one that starts it */
	const char *helper;  /* path, or a name on PATH; it is taken to get the same arguments */
	const char *words;   /* NULL: always started */
};

extern const struct known_plugin KNOWN_PLUGINS[];
extern const size_t KNOWN_PLUGIN_COUNT;
extern const struct known_helper KNOWN_HELPERS[];
extern const size_t KNOWN_HELPER_COUNT;

/*
 * By which of the `possible` interfaces the program works through an object of its process, by the first row for it;
 * `likely` if there is none. `object` is a path; `is_program`: the object is the program itself.
 */
enum check_interface known_interface(const struct subject *subject, const char *object, bool is_program,
                                     enum check_interface possible, enum check_interface likely);

#endif
