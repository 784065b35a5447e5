/* SPDX-License-Identifier: MIT */
#include "cli/say/time.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "log/calendar.h"

const char *say_time(int64_t time_us, char out[static SAY_TIME_BYTES])
{
	time_t seconds = (time_t)(time_us / 1000000);
	struct tm parts;
	size_t bytes = 0;
	if (localtime_r(&seconds, &parts))
		bytes = strftime(out, SAY_TIME_BYTES, "%Y-%m-%d %H:%M:%S", &parts);
	if (!bytes) {
		snprintf(out, SAY_TIME_BYTES, "unknown time");
		return out;
	}
	long minutes = labs(parts.tm_gmtoff) / 60;
	snprintf(out + bytes, SAY_TIME_BYTES - bytes, "%c%02ld:%02ld", parts.tm_gmtoff < 0 ? '-' : '+',
	         minutes / 60 % 100, minutes % 60);
	return out;
}

const char *say_time_utc(int64_t time_us, char out[static SAY_TIME_BYTES])
{
	struct calendar_time time;
	if (!calendar_from_us(time_us, &time))
		return NULL;
	calendar_put_rfc3339(out, &time);
	out[CALENDAR_RFC3339_BYTES] = '\0';
	return out;
}

bool say_time_read(const char *text, int64_t *time_us)
{
	struct tm parts = {0};
	const char *rest = strptime(text, "%Y-%m-%dT%H:%M:%S", &parts);
	if (!rest)
		return false;
	int64_t fraction_us = 0, digit_us = 100000;
	if (*rest == '.')
		for (rest++; isdigit((unsigned char)*rest); rest++, digit_us /= 10)
			fraction_us += (*rest - '0') * digit_us;
	*time_us = (int64_t)timegm(&parts) * 1000000 + fraction_us;
	return strcmp(rest, "Z") == 0 && *time_us > 0;
}
