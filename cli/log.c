/* SPDX-License-Identifier: MIT */
/*
 * Records of many processes and threads are interleaved in one file. An operation is known by process, program, run and
 * its number; its attempts are kept until its own record comes. A pid can be used again, by a process that counts from
 * 1 again: then the attempt numbers don't go on, and what was kept is printed as it is.
 */
#include "cli/log.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "log/record.h"

static const char HELP[] = "Usage: tenacurl log FILE...\n"
                           "Prints log records for people: each operation, and its attempts.\n"
                           "\n"
                           "FILE is a log as `log = FILE` or `tenacurl run --log FILE` makes it; - is standard input.\n"
                           "\n"
                           "  -h, --help   print this text\n";

struct log_reader {
	json_t *unfinished; /* key of an operation → array of its attempts, in order of appearance */
	bool colour;
	size_t records;
	size_t foreign_lines;
};

static const char *text_of(const json_t *record, const char *name)
{
	const char *text = json_string_value(json_object_get(record, name));
	return text ? text : "";
}

static long long number_of(const json_t *record, const char *name)
{
	return (long long)json_integer_value(json_object_get(record, name));
}

/* Returns what names the operation of a record, to free(); NULL without memory. */
static char *operation_key(const json_t *record)
{
	char *key = NULL;
	int bytes = asprintf(&key, "%lld %lld %s %s", number_of(record, "pid"), number_of(record, "operation"),
	                     text_of(record, "run"), text_of(record, "program"));
	return bytes < 0 ? NULL : key;
}

static void take_attempt(struct log_reader *reader, const char *key, json_t *attempt)
{
	json_t *attempts = json_object_get(reader->unfinished, key);
	size_t count = json_array_size(attempts);
	if (count && number_of(attempt, "attempt") <= number_of(json_array_get(attempts, count - 1), "attempt")) {
		log_print_operation(NULL, attempts, reader->colour);
		json_object_del(reader->unfinished, key);
		attempts = NULL;
	}
	if (!attempts) {
		attempts = json_array();
		json_object_set_new(reader->unfinished, key, attempts);
	}
	json_array_append(attempts, attempt);
}

static void take_record(struct log_reader *reader, json_t *record)
{
	const char *kind = text_of(record, "kind");
	if (strcmp(kind, "note") == 0) {
		log_print_note(record, reader->colour);
		return;
	}
	char *key = operation_key(record);
	if (!key)
		return;
	if (strcmp(kind, "attempt") == 0) {
		take_attempt(reader, key, record);
	} else {
		log_print_operation(record, json_object_get(reader->unfinished, key), reader->colour);
		json_object_del(reader->unfinished, key);
	}
	free(key);
}

static bool is_record(const json_t *value)
{
	static const char *const KINDS[] = {"attempt", "operation", "note"};
	if (!json_is_object(value) || number_of(value, "schema") != RECORD_SCHEMA)
		return false;
	for (size_t i = 0; i < sizeof(KINDS) / sizeof(KINDS[0]); i++)
		if (strcmp(text_of(value, "kind"), KINDS[i]) == 0)
			return true;
	return false;
}

static void take_line(struct log_reader *reader, const char *line, size_t line_bytes)
{
	if (strspn(line, " \t\r\n") == line_bytes)
		return;
	json_error_t ignored;
	json_t *value = json_loadb(line, line_bytes, JSON_REJECT_DUPLICATES, &ignored);
	if (value && is_record(value)) {
		reader->records++;
		take_record(reader, value);
	} else {
		reader->foreign_lines++;
	}
	json_decref(value);
}

/* Returns false, and says why, if the file can't be read to its end. */
static bool read_file(struct log_reader *reader, const char *path)
{
	bool standard_input = strcmp(path, "-") == 0;
	FILE *file = standard_input ? stdin : fopen(path, "re");
	char *line = NULL;
	size_t capacity_bytes = 0;
	ssize_t bytes = -1;
	if (file)
		while ((bytes = getline(&line, &capacity_bytes, file)) >= 0)
			take_line(reader, line, (size_t)bytes);
	bool whole = file && !ferror(file);
	if (!whole)
		fprintf(stderr, "tenacurl log: can't read '%s': %s\n", path, strerror(errno));
	free(line);
	if (file && !standard_input)
		fclose(file);
	return whole;
}

static void print_unfinished(struct log_reader *reader)
{
	const char *key;
	json_t *attempts;
	json_object_foreach(reader->unfinished, key, attempts)
	{
		log_print_operation(NULL, attempts, reader->colour);
	}
}

static bool wants_colour(void)
{
	const char *no_colour = getenv("NO_COLOR"); /* https://no-color.org */
	return isatty(STDOUT_FILENO) && !(no_colour && *no_colour);
}

/* The position of the first FILE; 0: help was printed; -1: usage error. */
static int parse_options(int argc, char **argv)
{
	static const struct option OPTIONS[] = {{"help", no_argument, NULL, 'h'}, {0}};
	optind = 0;
	for (int option; (option = getopt_long(argc, argv, "h", OPTIONS, NULL)) != -1;) {
		if (option != 'h')
			return -1;
		fputs(HELP, stdout);
		return 0;
	}
	if (optind == argc) {
		fputs("tenacurl log: which file? (- is standard input)\n", stderr);
		return -1;
	}
	return optind;
}

static bool flush_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	fprintf(stderr, "tenacurl log: can't write: %s\n", strerror(errno));
	return false;
}

int log_command(int argc, char **argv)
{
	char name[] = "tenacurl log";
	argv[0] = name;
	int first = parse_options(argc, argv);
	if (first < 0) {
		fputs("Try 'tenacurl log --help'.\n", stderr);
		return 2;
	}
	if (first == 0)
		return flush_output() ? 0 : 1;

	struct log_reader reader = {.unfinished = json_object(), .colour = wants_colour()};
	int unreadable = 0;
	for (int i = first; i < argc; i++)
		unreadable += !read_file(&reader, argv[i]);
	print_unfinished(&reader);
	json_decref(reader.unfinished);
	bool flushed = flush_output();
	if (reader.foreign_lines)
		fprintf(stderr, "tenacurl log: %zu line%s not a record of schema %d\n", reader.foreign_lines,
		        reader.foreign_lines == 1 ? " is" : "s are", RECORD_SCHEMA);
	bool nothing_read = !reader.records && (unreadable || reader.foreign_lines);
	return nothing_read || !flushed ? 1 : 0;
}
