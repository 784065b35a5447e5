/* SPDX-License-Identifier: MIT */

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "base/hash.h"
#include "interpose/parts/idempotency_key.h"
#include "interpose/parts/wire.h"

#define UUID_TEXT_BYTES 37

/* How headers of signed requests begin; the signature covers what they list. */
static const char signature_headers[][32] = {
    "Authorization: AWS4-", "Authorization:AWS4-",   "Authorization: SharedKey", "Authorization: Signature",
    "Authorization: OSS",   "Authorization: GOOG4-", "Authorization: ACS3-",     "Signature:",
    "X-Amz-Signature:",     "X-Signature:",          "X-Hub-Signature",
};

/* X-Amz-Signature, Signature and the like in the query of a presigned URL. */
static bool has_signature_parameter(const char *url)
{
	for (; *url; url++)
		if (ascii_begins_with(url, "Signature="))
			return true;
	return false;
}

static bool is_signed(const struct handle *handle)
{
	if (handle->program.aws_sigv4 || (handle->url && has_signature_parameter(handle->url)))
		return true;
	for (const struct curl_slist *header = handle->program.http_headers; header; header = header->next)
		for (size_t i = 0; i < sizeof(signature_headers) / sizeof(signature_headers[0]); i++)
			if (header->data && ascii_begins_with(header->data, signature_headers[i]))
				return true;
	return false;
}

/* The UUID of a random number (RFC 9562 §5.4): the same for all operations of an intent. */
static void write_uuid(uint64_t number, char out[static UUID_TEXT_BYTES])
{
	static const int dashes[] = {8, 13, 18, 23};
	uint64_t mixed = number;
	for (size_t i = 0; i < UUID_TEXT_BYTES - 1; i++) {
		mixed = hash_number(mixed, i);
		out[i] = "0123456789abcdef"[mixed & 15];
	}
	out[UUID_TEXT_BYTES - 1] = '\0';
	for (size_t i = 0; i < sizeof(dashes) / sizeof(dashes[0]); i++)
		out[dashes[i]] = '-';
	out[14] = '4';
	out[19] = "89ab"[(out[19] >= 'a' ? out[19] - 'a' + 10 : out[19] - '0') & 3];
}

/*
 * The same for all operations of an intent that are the same request in every header: who asks for it as another user
 * must not get the first one's answer.
 */
static uint64_t key_number(uint64_t id, const struct curl_slist *header)
{
	for (; header; header = header->next)
		id = hash_text(id, header->data);
	return id;
}

bool idempotency_key_is_wanted(const struct policy_rules *rules, const struct engine_request *request)
{
	return rules->add_idempotency_key && rules->idempotency_header && request->method == ENGINE_METHOD_OTHER &&
	       request->body_replayable;
}

bool idempotency_key_add(struct idempotency_key *key, struct handle *handle, const char *header_name, uint64_t id)
{
	struct curl_slist *headers = handle->program.http_headers;
	char uuid[UUID_TEXT_BYTES];

	/* One without a value goes out, too: the server would have two to choose from. */
	if (wire_has_field(handle, header_name) || is_signed(handle))
		return false;
	write_uuid(key_number(id, headers), uuid);
	int bytes = snprintf(key->text, sizeof(key->text), "%s: %s", header_name, uuid);
	if (bytes < 0 || (size_t)bytes >= sizeof(key->text))
		return false;
	key->header = (struct curl_slist){.data = key->text, .next = headers};
	handle->lent.http_headers = handle->libcurl->setopt(handle->curl, CURLOPT_HTTPHEADER, &key->header) == CURLE_OK;
	return handle->lent.http_headers;
}
