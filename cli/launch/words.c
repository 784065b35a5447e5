/* SPDX-License-Identifier: MIT */
#include "cli/launch/words.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "config/variable.h"
#include "interpose/bind/bind.h"

#define SWITCH "TENACURL_DISABLE"

/* One launcher's command line as it is read. */
struct reading {
	const struct launcher *launcher;
	struct launcher_effects *effects;
	struct launch_words *words;
	size_t at;          /* the word that is looked at */
	bool shell;         /* its command is one for a shell */
	bool direct;        /* it has one of the options without which it starts a shell */
	bool keeps;         /* … which keep the environment */
	char *split;        /* env -S: what is to be split into words; NULL: nothing */
	const char *target; /* the process whose root it goes to; NULL: none is named */
	bool enters;        /* it goes there */
};

bool launch_words_prepend(struct launch_words *words, char *const *head)
{
	size_t added = 0, copied = 0;
	while (head[added])
		added++;
	char **larger = calloc(added + words->count + 1, sizeof(*larger));
	if (!larger)
		return false;
	for (; copied < added; copied++)
		if (!(larger[copied] = strdup(head[copied])))
			break;
	if (copied < added) {
		while (copied)
			free(larger[--copied]);
		free(larger);
		return false;
	}
	if (words->count)
		memcpy(larger + added, words->at, words->count * sizeof(*larger));
	free(words->at);
	words->at = larger;
	words->count += added;
	return true;
}

void launch_words_drop(struct launch_words *words, size_t count)
{
	if (count > words->count)
		count = words->count;
	for (size_t i = 0; i < count; i++)
		free(words->at[i]);
	if (words->at)
		memmove(words->at, words->at + count, (words->count - count + 1) * sizeof(*words->at));
	words->count -= count;
}

char **launch_words_take(struct launch_words *words)
{
	char **taken = words->at ? words->at : calloc(1, sizeof(*taken));
	*words = (struct launch_words){0};
	return taken;
}

void launch_words_free(struct launch_words *words)
{
	launch_words_drop(words, words->count);
	free(words->at);
	*words = (struct launch_words){0};
}

void launch_free_words(char **words)
{
	for (size_t i = 0; words && words[i]; i++)
		free(words[i]);
	free(words);
}

void launcher_effects_free(struct launcher_effects *effects)
{
	free(effects->search_path);
	free(effects->directory);
	free(effects->root);
	*effects = (struct launcher_effects){0};
}

static bool has(const char *letters, char letter)
{
	return letters && letter && strchr(letters, letter);
}

/* Forgetting one of these for want of memory would be a wrong answer, but no worse than any other. */
static void keep(char **text, const char *value)
{
	free(*text);
	*text = strdup(value);
}

static void take_option(struct reading *reading, char letter, const char *value)
{
	const struct launcher *launcher = reading->launcher;
	reading->shell |= has(launcher->shell, letter);
	reading->direct |= has(launcher->direct, letter);
	reading->keeps |= has(launcher->keeps, letter);
	reading->effects->clears |= has(launcher->clears, letter);
	reading->enters |= has(launcher->namespaces, letter);
	if (!value || !letter)
		return;
	if (launcher->namespaces && letter == 't')
		reading->target = value;
	if (letter == launcher->root)
		keep(&reading->effects->root, value);
	if (letter == launcher->chdir)
		keep(&reading->effects->directory, value);
	if (!(launcher->flags & LAUNCHER_IS_ENV))
		return;
	if (letter == 'S')
		keep(&reading->split, value);
	reading->effects->clears |= letter == 'u' && strcmp(value, "LD_PRELOAD") == 0;
	if (letter == 'u' && strcmp(value, SWITCH) == 0)
		reading->effects->switched = LAUNCH_SWITCH_ON;
}

/* NAME=VALUE before the command. */
static void take_assignment(struct reading *reading, const char *word)
{
	static const char PRELOAD[] = "LD_PRELOAD=", SEARCH[] = "PATH=";
	if (strncmp(word, PRELOAD, sizeof(PRELOAD) - 1) == 0) {
		reading->effects->preloads_us = strstr(word, PRELOAD_LIBRARY) != NULL;
		reading->effects->clears |= !reading->effects->preloads_us;
	} else if (strncmp(word, SEARCH, sizeof(SEARCH) - 1) == 0) {
		keep(&reading->effects->search_path, word + sizeof(SEARCH) - 1);
	} else if (strncmp(word, SWITCH "=", sizeof(SWITCH)) == 0) {
		bool is_off = variable_read_switch(word + sizeof(SWITCH)) != VARIABLE_OFF;
		reading->effects->switched = is_off ? LAUNCH_SWITCH_OFF : LAUNCH_SWITCH_ON;
	}
}

/* Finds a long option in the row. Returns its letter, '?' if it has none but takes a value, 0 if it isn't there. */
static char long_letter(const char *longs, const char *name, size_t bytes)
{
	for (const char *at = longs; at && *at; at += *at == '|') {
		size_t row_bytes = strcspn(at, "|="), whole = strcspn(at, "|");
		if (row_bytes == bytes && memcmp(at, name, bytes) == 0)
			return at[row_bytes] == '=' ? at[row_bytes + 1] : '?';
		at += whole;
	}
	return 0;
}

static void read_long_option(struct reading *reading, const char *word)
{
	const struct launcher *launcher = reading->launcher;
	size_t bytes = strcspn(word, "=");
	char letter = long_letter(launcher->longs, word, bytes);
	const char *value = word[bytes] ? word + bytes + 1 : NULL;
	if (!value && (letter == '?' || has(launcher->valued, letter)))
		value = reading->words->at[reading->at + 1] ? reading->words->at[++reading->at] : NULL;
	take_option(reading, letter, value);
}

static void read_short_options(struct reading *reading, const char *letters)
{
	const struct launcher *launcher = reading->launcher;
	for (const char *letter = letters; *letter; letter++) {
		if (has(launcher->attached, *letter)) {
			take_option(reading, *letter, letter + 1);
			return;
		}
		if (has(launcher->valued, *letter)) {
			const char *value = letter + 1;
			if (!*value)
				value = reading->words->at[reading->at + 1] ? reading->words->at[++reading->at] : NULL;
			take_option(reading, *letter, value);
			return;
		}
		take_option(reading, *letter, NULL);
	}
}

static void read_options(struct reading *reading)
{
	for (char *word; (word = reading->words->at[reading->at]) && word[0] == '-'; reading->at++) {
		if (strcmp(word, "--") == 0) {
			reading->at++;
			return;
		}
		if (word[1] == '-') {
			read_long_option(reading, word + 2);
		} else if (word[1]) {
			read_short_options(reading, word + 1);
		} else if (has(reading->launcher->clears, 'i') || has(reading->launcher->clears, 'l')) {
			reading->effects->clears = true; /* "env -", "su -" */
		} else {
			return;
		}
		if (!reading->words->at[reading->at])
			return;
	}
}

/* An option may come behind the positionals, as in flock FILE -c COMMAND. */
static void read_positionals(struct reading *reading)
{
	const struct launcher *launcher = reading->launcher;
	for (int i = 0; i < launcher->positionals && reading->words->at[reading->at]; i++, reading->at++)
		if (launcher->root == '1' && i == 0)
			keep(&reading->effects->root, reading->words->at[reading->at]);
	const char *word = reading->words->at[reading->at];
	if (launcher->positionals && launcher->shell && word && word[0] == '-')
		read_options(reading);
	if (launcher->flags & LAUNCHER_ASSIGNS)
		while ((word = reading->words->at[reading->at]) && strchr(word, '=')) {
			take_assignment(reading, word);
			reading->at++;
		}
}

/*
 * Splits as env -S does: blanks separate, quotes and backslashes keep together. Of its escapes only those count that
 * concern blanks and quotes; variables stay as they are.
 */
static bool split_words(const char *text, char ***out)
{
	char **words = calloc(strlen(text) + 2, sizeof(*words));
	char *word = malloc(strlen(text) + 1);
	size_t count = 0;
	bool done = words && word;
	while (done && *(text += strspn(text, " \t\n"))) {
		size_t bytes = 0;
		for (char quote = 0; *text && (quote || !strchr(" \t\n", *text)); text++) {
			if (*text == quote)
				quote = 0;
			else if (!quote && (*text == '\'' || *text == '"'))
				quote = *text;
			else if (*text == '\\' && quote != '\'' && text[1])
				word[bytes++] = *++text;
			else
				word[bytes++] = *text;
		}
		word[bytes] = '\0';
		done = (words[count++] = strdup(word));
	}
	free(word);
	*out = words;
	return done;
}

/* env -S puts the split words where it stood; env then reads on, with options among them, too. */
static bool unfold(struct reading *reading)
{
	static char env[] = "env";
	char **split = NULL, *head[] = {env, NULL};
	bool done = split_words(reading->split, &split);
	if (done) {
		launch_words_drop(reading->words, reading->at);
		done = launch_words_prepend(reading->words, split) && launch_words_prepend(reading->words, head);
	}
	launch_free_words(split);
	free(reading->split);
	reading->split = NULL;
	reading->at = 1;
	return done;
}

/* The root of another process, as this one can see it. */
static void enter_root(struct reading *reading)
{
	char root[64];
	const char *target = reading->target;
	if (reading->enters && target && strspn(target, "0123456789") == strlen(target) &&
	    snprintf(root, sizeof(root), "/proc/%s/root", target) < (int)sizeof(root))
		keep(&reading->effects->root, root);
}

/* Returns how many words come before the command; 0: there is none. */
static size_t read_launcher(struct reading *reading)
{
	const struct launcher *launcher = reading->launcher;
	reading->at = 1;
	if (launcher->subcommand) {
		const char *first = reading->words->at[1];
		if (!first || strcmp(first, launcher->subcommand) != 0)
			return 0;
		reading->at++;
	}
	read_options(reading);
	/* env takes only one level of this seriously; a circle isn't possible, since each is shorter than the last. */
	while (reading->split) {
		if (!unfold(reading))
			return 0;
		read_options(reading);
	}
	read_positionals(reading);
	enter_root(reading);
	reading->shell |= launcher->direct && !reading->direct;
	return reading->shell || reading->words->at[reading->at] ? reading->at : 0;
}

bool launcher_read(const struct launcher *launcher, struct launch_words *words, struct launcher_effects *effects)
{
	static char shell[] = "sh";
	char *shell_words[] = {shell, NULL};
	struct reading reading = {.launcher = launcher, .effects = effects, .words = words};
	*effects = (struct launcher_effects){.is_run = (launcher->flags & LAUNCHER_IS_OURS) != 0};
	size_t before = read_launcher(&reading);
	free(reading.split);
	effects->clears |= has(launcher->clears, '*');
	effects->clears &= !reading.keeps;
	bool started = before > 0;
	if (started && reading.shell) {
		launch_words_drop(words, words->count);
		started = launch_words_prepend(words, shell_words);
	} else {
		launch_words_drop(words, before);
	}
	if (!started)
		launcher_effects_free(effects);
	return started;
}
