/* SPDX-License-Identifier: MIT */
#include "cli/forget.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <string.h>

#include "cli/monotonic.h"
#include "cli/user_state.h"

enum { EXIT_USAGE = 2 };

static const char HELP[] =
    "Usage: tenacurl forget [--program GLOB] [--origin ORIGIN] [--policy FILE] [--state DIR]\n"
    "       tenacurl forget --all [--policy FILE] [--state DIR]\n"
    "\n"
    "Forgets what was learned of callers that repeat failed requests by themselves (`tenacurl stats --owners`), so "
    "that\n"
    "tenacurl retries for them again until it has learned it anew. What fits all options that are given is forgotten.\n"
    "\n"
    "  --program GLOB  of programs with such a name\n"
    "  --origin ORIGIN of this origin, as `tenacurl stats --owners` writes it\n"
    "  --all           everything\n"
    "  --policy FILE   take state_dir from this policy\n"
    "  --state DIR     the directory of the state, instead of searching for it\n"
    "  -h, --help      print this text\n";

/* What the command line says. */
struct request {
	struct user_state_query query;
	const char *program; /* a glob; NULL: any, also below */
	const char *origin;
	bool all;
	bool help;
};

/* What came of it. */
struct forgetting {
	const struct request *request;
	size_t forgotten;
	size_t known;
};

static bool parse_option(char ***arguments, struct request *request)
{
	char **at = *arguments;
	bool is_program = strcmp(at[0], "--program") == 0, is_all = strcmp(at[0], "--all") == 0;
	bool is_help = strcmp(at[0], "-h") == 0 || strcmp(at[0], "--help") == 0;
	request->all |= is_all;
	request->help |= is_help;
	if (is_all || is_help)
		return true;
	if (!is_program && strcmp(at[0], "--origin") != 0)
		return user_state_option(arguments, &request->query);
	if (!at[1] || !at[1][0])
		return false;
	*(is_program ? &request->program : &request->origin) = at[1];
	*arguments = at + 1;
	return true;
}

/* NULL, or what is wrong. */
static const char *parse(char **argv, struct request *request)
{
	for (argv++; *argv; argv++)
		if (!parse_option(&argv, request))
			return "wrong usage";
	if (request->help)
		return NULL;
	bool has_filter = request->program || request->origin;
	if (!has_filter && !request->all)
		return "forget what? Name --program GLOB, --origin ORIGIN, or --all";
	return request->query.all_users || (has_filter && request->all) ? "wrong usage" : NULL;
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
	forgetting->known = state_snapshot_learned(snapshot, monotonic_ms(), learned);
	state_snapshot_free(snapshot);
	for (size_t i = 0; i < forgetting->known; i++) {
		if (!is_meant(forgetting->request, &learned[i]))
			continue;
		state_learned_drop(state, learned[i].key);
		forgetting->forgotten++;
	}
	return true;
}

static bool flush_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	fprintf(stderr, "tenacurl forget: can't write: %s\n", strerror(errno));
	return false;
}

int forget_command(int argc, char **argv)
{
	struct request request = {0};
	struct forgetting forgetting = {.request = &request};
	const char *wrong = parse(argv, &request);
	(void)argc;
	if (wrong) {
		fprintf(stderr, "tenacurl forget: %s\nTry 'tenacurl forget --help'.\n", wrong);
		return EXIT_USAGE;
	}
	if (request.help) {
		fputs(HELP, stdout);
		return flush_output() ? 0 : 1;
	}
	if (!user_state_change(&request.query, forget, &forgetting))
		return 1;
	printf("Forgot %zu of %zu callers.\n", forgetting.forgotten, forgetting.known);
	return flush_output() ? 0 : 1;
}
