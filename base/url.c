/* SPDX-License-Identifier: MIT */

#include <arpa/inet.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/url.h"

#define SCHEME_BYTES_MAX 40 /* libcurl's MAX_SCHEME_LEN */
#define SLASHES_MAX      3
#define ZONE_BYTES_MAX   15
#define PORT_MAX         65535

static struct span span_of(const char *start, const char *end)
{
	return (struct span){start, (size_t)(end - start)};
}

static const char *end_of(struct span span)
{
	return span.text + span.bytes;
}

/* Schemes. */

static bool is_scheme_byte(char c)
{
	return ascii_is_letter(c) || ascii_is_digit(c) || c == '+' || c == '-' || c == '.';
}

static size_t scheme_bytes(const char *text)
{
	size_t bytes = 0;

	while (bytes < SCHEME_BYTES_MAX && is_scheme_byte(text[bytes]))
		bytes++;
	return bytes;
}

/* The scheme that `text` begins with. "host:8080" has none: a slash after the colon marks one. */
static struct span find_scheme(const char *text)
{
	size_t bytes = scheme_bytes(text);

	return (struct span){bytes && text[bytes] == ':' && text[bytes + 1] == '/' ? text : NULL, bytes};
}

static bool is_file(struct span scheme)
{
	return ascii_equals(scheme.text, scheme.bytes, "file");
}

static enum url_protocol protocol_of(struct span scheme)
{
	if (ascii_equals(scheme.text, scheme.bytes, "http"))
		return URL_HTTP;
	return ascii_equals(scheme.text, scheme.bytes, "https") ? URL_HTTPS : URL_OTHER;
}

/* Without a scheme and a default libcurl goes by the name's first label, if a dot follows it. */
static enum url_protocol guess_protocol(const char *host, bool had_dot_at_end)
{
	static const char *const labels[] = {"ftp", "dict", "ldap", "imap", "smtp", "pop3"};
	size_t bytes = strcspn(host, ".");

	for (size_t i = 0; i < sizeof(labels) / sizeof(labels[0]); i++)
		if (ascii_equals(host, bytes, labels[i]) && (host[bytes] == '.' || had_dot_at_end))
			return URL_OTHER;
	return URL_HTTP;
}

static int own_port(enum url_protocol protocol)
{
	static const int ports[] = {[URL_HTTP] = 80, [URL_HTTPS] = 443, [URL_OTHER] = 0};

	return ports[protocol];
}

/*
 * Finds the scheme, of the text or else the default protocol, and where the authority begins. libcurl puts the default
 * protocol and "://" in front of the text: there, too, three slashes are the most.
 */
static bool read_scheme(const char *text, const char *default_protocol, struct url *url, const char **authority)
{
	struct span scheme = find_scheme(text);
	size_t slashes_max = SLASHES_MAX;

	url->scheme = scheme;
	if (scheme.text) {
		text += scheme.bytes + 1;
	} else if (default_protocol[0]) {
		scheme = (struct span){default_protocol, strlen(default_protocol)};
		if (scheme_bytes(default_protocol) != scheme.bytes)
			return false;
		slashes_max -= 2;
	}
	size_t slashes = strspn(text, "/");
	*authority = text + slashes;
	if (!scheme.text)
		return slashes == 0;
	/* Before 8.2 libcurl took schemes that begin with a digit. */
	url->protocol = protocol_of(scheme);
	return slashes <= slashes_max && ascii_is_letter(scheme.text[0]) && !is_file(scheme);
}

/* Hosts. */

/* Whether a decoded byte can stand in a host's name: what no version of libcurl refuses (hostname_check()). */
static bool is_host_byte(char c)
{
	return (unsigned char)c > 0x20 && c != 0x7f && !strchr("/:#?!@{}[]\\$'\"^`*<>=;,+&()%|", c);
}

static bool copy_name(struct span written, char host[static URL_HOST_BYTES])
{
	size_t bytes = 0;

	while (written.bytes > 0) {
		char byte;
		written = span_after(written, span_decode(written, &byte));
		if (!is_host_byte(byte) || bytes + 1 == URL_HOST_BYTES)
			return false;
		host[bytes++] = ascii_lower(byte);
	}
	if (bytes > 0 && host[bytes - 1] == '.')
		bytes--;
	host[bytes] = '\0';
	return bytes > 0 && host[bytes - 1] != '.';
}

/* A part of an address: decimal, octal with a 0 before it, hexadecimal with 0x. Returns its length, 0 if it is none. */
static size_t read_number(const char *text, uint32_t *number)
{
	int base = text[0] != '0' ? 10 : ascii_lower(text[1]) == 'x' ? 16 : 8;
	size_t start = base == 16 ? 2 : 0;
	size_t at = start;
	uint64_t value = 0;

	for (; ascii_hex_value(text[at]) >= 0 && ascii_hex_value(text[at]) < base; at++) {
		value = value * (uint64_t)base + (uint64_t)ascii_hex_value(text[at]);
		if (value > UINT32_MAX)
			return 0;
	}
	*number = (uint32_t)value;
	return at > start ? at : 0;
}

/* One to four numbers with dots between them, of which the last fills what is left (inet_aton(3)). */
static bool read_ipv4(const char *text, uint32_t *address)
{
	uint32_t number;
	uint32_t high = 0;

	for (int part = 0; part < 4; part++) {
		size_t bytes = read_number(text, &number);
		if (bytes == 0)
			return false;
		text += bytes;
		int bits_left = 32 - 8 * part;
		if (*text == '\0') {
			*address = high | number;
			return bits_left == 32 || number >> bits_left == 0;
		}
		if (*text++ != '.' || number > 255)
			return false;
		high |= number << (bits_left - 8);
	}
	return false;
}

static bool read_name(struct span written, struct url *url)
{
	uint32_t address;

	if (!copy_name(written, url->host))
		return false;
	url->host_kind = URL_HOST_NAME;
	if (read_ipv4(url->host, &address)) {
		url->host_kind = URL_HOST_IPV4;
		snprintf(url->host, URL_HOST_BYTES, "%u.%u.%u.%u", address >> 24, address >> 16 & 255,
		         address >> 8 & 255, address & 255);
	}
	return true;
}

/* "%eth0" or "%25eth0": which interface to use, not which host is meant. */
static bool read_zone(struct span written, struct url *url)
{
	size_t escape_bytes = written.bytes > 3 && strncmp(written.text, "%25", 3) == 0 ? 3 : 1;

	url->zone = span_after(written, escape_bytes);
	for (size_t i = 0; i < url->zone.bytes; i++)
		if ((unsigned char)url->zone.text[i] <= 0x20 || url->zone.text[i] == 0x7f)
			return false;
	return url->zone.bytes > 0 && url->zone.bytes <= ZONE_BYTES_MAX;
}

/* What stands between brackets. */
static bool read_ipv6(struct span written, struct url *url)
{
	struct span address = {written.text, span_until(written, "%")};
	char literal[INET6_ADDRSTRLEN];
	unsigned char binary[16];

	if (address.bytes < written.bytes && !read_zone(span_after(written, address.bytes), url))
		return false;
	if (address.bytes >= sizeof(literal))
		return false;
	memcpy(literal, address.text, address.bytes);
	literal[address.bytes] = '\0';
	if (inet_pton(AF_INET6, literal, binary) != 1 || !inet_ntop(AF_INET6, binary, literal, sizeof(literal)))
		return false;
	url->host_kind = URL_HOST_IPV6;
	snprintf(url->host, URL_HOST_BYTES, "[%s]", literal);
	return true;
}

/* Reads the host at the start of host and port; what it leaves is empty or begins with the port's colon. */
static bool read_host(struct span *rest, struct url *url)
{
	struct span host = {rest->text, span_until(*rest, ":")};

	if (rest->bytes == 0)
		return false;
	if (rest->text[0] != '[') {
		*rest = span_after(*rest, host.bytes);
		return read_name(host, url);
	}
	*rest = span_after(*rest, 1);
	host = (struct span){rest->text, span_until(*rest, "]")};
	if (host.bytes == rest->bytes)
		return false;
	*rest = span_after(*rest, host.bytes + 1);
	return read_ipv6(host, url) && (rest->bytes == 0 || rest->text[0] == ':');
}

/* Ports. */

/* Any number of digits up to 65535; -1: no port. */
static int read_port(struct span digits)
{
	int port = 0;

	for (size_t i = 0; i < digits.bytes; i++) {
		if (!ascii_is_digit(digits.text[i]))
			return -1;
		port = port * 10 + (digits.text[i] - '0');
		if (port > PORT_MAX)
			return -1;
	}
	return port;
}

/* A colon without a port means the protocol's own, as in browsers, but only behind a scheme. */
static bool read_port_part(struct span part, bool has_scheme, struct url *url)
{
	url->port = own_port(url->protocol);
	if (part.bytes == 0)
		return true;
	if (part.bytes == 1)
		return has_scheme;
	url->port = read_port(span_after(part, 1));
	return url->port >= 0;
}

/* All of it. */

/* The first @ ends the userinfo: in a second one libcurl sees a host that can't be. */
static bool read_userinfo(struct span *authority, struct url *url)
{
	size_t bytes = span_until(*authority, "@");

	if (bytes == authority->bytes)
		return true;
	url->userinfo = (struct span){authority->text, bytes};
	*authority = span_after(*authority, bytes + 1);
	for (size_t i = 0; i < bytes; i++)
		if ((unsigned char)url->userinfo.text[i] <= 0x20 || url->userinfo.text[i] == 0x7f)
			return false;
	return true;
}

static void read_tail(const char *text, struct url *url)
{
	const char *end = text + strcspn(text, "?#");

	if (end > text)
		url->path = span_of(text, end);
	if (*end == '?') {
		text = end + 1;
		end = text + strcspn(text, "#");
		url->query = span_of(text, end);
	}
	if (*end == '#')
		url->fragment = (struct span){end + 1, strlen(end + 1)};
}

bool url_read(const char *text, const char *default_protocol, struct url *url)
{
	const char *start;

	*url = (struct url){.protocol = URL_OTHER};
	if (!text || !read_scheme(text, default_protocol, url, &start))
		return false;
	struct span rest = {start, strcspn(start, "/?#")};
	read_tail(end_of(rest), url);
	if (!read_userinfo(&rest, url))
		return false;
	url->authority = rest;
	if (!read_host(&rest, url))
		return false;
	bool has_scheme = url->scheme.text || default_protocol[0];
	if (!has_scheme)
		url->protocol = guess_protocol(url->host, rest.text[-1] == '.');
	return read_port_part(rest, has_scheme, url);
}

bool url_host(struct span written, char host[static URL_HOST_BYTES])
{
	struct url url = {.protocol = URL_OTHER};

	if (!read_host(&written, &url) || written.bytes > 0)
		return false;
	memcpy(host, url.host, URL_HOST_BYTES);
	return true;
}

bool url_is_http(const struct url *url)
{
	return url->protocol != URL_OTHER;
}

bool url_has_own_port(const struct url *url)
{
	return url->port == own_port(url->protocol);
}

const char *url_protocol_name(enum url_protocol protocol)
{
	static const char *const names[] = {[URL_HTTP] = "http", [URL_HTTPS] = "https", [URL_OTHER] = ""};

	return names[protocol];
}

/* Paths. */

/* The length without its last segment and the slash before it. */
static size_t without_last_segment(const char *path, size_t bytes)
{
	while (bytes > 0 && path[bytes - 1] != '/')
		bytes--;
	return bytes > 0 ? bytes - 1 : 0;
}

size_t url_path(const struct url *url, char *out, size_t out_bytes)
{
	struct span rest = url->path.text ? url->path : (struct span){"/", 1};
	size_t bytes = 0;

	if (rest.bytes >= out_bytes)
		return 0;
	while (rest.bytes > 0) {
		struct span segment = {rest.text + 1, span_until(span_after(rest, 1), "/")};
		size_t dots = strspn(segment.text, ".");
		bool is_last = segment.bytes + 1 == rest.bytes;

		rest = span_after(rest, segment.bytes + 1);
		if (segment.bytes == dots && (dots == 1 || dots == 2)) {
			if (dots == 2)
				bytes = without_last_segment(out, bytes);
			if (is_last)
				out[bytes++] = '/';
			continue;
		}
		out[bytes++] = '/';
		memcpy(out + bytes, segment.text, segment.bytes);
		bytes += segment.bytes;
	}
	out[bytes] = '\0';
	return bytes;
}
