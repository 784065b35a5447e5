/* SPDX-License-Identifier: MIT */

#include "interpose/nesting/caller.h"

void caller_know_site(struct caller *caller)
{
	if (!caller->site_is_known)
		call_site_find(caller->handle->active_caller, &caller->site);
	caller->site_is_known = true;
}
