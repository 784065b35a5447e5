/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_SCAN_H
#define TENACURL_CLI_CHECK_SCAN_H

/*
 * Inside check_static(): the programs of a report, each looked at from its files alone. static.c goes from program to
 * program, words.c finds which others it names, uses.c what each does with libcurl, off.c whether the user switched
 * tenacurl off.
 */

#include "cli/check/report.h"
#include "cli/elf/binder.h"
#include "cli/elf/link_tree.h"
#include "cli/launch/follow.h"
#include "cli/launch/subject.h"
#include "cli/say/error.h"
#include "config/policy.h"

/* A script that starts a script that …: deeper, nobody would understand the answer. */
#define CHECK_DEPTH_MAX 4

/* The report's binder_reason if the user left it out. */
#define NO_BINDER_OPTION "--no-binder"

/* Texts by which something is known again, as argz_add(3) has them. */
struct check_notes {
	char *at; /* to free(); NULL: none */
	size_t bytes;
};

bool check_is_noted(const struct check_notes *notes, const char *text);

/* Without memory it isn't noted. */
void check_note(struct check_notes *notes, const char *text);

/* What counts for all programs of a report. */
struct check_scan {
	struct check_report *report;
	const struct policy *policy;        /* NULL: none could be loaded, so nothing is wrapped */
	char policy_error[512];             /* why not */
	char *object;                       /* libtenacurl.so; NULL: not found or not usable */
	struct say_error object_error;      /* why not */
	char *preload;                      /* LD_PRELOAD as `run` would set it; NULL: none */
	enum check_reason inherited;        /* what keeps tenacurl out of everything that the program starts, too */
	enum launch_switch switched;        /* … and what was done to TENACURL_DISABLE before it started */
	bool failed;                        /* no memory */
	struct check_notes without_libcurl; /* paths of programs that were found not to use it */
	struct check_notes
	    seen; /* scripts, and commands that use libcurl, each as often as something else kept tenacurl out */
};

struct check_program {
	struct check_scan *scan;
	struct launch launch;
	struct subject subject;
	struct link_tree tree;
	bool tree_is_complete;
	enum check_reason reason; /* what keeps tenacurl out of the whole program; NONE: nothing */
	bool is_helper;
	bool uses_libcurl;  /* a use of it was found, new or not */
	const char *script; /* whose words are read; NULL: none */
	bool reads_words;   /* what it starts is said by words */
	unsigned depth;
};

/* Adds the uses of a program that another one starts, if there is such a program. Returns whether it has any. */
bool check_add_program(struct check_scan *scan, char **command, unsigned depth);

/* Adds those of the programs that its script, its Makefile or its arguments name. */
void check_visit_words(struct check_program *program);

/* Adds all uses of libcurl that the program's files show. */
void check_find_uses(struct check_program *program);

/* Whether its arguments can make it use libcurl where its files alone don't. */
bool check_depends_on_words(const struct check_program *program);

/* Loads the policy that the program would have. To be freed with policy_free(). */
void check_load_policy(struct check_scan *scan);

/* Whether the user switched tenacurl off in this program; `detail` (to free()) says by what then. */
bool check_is_off(const struct check_program *program, char **detail);

#endif
