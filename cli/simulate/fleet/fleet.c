/* SPDX-License-Identifier: MIT */

#include "cli/simulate/fleet/fleet.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/policy/load.h"
#include "cli/say/plain_text.h"
#include "cli/simulate/fleet/report.h"

enum { EXIT_FAILED = 2 };

static bool complain(const char *what, const char *why)
{
	fprintf(stderr, "tenacurl simulate --fleet: %s%s%s\n", plain_text(what), why ? ": " : "",
	        why ? plain_text(why) : "");
	return false;
}

void fleet_print_settings(FILE *out)
{
	fputs("A FILE of --fleet has a NAME = VALUE on each line. NAME is any key of a policy, or one of these:\n\n",
	      out);
	for (size_t i = 0; fleet_setting_name(i); i++)
		fprintf(out, "  %-15s %-7s  %s\n", fleet_setting_name(i), fleet_setting_default(i),
		        fleet_setting_doc(i));
}

static bool read_settings(struct fleet_scenario *scenario, const char *path)
{
	FILE *stream = fopen(path, "re");
	struct say_error error;
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

static bool apply_settings(struct fleet_scenario *scenario, const struct fleet_request *request)
{
	struct say_error error;

	for (char **at = request->settings; *at; at++) {
		const char *setting = *at;

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

static bool report(const struct fleet_request *request, const struct fleet_scenario *scenario,
                   const struct fleet_result *results)
{
	if (request->svg_path && !write_svg(request->svg_path, scenario, results))
		return false;
	if (!request->json)
		fleet_print_table(stdout, scenario, results);
	else if (!fleet_print_json(stdout, scenario, results))
		return complain("standard output", strerror(errno));
	return (fflush(stdout) == 0 && !ferror(stdout)) || complain("standard output", strerror(errno));
}

static bool simulate(const struct fleet_request *request, const struct fleet_scenario *scenario)
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

int fleet_simulate(const struct fleet_request *request)
{
	const struct policy_overrides no_overrides = {0};
	struct fleet_scenario scenario;
	struct policy_error error;
	const struct policy *policy = cli_load_policy(request->policy_path, &no_overrides, NULL, NULL, &error);
	bool good;

	if (!policy) {
		complain(error.text, NULL);
		return EXIT_FAILED;
	}
	fleet_scenario_begin(&scenario, &policy->sections[0].rules);
	good = apply_settings(&scenario, request) && simulate(request, &scenario);
	fleet_scenario_end(&scenario);
	policy_free(policy);
	return good ? EXIT_SUCCESS : EXIT_FAILED;
}
