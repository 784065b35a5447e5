/* SPDX-License-Identifier: MIT */
#include "cli/stats/last.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cli/policy/off_switch.h"
#include "cli/say/output.h"
#include "cli/say/plain_json.h"
#include "cli/say/plain_text.h"
#include "cli/stats/last_running.h"
#include "cli/stats/lost_records.h"
#include "cli/stats/user_state.h"

enum { COUNT_DEFAULT = 10 };

/* What the command line says. */
struct request {
	struct user_state_query query;
	struct last_filter filter;
	int64_t count;
	bool json;
	bool running;
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
	uint64_t lost_records;
	struct last_running_counts unfinished;
};

static const struct say_option OPTIONS[] = {
    SAY_ROW("job", '\0', "NAME", SAY_TEXT, struct request, filter.job,
            "of this job (what `tenacurl run` was given, or its --job), or of a program or script of this name"),
    SAY_ROW("run", '\0', "ID", SAY_TEXT, struct request, filter.run,
            "of one `tenacurl run`: what TENACURL_RUN is in it, and `run` in log records"),
    SAY_ROW("pid", '\0', "N", SAY_PID, struct request, filter.pid, "of this process"),
    SAY_ROW(NULL, 'n', "COUNT", SAY_COUNT, struct request, count, "at most that many; 10 if this option isn't given"),
    SAY_ROW("running", '\0', NULL, SAY_FLAG, struct request, running,
            "what waits for a further attempt now or makes it, and what ended with its process"),
    SAY_ROW("json", '\0', NULL, SAY_FLAG, struct request, json, "print one JSON object"),
    USER_STATE_ROWS(struct request),
    {0}};

static const struct say_command COMMAND = {
    .name = "tenacurl last",
    .forms = "tenacurl last [OPTION...]",
    .about = "Tells of the last operations that failed, were stopped or were retried, the newest first. The host\n"
             "remembers 256 of each user, until it is started anew.",
    .options = OPTIONS,
    .notes = "The exit status is 0 if there was something to tell, 1 if not.",
    .examples = "tenacurl last\n"
                "tenacurl last --job import.sh -n 3\n"
                "tenacurl last --running\n"
                "tenacurl last --json | jq '.operations[0].text'\n",
    .wrong_usage = 2,
    .unwritable = 1,
    .has_none = true,
};

static void count_unfinished(struct findings *findings, const struct user_state *user)
{
	struct last_running_counts counts = last_running_count(user, &findings->request->filter);
	findings->unfinished.running += counts.running;
	findings->unfinished.died += counts.died;
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
	findings->lost_records += state_snapshot_lost_records(user->snapshot);
	count_unfinished(findings, user);
	for (size_t i = 0; i < count; i++) {
		if (!last_is_asked_for(&findings->request->filter, LAST_WHO(&flights[i])))
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
	return plain_json_print(stdout, json_pack("{s:i, s:I, s:o}", "schema", 1, "lost_records",
	                                          (json_int_t)findings->lost_records, "operations", operations));
}

static void print_nothing(const struct request *request, const char *directory)
{
	const struct last_filter *filter = &request->filter;
	fprintf(stderr, "tenacurl last: nothing was recorded%s (in %s)\n",
	        filter->job || filter->run || filter->pid ? " of that" : "",
	        request->query.all_users ? "any state" : plain_text(directory));
	if (!request->query.all_users)
		user_states_print_others(stderr);
}

/* Who asks what became of a job that was killed in a wait is to look there. */
static void print_unfinished(FILE *out, const struct last_running_counts *counts)
{
	if (counts->running || counts->died)
		fprintf(out,
		        "\nOperations after a failure: %zu under way, %zu ended with their process (tenacurl last "
		        "--running).\n",
		        counts->running, counts->died);
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
		print_nothing(request, seen.directory);
	if (good && !request->json) {
		print_unfinished(count ? stdout : stderr, &findings.unfinished);
		lost_records_print(count ? stdout : stderr, findings.lost_records, NULL);
	}
	free(findings.told);
	return say_flush(COMMAND.name) && good && count;
}

int last_command(int argc, char **argv)
{
	struct request request = {.count = COUNT_DEFAULT};
	char **none;
	int end = say_read_options(&COMMAND, argc, argv, &request, &none);
	if (end != SAY_GO_ON)
		return end;
	if ((request.filter.job != NULL) + (request.filter.run != NULL) + (request.filter.pid != 0) > 1)
		return say_wrong_usage(&COMMAND, "one of --job, --run and --pid, not several");
	end = user_state_check_query(&COMMAND, &request.query);
	if (end != SAY_GO_ON)
		return end;
	off_switch_tell();
	if (request.running) {
		bool found = last_running_print(&request.query, &request.filter, request.json);
		return say_flush(COMMAND.name) && found ? 0 : 1;
	}
	return tell(&request) ? 0 : 1;
}
