/* SPDX-License-Identifier: MIT */

#include "cli/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fleet_report.h"
#include "cli/load.h"
#include "cli/plain_text.h"

enum { EXIT_USAGE = 2 };

/* What the command line says. */
struct request {
	const char *policy_path;
	const char *svg_path;
	bool wants_json;
	bool wants_help;
	char **settings; /* FILE or NAME=VALUE */
	int setting_count;
};

static bool complain(const char *what, const char *why)
{
	fprintf(stderr, "tenacurl simulate --fleet: %s%s%s\n", plain_text(what), why ? ": " : "",
	        why ? plain_text(why) : "");
	return false;
}

static void print_usage(FILE *stream)
{
	fputs("usage: tenacurl simulate --fleet [--policy FILE] [--json] [--svg FILE] [FILE | NAME=VALUE]…\n"
	      "\n"
	      "Lets many clients loose on a model of a server, on a logical clock: without retries, with a\n"
	      "naive loop, and with tenacurl as the policy says. A FILE has a NAME = VALUE on each line. NAME\n"
	      "is any key of a policy, or one of these:\n"
	      "\n",
	      stream);
	for (size_t i = 0; fleet_setting_name(i); i++)
		fprintf(stream, "  %-15s %-7s  %s\n", fleet_setting_name(i), fleet_setting_default(i),
		        fleet_setting_doc(i));
	fputs("\n"
	      "  --policy FILE   the [policy] of this file instead of the built-in one\n"
	      "  --json          one JSON object instead of the table\n"
	      "  --svg FILE      also draw the load over time\n",
	      stream);
}

static bool parse(char **argv, struct request *request)
{
	for (argv++; *argv && strncmp(*argv, "--", 2) == 0; argv++) {
		if (strcmp(*argv, "--json") == 0) {
			request->wants_json = true;
			continue;
		}
		if (strcmp(*argv, "--help") == 0) {
			request->wants_help = true;
			continue;
		}
		if (strcmp(*argv, "--policy") == 0)
			request->policy_path = argv[1];
		else if (strcmp(*argv, "--svg") == 0)
			request->svg_path = argv[1];
		else
			return false;
		if (!*++argv)
			return false;
	}
	request->settings = argv;
	while (argv[request->setting_count])
		request->setting_count++;
	return true;
}

static bool read_settings(struct fleet_scenario *scenario, const char *path)
{
	FILE *stream = fopen(path, "re");
	struct fleet_error error;
	char *line = NULL;
	size_t capacity = 0;
	char place[512];
	bool good = true;

	if (!stream)
		return complain(path, strerror(errno));
	for (int number = 1; good && getline(&line, &capacity, stream) >= 0; number++) {
		line[strcspn(line, "#")] = '\0';
		if (line[strspn(line, " \t\r\n")] == '\0' || fleet_scenario_set(scenario, line, &error))
			continue;
		snprintf(place, sizeof place, "%s:%d", path, number);
		good = complain(place, error.text);
	}
	if (good && (ferror(stream) || !feof(stream)))
		good = complain(path, strerror(errno));
	free(line);
	fclose(stream);
	return good;
}

static bool apply_settings(struct fleet_scenario *scenario, const struct request *request)
{
	struct fleet_error error;

	for (int i = 0; i < request->setting_count; i++) {
		const char *setting = request->settings[i];

		if (!strchr(setting, '=')) {
			if (!read_settings(scenario, setting))
				return false;
			continue;
		}
		if (!fleet_scenario_set(scenario, setting, &error))
			return complain(error.text, NULL);
	}
	return fleet_scenario_check(scenario, &error) || complain(error.text, NULL);
}

static bool write_svg(const char *path, const struct fleet_scenario *scenario, const struct fleet_result *results)
{
	FILE *stream = fopen(path, "we");

	if (!stream)
		return complain(path, strerror(errno));
	fleet_draw_svg(stream, scenario, results);
	if (ferror(stream) | (fclose(stream) != 0))
		return complain(path, strerror(errno));
	return true;
}

static bool report(const struct request *request, const struct fleet_scenario *scenario,
                   const struct fleet_result *results)
{
	if (request->svg_path && !write_svg(request->svg_path, scenario, results))
		return false;
	if (!request->wants_json)
		fleet_print_table(stdout, scenario, results);
	else if (!fleet_print_json(stdout, scenario, results))
		return complain("standard output", strerror(errno));
	return (fflush(stdout) == 0 && !ferror(stdout)) || complain("standard output", strerror(errno));
}

static bool simulate(const struct request *request, const struct fleet_scenario *scenario)
{
	struct fleet_result results[FLEET_POLICIES] = {0};
	bool good = true;

	for (int policy = 0; good && policy < FLEET_POLICIES; policy++)
		good = fleet_run(scenario, (enum fleet_policy)policy, &results[policy]);
	good = good ? report(request, scenario, results) : complain("out of memory", NULL);
	for (int policy = 0; policy < FLEET_POLICIES; policy++)
		fleet_result_end(&results[policy]);
	return good;
}

int fleet_command(int argc, char **argv)
{
	const struct policy_overrides no_overrides = {0};
	struct request request = {0};
	struct fleet_scenario scenario;
	struct policy_error error;
	const struct policy *policy;
	bool good;

	(void)argc;
	if (!parse(argv, &request)) {
		print_usage(stderr);
		return EXIT_USAGE;
	}
	if (request.wants_help) {
		print_usage(stdout);
		return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_USAGE;
	}
	policy = cli_load_policy(request.policy_path, &no_overrides, NULL, NULL, &error);
	if (!policy) {
		complain(error.text, NULL);
		return EXIT_USAGE;
	}
	fleet_scenario_begin(&scenario, &policy->sections[0].rules);
	good = apply_settings(&scenario, &request) && simulate(&request, &scenario);
	fleet_scenario_end(&scenario);
	policy_free(policy);
	return good ? EXIT_SUCCESS : EXIT_USAGE;
}
