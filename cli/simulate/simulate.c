/* SPDX-License-Identifier: MIT */

#include "cli/simulate/simulate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say/options.h"
#include "cli/say/plain_json.h"
#include "cli/say/plain_text.h"
#include "cli/simulate/fleet/fleet.h"
#include "cli/simulate/simulation.h"

enum { EXIT_FAILED = 2 };

/* What the command line says. */
struct request {
	bool is_fleet;
	struct fleet_request fleet;
};

static const struct say_option OPTIONS[] = {
    SAY_ROW("fleet", '\0', NULL, SAY_FLAG, struct request, is_fleet, "many clients and a model of a server"),
    SAY_ROW("policy", '\0', "FILE", SAY_TEXT, struct request, fleet.policy_path,
            "with --fleet: the [policy] of this file instead of the built-in one"),
    SAY_ROW("json", '\0', NULL, SAY_FLAG, struct request, fleet.json,
            "with --fleet: one JSON object instead of the table"),
    SAY_ROW("svg", '\0', "FILE", SAY_TEXT, struct request, fleet.svg_path,
            "with --fleet: also draw the load over time"),
    {0}};

static const char NOTES[] =
    "Each line of the input is one JSON object:\n"
    "\n"
    "  policy    total_ms, per_try_ms, max_attempts, min_try_ms, base_ms, backoff_cap_ms, replay_safe\n"
    "  outcomes  what each attempt would come to: duration_ms, status (200 to 599, \"timeout\" or\n"
    "            \"cancel\"), retry_after_ms (or null)\n"
    "  draws     the jitter fractions, 0 to 1, in the order in which they are asked for\n"
    "\n"
    "For each line one JSON object is printed: ok, stop, attempts, elapsed_ms and the trace, or\n"
    "rejected and error for a line that is refused.\n"
    "\n"
    "--fleet lets many clients loose on a model of a server: without retries, with a naive loop, and\n"
    "with tenacurl as the policy says.";

static const struct say_command COMMAND = {
    .name = "tenacurl simulate",
    .forms = "tenacurl simulate FILE...\n"
             "tenacurl simulate --fleet [OPTION...] [FILE | NAME=VALUE]...",
    .about = "Runs scripted outcomes through the retry engine on a logical clock. A FILE of - is standard input.",
    .options = OPTIONS,
    .notes = NOTES,
    .more = fleet_print_settings,
    .examples = "tenacurl simulate outcomes.jsonl\n"
                "tenacurl simulate --fleet --svg load.svg clients=200 capacity_per_s=300 \\\n"
                "    per_try_ms=300 outages=10000+5000 outage_kind=stall\n",
    .wrong_usage = EXIT_FAILED,
    .unwritable = EXIT_FAILED,
};

static json_t *rejection(const char *why)
{
	json_t *result = json_pack("{s:b, s:s}", "rejected", 1, "error", why);

	/* The parser's words may quote bytes that aren't UTF-8. */
	return result ? result : json_pack("{s:b, s:s}", "rejected", 1, "error", "not JSON: not UTF-8");
}

static json_t *simulate_line(const char *line, size_t line_bytes)
{
	struct simulation simulation;
	struct say_error error;
	json_t *result;

	if (!simulation_read(line, line_bytes, &simulation, &error))
		return rejection(error.text);
	result = simulation_run(&simulation, &error);
	simulation_free(&simulation);
	return result ? result : rejection(error.text);
}

static bool complain(const char *what)
{
	fprintf(stderr, "tenacurl simulate: %s: %s\n", plain_text(what), strerror(errno));
	return false;
}

static bool simulate_stream(FILE *stream, const char *name)
{
	char *line = NULL;
	size_t capacity = 0;
	ssize_t bytes;
	bool good = true;

	errno = 0;
	while (good && (bytes = getline(&line, &capacity, stream)) >= 0) {
		if (strspn(line, " \t\r\n") < (size_t)bytes &&
		    !plain_json_print(stdout, simulate_line(line, (size_t)bytes)))
			good = complain("standard output");
		errno = 0;
	}
	/* getline() also ends without an error on the stream, when there is no memory for the line. */
	if (good && (ferror(stream) || !feof(stream)))
		good = complain(name);
	free(line);
	return good;
}

static bool simulate_file(const char *path)
{
	FILE *stream;
	bool good;

	if (strcmp(path, "-") == 0)
		return simulate_stream(stdin, "standard input");
	stream = fopen(path, "re");
	if (!stream)
		return complain(path);
	good = simulate_stream(stream, path);
	fclose(stream);
	return good;
}

static int simulate_files(char **files)
{
	bool good = true;

	for (; *files; files++)
		good = simulate_file(*files) && good;
	if (fflush(stdout) != 0)
		good = complain("standard output");
	return good ? EXIT_SUCCESS : EXIT_FAILED;
}

int simulate_command(int argc, char **argv)
{
	struct request request = {0};
	char **operands;
	int end = say_read_options(&COMMAND, argc, argv, &request, &operands);

	if (end != SAY_GO_ON)
		return end;
	request.fleet.settings = operands;
	if (request.is_fleet)
		return fleet_simulate(&request.fleet);
	if (request.fleet.policy_path || request.fleet.svg_path || request.fleet.json)
		return say_wrong_usage(&COMMAND, "--policy, --json and --svg go with --fleet");
	return operands[0] ? simulate_files(operands) : say_wrong_usage(&COMMAND, "which file? (- is standard input)");
}
