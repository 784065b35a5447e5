/* SPDX-License-Identifier: MIT */
/*
 * Records of many processes and threads are interleaved in one file. An operation is known by process, program, run and
 * its number; what comes before its own record (that an outer retry layer came back, its attempts) is kept until then.
 * A pid can be used again, by a process that counts from 1 again: then the attempt numbers don't go on, and what was
 * kept is printed as it is.
 */
#include "cli/log/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli/log/records.h"
#include "cli/say/options.h"
#include "cli/say/output.h"

static const struct say_option OPTIONS[] = {{0}};

static const struct say_command COMMAND = {
    .name = "tenacurl log",
    .forms = "tenacurl log FILE...",
    .about = "Prints log records for people: each operation, and its attempts.\n"
             "\n"
             "FILE is a log as `log = FILE` or `tenacurl run --log FILE` makes it; - is standard input.",
    .options = OPTIONS,
    .examples = "tenacurl log audit.jsonl\n"
                "journalctl -t tenacurl -o cat | tenacurl log -\n",
    .needs = "which file? (- is standard input)",
    .wrong_usage = 2,
    .unwritable = 1,
};

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

int log_command(int argc, char **argv)
{
	char **files;
	int end = say_read_options(&COMMAND, argc, argv, NULL, &files);
	if (end != SAY_GO_ON)
		return end;

	struct log_reader reader = {.unfinished = json_object(), .colour = wants_colour()};
	struct records_seen seen = {0};
	for (; *files; files++)
		records_read(*files, COMMAND.name, take_record, &reader, &seen);
	print_unfinished(&reader);
	json_decref(reader.unfinished);
	bool flushed = say_flush(COMMAND.name);
	return records_conclude(&seen, COMMAND.name) && flushed ? 0 : 1;
}
