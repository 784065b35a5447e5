/* SPDX-License-Identifier: MIT */
/*
 * What may be told of a URL.
 *
 * A secret hides in userinfo, query and fragment, and wherever a sloppy reader takes one of them for something else. So
 * only what url_read() makes of it is told, as libcurl would: a password with an unescaped / or ? in it leaves a "port"
 * that is none, and nothing is told.
 *
 * Secrets live in paths too, and a path is told segment by segment:
 * - Parameters (";jsessionid=…") are cut, as is what an escaped "?" or "#" begins: a query of a URL within the URL.
 * - What looks like a token (log/token.h), is longer than a name, or has a user and a password in it, is replaced by a
 *   hash, which still tells equal ones from different ones.
 * - So is what follows a word that announces a secret ("/token/…"), but for words ("/token/refresh"), and from the
 * second segment on numbers.
 */
#include "log/record.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/bounded_text.h"
#include "base/hash.h"
#include "log/token.h"

#define SEGMENT_BYTES_MAX 64
#define WORD_BYTES_MAX    16

static const char ELLIPSIS[] = "\xe2\x80\xa6"; /* U+2026 */

/* Whatever is not printable ASCII is percent-encoded: no control byte, and nothing that could be cut in its middle. */
static void put_span(struct bounded_text *text, struct span span)
{
	static const char HEX[] = "0123456789ABCDEF";
	for (size_t i = 0; i < span.bytes; i++) {
		unsigned char byte = (unsigned char)span.text[i];
		char encoded[3] = {'%', HEX[byte >> 4], HEX[byte & 15]};
		if (byte > 0x20 && byte < 0x7f)
			bounded_put(text, span.text + i, 1);
		else
			bounded_put(text, encoded, 3);
	}
}

static void put_hash(struct bounded_text *text, struct span span)
{
	static const char HEX[] = "0123456789abcdef";
	uint64_t whole = hash_fnv(span.text, span.bytes);
	uint32_t hash = (uint32_t)(whole ^ whole >> 32);
	char word[9] = "~";
	for (int i = 0; i < 8; i++)
		word[1 + i] = HEX[hash >> (28 - 4 * i) & 15];
	bounded_put(text, word, sizeof(word));
}

/* The segment without its parameters. */
static struct span without_parameters(struct span segment)
{
	struct span rest = segment;
	while (rest.bytes > 0) {
		char byte;
		size_t bytes = span_decode(rest, &byte);
		if (byte == ';' || byte == '?' || byte == '#')
			break;
		rest = span_after(rest, bytes);
	}
	return (struct span){segment.text, segment.bytes - rest.bytes};
}

/* Whether a secret comes next: one of these words, or of more than one. */
static bool announces_secret(struct span segment)
{
	static const char *const words[] = {"key",    "apikey",  "api-key", "api_key", "token",   "access-token",
	                                    "secret", "session", "hook",    "webhook", "invite",  "access_token",
	                                    "reset",  "verify",  "confirm", "passwd",  "password"};
	if (segment.bytes > 1 && ascii_lower(segment.text[segment.bytes - 1]) == 's')
		segment.bytes--;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (ascii_equals(segment.text, segment.bytes, words[i]))
			return true;
	return false;
}

static bool is_word(struct span segment)
{
	for (size_t i = 0; i < segment.bytes; i++)
		if ((segment.text[i] < 'a' || segment.text[i] > 'z') && segment.text[i] != '-' &&
		    segment.text[i] != '_')
			return false;
	return segment.bytes <= WORD_BYTES_MAX;
}

static bool is_number(struct span segment)
{
	size_t digits = 0;
	while (digits < segment.bytes && ascii_is_digit(segment.text[digits]))
		digits++;
	return digits == segment.bytes;
}

/* "user:password@…" */
static bool has_credentials(struct span segment)
{
	bool had_colon = false;
	while (segment.bytes > 0) {
		char byte;
		segment = span_after(segment, span_decode(segment, &byte));
		if (byte == '@' && had_colon)
			return true;
		had_colon = had_colon || byte == ':';
	}
	return false;
}

/* What was announced before a segment: by the one before it, or earlier. */
enum announced { NOTHING, EARLIER, JUST_NOW };

static bool is_told(struct span segment, enum announced announced)
{
	if (segment.bytes > SEGMENT_BYTES_MAX || has_credentials(segment) || token_is_likely(segment))
		return false;
	return announced == NOTHING || is_word(segment) || (announced == EARLIER && is_number(segment));
}

static void put_segments(struct bounded_text *text, struct span path, bool hides_tokens)
{
	enum announced announced = NOTHING;
	while (path.bytes > 0) {
		struct span all = {path.text, span_until(path, "/")};
		struct span segment = without_parameters(all);
		if (!hides_tokens || is_told(segment, announced))
			put_span(text, segment);
		else
			put_hash(text, segment);
		if (announces_secret(segment))
			announced = JUST_NOW;
		else if (announced == JUST_NOW)
			announced = EARLIER;
		path = span_after(path, all.bytes);
		if (path.bytes > 0) {
			bounded_put(text, "/", 1);
			path = span_after(path, 1);
		}
	}
}

static void put_path(struct bounded_text *text, struct span path, enum policy_log_url detail)
{
	switch (detail) {
	case POLICY_LOG_URL_ORIGIN:
		return;
	case POLICY_LOG_URL_FULL_PATH:
		put_segments(text, path, false);
		return;
	case POLICY_LOG_URL_HASH:
		if (!path.bytes)
			return;
		bounded_put(text, "/", 1);
		put_hash(text, path);
		return;
	case POLICY_LOG_URL_PATH:
		put_segments(text, path, true);
		return;
	}
}

static void finish(struct bounded_text *text)
{
	size_t mark_bytes = sizeof(ELLIPSIS) - 1;
	if (text->overflow && text->capacity_bytes >= mark_bytes) {
		if (text->used_bytes > text->capacity_bytes - mark_bytes)
			text->used_bytes = text->capacity_bytes - mark_bytes;
		memcpy(text->out + text->used_bytes, ELLIPSIS, mark_bytes);
		text->used_bytes += mark_bytes;
	}
	text->out[text->used_bytes] = '\0';
}

static void put_text(struct bounded_text *text, const char *words)
{
	put_span(text, (struct span){words, strlen(words)});
}

static void put_origin(struct bounded_text *text, const struct url *url)
{
	char port[sizeof(":65535")];
	snprintf(port, sizeof(port), ":%d", url->port);
	put_text(text, url_protocol_name(url->protocol));
	put_text(text, "://");
	put_text(text, url->host);
	if (!url_has_own_port(url))
		put_text(text, port);
}

void record_redact_url(const struct url *url, enum policy_log_url detail, char *out, size_t out_bytes)
{
	if (out_bytes == 0)
		return;
	struct bounded_text text = {.out = out, .capacity_bytes = out_bytes - 1};
	if (url && url_is_http(url)) {
		put_origin(&text, url);
		put_path(&text, url->path, detail);
	} else {
		put_text(&text, "?");
	}
	finish(&text);
}
