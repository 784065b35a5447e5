/* SPDX-License-Identifier: MIT */

#include "base/utf8.h"

/* How many continuation bytes a lead byte announces, and the least code point that needs that many; -1: no lead. */
static int continuations_of(unsigned char lead, uint32_t *bits, uint32_t *least)
{
	if (lead < 0x80) {
		*bits = lead;
		*least = 0;
		return 0;
	}
	if (lead >= 0xc2 && lead <= 0xdf) {
		*bits = lead & 0x1fu;
		*least = 0x80;
		return 1;
	}
	if (lead >= 0xe0 && lead <= 0xef) {
		*bits = lead & 0x0fu;
		*least = 0x800;
		return 2;
	}
	if (lead >= 0xf0 && lead <= 0xf4) {
		*bits = lead & 0x07u;
		*least = 0x10000;
		return 3;
	}
	return -1;
}

size_t utf8_read(const char *text, uint32_t *code_point)
{
	const unsigned char *bytes = (const unsigned char *)text;
	uint32_t point, least;
	int continuations = continuations_of(bytes[0], &point, &least);

	for (int i = 1; i <= continuations; i++) {
		if ((bytes[i] & 0xc0) != 0x80) /* stops at the terminator too */
			return 0;
		point = point << 6 | (bytes[i] & 0x3fu);
	}
	if (continuations < 0 || point < least || point > 0x10ffff || (point >= 0xd800 && point <= 0xdfff))
		return 0;
	*code_point = point;
	return (size_t)continuations + 1;
}

bool utf8_is_plain(uint32_t code_point)
{
	static const struct {
		uint32_t first, last;
	} others[] = {
	    {0, 0x1f},        {0x7f, 0x9f},     {0x061c, 0x061c}, {0x200e, 0x200f},
	    {0x2028, 0x202e}, {0x2066, 0x2069}, {0xfeff, 0xfeff},
	};

	for (size_t i = 0; i < sizeof(others) / sizeof(others[0]); i++)
		if (code_point >= others[i].first && code_point <= others[i].last)
			return false;
	return true;
}
