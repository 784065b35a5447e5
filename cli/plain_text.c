/* SPDX-License-Identifier: MIT */
#include "cli/plain_text.h"

/* Length of the control character that the text starts with, 0 if it is none. */
static int control_bytes(const unsigned char *text)
{
	if (text[0] < 0x20 || text[0] == 0x7f)
		return 1;
	return text[0] == 0xc2 && text[1] < 0xa0 ? 2 : 0;
}

void plain_text_put(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	while (*at) {
		int bytes = control_bytes(at);
		if (bytes)
			fprintf(out, "\\x%02x", at[bytes - 1]);
		else
			putc(*at, out);
		at += bytes ? bytes : 1;
	}
}

void plain_text_put_duration(FILE *out, long long ms)
{
	if (ms < 1000)
		fprintf(out, "%lld ms", ms);
	else if (ms % 1000 == 0)
		fprintf(out, "%lld s", ms / 1000);
	else
		fprintf(out, "%lld.%03lld s", ms / 1000, ms % 1000);
}
