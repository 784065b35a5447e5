/* SPDX-License-Identifier: MIT */

#include "engine/expiry.h"

#include <string.h>

#include "base/ascii.h"
#include "engine/http_date.h"
#include "engine/saturate.h"

#define VALUE_BYTES    64 /* of what can be an instant or a duration */
#define DIGITS_MAX     17
#define MILLISECONDS_S 100000000000 /* an instant that large is in milliseconds */
#define LONG_AGO_S     100000000    /* one that small is none, 20260102 for one */
#define USUAL_SKEW_S   900
#define STRICT_SKEW_S  300
#define DAY_S          86400

/* Names of parameters that say when a signature expires, and of those that are one; besides, all with "signature". */
static const char *const expiry_names[] = {"expires", "se", "ske", "exp", "expiry", "expire", "e"};
static const char *const token_names[] = {"sig", "sign", "token", "hmac", "md5", "hash"};

/* How schemes begin that sign a date; besides, each that has hmac in its name. */
static const char *const signing_schemes[] = {
    "AWS4-", "AWS ", "GOOG", "SharedKey", "OSS", "OBS ", "TOS4-", "ACS3-", "acs ", "TC3-", "Signature ",
};

/* Those of them whose services take no older date than 5 minutes: AWS but for S3, Tencent, Oracle. */
static const char *const strict_schemes[] = {"AWS4-", "TC3-", "Signature "};

static bool is_one_of(struct span text, const char *const *words, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ascii_equals(text.text, text.bytes, words[i]))
			return true;
	return false;
}

static bool begins_with_one_of(struct span text, const char *const *prefixes, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (ascii_prefix_bytes(text.text, text.bytes, prefixes[i]) > 0)
			return true;
	return false;
}

#define IS_ONE_OF(text, words)             is_one_of(text, words, sizeof(words) / sizeof((words)[0]))
#define BEGINS_WITH_ONE_OF(text, prefixes) begins_with_one_of(text, prefixes, sizeof(prefixes) / sizeof((prefixes)[0]))

/* Where `word` begins in the text, in any case; behind its end if nowhere. */
static size_t find(struct span text, const char *word)
{
	size_t at = 0;

	while (at < text.bytes && ascii_prefix_bytes(text.text + at, text.bytes - at, word) == 0)
		at++;
	return at;
}

static struct span span_of(const char *text)
{
	return (struct span){text, strlen(text)};
}

/* Reads all of the text as a number. */
static bool read_number(struct span text, int64_t *number)
{
	int64_t sum = 0;

	if (text.bytes == 0 || text.bytes > DIGITS_MAX)
		return false;
	for (size_t i = 0; i < text.bytes; i++) {
		if (!ascii_is_digit(text.text[i]))
			return false;
		sum = sum * 10 + (text.text[i] - '0');
	}
	*number = sum;
	return true;
}

/* Takes so many digits off the text. Returns false if there are fewer. */
static bool take_digits(struct span *text, size_t digits, int64_t *number)
{
	if (text->bytes < digits || !read_number((struct span){text->text, digits}, number))
		return false;
	*text = span_after(*text, digits);
	return true;
}

static void skip(struct span *text, char separator)
{
	if (text->bytes > 0 && text->text[0] == separator)
		*text = span_after(*text, 1);
}

/* hh:mm, hh:mm:ss and hhmmss, with a fraction or without, then "Z" or nothing. */
static bool take_time(struct span text, int64_t *time_s)
{
	int64_t hour, minute, second = 0;

	if (!take_digits(&text, 2, &hour))
		return false;
	skip(&text, ':');
	if (!take_digits(&text, 2, &minute))
		return false;
	skip(&text, ':');
	if (text.bytes > 0 && ascii_is_digit(text.text[0]) && !take_digits(&text, 2, &second))
		return false;
	skip(&text, '.');
	while (text.bytes > 0 && ascii_is_digit(text.text[0]))
		text = span_after(text, 1);
	*time_s = hour * 3600 + minute * 60 + second;
	return text.bytes == 0 || (text.bytes == 1 && ascii_lower(text.text[0]) == 'z');
}

/* ISO 8601 in UTC, basic or extended: 20260102T030405Z, 2026-01-02T03:04:05Z, 2026-01-02. */
static bool read_iso_date(struct span text, int64_t *instant_s)
{
	int64_t year, month, day, time_s = 0;

	if (!take_digits(&text, 4, &year))
		return false;
	skip(&text, '-');
	if (!take_digits(&text, 2, &month))
		return false;
	skip(&text, '-');
	if (!take_digits(&text, 2, &day) || month < 1 || month > 12 || day < 1 || day > 31)
		return false;
	if (text.bytes > 0 && (ascii_lower(text.text[0]) != 't' || !take_time(span_after(text, 1), &time_s)))
		return false;
	*instant_s = engine_days_since_1970(year, (int)month, (int)day) * DAY_S + time_s;
	return true;
}

/* Any form in which an instant is written. */
static bool read_instant(struct span text, int64_t *instant_s)
{
	struct engine_http_date date;
	int64_t number;

	if (read_number(text, &number) && number >= LONG_AGO_S) {
		*instant_s = number < MILLISECONDS_S ? number : number / 1000;
		return true;
	}
	if (read_iso_date(text, instant_s))
		return true;
	if (text.bytes == 0 || engine_http_date_read(text.text, text.bytes, &date) != text.bytes)
		return false;
	*instant_s = date.epoch_s;
	return true;
}

static void note_earlier(int64_t *earliest_s, struct span text)
{
	int64_t instant_s;

	if (read_instant(text, &instant_s))
		*earliest_s = engine_earlier(*earliest_s, instant_s);
}

/* Undoes percent-encoding. What doesn't fit is cut: no instant is that long. */
static struct span decode(struct span text, char out[static VALUE_BYTES])
{
	size_t bytes = 0;

	while (text.bytes > 0 && bytes < VALUE_BYTES)
		text = span_after(text, span_decode(text, &out[bytes++]));
	return (struct span){out, bytes};
}

/* X-Amz-Date, x-goog-date, x-ms-date. */
static bool is_vendors(struct span name, const char *suffix)
{
	size_t suffix_bytes = strlen(suffix);

	return ascii_prefix_bytes(name.text, name.bytes, "x-") > 0 && name.bytes > suffix_bytes &&
	       ascii_equals(name.text + name.bytes - suffix_bytes, suffix_bytes, suffix);
}

/* "st=1~exp=2~acl=*~hmac=…": fields of a token, separated by "~" or, in a header, by "&". */
static void read_token(struct engine_expiry *expiry, struct span token)
{
	if (find(token, "hmac=") == token.bytes)
		return;
	while (token.bytes > 0) {
		struct span field = span_cut(&token, "~&"), name = span_cut(&field, "=");

		if (ascii_equals(name.text, name.bytes, "exp"))
			note_earlier(&expiry->certain_s, field);
	}
}

static void read_parameter(struct engine_expiry *expiry, struct span name, struct span raw)
{
	char decoded[VALUE_BYTES];
	struct span value = decode(raw, decoded);

	if (is_vendors(name, "-date"))
		note_earlier(&expiry->query_date_s, value);
	else if (is_vendors(name, "-expires"))
		read_number(value, &expiry->query_lifetime_s);
	else if (ascii_equals(name.text, name.bytes, "q-sign-time") && span_until(value, ";") < value.bytes)
		note_earlier(&expiry->certain_s, span_after(value, span_until(value, ";") + 1));
	else if (IS_ONE_OF(name, expiry_names))
		note_earlier(&expiry->beside_signature_s, value);
	expiry->has_signature = expiry->has_signature || find(name, "signature") < name.bytes;
	expiry->has_token = expiry->has_token || IS_ONE_OF(name, token_names);
	read_token(expiry, raw);
}

void engine_expiry_begin(struct engine_expiry *expiry)
{
	*expiry = (struct engine_expiry){
	    .certain_s = ENGINE_NO_EXPIRY,
	    .beside_signature_s = ENGINE_NO_EXPIRY,
	    .query_date_s = ENGINE_NO_EXPIRY,
	    .query_lifetime_s = ENGINE_NO_EXPIRY,
	    .vendor_date_s = ENGINE_NO_EXPIRY,
	    .date_s = ENGINE_NO_EXPIRY,
	};
}

void engine_expiry_read_query(struct engine_expiry *expiry, struct span query)
{
	while (query.bytes > 0) {
		struct span value = span_cut(&query, "&"), name = span_cut(&value, "=");

		read_parameter(expiry, name, value);
	}
}

/* "…;expires=1767323045;…", with quotes or blanks or without. */
static void read_signature_field(struct engine_expiry *expiry, struct span value)
{
	size_t at = find(value, "expires=");

	if (at == value.bytes)
		return;
	value = span_after(value, at + strlen("expires="));
	skip(&value, '"');
	value.bytes = span_until(value, "\";, ");
	note_earlier(&expiry->certain_s, value);
}

/* The service stands before the end of the credential's scope: "…/s3/aws4_request". */
static bool is_s3(struct span value)
{
	size_t end = find(value, "/aws4_request"), begin = end;

	while (begin > 0 && value.text[begin - 1] != '/')
		begin--;
	return ascii_prefix_bytes(value.text + begin, end - begin, "s3") > 0;
}

static void read_authorization(struct engine_expiry *expiry, struct span value)
{
	struct span scheme = {value.text, span_until(value, " ")};

	if (BEGINS_WITH_ONE_OF(value, signing_schemes) || find(scheme, "hmac") < scheme.bytes)
		expiry->skew_s = USUAL_SKEW_S;
	if (BEGINS_WITH_ONE_OF(value, strict_schemes) && !is_s3(value))
		expiry->skew_s = STRICT_SKEW_S;
	if (ascii_equals(scheme.text, scheme.bytes, "Signature"))
		read_signature_field(expiry, value);
	if (ascii_equals(scheme.text, scheme.bytes, "SharedAccessSignature"))
		engine_expiry_read_query(expiry, span_trimmed(span_after(value, scheme.bytes)));
}

void engine_expiry_read_header(struct engine_expiry *expiry, const char *line)
{
	struct span value = span_of(line), name = span_cut(&value, ":");

	value = span_trimmed(value);
	if (ascii_equals(name.text, name.bytes, "Authorization"))
		read_authorization(expiry, value);
	else if (ascii_equals(name.text, name.bytes, "Signature-Input"))
		read_signature_field(expiry, value);
	else if (ascii_equals(name.text, name.bytes, "Date"))
		note_earlier(&expiry->date_s, value);
	else if (is_vendors(name, "-date") || ascii_equals(name.text, name.bytes, "X-TC-Timestamp"))
		note_earlier(&expiry->vendor_date_s, value);
}

int64_t engine_expiry_s(const struct engine_expiry *expiry)
{
	int64_t date_s = expiry->vendor_date_s != ENGINE_NO_EXPIRY ? expiry->vendor_date_s : expiry->date_s;
	int64_t lifetime_s = expiry->query_lifetime_s, earliest_s = expiry->certain_s;

	if (lifetime_s == ENGINE_NO_EXPIRY && expiry->has_signature)
		lifetime_s = USUAL_SKEW_S;
	if (lifetime_s != ENGINE_NO_EXPIRY)
		earliest_s = engine_earlier(earliest_s, engine_after(expiry->query_date_s, lifetime_s));
	if (expiry->has_signature || expiry->has_token)
		earliest_s = engine_earlier(earliest_s, expiry->beside_signature_s);
	if (expiry->skew_s > 0)
		earliest_s = engine_earlier(earliest_s, engine_after(date_s, expiry->skew_s));
	return earliest_s;
}
