/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_STATS_USER_STATE_H
#define TENACURL_CLI_STATS_USER_STATE_H

/*
 * The states that a command is asked about: one's own, or those of all users of the host. Where a state is comes from
 * the same places as for the preloaded object: TENACURL_STATE, the policy's state_dir, the usual directories.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/types.h>

#include "cli/say/options.h"
#include "config/policy.h"
#include "state/read.h"

#define USER_NAME_BYTES 64

/* What is asked for. Zero: one's own, by one's own policy. Texts are not owned. */
struct user_state_query {
	const char *directory;   /* --state; NULL: search */
	const char *policy_path; /* --policy; NULL: search */
	bool all_users;
};

/* A state that was read. Belongs to user_states_visit(). */
struct user_state {
	uid_t uid;
	char name[USER_NAME_BYTES];  /* the login name; the number where there is none */
	const struct policy *policy; /* what this user's programs go by; NULL: it can't be loaded */
	struct state_snapshot *snapshot;
};

/* What came of a visit. */
struct user_states_seen {
	size_t read;                      /* states that were visited */
	size_t untrusted;                 /* states that could not be read; standard error has why */
	char directory[STATE_PATH_BYTES]; /* where the last one was looked for */
};

/* Takes a state; returns false, to end the visit, if there is no memory. */
typedef bool (*user_state_visitor)(void *context, const struct user_state *user);

/* Rows of a command's table of options (cli/say/options.h), for the query in the field `query` of `type`. */
#define USER_STATE_PLACE_ROWS(type)                                                                                    \
	SAY_ROW("policy", '\0', "FILE", SAY_TEXT, type, query.policy_path,                                             \
	        "take budgets, breakers and state_dir from this policy"),                                              \
	    SAY_ROW("state", '\0', "DIR", SAY_TEXT, type, query.directory,                                             \
	            "the directory of the state, instead of searching for it")
#define USER_STATE_ROWS(type)                                                                                          \
	USER_STATE_PLACE_ROWS(type),                                                                                   \
	    SAY_ROW("all-users", '\0', NULL, SAY_FLAG, type, query.all_users, "the states of all users (root only)")

/* SAY_GO_ON, or the exit status of wrong usage, which is told: options that don't go together. */
int user_state_check_query(const struct say_command *command, const struct user_state_query *query);

/*
 * Reads the states that `query` means and hands each to `visit`. A user without one is no trouble. Returns false, and
 * says why on standard error, if the query can't be answered: somebody else's state is root's to read.
 */
bool user_states_visit(const struct user_state_query *query, user_state_visitor visit, void *context,
                       struct user_states_seen *seen);

/*
 * Prints whose states are in the usual places besides the caller's own, as far as the caller may see that, and how to
 * read them. Nothing if there are none.
 */
void user_states_print_others(FILE *out);

/* Changes a state; returns false if there is no memory. */
typedef bool (*user_state_changer)(void *context, struct state *state);

/*
 * Hands the user's own state to `change`, unless there is none: nothing is made. Returns false, and says why on
 * standard error, if there is one that can't be reached, or no memory.
 */
bool user_state_change(const struct user_state_query *query, user_state_changer change, void *context);

/*
 * Sets the counters of the user's own state to zero, with `everything` budgets, breakers and what was learned of
 * callers too. Otherwise as user_state_change().
 */
bool user_state_reset(const struct user_state_query *query, bool everything);

#endif
