/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BODY_KEY_H
#define TENACURL_INTERPOSE_BODY_KEY_H

/*
 * What a request's body is known by, so that the same one is known again: bytes in memory by what they are; files by
 * device, inode, size, time of change, and where in them it begins; what a callback gives by what went out.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

struct handle;

/*
 * Returns what the handle's next body is known by, 1 if it has none; 0: it can't be told. What a callback gives is
 * known only once it was sent to its end (`sent`: an attempt was made, and judged), or was read before
 * (body_preview()). While the program's perform runs; no allocation. Looks at files, by stat.
 */
uint64_t body_key(const struct handle *handle, bool sent);

/* Of bytes in memory; 0 if they are too many to be hashed. bytes -1: a text that ends with NUL. */
uint64_t body_key_of_memory(const void *memory, int64_t bytes);

/* Of a regular file, from offset on. */
uint64_t body_key_of_file(const struct stat *status, int64_t offset);

#endif
