/* SPDX-License-Identifier: MIT */
#include "base/file.h"

#include <errno.h>
#include <unistd.h>

ssize_t file_read(int fd, void *bytes, size_t most_bytes)
{
	size_t used_bytes = 0;

	while (used_bytes < most_bytes) {
		ssize_t got_bytes = read(fd, (char *)bytes + used_bytes, most_bytes - used_bytes);
		if (got_bytes < 0 && errno == EINTR)
			continue;
		if (got_bytes < 0)
			return -1;
		if (got_bytes == 0)
			break;
		used_bytes += (size_t)got_bytes;
	}
	return (ssize_t)used_bytes;
}
