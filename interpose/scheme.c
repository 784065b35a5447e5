/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "engine/ascii.h"
#include "interpose/scheme.h"

/* Host names that libcurl takes for another protocol. */
static const char *const other_host_prefixes[] = {"ftp.", "dict.", "ldap.", "imap.", "smtp.", "pop3."};

static bool is_http_name(const char *name, size_t name_bytes)
{
	return ascii_equals(name, name_bytes, "http") || ascii_equals(name, name_bytes, "https");
}

bool scheme_is_http(const char *url, const char *default_protocol)
{
	if (!url || !url[0])
		return false;
	const char *colon = strstr(url, ":/"); /* libcurl takes one to three slashes */
	/* A ":/" behind the host belongs to a path or a query. */
	if (colon && strcspn(url, "/?#") >= (size_t)(colon - url))
		return is_http_name(url, (size_t)(colon - url));
	if (default_protocol[0])
		return is_http_name(default_protocol, strlen(default_protocol));
	for (size_t i = 0; i < sizeof(other_host_prefixes) / sizeof(other_host_prefixes[0]); i++)
		if (ascii_begins_with(url, other_host_prefixes[i]))
			return false;
	/* "mailto:", "file:" and the like have a scheme without slashes; "host:8080" and "user:password@host" do not.
	 */
	return !ascii_begins_with(url, "file:");
}
