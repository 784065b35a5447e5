/* SPDX-License-Identifier: MIT */
/*
 * Words, numbers and names against what was drawn by lot.
 *
 * A segment is read as runs of letters and digits, escapes decoded. In a run, what words don't have is counted: pairs
 * of neighbouring letters that no European language or file name of Debian has often, letters and digits that take
 * turns (where the letters are no word themselves), capitals in the middle of what is no camel case. Words have none of
 * these, names like "utf8mb4" a few; of a random text it is every second place, in whatever alphabet: base64url,
 * base32, hexadecimal, or letters alone. So the longer a run, the surer: from 20 characters on one in a thousand is
 * missed, below 8 nothing is guessed. UUIDs and hexadecimal runs of 64 bits and more are known by their form.
 *
 * Measured with the dictionaries of nine languages: of 240,000 words one in a thousand looks random (Roman numerals are
 * most of them), of slugs from English words one in ten thousand.
 */
#include "log/token.h"

#include <stdint.h>
#include <string.h>

#include "base/ascii.h"

#define RUN_BYTES_MAX     40 /* no name is longer */
#define RUN_BYTES_MIN     8
#define LONG_RUN_BYTES    16
#define HEX_RUN_BYTES     16
#define DIGITS_BYTES      20 /* a number of 64 bits has up to 20 digits, most ids have less */
#define SEGMENT_SURPRISES 7  /* of all its runs: license keys in groups */

/* A bit for each second letter: by the frequency of pairs in Debian's word lists, package and file names. */
static const uint32_t usual_pairs[26] = {
    0x37effef, 0x1165b57, 0x31edf95, 0x316695b, 0x3feffff, 0x01a4931, 0x01e69d5, 0x15e7915, 0x27ffe7f,
    0x014741d, 0x03e6d11, 0x11cfb99, 0x114d913, 0x33c65ff, 0x37efd7f, 0x11ec9bd, 0x0100000, 0x33efdff,
    0x37cfdf7, 0x35eff95, 0x0debfff, 0x0044111, 0x1146191, 0x0081100, 0x24cbf15, 0x310751d,
};

/* A run of letters and digits, terminated. */
struct run {
	char text[RUN_BYTES_MAX + 1];
	size_t bytes;
};

static bool is_usual_pair(char first, char second)
{
	return usual_pairs[ascii_lower(first) - 'a'] >> (ascii_lower(second) - 'a') & 1;
}

static bool is_capital(char c)
{
	return c >= 'A' && c <= 'Z';
}

/* The length of the word that begins here in camel case: "Http" of "HttpServer", "HTTP" of "HTTPServer". */
static size_t hump_bytes(const char *letters, size_t bytes)
{
	size_t capitals = 0, all;

	while (capitals < bytes && is_capital(letters[capitals]))
		capitals++;
	if (capitals > 1)
		return capitals < bytes ? capitals - 1 : capitals;
	for (all = capitals; all < bytes && !is_capital(letters[all]); all++)
		;
	return all;
}

/* Words of two letters that stand in camel case. */
static bool is_short_word(const char *hump, size_t bytes)
{
	static const char WORDS[] =
	    "an as at by db do go id if in io ip is it me my no of ok on or os so to tv ui up us we ";

	if (bytes != 2)
		return bytes > 2;
	for (const char *word = WORDS; *word; word += 3)
		if (ascii_lower(hump[0]) == word[0] && ascii_lower(hump[1]) == word[1])
			return true;
	return false;
}

/* Letters; is_version: a "v" and a digit end them. */
static int surprises_in_letters(const char *letters, size_t bytes, bool is_version)
{
	int surprises = 0;

	for (size_t at = 0, hump; at < bytes; at += hump) {
		hump = hump_bytes(letters + at, bytes - at);
		for (size_t i = at + 1; i < at + hump; i++)
			surprises += !is_usual_pair(letters[i - 1], letters[i]);
		bool is_v = is_version && at + hump == bytes && hump == 1;
		surprises += hump < bytes && !is_short_word(letters + at, hump) && !is_v;
	}
	return surprises;
}

static int surprises_in_run(const struct run *run)
{
	int surprises = 0;
	bool was_strange = false; /* the piece before was letters that are no word */

	for (size_t at = 0, bytes; at < run->bytes; at += bytes) {
		bool is_number = ascii_is_digit(run->text[at]);
		for (bytes = 1; at + bytes < run->bytes && ascii_is_digit(run->text[at + bytes]) == is_number; bytes++)
			;
		bool is_version =
		    !is_number && at + bytes < run->bytes && ascii_lower(run->text[at + bytes - 1]) == 'v';
		int own = is_number ? 0 : surprises_in_letters(run->text + at, bytes, is_version);
		bool is_strange = !is_number && (own > 0 || (bytes < 3 && !is_version));
		surprises += own + (at > 0 && (is_strange || was_strange));
		was_strange = is_strange;
	}
	return surprises;
}

/* How many surprises make a run of this length a token. */
static int surprises_needed(const struct run *run, bool has_digits)
{
	if (run->bytes < LONG_RUN_BYTES)
		return 4;
	if (has_digits)
		return run->bytes < 20 ? 3 : 2;
	return run->bytes < 24 ? 3 : run->bytes < 32 ? 4 : 5;
}

/* "20240101T000000Z" */
static bool is_instant(const char *text)
{
	static const char DIGITS[] = "0123456789";

	if (strspn(text, DIGITS) != 8 || text[8] != 'T')
		return false;
	text += 9;
	size_t bytes = strspn(text, DIGITS);
	return bytes >= 4 && bytes <= 6 && (text[bytes] == '\0' || strcmp(text + bytes, "Z") == 0);
}

static bool is_random(const struct run *run, int *segment_surprises)
{
	size_t digits = 0;

	for (size_t i = 0; i < run->bytes; i++)
		digits += ascii_is_digit(run->text[i]);
	if (digits == run->bytes)
		return run->bytes >= DIGITS_BYTES;
	if (is_instant(run->text))
		return false;
	if (digits > 0 && run->bytes >= HEX_RUN_BYTES && strspn(run->text, "0123456789abcdefABCDEF") == run->bytes)
		return true;
	int surprises = surprises_in_run(run);
	*segment_surprises += surprises;
	return run->bytes >= RUN_BYTES_MIN && surprises >= surprises_needed(run, digits > 0);
}

/* 8-4-4-4-12 hexadecimal digits. */
static bool begins_with_uuid(struct span text)
{
	static const char FORM[] = "xxxxxxxx-xxxx-xxxx-xxxx-xxxxxxxxxxxx";

	if (text.bytes < sizeof(FORM) - 1)
		return false;
	for (size_t i = 0; FORM[i]; i++)
		if (FORM[i] == '-' ? text.text[i] != '-' : ascii_hex_value(text.text[i]) < 0)
			return false;
	return true;
}

bool token_is_likely(struct span segment)
{
	struct run run = {.bytes = 0};
	int surprises = 0;

	for (struct span rest = segment; rest.bytes > 0;) {
		char byte;
		if (begins_with_uuid(rest))
			return true;
		rest = span_after(rest, span_decode(rest, &byte));
		bool goes_on = ascii_is_letter(byte) || ascii_is_digit(byte);
		if (goes_on && run.bytes == RUN_BYTES_MAX)
			return true;
		if (goes_on)
			run.text[run.bytes++] = byte;
		run.text[run.bytes] = '\0';
		if (goes_on && rest.bytes > 0)
			continue;
		if (is_random(&run, &surprises))
			return true;
		run.bytes = 0;
	}
	return surprises >= SEGMENT_SURPRISES;
}
