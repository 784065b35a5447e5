/* SPDX-License-Identifier: MIT */

/* A plugin whose constructor and destructor do what the program wants: both run under the dynamic linker's lock. */

#include "tests/plugins/hooks.h"

__attribute__((constructor)) static void begin(void)
{
	hook_constructed(&fetch_functions);
}

__attribute__((destructor)) static void end(void)
{
	hook_destructed(&fetch_functions);
}
