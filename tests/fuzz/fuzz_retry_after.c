/* SPDX-License-Identifier: MIT */

/*
 * Response headers by a hostile server. The first eight bytes are the client's clock, the rest is header lines.
 *
 * Checked besides memory: a demand is none, beyond, or a wait within bounds; reading the lines twice, or in reverse,
 * asks for the same; another line never shortens what the lines before it asked for (a Date may, so the shortening is
 * looked at without those); and a NUL or a line end within a line is a byte like any other.
 *
 *     build/fuzz/fuzz_retry_after -max_total_time=60 NEW_CORPUS tests/fuzz/corpus/retry_after
 */

#include <stdlib.h>
#include <string.h>

#include "engine/retry_after.h"

enum { LINES_MAX = 64 };

struct line {
	const char *bytes;
	size_t count;
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void check(bool holds)
{
	if (!holds)
		abort();
}

static size_t split_lines(const char *text, size_t text_bytes, struct line *lines)
{
	size_t count = 0;

	while (text_bytes > 0 && count < LINES_MAX) {
		const char *newline = memchr(text, '\n', text_bytes);
		size_t bytes = newline ? (size_t)(newline - text) + 1 : text_bytes;

		lines[count++] = (struct line){text, bytes};
		text += bytes;
		text_bytes -= bytes;
	}
	return count;
}

static void check_in_bounds(struct engine_retry_after asked)
{
	switch (asked.kind) {
	case ENGINE_RETRY_AFTER_NONE:
	case ENGINE_RETRY_AFTER_BEYOND:
		check(asked.wait_ms == 0);
		return;
	case ENGINE_RETRY_AFTER_WAIT:
		check(asked.wait_ms >= 1 && asked.wait_ms <= ENGINE_RETRY_AFTER_MAX_MS);
		return;
	}
	abort();
}

static bool is_same(struct engine_retry_after a, struct engine_retry_after b)
{
	return a.kind == b.kind && a.wait_ms == b.wait_ms;
}

static bool is_shorter(struct engine_retry_after a, struct engine_retry_after b)
{
	return a.kind < b.kind || (a.kind == b.kind && a.wait_ms < b.wait_ms);
}

static void check_forwards(struct engine_demand *demand, const struct policy_rules *rules, const struct line *lines,
                           size_t count, int64_t now_s)
{
	struct engine_retry_after before = {0};

	for (size_t i = 0; i < count; i++) {
		bool had_short_date = demand->short_date_s != 0;
		bool had_stop_hint = demand->stop_hint;
		int64_t date_s = demand->response_date_s;
		struct engine_retry_after asked;

		engine_demand_add_line(demand, rules, lines[i].bytes, lines[i].count);
		asked = engine_demand_resolve(demand, now_s);
		check_in_bounds(asked);
		check(demand->stop_hint || !had_stop_hint);
		/* Which century a two-digit year is in depends on the latest of them. */
		if (date_s == demand->response_date_s && !had_short_date)
			check(!is_shorter(asked, before));
		before = asked;
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const headers[] = {"Retry-After", "retry-after-ms"};
	const struct policy_rules rules = {.retry_after_headers = {headers, 2}};
	struct line lines[LINES_MAX];
	struct engine_demand forwards = {0};
	struct engine_demand backwards = {0};
	struct engine_retry_after asked;
	int64_t now_s;
	size_t count;

	if (size < sizeof now_s)
		return 0;
	memcpy(&now_s, data, sizeof now_s);
	count = split_lines((const char *)data + sizeof now_s, size - sizeof now_s, lines);

	check_forwards(&forwards, &rules, lines, count, now_s);
	asked = engine_demand_resolve(&forwards, now_s);
	check(engine_demand_needs_clock(&forwards) || is_same(asked, engine_demand_resolve(&forwards, ~now_s)));
	for (size_t i = count; i-- > 0;)
		engine_demand_add_line(&backwards, &rules, lines[i].bytes, lines[i].count);
	check(is_same(asked, engine_demand_resolve(&backwards, now_s)));
	check(forwards.stop_hint == backwards.stop_hint);
	for (size_t i = 0; i < count; i++)
		engine_demand_add_line(&forwards, &rules, lines[i].bytes, lines[i].count);
	check(is_same(asked, engine_demand_resolve(&forwards, now_s)));
	return 0;
}
