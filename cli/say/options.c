/* SPDX-License-Identifier: MIT */
#include "cli/say/options.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "cli/say/output.h"
#include "cli/say/plain_text.h"

/* A table's row is known to getopt as its number from here on; below are letters. */
enum { OPTIONS_MAX = 16, FIRST_ROW = 256 };

static const struct say_option HELP_OPTION = {.name = "help", .letter = 'h', .help = "print this text"};

/* What getopt_long is given. */
struct grammar {
	struct option names[OPTIONS_MAX + 2]; /* --help and the end */
	char letters[2 * OPTIONS_MAX + 5];
};

static bool is_end(const struct say_option *row)
{
	return !row->name && !row->letter;
}

static size_t row_count(const struct say_command *command)
{
	size_t count = 0;
	while (!is_end(&command->options[count]))
		count++;
	return count;
}

static const struct say_option *row_at(const struct say_command *command, size_t count, size_t i)
{
	return i < count ? &command->options[i] : &HELP_OPTION;
}

static void make_grammar(struct grammar *grammar, const struct say_command *command)
{
	size_t count = row_count(command), names = 0, letters = 0;
	/* "-": operands one by one, whatever POSIXLY_CORRECT says. ":": a missing value is told apart. */
	grammar->letters[letters++] = command->takes_command ? '+' : '-';
	grammar->letters[letters++] = ':';
	for (size_t i = 0; i <= count; i++) {
		const struct say_option *row = row_at(command, count, i);
		if (row->name)
			grammar->names[names++] = (struct option){
			    row->name, row->value_name ? required_argument : no_argument, NULL, FIRST_ROW + (int)i};
		if (row->letter)
			grammar->letters[letters++] = row->letter;
		if (row->letter && row->value_name)
			grammar->letters[letters++] = ':';
	}
	grammar->names[names] = (struct option){0};
	grammar->letters[letters] = '\0';
}

/* The row that getopt means, by its number or its letter; NULL: none. */
static const struct say_option *find_row(const struct say_command *command, int code)
{
	size_t count = row_count(command);
	for (size_t i = 0; i <= count; i++) {
		const struct say_option *row = row_at(command, count, i);
		if (code == FIRST_ROW + (int)i || (code && code == row->letter))
			return row;
	}
	return NULL;
}

static const char *option_text(const struct say_option *row, char text[static 32])
{
	if (row->name)
		snprintf(text, 32, "--%s", row->name);
	else
		snprintf(text, 32, "-%c", row->letter);
	return text;
}

int say_wrong_usage(const struct say_command *command, const char *format, ...)
{
	va_list arguments;
	char text[1024];
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	fprintf(stderr, "%s: %s\nTry '%s --help'.\n", command->name, plain_text(text), command->name);
	return command->wrong_usage;
}

/* Whether several names begin as `word` does, up to its "=". */
static bool is_ambiguous(const struct say_command *command, const char *word)
{
	size_t count = row_count(command), bytes = strcspn(word, "="), found = 0;
	for (size_t i = 0; bytes > 2 && i <= count; i++) {
		const struct say_option *row = row_at(command, count, i);
		found += row->name && strncmp(row->name, word + 2, bytes - 2) == 0;
	}
	return found > 1;
}

/* What getopt didn't take: `word` is where it stopped. */
static int refuse(const struct say_command *command, const char *word)
{
	const struct say_option *row = find_row(command, optopt);
	char text[32];
	if (row)
		return say_wrong_usage(command, "%s takes no value", option_text(row, text));
	if (optopt)
		return say_wrong_usage(command, "unrecognized option '-%c'", optopt);
	if (is_ambiguous(command, word))
		return say_wrong_usage(command, "'%s' can be several options", word);
	return say_wrong_usage(command, "unrecognized option '%.*s'", (int)strcspn(word, "="), word);
}

static int needs_value(const struct say_command *command, const struct say_option *row)
{
	char text[32];
	return say_wrong_usage(command, "%s needs a value: %s", option_text(row, text), row->value_name);
}

static bool read_number(const char *text, int64_t most, int64_t *number)
{
	char *end;
	errno = 0;
	*number = strtoll(text, &end, 10);
	return *text >= '0' && *text <= '9' && !*end && errno == 0 && *number > 0 && *number <= most;
}

static int set_field(const struct say_command *command, const struct say_option *row, void *request)
{
	void *field = (char *)request + row->at;
	char text[32];
	option_text(row, text);
	switch (row->value) {
	case SAY_FLAG:
		*(bool *)field = true;
		return SAY_GO_ON;
	case SAY_TEXT:
		*(const char **)field = optarg;
		return *optarg ? SAY_GO_ON : needs_value(command, row);
	case SAY_COUNT:
		if (read_number(optarg, INT64_MAX, field))
			return SAY_GO_ON;
		return say_wrong_usage(command, "%s needs a number above 0, not '%s'", text, optarg);
	case SAY_PID:
		if (read_number(optarg, INT32_MAX, field))
			return SAY_GO_ON;
		return say_wrong_usage(command, "%s needs the id of a process, not '%s'", text, optarg);
	}
	return SAY_GO_ON;
}

/* One answer of getopt's. */
static int take(const struct say_command *command, int code, const char *word, void *request)
{
	const struct say_option *row = find_row(command, code == ':' ? optopt : code);
	if (row == &HELP_OPTION) {
		say_help(stdout, command);
		return say_flush(command->name) ? 0 : command->unwritable;
	}
	if (code == ':')
		return needs_value(command, row);
	return row ? set_field(command, row, request) : refuse(command, word);
}

static int check_operands(const struct say_command *command, char **operands, size_t count)
{
	if (count == 0 && command->needs)
		return say_wrong_usage(command, "%s", command->needs);
	if (count && command->has_none)
		return say_wrong_usage(command, "what is '%s'?", operands[0]);
	if (command->operands_max && count > command->operands_max)
		return say_wrong_usage(command, "one too many: '%s'", operands[command->operands_max]);
	return SAY_GO_ON;
}

int say_read_options(const struct say_command *command, int argc, char **argv, void *request, char ***operands)
{
	struct grammar grammar;
	int count = 1, end = SAY_GO_ON;
	make_grammar(&grammar, command);
	optind = 0; /* getopt was used for the command before */
	opterr = 0;
	for (int code; (code = getopt_long(argc, argv, grammar.letters, grammar.names, NULL)) != -1;) {
		if (code == 1)
			argv[count++] = optarg; /* getopt is further on */
		else if ((end = take(command, code, argv[optind - 1], request)) != SAY_GO_ON)
			return end;
	}
	while (optind < argc)
		argv[count++] = argv[optind++];
	argv[count] = NULL;
	*operands = argv + 1;
	return check_operands(command, *operands, (size_t)count - 1);
}

static int label(const struct say_option *row, char text[static 64])
{
	char letter[4] = "  ";
	if (row->letter)
		snprintf(letter, sizeof(letter), "-%c", row->letter);
	return snprintf(text, 64, "  %s%s%s%s%s%s", letter,
	                !row->name    ? ""
	                : row->letter ? ", "
	                              : "  ",
	                row->name ? "--" : "", row->name ? row->name : "", row->value_name ? " " : "",
	                row->value_name ? row->value_name : "");
}

static void print_option(FILE *out, const struct say_option *row, int width)
{
	char text[64];
	const char *line = row->help;
	label(row, text);
	fprintf(out, "%-*s", width, text);
	for (size_t bytes; bytes = strcspn(line, "\n"), line[bytes]; line += bytes + 1)
		fprintf(out, "%.*s\n%*s", (int)bytes, line, width, "");
	fprintf(out, "%s\n", line);
}

static void print_options(FILE *out, const struct say_command *command)
{
	size_t count = row_count(command);
	int width = 0;
	char text[64];
	for (size_t i = 0; i <= count; i++) {
		int row_width = label(row_at(command, count, i), text) + 2;
		width = row_width > width ? row_width : width;
	}
	for (size_t i = 0; i <= count; i++)
		print_option(out, row_at(command, count, i), width);
}

/* Each line of `lines`, with something before it: `first` for the first one. */
static void print_lines(FILE *out, const char *first, const char *others, const char *lines)
{
	const char *start = first;
	for (const char *line = lines; *line; start = others) {
		size_t bytes = strcspn(line, "\n");
		fprintf(out, "%s%.*s\n", start, (int)bytes, line);
		line += bytes + (line[bytes] == '\n');
	}
}

void say_help(FILE *out, const struct say_command *command)
{
	print_lines(out, "Usage: ", "       ", command->forms);
	fputc('\n', out);
	print_lines(out, "", "", command->about);
	fputs("\nOptions:\n", out);
	print_options(out, command);
	if (command->notes) {
		fputc('\n', out);
		print_lines(out, "", "", command->notes);
	}
	if (command->more) {
		fputc('\n', out);
		command->more(out);
	}
	fputs("\nExamples:\n", out);
	print_lines(out, "  ", "  ", command->examples);
}
