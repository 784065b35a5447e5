/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_H
#define TENACURL_CLI_RUN_H

/*
 * `tenacurl run [OPTION…] [--] COMMAND [ARG…]`: starts a program with the preloaded object in its environment. run.c
 * reads the options and decides, the other run_*.c each know one thing about the environment or the program.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/deadline_text.h"
#include "cli/sink_trial.h"
#include "config/load.h"

/* run's own exit statuses, those of env(1) and timeout(1). Otherwise the status is the program's. */
enum run_exit {
	RUN_EXIT_REFUSED = 125,        /* run itself could not do what it was asked for; nothing was started */
	RUN_EXIT_NOT_EXECUTABLE = 126, /* the program was found but could not be started */
	RUN_EXIT_NOT_FOUND = 127
};

/* One line for people, without the "tenacurl run: " before it and the newline after it. */
struct run_error {
	char text[768];
};

/* argv[0] is the subcommand's own name. Returns an exit status, and only if no program was started. */
int run_command(int argc, char **argv);

/* Fills `error` as printf would and returns false, so that a refusal is one statement. */
__attribute__((format(printf, 2, 3))) bool run_refuse(struct run_error *error, const char *format, ...);

/* What the command line says of the policy; NULL where it says nothing. Nothing is owned. */
struct run_policy_request {
	const char *policy_path; /* --policy */
	const char *mode;        /* --mode */
	const char *log;         /* --log, absolute if it is a file */
	policy_warn warn;        /* gets the policy's warnings; may be NULL */
	void *warn_context;
	struct sink_trouble *log_trouble; /* gets what keeps the policy's log from being written; "": nothing does */
};

enum run_policy_state {
	RUN_POLICY_GOOD,
	RUN_POLICY_BAD_HERE,     /* by the command line's fault */
	RUN_POLICY_BAD_ELSEWHERE /* what the environment or a default path has is refused, so it will not be in force */
};

/* Reads the policy that the program will have, as the program will read it. `error` is filled unless it is good. */
enum run_policy_state run_check_policy(const struct run_policy_request *request, struct run_error *error);

/*
 * Finds libtenacurl.so: beside this executable (a build tree), in ../lib/tenacurl from it, in the directory that was
 * configured. Returns its absolute path for the caller to free(); NULL with `error` filled if there is none or if the
 * dynamic linker could not load it from there (unreadable, file system without exec, a path with a blank or colon).
 */
char *run_find_object(struct run_error *error);

/*
 * Returns the name by which each dynamic linker finds a file of its own architecture ("…/multiarch/$LIB/…"), since one
 * that is given a file of another complains on the program's stderr; `object` is what run_find_object returned. To
 * free(); NULL if no such files are installed, or without memory.
 */
char *run_name_by_architecture(const char *object);

/*
 * Returns the name for LD_AUDIT of the binder that lies beside the object, formed as the object's name for LD_PRELOAD
 * is. `real_object` is what run_find_object returned. To free(); NULL if there is none that can be loaded.
 */
char *run_find_binder(const char *real_object, const char *object);

/*
 * Composes LD_PRELOAD: sanitizer runtimes, which insist on being first; `object` (NULL: none); whatever else
 * `inherited` (may be NULL) held, in its order, without other copies of tenacurl. Returns a text to free(), NULL
 * without memory.
 */
char *run_compose_preload(const char *inherited, const char *object);

/* Composes ASAN_OPTIONS: what was inherited (may be NULL), and that an object before the runtime is no error. As above.
 */
char *run_compose_asan_options(const char *inherited);

/*
 * Reads a duration: digits, optionally with a fraction, and ms, s, m, h or d; s if no unit follows, as in timeout(1).
 * Fractions of a millisecond round up. Returns false for zero, signs, over 365 days and everything else.
 */
bool run_parse_duration(const char *text, int64_t *duration_ms);

/* Whether an inherited deadline still means something: this boot, and its launcher is running. */
bool run_deadline_is_live(const struct deadline_text *deadline);

/*
 * Writes the text of a deadline `duration_ms` from now, with this process as its launcher (it stays that through exec),
 * or `inherited` (NULL: none) if that ends earlier. Returns false with `error` filled if /proc can't be read.
 */
bool run_make_deadline(int64_t duration_ms, const struct deadline_text *inherited,
                       char out[static DEADLINE_TEXT_BYTES_MAX], struct run_error *error);

/*
 * Executes command[0] as execvp does, with one difference: execvp hands whatever the kernel has no format for to sh,
 * which is right for a script without "#!", but a binary of another machine is no script. Returns only if that fails;
 * errno says why (ENOEXEC: such a binary).
 */
void run_execute_program(char **command);

#endif
