/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "base/script.h"
#include "base/span.h"

/*
 * Options that take a value, since the word after them isn't the script, and options after which there is none. Texts
 * of short options are their letters; of long ones, the options as they are written, with a blank between.
 */
struct interpreter {
	const char *names;       /* without version */
	const char *next;        /* short: the value is the rest of the word, or the next one */
	const char *rest;        /* the rest of the word alone */
	const char *word;        /* the next word, whatever else this one holds */
	const char *ends;        /* code, or standard input */
	const char *script;      /* as next: the script itself */
	const char *module;      /* as next */
	const char *long_next;   /* the next word, unless it is --option=value */
	const char *long_ends;   /* as ends */
	const char *long_script; /* as script */
	bool plus_is_option;     /* +o as -o */
	bool dash_is_dashes;     /* "-" means "--"; else standard input */
	bool dashes_end;         /* after "--" there are arguments only */
	bool operands_pass;      /* what is no option isn't the script */
};

static const struct interpreter interpreters[] = {
    /* bash(1), dash(1), zshmisc(1), ksh(1): the command of -c is an operand, but none is a file then. */
    {
        .names = "sh bash dash ash zsh ksh mksh",
        .word = "oO",
        .ends = "cs",
        .long_next = "--rcfile --init-file --emulate",
        .plus_is_option = true,
        .dash_is_dashes = true,
    },
    /* python(1), Python 2's too; pypy --help */
    {
        .names = "python pypy",
        .next = "WXQ",
        .ends = "c",
        .module = "m",
        .long_next = "--check-hash-based-pycs --jit",
    },
    /* sapi/cli/php_cli.c, sapi/cgi/cgi_main.c: OPTIONS */
    {
        .names = "php",
        .next = "bBcdESTtz",
        .ends = "rR",
        .script = "fF",
        .long_next = "--bindpath --php-ini --define --process-begin --process-end --zend-extension --server --docroot "
                     "--timing --rf --rc --re --rz --ri --rfunction --rclass --rextension --rzendextension --rextinfo",
        .long_ends = "--run --process-code",
        .long_script = "--file --process-file",
        .dashes_end = true,
    },
    /* perlrun(1): -d:Module, but -de 1 */
    {.names = "perl", .next = "I", .rest = ":CDFimMVx", .ends = "eE"},
    /* ruby(1), ruby.c: proc_options() */
    {
        .names = "ruby",
        .next = "CEIXr",
        .rest = "FKTWix",
        .ends = "e",
        .long_next = "--encoding --external-encoding --internal-encoding --enable --disable --dump --backtrace-limit",
    },
    /* lua(1), luajit(1): a script may follow -e */
    {.names = "lua luajit", .next = "ejl", .rest = "O", .ends = "b"},
    /* node(1), node --help: 12 to 24 */
    {
        .names = "node nodejs",
        .next = "Cr",
        .ends = "ep",
        .long_next =
            "--allow-fs-read --allow-fs-write --build-snapshot-config --conditions --cpu-prof-dir --cpu-prof-interval "
            "--cpu-prof-name --diagnostic-dir --disable-proto --disable-warning --dns-result-order --env-file "
            "--env-file-if-exists --experimental-default-type --experimental-loader --experimental-policy "
            "--experimental-sea-config --experimental-specifier-resolution --heap-prof-dir --heap-prof-interval "
            "--heap-prof-name --heapsnapshot-near-heap-limit --heapsnapshot-signal --icu-data-dir --import "
            "--input-type --inspect-port --inspect-publish-uid --loader --localstorage-file --max-http-header-size "
            "--network-family-autoselection-attempt-timeout --openssl-config --policy-integrity --redirect-warnings "
            "--report-dir --report-directory --report-filename --report-signal --require --secure-heap "
            "--secure-heap-min --snapshot-blob --test-concurrency --test-coverage-exclude --test-coverage-include "
            "--test-isolation --test-name-pattern --test-reporter --test-reporter-destination --test-shard "
            "--test-skip-pattern --test-timeout --title --tls-cipher-list --tls-keylog --trace-event-categories "
            "--trace-event-file-pattern --trace-require-module --unhandled-rejections --use-largepages "
            "--v8-pool-size --watch-path",
        .long_ends = "--eval --print",
    },
    /* R(1); Rscript FILE starts R --file=FILE --args … */
    {
        .names = "R",
        .next = "dg",
        .ends = "e",
        .script = "f",
        .long_next = "--debugger --gui",
        .long_ends = "--args",
        .long_script = "--file",
        .operands_pass = true,
    },
    /* octave(1) */
    {
        .names = "octave",
        .next = "p",
        .long_next = "--path --exec-path --image-path --info-file --info-program --doc-cache-file "
                     "--built-in-docstrings-file --texi-macros-file",
        .long_ends = "--eval",
    },
    /* tclsh(1), wish(1), expect(1) */
    {.names = "tclsh wish", .long_next = "-encoding"},
    {.names = "expect", .next = "Dc", .script = "bf"},
    /* julia(1) */
    {
        .names = "julia",
        .next = "CHJLpt",
        .rest = "Og",
        .ends = "eE",
        .long_next = "--cpu-target --home --load --machine-file --procs --sysimage --threads",
        .long_ends = "--eval --print",
    },
    /* cmake(1) */
    {.names = "cmake", .next = "ABCDGSTU", .ends = "E", .script = "P", .operands_pass = true},
};

/* The words that are still to be read; each is terminated. */
struct words {
	const char *at, *end;
};

static const char *next_word(struct words *words)
{
	const char *word = words->at;

	if (word >= words->end)
		return NULL;
	words->at += strlen(word) + 1;
	return word;
}

static bool has_letter(const char *letters, char letter)
{
	return letters && strchr(letters, letter);
}

/* Whether the text's first bytes are one of the words in `list`. */
static bool has_word(const char *list, const char *text, size_t bytes)
{
	struct span rest = {list, list ? strlen(list) : 0};

	while (rest.bytes > 0) {
		struct span word = span_cut(&rest, " ");
		if (word.bytes == bytes && memcmp(word.text, text, bytes) == 0)
			return true;
	}
	return false;
}

const struct interpreter *interpreter_find(const char *name)
{
	size_t stem_bytes = strcspn(name, "0123456789.-");

	for (size_t i = 0; i < sizeof(interpreters) / sizeof(interpreters[0]); i++)
		if (has_word(interpreters[i].names, name, stem_bytes))
			return &interpreters[i];
	return NULL;
}

/* Returns whether the search is over. */
static bool read_long_option(const struct interpreter *interpreter, const char *option, struct words *words,
                             struct script_word *found)
{
	size_t name_bytes = strcspn(option, "=");
	bool has_value = option[name_bytes] == '=';

	if (has_word(interpreter->long_ends, option, name_bytes))
		return true;
	if (has_word(interpreter->long_script, option, name_bytes)) {
		found->file = has_value ? option + name_bytes + 1 : next_word(words);
		return true;
	}
	if (!has_value && has_word(interpreter->long_next, option, name_bytes))
		next_word(words);
	return false;
}

/* As read_long_option(), for the letters of one word. */
static bool read_letters(const struct interpreter *interpreter, const char *letters, struct words *words,
                         struct script_word *found)
{
	for (; *letters; letters++) {
		const char *rest = letters[1] ? letters + 1 : NULL;
		if (has_letter(interpreter->ends, *letters))
			return true;
		if (has_letter(interpreter->script, *letters)) {
			found->file = rest ? rest : next_word(words);
			return true;
		}
		if (has_letter(interpreter->module, *letters)) {
			found->module = rest ? rest : next_word(words);
			return true;
		}
		if (has_letter(interpreter->word, *letters))
			next_word(words);
		if (has_letter(interpreter->next, *letters) && !rest)
			next_word(words);
		if (has_letter(interpreter->next, *letters) || has_letter(interpreter->rest, *letters))
			break;
	}
	return false;
}

static bool is_option(const struct interpreter *interpreter, const char *word)
{
	return word[0] == '-' || (interpreter->plus_is_option && word[0] == '+');
}

/* As read_long_option(), for a word that ends the options: an operand, "-" or "--". */
static bool read_end(const struct interpreter *interpreter, const char *word, struct words *words,
                     struct script_word *found)
{
	bool is_dash = strcmp(word, "-") == 0, is_dashes = strcmp(word, "--") == 0;

	if (is_dash && !interpreter->dash_is_dashes)
		return true;
	if (is_dashes && interpreter->dashes_end)
		return true;
	if (interpreter->operands_pass)
		return false;
	found->file = is_dash || is_dashes ? next_word(words) : word;
	return true;
}

struct script_word script_find(const struct interpreter *interpreter, const char *words_text, size_t bytes)
{
	struct words words = {words_text, words_text + bytes};
	struct script_word found = {.file = NULL};
	const char *word = next_word(&words);
	bool is_over = false;

	while (!is_over && (word = next_word(&words)) != NULL) {
		if (!is_option(interpreter, word) || strcmp(word, "-") == 0 || strcmp(word, "--") == 0)
			is_over = read_end(interpreter, word, &words, &found);
		else if (word[1] == '-' || has_word(interpreter->long_next, word, strlen(word)))
			is_over = read_long_option(interpreter, word, &words, &found);
		else
			is_over = read_letters(interpreter, word + 1, &words, &found);
	}
	return found;
}
