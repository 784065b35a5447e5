/* SPDX-License-Identifier: MIT */
#include "cli/run.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define DURATION_MS_MAX (INT64_C(365) * 24 * 3600 * 1000)
#define START_FIELD     22 /* of /proc/PID/stat, counted from 1: starttime, proc(5) */
#define STATE_FIELD     3  /* the first one behind the program's name */

struct unit {
	const char *name;
	int64_t ms;
};

static const struct unit UNITS[] = {{"", 1000}, {"s", 1000}, {"ms", 1}, {"m", 60000}, {"h", 3600000}, {"d", 86400000}};

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static bool find_unit(const char *name, int64_t *unit_ms)
{
	for (size_t i = 0; i < sizeof(UNITS) / sizeof(UNITS[0]); i++) {
		if (strcmp(name, UNITS[i].name) == 0) {
			*unit_ms = UNITS[i].ms;
			return true;
		}
	}
	return false;
}

/* The fraction's digits in nanounits; digits behind the ninth only matter in that they aren't zero. */
static int64_t read_fraction(const char **at)
{
	int64_t nano = 0, scale = 1000000000;
	bool rest = false;
	for (; is_digit(**at); ++*at) {
		scale /= 10;
		nano += (**at - '0') * scale;
		rest = rest || (scale == 0 && **at != '0');
	}
	return nano + rest;
}

bool run_parse_duration(const char *text, int64_t *duration_ms)
{
	const char *at = text;
	int64_t whole = 0, nano = 0, unit_ms;
	for (; is_digit(*at); at++) {
		whole = whole * 10 + (*at - '0');
		if (whole > DURATION_MS_MAX)
			return false;
	}
	if (*at == '.') {
		if (!is_digit(*++at))
			return false;
		nano = read_fraction(&at);
	} else if (at == text) {
		return false;
	}
	if (!find_unit(at, &unit_ms) || whole > DURATION_MS_MAX / unit_ms)
		return false;
	int64_t ms = whole * unit_ms + (nano * unit_ms + 999999999) / 1000000000;
	if (ms < 1 || ms > DURATION_MS_MAX)
		return false;
	*duration_ms = ms;
	return true;
}

/* Reads a small file of /proc into a terminated text. */
static bool read_proc(const char *path, char *out, size_t out_bytes)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	if (fd < 0)
		return false;
	ssize_t bytes = read(fd, out, out_bytes - 1);
	close(fd);
	if (bytes <= 0)
		return false;
	out[bytes] = '\0';
	return true;
}

static bool read_boot_id(char out[static DEADLINE_BOOT_ID_BYTES + 1])
{
	char text[DEADLINE_BOOT_ID_BYTES + 2];
	if (!read_proc("/proc/sys/kernel/random/boot_id", text, sizeof(text)))
		return false;
	text[strcspn(text, "\n")] = '\0';
	if (strlen(text) != DEADLINE_BOOT_ID_BYTES)
		return false;
	memcpy(out, text, DEADLINE_BOOT_ID_BYTES + 1);
	return true;
}

/* When the process started, in clock ticks after boot. False if there is no such process, or only its zombie. */
static bool read_start_time(int64_t pid, uint64_t *start)
{
	char path[64], stat_text[1024];
	snprintf(path, sizeof(path), "/proc/%lld/stat", (long long)pid);
	if (!read_proc(path, stat_text, sizeof(stat_text)))
		return false;
	const char *at = strrchr(stat_text, ')'); /* the name before it can hold anything, blanks and brackets too */
	if (!at || at[1] != ' ' || at[2] == 'Z' || at[2] == 'X')
		return false;
	for (int field = STATE_FIELD - 1; field < START_FIELD; field++) {
		at = strchr(at, ' ');
		if (!at)
			return false;
		at++;
	}
	char *end;
	errno = 0;
	*start = strtoull(at, &end, 10);
	return end != at && errno == 0;
}

bool run_deadline_is_live(const struct deadline_text *deadline)
{
	char boot_id[DEADLINE_BOOT_ID_BYTES + 1];
	uint64_t start;
	return read_boot_id(boot_id) && strcmp(boot_id, deadline->boot_id) == 0 &&
	       read_start_time(deadline->launcher_pid, &start) && start == deadline->launcher_start;
}

bool run_make_deadline(int64_t duration_ms, const struct deadline_text *inherited,
                       char out[static DEADLINE_TEXT_BYTES_MAX], struct run_error *error)
{
	struct timespec now;
	struct deadline_text own = {.launcher_pid = getpid()};
	if (clock_gettime(CLOCK_MONOTONIC, &now) != 0 || !read_boot_id(own.boot_id) ||
	    !read_start_time(own.launcher_pid, &own.launcher_start))
		return run_refuse(error, "--deadline needs /proc, which can't be read");
	own.deadline_ms = (int64_t)now.tv_sec * 1000 + now.tv_nsec / 1000000 + duration_ms;
	bool keep = inherited && inherited->deadline_ms < own.deadline_ms;
	deadline_text_format(keep ? inherited : &own, out);
	return true;
}
