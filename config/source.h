/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_SOURCE_H
#define TENACURL_CONFIG_SOURCE_H

/* A policy file's bytes. */

#include "config/arena.h"
#include "config/load_result.h"

#define SOURCE_BYTES_MAX (64 * 1024)

/*
 * Reads the whole file into `arena`; one zero byte follows its end. The descriptor stays open for the caller to close.
 * What isn't trusted (config/trusted_file.h) or is larger than SOURCE_BYTES_MAX is refused, as POLICY_ABSENT or
 * POLICY_UNREADABLE with `error` filled; then no descriptor is open. Changes errno.
 */
enum policy_load_result source_read(const char *path, struct arena *arena, int *fd, char **bytes, size_t *length,
                                    struct policy_error *error);

/* Writes the FNV-1a 64 hash of the bytes as 16 hexadecimal digits. Pure. */
void source_hash(const char *bytes, size_t length, char out[static 17]);

#endif
