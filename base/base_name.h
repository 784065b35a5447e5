/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_BASE_NAME_H
#define TENACURL_BASE_BASE_NAME_H

#include <string.h>

/* "curl" of "/usr/bin/curl": the end of `path`. */
static inline const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

#endif
