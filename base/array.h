/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_ARRAY_H
#define TENACURL_BASE_ARRAY_H

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

/*
 * Makes room for one more item behind `count` of them in an array that grows only so, by doubling; `array` is the
 * address of the pointer to it, NULL at first. Returns false without memory: the array is as before.
 */
static inline bool array_make_room(void *array, size_t count, size_t item_bytes)
{
	void *items;
	memcpy(&items, array, sizeof(items));
	if (count & (count - 1))
		return true;
	items = reallocarray(items, count ? 2 * count : 1, item_bytes);
	if (items)
		memcpy(array, &items, sizeof(items));
	return items != NULL;
}

#endif
