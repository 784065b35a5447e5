/* SPDX-License-Identifier: MIT */
#include "cli/check/process_memory.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/array.h"
#include "cli/check/process_environment.h"

/* Reads a line of /proc/PID/maps. Returns false if it isn't one, or without memory. */
static bool read_mapping(char *line, struct process_mapping *mapping)
{
	unsigned device_major, device_minor;
	char rights[5];
	int path_at = 0;
	line[strcspn(line, "\n")] = '\0';
	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %" SCNx64 " %x:%x %" SCNu64 " %n", &mapping->begin,
	           &mapping->end, rights, &mapping->offset_bytes, &device_major, &device_minor, &mapping->inode,
	           &path_at) < 7)
		return false;
	mapping->device = (uint64_t)device_major << 32 | device_minor;
	mapping->is_executable = rights[2] == 'x';
	mapping->path = strdup(path_at ? line + path_at : "");
	return mapping->path != NULL;
}

static bool read_mappings(pid_t id, struct process_memory *memory)
{
	char *line = NULL;
	size_t room = 0;
	bool complete = true;
	FILE *maps = fopen(process_path(id, "maps").text, "re");
	if (!maps)
		return false;
	errno = 0;
	while (complete && getline(&line, &room, maps) > 0) {
		struct process_mapping mapping = {0};
		complete = read_mapping(line, &mapping) &&
		           array_make_room(&memory->mappings, memory->mapping_count, sizeof(mapping));
		if (complete)
			memory->mappings[memory->mapping_count++] = mapping;
		else
			free(mapping.path);
	}
	complete = complete && !ferror(maps);
	int reason = errno;
	free(line);
	fclose(maps);
	errno = reason;
	return complete;
}

bool process_memory_open(pid_t id, struct process_memory *memory)
{
	*memory = (struct process_memory){.fd = -1};
	if (!read_mappings(id, memory))
		return false;
	memory->fd = open(process_path(id, "mem").text, O_RDONLY | O_CLOEXEC);
	return memory->fd >= 0;
}

void process_memory_close(struct process_memory *memory)
{
	if (memory->fd >= 0)
		close(memory->fd);
	for (size_t i = 0; i < memory->mapping_count; i++)
		free(memory->mappings[i].path);
	free(memory->mappings);
	*memory = (struct process_memory){.fd = -1};
}

bool process_memory_read(const struct process_memory *memory, uintptr_t address, void *out, size_t bytes)
{
	for (size_t done = 0; done < bytes;) {
		ssize_t got = pread(memory->fd, (char *)out + done, bytes - done, (off_t)(address + done));
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return false;
		done += (size_t)got;
	}
	return true;
}

void *process_memory_copy(const struct process_memory *memory, uintptr_t address, size_t bytes, size_t bytes_max)
{
	char *out = bytes <= bytes_max ? malloc(bytes + 1) : NULL;
	if (!out)
		return NULL;
	if (!process_memory_read(memory, address, out, bytes)) {
		free(out);
		return NULL;
	}
	out[bytes] = '\0';
	return out;
}
