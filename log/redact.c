/* SPDX-License-Identifier: MIT */
/*
 * What may be told of a URL.
 *
 * A secret hides in userinfo, query and fragment, and wherever a sloppy reader takes one of them for something else. So
 * only what url_read() makes of it is told, as libcurl would: a password with an unescaped / or ? in it leaves a "port"
 * that is none, and nothing is told.
 *
 * Tokens live in paths too (webhook URLs, presigned links), as segments that are longer than words are; these are
 * replaced by a hash, which still tells equal ones from different ones.
 */
#include "log/record.h"

#include <stdio.h>
#include <string.h>

#define SEGMENT_BYTES_MAX 32

static const char ELLIPSIS[] = "\xe2\x80\xa6"; /* U+2026 */

struct bounded_text {
	char *out;
	size_t capacity_bytes; /* terminator not included */
	size_t used_bytes;
	bool cut;
};

static void put_bytes(struct bounded_text *text, const char *bytes, size_t byte_count)
{
	if (text->cut || byte_count > text->capacity_bytes - text->used_bytes) {
		text->cut = true;
		return;
	}
	memcpy(text->out + text->used_bytes, bytes, byte_count);
	text->used_bytes += byte_count;
}

/* Whatever is not printable ASCII is percent-encoded: no control byte, and nothing that could be cut in its middle. */
static void put_span(struct bounded_text *text, struct span span)
{
	static const char HEX[] = "0123456789ABCDEF";
	for (size_t i = 0; i < span.bytes; i++) {
		unsigned char byte = (unsigned char)span.text[i];
		char encoded[3] = {'%', HEX[byte >> 4], HEX[byte & 15]};
		if (byte > 0x20 && byte < 0x7f)
			put_bytes(text, span.text + i, 1);
		else
			put_bytes(text, encoded, 3);
	}
}

/* FNV-1a, 64 bits folded to 32: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint32_t hash_span(struct span span)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < span.bytes; i++)
		hash = (hash ^ (unsigned char)span.text[i]) * UINT64_C(0x100000001b3);
	return (uint32_t)(hash ^ hash >> 32);
}

static void put_hash(struct bounded_text *text, struct span span)
{
	static const char HEX[] = "0123456789abcdef";
	uint32_t hash = hash_span(span);
	char word[9] = "~";
	for (int i = 0; i < 8; i++)
		word[1 + i] = HEX[hash >> (28 - 4 * i) & 15];
	put_bytes(text, word, sizeof(word));
}

static void put_path_with_hashed_segments(struct bounded_text *text, struct span path)
{
	size_t at = 0;
	while (at < path.bytes) {
		struct span segment = {path.text + at, 0};
		while (at + segment.bytes < path.bytes && segment.text[segment.bytes] != '/')
			segment.bytes++;
		if (segment.bytes > SEGMENT_BYTES_MAX)
			put_hash(text, segment);
		else
			put_span(text, segment);
		at += segment.bytes;
		if (at < path.bytes) {
			put_bytes(text, "/", 1);
			at++;
		}
	}
}

static void put_path(struct bounded_text *text, struct span path, enum policy_log_url detail)
{
	switch (detail) {
	case POLICY_LOG_URL_ORIGIN:
		return;
	case POLICY_LOG_URL_FULL_PATH:
		put_span(text, path);
		return;
	case POLICY_LOG_URL_HASH:
		if (!path.bytes)
			return;
		put_bytes(text, "/", 1);
		put_hash(text, path);
		return;
	case POLICY_LOG_URL_PATH:
		put_path_with_hashed_segments(text, path);
		return;
	}
}

static void finish(struct bounded_text *text)
{
	size_t mark_bytes = sizeof(ELLIPSIS) - 1;
	if (text->cut && text->capacity_bytes >= mark_bytes) {
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
