/* SPDX-License-Identifier: MIT */
#include "cli/stats/forget.h"

#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "cli/say/output.h"
#include "cli/stats/user_state.h"

/* What the command line says. */
struct request {
	struct user_state_query query;
	const char *program; /* a glob; NULL: any, also below */
	const char *origin;
	bool all;
};

/* What came of it. */
struct forgetting {
	const struct request *request;
	size_t forgotten;
	size_t known;
};

static const struct say_option OPTIONS[] = {
    SAY_ROW("program", '\0', "GLOB", SAY_TEXT, struct request, program, "of programs with such a name"),
    SAY_ROW("origin", '\0', "ORIGIN", SAY_TEXT, struct request, origin,
            "of this origin, as `tenacurl stats --owners` writes it"),
    SAY_ROW("all", '\0', NULL, SAY_FLAG, struct request, all, "everything"),
    USER_STATE_PLACE_ROWS(struct request),
    {0}};

static const struct say_command COMMAND = {
    .name = "tenacurl forget",
    .forms = "tenacurl forget [--program GLOB] [--origin ORIGIN] [--policy FILE] [--state DIR]\n"
             "tenacurl forget --all [--policy FILE] [--state DIR]",
    .about =
        "Forgets what was learned of callers that repeat failed requests by themselves (`tenacurl stats --owners`),\n"
        "so that tenacurl retries for them again until it has learned it anew. What fits all options that are given\n"
        "is forgotten.",
    .options = OPTIONS,
    .examples = "tenacurl forget --program 'php*'\n"
                "tenacurl forget --origin https://api.example.org\n"
                "tenacurl forget --all\n",
    .wrong_usage = 2,
    .unwritable = 1,
    .has_none = true,
};

/* SAY_GO_ON, or the exit status of wrong usage. */
static int check_request(const struct request *request)
{
	bool has_filter = request->program || request->origin;
	if (!has_filter && !request->all)
		return say_wrong_usage(&COMMAND, "forget what? Name --program GLOB, --origin ORIGIN, or --all");
	if (has_filter && request->all)
		return say_wrong_usage(&COMMAND, "--all goes without --program and --origin");
	return SAY_GO_ON;
}

static bool is_meant(const struct request *request, const struct state_learned *learned)
{
	char origin[sizeof(learned->origin)];
	if (request->program && fnmatch(request->program, learned->program, 0) != 0)
		return false;
	/* As it is there: cut to fit, and printable. */
	state_learned_text(origin, request->origin);
	state_clean_text(origin, sizeof(origin));
	return !request->origin || strcmp(learned->origin, origin) == 0;
}

/* A user_state_changer. */
static bool forget(void *context, struct state *state)
{
	static struct state_learned learned[STATE_LEARNED];
	struct forgetting *forgetting = context;
	struct state_snapshot *snapshot = state_snapshot_take(state);
	if (!snapshot)
		return false;
	forgetting->known = state_snapshot_learned(snapshot, clock_ms(), learned);
	state_snapshot_free(snapshot);
	for (size_t i = 0; i < forgetting->known; i++) {
		if (!is_meant(forgetting->request, &learned[i]))
			continue;
		state_learned_drop(state, learned[i].key);
		forgetting->forgotten++;
	}
	return true;
}

int forget_command(int argc, char **argv)
{
	struct request request = {0};
	struct forgetting forgetting = {.request = &request};
	char **none;
	int end = say_read_options(&COMMAND, argc, argv, &request, &none);
	if (end == SAY_GO_ON)
		end = check_request(&request);
	if (end != SAY_GO_ON)
		return end;
	if (!user_state_change(&request.query, forget, &forgetting))
		return 1;
	printf("Forgot %zu of %zu callers.\n", forgetting.forgotten, forgetting.known);
	return say_flush(COMMAND.name) ? 0 : 1;
}
