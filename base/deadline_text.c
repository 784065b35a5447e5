/* SPDX-License-Identifier: MIT */
#include "base/deadline_text.h"

#include <string.h>

#include "base/ascii.h"
#include "base/bounded_text.h"

void deadline_text_format(const struct deadline_text *deadline, char out[static DEADLINE_TEXT_BYTES_MAX])
{
	struct bounded_text text = {.out = out, .capacity_bytes = DEADLINE_TEXT_BYTES_MAX - 1};

	bounded_put(&text, deadline->boot_id, BOOT_ID_BYTES);
	bounded_put(&text, ":", 1);
	bounded_put_unsigned(&text, (uint64_t)deadline->deadline_ms);
	bounded_put(&text, ":", 1);
	bounded_put_unsigned(&text, (uint64_t)deadline->launcher_pid);
	bounded_put(&text, ":", 1);
	bounded_put_unsigned(&text, deadline->launcher_start);
	if (deadline->pid_namespace != 0) {
		bounded_put(&text, ":", 1);
		bounded_put_unsigned(&text, deadline->pid_namespace);
	}
	out[text.used_bytes] = '\0';
}

/* Reads a number of at most `limit` that `end` follows. Returns what is behind it, NULL if there is no such number. */
static const char *read_number(const char *at, char end, uint64_t limit, uint64_t *value)
{
	if (!at || !ascii_is_digit(*at))
		return NULL;
	uint64_t sum = 0;
	for (; ascii_is_digit(*at); at++) {
		uint64_t digit = (uint64_t)(*at - '0');
		if (sum > (limit - digit) / 10)
			return NULL;
		sum = sum * 10 + digit;
	}
	if (*at != end)
		return NULL;
	*value = sum;
	return at + 1;
}

bool deadline_text_parse(const char *text, struct deadline_text *deadline)
{
	if (!text || !boot_id_begins(text) || text[BOOT_ID_BYTES] != ':')
		return false;
	struct deadline_text read = {0};
	memcpy(read.boot_id, text, BOOT_ID_BYTES);

	uint64_t deadline_ms, pid;
	const char *at = text + BOOT_ID_BYTES + 1;
	at = read_number(at, ':', INT64_MAX, &deadline_ms);
	at = read_number(at, ':', INT32_MAX, &pid);
	const char *rest = read_number(at, ':', UINT64_MAX, &read.launcher_start);
	if (rest)
		at = read_number(rest, '\0', UINT64_MAX, &read.pid_namespace);
	else
		at = read_number(at, '\0', UINT64_MAX, &read.launcher_start);
	if (!at || pid == 0)
		return false;
	read.deadline_ms = (int64_t)deadline_ms;
	read.launcher_pid = (int64_t)pid;
	*deadline = read;
	return true;
}
