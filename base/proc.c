/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/proc.h"

#define START_FIELD 22 /* of /proc/PID/stat, counted from 1: starttime */

ssize_t proc_read(const char *path, char *text, size_t room_bytes)
{
	int cancel_state;
	/* A thread that is cancelled here would leave the descriptor open. */
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t count_bytes = fd < 0 ? -1 : read(fd, text, room_bytes - 1);
	if (fd >= 0)
		close(fd);
	pthread_setcancelstate(cancel_state, &cancel_state);
	if (count_bytes >= 0)
		text[count_bytes] = '\0';
	return count_bytes;
}

bool proc_find(int64_t pid, struct proc_stat *found)
{
	char path[40], text[512]; /* 22 numbers and a name of 16 bytes are less */
	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	if (proc_read(path, text, sizeof(text)) < 0)
		return false;
	errno = ENODATA;
	const char *field = strrchr(text, ')'); /* the name before it can hold anything */
	if (!field || field[1] != ' ')
		return false;
	found->state = field[2];
	found->parent = strtoll(field + 3, NULL, 10);
	for (int number = 2; field && number < START_FIELD; number++)
		field = strchr(field + 1, ' ');
	if (field)
		found->start_ticks = strtoull(field + 1, NULL, 10);
	return field != NULL;
}
