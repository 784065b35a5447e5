/* SPDX-License-Identifier: MIT */
/*
 * What curl makes of --retry. Read as src/tool_getparam.c, tool_parsecfg.c and tool_operate.c of curl 7.29 to 8.22 do:
 * a word is an option's argument or an option depending on the option before it, and before 8.6 long options could be
 * shortened. A command line that curl refuses may be read in any way: then there is no transfer.
 */

#include <string.h>

#include "base/ascii.h"
#include "base/span.h"
#include "engine/outer_layer.h"

#define CLASS(name) (UINT32_C(1) << ENGINE_CLASS_##name)

/* Long options that take an argument in any release, each terminated; one text, since pointers cost each process that
 * loads us. */
static const char argument_options[] =
    "abstract-unix-socket\0alt-svc\0aws-sigv4\0cacert\0capath\0cert\0cert-type\0ciphers\0config\0"
    "connect-timeout\0connect-to\0continue-at\0cookie\0cookie-jar\0create-file-mode\0crlfile\0curves\0"
    "data\0data-ascii\0data-binary\0data-raw\0data-urlencode\0delegation\0dns-interface\0dns-ipv4-addr\0"
    "dns-ipv6-addr\0dns-servers\0doh-url\0dump-header\0ech\0egd-file\0engine\0etag-compare\0etag-save\0"
    "expect100-timeout\0form\0form-string\0ftp-account\0ftp-alternative-to-user\0ftp-method\0ftp-port\0"
    "ftp-ssl-ccc-mode\0ftpport\0happy-eyeballs-timeout-ms\0haproxy-clientip\0header\0hostpubmd5\0"
    "hostpubsha256\0hsts\0http-request\0httpsig-algo\0httpsig-headers\0httpsig-key\0httpsig-keyid\0"
    "interface\0ip-tos\0ipfs-gateway\0json\0keepalive-cnt\0keepalive-time\0key\0key-type\0knownhosts\0"
    "krb\0krb4\0libcurl\0limit-rate\0local-port\0login-options\0mail-auth\0mail-from\0mail-rcpt\0"
    "max-filesize\0max-redirs\0max-time\0netrc-file\0noproxy\0oauth2-bearer\0output\0output-dir\0"
    "parallel-max\0parallel-max-host\0pass\0pinnedpubkey\0preproxy\0proto\0proto-default\0proto-redir\0"
    "proxy\0proxy-cacert\0proxy-capath\0proxy-cert\0proxy-cert-type\0proxy-ciphers\0proxy-crlfile\0"
    "proxy-header\0proxy-key\0proxy-key-type\0proxy-pass\0proxy-pinnedpubkey\0proxy-service-name\0"
    "proxy-tls13-ciphers\0proxy-tlsauthtype\0proxy-tlspassword\0proxy-tlsuser\0proxy-user\0proxy1.0\0"
    "pubkey\0quote\0random-file\0range\0rate\0referer\0request\0request-target\0resolve\0retry\0"
    "retry-delay\0retry-max-time\0sasl-authzid\0service-name\0sigalgs\0socks\0socks4\0socks4a\0socks5\0"
    "socks5-gssapi-service\0socks5-hostname\0speed-limit\0speed-time\0ssl-sessions\0stderr\0"
    "telnet-option\0telnet-options\0tftp-blksize\0time-cond\0tls-max\0tls13-ciphers\0tlsauthtype\0"
    "tlspassword\0tlsuser\0trace\0trace-ascii\0trace-config\0unix-socket\0upload-file\0upload-flags\0"
    "url\0url-query\0user\0user-agent\0variable\0vlan-priority\0write-out\0";

/* Long options that take none, although one above begins so: they aren't short for it. */
static const char whole_options[] =
    "crlf\0ftp-ssl\0ftp-ssl-ccc\0head\0keepalive\0netrc\0parallel\0socks5-gssapi\0ssl\0";

static const char short_argument_options[] = "ACDEFHKPQTUXYbcdemortuwxyz";

/* Reading one source of options. */
struct reader {
	struct outer_curl *curl;
	bool is_config;
	void (*open_config)(void *context, const char *path); /* NULL: -K FILE isn't followed, nor is it terminated */
	void *context;
};

/* Takes an option with its argument. on: false for --no-OPTION. */
typedef void (*option_taker)(const struct reader *reader, struct span argument, bool on);

static void take_url(const struct reader *reader, struct span argument, bool on)
{
	(void)argument, (void)on;
	reader->curl->last.has_url = true;
}

static void take_retry(const struct reader *reader, struct span argument, bool on)
{
	bool positive = false;

	(void)on;
	for (size_t i = 0; i < argument.bytes; i++) {
		if (!ascii_is_digit(argument.text[i]))
			return;
		positive = positive || argument.text[i] != '0';
	}
	reader->curl->last.retries = positive;
	if (positive)
		reader->curl->from_config = reader->is_config;
}

static void take_all_errors(const struct reader *reader, struct span argument, bool on)
{
	(void)argument;
	reader->curl->last.all_errors = on;
}

static void take_connrefused(const struct reader *reader, struct span argument, bool on)
{
	(void)argument;
	reader->curl->last.connrefused = on;
}

/* The last group joins those before it. */
static void close_group(struct outer_curl *curl)
{
	const struct outer_curl_group *last = &curl->last;

	if (last->retries) {
		curl->all_errors = last->all_errors && (curl->groups_retry == 0 || curl->all_errors);
		curl->connrefused = last->connrefused && (curl->groups_retry == 0 || curl->connrefused);
		curl->groups_retry++;
	}
	curl->groups++;
	curl->last = (struct outer_curl_group){.has_url = false};
}

static void take_next(const struct reader *reader, struct span argument, bool on)
{
	(void)argument, (void)on;
	/* What has no URL yet isn't ended by it. */
	if (reader->curl->last.has_url)
		close_group(reader->curl);
}

static void take_config(const struct reader *reader, struct span argument, bool on)
{
	(void)on;
	/* Its URLs may stand there, and we may be unable to read it ("-" is stdin). */
	reader->curl->last.has_url = true;
	if (reader->open_config && argument.bytes > 0 && !ascii_equals(argument.text, argument.bytes, "-"))
		reader->open_config(reader->context, argument.text);
}

static const struct known_option {
	const char *name;
	size_t shortest_bytes; /* of what was unambiguous */
	char letter;
	option_taker take;
} known_options[] = {
    {"url", 2, 0, take_url},
    {"retry", 5, 0, take_retry},
    {"retry-all-errors", 7, 0, take_all_errors},
    {"retry-connrefused", 7, 0, take_connrefused},
    {"next", 3, ':', take_next},
    {"config", 4, 'K', take_config},
};

#define KNOWN_OPTIONS (sizeof known_options / sizeof known_options[0])

/* Whether the name is `word`, or begins with it. */
static bool begins_with(const char *name, struct span word)
{
	for (size_t i = 0; i < word.bytes; i++)
		if (name[i] == '\0' || ascii_lower(name[i]) != ascii_lower(word.text[i]))
			return false;
	return word.bytes > 0;
}

static bool is_one_of(const char *names, struct span word, bool maybe_shortened)
{
	for (const char *name = names; *name; name += strlen(name) + 1)
		if (begins_with(name, word) && (maybe_shortened || name[word.bytes] == '\0'))
			return true;
	return false;
}

static bool takes_argument(struct span word)
{
	if (is_one_of(argument_options, word, false))
		return true;
	return !is_one_of(whole_options, word, false) && is_one_of(argument_options, word, true);
}

/* These tell whether `next`, which may be none, was the option's argument. */

static bool read_long_option(const struct reader *reader, struct span word, struct span next)
{
	bool on = ascii_prefix_bytes(word.text, word.bytes, "no-") == 0;

	word = span_after(word, ascii_prefix_bytes(word.text, word.bytes, on ? "expand-" : "no-"));
	struct span argument = word, name = span_cut(&argument, "=");
	bool has_own = name.bytes < word.bytes;
	bool takes = takes_argument(name);
	for (size_t i = 0; i < KNOWN_OPTIONS; i++) {
		const struct known_option *known = &known_options[i];
		if (name.bytes < known->shortest_bytes || !begins_with(known->name, name))
			continue;
		known->take(reader, has_own ? argument : next, on);
		break;
	}
	return takes && !has_own && next.text;
}

static bool read_short_options(const struct reader *reader, struct span letters, struct span next)
{
	while (letters.bytes > 0) {
		char letter = letters.text[0];
		letters = span_after(letters, 1);
		for (size_t i = 0; i < KNOWN_OPTIONS; i++)
			if (known_options[i].letter == letter)
				known_options[i].take(reader, letters.bytes > 0 ? letters : next, true);
		if (strchr(short_argument_options, letter))
			return letters.bytes == 0 && next.text;
	}
	return false;
}

static bool read_option(const struct reader *reader, struct span word, struct span next)
{
	size_t dashes = 0;

	while (dashes < 2 && dashes < word.bytes && word.text[dashes] == '-')
		dashes++;
	word = span_after(word, dashes);
	return dashes == 1 ? read_short_options(reader, word, next) : read_long_option(reader, word, next);
}

/* The next word of a command line; none at its end. */
static struct span cut_word(struct span *words)
{
	const char *end = words->bytes > 0 ? memchr(words->text, '\0', words->bytes) : NULL;

	if (!end)
		return (struct span){NULL, 0};
	struct span word = {words->text, (size_t)(end - words->text)};
	*words = span_after(*words, word.bytes + 1);
	return word;
}

static bool skips_curlrc(struct span words)
{
	struct span first = cut_word(&words);

	return first.text && (ascii_prefix_bytes(first.text, first.bytes, "-q") > 0 ||
	                      ascii_equals(first.text, first.bytes, "--disable"));
}

void outer_layer_read_curl_words(struct outer_curl *curl, const char *words, size_t bytes,
                                 void (*open_config)(void *context, const char *path), void *context)
{
	const struct reader reader = {curl, false, open_config, context};
	struct span rest = {words, bytes}, word;
	bool may_be_option = true;

	if (open_config && !skips_curlrc(rest))
		open_config(context, NULL);
	while ((word = cut_word(&rest)).text) {
		if (!may_be_option || word.bytes == 0 || word.text[0] != '-') {
			take_url(&reader, word, true);
		} else if (ascii_equals(word.text, word.bytes, "--")) {
			may_be_option = false;
		} else {
			struct span after_next = rest, next = cut_word(&after_next);
			if (read_option(&reader, word, next))
				rest = after_next;
		}
	}
}

/* The argument at the start of `text`, in a config file's quotes or without; none: the line says none. */
static struct span config_argument(struct span text, bool after_dash)
{
	size_t bytes = 0;

	while (text.bytes > 0 && strchr(after_dash ? " \t" : " \t=:", text.text[0]) && text.text[0] != '\0')
		text = span_after(text, 1);
	if (text.bytes == 0 || text.text[0] != '"')
		bytes = span_until(text, " \t\r");
	else
		for (text = span_after(text, 1); bytes < text.bytes && text.text[bytes] != '"'; bytes++)
			if (text.text[bytes] == '\\' && bytes + 1 < text.bytes)
				bytes++;
	return bytes > 0 ? (struct span){text.text, bytes} : (struct span){NULL, 0};
}

void outer_layer_read_curl_config(struct outer_curl *curl, const char *text, size_t bytes)
{
	const struct reader reader = {curl, true, NULL, NULL};
	struct span rest = {text, bytes};

	while (rest.bytes > 0) {
		struct span line = span_trimmed(span_cut(&rest, "\n"));
		if (line.bytes == 0 || line.text[0] == '#')
			continue;
		bool dashed = line.text[0] == '-';
		size_t option_bytes = span_until(line, dashed ? " \t\r" : " \t\r=:");
		read_option(&reader, (struct span){line.text, option_bytes},
		            config_argument(span_after(line, option_bytes), dashed));
	}
}

/* What releases retry (retrycheck() in tool_operate.c), newest first. */

static const int since_8_17[] = {408, 429, 500, 502, 503, 504, 522, 524, 0};
static const int since_7_74[] = {408, 429, 500, 502, 503, 504, 0};
static const int since_7_67[] = {429, 500, 502, 503, 504, 0};
static const int at_first[] = {500, 502, 503, 504, 0};

#define ALWAYS (CLASS(STATUS) | CLASS(RESOLVE) | CLASS(TIMEOUT))
#define ALL_ERRORS                                                                                                     \
	(ALWAYS | CLASS(PROXY) | CLASS(CONNECT) | CLASS(TLS) | CLASS(SEND) | CLASS(RECEIVE) | CLASS(EMPTY) |           \
	 CLASS(PARTIAL) | CLASS(HTTP2))
#define LAYERS(statuses)                                                                                               \
	{                                                                                                              \
		{ALWAYS, statuses}, {ALWAYS | CLASS(CONNECT), statuses},                                               \
		{                                                                                                      \
			ALL_ERRORS, statuses                                                                           \
		}                                                                                                      \
	}

static const struct {
	unsigned int version_number;
	struct outer_layer layers[3]; /* as it is, with --retry-connrefused, with --retry-all-errors */
} releases[] = {
    {0x081100, LAYERS(since_8_17)},
    {0x074a00, LAYERS(since_7_74)},
    {0x074300, LAYERS(since_7_67)},
    {0, LAYERS(at_first)},
};

const struct outer_layer *outer_layer_of_curl(const struct outer_curl *curl, unsigned int version_number)
{
	struct outer_curl whole = *curl;
	size_t release = 0;

	if (whole.last.has_url || whole.groups == 0)
		close_group(&whole);
	if (whole.groups_retry < whole.groups)
		return NULL;
	while (releases[release].version_number > version_number)
		release++;
	return &releases[release].layers[whole.all_errors ? 2 : whole.connrefused ? 1 : 0];
}
