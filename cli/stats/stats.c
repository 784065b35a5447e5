/* SPDX-License-Identifier: MIT */
#include "cli/stats/stats.h"

#include <string.h>

#include "cli/policy/off_switch.h"
#include "cli/say/options.h"
#include "cli/say/output.h"
#include "cli/stats/print.h"

/* What the command line says. */
struct request {
	struct user_state_query query;
	bool owners;
	bool json;
	bool prometheus;
	bool reset;
	bool everything;
};

static const struct say_option OPTIONS[] = {
    SAY_ROW("owners", '\0', NULL, SAY_FLAG, struct request, owners,
            "instead: how many operations were left to callers that repeat them by themselves, how\n"
            "many repeats were refused (nested = own), and what was learned of such callers"),
    SAY_ROW("json", '\0', NULL, SAY_FLAG, struct request, json, "print one JSON object: tenacurl(1) has its keys"),
    SAY_ROW("prometheus", '\0', NULL, SAY_FLAG, struct request, prometheus,
            "print Prometheus's text format, for node_exporter's textfile collector"),
    SAY_ROW("all", '\0', NULL, SAY_FLAG, struct request, everything,
            "with reset: also fill the budgets, close the circuit breakers and forget what was learned"),
    USER_STATE_ROWS(struct request),
    {0}};

static const struct say_command COMMAND = {
    .name = "tenacurl stats",
    .forms = "tenacurl stats [OPTION...]\n"
             "tenacurl stats reset [--all] [--policy FILE] [--state DIR]",
    .about =
        "Prints what this user's programs got from each origin since the host was started, or since the last reset:\n"
        "operations, the share that succeeded, attempts and sends per operation, retries and the failure that most of\n"
        "them answered, operations that were exhausted (retried and still failed), the sum of all waits, the time to\n"
        "success of half and of 95 % of the successful ones, what is left of the retry budget, and the circuit "
        "breaker.\n"
        "reset sets all counters to zero and forgets the operations that `tenacurl last` tells of.",
    .options = OPTIONS,
    .examples = "tenacurl stats\n"
                "tenacurl stats --owners\n"
                "tenacurl stats --prometheus >tenacurl.prom\n"
                "tenacurl stats reset\n",
    .wrong_usage = 2,
    .unwritable = 1,
};

/* SAY_GO_ON, or the exit status of wrong usage. */
static int check_request(const struct request *request)
{
	if (request->json && request->prometheus)
		return say_wrong_usage(&COMMAND, "--json or --prometheus, not both");
	if (request->owners && request->prometheus)
		return say_wrong_usage(&COMMAND, "--owners goes without --prometheus");
	if (request->everything && !request->reset)
		return say_wrong_usage(&COMMAND, "--all goes with reset");
	if (request->reset && (request->json || request->prometheus || request->query.all_users || request->owners))
		return say_wrong_usage(&COMMAND, "reset goes with --all, --policy and --state alone");
	return user_state_check_query(&COMMAND, &request->query);
}

/* The one operand. */
static int take_reset(char **operands, struct request *request)
{
	request->reset = operands[0] != NULL;
	if (operands[0] && strcmp(operands[0], "reset") != 0)
		return say_wrong_usage(&COMMAND, "what is '%s'?", operands[0]);
	return operands[0] && operands[1] ? say_wrong_usage(&COMMAND, "what is '%s'?", operands[1]) : SAY_GO_ON;
}

static bool print_numbers(const struct request *request, const struct stats *stats)
{
	if (request->json)
		return (request->owners ? owners_print_json : stats_print_json)(stdout, stats);
	if (request->prometheus)
		stats_print_prometheus(stdout, stats);
	else
		(request->owners ? owners_print_table : stats_print_table)(stdout, stats);
	return true;
}

static bool print(const struct request *request)
{
	struct stats stats = {.all_users = request->query.all_users};
	struct user_states_seen seen;
	bool good = user_states_visit(&request->query, stats_gather, &stats, &seen);
	good = good && (seen.read > 0 || seen.untrusted == 0);
	if (good) {
		stats_arrange(&stats);
		good = print_numbers(request, &stats);
	}
	if (good && !seen.read && !request->query.all_users && !request->owners)
		user_states_print_others(stderr);
	stats_free(&stats);
	return say_flush(COMMAND.name) && good;
}

int stats_command(int argc, char **argv)
{
	struct request request = {0};
	char **operands;
	int end = say_read_options(&COMMAND, argc, argv, &request, &operands);
	if (end == SAY_GO_ON)
		end = take_reset(operands, &request);
	if (end == SAY_GO_ON)
		end = check_request(&request);
	if (end != SAY_GO_ON)
		return end;
	if (request.reset)
		return user_state_reset(&request.query, request.everything) ? 0 : 1;
	/* What a collector runs every minute has a file of its own for it. */
	if (!request.prometheus)
		off_switch_tell();
	return print(&request) ? 0 : 1;
}
