/* SPDX-License-Identifier: MIT */
#include "cli/user_state.h"

#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/load.h"
#include "config/find.h"
#include "state/directory.h"

#define OWNERS_MAX 4096

const char user_state_help[] = "  --policy FILE   take budgets, breakers and state_dir from this policy\n"
                               "  --state DIR     the directory of the state, instead of searching for it\n"
                               "  --all-users     the states of all users (root only)\n";

/* A user whose state is to be read, and where. */
struct place {
	uid_t uid;
	char name[USER_NAME_BYTES];
	const struct policy *policy;
	struct state_request request;
};

bool user_state_option(char ***arguments, struct user_state_query *query)
{
	char **at = *arguments;
	if (strcmp(at[0], "--all-users") == 0) {
		query->all_users = true;
		return true;
	}
	bool is_state = strcmp(at[0], "--state") == 0;
	if ((!is_state && strcmp(at[0], "--policy") != 0) || !at[1] || !at[1][0])
		return false;
	*(is_state ? &query->directory : &query->policy_path) = at[1];
	*arguments = at + 1;
	return true;
}

static const struct policy *load_policy(const struct policy_places *places)
{
	static const struct policy_overrides no_overrides;
	char path[PATH_MAX];
	enum policy_found how;
	struct policy_error error = {.text = "its path is too long"};
	bool found = policy_find(places, path, sizeof(path), &how);
	const struct policy *policy = NULL;
	if (how != POLICY_FOUND_TOO_LONG)
		policy = cli_load_policy(found ? path : NULL, &no_overrides, NULL, NULL, &error);
	if (!policy)
		fprintf(stderr, "tenacurl: no budgets and breakers, since the policy can't be used: %s\n", error.text);
	return policy;
}

/* Root may name anybody's directory; whose state is in it is said by its owner. */
static uid_t owner_of(const struct user_state_query *query)
{
	struct stat directory;
	bool is_known = geteuid() == 0 && query->directory && stat(query->directory, &directory) == 0;
	return is_known ? directory.st_uid : geteuid();
}

static void find_place(const struct user_state_query *query, uid_t uid, struct place *place)
{
	const struct passwd *user = getpwuid(uid);
	struct policy_places places = {
	    .named_by_command = query->policy_path, .home = user ? user->pw_dir : NULL, .is_root = uid == 0};
	bool is_own = uid == geteuid();
	if (is_own) {
		places.environment = getenv("TENACURL_POLICY");
		places.home = getenv("HOME");
	}
	*place = (struct place){.uid = uid};
	if (user)
		snprintf(place->name, sizeof(place->name), "%s", user->pw_name);
	else
		snprintf(place->name, sizeof(place->name), "%lu", (unsigned long)uid);
	place->policy = load_policy(&places);

	const char *environment = is_own && !query->all_users ? getenv("TENACURL_STATE") : NULL;
	place->request.directory = query->directory;
	if (!place->request.directory && environment && *environment)
		place->request.directory = environment;
	if (!place->request.directory && place->policy)
		place->request.directory = place->policy->sections[0].rules.state_dir;
}

static bool complain(const struct place *place, const struct state_outcome *outcome)
{
	fprintf(stderr, "tenacurl: %s: %s%s%s (user %s)\n", outcome->path[0] ? outcome->path : "state",
	        state_trouble_text(outcome->trouble), outcome->os_errno ? ": " : "",
	        outcome->os_errno ? strerror(outcome->os_errno) : "", place->name);
	return false;
}

static bool visit_one(const struct user_state_query *query, uid_t uid, user_state_visitor visit, void *context,
                      struct user_states_seen *seen)
{
	struct place place;
	struct state_outcome outcome;
	bool good = true;
	find_place(query, uid, &place);
	struct user_state user = {.uid = uid, .policy = place.policy};
	memcpy(user.name, place.name, sizeof(user.name));
	user.snapshot = state_snapshot_read(&place.request, uid, &outcome);
	memcpy(seen->directory, outcome.path, sizeof(seen->directory));
	if (user.snapshot) {
		seen->read++;
		good = visit(context, &user);
	} else if (outcome.trouble != STATE_NO_FILE) {
		seen->untrusted++;
		complain(&place, &outcome);
	}
	state_snapshot_free(user.snapshot);
	policy_free(place.policy);
	if (!good)
		fputs("tenacurl: out of memory\n", stderr);
	return good;
}

static bool visit_all(const struct user_state_query *query, user_state_visitor visit, void *context,
                      struct user_states_seen *seen)
{
	static uid_t owners[OWNERS_MAX];
	const struct state_request usual = {0};
	if (geteuid() != 0 || query->directory) {
		fputs(query->directory ? "tenacurl: --all-users looks in the usual places: not with --state\n"
		                       : "tenacurl: --all-users is for root\n",
		      stderr);
		return false;
	}
	size_t count = state_list_owners(&usual, owners, OWNERS_MAX);
	for (size_t i = 0; i < count; i++)
		if (!visit_one(query, owners[i], visit, context, seen))
			return false;
	return true;
}

bool user_states_visit(const struct user_state_query *query, user_state_visitor visit, void *context,
                       struct user_states_seen *seen)
{
	*seen = (struct user_states_seen){0};
	if (query->all_users)
		return visit_all(query, visit, context, seen);
	return visit_one(query, owner_of(query), visit, context, seen);
}

bool user_state_change(const struct user_state_query *query, user_state_changer change, void *context)
{
	struct place place;
	struct state_outcome outcome;
	struct state state = {.shared = NULL};
	find_place(query, geteuid(), &place);

	/* Opening makes a state where there is none, and replaces one that can't be trusted; reading doesn't. */
	struct state_snapshot *snapshot = state_snapshot_read(&place.request, geteuid(), &outcome);
	bool is_there = snapshot != NULL, good = is_there || outcome.trouble == STATE_NO_FILE, has_memory = true;
	state_snapshot_free(snapshot);
	if (is_there) {
		state_open(&place.request, &state, &outcome);
		good = outcome.shared;
		has_memory = !good || change(context, &state);
		state_close(&state);
	}
	if (!good)
		complain(&place, &outcome);
	if (!has_memory)
		fputs("tenacurl: out of memory\n", stderr);
	policy_free(place.policy);
	return good && has_memory;
}

/* A user_state_changer. */
static bool reset(void *everything, struct state *state)
{
	state_reset(state, *(const bool *)everything);
	return true;
}

bool user_state_reset(const struct user_state_query *query, bool everything)
{
	return user_state_change(query, reset, &everything);
}
