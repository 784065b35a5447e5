/* SPDX-License-Identifier: MIT */
#include "cli/run/deadline.h"

#include <string.h>

#include "base/clock.h"
#include "base/launcher.h"

#define DURATION_MS_MAX (INT64_C(365) * 24 * 3600 * 1000)

struct unit {
	const char *name;
	int64_t ms;
};

static const struct unit UNITS[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool find_unit(const char *name, int64_t *unit_ms)
{
	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
		if (strcmp(name, UNITS[i].name) == 0) {
			*unit_ms = UNITS[i].ms;
			return true;
		}
	}
	return false;
}

/* The fraction's digits in nanounits; digits behind the ninth only matter in that they aren't zero. */
static int64_t read_fraction(const char **at)
{
	int64_t nano = 0, scale = 1000000000;
	bool rest = false;
	for (; is_digit(**at); ++*at) {
		scale /= 10;
		nano += (**at - '0') * scale;
		rest = rest || (scale == 0 && **at != '0');
	}
	return nano + rest;
}

bool run_parse_duration(const char *text, int64_t *duration_ms)
{
	const char *at = text;
	int64_t whole = 0, nano = 0, unit_ms;
	for (; is_digit(*at); at++) {
		whole = whole * 10 + (*at - '0');
		if (whole > DURATION_MS_MAX)
			return false;
	}
	if (*at == '.') {
		if (!is_digit(*++at))
			return false;
		nano = read_fraction(&at);
	} else if (at == text) {
		return false;
	}
	if (!find_unit(at, &unit_ms) || whole > DURATION_MS_MAX / unit_ms)
		return false;
	int64_t ms = whole * unit_ms + (nano * unit_ms + 999999999) / 1000000000;
	if (ms < 1 || ms > DURATION_MS_MAX)
		return false;
	*duration_ms = ms;
	return true;
}

bool run_deadline_is_live(const struct deadline_text *deadline)
{
	return launcher_is_of_this_boot(deadline) && launcher_holds(deadline, clock_ms());
}

bool run_make_deadline(int64_t duration_ms, const struct deadline_text *inherited,
                       char out[static DEADLINE_TEXT_BYTES_MAX], struct say_error *error)
{
	struct deadline_text own;
	if (!launcher_be(&own))
		return say_refuse(error, "--deadline needs /proc, which can't be read");
	own.deadline_ms = clock_ms() + duration_ms;
	if (inherited && inherited->deadline_ms < own.deadline_ms)
		own = *inherited;
	launcher_hand_down(&own);
	deadline_text_format(&own, out);
	return true;
}
