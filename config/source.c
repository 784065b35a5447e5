/* SPDX-License-Identifier: MIT */
#include "config/source.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "base/file.h"
#include "base/hash.h"
#include "config/complaint.h"
#include "config/trusted_file.h"

static enum policy_load_result read_open_file(int fd, const char *path, struct arena *arena, char **bytes,
                                              size_t *length, struct policy_error *error)
{
	const struct complaint_place place = {.path = path};

	char *buffer = arena_allocate(arena, SOURCE_BYTES_MAX + 2);
	if (buffer == NULL) {
		complain_of_memory(error, path);
		return POLICY_UNREADABLE;
	}
	ssize_t got = file_read(fd, buffer, SOURCE_BYTES_MAX + 1);
	if (got < 0) {
		complain(error, &place, "cannot be read: %s", error_text(errno));
		return POLICY_UNREADABLE;
	}
	if (got > SOURCE_BYTES_MAX) {
		complain(error, &place, "is too large; allowed: at most %d bytes", SOURCE_BYTES_MAX);
		return POLICY_UNREADABLE;
	}
	*bytes = buffer;
	*length = (size_t)got;
	return POLICY_LOADED;
}

enum policy_load_result source_read(const char *path, struct arena *arena, int *fd, char **bytes, size_t *length,
                                    struct policy_error *error)
{
	enum policy_load_result result = trusted_file_open(path, arena, fd, error);

	if (result != POLICY_LOADED)
		return result;
	result = read_open_file(*fd, path, arena, bytes, length, error);
	if (result != POLICY_LOADED) {
		close(*fd);
		*fd = -1;
	}
	return result;
}

void source_hash(const char *bytes, size_t length, char out[static 17])
{
	static const char digits[] = "0123456789abcdef";
	uint64_t hash = hash_fnv(bytes, length);

	for (size_t i = 0; i < 16; i++)
		out[i] = digits[(hash >> (60 - 4 * i)) & 15];
	out[16] = '\0';
}
