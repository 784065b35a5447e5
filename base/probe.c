/* SPDX-License-Identifier: MIT */

#include "base/probe.h"

#include <arpa/inet.h>
#include <stdint.h>
#include <string.h>

struct network {
	const char *address; /* as inet_pton() reads it */
	unsigned bits;
};

/* RFC 3927 and RFC 4291 §2.5.6, then what clouds documented for their metadata outside of these. */
static const struct network networks_4[] = {
    {"169.254.0.0", 16},     /* link-local: most clouds */
    {"100.100.100.200", 32}, /* Alibaba */
    {"100.96.0.96", 32},     /* Volcano Engine */
    {"168.63.129.16", 32},   /* Azure's wire server */
    {"192.0.0.192", 32},     /* Oracle's older platform */
};

static const struct network networks_6[] = {
    {"fe80::", 10},              /* link-local */
    {"fd00:ec2::254", 128},      /* AWS */
    {"fd00:ec2::23", 128},       /* AWS, credentials of pods */
    {"fd20:ce::254", 128},       /* Google */
    {"fd00:c1::a9fe:a9fe", 128}, /* Oracle */
    {"fd00:a9fe:a9fe::1", 128},  /* Akamai (Linode) */
    {"fd00:100::100:200", 128},  /* Alibaba */
    {"fd00:42::42", 128},        /* Scaleway */
};

/* IPv6 addresses that stand for the IPv4 address in their last four bytes. */
static const struct network wrappers[] = {
    {"::ffff:0:0", 96}, /* mapped, RFC 4291 §2.5.5.2 */
    {"::", 96},         /* compatible, §2.5.5.1 */
    {"64:ff9b::", 96},  /* translated, RFC 6052 */
};

static const char *const names[] = {
    "metadata",      "metadata.google.internal",   "metadata.goog",           "metadata.azure.internal",
    "instance-data", "instance-data.ec2.internal", "metadata.tencentyun.com",
};

#define IPV4_BYTES 4
#define IPV6_BYTES 16

static bool is_in(const uint8_t *address, const struct network *network, int family)
{
	uint8_t first[IPV6_BYTES];
	size_t bytes = network->bits / 8;
	unsigned rest = network->bits % 8;

	if (inet_pton(family, network->address, first) != 1 || memcmp(address, first, bytes) != 0)
		return false;
	return rest == 0 || (uint8_t)(address[bytes] ^ first[bytes]) >> (8 - rest) == 0;
}

static bool is_in_one_of(const uint8_t *address, const struct network *networks, size_t count, int family)
{
	for (size_t i = 0; i < count; i++)
		if (is_in(address, &networks[i], family))
			return true;
	return false;
}

#define IS_IN(address, networks, family)                                                                               \
	is_in_one_of(address, networks, sizeof(networks) / sizeof((networks)[0]), family)

static bool is_special_4(const char *host)
{
	uint8_t address[IPV4_BYTES];

	return inet_pton(AF_INET, host, address) == 1 && IS_IN(address, networks_4, AF_INET);
}

/* The host stands in brackets. */
static bool is_special_6(const char *host)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t address[IPV6_BYTES];
	size_t bytes = strlen(host);

	if (bytes < 2 || bytes - 2 >= sizeof(text))
		return false;
	memcpy(text, host + 1, bytes - 2);
	text[bytes - 2] = '\0';
	if (inet_pton(AF_INET6, text, address) != 1)
		return false;
	if (IS_IN(address, wrappers, AF_INET6))
		return IS_IN(address + IPV6_BYTES - IPV4_BYTES, networks_4, AF_INET);
	return IS_IN(address, networks_6, AF_INET6);
}

static bool is_special(const struct url *url)
{
	if (url->host_kind == URL_HOST_IPV4)
		return is_special_4(url->host);
	if (url->host_kind == URL_HOST_IPV6)
		return is_special_6(url->host);
	for (size_t i = 0; i < sizeof(names) / sizeof(names[0]); i++)
		if (strcmp(url->host, names[i]) == 0)
			return true;
	return false;
}

/* Whether the glob's first label is a text, so that it was written with some host in mind. */
static bool names_a_host(const char *host_glob)
{
	size_t first_label_bytes = strcspn(host_glob, ".:");

	return first_label_bytes > 0 && strcspn(host_glob, "*?") >= first_label_bytes;
}

bool probe_is_made_once(const struct url *url, const char *host_glob)
{
	return is_special(url) && !(host_glob && names_a_host(host_glob));
}
