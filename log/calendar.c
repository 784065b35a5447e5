/* SPDX-License-Identifier: MIT */
#include "log/calendar.h"

#include <stddef.h>

#define US_PER_S       1000000
#define S_PER_DAY      86400
#define YEAR_10000_S   INT64_C(253402300800)
#define DAYS_PER_ERA   146097 /* 400 years, after which the Gregorian calendar repeats */
#define DAYS_FROM_0000 719468 /* from 0000-03-01 to 1970-01-01 */

/*
 * Days since the epoch to a date, for days not before it. The year is taken to begin in March, so that the leap day is
 * its last one. Source: Howard Hinnant, "chrono-Compatible Low-Level Date Algorithms", civil_from_days.
 */
static void date_from_days(int64_t days, struct calendar_time *time)
{
	int64_t shifted = days + DAYS_FROM_0000;
	int64_t era = shifted / DAYS_PER_ERA;
	int day_of_era = (int)(shifted % DAYS_PER_ERA);
	int year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
	int day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
	int month_from_march = (5 * day_of_year + 2) / 153;
	time->day = day_of_year - (153 * month_from_march + 2) / 5 + 1;
	time->month = month_from_march < 10 ? month_from_march + 3 : month_from_march - 9;
	time->year = (int)(era * 400) + year_of_era + (time->month <= 2 ? 1 : 0);
}

bool calendar_from_us(int64_t time_us, struct calendar_time *time)
{
	if (time_us < 0 || time_us / US_PER_S >= YEAR_10000_S)
		return false;
	int64_t seconds = time_us / US_PER_S;
	int second_of_day = (int)(seconds % S_PER_DAY);
	date_from_days(seconds / S_PER_DAY, time);
	time->hour = second_of_day / 3600;
	time->minute = second_of_day / 60 % 60;
	time->second = second_of_day % 60;
	time->microsecond = (int)(time_us % US_PER_S);
	return true;
}

void calendar_put_digits(char *out, int value, int digits)
{
	for (int i = digits - 1; i >= 0; i--) {
		out[i] = (char)('0' + value % 10);
		value /= 10;
	}
}

void calendar_put_rfc3339(char out[static CALENDAR_RFC3339_BYTES], const struct calendar_time *time)
{
	const struct {
		int value, digits;
		char after;
	} parts[] = {
	    {time->year, 4, '-'},   {time->month, 2, '-'},  {time->day, 2, 'T'},         {time->hour, 2, ':'},
	    {time->minute, 2, ':'}, {time->second, 2, '.'}, {time->microsecond, 6, 'Z'},
	};
	for (size_t i = 0; i < sizeof(parts) / sizeof(parts[0]); i++) {
		calendar_put_digits(out, parts[i].value, parts[i].digits);
		out += parts[i].digits;
		*out++ = parts[i].after;
	}
}
