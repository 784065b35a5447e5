/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_LIST_HASH_H
#define TENACURL_INTERPOSE_LIST_HASH_H

#include "base/hash.h"

struct curl_slist;

/* Adds each text of a list. */
uint64_t hash_list(uint64_t hash, const struct curl_slist *line);

#endif
