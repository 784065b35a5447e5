/* SPDX-License-Identifier: MIT */
/*
 * A program of root's may give up its rights before it transfers, and should still be able to tell. So root's file is
 * open for writing to all, in a directory that only root can list, under a name that can't be guessed: those who know
 * it have it from the environment of the program.
 */
#include "cli/check/watch_file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/array.h"
#include "interpose/bind/watch_format.h"

/* More than any program has to say; a hostile one could go on for ever. */
#define FILE_BYTES_MAX (4 * 1024 * 1024)

/* The fields of a line behind its kind: process, program, and then … */
enum { FIELD_ID, FIELD_PROGRAM, FIELD_FIRST };
enum { PROCESS_TENACURL = FIELD_FIRST, PROCESS_FIELDS };
enum { LIBCURL_PATH = FIELD_FIRST, LIBCURL_NODE, LIBCURL_FIELDS };
enum { CALL_OBJECT = FIELD_FIRST, CALL_WHEN, CALL_FUNCTION, CALL_TARGET, DATA_FIELDS };
enum { CALL_LIBCURL = DATA_FIELDS, CALL_HOW, CALL_FIELDS };

static bool make_directory(struct watch_file *file)
{
	const char *parent = getenv("TMPDIR");
	if (!parent || parent[0] != '/')
		parent = "/tmp";
	int bytes = snprintf(file->directory, sizeof(file->directory), "%s/tenacurl-check-XXXXXX", parent);
	if (bytes < 0 || (size_t)bytes + 32 >= sizeof(file->directory)) {
		errno = ENAMETOOLONG;
	} else if (mkdtemp(file->directory)) {
		return true;
	}
	file->directory[0] = '\0';
	return false;
}

bool watch_file_create(struct watch_file *file)
{
	uint64_t name;
	bool shared = geteuid() == 0;
	*file = (struct watch_file){.fd = -1};
	if (getrandom(&name, sizeof(name), 0) != (ssize_t)sizeof(name) || !make_directory(file))
		return false;
	size_t directory_bytes = strlen(file->directory);
	memcpy(file->path, file->directory, directory_bytes);
	snprintf(file->path + directory_bytes, sizeof(file->path) - directory_bytes, "/%016llx",
	         (unsigned long long)name);
	file->fd = open(file->path, O_RDONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600);
	return file->fd >= 0 && (!shared || (fchmod(file->fd, 0622) == 0 && chmod(file->directory, 0711) == 0));
}

void watch_file_remove(struct watch_file *file)
{
	if (file->fd >= 0) {
		close(file->fd);
		unlink(file->path);
	}
	if (file->directory[0])
		rmdir(file->directory);
	*file = (struct watch_file){.fd = -1};
}

/* Takes what is before the next `separator` out of *text, which then is what is behind it; NULL behind the last. */
static char *take(char **text, char separator)
{
	char *taken = *text;
	char *end = taken ? strchr(taken, separator) : NULL;
	if (end)
		*end = '\0';
	*text = end ? end + 1 : NULL;
	return taken;
}

static bool is_function(const char *name, bool *is_multi)
{
	*is_multi = strncmp(name, "curl_multi_", strlen("curl_multi_")) == 0;
	return *is_multi || strcmp(name, "curl_easy_perform") == 0;
}

static bool read_target(const char *name, enum watch_target *target)
{
	static const char *const NAMES[] = {[WATCH_TARGET_UNKNOWN] = WATCH_TO_UNKNOWN,
	                                    [WATCH_TARGET_PRELOAD] = WATCH_TO_PRELOAD,
	                                    [WATCH_TARGET_BINDER] = WATCH_TO_BINDER,
	                                    [WATCH_TARGET_LIBCURL] = WATCH_TO_LIBCURL};
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		if (strcmp(name, NAMES[i]) == 0) {
			*target = (enum watch_target)i;
			return true;
		}
	}
	return false;
}

static bool add_process(struct watch_log *log, long id, char **fields)
{
	if (!array_make_room(&log->processes, log->process_count, sizeof(*log->processes)))
		return false;
	log->processes[log->process_count++] = (struct watch_process){
	    .id = id,
	    .program = fields[FIELD_PROGRAM],
	    .has_tenacurl = strcmp(fields[PROCESS_TENACURL], WATCH_NO) != 0,
	    .is_switched_off = strcmp(fields[PROCESS_TENACURL], WATCH_OFF) == 0,
	};
	return true;
}

static bool add_libcurl(struct watch_log *log, long id, char **fields)
{
	if (!array_make_room(&log->libcurls, log->libcurl_count, sizeof(*log->libcurls)))
		return false;
	log->libcurls[log->libcurl_count++] = (struct watch_libcurl){
	    .process_id = id,
	    .program = fields[FIELD_PROGRAM],
	    .path = fields[LIBCURL_PATH],
	    .node = fields[LIBCURL_NODE],
	};
	return true;
}

static bool add_call(struct watch_log *log, long id, char **fields, bool is_data)
{
	struct watch_call call = {
	    .process_id = id,
	    .program = fields[FIELD_PROGRAM],
	    .object = fields[CALL_OBJECT],
	    .is_data = is_data,
	    .is_from_start = strcmp(fields[CALL_WHEN], WATCH_AT_START) == 0,
	    .is_by_dlsym = !is_data && strcmp(fields[CALL_HOW], WATCH_BY_DLSYM) == 0,
	    .libcurl = is_data ? "" : fields[CALL_LIBCURL],
	};
	if (!is_function(fields[CALL_FUNCTION], &call.is_multi) || !read_target(fields[CALL_TARGET], &call.target))
		return true;
	if (!array_make_room(&log->calls, log->call_count, sizeof(*log->calls)))
		return false;
	log->calls[log->call_count++] = call;
	return true;
}

/* What could do something to the terminal that it is printed on comes from no path that anybody wants to read of. */
static bool has_control_bytes(const char *line)
{
	for (; *line; line++)
		if (((unsigned char)*line < ' ' && *line != '\t') || *line == 0x7f)
			return true;
	return false;
}

/* Returns false without memory. */
static bool read_line(struct watch_log *log, char *line)
{
	char *fields[WATCH_FIELDS_MAX];
	char *end;
	size_t count = 0;
	if (has_control_bytes(line))
		return true;
	const char *kind = take(&line, '\t');
	while (line && count < WATCH_FIELDS_MAX)
		fields[count++] = take(&line, '\t');
	if (line || count < FIELD_FIRST)
		return true;
	long id = strtol(fields[FIELD_ID], &end, 10);
	if (id <= 0 || *end || fields[FIELD_PROGRAM][0] == '\0')
		return true;
	if (strcmp(kind, WATCH_PROCESS) == 0 && count == PROCESS_FIELDS)
		return add_process(log, id, fields);
	if (strcmp(kind, WATCH_LIBCURL) == 0 && count == LIBCURL_FIELDS)
		return add_libcurl(log, id, fields);
	if (strcmp(kind, WATCH_CALL) == 0 && count == CALL_FIELDS)
		return add_call(log, id, fields, false);
	if (strcmp(kind, WATCH_DATA) == 0 && count == DATA_FIELDS)
		return add_call(log, id, fields, true);
	return true;
}

/* Returns the file's text with a 0 behind it, cut to what is acceptable; NULL if it can't be read. */
static char *read_text(int fd)
{
	struct stat status;
	if (fstat(fd, &status) != 0)
		return NULL;
	size_t wanted = status.st_size < FILE_BYTES_MAX ? (size_t)status.st_size : FILE_BYTES_MAX;
	char *text = malloc(wanted + 1);
	if (!text)
		return NULL;
	ssize_t got = pread(fd, text, wanted, 0);
	text[got > 0 ? got : 0] = '\0';
	return text;
}

bool watch_file_read(const struct watch_file *file, struct watch_log *log)
{
	*log = (struct watch_log){.text = read_text(file->fd)};
	if (!log->text)
		return false;
	char *rest = log->text;
	/* What no newline is behind isn't a whole line. */
	while (rest && strchr(rest, '\n'))
		if (!read_line(log, take(&rest, '\n')))
			return false;
	return true;
}

void watch_log_free(struct watch_log *log)
{
	free(log->text);
	free(log->processes);
	free(log->libcurls);
	free(log->calls);
	*log = (struct watch_log){0};
}

const struct watch_process *watch_log_process(const struct watch_log *log, long id, const char *program)
{
	for (size_t i = 0; i < log->process_count; i++)
		if (log->processes[i].id == id && strcmp(log->processes[i].program, program) == 0)
			return &log->processes[i];
	return NULL;
}
