/* SPDX-License-Identifier: MIT */
#include "cli/log/records.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/say/plain_text.h"
#include "log/record.h"

const char *record_text(const json_t *record, const char *name)
{
	const char *text = json_string_value(json_object_get(record, name));
	return text ? text : "";
}

long long record_number(const json_t *record, const char *name)
{
	return (long long)json_integer_value(json_object_get(record, name));
}

static bool is_record(const json_t *value)
{
	static const char *const KINDS[] = {"attempt", "operation", "nested", "note"};
	if (!json_is_object(value) || record_number(value, "schema") != RECORD_SCHEMA)
		return false;
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
		if (strcmp(record_text(value, "kind"), KINDS[i]) == 0)
			return true;
	return false;
}

static void take_line(const char *line, size_t line_bytes, records_visitor visit, void *context,
                      struct records_seen *seen)
{
	if (strspn(line, " \t\r\n") == line_bytes)
		return;
	json_error_t ignored;
	json_t *value = json_loadb(line, line_bytes, JSON_REJECT_DUPLICATES, &ignored);
	if (value && is_record(value)) {
		seen->records++;
		visit(context, value);
	} else {
		seen->foreign_lines++;
	}
	json_decref(value);
}

/* A log comes with its first record: one that isn't there, where it could be, is empty. errno is kept. */
static bool is_unwritten(const char *path)
{
	int reason = errno;
	const char *slash = strrchr(path, '/');
	char *directory = strndup(path, slash ? (size_t)(slash - path) + 1 : 0);
	bool could_be = reason == ENOENT && directory && access(slash ? directory : ".", X_OK) == 0;
	free(directory);
	errno = reason;
	return could_be;
}

void records_read(const char *path, const char *command, records_visitor visit, void *context,
                  struct records_seen *seen)
{
	bool standard_input = strcmp(path, "-") == 0;
	FILE *file = standard_input ? stdin : fopen(path, "re");
	char *line = NULL;
	size_t capacity_bytes = 0;
	ssize_t bytes = -1;
	if (file)
		while ((bytes = getline(&line, &capacity_bytes, file)) >= 0)
			take_line(line, (size_t)bytes, visit, context, seen);
	if (!file && is_unwritten(path)) {
		fprintf(stderr, "%s: '%s' isn't there: nothing was logged to it\n", command, plain_text(path));
	} else if (!file || ferror(file)) {
		fprintf(stderr, "%s: can't read '%s': %s\n", command, plain_text(path), strerror(errno));
		seen->unreadable_files++;
	}
	free(line);
	if (file && !standard_input)
		fclose(file);
}

bool records_conclude(const struct records_seen *seen, const char *command)
{
	if (seen->foreign_lines)
		fprintf(stderr, "%s: %zu line%s not a record of schema %d\n", command, seen->foreign_lines,
		        seen->foreign_lines == 1 ? " is" : "s are", RECORD_SCHEMA);
	return seen->records || (!seen->unreadable_files && !seen->foreign_lines);
}
