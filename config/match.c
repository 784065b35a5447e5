/* SPDX-License-Identifier: MIT */
/*
 * Which section is for a URL. The URL is the one that the program set, so it is taken apart as libcurl will: a missing
 * scheme means http, one to three slashes may follow a scheme, and the host ends at the first "/", "?" or "#"
 * (curl's lib/urlapi.c, parseurl()). What libcurl would refuse fits no pattern, so [policy] applies.
 */
#include "config/match.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#define SCHEME_BYTES_MAX 16
#define HOST_BYTES_MAX   256

/* A URL's parts; the path is not terminated. */
struct url {
	char scheme[SCHEME_BYTES_MAX];
	char host[HOST_BYTES_MAX];
	int port;
	const char *path;
	size_t path_length;
};

static bool is_letter(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static char lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Copies and folds; false if it doesn't fit. */
static bool copy_lower(char *out, size_t out_bytes, const char *text, size_t length)
{
	if (length >= out_bytes)
		return false;
	for (size_t i = 0; i < length; i++)
		out[i] = lower(text[i]);
	out[length] = '\0';
	return true;
}

/* The length of a scheme at the start of `text`, if a colon and a slash follow it; 0: there is none. */
static size_t scheme_length(const char *text)
{
	size_t length = 0;

	if (!is_letter(text[0]))
		return 0;
	while (is_letter(text[length]) || is_digit(text[length]) ||
	       (text[length] != '\0' && strchr("+-.", text[length])))
		length++;
	return text[length] == ':' && text[length + 1] == '/' ? length : 0;
}

/* Digits to a port; 0 if it is none. */
static int read_port(const char *digits, size_t length)
{
	int port = 0;

	if (length == 0 || length > 5)
		return 0;
	for (size_t i = 0; i < length; i++) {
		if (!is_digit(digits[i]))
			return 0;
		port = port * 10 + (digits[i] - '0');
	}
	return port <= 65535 ? port : 0;
}

/*
 * Writes an IPv6 literal, given without its brackets, in its one canonical spelling and with brackets. A zone says
 * which interface to use, not which host is meant, and is left out.
 */
static bool canonical_ipv6(const char *text, size_t length, char *out, size_t out_bytes)
{
	const char *zone = memchr(text, '%', length);
	char literal[INET6_ADDRSTRLEN];
	unsigned char address[16];

	if (zone != NULL)
		length = (size_t)(zone - text);
	if (!copy_lower(literal, sizeof literal, text, length) || inet_pton(AF_INET6, literal, address) != 1)
		return false;
	if (inet_ntop(AF_INET6, address, literal, sizeof literal) == NULL)
		return false;
	return snprintf(out, out_bytes, "[%s]", literal) < (int)out_bytes;
}

static int default_port(const char *scheme)
{
	if (strcmp(scheme, "http") == 0)
		return 80;
	return strcmp(scheme, "https") == 0 ? 443 : 0;
}

/* Takes "host[:port]" apart; the userinfo is gone already. */
static bool split_host(struct url *url, const char *text, size_t length)
{
	const char *end = text + length;
	const char *host_end;

	if (length > 0 && text[0] == '[') {
		host_end = memchr(text, ']', length);
		if (host_end == NULL ||
		    !canonical_ipv6(text + 1, (size_t)(host_end - text - 1), url->host, sizeof url->host))
			return false;
		host_end++;
	} else {
		host_end = memchr(text, ':', length);
		if (host_end == NULL)
			host_end = end;
		size_t host_length = (size_t)(host_end - text);
		if (host_length > 1 && host_end[-1] == '.')
			host_length--;
		if (host_length == 0 || !copy_lower(url->host, sizeof url->host, text, host_length))
			return false;
	}
	url->port = default_port(url->scheme);
	if (host_end == end)
		return true;
	if (*host_end != ':')
		return false;
	if (host_end + 1 == end)
		return true;
	url->port = read_port(host_end + 1, (size_t)(end - host_end - 1));
	return url->port != 0;
}

static bool split_url(struct url *url, const char *text)
{
	size_t length = scheme_length(text);

	if (length > 0) {
		if (!copy_lower(url->scheme, sizeof url->scheme, text, length))
			return false;
		text += length + 1;
		for (int slashes = 0; *text == '/' && slashes < 3; slashes++)
			text++;
	} else {
		memcpy(url->scheme, "http", sizeof "http");
	}

	size_t authority_length = strcspn(text, "/?#");
	const char *host = text;
	for (size_t i = 0; i < authority_length; i++)
		if (text[i] == '@')
			host = text + i + 1;
	if (!split_host(url, host, (size_t)(text + authority_length - host)))
		return false;

	url->path = text + authority_length;
	url->path_length = strcspn(url->path, "?#");
	if (url->path_length == 0) {
		url->path = "/";
		url->path_length = 1;
	}
	return true;
}

bool match_glob(const char *glob, const char *text, size_t text_length)
{
	const char *end = text + text_length;
	const char *star = NULL;   /* after the last "*" seen */
	const char *resume = NULL; /* what that "*" hasn't swallowed yet */

	while (text < end) {
		if (*glob == '*') {
			star = ++glob;
			resume = text;
		} else if (*glob == '?' || (*glob != '\0' && *glob == *text)) {
			glob++;
			text++;
		} else if (star != NULL) {
			glob = star;
			text = ++resume;
		} else {
			return false;
		}
	}
	while (*glob == '*')
		glob++;
	return *glob == '\0';
}

static bool fits(const struct policy_match *match, const struct url *url)
{
	if (match->scheme != NULL && strcmp(match->scheme, url->scheme) != 0)
		return false;
	if (match->port != 0 && match->port != url->port)
		return false;
	if (!match_glob(match->host_glob, url->host, strlen(url->host)))
		return false;
	return match->path_glob == NULL || match_glob(match->path_glob, url->path, url->path_length);
}

bool match_url(const struct policy_match *match, const char *url)
{
	struct url parts;

	return split_url(&parts, url) && fits(match, &parts);
}

const struct policy_section *policy_select(const struct policy *policy, const char *url)
{
	struct url parts;

	if (url == NULL || policy->section_count == 1 || !split_url(&parts, url))
		return &policy->sections[0];
	for (size_t i = 1; i < policy->section_count; i++)
		if (fits(&policy->sections[i].rules.match, &parts))
			return &policy->sections[i];
	return &policy->sections[0];
}

bool policy_origin(const char *url, char *out, size_t out_bytes)
{
	struct url parts;
	int length;

	if (!split_url(&parts, url))
		return false;
	if (parts.port == default_port(parts.scheme))
		length = snprintf(out, out_bytes, "%s://%s", parts.scheme, parts.host);
	else
		length = snprintf(out, out_bytes, "%s://%s:%d", parts.scheme, parts.host, parts.port);
	return length >= 0 && (size_t)length < out_bytes;
}

/* The pieces of a pattern before they are copied. */
struct pattern {
	char scheme[SCHEME_BYTES_MAX];
	char host[HOST_BYTES_MAX];
	int port;
	const char *path; /* NULL: none */
};

static const char *split_scheme(struct pattern *pattern, const char **text)
{
	const char *separator = strstr(*text, "://");

	if (separator == NULL || memchr(*text, '/', (size_t)(separator - *text)) != NULL)
		return NULL;
	if (!copy_lower(pattern->scheme, sizeof pattern->scheme, *text, (size_t)(separator - *text)) ||
	    (strcmp(pattern->scheme, "http") != 0 && strcmp(pattern->scheme, "https") != 0))
		return "the scheme is neither http nor https";
	*text = separator + 3;
	return NULL;
}

static const char *split_host_glob(struct pattern *pattern, const char **text)
{
	size_t length = strcspn(*text, "[]:/");

	if ((*text)[0] == '[') {
		length = strcspn(*text, "]/");
		if ((*text)[length] != ']' ||
		    !canonical_ipv6(*text + 1, length - 1, pattern->host, sizeof pattern->host))
			return "brackets hold no IPv6 address";
		*text += length + 1;
		return NULL;
	}
	if (length == 0)
		return "no host is named";
	for (size_t i = 0; i < length; i++) {
		char c = (*text)[i];
		if (!is_letter(c) && !is_digit(c) && strchr("-._*?", c) == NULL && (unsigned char)c < 0x80)
			return "a character that no host name has";
	}
	if (length > 1 && (*text)[length - 1] == '.')
		return "a host that ends in a dot";
	if (!copy_lower(pattern->host, sizeof pattern->host, *text, length))
		return "the host is too long";
	*text += length;
	return NULL;
}

static const char *split_port_and_path(struct pattern *pattern, const char *text)
{
	if (*text == ':') {
		size_t length = strcspn(text + 1, "/");
		pattern->port = read_port(text + 1, length);
		if (pattern->port == 0)
			return "the port is not a number from 1 to 65535";
		text += 1 + length;
	}
	if (*text == '\0')
		return NULL;
	if (*text != '/')
		return "a character that no host name has";
	if (strcspn(text, " \t#[]\\") != strlen(text))
		return "a character that no URL path has";
	pattern->path = text;
	return NULL;
}

bool match_parse(const char *text, struct arena *arena, struct policy_match *match, const char **wrong)
{
	struct pattern pattern = {.port = 0};

	*wrong = split_scheme(&pattern, &text);
	if (*wrong == NULL)
		*wrong = split_host_glob(&pattern, &text);
	if (*wrong == NULL)
		*wrong = split_port_and_path(&pattern, text);
	if (*wrong != NULL)
		return false;

	*match = (struct policy_match){.port = pattern.port};
	match->host_glob = arena_copy_text(arena, pattern.host, strlen(pattern.host));
	if (match->host_glob == NULL)
		return false;
	if (pattern.scheme[0] != '\0') {
		match->scheme = arena_copy_text(arena, pattern.scheme, strlen(pattern.scheme));
		if (match->scheme == NULL)
			return false;
	}
	if (pattern.path != NULL) {
		match->path_glob = arena_copy_text(arena, pattern.path, strlen(pattern.path));
		if (match->path_glob == NULL)
			return false;
	}
	return true;
}
