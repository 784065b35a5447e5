/* SPDX-License-Identifier: MIT */
#include "cli/shell_text.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "cli/script_variables.h"

#define WORDS_MAX          256
#define HERE_DOCUMENTS_MAX 8
#define NESTING_MAX        32

struct reader {
	const char *at;
	const char *end;
	shell_text_visit visit;
	void *context;
	struct script_variables variables;
	char *here_documents[HERE_DOCUMENTS_MAX]; /* ends of those that begin at the next line */
	size_t here_document_count;
	unsigned nesting;
	bool failed;
};

/* A simple command while it is read. Words beyond WORDS_MAX are dropped: the name matters most. */
struct command {
	char *words[WORDS_MAX + 1];
	size_t count;
	char *assignments[WORDS_MAX + 1];                 /* lent by words */
	char *started[SCRIPT_PREFIX_MAX + WORDS_MAX + 1]; /* … and by the reader's variables */
};

struct word {
	char *bytes;
	size_t count;
	size_t room;
};

static void read_commands(struct reader *reader, char closer);

static int peek(const struct reader *reader, size_t ahead)
{
	return (size_t)(reader->end - reader->at) > ahead ? (unsigned char)reader->at[ahead] : -1;
}

static void append(struct reader *reader, struct word *word, char byte)
{
	if (word->count + 1 >= word->room) {
		size_t room = word->room ? word->room * 2 : 32;
		char *bytes = realloc(word->bytes, room);
		if (!bytes) {
			reader->failed = true;
			return;
		}
		word->bytes = bytes;
		word->room = room;
	}
	word->bytes[word->count++] = byte;
	word->bytes[word->count] = '\0';
}

static bool is_keyword(const char *word)
{
	static const char *const KEYWORDS[] = {"if", "then", "elif", "else", "do",      "while",   "until", "!",
	                                       "{",  "time", "exec", "eval", "command", "builtin", "coproc"};
	for (size_t i = 0; i < sizeof(KEYWORDS) / sizeof(KEYWORDS[0]); i++)
		if (strcmp(word, KEYWORDS[i]) == 0)
			return true;
	return false;
}

/* What follows these are no commands but values, patterns and names. */
static bool names_no_command(const char *word)
{
	static const char *const WORDS[] = {"for", "case", "select", "function", "[", "[["};
	for (size_t i = 0; i < sizeof(WORDS) / sizeof(WORDS[0]); i++)
		if (strcmp(word, WORDS[i]) == 0)
			return true;
	return false;
}

static void forget(struct command *command)
{
	for (size_t i = 0; i < command->count; i++)
		free(command->words[i]);
	command->count = 0;
}

static void finish(struct reader *reader, struct command *command)
{
	size_t first = 0, assigned = 0;
	for (; first < command->count; first++) {
		char *word = command->words[first];
		bool assigns = script_variables_is_assignment(word);
		if (!assigns && !is_keyword(word))
			break;
		if (assigns)
			command->assignments[assigned++] = word;
	}
	command->assignments[assigned] = NULL;
	command->words[command->count] = NULL;
	char **words = command->words + first;
	if (!script_variables_take(&reader->variables, command->assignments, words) && !names_no_command(words[0])) {
		size_t before = script_variables_prefix(&reader->variables, command->assignments, command->started);
		memcpy(command->started + before, words, (command->count - first + 1) * sizeof(*words));
		reader->visit(reader->context, command->started);
	}
	forget(command);
}

static void read_nested(struct reader *reader, size_t opening_bytes, char closer)
{
	reader->at += opening_bytes;
	if (reader->nesting == NESTING_MAX) {
		reader->failed = true;
		return;
	}
	struct script_variables outer = script_variables_copy(&reader->variables);
	reader->nesting++;
	read_commands(reader, closer);
	reader->nesting--;
	script_variables_free(&reader->variables);
	reader->variables = outer;
}

/* Reads a substitution if one begins here; what it would put in its place isn't known. */
static bool read_substitution(struct reader *reader, char closer)
{
	if (peek(reader, 0) == '$' && peek(reader, 1) == '(')
		read_nested(reader, 2, ')');
	else if (peek(reader, 0) == '`' && closer != '`')
		read_nested(reader, 1, '`');
	else
		return false;
	return true;
}

static void read_single_quoted(struct reader *reader, struct word *word)
{
	for (reader->at++; peek(reader, 0) >= 0 && peek(reader, 0) != '\''; reader->at++)
		append(reader, word, *reader->at);
	if (peek(reader, 0) == '\'')
		reader->at++;
}

static void read_double_quoted(struct reader *reader, struct word *word, char closer)
{
	reader->at++;
	while (!reader->failed && peek(reader, 0) >= 0 && peek(reader, 0) != '"') {
		if (read_substitution(reader, closer)) {
			append(reader, word, '$');
			continue;
		}
		if (peek(reader, 0) == '\\' && peek(reader, 1) >= 0)
			reader->at++;
		append(reader, word, *reader->at++);
	}
	if (peek(reader, 0) == '"')
		reader->at++;
}

static void read_variable(struct reader *reader, struct word *word)
{
	while (peek(reader, 0) >= 0 && peek(reader, 0) != '}')
		append(reader, word, *reader->at++);
	if (peek(reader, 0) == '}')
		append(reader, word, *reader->at++);
}

static bool ends_word(int byte, char closer)
{
	return byte < 0 || strchr(" \t\r\n;&|()<>", byte) || (byte == '`' && closer == '`');
}

/* Returns the next word without its quotes, to free(); NULL without memory. */
static char *read_word(struct reader *reader, char closer)
{
	struct word word = {0};
	append(reader, &word, '\0');
	word.count = 0;
	while (!reader->failed && !ends_word(peek(reader, 0), closer)) {
		if (read_substitution(reader, closer)) {
			append(reader, &word, '$');
		} else if (*reader->at == '\'') {
			read_single_quoted(reader, &word);
		} else if (*reader->at == '"') {
			read_double_quoted(reader, &word, closer);
		} else if (*reader->at == '$' && peek(reader, 1) == '{') {
			read_variable(reader, &word);
		} else if (*reader->at == '\\' && peek(reader, 1) == '\n') {
			reader->at += 2;
		} else {
			if (*reader->at == '\\' && peek(reader, 1) >= 0)
				reader->at++;
			append(reader, &word, *reader->at++);
		}
	}
	return word.bytes;
}

static void skip_blanks(struct reader *reader)
{
	while (peek(reader, 0) == ' ' || peek(reader, 0) == '\t')
		reader->at++;
}

static void read_redirection(struct reader *reader, char closer)
{
	bool opens_document = peek(reader, 0) == '<' && peek(reader, 1) == '<' && peek(reader, 2) != '<';
	if (peek(reader, 1) == '(') {
		read_nested(reader, 2, ')');
		return;
	}
	while (peek(reader, 0) >= 0 && strchr("<>&|-", peek(reader, 0)))
		reader->at++;
	skip_blanks(reader);
	char *target = read_word(reader, closer);
	if (opens_document && target && reader->here_document_count < HERE_DOCUMENTS_MAX)
		reader->here_documents[reader->here_document_count++] = target;
	else
		free(target);
}

/* Returns the next line, which isn't terminated, and goes behind it. */
static const char *next_line(struct reader *reader, size_t *byte_count)
{
	const char *line = reader->at;
	const char *newline = memchr(line, '\n', (size_t)(reader->end - line));
	*byte_count = (size_t)((newline ? newline : reader->end) - line);
	reader->at = newline ? newline + 1 : reader->end;
	return line;
}

static void skip_here_documents(struct reader *reader)
{
	for (size_t i = 0; i < reader->here_document_count; i++) {
		const char *delimiter = reader->here_documents[i];
		bool ended = false;
		while (!ended && reader->at < reader->end) {
			size_t bytes;
			const char *line = next_line(reader, &bytes);
			for (; bytes && *line == '\t'; bytes--)
				line++;
			ended = bytes == strlen(delimiter) && memcmp(line, delimiter, bytes) == 0;
		}
		free(reader->here_documents[i]);
	}
	reader->here_document_count = 0;
}

static void add_word(struct reader *reader, struct command *command, char closer)
{
	char *word = read_word(reader, closer);
	if (word && command->count < WORDS_MAX)
		command->words[command->count++] = word;
	else
		free(word);
}

/* "name()" declares a function; else a subshell begins. */
static void read_parenthesis(struct reader *reader, struct command *command)
{
	if (command->count == 1 && peek(reader, 1) == ')') {
		forget(command);
		reader->at += 2;
		return;
	}
	finish(reader, command);
	read_nested(reader, 1, ')');
}

/* Reads what isn't a word; returns false if a word begins here. */
static bool read_operator(struct reader *reader, struct command *command, char closer)
{
	size_t bytes;
	switch (peek(reader, 0)) {
	case ' ':
	case '\t':
	case '\r':
	case '\0':
		reader->at++;
		return true;
	case '#':
		next_line(reader, &bytes);
		reader->at -= reader->at[-1] == '\n';
		return true;
	case '\n':
		finish(reader, command);
		reader->at++;
		skip_here_documents(reader);
		return true;
	case ';':
	case '|':
		finish(reader, command);
		reader->at++;
		return true;
	case '&':
		reader->at++;
		if (peek(reader, 0) != '>')
			finish(reader, command);
		return true;
	case '(':
		read_parenthesis(reader, command);
		return true;
	case ')': /* behind a pattern of case */
		forget(command);
		reader->at++;
		return true;
	case '<':
	case '>':
		read_redirection(reader, closer);
		return true;
	case '\\':
		if (peek(reader, 1) != '\n')
			return false;
		reader->at += 2;
		return true;
	default:
		return false;
	}
}

/* Reads up to and with `closer`, or to the end for '\0'. */
static void read_commands(struct reader *reader, char closer)
{
	struct command *command = calloc(1, sizeof(*command));
	if (!command)
		reader->failed = true;
	while (!reader->failed && reader->at < reader->end) {
		if (closer && *reader->at == closer) {
			reader->at++;
			break;
		}
		if (!read_operator(reader, command, closer))
			add_word(reader, command, closer);
	}
	if (command && !reader->failed)
		finish(reader, command);
	if (command)
		forget(command);
	free(command);
}

void shell_text_commands(const char *text, size_t byte_count, shell_text_visit visit, void *context)
{
	struct reader reader = {.at = text, .end = text + byte_count, .visit = visit, .context = context};
	script_variables_begin(&reader.variables);
	read_commands(&reader, '\0');
	skip_here_documents(&reader);
	script_variables_free(&reader.variables);
}
