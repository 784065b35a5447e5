/* SPDX-License-Identifier: MIT */
#include "cli/check/script_words.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define WORDS_MAX    256
#define INDIRECT_MAX 8

/* What starts programs without our environment: always, or with one of these words or options behind it. */
static const struct clearing {
	const char *name;
	const char *words;   /* NULL: always */
	const char *except;  /* a word with which it doesn't after all; NULL: none */
	const char *letters; /* instead of words: of options before the first operand, also among others ("-vi") */
	const char *valued;  /* letters of those that take a value */
} CLEARING[] = {
    {.name = "sudo"},
    {.name = "doas"},
    {.name = "pkexec"},
    {.name = "env", .words = "- --ignore-environment", .letters = "i", .valued = "uCS"},
    {.name = "exec", .words = "", .letters = "c", .valued = "a"},
    {.name = "su", .words = "- -l --login"},
    {.name = "runuser", .words = "- -l --login"},
    {.name = "setpriv", .words = "--reset-env"},
    {.name = "systemd-run", .except = "--scope"},
    {.name = "chroot"},
    {.name = "ssh"},
    {.name = "pdsh"},
    {.name = "pssh"},
    {.name = "parallel-ssh"},
    {.name = "mosh"},
    {.name = "adb"},
    {.name = "vagrant"},
    {.name = "docker"},
    {.name = "docker-compose"},
    {.name = "podman"},
    {.name = "podman-compose"},
    {.name = "nerdctl"},
    {.name = "crictl"},
    {.name = "kubectl"},
    {.name = "oc"},
    {.name = "machinectl"},
    {.name = "systemd-nspawn"},
    {.name = "flatpak"},
    {.name = "lxc"},
    {.name = "incus"},
    {.name = "lxc-attach"},
};

struct reader {
	const char *at;
	const char *end;
	enum script_kind kind;
	script_words_visit visit;
	void *context;
	char *words[WORDS_MAX + 1]; /* of a command; owned. More are dropped */
	bool is_cut[WORDS_MAX], is_quoted[WORDS_MAX], is_assigned[WORDS_MAX];
	size_t count;
	const char *cleared_by; /* from the command before, within the same quotes */
	char quote;             /* the open one; '\0': none */
	struct script_doubts *doubts;
	struct indirect {
		char name[64];
		const char *clears; /* the environment, for what stands behind the variable */
	} variables[INDIRECT_MAX];
	size_t variable_count;
};

/* Whether `word` is in a list with blanks between. */
static bool is_listed(const char *list, const char *word)
{
	size_t bytes = strlen(word);
	for (const char *at = list; (at = strstr(at, word)); at += bytes)
		if ((at == list || at[-1] == ' ') && (at[bytes] == ' ' || !at[bytes]))
			return true;
	return false;
}

static bool has_one_of(char **words, const char *list)
{
	for (; *words; words++)
		if (**words && is_listed(list, *words))
			return true;
	return false;
}

/* Whether an option before the first operand is one of the row's letters or words. */
static bool has_option(const struct clearing *row, char **words)
{
	for (; *words && **words == '-'; words++) {
		const char *at = *words + 1;
		if (is_listed(row->words, *words))
			return true;
		if (*at == '-')
			continue;
		for (; *at && !strchr(row->valued, *at); at++)
			if (strchr(row->letters, *at))
				return true;
		if (*at && !at[1] && words[1])
			words++;
	}
	return false;
}

static bool is_clearing(const struct clearing *row, char **words)
{
	if (row->except && has_one_of(words, row->except))
		return false;
	if (row->letters)
		return has_option(row, words);
	return !row->words || has_one_of(words, row->words);
}

const char *script_words_clear(char **words)
{
	const char *name = basename(words[0]);
	for (size_t i = 0; i < sizeof(CLEARING) / sizeof(CLEARING[0]); i++)
		if (strcmp(CLEARING[i].name, name) == 0)
			return is_clearing(&CLEARING[i], words + 1) ? CLEARING[i].name : NULL;
	return NULL;
}

static bool is_run(char **words)
{
	return strcmp(basename(words[0]), "tenacurl") == 0 && words[1] && strcmp(words[1], "run") == 0;
}

/* SUDO=sudo, SUDO="sudo -n": the variable's name stands before what clears. */
static void note_variables(struct reader *reader)
{
	for (size_t i = 1; i < reader->count; i++) {
		const char *name = reader->is_assigned[i] ? script_words_clear(reader->words + i) : NULL;
		size_t at = reader->variable_count;
		if (!name || at == INDIRECT_MAX)
			continue;
		snprintf(reader->variables[at].name, sizeof(reader->variables[at].name), "%s", reader->words[i - 1]);
		reader->variables[at].clears = name;
		reader->variable_count++;
	}
}

/* Hands the words of a command on. What clears the environment does so for all that is in the same quotes. */
static void finish(struct reader *reader)
{
	const char *cleared_by = reader->cleared_by;
	bool is_within = cleared_by != NULL; /* its quotes */
	reader->words[reader->count] = NULL;
	note_variables(reader);
	for (size_t i = 0; i < reader->count; i++) {
		char **words = reader->words + i;
		bool is_sourced = i > 0 && is_listed(". source", words[-1]);
		const struct script_word_seen seen = {words, is_sourced, reader->is_cut[i], cleared_by};
		reader->visit(reader->context, &seen);
		if (is_run(words)) {
			cleared_by = NULL;
		} else if (!cleared_by && script_words_clear(words)) {
			cleared_by = script_words_clear(words);
			is_within = !reader->is_quoted[i];
		}
	}
	reader->cleared_by = reader->quote && is_within ? cleared_by : NULL;
	/* An apostrophe of a text isn't closed: it counts for its line. */
	if (!reader->cleared_by && (reader->at == reader->end || *reader->at == '\n'))
		reader->quote = '\0';
	for (size_t i = 0; i < reader->count; i++)
		free(reader->words[i]);
	reader->count = 0;
}

/* A word before it is there. */
static bool follows_assignment(const char *word)
{
	return word[-1] == '=' || (strchr("'\"", word[-1]) && word[-2] == '=');
}

static void add_word(struct reader *reader, const char *start, bool is_cut)
{
	char *word = reader->count < WORDS_MAX ? strndup(start, (size_t)(reader->at - start)) : NULL;
	if (!word)
		return;
	reader->is_cut[reader->count] = is_cut;
	reader->is_assigned[reader->count] = reader->count && follows_assignment(start);
	reader->is_quoted[reader->count] = reader->quote != '\0';
	reader->words[reader->count++] = word;
}

static bool is_name(char byte)
{
	return isalnum((unsigned char)byte) || byte == '_';
}

/* What separates words: blanks, quotes, and whatever has a meaning in shells, Makefiles and lists of words. */
static bool is_separator(char byte)
{
	return byte == '\0' || isspace((unsigned char)byte) || strchr("'\"`$(){}[];&|<>=,\\", byte);
}

static bool begins_comment(const struct reader *reader, const char *text)
{
	return *reader->at == '#' &&
	       (reader->at == text || isspace((unsigned char)reader->at[-1]) || reader->at[-1] == ';');
}

/* What clears the environment for what comes next in the command; NULL: nothing. */
static const char *clears_so_far(struct reader *reader)
{
	const char *clears = NULL;
	reader->words[reader->count] = NULL;
	for (size_t i = 0; i < reader->count; i++) {
		if (is_run(reader->words + i))
			clears = NULL;
		else if (!clears)
			clears = script_words_clear(reader->words + i);
	}
	return clears;
}

/* "$@", "$*", "$0" */
static bool is_handed_on(const struct reader *reader, const char *name, size_t bytes)
{
	if (reader->kind != SCRIPT_SHELL)
		return false; /* make's target */
	return bytes == 0 ? name < reader->end && (*name == '@' || *name == '*') : bytes == 1 && *name == '0';
}

/* What `sudo "$@"` and `$SUDO curl` start can't be seen here. */
static void note_use(struct reader *reader, const char *name, size_t bytes)
{
	const char *clears = is_handed_on(reader, name, bytes) ? clears_so_far(reader) : NULL;
	for (size_t i = 0; i < reader->variable_count; i++)
		if (strlen(reader->variables[i].name) == bytes && memcmp(reader->variables[i].name, name, bytes) == 0)
			clears = reader->variables[i].clears;
	if (clears)
		reader->doubts->indirect = clears;
}

/* A variable, and what stands between it and the value that it has otherwise: "${CURL:-curl}". */
static void skip_variable(struct reader *reader)
{
	bool is_braced = ++reader->at < reader->end && *reader->at == '{';
	reader->at += is_braced;
	const char *name = reader->at;
	while (reader->at < reader->end && is_name(*reader->at))
		reader->at++;
	note_use(reader, name, (size_t)(reader->at - name));
	if (is_braced && reader->at < reader->end && *reader->at == ':')
		reader->at++;
	if (is_braced && reader->at < reader->end && strchr("-=+?", *reader->at))
		reader->at++;
}

/* Whether a command ends here. Outside of the quotes in which something cleared the environment that is over, too. */
static bool ends_command(struct reader *reader)
{
	char byte = *reader->at;
	if (byte == '\'' || byte == '"') {
		if (!reader->quote)
			reader->quote = byte;
		else if (reader->quote == byte)
			reader->quote = '\0';
	}
	return byte == '\n' || byte == ';' || byte == '|' || byte == '&' || byte == '(' || byte == ')' || byte == '`';
}

/* In a program's code, only what begins a text in quotes. */
static bool may_be_program(const struct reader *reader, const char *text)
{
	return reader->kind != SCRIPT_CODE || reader->count ||
	       (reader->at > text && strchr("'\"`", reader->at[-1]) != NULL);
}

static void read_word(struct reader *reader, const char *text)
{
	const char *start = reader->at;
	bool is_cut = start > text && (is_name(start[-1]) || start[-1] == '}' || start[-1] == ')');
	bool counts = may_be_program(reader, text);
	if (reader->kind == SCRIPT_MAKE)
		start += strspn(start, "@-+");
	while (reader->at < reader->end && !is_separator(*reader->at))
		reader->at++;
	if (counts && reader->at > start)
		add_word(reader, start, is_cut);
}

/* A change keeps what was there if it names that. */
static void note_change(struct reader *reader, const char *text)
{
	static const char *const VARIABLES[] = {"LD_PRELOAD", "TENACURL_DISABLE"};
	for (size_t i = 0; i < sizeof(VARIABLES) / sizeof(VARIABLES[0]); i++) {
		size_t bytes = strlen(VARIABLES[i]);
		bool is_read = reader->at > text && strchr("${", reader->at[-1]);
		if (is_read || (size_t)(reader->end - reader->at) < bytes ||
		    memcmp(reader->at, VARIABLES[i], bytes) != 0)
			continue;
		size_t line_bytes = strcspn(reader->at + bytes, " \t\n;");
		bool keeps = memmem(reader->at + bytes, line_bytes, "$LD_PRELOAD", 11) ||
		             memmem(reader->at + bytes, line_bytes, "${LD_PRELOAD", 12) ||
		             memmem(reader->at + bytes, line_bytes, "libtenacurl", 11);
		if (!keeps)
			reader->doubts->changed = VARIABLES[i];
	}
}

/* Whether words of the command give what clears the environment a shell, which then reads what follows. */
static bool starts_shell(struct reader *reader, const char *clears)
{
	bool found = is_listed("ssh su", clears);
	for (size_t i = 0; i < reader->count; i++)
		found |= is_listed("sh bash dash ash zsh ksh", basename(reader->words[i]));
	return found;
}

/* "sudo sh <<END": what stands in the here-document is started there. */
static void note_here_document(struct reader *reader)
{
	bool is_one =
	    *reader->at == '<' && reader->end - reader->at > 2 && reader->at[1] == '<' && reader->at[2] != '<';
	const char *clears = is_one ? clears_so_far(reader) : NULL;
	if (clears && starts_shell(reader, clears))
		reader->doubts->indirect = clears;
}

static void read_next(struct reader *reader, const char *text)
{
	if (begins_comment(reader, text)) {
		while (reader->at < reader->end && *reader->at != '\n')
			reader->at++;
	} else if (*reader->at == '$' && reader->at + 1 < reader->end && reader->at[1] != '(') {
		skip_variable(reader);
	} else if (*reader->at == '\\') {
		bool is_escape = reader->at + 1 < reader->end && strchr("\n\"'$` ", reader->at[1]);
		reader->at += is_escape ? 2 : 1;
	} else if (is_separator(*reader->at)) {
		note_here_document(reader);
		if (ends_command(reader))
			finish(reader);
		reader->at++;
	} else {
		note_change(reader, text);
		read_word(reader, text);
	}
}

void script_words(const char *text, size_t byte_count, enum script_kind kind, script_words_visit visit, void *context,
                  struct script_doubts *doubts)
{
	struct reader reader = {
	    .at = text, .end = text + byte_count, .kind = kind, .visit = visit, .context = context, .doubts = doubts};
	while (reader.at < reader.end)
		read_next(&reader, text);
	finish(&reader);
}
