/* SPDX-License-Identifier: MIT */

#include "interpose/libcurl/list_hash.h"
#include "interpose/libcurl/curl_abi.h"

uint64_t hash_list(uint64_t hash, const struct curl_slist *line)
{
	for (; line; line = line->next)
		if (line->data)
			hash = hash_text(hash, line->data);
	return hash;
}
