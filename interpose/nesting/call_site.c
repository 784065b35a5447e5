/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <string.h>

#include "base/base_name.h"
#include "base/hash.h"
#include "interpose/host/mapping.h"
#include "interpose/host/process.h"
#include "interpose/nesting/call_site.h"

void call_site_find(const void *caller, struct call_site *site)
{
	int saved_errno = errno;
	struct mapping mapping;
	site->hash = process_identity();
	site->library[0] = '\0';
	/* A lock of the loader may be held for ever by a thread of the parent. */
	if ((mapping_is_lock_free() || !process_is_raw_child()) && mapping_find(caller, &mapping)) {
		const char *name = base_name(mapping.path);
		strncpy(site->library, name, sizeof(site->library) - 1);
		site->library[sizeof(site->library) - 1] = '\0';
		site->hash = hash_text(site->hash, name);
		site->hash = hash_number(site->hash, (uint64_t)((const char *)caller - (const char *)mapping.begin));
	}
	errno = saved_errno;
}
