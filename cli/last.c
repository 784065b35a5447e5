/* SPDX-License-Identifier: MIT */
#include "cli/last.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/plain_json.h"
#include "cli/plain_text.h"
#include "cli/user_state.h"

enum { EXIT_USAGE = 2, COUNT_DEFAULT = 10 };

static const char HELP[] =
    "Usage: tenacurl last [--job NAME | --run ID | --pid N] [-n COUNT] [--json] [--policy FILE]\n"
    "                     [--all-users | --state DIR]\n"
    "Tells of the last operations that failed, were stopped or were retried, the newest first. The host remembers 256 "
    "of\n"
    "each user, until it is started anew.\n"
    "\n"
    "  --job NAME      of this job (`tenacurl run --job`, TENACURL_JOB), or of a program or script of this name\n"
    "  --run ID        of one `tenacurl run`: what TENACURL_RUN is in it, and `run` in log records\n"
    "  --pid N         of this process\n"
    "  -n COUNT        at most that many; 10 if this option isn't given\n"
    "  --json          print one JSON object\n";

static const char HELP_END[] = "  -h, --help      print this text\n"
                               "\n"
                               "The exit status is 0 if there was something to tell, 1 if not.\n";

/* What the command line says. */
struct request {
	struct user_state_query query;
	const char *job;
	const char *run;
	int64_t pid; /* 0: any */
	int64_t count;
	bool json;
	bool help;
};

/* A flight, and whose it was. */
struct told {
	struct state_flight flight;
	char user[USER_NAME_BYTES];
};

struct findings {
	const struct request *request;
	struct told *told;
	size_t count;
};

static bool parse_number(const char *text, int64_t *number)
{
	char *end;
	errno = 0;
	*number = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && errno == 0 && *number > 0;
}

static bool parse_value(const char *option, const char *value, struct request *request)
{
	if (strcmp(option, "--pid") == 0)
		return parse_number(value, &request->pid);
	if (strcmp(option, "-n") == 0)
		return parse_number(value, &request->count);
	const char **text = strcmp(option, "--job") == 0 ? &request->job : &request->run;
	*text = value;
	return *value != '\0';
}

static bool takes_value(const char *option)
{
	static const char *const options[] = {"--job", "--run", "--pid", "-n"};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++)
		if (strcmp(option, options[i]) == 0)
			return true;
	return false;
}

static bool parse(char **argv, struct request *request)
{
	for (argv++; *argv; argv++) {
		if (strcmp(*argv, "-h") == 0 || strcmp(*argv, "--help") == 0) {
			request->help = true;
		} else if (strcmp(*argv, "--json") == 0) {
			request->json = true;
		} else if (takes_value(*argv)) {
			if (!argv[1] || !parse_value(argv[0], argv[1], request))
				return false;
			argv++;
		} else if (!user_state_option(&argv, &request->query)) {
			return false;
		}
	}
	return (request->job != NULL) + (request->run != NULL) + (request->pid != 0) <= 1;
}

/* Whether a text of a flight is what `wanted` becomes there: cut to fit, and printable. */
static bool fits(const char *text, size_t text_bytes, const char *wanted)
{
	char expected[sizeof(((struct state_flight *)0)->origin)];
	state_copy_text(expected, text_bytes, wanted);
	state_clean_text(expected, text_bytes);
	return strcmp(text, expected) == 0;
}

static bool is_asked_for(const struct state_flight *flight, const struct request *request)
{
	if (request->job)
		return fits(flight->job, sizeof(flight->job), request->job) ||
		       fits(flight->program, sizeof(flight->program), request->job);
	if (request->run)
		return fits(flight->run, sizeof(flight->run), request->run);
	return request->pid == 0 || flight->pid == request->pid;
}

/* A user_state_visitor. */
static bool find_flights(void *context, const struct user_state *user)
{
	static struct state_flight flights[STATE_FLIGHTS];
	struct findings *findings = context;
	size_t count = state_snapshot_flights(user->snapshot, flights);
	struct told *told = reallocarray(findings->told, findings->count + STATE_FLIGHTS, sizeof(*told));
	if (!told)
		return false;
	findings->told = told;
	for (size_t i = 0; i < count; i++) {
		if (!is_asked_for(&flights[i], findings->request))
			continue;
		struct told *next = &told[findings->count++];
		next->flight = flights[i];
		memcpy(next->user, user->name, sizeof(next->user));
	}
	return true;
}

static int newest_first(const void *left, const void *right)
{
	const struct state_flight *a = &((const struct told *)left)->flight, *b = &((const struct told *)right)->flight;
	if (a->time_us != b->time_us)
		return a->time_us < b->time_us ? 1 : -1;
	return (a->number < b->number) - (a->number > b->number);
}

static void print_text(const struct findings *findings, size_t count)
{
	for (size_t i = 0; i < count; i++)
		last_print_flight(stdout, &findings->told[i].flight,
		                  findings->request->query.all_users ? findings->told[i].user : NULL);
}

static bool print_json(const struct findings *findings, size_t count)
{
	json_t *operations = json_array();
	for (size_t i = 0; i < count; i++)
		json_array_append_new(operations, last_flight_json(&findings->told[i].flight, findings->told[i].user));
	json_t *report = json_pack("{s:i, s:o}", "schema", 1, "operations", operations);
	bool printed = report && plain_json_put(stdout, report);
	json_decref(report);
	putchar('\n');
	return printed;
}

static bool flush_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	fprintf(stderr, "tenacurl last: can't write: %s\n", strerror(errno));
	return false;
}

static bool tell(const struct request *request)
{
	struct findings findings = {.request = request};
	struct user_states_seen seen;
	bool good = user_states_visit(&request->query, find_flights, &findings, &seen);
	size_t count = findings.count < (size_t)request->count ? findings.count : (size_t)request->count;
	if (findings.count)
		qsort(findings.told, findings.count, sizeof(*findings.told), newest_first);
	if (good && request->json)
		good = print_json(&findings, count);
	else if (good && count)
		print_text(&findings, count);
	else if (good && !seen.untrusted)
		fprintf(stderr, "tenacurl last: nothing was recorded%s (in %s)\n",
		        request->job || request->run || request->pid ? " of that" : "",
		        request->query.all_users ? "any state" : plain_text(seen.directory));
	free(findings.told);
	return flush_output() && good && count;
}

int last_command(int argc, char **argv)
{
	struct request request = {.count = COUNT_DEFAULT};
	(void)argc;
	if (!parse(argv, &request)) {
		fputs("tenacurl last: wrong usage\nTry 'tenacurl last --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (!request.help)
		return tell(&request) ? 0 : 1;
	fputs(HELP, stdout);
	fputs(user_state_help, stdout);
	fputs(HELP_END, stdout);
	return flush_output() ? 0 : 1;
}
