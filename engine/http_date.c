/* SPDX-License-Identifier: MIT */

/*
 * The three forms are patterns of one small language, and one loop reads them all:
 *
 *     a  a day's name, short      A  a day's name, long      b  a month's name
 *     d  two digits of a day      D  likewise, the first may be a space
 *     y  a year's last two digits Y  four digits of a year   L  four or more
 *     t  hh:mm:ss                 any other character: itself
 */

#include "engine/http_date.h"

#include "base/ascii.h"

enum { SECONDS_PER_DAY = 86400, YEAR_MAX = 999999999 };

struct reader {
	const char *at;
	const char *end;
};

struct fields {
	int64_t year;
	int month; /* 1..12 */
	int day;
	int hour;
	int minute;
	int second;
};

static const char *const forms[] = {"a, d b L t GMT", "A, d-b-y t GMT", "a b D t Y"};

enum { FORM_RFC_850 = 1 };

static const char *const short_days[] = {"Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun", NULL};
static const char *const long_days[] = {"Monday", "Tuesday",  "Wednesday", "Thursday",
                                        "Friday", "Saturday", "Sunday",    NULL};
static const char *const months[] = {"Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul",
                                     "Aug", "Sep", "Oct", "Nov", "Dec", NULL};

/* The index of the name at the reader, which it then has read; -1 if it is none of them. */
static int read_name(struct reader *reader, const char *const *names)
{
	for (int i = 0; names[i]; i++) {
		size_t bytes = ascii_prefix_bytes(reader->at, (size_t)(reader->end - reader->at), names[i]);

		if (bytes > 0) {
			reader->at += bytes;
			return i;
		}
	}
	return -1;
}

/* Reads `least` to `most` digits; larger numbers than YEAR_MAX come out as YEAR_MAX. */
static bool read_number(struct reader *reader, int least, int most, int64_t *number)
{
	int digits = 0;

	*number = 0;
	while (digits < most && reader->at < reader->end && ascii_is_digit(*reader->at)) {
		if (*number < YEAR_MAX)
			*number = *number * 10 + (*reader->at - '0');
		reader->at++;
		digits++;
	}
	if (*number > YEAR_MAX)
		*number = YEAR_MAX;
	return digits >= least;
}

static bool read_two_digits(struct reader *reader, int *number)
{
	int64_t value;

	if (!read_number(reader, 2, 2, &value))
		return false;
	*number = (int)value;
	return true;
}

static bool read_character(struct reader *reader, char character)
{
	if (reader->at == reader->end || ascii_lower(*reader->at) != ascii_lower(character))
		return false;
	reader->at++;
	return true;
}

static bool read_padded_day(struct reader *reader, int *day)
{
	int64_t value;

	if (!read_character(reader, ' '))
		return read_two_digits(reader, day);
	if (!read_number(reader, 1, 1, &value))
		return false;
	*day = (int)value;
	return true;
}

static bool read_time(struct reader *reader, struct fields *fields)
{
	return read_two_digits(reader, &fields->hour) && read_character(reader, ':') &&
	       read_two_digits(reader, &fields->minute) && read_character(reader, ':') &&
	       read_two_digits(reader, &fields->second);
}

static bool read_month(struct reader *reader, struct fields *fields)
{
	fields->month = read_name(reader, months) + 1;
	return fields->month > 0;
}

static bool read_year(struct reader *reader, int least, int most, struct fields *fields)
{
	if (!read_number(reader, least, most, &fields->year))
		return false;
	if (least == 2)
		fields->year += 2000;
	return true;
}

static bool read_item(struct reader *reader, char item, struct fields *fields)
{
	switch (item) {
	case 'a':
		return read_name(reader, short_days) >= 0;
	case 'A':
		return read_name(reader, long_days) >= 0;
	case 'b':
		return read_month(reader, fields);
	case 'd':
		return read_two_digits(reader, &fields->day);
	case 'D':
		return read_padded_day(reader, &fields->day);
	case 'y':
		return read_year(reader, 2, 2, fields);
	case 'Y':
		return read_year(reader, 4, 4, fields);
	case 'L':
		return read_year(reader, 4, 64, fields);
	case 't':
		return read_time(reader, fields);
	default:
		return read_character(reader, item);
	}
}

static bool is_leap(int64_t year)
{
	return year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
}

static int days_in(int64_t year, int month)
{
	static const int days[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};

	return month == 2 && is_leap(year) ? 29 : days[month - 1];
}

static bool exists(const struct fields *fields)
{
	/* 60: a leap second, which POSIX time counts as the next minute's first. */
	return fields->day >= 1 && fields->day <= days_in(fields->year, fields->month) && fields->hour <= 23 &&
	       fields->minute <= 59 && fields->second <= 60;
}

/*
 * Days since 1970-01-01 in the Gregorian calendar. The year starts in March here, so that the leap day is its last;
 * see days_from_civil in https://howardhinnant.github.io/date_algorithms.html. year ≥ 0.
 */
int64_t engine_days_since_1970(int64_t year, int month, int day)
{
	int64_t years = month > 2 ? year : year - 1;
	int64_t era = (years >= 0 ? years : years - 399) / 400;
	int64_t year_of_era = years - era * 400;
	int day_of_year = (153 * (month > 2 ? month - 3 : month + 9) + 2) / 5 + day - 1;

	return era * 146097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year - 719468;
}

/* How many bytes the form takes, 0 if the text isn't of this form. */
static size_t read_form(const char *text, size_t text_bytes, const char *form, struct fields *fields)
{
	struct reader reader = {text, text + text_bytes};

	for (const char *item = form; *item; item++) {
		if (!read_item(&reader, *item, fields))
			return 0;
	}
	return exists(fields) ? (size_t)(reader.at - text) : 0;
}

size_t engine_http_date_read(const char *text, size_t text_bytes, struct engine_http_date *date)
{
	for (size_t form = 0; form < sizeof forms / sizeof forms[0]; form++) {
		struct fields fields = {0};
		size_t bytes = read_form(text, text_bytes, forms[form], &fields);

		if (bytes == 0)
			continue;
		date->epoch_s = engine_days_since_1970(fields.year, fields.month, fields.day) * SECONDS_PER_DAY +
		                fields.hour * 3600 + fields.minute * 60 + fields.second;
		date->two_digit_year = form == FORM_RFC_850;
		return bytes;
	}
	return 0;
}
