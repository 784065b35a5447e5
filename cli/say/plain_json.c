/* SPDX-License-Identifier: MIT */
#include "cli/say/plain_json.h"

#include <stdlib.h>
#include <string.h>

/* jansson takes DEL for printable. It stands in strings only. */
static int write_piece(const char *piece, size_t bytes, void *out)
{
	while (bytes > 0) {
		const char *del = memchr(piece, 0x7f, bytes);
		size_t clean_bytes = del ? (size_t)(del - piece) : bytes;
		if (fwrite(piece, 1, clean_bytes, out) != clean_bytes || (del && fputs("\\u007f", out) < 0))
			return -1;
		piece += clean_bytes + (del != NULL);
		bytes -= clean_bytes + (del != NULL);
	}
	return 0;
}

bool plain_json_print(FILE *out, json_t *value)
{
	const size_t flags = JSON_COMPACT | JSON_PRESERVE_ORDER | JSON_ENSURE_ASCII;
	bool printed = value && json_dump_callback(value, write_piece, out, flags) == 0 && putc('\n', out) != EOF;
	json_decref(value);
	return printed;
}

json_t *plain_json_text(const char *text)
{
	json_t *value = text && *text ? json_string(text) : json_null();
	if (value)
		return value;
	char *ascii = strdup(text);
	for (char *at = ascii; at && *at; at++)
		if (*at & 0x80)
			*at = '?';
	value = json_string(ascii ? ascii : "?");
	free(ascii);
	return value;
}
