/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "interpose/host/process.h"
#include "interpose/nesting/declared.h"

#define COMMAND_LINE_BYTES_MAX (1 << 20)
#define CONFIG_BYTES_MAX       (64 << 10)

static struct outer_curl curl_says;

/* 0, then the generation of the process in which a thread is reading what curl says, then READ. */
static _Atomic uint64_t stage;
#define READ UINT64_MAX

/* Reads the whole file; false if that is room_bytes or more, or a part of it can't be read. */
static bool read_all(int fd, char *buffer, size_t room_bytes, size_t *bytes)
{
	ssize_t count_bytes = file_read(fd, buffer, room_bytes);
	*bytes = count_bytes > 0 ? (size_t)count_bytes : 0;
	return count_bytes >= 0 && *bytes < room_bytes;
}

/* A config file is looked at before it is opened, since to open a named pipe lets its writer go on. */
static int open_regular(const char *path)
{
	struct stat status;

	if (stat(path, &status) != 0 || !S_ISREG(status.st_mode))
		return -1;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd >= 0 && fstat(fd, &status) == 0 && S_ISREG(status.st_mode))
		return fd;
	if (fd >= 0)
		close(fd);
	return -1;
}

static void read_config(const char *path)
{
	int fd = open_regular(path);
	if (fd < 0)
		return;
	char *text = malloc(CONFIG_BYTES_MAX + 1);
	size_t bytes;
	if (text && read_all(fd, text, CONFIG_BYTES_MAX + 1, &bytes))
		outer_layer_read_curl_config(&curl_says, text, bytes);
	free(text);
	close(fd);
}

/* Where curl looks for curlrc: tool_findfile.c, before 7.81 tool_homedir.c. */
static const struct curlrc_place {
	const char *variable;
	const char *file;
	bool without_xdg;           /* only if XDG_CONFIG_HOME isn't set */
	unsigned int since, before; /* versions; 0: any */
} curlrc_places[] = {
    {"CURL_HOME", "/.curlrc", false, 0, 0},
    {"XDG_CONFIG_HOME", "/.curlrc", false, 0x074900, 0x080a00},
    {"XDG_CONFIG_HOME", "/curlrc", false, 0x080a00, 0},
    {"HOME", "/.curlrc", false, 0, 0},
    {"CURL_HOME", "/.config/curlrc", true, 0x075200, 0},
    {"HOME", "/.config/curlrc", true, 0x075200, 0},
};

/* curl alone is asked, which doesn't change its environment. */
static const char *directory_in(const char *variable)
{
	const char *directory = secure_getenv(variable);
	return directory && directory[0] ? directory : NULL;
}

static bool is_looked_at(const struct curlrc_place *place, unsigned int version_number)
{
	if (version_number < place->since || (place->before != 0 && version_number >= place->before))
		return false;
	return !place->without_xdg || !directory_in("XDG_CONFIG_HOME");
}

/* curl takes the first that it can open, whatever it is. */
static void read_curlrc(unsigned int version_number)
{
	char *path = malloc(PATH_MAX);
	for (size_t i = 0; path && i < sizeof(curlrc_places) / sizeof(curlrc_places[0]); i++) {
		const struct curlrc_place *place = &curlrc_places[i];
		const char *directory = directory_in(place->variable);
		if (!directory || !is_looked_at(place, version_number))
			continue;
		int bytes = snprintf(path, PATH_MAX, "%s%s", directory, place->file);
		if (bytes < 0 || bytes >= PATH_MAX || access(path, R_OK) != 0)
			continue;
		read_config(path);
		break;
	}
	free(path);
}

static void open_config(void *context, const char *path)
{
	if (path)
		read_config(path);
	else
		read_curlrc(*(const unsigned int *)context);
}

static void read_command_line(unsigned int version_number)
{
	char *words = malloc(COMMAND_LINE_BYTES_MAX);
	int fd = open("/proc/self/cmdline", O_RDONLY | O_CLOEXEC);
	size_t bytes;
	if (words && fd >= 0 && read_all(fd, words, COMMAND_LINE_BYTES_MAX, &bytes)) {
		size_t first_bytes = strnlen(words, bytes);
		if (first_bytes < bytes)
			outer_layer_read_curl_words(&curl_says, words + first_bytes + 1, bytes - first_bytes - 1,
			                            open_config, &version_number);
	}
	if (fd >= 0)
		close(fd);
	free(words);
}

/* Returns false while another thread is at it. */
static bool read_once(unsigned int version_number)
{
	uint64_t seen = atomic_load_explicit(&stage, memory_order_acquire);
	if (seen == READ)
		return true;
	/* A thread of our parent that was at it doesn't exist here: then it is ours to do. */
	uint64_t mine = process_generation();
	if (seen == mine || !atomic_compare_exchange_strong(&stage, &seen, mine))
		return false;
	int cancel_state;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	curl_says = (struct outer_curl){.groups = 0};
	read_command_line(version_number);
	atomic_store_explicit(&stage, READ, memory_order_release);
	pthread_setcancelstate(cancel_state, &cancel_state);
	return true;
}

static void find_in_headers(const struct handle *handle, const struct policy_rules *rules, struct declared *declared)
{
	for (const struct curl_slist *header = handle->program.http_headers; header; header = header->next) {
		if (!header->data)
			continue;
		struct outer_header said = outer_layer_of_header(header->data, &rules->nested_headers);
		if (said.once) {
			declared->layer = NULL;
			return;
		}
		if (!said.layer || declared->layer)
			continue;
		declared->layer = said.layer;
		declared->kind = STATE_EVIDENCE_HEADER;
		snprintf(declared->evidence, sizeof(declared->evidence), "header:%s", said.name);
	}
}

static const char *executable(void)
{
	return process_names()[PROCESS_NAMES - 1];
}

bool declared_is_curl(const char *library)
{
	const char *program = executable();
	return program && strcmp(program, "curl") == 0 && (!library[0] || strcmp(library, program) == 0);
}

static void find_in_curl(const struct handle *handle, const char *library, struct declared *declared)
{
	if (!declared_is_curl(library))
		return;
	/* curl and libcurl come from one source. */
	unsigned int version_number = handle->libcurl->version_number;
	if (!read_once(version_number))
		return;
	declared->layer = outer_layer_of_curl(&curl_says, version_number);
	declared->kind = STATE_EVIDENCE_CURL;
	if (declared->layer)
		snprintf(declared->evidence, sizeof(declared->evidence), "%s:--retry",
		         curl_says.from_config ? "curlrc" : "argv");
}

static void find_by_name(const char *kind, const char *name, const struct policy_rules *rules,
                         struct declared *declared)
{
	if (declared->layer || !name || !name[0])
		return;
	declared->layer = outer_layer_of_program(name, &rules->nested_programs);
	declared->kind = STATE_EVIDENCE_PROGRAM;
	if (declared->layer)
		snprintf(declared->evidence, sizeof(declared->evidence), "%s:%s", kind, name);
}

void declared_find(const struct handle *handle, const struct policy_rules *rules, const char *library,
                   struct declared *declared)
{
	int saved_errno = errno;
	*declared = (struct declared){.layer = NULL};
	find_in_headers(handle, rules, declared);
	if (!declared->layer)
		find_in_curl(handle, library, declared);
	for (size_t i = 0; i < PROCESS_NAMES; i++)
		find_by_name("program", process_names()[i], rules, declared);
	find_by_name("library", library, rules, declared);
	errno = saved_errno;
}

uint64_t declared_invocation(const struct handle *handle, const struct policy_rules *rules)
{
	for (const struct curl_slist *header = handle->program.http_headers; header; header = header->next) {
		if (!header->data)
			continue;
		struct outer_header said = outer_layer_of_header(header->data, &rules->nested_headers);
		if (said.invocation != 0)
			return said.invocation;
	}
	return 0;
}
