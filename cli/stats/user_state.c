/* SPDX-License-Identifier: MIT */
#include "cli/stats/user_state.h"

#include <errno.h>
#include <limits.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/policy/as_user.h"
#include "cli/policy/load.h"
#include "cli/say/plain_text.h"
#include "config/find.h"
#include "config/source.h"
#include "state/directory.h"

#define OWNERS_MAX   4096
#define OTHERS_NAMED 8

/* A user whose state is to be read, and where. */
struct place {
	uid_t uid;
	char name[USER_NAME_BYTES];
	const struct policy *policy;
	struct state_request request;
};

/* What a process with the rights of another user is told, and leaves behind. */
struct found {
	const struct user_state_query *query;
	const char *home;
	struct place place; /* with the policy that the query names */
	struct state_outcome outcome;
	bool has_policy, has_policy_file, has_snapshot;
	size_t policy_bytes;
	char policy[SOURCE_BYTES_MAX];
	_Alignas(64) char snapshot[];
};

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
		fprintf(stderr, "tenacurl: no budgets and breakers, since the policy can't be used: %s\n",
		        plain_text(error.text));
	return policy;
}

/* Root may name anybody's directory; whose state is in it is said by its owner. */
static uid_t owner_of(const struct user_state_query *query)
{
	struct stat directory;
	bool is_known = geteuid() == 0 && query->directory && stat(query->directory, &directory) == 0;
	return is_known ? directory.st_uid : geteuid();
}

static void name_place(struct place *place, const struct passwd *user)
{
	if (user)
		snprintf(place->name, sizeof(place->name), "%s", user->pw_name);
	else
		snprintf(place->name, sizeof(place->name), "%lu", (unsigned long)place->uid);
}

/* Where the state is if only the query and the policy say so. */
static void find_directory(const struct user_state_query *query, struct place *place)
{
	place->request.directory = query->directory;
	if (!place->request.directory && place->policy)
		place->request.directory = place->policy->sections[0].rules.state_dir;
}

/* One's own: this process's environment counts. */
static void find_own_place(const struct user_state_query *query, struct place *place)
{
	const struct policy_places places = cli_policy_places(query->policy_path);
	const char *environment = !query->all_users ? getenv("TENACURL_STATE") : NULL;
	*place = (struct place){.uid = geteuid()};
	name_place(place, getpwuid(place->uid));
	place->policy = load_policy(&places);
	find_directory(query, place);
	if (!query->directory && environment && *environment)
		place->request.directory = environment;
}

static bool complain(const struct place *place, const struct state_outcome *outcome)
{
	fprintf(stderr, "tenacurl: %s: %s%s%s (user %s)\n", outcome->path[0] ? plain_text(outcome->path) : "state",
	        state_trouble_text(outcome->trouble), outcome->os_errno ? ": " : "",
	        outcome->os_errno ? strerror(outcome->os_errno) : "", place->name);
	return false;
}

/* The bytes of the policy file, which was found good. */
static void keep_policy_file(struct found *found, const char *path)
{
	struct arena arena = {NULL};
	struct policy_error error;
	size_t length;
	char *bytes;
	int fd;
	found->has_policy_file = true;
	found->has_policy = source_read(path, &arena, &fd, &bytes, &length, &error) == POLICY_LOADED;
	if (found->has_policy) {
		close(fd);
		memcpy(found->policy, bytes, length);
		found->policy_bytes = length;
	}
	arena_free(&arena);
}

/* With the rights of the user. */
static void look_around(void *shared)
{
	struct found *found = shared;
	struct place place = found->place;
	if (!found->query->policy_path) {
		const struct policy_places places = {.home = found->home, .is_root = place.uid == 0};
		place.policy = load_policy(&places);
		found->has_policy = place.policy != NULL;
		if (place.policy && place.policy->path)
			keep_policy_file(found, place.policy->path);
	}
	find_directory(found->query, &place);
	struct state_snapshot *snapshot = state_snapshot_read(&place.request, place.uid, &found->outcome);
	if (snapshot)
		memcpy(found->snapshot, snapshot, state_snapshot_bytes());
	found->has_snapshot = snapshot != NULL;
}

/* What was found good with others' rights is looked at again with ours. */
static const struct policy *load_kept_policy(const struct found *found)
{
	static const struct policy_overrides no_overrides;
	struct policy_error error;
	char path[32];
	if (!found->has_policy || !found->has_policy_file)
		return found->has_policy ? policy_builtin() : NULL;
	int fd = memfd_create("policy", MFD_CLOEXEC);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	const struct policy *policy = NULL;
	if (fd >= 0 && fchmod(fd, 0600) == 0 &&
	    write(fd, found->policy, found->policy_bytes) == (ssize_t)found->policy_bytes)
		policy = cli_load_policy(path, &no_overrides, NULL, NULL, &error);
	if (fd >= 0)
		close(fd);
	return policy;
}

/*
 * The files of another user are read with that user's rights: then nobody can make root open what is not theirs, nor
 * wait.
 */
static struct state_snapshot *read_as_user(const struct user_state_query *query, struct place *place,
                                           struct state_outcome *outcome)
{
	struct passwd nameless = {.pw_name = place->name, .pw_uid = place->uid, .pw_gid = (gid_t)place->uid};
	const struct passwd *known = getpwuid(place->uid);
	const struct policy_places named = {.named_by_command = query->policy_path};
	size_t bytes = sizeof(struct found) + state_snapshot_bytes();
	struct found *found = as_user_share(bytes);
	struct state_snapshot *snapshot = NULL;
	*outcome = (struct state_outcome){.trouble = STATE_CANT_READ, .os_errno = ENOMEM};
	name_place(place, known);
	if (!found)
		return NULL;
	if (query->policy_path)
		place->policy = load_policy(&named);
	found->query = query;
	found->home = known ? known->pw_dir : NULL;
	found->place = *place;
	enum as_user_end end = as_user(known ? known : &nameless, look_around, found);
	if (end == AS_USER_DONE) {
		*outcome = found->outcome;
		if (!query->policy_path)
			place->policy = load_kept_policy(found);
		snapshot = found->has_snapshot ? state_snapshot_copy(found->snapshot) : NULL;
	} else {
		outcome->os_errno = end == AS_USER_SLOW ? ETIMEDOUT : EPERM;
	}
	as_user_unshare(found, bytes);
	return snapshot;
}

static struct state_snapshot *read_own(const struct user_state_query *query, struct place *place,
                                       struct state_outcome *outcome)
{
	find_own_place(query, place);
	return state_snapshot_read(&place->request, place->uid, outcome);
}

static bool visit_one(const struct user_state_query *query, uid_t uid, user_state_visitor visit, void *context,
                      struct user_states_seen *seen)
{
	struct place place = {.uid = uid};
	struct state_outcome outcome;
	bool good = true;
	struct user_state user = {.uid = uid};
	user.snapshot = uid == geteuid() ? read_own(query, &place, &outcome) : read_as_user(query, &place, &outcome);
	user.policy = place.policy;
	memcpy(user.name, place.name, sizeof(user.name));
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
	if (geteuid() != 0) {
		fputs("tenacurl: --all-users is for root\n", stderr);
		return false;
	}
	size_t count = state_list_owners(&usual, owners, OWNERS_MAX);
	for (size_t i = 0; i < count; i++)
		if (!visit_one(query, owners[i], visit, context, seen))
			return false;
	return true;
}

int user_state_check_query(const struct say_command *command, const struct user_state_query *query)
{
	if (query->all_users && query->directory)
		return say_wrong_usage(command, "--all-users looks in the usual places: not with --state");
	return SAY_GO_ON;
}

bool user_states_visit(const struct user_state_query *query, user_state_visitor visit, void *context,
                       struct user_states_seen *seen)
{
	*seen = (struct user_states_seen){0};
	if (query->all_users)
		return visit_all(query, visit, context, seen);
	return visit_one(query, owner_of(query), visit, context, seen);
}

void user_states_print_others(FILE *out)
{
	static uid_t owners[OWNERS_MAX];
	const struct state_request usual = {0};
	size_t count = state_list_owners(&usual, owners, OWNERS_MAX), others = 0;
	for (size_t i = 0; i < count; i++) {
		struct place place = {.uid = owners[i]};
		if (owners[i] == geteuid())
			continue;
		name_place(&place, getpwuid(place.uid));
		if (others++ < OTHERS_NAMED)
			fprintf(out, "%s%s", others == 1 ? "There are states of other users: " : ", ",
			        plain_text(place.name));
	}
	if (others > OTHERS_NAMED)
		fprintf(out, " and %zu more", others - OTHERS_NAMED);
	if (others)
		fprintf(out, ". `tenacurl last --all-users` reads them%s.\n", geteuid() == 0 ? "" : ", for root");
}

bool user_state_change(const struct user_state_query *query, user_state_changer change, void *context)
{
	struct place place;
	struct state_outcome outcome;
	struct state state = {.shared = NULL};
	find_own_place(query, &place);

	/* Opening makes a state where there is none, and replaces one that can't be trusted; reading doesn't. */
	struct state_snapshot *snapshot = state_snapshot_read(&place.request, geteuid(), &outcome);
	const struct state_outcome found = outcome;
	bool is_there = snapshot != NULL, good = is_there || outcome.trouble == STATE_NO_FILE, has_memory = true;
	state_snapshot_free(snapshot);
	if (is_there) {
		/* Where it was found: what uses the state from now on may use another place. */
		if (strlen(found.path) < sizeof(found.path) - 1)
			place.request.directory = found.path;
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
