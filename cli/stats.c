/* SPDX-License-Identifier: MIT */
#include "cli/stats.h"

#include <errno.h>
#include <string.h>

#include "cli/owners.h"

enum { EXIT_USAGE = 2 };

static const char HELP[] =
    "Usage: tenacurl stats [--json | --prometheus] [--policy FILE] [--all-users | --state DIR]\n"
    "       tenacurl stats --owners [--json] [--policy FILE] [--all-users | --state DIR]\n"
    "       tenacurl stats reset [--all] [--policy FILE] [--state DIR]\n"
    "\n"
    "Prints what this user's programs got from each origin since the host was started, or since the last reset:\n"
    "operations, the share that succeeded, attempts and sends per operation, retries and the failure that most of\n"
    "them answered, operations that were exhausted (retried and still failed), the sum of all waits, the time to\n"
    "success of half and of 95 % of the successful ones, what is left of the retry budget, and the circuit breaker.\n"
    "\n"
    "  --owners        instead: how many operations were left to callers that repeat them by themselves, how many\n"
    "                  repeats were refused (nested = own), and what was learned of such callers\n"
    "  --json          print one JSON object: tenacurl(1) has its keys\n"
    "  --prometheus    print Prometheus's text format, for node_exporter's textfile collector\n";

static const char HELP_RESET[] =
    "\n"
    "reset sets all counters to zero and forgets the operations that `tenacurl last` tells of.\n"
    "\n"
    "  --all           also fill the budgets, close the circuit breakers and forget what was learned\n"
    "  -h, --help      print this text\n";

enum form { FORM_TABLE, FORM_JSON, FORM_PROMETHEUS };

/* What the command line says. */
struct request {
	struct user_state_query query;
	enum form form;
	bool owners;
	bool reset;
	bool everything;
	bool help;
};

static bool parse_option(char ***arguments, struct request *request)
{
	const char *option = **arguments;
	bool is_json = strcmp(option, "--json") == 0, is_prometheus = strcmp(option, "--prometheus") == 0;
	bool is_help = strcmp(option, "-h") == 0 || strcmp(option, "--help") == 0;
	bool is_all = strcmp(option, "--all") == 0;
	if (is_json || is_prometheus) {
		bool is_the_only_one = request->form == FORM_TABLE;
		request->form = is_json ? FORM_JSON : FORM_PROMETHEUS;
		return is_the_only_one;
	}
	bool is_owners = strcmp(option, "--owners") == 0;
	request->help |= is_help;
	request->everything |= is_all;
	request->owners |= is_owners;
	return is_help || is_all || is_owners || user_state_option(arguments, &request->query);
}

static bool parse(char **argv, struct request *request)
{
	for (argv++; *argv; argv++) {
		if (strcmp(*argv, "reset") == 0 && !request->reset)
			request->reset = true;
		else if (!parse_option(&argv, request))
			return false;
	}
	if (request->help)
		return true;
	bool is_for_printing = request->form != FORM_TABLE || request->query.all_users || request->owners;
	if (request->owners && request->form == FORM_PROMETHEUS)
		return false;
	return request->reset ? !is_for_printing : !request->everything;
}

static bool flush_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	fprintf(stderr, "tenacurl stats: can't write: %s\n", strerror(errno));
	return false;
}

static bool print(const struct request *request)
{
	struct stats stats = {.all_users = request->query.all_users};
	struct user_states_seen seen;
	bool good = user_states_visit(&request->query, stats_gather, &stats, &seen);
	good = good && (seen.read > 0 || seen.untrusted == 0);
	if (good) {
		stats_arrange(&stats);
		if (request->form == FORM_JSON)
			good = stats_print_json(stdout, &stats);
		else if (request->form == FORM_PROMETHEUS)
			stats_print_prometheus(stdout, &stats);
		else
			stats_print_table(stdout, &stats);
	}
	stats_free(&stats);
	return flush_output() && good;
}

static bool print_owners(const struct request *request)
{
	struct owners owners = {.stats = {.all_users = request->query.all_users}};
	struct user_states_seen seen;
	bool good = user_states_visit(&request->query, owners_gather, &owners, &seen);
	good = good && (seen.read > 0 || seen.untrusted == 0);
	if (good) {
		owners_arrange(&owners);
		if (request->form == FORM_JSON)
			good = owners_print_json(stdout, &owners);
		else
			owners_print_table(stdout, &owners);
	}
	owners_free(&owners);
	return flush_output() && good;
}

int stats_command(int argc, char **argv)
{
	struct request request = {0};
	(void)argc;
	if (!parse(argv, &request)) {
		fputs("tenacurl stats: wrong usage\nTry 'tenacurl stats --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (request.help) {
		fputs(HELP, stdout);
		fputs(user_state_help, stdout);
		fputs(HELP_RESET, stdout);
		return flush_output() ? 0 : 1;
	}
	if (request.reset)
		return user_state_reset(&request.query, request.everything) ? 0 : 1;
	return (request.owners ? print_owners : print)(&request) ? 0 : 1;
}
