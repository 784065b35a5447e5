/* SPDX-License-Identifier: MIT */

/*
 * What a server asks for may reach us garbled, joined or far too large, and the one thing that must not happen is a
 * retry that comes sooner than what was asked. So wherever two readings are possible, the longer one is taken: the
 * largest of several values, the latest of several dates, the earliest of several Dates. What is no value at all is no
 * demand, and the backoff decides.
 */

#include "engine/retry_after.h"

#include <string.h>

#include "base/ascii.h"
#include "base/span.h"
#include "engine/http_date.h"

static bool span_is(struct span span, const char *word)
{
	return ascii_equals(span.text, span.bytes, word);
}

/* Takes "Name: value" apart. False for status lines, blank lines and whatever else has no name. */
static bool split_line(const char *line, size_t line_bytes, struct span *name, struct span *value)
{
	const char *colon;

	while (line_bytes > 0 && (line[line_bytes - 1] == '\n' || line[line_bytes - 1] == '\r'))
		line_bytes--;
	colon = line_bytes > 0 ? memchr(line, ':', line_bytes) : NULL;
	if (!colon || colon == line || ascii_is_blank(line[0]))
		return false;
	*name = span_trimmed((struct span){line, (size_t)(colon - line)});
	*value = span_trimmed(span_after((struct span){line, line_bytes}, (size_t)(colon - line) + 1));
	return true;
}

static void keep_longer(struct engine_retry_after *kept, struct engine_retry_after other)
{
	if (other.kind > kept->kind || (other.kind == kept->kind && other.wait_ms > kept->wait_ms))
		*kept = other;
}

static struct engine_retry_after demand_of_ms(int64_t ms)
{
	if (ms > ENGINE_RETRY_AFTER_MAX_MS)
		return (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_BEYOND};
	if (ms <= 0)
		return (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_NONE};
	return (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_WAIT, .wait_ms = ms};
}

/* Skips digits, adding them to *value, which stops growing past ENGINE_RETRY_AFTER_MAX_MS. Returns how many. */
static size_t read_digits(struct span text, int64_t *value)
{
	size_t digits = 0;

	for (; digits < text.bytes && ascii_is_digit(text.text[digits]); digits++) {
		if (*value <= ENGINE_RETRY_AFTER_MAX_MS)
			*value = *value * 10 + (text.text[digits] - '0');
	}
	return digits;
}

/* What the digits after a decimal point are worth, in units of 10^-places, rounded up. */
static int64_t fraction_rounded_up(struct span digits, int places)
{
	int64_t value = 0;
	bool rest = false;

	for (int i = 0; i < places; i++)
		value = value * 10 + ((size_t)i < digits.bytes ? digits.text[i] - '0' : 0);
	for (size_t i = (size_t)places; i < digits.bytes; i++)
		rest = rest || digits.text[i] != '0';
	return value + rest;
}

/* Reads 1*DIGIT [ "." 1*DIGIT ], and nothing else, as milliseconds; seconds have three places of them. */
static bool read_duration(struct span text, bool is_ms, int64_t *ms)
{
	int64_t whole = 0;
	int64_t unit_ms = is_ms ? 1 : 1000;
	size_t digits = read_digits(text, &whole);
	struct span fraction = span_after(text, digits);
	int64_t ignored = 0;

	if (digits == 0)
		return false;
	*ms = whole > ENGINE_RETRY_AFTER_MAX_MS / unit_ms ? ENGINE_RETRY_AFTER_MAX_MS + 1 : whole * unit_ms;
	if (fraction.bytes == 0)
		return true;
	if (fraction.bytes == 1 || fraction.text[0] != '.')
		return false;
	fraction = span_after(fraction, 1);
	if (read_digits(fraction, &ignored) != fraction.bytes)
		return false;
	*ms += fraction_rounded_up(fraction, is_ms ? 0 : 3);
	return true;
}

static void add_date(struct engine_demand *demand, const struct engine_http_date *date)
{
	int64_t *kept = date->two_digit_year ? &demand->short_date_s : &demand->date_s;

	if (date->epoch_s > *kept)
		*kept = date->epoch_s;
}

/* The bytes up to the end of the first value: the comma that parts it from the next, or the end. */
static size_t value_bytes(struct span values, size_t from)
{
	for (size_t i = from; i < values.bytes; i++) {
		if (values.text[i] == ',' && (i + 1 == values.bytes || ascii_is_blank(values.text[i + 1])))
			return i;
	}
	return values.bytes;
}

/* Adds the first value and returns its bytes. A date holds a comma itself, so it is looked for first. */
static size_t add_first_value(struct engine_demand *demand, struct span values, bool is_ms)
{
	struct engine_http_date date;
	size_t date_bytes = is_ms ? 0 : engine_http_date_read(values.text, values.bytes, &date);
	size_t bytes = value_bytes(values, date_bytes);
	struct span value = span_trimmed((struct span){values.text, bytes});
	int64_t ms;

	if (date_bytes > 0 && date_bytes == value.bytes)
		add_date(demand, &date);
	else if (read_duration(value, is_ms, &ms))
		keep_longer(&demand->seconds, demand_of_ms(ms));
	return bytes;
}

static void add_values(struct engine_demand *demand, struct span values, bool is_ms)
{
	while (values.bytes > 0) {
		size_t bytes = add_first_value(demand, values, is_ms);

		values = bytes < values.bytes ? span_trimmed(span_after(values, bytes + 1)) : span_after(values, bytes);
	}
}

static void set_response_date(struct engine_demand *demand, struct span value)
{
	struct engine_http_date date;
	size_t bytes = engine_http_date_read(value.text, value.bytes, &date);

	if (bytes == 0 || bytes != value.bytes || date.epoch_s <= 0)
		return;
	if (demand->response_date_s == 0 || date.epoch_s < demand->response_date_s)
		demand->response_date_s = date.epoch_s;
}

static bool is_false(struct span value)
{
	return span_is(value, "false");
}

static bool is_not_false(struct span value)
{
	return !is_false(value);
}

/* https://github.com/grpc/proposal/blob/master/A6-client-retries.md: negative or not a number is "don't retry". */
static bool is_no_duration(struct span value)
{
	int64_t ms;

	return !read_duration(value, true, &ms);
}

static bool is_stop_hint(struct span name, struct span value)
{
	static const struct {
		const char *name;
		bool (*stops)(struct span value);
	} hints[] = {
	    {"x-should-retry", is_false},
	    {"stripe-should-retry", is_false},
	    {"x-envoy-overloaded", is_not_false},
	    {"x-envoy-ratelimited", is_not_false},
	    {"grpc-retry-pushback-ms", is_no_duration},
	};

	for (size_t i = 0; i < sizeof hints / sizeof hints[0]; i++) {
		if (span_is(name, hints[i].name))
			return hints[i].stops(value);
	}
	return false;
}

static bool is_retry_after_header(const struct policy_rules *rules, struct span name)
{
	for (size_t i = 0; i < rules->retry_after_headers.count; i++) {
		if (span_is(name, rules->retry_after_headers.items[i]))
			return true;
	}
	return false;
}

static bool counts_ms(struct span name)
{
	return name.bytes > 3 && span_is(span_after(name, name.bytes - 3), "-ms");
}

void engine_demand_add_line(struct engine_demand *demand, const struct policy_rules *rules, const char *line,
                            size_t line_bytes)
{
	struct span name;
	struct span value;

	if (!split_line(line, line_bytes, &name, &value))
		return;
	if (is_stop_hint(name, value))
		demand->stop_hint = true;
	if (span_is(name, "Date"))
		set_response_date(demand, value);
	if (is_retry_after_header(rules, name))
		add_values(demand, value, counts_ms(name));
}

/*
 * RFC 9110 §5.6.7: a two-digit year means the latest year with those digits that isn't more than 50 years in the
 * future. short_date_s has it in the years 2000 to 2099. A century later is 36524 days later, a century earlier 36525
 * days earlier; in January and February of 2000 it is the other way round, since only 2000 is a leap year among 1900,
 * 2000 and 2100.
 */
static int64_t date_in_its_century_s(int64_t short_date_s, int64_t reference_s)
{
	const int64_t day_s = 86400;
	const int64_t march_2000_s = 951868800;
	const int64_t fifty_years_s = (50 * 365 + 13) * day_s;
	const int64_t later_s = short_date_s + (short_date_s < march_2000_s ? 36525 : 36524) * day_s;
	const int64_t earlier_s = short_date_s - (short_date_s < march_2000_s ? 36524 : 36525) * day_s;

	if (later_s - fifty_years_s <= reference_s)
		return later_s;
	return short_date_s - fifty_years_s <= reference_s ? short_date_s : earlier_s;
}

static int64_t latest_date_s(const struct engine_demand *demand, int64_t reference_s)
{
	int64_t short_s;

	if (demand->short_date_s == 0)
		return demand->date_s;
	short_s = date_in_its_century_s(demand->short_date_s, reference_s);
	return short_s > demand->date_s ? short_s : demand->date_s;
}

static struct engine_retry_after demand_of_date(int64_t date_s, int64_t reference_s)
{
	int64_t seconds;

	if (date_s <= reference_s)
		return (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_NONE};
	if (__builtin_sub_overflow(date_s, reference_s, &seconds) || seconds > ENGINE_RETRY_AFTER_MAX_MS / 1000)
		return (struct engine_retry_after){.kind = ENGINE_RETRY_AFTER_BEYOND};
	return demand_of_ms(seconds * 1000);
}

struct engine_retry_after engine_demand_resolve(const struct engine_demand *demand, int64_t now_s)
{
	struct engine_retry_after longest = demand->seconds;
	int64_t reference_s = demand->response_date_s != 0 ? demand->response_date_s : now_s;
	int64_t date_s = latest_date_s(demand, reference_s);

	if (date_s != 0)
		keep_longer(&longest, demand_of_date(date_s, reference_s));
	return longest;
}

bool engine_demand_needs_clock(const struct engine_demand *demand)
{
	bool has_date = demand->date_s != 0 || demand->short_date_s != 0;

	return has_date && demand->response_date_s == 0 && demand->seconds.kind != ENGINE_RETRY_AFTER_BEYOND;
}
