/* SPDX-License-Identifier: MIT */
/*
 * Why a file is scanned before it is parsed.
 *
 * iniparser reads every file somehow. Where the file says something that its grammar doesn't know, it reads on in
 * silence, and the policy becomes another one than its author sees. What iniparser 4.1 does (src/iniparser.c,
 * iniparser_load() and iniparser_line()), and what is refused here for it:
 *
 *   a;b, a#b                a comment starts at any unquoted ; or #, so the value is cut to "a"
 *   key = "a" b, key = "a   what follows the closing quote is dropped; a quote that isn't closed is none the less one
 *   key = "a\"b"            4.1 knows no escapes, 4.2 does: two versions read two values
 *   say "a # b"             quotes count only when they come first
 *   line \                  joined with the next line, comments too
 *   [a] ; note              no section at all, unless the note ends in ]: then it is one
 *   []                      the section before it goes on
 *   [a:b]                   the colon is its own separator of section and key
 *   [a = b                  a key "[a"
 *   key: a = b              a key "key: a"
 *   k = 1 … k = 2           the last one wins; sections with the same name are one, and all names fold case
 *   = 1, word               the whole file is refused, without a word why
 *   a NUL                   ends the line; the rest is skipped
 *   1023 bytes and more     the whole file is refused
 *   a lone CR               white space, though editors show a new line
 *   a byte order mark       becomes part of the first line
 *   “a”, a no-break space   part of the value, though a person sees quotes and a blank
 *
 * The scan also remembers each line's number, which iniparser can't tell, and each value as a person sees it; load.c
 * compares those with what iniparser says.
 */
#include "config/scan.h"

#include <stdio.h>
#include <string.h>

#include "base/ascii.h"
#include "config/complaint.h"
#include "config/lookalike.h"
#include "config/policy.h"

struct scanner {
	const char *path;
	uint32_t line;
	struct scan *scan;
	struct policy_error *error;
	bool no_memory;
};

/* False, with the error filled: "PATH:LINE: what is wrong; allowed: …". */
static bool refuse(struct scanner *scanner, const char *what)
{
	const struct complaint_place place = {.path = scanner->path, .line = scanner->line};

	complain(scanner->error, &place, "%s", what);
	return false;
}

static struct scan_section *open_section(struct scanner *scanner)
{
	struct scan *scan = scanner->scan;

	return scan->section_count == 0 ? NULL : &scan->sections[scan->section_count - 1];
}

static bool refuse_value(struct scanner *scanner, const char *key, const char *value, const char *what)
{
	const struct scan_section *section = open_section(scanner);
	const struct complaint_place place = {.path = scanner->path,
	                                      .line = scanner->line,
	                                      .section = section->name,
	                                      .is_upstream = section->is_upstream,
	                                      .key = key,
	                                      .value = value};

	complain(scanner->error, &place, "%s", what);
	return false;
}

static bool is_comment_mark(char c)
{
	return c == ';' || c == '#';
}

/* Cuts blanks off both ends, in place. */
static char *trimmed(char *text)
{
	size_t length = strlen(text);

	while (length > 0 && ascii_is_blank(text[length - 1]))
		text[--length] = '\0';
	while (ascii_is_blank(*text))
		text++;
	return text;
}

static bool is_name_byte(char c)
{
	return ascii_is_letter(c) || ascii_is_digit(c) || c == '_' || c == '-' || c == '.';
}

static bool is_name(const char *text)
{
	for (const char *at = text; *at != '\0'; at++)
		if (!is_name_byte(*at))
			return false;
	return text[0] != '\0';
}

static void fold(char *text)
{
	for (; *text != '\0'; text++)
		*text = ascii_lower(*text);
}

/* [policy] or [upstream NAME]: fills section->name and is_upstream from its folded title and the one as written. */
static bool name_section(struct scanner *scanner, const char *written, struct scan_section *section)
{
	static const char word[] = "upstream";
	const size_t word_length = sizeof word - 1;

	if (strcmp(section->title, "policy") == 0) {
		section->name = "policy";
		return true;
	}
	if (strncmp(section->title, word, word_length) != 0 || is_name_byte(section->title[word_length]))
		return refuse(scanner, "unknown section; allowed: [policy], [upstream NAME]");

	const char *rest = section->title + word_length;
	if (rest[0] == '\0')
		return refuse(scanner, "an upstream section without a name; allowed: [upstream NAME]");
	if (rest[0] != ' ' || !is_name(rest + 1) || strlen(rest + 1) > SCAN_NAME_BYTES_MAX)
		return refuse(scanner, "not a section name; allowed: [upstream NAME], one blank, NAME of at most 64 "
		                       "letters, digits, \"-\", \"_\" and \".\"");
	if (strcmp(rest + 1, "policy") == 0)
		return refuse(scanner, "an upstream section can't be named policy; allowed: any other name");
	section->name = written + word_length + 1;
	section->is_upstream = true;
	return true;
}

static bool add_section(struct scanner *scanner, const char *written, struct arena *arena)
{
	struct scan *scan = scanner->scan;
	struct scan_section section = {.line = scanner->line, .first_entry = scan->entry_count};
	char *title = arena_copy_text(arena, written, strlen(written));
	char what[80];

	if (title == NULL) {
		scanner->no_memory = true;
		return refuse(scanner, "there is no memory to read it");
	}
	fold(title);
	section.title = title;
	if (!name_section(scanner, written, &section))
		return false;
	for (size_t i = 0; i < scan->section_count; i++) {
		if (strcmp(scan->sections[i].title, title) != 0)
			continue;
		snprintf(what, sizeof what, "the section is there already, in line %u; allowed: once",
		         (unsigned)scan->sections[i].line);
		return refuse(scanner, what);
	}
	if (scan->section_count == SCAN_SECTIONS_MAX)
		return refuse(scanner, "too many sections; allowed: at most 256");
	scan->sections[scan->section_count++] = section;
	return true;
}

/* Names a character that a person takes for another one, or doesn't see. */
static bool refuse_character(struct scanner *scanner, const char *character, const char *allowed)
{
	char what[160];

	snprintf(what, sizeof what, "%s; allowed: %s", character, allowed);
	return refuse(scanner, what);
}

static bool scan_section_line(struct scanner *scanner, char *line, struct arena *arena)
{
	char *close = strchr(line, ']');

	if (close == NULL)
		return refuse(scanner, "the section's ] is missing; allowed: [policy], [upstream NAME]");
	if (close[1] != '\0')
		return refuse(scanner,
		              "something follows the section's ]; allowed: nothing, comments stand on lines of "
		              "their own");
	*close = '\0';
	if (lookalike_blank(line) != NULL)
		return refuse_character(scanner, lookalike_blank(line), "[policy], [upstream NAME]");
	return add_section(scanner, trimmed(line + 1), arena);
}

/* What the first character is called that a person takes for another one, or doesn't see; NULL: there is none. */
static const char *lookalike_of(const char *text)
{
	const char *blank = lookalike_blank(text);

	return blank != NULL ? blank : lookalike_sign(text);
}

static bool scan_key(struct scanner *scanner, const char *key)
{
	if (key[0] == '\0')
		return refuse(scanner, "there is no key before the =; allowed: key = value");
	if (is_name(key))
		return true;
	if (lookalike_of(key) != NULL)
		return refuse_character(scanner, lookalike_of(key), "letters, digits and _ before the =");
	if (strchr(key, ':') != NULL)
		return refuse(scanner, "a colon in a key; allowed: key = value");
	return refuse(scanner, "not a key; allowed: letters, digits and _ before the =");
}

static bool scan_quoted(struct scanner *scanner, const char *key, char *value, char **read)
{
	char quote = value[0];
	char *close = strchr(value + 1, quote);

	if (close == NULL)
		return refuse_value(scanner, key, value, "the quote is not closed; allowed: \"text\" or 'text'");
	if (memchr(value, '\\', (size_t)(close - value)) != NULL)
		return refuse_value(scanner, key, value,
		                    "a backslash in quotes, which versions of iniparser read differently; allowed: "
		                    "text without it, or without quotes");

	char *rest = close + 1;
	while (ascii_is_blank(*rest))
		rest++;
	if (*rest != '\0' && (!is_comment_mark(*rest) || rest == close + 1))
		return refuse_value(
		    scanner, key, value,
		    "something follows the closing quote; allowed: nothing, or a comment after a blank");
	*close = '\0';
	*read = value + 1;
	return true;
}

static bool scan_unquoted(struct scanner *scanner, const char *key, char *value, char **read)
{
	char *comment = value + strcspn(value, ";#");

	*read = value;
	if (value[0] == '=')
		return refuse_value(scanner, key, value,
		                    "the value begins with =; allowed: key = value, in quotes if = is meant");
	if (*comment == '\0')
		return true;

	bool glued =
	    comment == value ? comment[1] != '\0' && !ascii_is_blank(comment[1]) : !ascii_is_blank(comment[-1]);
	if (glued)
		return refuse_value(scanner, key, value,
		                    "; or # begins a comment and would cut the value; allowed: the value in quotes, or "
		                    "a blank before the comment");
	if (memchr(value, '"', (size_t)(comment - value)) != NULL ||
	    memchr(value, '\'', (size_t)(comment - value)) != NULL)
		return refuse_value(
		    scanner, key, value,
		    "a quote inside the value doesn't protect ; or #; allowed: the whole value in quotes");
	*comment = '\0';
	*read = trimmed(value);
	return true;
}

/* What stands in quotes is meant. */
static bool scan_lookalikes(struct scanner *scanner, const char *key, const char *value)
{
	const char *blank = lookalike_blank(value);
	char what[160];

	if (lookalike_is_quoted(value))
		return refuse_value(scanner, key, value,
		                    "typographic quotes are part of the value; allowed: \"text\" or 'text', with such "
		                    "quotes inside if they are meant");
	if (blank == NULL)
		return true;
	snprintf(what, sizeof what,
	         "%s in the value; allowed: a blank or nothing, or the value in quotes if it is meant", blank);
	return refuse_value(scanner, key, value, what);
}

static bool check_not_there(struct scanner *scanner, const char *key, const char *value)
{
	const struct scan_section *section = open_section(scanner);
	char what[80];

	for (size_t i = 0; i < section->entry_count; i++) {
		const struct scan_entry *entry = &scanner->scan->entries[section->first_entry + i];
		if (strcmp(entry->key, key) != 0)
			continue;
		snprintf(what, sizeof what, "the key is there already, in line %u; allowed: once per section",
		         (unsigned)entry->line);
		return refuse_value(scanner, key, value, what);
	}
	if (section->entry_count == POLICY_KEYS_MAX)
		return refuse(scanner,
		              "more keys in a section than there are keys; allowed: those that `tenacurl policy "
		              "keys` lists");
	return true;
}

static bool scan_entry_line(struct scanner *scanner, char *line)
{
	struct scan *scan = scanner->scan;
	char *equals = strchr(line, '=');

	if (equals == NULL && lookalike_of(line) != NULL)
		return refuse_character(scanner, lookalike_of(line), "key = value, in ASCII but for the value");
	if (equals == NULL)
		return refuse(scanner, strchr(line, ':') != NULL
		                           ? "a colon after a key; allowed: key = value"
		                           : "neither a section, nor key = value, nor a comment; allowed: key = value");
	if (open_section(scanner) == NULL)
		return refuse(scanner, "a key before the first section; allowed: after [policy] or [upstream NAME]");
	*equals = '\0';

	char *key = trimmed(line);
	char *value = trimmed(equals + 1);
	if (!scan_key(scanner, key))
		return false;
	fold(key);

	bool quoted = value[0] == '"' || value[0] == '\'';
	if (!(quoted ? scan_quoted : scan_unquoted)(scanner, key, value, &value))
		return false;
	if (!quoted && !scan_lookalikes(scanner, key, value))
		return false;
	if (!check_not_there(scanner, key, value))
		return false;
	scan->entries[scan->entry_count++] = (struct scan_entry){scanner->line, key, value};
	open_section(scanner)->entry_count++;
	return true;
}

/* `line` is terminated and has no line end. */
static bool scan_line(struct scanner *scanner, char *line, struct arena *arena)
{
	for (const char *at = line; *at != '\0'; at++)
		if (((unsigned char)*at < ' ' && *at != '\t') || *at == 0x7f)
			return refuse(scanner, "a control character; allowed: text, tabs, and line ends LF or CR LF");

	line = trimmed(line);
	size_t length = strlen(line);
	if (length == 0)
		return true;
	if (line[length - 1] == '\\')
		return refuse(scanner, "a backslash at the end would join the next line; allowed: one line per value");
	if (is_comment_mark(line[0]))
		return true;
	return line[0] == '[' ? scan_section_line(scanner, line, arena) : scan_entry_line(scanner, line);
}

static size_t count_lines(const char *bytes, size_t length)
{
	size_t count = 1;

	for (size_t i = 0; i < length; i++)
		count += bytes[i] == '\n';
	return count;
}

/* What would make the bytes anything but lines of text. */
static bool check_whole(struct scanner *scanner, const char *bytes, size_t length)
{
	const char *nul = memchr(bytes, '\0', length);

	if (nul != NULL) {
		scanner->line = (uint32_t)count_lines(bytes, (size_t)(nul - bytes));
		return refuse(scanner, "a NUL byte; allowed: a text file in UTF-8 or ASCII");
	}
	scanner->line = 1;
	if (length >= 3 && memcmp(bytes, "\xef\xbb\xbf", 3) == 0)
		return refuse(scanner, "a byte order mark; allowed: a text file without one");
	return true;
}

static bool scan_lines(struct scanner *scanner, char *bytes, size_t length, struct arena *arena)
{
	char *end = bytes + length;
	char what[80];

	if (!check_whole(scanner, bytes, length))
		return false;
	*end = '\0';
	for (scanner->line = 1; bytes < end; scanner->line++) {
		char *line_end = memchr(bytes, '\n', (size_t)(end - bytes));
		char *next = line_end != NULL ? line_end + 1 : end;
		if (line_end == NULL)
			line_end = end;
		if (line_end - bytes > SCAN_LINE_BYTES_MAX) {
			snprintf(what, sizeof what, "the line is %zu bytes long; allowed: at most %d",
			         (size_t)(line_end - bytes), SCAN_LINE_BYTES_MAX);
			return refuse(scanner, what);
		}
		if (line_end > bytes && line_end < end && line_end[-1] == '\r')
			line_end--;
		*line_end = '\0';
		if (!scan_line(scanner, bytes, arena))
			return false;
		bytes = next;
	}
	return true;
}

enum policy_load_result scan_bytes(char *bytes, size_t length, const char *path, struct arena *arena, struct scan *scan,
                                   struct policy_error *error)
{
	struct scanner scanner = {.path = path, .scan = scan, .error = error};
	size_t lines = count_lines(bytes, length);

	*scan = (struct scan){
	    .sections = arena_allocate(arena, SCAN_SECTIONS_MAX * sizeof *scan->sections),
	    .entries = arena_allocate(arena, lines * sizeof *scan->entries),
	};
	if (scan->sections == NULL || scan->entries == NULL) {
		refuse(&scanner, "there is no memory to read it");
		return POLICY_UNREADABLE;
	}
	if (scan_lines(&scanner, bytes, length, arena))
		return POLICY_LOADED;
	return scanner.no_memory ? POLICY_UNREADABLE : POLICY_INVALID;
}
