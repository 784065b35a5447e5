/* SPDX-License-Identifier: MIT */
#include "state/text.h"

#include <string.h>

void state_copy_text(char *out, size_t out_bytes, const char *text)
{
	size_t used_bytes = 0;
	for (; text && text[used_bytes] && used_bytes < out_bytes - 1; used_bytes++)
		out[used_bytes] = text[used_bytes];
	memset(out + used_bytes, 0, out_bytes - used_bytes);
	if (text && text[used_bytes])
		out[used_bytes - 1] = '~';
}

void state_clean_text(char *text, size_t text_bytes)
{
	text[text_bytes - 1] = '\0';
	for (; *text; text++)
		if (*text < 0x20 || *text > 0x7E)
			*text = '?';
}
