/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_URL_H
#define TENACURL_BASE_URL_H

/*
 * A URL taken apart as libcurl takes it apart (lib/urlapi.c parseurl(), lib/url.c parseurlandfillconn()): once, for
 * all that ask about one. Pure, no allocation, any thread, async-signal-safe.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/span.h"

#define URL_HOST_BYTES 256 /* terminator included; a longer name is none that DNS knows */

/* What libcurl would speak. */
enum url_protocol { URL_HTTP, URL_HTTPS, URL_OTHER };

enum url_host_kind { URL_HOST_NAME, URL_HOST_IPV4, URL_HOST_IPV6 };

struct url {
	enum url_protocol protocol;
	enum url_host_kind host_kind;

	/*
	 * In its one spelling: escapes decoded, lower case, one dot at the end removed; IPv4 addresses in four decimal
	 * parts, however they are written ("0x7f.1"), IPv6 addresses in brackets, shortest form, without a zone. A name
	 * that isn't ASCII stays UTF-8: libcurl encodes it when it connects.
	 */
	char host[URL_HOST_BYTES];
	int port; /* as given, else the protocol's own; 0: given so, or not given with URL_OTHER */

	/* Parts of the text, undecoded. .text is NULL where there is none. */
	struct span scheme;    /* without its colon; none: the default protocol or libcurl's guess stands in */
	struct span userinfo;  /* without its @ */
	struct span authority; /* host and port as written */
	struct span zone;      /* of an IPv6 address */
	struct span path;      /* with its first slash */
	struct span query;     /* without its ? */
	struct span fragment;  /* without its # */
};

/*
 * Takes `text` apart; it must outlive *url. default_protocol is CURLOPT_DEFAULT_PROTOCOL, "" where it isn't set.
 * Returns false, *url undefined, where libcurl refuses the URL or where its versions differ in what they make of it,
 * for file: URLs, which have no host, and for NULL. Of path, query and fragment nothing is asked: libcurl refuses
 * blanks and control bytes there, but they change nothing about where a request goes.
 */
bool url_read(const char *text, const char *default_protocol, struct url *url);

/* Whether libcurl would speak HTTP or HTTPS. */
bool url_is_http(const struct url *url);

/* Whether the port is the protocol's own. */
bool url_has_own_port(const struct url *url);

/* "http" or "https"; "" for URL_OTHER. */
const char *url_protocol_name(enum url_protocol protocol);

/* Reads a host, an IPv6 address in its brackets, into its one spelling. Returns false for what is none. */
bool url_host(struct span written, char host[static URL_HOST_BYTES]);

/*
 * Writes the path that is requested: "/" where there is none, and without the segments "." and ".." (RFC 3986, section
 * 5.2.4), which libcurl removes unless CURLOPT_PATH_AS_IS is set. Returns its length, or 0 if it doesn't fit.
 */
size_t url_path(const struct url *url, char *out, size_t out_bytes);

#endif
