/* SPDX-License-Identifier: MIT */
/*
 * Records of many processes and threads are interleaved in one file. An operation is known by process, program, run and
 * its number; what comes before its own record (that an outer retry layer came back, its attempts) is kept until then.
 * A pid can be used again, by a process that counts from 1 again: then the attempt numbers don't go on, and what was
 * kept is printed as it is.
 */
#include "cli/log.h"

#include <errno.h>
#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/records.h"

static const char COMMAND[] = "tenacurl log";

static const char HELP[] = "Usage: tenacurl log FILE...\n"
                           "Prints log records for people: each operation, and its attempts.\n"
                           "\n"
                           "FILE is a log as `log = FILE` or `tenacurl run --log FILE` makes it; - is standard input.\n"
                           "\n"
                           "  -h, --help   print this text\n";

struct log_reader {
	json_t *unfinished; /* key of an operation → its records so far, in order of appearance */
	bool colour;
};

/* Returns what names the operation of a record, to free(); NULL without memory. */
static char *operation_key(const json_t *record)
{
	char *key = NULL;
	int bytes = asprintf(&key, "%lld %lld %s %s", record_number(record, "pid"), record_number(record, "operation"),
	                     record_text(record, "run"), record_text(record, "program"));
	return bytes < 0 ? NULL : key;
}

static bool is_kind(const json_t *record, const char *kind)
{
	return strcmp(record_text(record, "kind"), kind) == 0;
}

/* Whether a record is of another operation than the records of the same key that came before it. */
static bool begins_anew(const json_t *earlier, const json_t *record)
{
	size_t count = json_array_size(earlier);
	if (!count)
		return false;
	const json_t *last = json_array_get(earlier, count - 1);
	return is_kind(record, "nested") || record_number(record, "attempt") <= record_number(last, "attempt");
}

static void keep(struct log_reader *reader, const char *key, json_t *record)
{
	json_t *records = json_object_get(reader->unfinished, key);
	if (begins_anew(records, record)) {
		log_print_operation(NULL, records, reader->colour);
		json_object_del(reader->unfinished, key);
		records = NULL;
	}
	if (!records) {
		records = json_array();
		json_object_set_new(reader->unfinished, key, records);
	}
	json_array_append(records, record);
}

/* A records_visitor. */
static void take_record(void *context, json_t *record)
{
	struct log_reader *reader = context;
	if (is_kind(record, "note")) {
		log_print_note(record, reader->colour);
		return;
	}
	char *key = operation_key(record);
	if (!key)
		return;
	if (is_kind(record, "operation")) {
		log_print_operation(record, json_object_get(reader->unfinished, key), reader->colour);
		json_object_del(reader->unfinished, key);
	} else {
		keep(reader, key, record);
	}
	free(key);
}

static void print_unfinished(struct log_reader *reader)
{
	const char *key;
	json_t *records;
	json_object_foreach(reader->unfinished, key, records)
	{
		log_print_operation(NULL, records, reader->colour);
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
	struct records_seen seen = {0};
	for (int i = first; i < argc; i++)
		records_read(argv[i], COMMAND, take_record, &reader, &seen);
	print_unfinished(&reader);
	json_decref(reader.unfinished);
	bool flushed = flush_output();
	return records_conclude(&seen, COMMAND) && flushed ? 0 : 1;
}
