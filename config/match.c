/* SPDX-License-Identifier: MIT */
/* Which section is for a URL. */
#include "config/match.h"

#include <string.h>

#include "base/ascii.h"
#include "config/lookalike.h"

#define SCHEME_BYTES_MAX 16
#define PATH_BYTES_MAX   512

/* Copies and folds; false if it doesn't fit. */
static bool copy_lower(char *out, size_t out_bytes, const char *text, size_t length)
{
	if (length >= out_bytes)
		return false;
	for (size_t i = 0; i < length; i++)
		out[i] = ascii_lower(text[i]);
	out[length] = '\0';
	return true;
}

/* Digits to a port; 0 if it is none. */
static int read_port(const char *digits, size_t length)
{
	int port = 0;

	if (length == 0 || length > 5)
		return 0;
	for (size_t i = 0; i < length; i++) {
		if (!ascii_is_digit(digits[i]))
			return 0;
		port = port * 10 + (digits[i] - '0');
	}
	return port <= 65535 ? port : 0;
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

static bool fits_path(const char *glob, const struct url *url)
{
	char path[PATH_BYTES_MAX];
	size_t bytes = url_path(url, path, sizeof(path));

	/* Too long for what programs request: as it is written. */
	return bytes > 0 ? match_glob(glob, path, bytes) : match_glob(glob, url->path.text, url->path.bytes);
}

bool match_url(const struct policy_match *match, const struct url *url)
{
	if (!url_is_http(url) ||
	    (match->scheme != NULL && strcmp(match->scheme, url_protocol_name(url->protocol)) != 0))
		return false;
	if (match->port != 0 && match->port != url->port)
		return false;
	if (!match_glob(match->host_glob, url->host, strlen(url->host)))
		return false;
	return match->path_glob == NULL || fits_path(match->path_glob, url);
}

const struct policy_section *policy_select(const struct policy *policy, const struct url *url)
{
	if (url != NULL)
		for (size_t i = 1; i < policy->section_count; i++)
			if (match_url(&policy->sections[i].rules.match, url))
				return &policy->sections[i];
	return &policy->sections[0];
}

/* The pieces of a pattern before they are copied. */
struct pattern {
	char scheme[SCHEME_BYTES_MAX];
	char host[URL_HOST_BYTES];
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

/* Brackets, and whatever spells an address or a name without wildcards, get the spelling that URLs have. */
static bool copy_host(struct span written, char host[static URL_HOST_BYTES])
{
	if (span_until(written, "*?") == written.bytes)
		return url_host(written, host);
	return copy_lower(host, URL_HOST_BYTES, written.text, written.bytes);
}

static const char *host_fault(const char *text, size_t length)
{
	if (text[0] == '.')
		return "no host begins with a dot (*.example.com is all below example.com)";
	for (size_t i = 0; i < length; i++) {
		char c = text[i];
		if (!ascii_is_letter(c) && !ascii_is_digit(c) && strchr("-._*?", c) == NULL && (unsigned char)c < 0x80)
			return "a character that no host name has";
	}
	if (length > 1 && text[length - 1] == '.')
		return "a host that ends in a dot";
	return NULL;
}

static const char *split_host_glob(struct pattern *pattern, const char **text)
{
	size_t length = strcspn(*text, "[]:/");
	size_t authority_length = strcspn(*text, "/");

	if (memchr(*text, '@', authority_length) != NULL)
		return "a user's name is no part of what is matched";
	if ((*text)[0] == '[') {
		length = strcspn(*text, "]/");
		if ((*text)[length] != ']' || !url_host((struct span){*text, length + 1}, pattern->host))
			return "brackets hold no IPv6 address";
		*text += length + 1;
		return NULL;
	}
	if (length == 0)
		return "no host is named";
	if (host_fault(*text, length) != NULL)
		return host_fault(*text, length);
	if (!copy_host((struct span){*text, length}, pattern->host))
		return "the host is too long";
	*text += length;
	return NULL;
}

static bool has_dot_segment(const char *path)
{
	while (*path == '/') {
		size_t length = strcspn(++path, "/");
		size_t dots = strspn(path, ".");
		if (length == dots && (dots == 1 || dots == 2))
			return true;
		path += length;
	}
	return false;
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
	if (has_dot_segment(text))
		return "libcurl removes the segments . and .. from a path";
	pattern->path = text;
	return NULL;
}

bool match_parse(const char *text, struct arena *arena, struct policy_match *match, const char **wrong)
{
	struct pattern pattern = {.port = 0};

	*wrong = lookalike_sign(text);
	if (*wrong == NULL)
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
