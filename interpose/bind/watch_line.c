/* SPDX-License-Identifier: MIT */
#include "interpose/bind/watch_line.h"

#include <linux/limits.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/bind/environment.h"
#include "interpose/bind/system.h"

#define DIGITS_MAX 20

/* Kept, since the program may overwrite its environment. */
static char file[PATH_MAX];
static char program[PATH_MAX];

bool watch_line_begin(void)
{
	const char *path = environment_get(WATCH_VARIABLE);
	size_t bytes = 0;
	if (!path || path[0] != '/')
		return false;
	while (path[bytes] && bytes < sizeof(file) - 1) {
		file[bytes] = path[bytes];
		bytes++;
	}
	if (path[bytes])
		return false;
	long program_bytes = system_read_link("/proc/self/exe", program, sizeof(program) - 1);
	program[program_bytes > 0 ? program_bytes : 0] = '\0';
	return true;
}

const char *watch_line_program(void)
{
	return program;
}

/* Writes the number's digits to the end of `out` and returns where they begin. */
static const char *digits_of(unsigned long number, char out[static DIGITS_MAX + 1])
{
	char *at = out + DIGITS_MAX;
	*at = '\0';
	do
		*--at = (char)('0' + number % 10);
	while (number /= 10);
	return at;
}

static struct iovec piece(const char *text)
{
	size_t bytes = 0;
	while (text[bytes])
		bytes++;
	return (struct iovec){(void *)(uintptr_t)text, bytes};
}

void watch_line_append(const char *kind, const char *const *fields)
{
	char digits[DIGITS_MAX + 1];
	/* The first line is written before the program runs, so before any fork. */
	static _Atomic(long) first_id;
	long id = atomic_load(&first_id);
	if (id == 0) {
		id = system_process_id();
		atomic_store(&first_id, id);
	}
	const char *const head[] = {kind, digits_of((unsigned long)id, digits), program, NULL};
	const char *const *const lists[] = {head, fields};
	struct iovec pieces[2 * WATCH_FIELDS_MAX];
	size_t count = 0;
	for (size_t list = 0; list < 2; list++) {
		for (const char *const *field = lists[list]; *field && count < 2 * WATCH_FIELDS_MAX; field++) {
			pieces[count++] = piece(*field);
			pieces[count++] = piece("\t");
		}
	}
	pieces[count - 1] = piece("\n");
	long fd = system_open(file, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return;
	system_write_pieces(fd, pieces, count);
	system_close(fd);
}
