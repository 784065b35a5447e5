/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_CONTENT_KEY_H
#define TENACURL_INTERPOSE_CONTENT_KEY_H

/*
 * What contents are known by, so that the same one is known again: bytes in memory by what they are, files by device,
 * inode, size and time of change. Never 0 but where it says so.
 */

#include <stdint.h>
#include <sys/stat.h>

/* Of bytes in memory; 0 if they are too many to be hashed. bytes -1: a text that ends with NUL. */
uint64_t content_key_of_memory(const void *memory, int64_t bytes);

/* Of a regular file, from offset on. */
uint64_t content_key_of_file(const struct stat *status, int64_t offset);

#endif
