/* SPDX-License-Identifier: MIT */

/* Random numbers, and the stream that bodies are read from. */

#include <stdlib.h>
#include <string.h>

#include "program.h"

void trace_option(int option, uintptr_t value)
{
	static int traces = -1;
	if (traces < 0)
		traces = getenv("FUZZ_REQUESTS_TRACE") != NULL;
	if (traces)
		printf("set %d %jd\n", option, (intmax_t)value);
}

/* splitmix64 */
uint64_t draw(struct random *random)
{
	uint64_t z = random->state += UINT64_C(0x9E3779B97F4A7C15);
	z = (z ^ (z >> 30)) * UINT64_C(0xBF58476D1CE4E5B9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94D049BB133111EB);
	return z ^ (z >> 31);
}

int pick(struct random *random, int count)
{
	return (int)(draw(random) % (uint64_t)count);
}

bool chance(struct random *random, int percent)
{
	return pick(random, 100) < percent;
}

char pick_letter(struct random *random, const char *letters)
{
	return letters[pick(random, (int)strlen(letters))];
}

size_t stream_read(char *out, size_t size, size_t count, void *data)
{
	struct stream *stream = data;
	size_t given = 0;
	if (stream->program && !play_trick(stream->program, PLACE_READ))
		return CURL_READFUNC_ABORT;
	while (given < size * count && given < stream->piece_bytes && stream->position < stream->end)
		out[given++] = pattern_at(stream->position++);
	return given;
}

int stream_seek(void *data, curl_off_t offset, int origin)
{
	struct stream *stream = data;
	if (stream->seek_fails || origin != SEEK_SET)
		return CURL_SEEKFUNC_CANTSEEK;
	stream->position = stream->begin + offset;
	return CURL_SEEKFUNC_OK;
}

curlioerr stream_ioctl(CURL *curl, int command, void *data)
{
	struct stream *stream = data;
	(void)curl;
	if (command != CURLIOCMD_RESTARTREAD)
		return CURLIOE_UNKNOWNCMD;
	stream->position = stream->begin;
	return CURLIOE_OK;
}
