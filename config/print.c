/* SPDX-License-Identifier: MIT */
/* The other half of config/value.h: values as texts, and as copies. */
#include <stdio.h>
#include <string.h>

#include "base/bounded_text.h"
#include "config/value.h"

static void append_item(struct bounded_text *text, const char *item)
{
	if (text->used_bytes > 0)
		bounded_append(text, ", ");
	bounded_append(text, item);
}

static void append_number(struct bounded_text *text, int64_t number)
{
	char digits[24];

	snprintf(digits, sizeof digits, "%lld", (long long)number);
	bounded_append(text, digits);
}

/* Six digits after the point are all that value_parse() takes; %g would obey the host program's locale. */
static void append_decimal(struct bounded_text *text, double number)
{
	int64_t millionths = (int64_t)(number * 1e6 + 0.5);
	char fraction[16];
	size_t length;

	append_number(text, millionths / 1000000);
	if (millionths % 1000000 == 0)
		return;
	snprintf(fraction, sizeof fraction, ".%06d", (int)(millionths % 1000000));
	for (length = strlen(fraction); fraction[length - 1] == '0'; length--)
		fraction[length - 1] = '\0';
	bounded_append(text, fraction);
}

static void append_statuses(struct bounded_text *text, const struct policy_status_set *set)
{
	for (int status = 100; status <= 599; status++) {
		if (!policy_status_in(set, status))
			continue;
		append_item(text, "");
		append_number(text, status);
	}
}

static void append_errors(struct bounded_text *text, uint32_t set)
{
	for (unsigned i = 0; schema_error_words[i] != NULL; i++)
		if (set & (UINT32_C(1) << i))
			append_item(text, schema_error_words[i]);
}

static void append_list(struct bounded_text *text, const struct policy_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		append_item(text, list->items[i]);
}

static void append_sink(struct bounded_text *text, const struct policy_rules *rules)
{
	static const char *const words[] = {[POLICY_LOG_NONE] = "none",
	                                    [POLICY_LOG_STDERR] = "stderr",
	                                    [POLICY_LOG_STDERR_JSON] = "stderr-json",
	                                    [POLICY_LOG_SYSLOG] = "syslog"};

	bounded_append(text, rules->log == POLICY_LOG_FILE ? rules->log_path : words[rules->log]);
}

static void append_match(struct bounded_text *text, const struct policy_match *match)
{
	if (match->host_glob == NULL)
		return;
	if (match->scheme != NULL) {
		bounded_append(text, match->scheme);
		bounded_append(text, "://");
	}
	bounded_append(text, match->host_glob);
	if (match->port != 0) {
		bounded_append(text, ":");
		append_number(text, match->port);
	}
	if (match->path_glob != NULL)
		bounded_append(text, match->path_glob);
}

#define FIELD(type) (*(const type *)(const void *)((const char *)rules + key->offset))

int64_t value_number(const struct schema_key *key, const struct policy_rules *rules)
{
	return FIELD(int64_t);
}

void value_print(const struct schema_key *key, const struct policy_rules *rules, char *out, size_t out_bytes)
{
	struct bounded_text text = {.out = out, .capacity_bytes = out_bytes - 1};

	switch (key->type) {
	case SCHEMA_CHOICE:
		bounded_append(&text, key->choices[FIELD(unsigned)]);
		break;
	case SCHEMA_MILLISECONDS:
	case SCHEMA_COUNT:
	case SCHEMA_PERCENT:
	case SCHEMA_BYTES:
		append_number(&text, FIELD(int64_t));
		break;
	case SCHEMA_DECIMAL:
		append_decimal(&text, FIELD(double));
		break;
	case SCHEMA_YES_NO:
		bounded_append(&text, FIELD(bool) ? "yes" : "no");
		break;
	case SCHEMA_STATUSES:
		append_statuses(&text, &FIELD(struct policy_status_set));
		break;
	case SCHEMA_ERRORS:
		append_errors(&text, FIELD(uint32_t));
		break;
	case SCHEMA_TEXT:
	case SCHEMA_HEADER:
	case SCHEMA_DIRECTORY:
		bounded_append(&text, FIELD(char *) != NULL ? FIELD(char *) : "");
		break;
	case SCHEMA_HEADERS:
	case SCHEMA_GLOBS:
		append_list(&text, &FIELD(struct policy_list));
		break;
	case SCHEMA_SINK:
		append_sink(&text, rules);
		break;
	case SCHEMA_MATCH:
		append_match(&text, &rules->match);
		break;
	}
	out[text.used_bytes] = '\0';
}

static bool own_text(struct arena *arena, const char **text)
{
	if (*text == NULL)
		return true;
	*text = arena_copy_text(arena, *text, strlen(*text));
	return *text != NULL;
}

static bool own_list(struct arena *arena, struct policy_list *list)
{
	const char **items;

	if (list->count == 0)
		return true;
	items = arena_allocate(arena, list->count * sizeof *items);
	if (items == NULL)
		return false;
	memcpy(items, list->items, list->count * sizeof *items);
	for (size_t i = 0; i < list->count; i++)
		if (!own_text(arena, &items[i]))
			return false;
	list->items = items;
	return true;
}

bool value_own(const struct schema_key *key, struct arena *arena, struct policy_rules *rules)
{
	void *field = (char *)rules + key->offset;

	switch (key->type) {
	case SCHEMA_TEXT:
	case SCHEMA_HEADER:
	case SCHEMA_DIRECTORY:
		return own_text(arena, field);
	case SCHEMA_HEADERS:
	case SCHEMA_GLOBS:
		return own_list(arena, field);
	case SCHEMA_SINK:
		return own_text(arena, &rules->log_path);
	case SCHEMA_MATCH:
		return own_text(arena, &rules->match.scheme) && own_text(arena, &rules->match.host_glob) &&
		       own_text(arena, &rules->match.path_glob);
	case SCHEMA_CHOICE:
	case SCHEMA_MILLISECONDS:
	case SCHEMA_COUNT:
	case SCHEMA_PERCENT:
	case SCHEMA_BYTES:
	case SCHEMA_DECIMAL:
	case SCHEMA_YES_NO:
	case SCHEMA_STATUSES:
	case SCHEMA_ERRORS:
		return true;
	}
	return true;
}
