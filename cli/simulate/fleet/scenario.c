/* SPDX-License-Identifier: MIT */

#include "cli/simulate/fleet/scenario.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/schema.h"
#include "config/value.h"

#define DAY_MS         86400000
#define NAME_BYTES     40
#define VALUE_BYTES    256
#define countof(array) (sizeof(array) / sizeof((array)[0]))

enum setting_type { INTEGER, SHARE, OUTAGES, OUTAGE_KIND };

static const char *const outage_kinds[] = {
    [FLEET_REFUSES] = "refuse", [FLEET_ANSWERS_503] = "error", [FLEET_STALLS] = "stall"};

static const struct {
	const char *name;
	enum setting_type type;
	int64_t least;
	int64_t most;
	size_t offset;
	const char *default_text;
	const char *doc;
} settings[] = {
#define SETTING(name, type, least, most, text, doc)                                                                    \
	{                                                                                                              \
#name, type, least, most, offsetof(struct fleet_scenario, name), text, doc                             \
	}
    SETTING(clients, INTEGER, 1, 100000, "200", "clients"),
    SETTING(hosts, INTEGER, 1, 100000, "1", "hosts that they are spread over"),
    SETTING(interval_ms, INTEGER, 0, DAY_MS, "1000", "from one operation of a client to its next"),
    SETTING(operations, INTEGER, 0, 10000000, "0", "operations of each client; 0: what fits in duration_ms"),
    SETTING(duration_ms, INTEGER, 0, DAY_MS, "60000", "no operation begins later; 0: no limit"),
    SETTING(timeout_ms, INTEGER, 0, DAY_MS, "0", "the programs' own timeout; 0: none"),
    SETTING(latency_ms, INTEGER, 0, DAY_MS, "20", "of any answer, beside its time in the queue"),
    SETTING(capacity_per_s, INTEGER, 0, 10000000, "0", "requests that the server does in a second; 0: any"),
    SETTING(queue, INTEGER, 0, 10000000, "0", "requests that may wait there, more get a 503; 0: any"),
    SETTING(failure, SHARE, 0, 1, "0", "share of requests that get a 503"),
    SETTING(retry_after_ms, INTEGER, 0, DAY_MS, "0", "that a 503 asks for; 0: nothing"),
    SETTING(outages, OUTAGES, 0, DAY_MS, "", "START+LENGTH,… in ms"),
    SETTING(outage_kind, OUTAGE_KIND, 0, 0, "refuse", "refuse (connections), error (503), stall (and queue)"),
    SETTING(naive_attempts, INTEGER, 1, 100, "3", "of the naive loop, which neither waits nor stops"),
    SETTING(seed, INTEGER, 0, INT64_MAX, "1", "of the dice"),
#undef SETTING
};

static bool read_integer(const char *text, char **end, int64_t *number)
{
	errno = 0;
	*number = strtoll(text, end, 10);
	return errno == 0 && *end != text && text[0] >= '0' && text[0] <= '9';
}

static bool set_outages(struct fleet_scenario *scenario, const char *value, struct say_error *error)
{
	struct fleet_outage outages[FLEET_OUTAGES_MAX];
	size_t count = 0;

	for (const char *at = value; *at != '\0'; count++) {
		char *end;
		int64_t begin_ms;
		int64_t length_ms;

		if (count == FLEET_OUTAGES_MAX)
			return say_refuse(error, "outages: more than %d", FLEET_OUTAGES_MAX);
		if (!read_integer(at, &end, &begin_ms) || *end != '+' || !read_integer(end + 1, &end, &length_ms) ||
		    (*end != ',' && *end != '\0') || (*end == ',' && end[1] == '\0'))
			return say_refuse(error, "outages: \"%.40s\" is not START+LENGTH,START+LENGTH,…", value);
		if (begin_ms > DAY_MS || length_ms < 1 || length_ms > DAY_MS)
			return say_refuse(error, "outages: out of range; allowed: a day, and at least 1 ms");
		if (count > 0 && begin_ms < outages[count - 1].end_ms)
			return say_refuse(error, "outages: must be in the order of time and apart from each other");
		outages[count] = (struct fleet_outage){begin_ms, begin_ms + length_ms};
		at = *end == ',' ? end + 1 : end;
	}
	memcpy(scenario->outages, outages, count * sizeof outages[0]);
	scenario->outage_count = count;
	return true;
}

static bool set_outage_kind(struct fleet_scenario *scenario, const char *value, struct say_error *error)
{
	for (size_t i = 0; i < countof(outage_kinds); i++) {
		if (strcmp(outage_kinds[i], value) != 0)
			continue;
		scenario->outage_kind = (enum fleet_outage_kind)i;
		return true;
	}
	return say_refuse(error, "outage_kind: \"%.40s\"; allowed: refuse, error, stall", value);
}

static bool set_number(struct fleet_scenario *scenario, size_t setting, const char *value, struct say_error *error)
{
	int64_t number;
	char *end;

	if (!read_integer(value, &end, &number) || *end != '\0' || number < settings[setting].least ||
	    number > settings[setting].most)
		return say_refuse(error, "%s: \"%.40s\"; allowed: a whole number from %lld to %lld",
		                  settings[setting].name, value, (long long)settings[setting].least,
		                  (long long)settings[setting].most);
	memcpy((char *)scenario + settings[setting].offset, &number, sizeof number);
	return true;
}

static bool set_share(struct fleet_scenario *scenario, size_t setting, const char *value, struct say_error *error)
{
	char *end;
	double share = strtod(value, &end);

	if (end == value || *end != '\0' || !(share >= 0 && share <= 1))
		return say_refuse(error, "%s: \"%.40s\"; allowed: a number from 0 to 1", settings[setting].name, value);
	memcpy((char *)scenario + settings[setting].offset, &share, sizeof share);
	return true;
}

static bool set_setting(struct fleet_scenario *scenario, size_t setting, const char *value, struct say_error *error)
{
	switch (settings[setting].type) {
	case INTEGER:
		return set_number(scenario, setting, value, error);
	case SHARE:
		return set_share(scenario, setting, value, error);
	case OUTAGES:
		return set_outages(scenario, value, error);
	case OUTAGE_KIND:
		break;
	}
	return set_outage_kind(scenario, value, error);
}

/* Why a fleet has no use for the key; NULL: it has one. */
static const char *why_unused(const struct schema_key *key)
{
	if (key->type == SCHEMA_MATCH)
		return "a fleet asks one origin only";
	if (strncmp(key->name, "nested", strlen("nested")) == 0)
		return "a fleet's programs don't retry by themselves";
	return NULL;
}

static bool set_policy_key(struct fleet_scenario *scenario, const struct schema_key *key, const char *value,
                           struct say_error *error)
{
	char allowed[SCHEMA_ALLOWED_BYTES];
	struct value_fault fault;

	if (why_unused(key))
		return say_refuse(error, "%s: can't be set here: %s", key->name, why_unused(key));
	switch (value_parse(key, value, &scenario->arena, &scenario->rules, &fault)) {
	case VALUE_TAKEN:
		return true;
	case VALUE_NO_MEMORY:
		return say_refuse(error, "out of memory");
	case VALUE_WRONG:
		break;
	}
	schema_allowed(key, allowed);
	return say_refuse(error, "%s: \"%.40s\": %s; allowed: %s", key->name, value, fault.wrong, allowed);
}

/* Copies the text without the blanks around it. Returns false if it is too long. */
static bool trim(const char *text, size_t length, char *out, size_t out_bytes)
{
	while (length > 0 && memchr(" \t\r\n", text[0], 4)) {
		text++;
		length--;
	}
	while (length > 0 && memchr(" \t\r\n", text[length - 1], 4))
		length--;
	if (length >= out_bytes)
		return false;
	memcpy(out, text, length);
	out[length] = '\0';
	return true;
}

bool fleet_scenario_set(struct fleet_scenario *scenario, const char *assignment, struct say_error *error)
{
	const char *sign = strchr(assignment, '=');
	char name[NAME_BYTES];
	char value[VALUE_BYTES];
	int key;

	if (!sign || !trim(assignment, (size_t)(sign - assignment), name, sizeof name) ||
	    !trim(sign + 1, strlen(sign + 1), value, sizeof value))
		return say_refuse(error, "\"%.40s\": is not NAME=VALUE", assignment);
	for (size_t i = 0; i < countof(settings); i++) {
		if (strcmp(settings[i].name, name) == 0)
			return set_setting(scenario, i, value, error);
	}
	key = schema_find(name);
	if (key < 0)
		return say_refuse(error, "%s: neither a setting of a fleet nor a key of a policy", name);
	return set_policy_key(scenario, schema_key_at((size_t)key), value, error);
}

bool fleet_scenario_check(const struct fleet_scenario *scenario, struct say_error *error)
{
	if (scenario->operations == 0 && scenario->duration_ms == 0)
		return say_refuse(error,
		                  "operations, duration_ms: one of them must be set, or the simulation never ends");
	if (scenario->operations == 0 && scenario->interval_ms == 0 && scenario->latency_ms == 0)
		return say_refuse(error, "interval_ms, latency_ms: one of them must be set, or time stands still");
	if (scenario->hosts > scenario->clients)
		return say_refuse(error, "hosts: more than clients");
	return true;
}

void fleet_scenario_begin(struct fleet_scenario *scenario, const struct policy_rules *rules)
{
	struct say_error error;

	*scenario = (struct fleet_scenario){.rules = *rules};
	for (size_t i = 0; i < countof(settings); i++)
		set_setting(scenario, i, settings[i].default_text, &error);
}

void fleet_scenario_end(struct fleet_scenario *scenario)
{
	arena_free(&scenario->arena);
}

const char *fleet_setting_name(size_t index)
{
	return index < countof(settings) ? settings[index].name : NULL;
}

const char *fleet_setting_default(size_t index)
{
	return index < countof(settings) ? settings[index].default_text : NULL;
}

const char *fleet_setting_doc(size_t index)
{
	return index < countof(settings) ? settings[index].doc : NULL;
}

static void print_outages(const struct fleet_scenario *scenario, char *out, size_t out_bytes)
{
	size_t used = 0;

	out[0] = '\0';
	for (size_t i = 0; i < scenario->outage_count && used < out_bytes; i++) {
		const struct fleet_outage *outage = &scenario->outages[i];
		int wrote = snprintf(out + used, out_bytes - used, "%s%lld+%lld", i > 0 ? "," : "",
		                     (long long)outage->begin_ms, (long long)(outage->end_ms - outage->begin_ms));

		used += wrote > 0 ? (size_t)wrote : 0;
	}
}

void fleet_setting_print(const struct fleet_scenario *scenario, size_t index, char *out, size_t out_bytes)
{
	const char *field = (const char *)scenario + settings[index].offset;
	int64_t number;
	double share;

	switch (settings[index].type) {
	case INTEGER:
		memcpy(&number, field, sizeof number);
		snprintf(out, out_bytes, "%lld", (long long)number);
		break;
	case SHARE:
		memcpy(&share, field, sizeof share);
		snprintf(out, out_bytes, "%g", share);
		break;
	case OUTAGES:
		print_outages(scenario, out, out_bytes);
		break;
	case OUTAGE_KIND:
		snprintf(out, out_bytes, "%s", outage_kinds[scenario->outage_kind]);
		break;
	}
}
