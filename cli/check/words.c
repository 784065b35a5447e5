/* SPDX-License-Identifier: MIT */
/*
 * What a program starts is seldom more than its words: of a shell's script, of a Makefile, of the arguments of find or
 * xargs. Each word that is a program is looked at as one, with what stands behind it as its arguments. That finds too
 * much rather than too little: what a script only speaks of isn't told from what it starts.
 */
#include "cli/check/scan.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/script.h"
#include "cli/check/script_words.h"

static const char *const SHELLS[] = {"sh", "bash", "dash", "ash", "zsh", "ksh", "mksh", "busybox", NULL};
static const char *const AWKS[] = {"awk", "gawk", "mawk", "original-awk", NULL};
static const char *const MAKES[] = {"make", "gmake", NULL};

/* Programs that start what their arguments name, beside those of launch/launchers.h. */
static const char *const STARTERS[] = {"find",     "xargs", "parallel",   "entr",       "watch",   "flock",   "script",
                                       "su",       "ssh",   "docker",     "podman",     "runuser", "nerdctl", "kubectl",
                                       "unbuffer", "chpst", "lxc-attach", "machinectl", NULL};

static bool is_one_of(const struct subject *subject, const char *const *names)
{
	for (; *names; names++)
		if (subject_is(subject, *names))
			return true;
	return false;
}

/* Beside the script: "./x" and "$HERE/x" mean that more often than not. */
static bool find_beside(const struct check_program *program, const char *word, char path[static PATH_MAX])
{
	const char *script = program->script, *slash = script ? strrchr(script, '/') : NULL;
	int bytes = slash ? (int)(slash - script) : 1;
	return script && snprintf(path, PATH_MAX, "%.*s/%s", bytes, slash ? script : ".", word) < PATH_MAX;
}

/* The file that a word means, program or not. */
static bool find_file(const struct check_program *program, const struct script_word_seen *seen,
                      bool (*fits)(const char *path), char path[static PATH_MAX])
{
	const char *word = seen->words[0];
	bool has_slash = strchr(word, '/') != NULL;
	if (!seen->is_cut && launch_find_program(word, path) && fits(path))
		return true;
	return has_slash && (seen->is_cut || word[0] == '.') && find_beside(program, word, path) && fits(path);
}

static void visit_word(void *context, const struct script_word_seen *seen);

static void read_words(struct check_program *program, const char *text, size_t byte_count, enum script_kind kind)
{
	script_words(text, byte_count, kind, visit_word, program, &program->scan->report->doubts);
}

/* A script that is read already, under the same circumstances. False: it is noted now. */
static bool was_read(struct check_scan *scan, const char *path)
{
	char *key = NULL;
	if (asprintf(&key, "%d %s", (int)scan->inherited, path) < 0)
		return true;
	bool was = check_is_noted(&scan->seen, key);
	if (!was)
		check_note(&scan->seen, key);
	free(key);
	return was;
}

/* A command with all that stands behind it, to free(). */
static char *command_key(const struct check_scan *scan, char **words)
{
	char *key = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&key, &bytes);
	if (!out)
		return NULL;
	fprintf(out, "%d", (int)scan->inherited);
	for (; *words; words++)
		fprintf(out, " %s", *words);
	if (fclose(out) == 0)
		return key;
	free(key);
	return NULL;
}

/* Scripts repeat themselves, and to look at a program that uses libcurl takes some milliseconds. */
static void add_command(struct check_program *program, char **words)
{
	struct check_scan *scan = program->scan;
	char *key = command_key(scan, words);
	if (key && !check_is_noted(&scan->seen, key) && check_add_program(scan, words, program->depth + 1))
		check_note(&scan->seen, key);
	free(key);
}

/* A file beside the program's own texts: one that a script reads as a part of itself, or a Makefile. */
static void read_file(struct check_program *program, char *path, enum script_kind kind)
{
	const struct launch launch = {.path = path, .arguments = (char *[]){path, NULL}};
	struct subject subject;
	if (was_read(program->scan, path))
		return;
	const struct subject_text *text = subject_read(&launch, &subject) ? subject_text_of(&subject, path) : NULL;
	if (text)
		read_words(program, text->bytes, text->byte_count, kind);
	subject_free(&subject);
}

static void note_clearing(struct check_report *report, const char *name)
{
	if (name && !report->note[0])
		snprintf(report->note, sizeof(report->note),
		         "%s keeps tenacurl from what it starts: put 'tenacurl run --' behind it", name);
}

/* A script_words_visit. */
static void visit_word(void *context, const struct script_word_seen *seen)
{
	struct check_program *program = context;
	struct check_scan *scan = program->scan;
	char path[PATH_MAX];
	if (scan->failed || seen->words[0][0] == '-')
		return;
	if (seen->is_sourced && find_file(program, seen, launch_is_file, path)) {
		read_file(program, path, SCRIPT_SHELL);
		return;
	}
	if (!find_file(program, seen, launch_is_executable, path))
		return;
	enum check_reason inherited = scan->inherited;
	char *word = seen->words[0];
	if (seen->cleared_by)
		scan->inherited = CHECK_REASON_ENVIRONMENT;
	/* What clears it need not be installed here. */
	note_clearing(scan->report, seen->cleared_by ? seen->cleared_by : script_words_clear(seen->words));
	seen->words[0] = path;
	add_command(program, seen->words);
	seen->words[0] = word;
	scan->inherited = inherited;
}

/* Reads the arguments as one text. */
static void visit_arguments(struct check_program *program, enum script_kind kind)
{
	char *text = NULL;
	size_t bytes = 0;
	FILE *out = open_memstream(&text, &bytes);
	if (!out)
		return;
	for (char **at = program->launch.arguments; *at; at++)
		fprintf(out, "%s ", *at);
	if (fclose(out) == 0)
		read_words(program, text, bytes, kind);
	free(text);
}

static void visit_texts(struct check_program *program, enum script_kind kind)
{
	for (size_t i = 0; i < program->subject.text_count; i++) {
		const struct subject_text *text = &program->subject.texts[i];
		if (!was_read(program->scan, text->path))
			read_words(program, text->bytes, text->byte_count, kind);
	}
}

/* What `sh -c` was given, or the script that is the shell's first operand. */
static void visit_shell(struct check_program *shell)
{
	char **argument = shell->launch.arguments;
	bool takes_text = false;
	for (; *argument && (**argument == '-' || **argument == '+'); argument++) {
		bool is_short = (*argument)[1] != '-';
		takes_text |= is_short && strchr(*argument, 'c') != NULL;
		if (is_short && strchr(*argument, 'o') && argument[1])
			argument++; /* "-o pipefail" */
	}
	shell->script = shell->launch.script ? shell->launch.script : *argument;
	const struct subject_text *text = *argument ? subject_text_of(&shell->subject, *argument) : NULL;
	if (!text && shell->launch.script)
		text = subject_text_of(&shell->subject, shell->launch.script); /* it has another path in a chroot */
	if (takes_text)
		visit_arguments(shell, SCRIPT_SHELL);
	else if (text && !was_read(shell->scan, text->path))
		read_words(shell, text->bytes, text->byte_count, SCRIPT_SHELL);
}

/* The file that make reads unless it is told which. */
static void visit_makefile(struct check_program *make)
{
	static const char *const NAMES[] = {"GNUmakefile", "makefile", "Makefile"};
	char **at = make->launch.arguments;
	while (*at && strncmp(*at, "-C", 2) != 0)
		at++;
	const char *directory = !*at ? "." : (*at)[2] ? *at + 2 : at[1] ? at[1] : ".";
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++) {
		char path[PATH_MAX];
		if (snprintf(path, sizeof(path), "%s/%s", directory, NAMES[i]) < PATH_MAX && launch_is_file(path)) {
			read_file(make, path, SCRIPT_MAKE);
			return;
		}
	}
}

void check_visit_words(struct check_program *program)
{
	const struct subject *subject = &program->subject;
	bool is_shell = is_one_of(subject, SHELLS), is_make = is_one_of(subject, MAKES);
	bool is_interpreter =
	    interpreter_find(subject->name) || interpreter_find(subject->real_name) || is_one_of(subject, AWKS);
	bool is_starter = is_one_of(subject, STARTERS) && program->depth == 0;
	program->reads_words = is_shell || is_make || is_interpreter || is_starter;
	if (is_shell)
		visit_shell(program);
	if (is_make) {
		visit_texts(program, SCRIPT_MAKE);
		visit_makefile(program);
	}
	if (is_starter) {
		visit_arguments(program, SCRIPT_SHELL);
		visit_texts(program, SCRIPT_SHELL);
	}
	/* A program that makes requests itself and names curl in passing is no script round curl. */
	if (is_interpreter && !is_shell && !program->uses_libcurl) {
		visit_texts(program, SCRIPT_CODE);
		visit_arguments(program, SCRIPT_CODE);
	}
}
