/* SPDX-License-Identifier: MIT */
#include "cli/launch/subject.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define WORD_BYTES_MAX 256

/* Returns the content of a regular file, with a 0 behind it, to free(); NULL for all else. */
static char *read_regular_file(const char *path, size_t *byte_count)
{
	struct stat file;
	char *bytes = NULL;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return NULL;
	if (fstat(fd, &file) == 0 && S_ISREG(file.st_mode) && file.st_size <= SUBJECT_FILE_BYTES_MAX)
		bytes = malloc((size_t)file.st_size + 1);
	size_t done = 0;
	while (bytes && done < (size_t)file.st_size) {
		ssize_t got = read(fd, bytes + done, (size_t)file.st_size - done);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			break;
		done += (size_t)got;
	}
	close(fd);
	if (bytes)
		bytes[done] = '\0';
	*byte_count = done;
	return bytes;
}

const struct subject_text *subject_text_of(const struct subject *subject, const char *path)
{
	for (size_t i = 0; i < subject->text_count; i++)
		if (strcmp(subject->texts[i].path, path) == 0)
			return &subject->texts[i];
	return NULL;
}

static void add_text(struct subject *subject, const char *path)
{
	if (subject->text_count == SUBJECT_TEXTS_MAX || subject_text_of(subject, path))
		return;
	struct subject_text *text = &subject->texts[subject->text_count];
	text->bytes = read_regular_file(path, &text->byte_count);
	if (!text->bytes)
		return;
	text->path = strdup(path);
	if (text->path)
		subject->text_count++;
	else
		free(text->bytes);
}

/* An argument can name a file by itself ("job.php"), behind its option ("-fjob.conf", "--config=x") or behind "@". */
static void add_texts_of_argument(struct subject *subject, const char *argument)
{
	const char *equals = strchr(argument, '=');
	add_text(subject, argument);
	if (equals)
		add_text(subject, equals + 1);
	if (argument[0] == '-' && argument[1] && argument[1] != '-')
		add_text(subject, argument + 2);
	if (argument[0] == '@')
		add_text(subject, argument + 1);
}

bool subject_read(const struct launch *launch, struct subject *subject)
{
	*subject = (struct subject){.arguments = launch->arguments};
	char *real_path = realpath(launch->path, NULL);
	subject->name = strdup(basename(launch->path));
	subject->real_name = strdup(basename(real_path ? real_path : launch->path));
	free(real_path);
	if (launch->script)
		add_text(subject, launch->script);
	for (size_t i = 0; launch->arguments && launch->arguments[i]; i++)
		add_texts_of_argument(subject, launch->arguments[i]);
	return subject->name && subject->real_name;
}

void subject_free(struct subject *subject)
{
	for (size_t i = 0; i < subject->text_count; i++) {
		free(subject->texts[i].path);
		free(subject->texts[i].bytes);
	}
	free(subject->name);
	free(subject->real_name);
	*subject = (struct subject){0};
}

bool subject_is(const struct subject *subject, const char *glob_pattern)
{
	return fnmatch(glob_pattern, subject->name, 0) == 0 || fnmatch(glob_pattern, subject->real_name, 0) == 0;
}

static bool is_word_byte(int byte)
{
	return isalnum(byte) || byte == '_';
}

static bool occurs_in(const char *bytes, size_t byte_count, const char *word, bool whole)
{
	size_t word_bytes = strlen(word);
	const char *end = bytes + byte_count, *at = bytes;
	while ((at = memmem(at, (size_t)(end - at), word, word_bytes))) {
		bool begins = at == bytes || !is_word_byte((unsigned char)at[-1]);
		bool ends = at + word_bytes == end || !is_word_byte((unsigned char)at[word_bytes]);
		if (!whole || (begins && ends))
			return true;
		at++;
	}
	return false;
}

static bool occurs(const struct subject *subject, const char *word, bool whole)
{
	for (size_t i = 0; subject->arguments && subject->arguments[i]; i++)
		if (occurs_in(subject->arguments[i], strlen(subject->arguments[i]), word, whole))
			return true;
	for (size_t i = 0; i < subject->text_count; i++)
		if (occurs_in(subject->texts[i].bytes, subject->texts[i].byte_count, word, whole))
			return true;
	return false;
}

/* Whether the argument is a row of short options ("-sZ") with this letter among them. */
static bool has_letter(const char *argument, char letter)
{
	if (argument[0] != '-' || argument[1] == '-')
		return false;
	for (const char *at = argument + 1; *at; at++)
		if (!isalpha((unsigned char)*at))
			return false;
	return strchr(argument + 1, letter) != NULL;
}

static bool has_option(const struct subject *subject, const char *option)
{
	size_t bytes = strlen(option);
	for (size_t i = 0; subject->arguments && subject->arguments[i]; i++) {
		const char *argument = subject->arguments[i];
		if (strncmp(argument, option, bytes) == 0 && (argument[bytes] == '\0' || argument[bytes] == '='))
			return true;
		if (bytes == 2 && has_letter(argument, option[1]))
			return true;
	}
	return false;
}

static bool is_there(const char *pattern)
{
	glob_t found;
	bool any = glob(pattern, GLOB_NOSORT, NULL, &found) == 0;
	if (any)
		globfree(&found);
	return any;
}

/* "libapache2-mod_auth.so.1" and "/usr/lib/collectd/curl.so" are spoken of as "auth" and "curl". */
static void stem_of(const char *object, char stem[static WORD_BYTES_MAX])
{
	const char *name = basename(object);
	const char *module = strstr(name, "mod_");
	if (module)
		name = module + strlen("mod_");
	else if (strncmp(name, "lib", 3) == 0)
		name += 3;
	size_t bytes = strcspn(name, ".");
	if (bytes >= WORD_BYTES_MAX)
		bytes = WORD_BYTES_MAX - 1;
	memcpy(stem, name, bytes);
	stem[bytes] = '\0';
}

static bool has_word(const struct subject *subject, const char *word, const char *object)
{
	if (word[0] == '@')
		return is_there(word + 1);
	if (word[0] == '-')
		return has_option(subject, word);
	if (strcmp(word, "*") != 0)
		return occurs(subject, word, false);
	char stem[WORD_BYTES_MAX];
	stem_of(object, stem);
	return stem[0] && occurs(subject, stem, true);
}

/* All of the words between `words` and `end`, which '&' joins. */
static bool has_all(const struct subject *subject, const char *words, const char *end, const char *object)
{
	while (words < end) {
		const char *joint = memchr(words, '&', (size_t)(end - words));
		size_t bytes = (size_t)((joint ? joint : end) - words);
		char word[WORD_BYTES_MAX] = "";
		if (bytes == 0 || bytes >= sizeof(word))
			return false;
		memcpy(word, words, bytes);
		if (!has_word(subject, word, object))
			return false;
		words += bytes + 1;
	}
	return true;
}

bool subject_has(const struct subject *subject, const char *words, const char *object)
{
	if (!words)
		return true;
	while (*words) {
		size_t bytes = strcspn(words, "|");
		if (has_all(subject, words, words + bytes, object))
			return true;
		words += bytes + (words[bytes] == '|');
	}
	return false;
}
