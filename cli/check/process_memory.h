/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_PROCESS_MEMORY_H
#define TENACURL_CLI_CHECK_PROCESS_MEMORY_H

/* The memory of another process, which goes on meanwhile. It isn't stopped, and nothing in it is changed. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct process_mapping {
	uintptr_t begin, end;
	uint64_t offset_bytes; /* in the file */
	uint64_t device;       /* as the kernel prints it; only good for comparing */
	uint64_t inode;        /* 0: no file */
	bool is_executable;
	char *path; /* as the kernel prints it, so with " (deleted)" behind it if the file is gone; "": none */
};

struct process_memory {
	int fd;
	struct process_mapping *mappings; /* by address */
	size_t mapping_count;
};

/*
 * Opens the memory of a process and reads what is mapped there. Returns false with errno set: EACCES or EPERM without
 * the right to, ESRCH or ENOENT if there is no such process. To be closed whatever is returned.
 */
bool process_memory_open(pid_t id, struct process_memory *memory);
void process_memory_close(struct process_memory *memory);

/* Copies `bytes` bytes from an address of the process. Returns false if they can't all be read. */
bool process_memory_read(const struct process_memory *memory, uintptr_t address, void *out, size_t bytes);

/* As process_memory_read into new memory, with a 0 behind it, to free(). NULL for more than `bytes_max`, too. */
void *process_memory_copy(const struct process_memory *memory, uintptr_t address, size_t bytes, size_t bytes_max);

#endif
