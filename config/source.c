/* SPDX-License-Identifier: MIT */
#include "config/source.h"

#include <errno.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include "base/error_text.h"
#include "config/complaint.h"
#include "config/trusted_file.h"

/* Reads until the end or until `most` bytes are there; -1: trouble, in errno. */
static ssize_t read_up_to(int fd, char *bytes, size_t most)
{
	size_t length = 0;

	while (length < most) {
		ssize_t got = read(fd, bytes + length, most - length);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -1;
		if (got == 0)
			break;
		length += (size_t)got;
	}
	return (ssize_t)length;
}

static enum policy_load_result read_open_file(int fd, const char *path, struct arena *arena, char **bytes,
                                              size_t *length, struct policy_error *error)
{
	const struct complaint_place place = {.path = path};

	char *buffer = arena_allocate(arena, SOURCE_BYTES_MAX + 2);
	if (buffer == NULL) {
		complain_of_memory(error, path);
		return POLICY_UNREADABLE;
	}
	ssize_t got = read_up_to(fd, buffer, SOURCE_BYTES_MAX + 1);
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
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (size_t i = 0; i < length; i++)
		hash = (hash ^ (unsigned char)bytes[i]) * UINT64_C(0x100000001b3);
	for (size_t i = 0; i < 16; i++)
		out[i] = digits[(hash >> (60 - 4 * i)) & 15];
	out[16] = '\0';
}
