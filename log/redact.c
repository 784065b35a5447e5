/* SPDX-License-Identifier: MIT */
/*
 * What may be told of a URL.
 *
 * A secret hides in userinfo, query and fragment, and wherever a sloppy reader takes one of them for something else. So
 * the URL is cut the way libcurl cuts it (lib/urlapi.c): the authority ends at the first / ? or #, userinfo at the
 * *last* @ in it, and what is left must be a host and a port, byte by byte. Whatever doesn't fit is not guessed at: the
 * whole URL becomes "?". A password with an unescaped / or ? in it thus leaves a "port" that is none, and nothing is
 * told.
 *
 * Tokens live in paths too (webhook URLs, presigned links), as segments that are longer than words are; these are
 * replaced by a hash, which still tells equal ones from different ones.
 */
#include "log/record.h"

#include <string.h>

#define SCHEME_BYTES_MAX  40 /* libcurl's MAX_SCHEME_LEN */
#define SEGMENT_BYTES_MAX 32
#define PORT_DIGITS_MAX   5

static const char ELLIPSIS[] = "\xe2\x80\xa6"; /* U+2026 */

/* A part of the URL, not terminated. */
struct span {
	const char *start;
	size_t bytes;
};

struct url_parts {
	struct span scheme; /* empty: none given */
	struct span host;   /* with its brackets; empty only for file: */
	struct span port;   /* digits; empty: none given */
	struct span path;   /* with its first slash; empty: none */
};

struct bounded_text {
	char *out;
	size_t capacity_bytes; /* terminator not included */
	size_t used_bytes;
	bool cut;
};

static bool is_alpha(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int hex_value(char c)
{
	if (is_digit(c))
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	if (c >= 'A' && c <= 'F')
		return c - 'A' + 10;
	return -1;
}

/* Bytes of the scheme that `url` starts with, 0 if it has none. As in libcurl, "host:8080" has none: ":/" marks one. */
static size_t scheme_bytes(const char *url)
{
	if (!is_alpha(url[0]))
		return 0;
	size_t i = 1;
	while (i < SCHEME_BYTES_MAX &&
	       (is_alpha(url[i]) || is_digit(url[i]) || url[i] == '+' || url[i] == '-' || url[i] == '.'))
		i++;
	return url[i] == ':' && url[i + 1] == '/' ? i : 0;
}

static bool is_file_scheme(struct span scheme)
{
	static const char FILE_SCHEME[] = "file";
	if (scheme.bytes != sizeof(FILE_SCHEME) - 1)
		return false;
	for (size_t i = 0; i < scheme.bytes; i++)
		if ((scheme.start[i] | 0x20) != FILE_SCHEME[i])
			return false;
	return true;
}

/* Whether a byte can be part of a host name; libcurl refuses the same ones (hostname_check()), and controls. */
static bool is_host_byte(unsigned char byte)
{
	return byte > 0x20 && byte != 0x7f && !strchr("/:#?!@{}[]\\$'\"^`*<>=;,()|%", byte);
}

static bool is_host_name(struct span host)
{
	for (size_t i = 0; i < host.bytes; i++) {
		unsigned char byte = (unsigned char)host.start[i];
		if (byte == '%') {
			if (host.bytes - i < 3)
				return false;
			int high = hex_value(host.start[i + 1]), low = hex_value(host.start[i + 2]);
			if (high < 0 || low < 0)
				return false;
			byte = (unsigned char)(high * 16 + low); /* libcurl decodes host names */
			i += 2;
		}
		if (!is_host_byte(byte))
			return false;
	}
	return host.bytes > 0;
}

/* [address], [address%zone], [address%25zone] */
static bool is_bracketed_address(struct span host)
{
	if (host.bytes < 4 || host.start[host.bytes - 1] != ']')
		return false;
	size_t i = 1;
	while (i < host.bytes - 1 && (hex_value(host.start[i]) >= 0 || host.start[i] == ':' || host.start[i] == '.'))
		i++;
	if (i < host.bytes - 1 && host.start[i] != '%')
		return false;
	for (i++; i < host.bytes - 1; i++)
		if (!is_alpha(host.start[i]) && !is_digit(host.start[i]) && !strchr("-_.~", host.start[i]))
			return false;
	return true;
}

static bool split_port(struct span authority, struct url_parts *parts)
{
	parts->host = authority;
	const char *end = authority.start + authority.bytes;
	const char *search = authority.start;
	if (authority.bytes && authority.start[0] == '[') {
		search = memchr(authority.start, ']', authority.bytes);
		if (!search)
			return false;
	}
	const char *colon = memchr(search, ':', (size_t)(end - search));
	if (!colon)
		return true;
	parts->host.bytes = (size_t)(colon - authority.start);
	parts->port = (struct span){colon + 1, (size_t)(end - colon - 1)};
	if (parts->port.bytes > PORT_DIGITS_MAX)
		return false;
	for (size_t i = 0; i < parts->port.bytes; i++)
		if (!is_digit(parts->port.start[i]))
			return false;
	return true;
}

static struct span without_userinfo(struct span authority)
{
	for (size_t i = authority.bytes; i > 0; i--)
		if (authority.start[i - 1] == '@')
			return (struct span){authority.start + i, authority.bytes - i};
	return authority;
}

/* Skips ":/", "://" or ":///", which libcurl all takes; of file: the third slash belongs to the path. */
static const char *skip_slashes(const char *at, bool keep_third)
{
	int limit = keep_third ? 2 : 3;
	at++;
	for (int i = 0; i < limit && *at == '/'; i++)
		at++;
	return at;
}

static bool split_url(const char *url, struct url_parts *parts)
{
	memset(parts, 0, sizeof(*parts));
	parts->scheme = (struct span){url, scheme_bytes(url)};
	bool file = is_file_scheme(parts->scheme);
	const char *authority = parts->scheme.bytes ? skip_slashes(url + parts->scheme.bytes, file) : url;
	struct span all = {authority, strcspn(authority, "/?#")};
	if (!split_port(without_userinfo(all), parts))
		return false;

	const char *path = authority + all.bytes;
	parts->path = (struct span){path, strcspn(path, "?#")};
	if (file && !parts->host.bytes)
		return true;
	if (parts->host.bytes && parts->host.start[0] == '[')
		return is_bracketed_address(parts->host);
	return is_host_name(parts->host);
}

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
		unsigned char byte = (unsigned char)span.start[i];
		char encoded[3] = {'%', HEX[byte >> 4], HEX[byte & 15]};
		if (byte > 0x20 && byte < 0x7f)
			put_bytes(text, span.start + i, 1);
		else
			put_bytes(text, encoded, 3);
	}
}

/* FNV-1a, 64 bits folded to 32: http://www.isthe.com/chongo/tech/comp/fnv/ */
static uint32_t hash_span(struct span span)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);
	for (size_t i = 0; i < span.bytes; i++)
		hash = (hash ^ (unsigned char)span.start[i]) * UINT64_C(0x100000001b3);
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
		struct span segment = {path.start + at, 0};
		while (at + segment.bytes < path.bytes && segment.start[segment.bytes] != '/')
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

void record_redact_url(const char *url, enum policy_log_url detail, char *out, size_t out_bytes)
{
	if (out_bytes == 0)
		return;
	struct bounded_text text = {.out = out, .capacity_bytes = out_bytes - 1};
	struct url_parts parts;
	if (!url || !split_url(url, &parts)) {
		put_bytes(&text, "?", 1);
		finish(&text);
		return;
	}
	if (parts.scheme.bytes) {
		put_span(&text, parts.scheme);
		put_bytes(&text, "://", 3);
	}
	put_span(&text, parts.host);
	if (parts.port.bytes) {
		put_bytes(&text, ":", 1);
		put_span(&text, parts.port);
	}
	put_path(&text, parts.path, detail);
	finish(&text);
}
