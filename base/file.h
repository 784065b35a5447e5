/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_FILE_H
#define TENACURL_BASE_FILE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Reads until the end or until `most_bytes` are there: then there may be more. Returns how many are; -1, with errno, if
 * a part can't be read. No allocation; any context.
 */
ssize_t file_read(int fd, void *bytes, size_t most_bytes);

#endif
