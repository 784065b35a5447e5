/* SPDX-License-Identifier: MIT */

#include "cli/simulate/fleet/report.h"

#include <jansson.h>
#include <stddef.h>
#include <string.h>

#include "cli/say/plain_json.h"

#define LABEL_WIDTH    30
#define COLUMN_WIDTH   14
#define countof(array) (sizeof(array) / sizeof((array)[0]))

static double ratio(int64_t part, int64_t whole)
{
	return whole > 0 ? (double)part / (double)whole : 0;
}

static void write_success(char *cell, const struct fleet_result *result)
{
	snprintf(cell, COLUMN_WIDTH, "%.2f %%", 100 * ratio(result->succeeded, result->operations));
}

static void write_amplification(char *cell, const struct fleet_result *result)
{
	snprintf(cell, COLUMN_WIDTH, "%.3f", ratio(result->requests, result->operations));
}

static void write_peak(char *cell, const struct fleet_result *result)
{
	snprintf(cell, COLUMN_WIDTH, "%lld", (long long)fleet_peak_per_s(result));
}

#define NUMBER(field) .at = offsetof(struct fleet_result, field)

static const struct row {
	const char *label;
	void (*write)(char *cell, const struct fleet_result *result); /* NULL: it is a number */
	size_t at;                                                    /* of an int64_t in struct fleet_result */
	bool is_ms;
	bool needs_outage;
} rows[] = {
    {"operations", NUMBER(operations)},
    {"that succeeded", .write = write_success},
    {"requests", NUMBER(requests)},
    {"requests per operation", .write = write_amplification},
    {"most requests per second", .write = write_peak},
    {"until it works as before", NUMBER(recovery_ms), .is_ms = true, .needs_outage = true},
    {"longest operation", NUMBER(longest_ms), .is_ms = true},
    {"all is over after", NUMBER(elapsed_ms), .is_ms = true},
    {"breaker opened", NUMBER(breaker_opened)},
};

static void write_cell(char *cell, const struct row *row, const struct fleet_result *result)
{
	int64_t number;

	memcpy(&number, (const char *)result + row->at, sizeof number);
	if (row->write)
		row->write(cell, result);
	else if (row->is_ms && number == FLEET_NEVER)
		strcpy(cell, "never");
	else if (row->is_ms)
		snprintf(cell, COLUMN_WIDTH, "%.1f s", (double)number / 1000);
	else
		snprintf(cell, COLUMN_WIDTH, "%lld", (long long)number);
}

static void print_reasons(FILE *stream, const struct fleet_result *results)
{
	for (int reason = 0; reason <= ENGINE_PASSED_THROUGH; reason++) {
		int64_t total = 0;

		for (int policy = 0; policy < FLEET_POLICIES; policy++)
			total += results[policy].stops[reason];
		if (total == 0 || reason == ENGINE_SUCCESS)
			continue;
		fprintf(stream, "failed: %-*s", LABEL_WIDTH - 8, engine_reason_name((enum engine_reason)reason));
		for (int policy = 0; policy < FLEET_POLICIES; policy++)
			fprintf(stream, "%*lld", COLUMN_WIDTH, (long long)results[policy].stops[reason]);
		fputc('\n', stream);
	}
}

void fleet_print_table(FILE *stream, const struct fleet_scenario *scenario, const struct fleet_result *results)
{
	char value[256];

	for (size_t i = 0; fleet_setting_name(i); i++) {
		fleet_setting_print(scenario, i, value, sizeof value);
		fprintf(stream, "%s%s=%s", i > 0 ? " " : "", fleet_setting_name(i), value);
	}
	fprintf(stream, "\n\n%-*s", LABEL_WIDTH, "");
	for (int policy = 0; policy < FLEET_POLICIES; policy++)
		fprintf(stream, "%*s", COLUMN_WIDTH, fleet_policy_name((enum fleet_policy)policy));
	fputc('\n', stream);
	for (size_t i = 0; i < countof(rows); i++) {
		if (rows[i].needs_outage && scenario->outage_count == 0)
			continue;
		fprintf(stream, "%-*s", LABEL_WIDTH, rows[i].label);
		for (int policy = 0; policy < FLEET_POLICIES; policy++) {
			write_cell(value, &rows[i], &results[policy]);
			fprintf(stream, "%*s", COLUMN_WIDTH, value);
		}
		fputc('\n', stream);
	}
	print_reasons(stream, results);
}

static json_t *json_of_scenario(const struct fleet_scenario *scenario)
{
	json_t *object = json_object();
	char value[256];

	for (size_t i = 0; fleet_setting_name(i); i++) {
		fleet_setting_print(scenario, i, value, sizeof value);
		json_object_set_new(object, fleet_setting_name(i), json_string(value));
	}
	return object;
}

static json_t *json_of_stops(const struct fleet_result *result)
{
	json_t *object = json_object();

	for (int reason = 0; reason <= ENGINE_PASSED_THROUGH; reason++) {
		if (result->stops[reason] > 0)
			json_object_set_new(object, engine_reason_name((enum engine_reason)reason),
			                    json_integer(result->stops[reason]));
	}
	return object;
}

static json_t *json_of_bins(const struct fleet_result *result)
{
	json_t *array = json_array();
	size_t count = (size_t)(result->elapsed_ms / FLEET_BIN_MS) + 1;

	for (size_t i = 0; i < count && i < result->bin_count; i++) {
		const struct fleet_bin *bin = &result->bins[i];

		json_array_append_new(array, json_pack("[I, I, I]", (json_int_t)bin->requests, (json_int_t)bin->ended,
		                                       (json_int_t)bin->succeeded));
	}
	return array;
}

static json_t *json_of_result(const struct fleet_result *result, enum fleet_policy policy)
{
	json_t *recovery = result->recovery_ms == FLEET_NEVER ? json_null() : json_integer(result->recovery_ms);

	return json_pack(
	    "{s:s, s:I, s:I, s:f, s:I, s:f, s:I, s:o, s:I, s:I, s:I, s:o, s:o}", "policy", fleet_policy_name(policy),
	    "operations", (json_int_t)result->operations, "succeeded", (json_int_t)result->succeeded, "success",
	    ratio(result->succeeded, result->operations), "requests", (json_int_t)result->requests,
	    "requests_per_operation", ratio(result->requests, result->operations), "peak_requests_per_s",
	    (json_int_t)fleet_peak_per_s(result), "recovery_ms", recovery, "longest_ms", (json_int_t)result->longest_ms,
	    "elapsed_ms", (json_int_t)result->elapsed_ms, "breaker_opened", (json_int_t)result->breaker_opened, "stops",
	    json_of_stops(result), "bins", json_of_bins(result));
}

bool fleet_print_json(FILE *stream, const struct fleet_scenario *scenario, const struct fleet_result *results)
{
	json_t *policies = json_array();

	for (int policy = 0; policy < FLEET_POLICIES; policy++)
		json_array_append_new(policies, json_of_result(&results[policy], (enum fleet_policy)policy));
	return plain_json_print(stream, json_pack("{s:o, s:i, s:[s, s, s], s:o}", "scenario",
	                                          json_of_scenario(scenario), "bin_ms", FLEET_BIN_MS, "bins",
	                                          "requests", "ended", "succeeded", "policies", policies));
}
