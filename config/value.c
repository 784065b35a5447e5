/* SPDX-License-Identifier: MIT */
#include "config/value.h"

#include <stdio.h>
#include <string.h>

#include "base/span.h"
#include "base/utf8.h"
#include "config/match.h"

/* Fields are reached by their offset; memcpy keeps that free of aliasing and alignment questions. */
static void store(const struct schema_key *key, struct policy_rules *rules, const void *value, size_t bytes)
{
	memcpy((char *)rules + key->offset, value, bytes);
}

static enum value_result wrong(struct value_fault *fault, const char *what)
{
	snprintf(fault->wrong, sizeof fault->wrong, "%s", what);
	return VALUE_WRONG;
}

/* Reads digits at *text into *number and moves past them; false if there are none or they overflow. */
static bool read_digits(const char **text, int64_t *number)
{
	const char *at = *text;
	int64_t sum = 0;

	if (!ascii_is_digit(*at))
		return false;
	for (; ascii_is_digit(*at); at++)
		if (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, *at - '0', &sum))
			return false;
	*text = at;
	*number = sum;
	return true;
}

/* A number with a unit that a person may have meant, per type of key. */
static const struct {
	enum schema_type type;
	char suffix[8];
	int64_t factor;
} units[] = {
    {SCHEMA_MILLISECONDS, "ms", 1},
    {SCHEMA_MILLISECONDS, "s", 1000},
    {SCHEMA_MILLISECONDS, "sec", 1000},
    {SCHEMA_MILLISECONDS, "m", 60000},
    {SCHEMA_MILLISECONDS, "min", 60000},
    {SCHEMA_MILLISECONDS, "h", 3600000},
    {SCHEMA_BYTES, "B", 1},
    {SCHEMA_BYTES, "k", 1024},
    {SCHEMA_BYTES, "K", 1024},
    {SCHEMA_BYTES, "KiB", 1024},
    {SCHEMA_BYTES, "M", 1024 * 1024},
    {SCHEMA_BYTES, "MiB", 1024 * 1024},
    {SCHEMA_PERCENT, "%", 1},
};

/* What `text` would be in the key's own unit, if that is easy to tell; -1 if not. */
static int64_t meant_number(const struct schema_key *key, const char *text)
{
	int64_t number;
	int64_t meant;

	if (!read_digits(&text, &number))
		return -1;
	while (ascii_is_blank(*text))
		text++;
	for (size_t i = 0; i < sizeof units / sizeof units[0]; i++)
		if (units[i].type == key->type && strcmp(units[i].suffix, text) == 0 &&
		    !__builtin_mul_overflow(number, units[i].factor, &meant) && meant >= key->least &&
		    meant <= key->most)
			return meant;
	return -1;
}

static enum value_result parse_number(const struct schema_key *key, const char *text, struct policy_rules *rules,
                                      struct value_fault *fault)
{
	const char *at = text;
	int64_t number;

	while (ascii_is_digit(*at))
		at++;
	if (at == text || *at != '\0') {
		int64_t meant = meant_number(key, text);
		if (meant < 0)
			return wrong(fault, "not a whole number");
		snprintf(fault->wrong, sizeof fault->wrong, "not a whole number (%.20s is %lld)", text,
		         (long long)meant);
		return VALUE_WRONG;
	}
	at = text;
	if (!read_digits(&at, &number) || number < key->least || number > key->most)
		return wrong(fault, "out of range");
	store(key, rules, &number, sizeof number);
	return VALUE_TAKEN;
}

#define FRACTION_DIGITS_MAX 6

/* By hand, since strtod() obeys the host program's locale. Exact: a quotient of two integers below 2^53. */
static enum value_result parse_decimal(const struct schema_key *key, const char *text, struct policy_rules *rules,
                                       struct value_fault *fault)
{
	int64_t digits;
	int64_t divisor = 1;

	if (!ascii_is_digit(*text))
		return wrong(fault, "not a decimal number");
	if (!read_digits(&text, &digits) || digits > key->most)
		return wrong(fault, "out of range");
	if (*text == '.') {
		const char *fraction = ++text;
		for (; ascii_is_digit(*text); text++) {
			if (text - fraction == FRACTION_DIGITS_MAX)
				return wrong(fault, "more than 6 digits after the point");
			digits = digits * 10 + (*text - '0');
			divisor *= 10;
		}
		if (text == fraction)
			return wrong(fault, "not a decimal number");
	}
	if (*text != '\0')
		return wrong(fault, "not a decimal number");
	if (digits < key->least * divisor || digits > key->most * divisor)
		return wrong(fault, "out of range");

	double number = (double)digits / (double)divisor;
	store(key, rules, &number, sizeof number);
	return VALUE_TAKEN;
}

static enum value_result parse_choice(const struct schema_key *key, const char *text, struct policy_rules *rules,
                                      struct value_fault *fault)
{
	_Static_assert(sizeof(enum policy_mode) == sizeof(unsigned), "choices are stored as unsigned");
	for (unsigned i = 0; key->choices[i] != NULL; i++) {
		if (strcmp(key->choices[i], text) == 0) {
			store(key, rules, &i, sizeof i);
			return VALUE_TAKEN;
		}
	}
	return wrong(fault, "not a known word");
}

static enum value_result parse_yes_no(const struct schema_key *key, const char *text, struct policy_rules *rules,
                                      struct value_fault *fault)
{
	bool yes = strcmp(text, "yes") == 0;

	if (!yes && strcmp(text, "no") != 0)
		return wrong(fault, "neither yes nor no");
	store(key, rules, &yes, sizeof yes);
	return VALUE_TAKEN;
}

/*
 * Cuts the next item off *rest, a list with commas, without the blanks around it; *rest becomes NULL after the last
 * one. An empty value is no item at all; callers check for that first.
 */
static struct span next_item(const char **rest)
{
	struct span item = {*rest, strcspn(*rest, ",")};

	*rest = item.text[item.bytes] == ',' ? item.text + item.bytes + 1 : NULL;
	return span_trimmed(item);
}

static enum value_result wrong_item(struct value_fault *fault, struct span item, const char *what)
{
	if (item.bytes == 0)
		return wrong(fault, "a list item is empty");
	snprintf(fault->wrong, sizeof fault->wrong, "%.*s%s is %s", item.bytes > 40 ? 40 : (int)item.bytes, item.text,
	         item.bytes > 40 ? "..." : "", what);
	return VALUE_WRONG;
}

static enum value_result parse_statuses(const struct schema_key *key, const char *text, struct policy_rules *rules,
                                        struct value_fault *fault)
{
	struct policy_status_set set = {{0}};

	for (const char *rest = text[0] != '\0' ? text : NULL; rest != NULL;) {
		struct span item = next_item(&rest);
		const char *at = item.text;
		int64_t status;
		if (item.bytes != 3 || !read_digits(&at, &status) || at != item.text + 3 || status < 100 ||
		    status > 599)
			return wrong_item(fault, item, "not a status");
		set.bits[(status - 100) / 64] |= UINT64_C(1) << ((status - 100) % 64);
	}
	store(key, rules, &set, sizeof set);
	return VALUE_TAKEN;
}

static enum value_result parse_errors(const struct schema_key *key, const char *text, struct policy_rules *rules,
                                      struct value_fault *fault)
{
	uint32_t set = 0;

	for (const char *rest = text[0] != '\0' ? text : NULL; rest != NULL;) {
		struct span item = next_item(&rest);
		int word = 0;
		while (schema_error_words[word] != NULL &&
		       (strlen(schema_error_words[word]) != item.bytes ||
		        memcmp(schema_error_words[word], item.text, item.bytes) != 0))
			word++;
		if (schema_error_words[word] == NULL)
			return wrong_item(fault, item, "not a failure class");
		set |= UINT32_C(1) << word;
	}
	store(key, rules, &set, sizeof set);
	return VALUE_TAKEN;
}

/* RFC 9110 section 5.6.2: a header's name is a token. */
static bool is_token(struct span item)
{
	for (size_t i = 0; i < item.bytes; i++) {
		char c = item.text[i];
		bool alphanumeric = ascii_is_digit(c) || ascii_is_letter(c);
		if (!alphanumeric && (c == '\0' || strchr("!#$%&'*+-.^_`|~", c) == NULL))
			return false;
	}
	return item.bytes > 0;
}

static size_t count_items(const char *text)
{
	size_t count = text[0] != '\0';

	for (; *text != '\0'; text++)
		count += *text == ',';
	return count;
}

static enum value_result parse_list(const struct schema_key *key, const char *text, struct arena *arena,
                                    struct policy_rules *rules, struct value_fault *fault)
{
	struct policy_list list = {NULL, count_items(text)};
	const char **items;

	if (list.count == 0) {
		if (key->type == SCHEMA_HEADERS && !key->may_be_empty)
			return wrong(fault, "no header is named");
		store(key, rules, &list, sizeof list);
		return VALUE_TAKEN;
	}
	items = arena_allocate(arena, list.count * sizeof *items);
	if (items == NULL)
		return VALUE_NO_MEMORY;
	for (size_t i = 0; i < list.count; i++) {
		struct span item = next_item(&text);
		if (item.bytes == 0 || (key->type == SCHEMA_HEADERS && !is_token(item)))
			return wrong_item(fault, item, "not a header name");
		items[i] = arena_copy_text(arena, item.text, item.bytes);
		if (items[i] == NULL)
			return VALUE_NO_MEMORY;
	}
	list.items = items;
	store(key, rules, &list, sizeof list);
	return VALUE_TAKEN;
}

/* Room for the name of a file in it, within PATH_MAX. */
#define DIRECTORY_BYTES_MAX 3072

/* Whether a name holds what can't be seen, or be typed, so that it is hardly meant. */
static bool has_control(const char *path)
{
	uint32_t character;

	while (*path != '\0') {
		size_t bytes = utf8_read(path, &character);
		if (bytes > 0 && !utf8_is_plain(character))
			return true;
		path += bytes > 0 ? bytes : 1;
	}
	return false;
}

/* NULL if `path` is empty or can be a directory, else what is wrong with it. */
static const char *directory_fault(const char *path)
{
	if (path[0] != '\0' && path[0] != '/')
		return "a relative path";
	if (has_control(path))
		return "a control character in the path";
	return strlen(path) < DIRECTORY_BYTES_MAX ? NULL : "the path is too long";
}

static enum value_result parse_text(const struct schema_key *key, const char *text, struct arena *arena,
                                    struct policy_rules *rules, struct value_fault *fault)
{
	const char *copy = NULL;

	if (key->type == SCHEMA_HEADER && !is_token((struct span){text, strlen(text)}))
		return wrong(fault, text[0] == '\0' ? "no header is named" : "not a header name");
	if (key->type == SCHEMA_DIRECTORY && directory_fault(text) != NULL)
		return wrong(fault, directory_fault(text));
	if (text[0] != '\0') {
		copy = arena_copy_text(arena, text, strlen(text));
		if (copy == NULL)
			return VALUE_NO_MEMORY;
	}
	store(key, rules, &copy, sizeof copy);
	return VALUE_TAKEN;
}

#define LOG_PATH_BYTES_MAX 1024

static const char *const sink_words[] = {[POLICY_LOG_NONE] = "none",
                                         [POLICY_LOG_STDERR] = "stderr",
                                         [POLICY_LOG_STDERR_JSON] = "stderr-json",
                                         [POLICY_LOG_SYSLOG] = "syslog"};

/* The device's names for what is no device of its own. */
static bool is_standard_error(const char *path)
{
	return strcmp(path, "/dev/stderr") == 0 || strcmp(path, "/dev/fd/2") == 0 ||
	       strcmp(path, "/proc/self/fd/2") == 0;
}

/* NULL if `path` is one that a log can have, else what is wrong with it. */
static const char *log_path_fault(const char *path)
{
	size_t length = strlen(path);

	if (path[0] != '/')
		return strchr(path, '/') != NULL || strchr(path, '.') != NULL ? "a relative path" : "not a known word";
	if (path[length - 1] == '/')
		return "a directory";
	if (has_control(path))
		return "a control character in the path";
	if (length >= LOG_PATH_BYTES_MAX)
		return "the path is too long";
	for (const char *at = strchr(path, '%'); at != NULL; at = strchr(at + 1, '%'))
		if (at[1] != 'u')
			return "a % that is not %u";
	return NULL;
}

static enum value_result parse_sink(const char *text, struct arena *arena, struct policy_rules *rules,
                                    struct value_fault *fault)
{
	if (is_standard_error(text))
		text = sink_words[POLICY_LOG_STDERR];
	for (unsigned i = 0; i < sizeof sink_words / sizeof sink_words[0]; i++) {
		if (strcmp(sink_words[i], text) == 0) {
			rules->log = (enum policy_log_sink)i;
			rules->log_path = NULL;
			return VALUE_TAKEN;
		}
	}

	const char *what = text[0] == '\0' ? "no sink is named" : log_path_fault(text);
	if (what != NULL)
		return wrong(fault, what);

	const char *path = arena_copy_text(arena, text, strlen(text));
	if (path == NULL)
		return VALUE_NO_MEMORY;
	rules->log = POLICY_LOG_FILE;
	rules->log_path = path;
	return VALUE_TAKEN;
}

static enum value_result parse_pattern(const char *text, struct arena *arena, struct policy_rules *rules,
                                       struct value_fault *fault)
{
	struct policy_match match;
	const char *what = NULL;

	if (!match_parse(text, arena, &match, &what))
		return what != NULL ? wrong(fault, what) : VALUE_NO_MEMORY;
	rules->match = match;
	return VALUE_TAKEN;
}

enum value_result value_parse(const struct schema_key *key, const char *text, struct arena *arena,
                              struct policy_rules *rules, struct value_fault *fault)
{
	switch (key->type) {
	case SCHEMA_CHOICE:
		return parse_choice(key, text, rules, fault);
	case SCHEMA_MILLISECONDS:
	case SCHEMA_COUNT:
	case SCHEMA_PERCENT:
	case SCHEMA_BYTES:
		return parse_number(key, text, rules, fault);
	case SCHEMA_DECIMAL:
		return parse_decimal(key, text, rules, fault);
	case SCHEMA_YES_NO:
		return parse_yes_no(key, text, rules, fault);
	case SCHEMA_STATUSES:
		return parse_statuses(key, text, rules, fault);
	case SCHEMA_ERRORS:
		return parse_errors(key, text, rules, fault);
	case SCHEMA_TEXT:
	case SCHEMA_HEADER:
	case SCHEMA_DIRECTORY:
		return parse_text(key, text, arena, rules, fault);
	case SCHEMA_HEADERS:
	case SCHEMA_GLOBS:
		return parse_list(key, text, arena, rules, fault);
	case SCHEMA_SINK:
		return parse_sink(text, arena, rules, fault);
	case SCHEMA_MATCH:
		return parse_pattern(text, arena, rules, fault);
	}
	return wrong(fault, "not a value");
}
