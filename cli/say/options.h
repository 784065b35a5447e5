/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SAY_OPTIONS_H
#define TENACURL_CLI_SAY_OPTIONS_H

/*
 * The command line of a command, as one table: what getopt_long(3) is given, what --help prints, and what is said of
 * wrong usage. Texts aren't owned. One thread.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

/* What an option does to the field that is its. */
enum say_value {
	SAY_FLAG,  /* bool: true */
	SAY_TEXT,  /* const char *: the value, which isn't empty */
	SAY_COUNT, /* int64_t: a number above 0 */
	SAY_PID    /* int64_t: the same, and a pid_t */
};

struct say_option {
	const char *name;       /* of the long option; NULL: only the letter */
	char letter;            /* '\0': only the name */
	const char *value_name; /* as --help calls the value; NULL for a flag */
	enum say_value value;
	size_t at;        /* offset of the field in what the command hands over */
	const char *help; /* may have lines */
};

/* For tables: the row for a field. The last row of a table is {0}; --help (-h) is every command's. */
#define SAY_ROW(option, short_one, named, kind, type, field, text)                                                     \
	{                                                                                                              \
		.name = (option), .letter = (short_one), .value_name = (named), .value = (kind),                       \
		.at = offsetof(type, field), .help = (text)                                                            \
	}

struct say_command {
	const char *name;  /* as messages begin: "tenacurl last" */
	const char *forms; /* the ways to call it, one on each line */
	const char *about; /* what it does, lines */
	const struct say_option *options;
	const char *notes;       /* lines that --help has behind the options; NULL: none */
	void (*more)(FILE *out); /* what it prints behind them; NULL: nothing */
	const char *examples;    /* lines */
	const char *needs;       /* what is missing if there is no operand; NULL: it can do without */
	size_t operands_max;     /* 0: as many as there are */
	int wrong_usage;         /* exit statuses */
	int unwritable;
	bool takes_command; /* the first operand and all behind it are another program's words */
	bool has_none;      /* no operands at all */
};

#define SAY_GO_ON (-1)

/*
 * Reads a command line into the fields of `request`. `operands` gets what isn't options, wherever it stood, ended by
 * NULL; the array is argv's. Returns SAY_GO_ON, or the exit status: help was printed, or usage was wrong and that said.
 */
int say_read_options(const struct say_command *command, int argc, char **argv, void *request, char ***operands);

/* Says what is wrong, and where there is help. Returns the exit status for that. */
__attribute__((format(printf, 2, 3))) int say_wrong_usage(const struct say_command *command, const char *format, ...);

void say_help(FILE *out, const struct say_command *command);

#endif
