/* SPDX-License-Identifier: MIT */
#include "cli/say/output.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

bool say_flush(const char *name)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	fprintf(stderr, "%s: can't write: %s\n", name, strerror(errno));
	return false;
}
