/* SPDX-License-Identifier: MIT */
#include "config/check.h"

#include <stdio.h>
#include <string.h>

#include "config/complaint.h"
#include "config/match.h"
#include "config/value.h"

#define VALUE_BYTES 80

/* One section that is being looked at. */
struct subject {
	const struct policy *policy;
	const struct policy_section *section;
};

/* A key in a section, with its value as text. */
struct finding {
	struct complaint_place place;
	char value[VALUE_BYTES];
};

static size_t key_index(const char *name)
{
	return (size_t)schema_find(name);
}

static bool is_upstream(const struct subject *subject)
{
	return subject->section != &subject->policy->sections[0];
}

/* Whether the file sets the key, in this section or in [policy]. */
static bool is_set(const struct subject *subject, const char *key)
{
	return subject->section->line[key_index(key)] != 0;
}

static bool is_set_here(const struct subject *subject, const char *key)
{
	return is_set(subject, key) && !subject->section->inherited[key_index(key)];
}

static int64_t number_of(const struct subject *subject, const char *key)
{
	return value_number(schema_key_at(key_index(key)), &subject->section->rules);
}

static void find(const struct subject *subject, const char *key, struct finding *finding)
{
	const struct policy_section *section = subject->section;
	size_t index = key_index(key);

	value_print(schema_key_at(index), &section->rules, finding->value, sizeof finding->value);
	finding->place = (struct complaint_place){
	    .path = subject->policy->path,
	    .line = section->line[index],
	    .section = section->name,
	    .is_upstream = is_upstream(subject),
	    .key = key,
	    .value = finding->value,
	};
	if (section->inherited[index]) {
		finding->place.section = subject->policy->sections[0].name;
		finding->place.is_upstream = false;
	}
}

/* min_try_ms over one of the limits: the fault is told where the file set the one or the other. */
static bool check_min_try(const struct subject *subject, const char *limit, struct policy_error *error)
{
	int64_t min_try_ms = number_of(subject, "min_try_ms");
	int64_t limit_ms = number_of(subject, limit);
	bool at_min_try = is_set_here(subject, "min_try_ms") || !is_set(subject, limit);
	struct finding finding;

	if (limit_ms == 0 || min_try_ms <= limit_ms)
		return true;
	find(subject, at_min_try ? "min_try_ms" : limit, &finding);
	if (at_min_try)
		complain(error, &finding.place, "is over %s = %lld, so no attempt could start; allowed: at most %lld",
		         limit, (long long)limit_ms, (long long)limit_ms);
	else
		complain(error, &finding.place,
		         "is under min_try_ms = %lld%s, so no attempt could start; allowed: at least %lld, or a "
		         "smaller min_try_ms",
		         (long long)min_try_ms, is_set(subject, "min_try_ms") ? "" : " (the default)",
		         (long long)min_try_ms);
	return false;
}

static bool check_audit(const struct subject *subject, struct policy_error *error)
{
	const struct policy_rules *rules = &subject->section->rules;
	struct finding finding;

	if (rules->mode != POLICY_MODE_AUDIT || rules->log != POLICY_LOG_NONE)
		return true;
	find(subject, "mode", &finding);
	complain(error, &finding.place,
	         "audit only writes a log, and log = none; allowed: audit with log = stderr, stderr-json, syslog or an "
	         "absolute path");
	return false;
}

bool policy_check(const struct policy *policy, struct policy_error *error)
{
	for (size_t i = 0; i < policy->section_count; i++) {
		const struct subject subject = {policy, &policy->sections[i]};
		if (!check_min_try(&subject, "per_try_ms", error) || !check_min_try(&subject, "deadline_ms", error) ||
		    !check_audit(&subject, error))
			return false;
	}
	return true;
}

/* A key whose value has no effect where it is over another one's, 0 being "no limit". */
static const struct {
	const char *key;
	const char *limit;
} reachable_below[] = {
    {"retry_after_max_ms", "deadline_ms"}, {"retry_after_max_ms", "retry_max_time_ms"},
    {"retry_max_time_ms", "deadline_ms"},  {"per_try_ms", "deadline_ms"},
    {"connect_timeout_ms", "per_try_ms"},  {"connect_timeout_ms", "deadline_ms"},
    {"backoff_min_ms", "backoff_cap_ms"},  {"backoff_base_ms", "backoff_cap_ms"},
};

struct warner {
	policy_warn warn;
	void *context;
};

static void warn_of(const struct warner *warner, const struct subject *subject, const char *key, const char *what)
{
	struct policy_error text;
	struct finding finding;

	find(subject, key, &finding);
	complain(&text, &finding.place, "%s", what);
	warner->warn(warner->context, text.text);
}

static void warn_unreachable_numbers(const struct warner *warner, const struct subject *subject)
{
	char what[160];

	for (size_t i = 0; i < sizeof reachable_below / sizeof reachable_below[0]; i++) {
		const char *key = reachable_below[i].key;
		const char *limit = reachable_below[i].limit;
		int64_t limit_ms = number_of(subject, limit);
		if (!is_set(subject, key) || !(is_set_here(subject, key) || is_set_here(subject, limit)))
			continue;
		if (limit_ms == 0 || number_of(subject, key) <= limit_ms)
			continue;
		bool elsewhere = is_upstream(subject) && !is_set_here(subject, key);
		snprintf(what, sizeof what, "is over %s = %lld%s%s%s and so never reached", limit, (long long)limit_ms,
		         elsewhere ? " of [upstream " : "", elsewhere ? subject->section->name : "",
		         elsewhere ? "]" : "");
		warn_of(warner, subject, key, what);
	}
}

static void warn_unreachable_body(const struct warner *warner, const struct subject *subject)
{
	const struct policy_rules *rules = &subject->section->rules;

	if (!is_set_here(subject, "final_body") && !is_set_here(subject, "hold_body_bytes"))
		return;
	if (rules->final_body != NULL && strlen(rules->final_body) > (size_t)rules->hold_body_bytes)
		warn_of(warner, subject, "final_body", "is longer than hold_body_bytes and so never found");
}

static void warn_unretried_refusals(const struct warner *warner, const struct subject *subject)
{
	const struct policy_rules *rules = &subject->section->rules;
	char what[120];

	if (!is_set_here(subject, "refused_status") && !is_set_here(subject, "retry_status") &&
	    !is_set_here(subject, "retry_status_get_only"))
		return;
	for (int status = 100; status <= 599; status++) {
		if (!policy_status_in(&rules->refused_status, status) ||
		    policy_status_in(&rules->retry_status, status) ||
		    policy_status_in(&rules->retry_status_get_only, status))
			continue;
		snprintf(what, sizeof what, "%d is not in retry_status and so never retried", status);
		warn_of(warner, subject, "refused_status", what);
		return;
	}
}

static void warn_idle_idempotency_key(const struct warner *warner, const struct subject *subject)
{
	const struct policy_rules *rules = &subject->section->rules;

	if (!is_set_here(subject, "add_idempotency_key") && !is_set_here(subject, "replay"))
		return;
	if (rules->add_idempotency_key &&
	    (rules->replay == POLICY_REPLAY_UNSENT || rules->replay == POLICY_REPLAY_NONE))
		warn_of(warner, subject, "add_idempotency_key", "is of no use with replay = unsent or none");
}

/* The time within which retries end: the shorter of retry_max_time_ms and deadline_ms, 0 if neither is there. */
static int64_t retries_end_ms(const struct policy_rules *rules)
{
	if (rules->deadline_ms == 0 || rules->retry_max_time_ms == 0)
		return rules->deadline_ms + rules->retry_max_time_ms;
	return rules->deadline_ms < rules->retry_max_time_ms ? rules->deadline_ms : rules->retry_max_time_ms;
}

/* Whoever waits out long outages doesn't want a breaker that gives them up. */
static void warn_early_breaker(const struct warner *warner, const struct subject *subject)
{
	const struct policy_rules *rules = &subject->section->rules;
	int64_t end_ms = retries_end_ms(rules);
	char what[160];

	if (!is_set(subject, "retry_max_time_ms") || rules->breaker == POLICY_BREAKER_OFF ||
	    rules->breaker_outage_ms == 0)
		return;
	if (!is_set_here(subject, "retry_max_time_ms") && !is_set_here(subject, "breaker_outage_ms") &&
	    !is_set_here(subject, "breaker"))
		return;
	if (end_ms != 0 && end_ms <= rules->breaker_outage_ms)
		return;
	snprintf(what, sizeof what,
	         "is over breaker_outage_ms = %lld%s: from then on the circuit breaker can end the retries",
	         (long long)rules->breaker_outage_ms, is_set(subject, "breaker_outage_ms") ? "" : " (the default)");
	warn_of(warner, subject, "retry_max_time_ms", what);
}

/* A key that means nothing while another one has a certain value; one at its default was hardly meant to. */
static const struct {
	const char *key;
	const char *governor;
	const char *idle_value;
} idle_keys[] = {
    {"breaker_failures", "breaker", "off"},
    {"breaker_outage_ms", "breaker", "off"},
    {"breaker_failure_pct", "breaker", "off"},
    {"breaker_min_attempts", "breaker", "off"},
    {"breaker_window_ms", "breaker", "off"},
    {"breaker_open_ms", "breaker", "off"},
    {"breaker_probes", "breaker", "off"},
    {"breaker_action", "breaker", "off"},
    {"breaker_min_attempts", "breaker_failure_pct", "0"},
    {"breaker_probes", "breaker_action", "no-retry"},
    {"nested_window_ms", "nested", "off"},
    {"nested_quiet_ms", "nested", "off"},
    {"nested_quiet_ms", "nested", "yield"},
    {"nested_headers", "nested", "off"},
    {"nested_programs", "nested", "off"},
    {"nested_programs", "nested", "own"},
    {"state_dir", "state", "process"},
    {"state_dir", "state", "none"},
};

static bool has_default(const struct subject *subject, const char *key)
{
	const struct schema_key *row = schema_key_at(key_index(key));
	char value[SCHEMA_DEFAULT_BYTES];

	value_print(row, &subject->section->rules, value, sizeof value);
	return strcmp(value, row->default_text) == 0;
}

static void warn_idle_keys(const struct warner *warner, const struct subject *subject)
{
	for (size_t i = 0; i < sizeof idle_keys / sizeof idle_keys[0]; i++) {
		const char *key = idle_keys[i].key;
		const char *governor = idle_keys[i].governor;
		char value[VALUE_BYTES];
		char what[120];

		if (!is_set_here(subject, key) || has_default(subject, key))
			continue;
		value_print(schema_key_at(key_index(governor)), &subject->section->rules, value, sizeof value);
		if (strcmp(value, idle_keys[i].idle_value) != 0)
			continue;
		snprintf(what, sizeof what, "is of no use with %s = %s", governor, value);
		warn_of(warner, subject, key, what);
	}
}

static bool same_or_absent(const char *general, const char *special)
{
	return general == NULL || (special != NULL && strcmp(general, special) == 0);
}

/*
 * Whether all that fits the glob `special` fits `general`; false where that isn't plain to see. What a glob's "*"
 * swallows may be a wildcard of the other one's, but its "?" must not meet a "*".
 */
static bool glob_covers(const char *general, const char *special)
{
	if (strcmp(general, special) == 0)
		return true;
	if (strchr(general, '?') != NULL && strchr(special, '*') != NULL)
		return false;
	return match_glob(general, special, strlen(special));
}

/* A path begins with a slash; none in the pattern means any. */
static bool path_covers(const char *general, const char *special)
{
	return general == NULL || glob_covers(general, special != NULL ? special : "/*");
}

/* Whether every URL that fits `special` fits `general` too; false where that isn't plain to see. */
static bool covers(const struct policy_match *general, const struct policy_match *special)
{
	return same_or_absent(general->scheme, special->scheme) &&
	       (general->port == 0 || general->port == special->port) &&
	       path_covers(general->path_glob, special->path_glob) &&
	       glob_covers(general->host_glob, special->host_glob);
}

static void warn_covered_section(const struct warner *warner, const struct subject *subject)
{
	char what[128];

	for (const struct policy_section *earlier = subject->policy->sections + 1; earlier < subject->section;
	     earlier++) {
		if (!covers(&earlier->rules.match, &subject->section->rules.match))
			continue;
		snprintf(what, sizeof what,
		         "[upstream %s] comes first and fits all of it, so this section is never used", earlier->name);
		warn_of(warner, subject, "match", what);
		return;
	}
}

/* "10.0.0.0/8": an address, and a path that is a number. */
static bool looks_like_network(const struct policy_match *match, const char *path)
{
	bool is_address =
	    match->host_glob[0] == '[' || strspn(match->host_glob, "0123456789.") == strlen(match->host_glob);
	size_t digits = strspn(path + 1, "0123456789");

	return is_address && path[0] == '/' && digits > 0 && digits <= 3 && path[1 + digits] == '\0';
}

/* What is wrong with a pattern that fits next to nothing; NULL: nothing is. */
static const char *narrow_match(const struct policy_match *match)
{
	const char *path = match->path_glob != NULL ? match->path_glob : "*";
	const char *question = strchr(path, '?');

	if (question != NULL && strchr(question, '=') != NULL)
		return "a query is no part of what is matched (? is any one character), so hardly any URL fits; "
		       "allowed: the path, * for the rest of it";
	if (path[strlen(path) - 1] == '/' && strpbrk(path, "*?") == NULL)
		return "fits this one path alone; for all below it put * behind it";
	if (match->scheme == NULL && (strcmp(match->host_glob, "http") == 0 || strcmp(match->host_glob, "https") == 0))
		return "fits a host of that name; a scheme has :// behind it";
	if (looks_like_network(match, path))
		return "fits this address and path alone; networks aren't matched, but 10.* is what begins with 10.";
	if (match->scheme != NULL && match->port == (strcmp(match->scheme, "http") == 0 ? 443 : 80))
		return "this scheme is hardly spoken at that port, so hardly any URL fits";
	return NULL;
}

static void warn_narrow_match(const struct warner *warner, const struct subject *subject)
{
	const char *what = narrow_match(&subject->section->rules.match);

	if (what != NULL)
		warn_of(warner, subject, "match", what);
}

/* The first item with a blank in it, NULL if there is none. */
static const char *item_with_blank(const struct policy_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (strpbrk(list->items[i], " \t") != NULL)
			return list->items[i];
	return NULL;
}

/* The first item that is a path, NULL if there is none. */
static const char *item_with_path(const struct policy_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		if (strncmp(list->items[i], "./", 2) == 0 || strchr("/~", list->items[i][0]) != NULL)
			return list->items[i];
	return NULL;
}

/*
 * Lists are separated by commas; a program may have a blank in its name, but hardly any has. A program is known by the
 * name of its file; a slash could only be that of a job's name.
 */
static void warn_odd_programs(const struct warner *warner, const struct subject *subject)
{
	const struct policy_rules *rules = &subject->section->rules;
	const struct {
		const char *key;
		const struct policy_list *list;
	} lists[] = {
	    {"programs", &rules->programs},
	    {"skip_programs", &rules->skip_programs},
	    {"nested_programs", &rules->nested_programs},
	};
	char what[160];

	for (size_t i = 0; i < sizeof lists / sizeof lists[0]; i++) {
		const char *blank = item_with_blank(lists[i].list), *path = item_with_path(lists[i].list);
		if ((blank == NULL && path == NULL) || !is_set_here(subject, lists[i].key))
			continue;
		if (blank != NULL)
			snprintf(what, sizeof what,
			         "\"%.60s\" is one name with a blank in it; several have commas between them", blank);
		else
			snprintf(what, sizeof what,
			         "\"%.60s\" is a path, and programs are known by the name of their file alone", path);
		warn_of(warner, subject, lists[i].key, what);
	}
}

void check_unreachable(const struct policy *policy, policy_warn warn, void *warn_context)
{
	const struct warner warner = {warn, warn_context};

	for (size_t i = 0; i < policy->section_count; i++) {
		const struct subject subject = {policy, &policy->sections[i]};
		warn_unreachable_numbers(&warner, &subject);
		warn_unreachable_body(&warner, &subject);
		warn_unretried_refusals(&warner, &subject);
		warn_idle_idempotency_key(&warner, &subject);
		warn_early_breaker(&warner, &subject);
		warn_idle_keys(&warner, &subject);
		warn_odd_programs(&warner, &subject);
		if (i == 0)
			continue;
		warn_covered_section(&warner, &subject);
		warn_narrow_match(&warner, &subject);
	}
}
