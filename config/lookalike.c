/* SPDX-License-Identifier: MIT */
#include "config/lookalike.h"

#include <stdint.h>

#include "base/utf8.h"

struct range {
	uint32_t first;
	uint32_t last;
	const char *name; /* NULL ends a table */
};

static const struct range blanks[] = {
    {0x00A0, 0x00A0, "a non-breaking space (U+00A0)"},
    {0x00AD, 0x00AD, "a soft hyphen (U+00AD)"},
    {0x1680, 0x1680, "a space that is no blank (U+1680)"},
    {0x2000, 0x200A, "a space that is no blank (U+2000 to U+200A)"},
    {0x200B, 0x200B, "a zero-width space (U+200B)"},
    {0x202F, 0x202F, "a non-breaking space (U+202F)"},
    {0x205F, 0x205F, "a space that is no blank (U+205F)"},
    {0x2060, 0x2060, "a zero-width character (U+2060)"},
    {0x3000, 0x3000, "a full-width space (U+3000)"},
    {0xFEFF, 0xFEFF, "a byte order mark (U+FEFF)"},
    {0, 0, NULL},
};

static const struct range signs[] = {
    {0x3002, 0x3002, "a full-width dot (U+3002)"},
    {0xFF01, 0xFF5E, "a full-width character (U+FF01 to U+FF5E)"},
    {0, 0, NULL},
};

static const struct range quotes[] = {
    {0x00AB, 0x00AB, "quote"}, {0x00BB, 0x00BB, "quote"}, {0x2018, 0x201F, "quote"}, {0x2039, 0x203A, "quote"},
    {0x300C, 0x300F, "quote"}, {0xFF02, 0xFF02, "quote"}, {0xFF07, 0xFF07, "quote"}, {0, 0, NULL},
};

/* What Windows calls quotes, spaces and soft hyphens, where the text isn't UTF-8. */
static uint32_t from_windows(unsigned char byte)
{
	if (byte >= 0x91 && byte <= 0x94)
		return 0x2018;
	return byte == 0xA0 || byte == 0xAB || byte == 0xAD || byte == 0xBB ? byte : '?';
}

/* Moves *text past its first character, which it returns. */
static uint32_t next_character(const char **text)
{
	uint32_t character;
	size_t bytes = utf8_read(*text, &character);

	if (bytes == 0)
		character = from_windows((unsigned char)**text);
	*text += bytes > 0 ? bytes : 1;
	return character;
}

static const char *find(const struct range *table, uint32_t character)
{
	for (; table->name != NULL; table++)
		if (character >= table->first && character <= table->last)
			return table->name;
	return NULL;
}

const char *lookalike_blank(const char *text)
{
	while (*text != '\0') {
		uint32_t character = next_character(&text);
		const char *name = find(blanks, character);
		if (name != NULL)
			return name;
		if (character > 0x7f && !utf8_is_plain(character))
			return "a control character";
	}
	return NULL;
}

const char *lookalike_sign(const char *text)
{
	const char *name = NULL;

	while (*text != '\0' && name == NULL)
		name = find(signs, next_character(&text));
	return name;
}

bool lookalike_is_quoted(const char *text)
{
	bool first = true;
	bool is_quote = false;

	while (*text != '\0') {
		is_quote = find(quotes, next_character(&text)) != NULL;
		if (first && is_quote)
			return true;
		first = false;
	}
	return is_quote;
}
