/* SPDX-License-Identifier: MIT */

#include "base/hash.h"

#include <string.h>

uint64_t hash_bytes(uint64_t hash, const void *bytes, size_t count_bytes)
{
	const char *at = bytes;
	size_t left_bytes = count_bytes;
	uint64_t word;
	for (; left_bytes >= sizeof(word); left_bytes -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		hash = hash_number(hash, word);
	}
	word = 0;
	memcpy(&word, at, left_bytes);
	return hash_number(hash_number(hash, word), count_bytes);
}

uint64_t hash_text(uint64_t hash, const char *text)
{
	return hash_bytes(hash, text ? text : "", text ? strlen(text) : 0);
}

void hash_stream_begin(struct hash_stream *stream)
{
	*stream = (struct hash_stream){.hash = HASH_BASIS};
}

/* Completes the word that was begun. Returns how many bytes that takes. */
static size_t complete_word(struct hash_stream *stream, const char *bytes, size_t count_bytes)
{
	size_t begun_bytes = stream->count_bytes % sizeof(stream->word);
	size_t taken_bytes = sizeof(stream->word) - begun_bytes;
	if (begun_bytes == 0)
		return 0;
	if (taken_bytes > count_bytes)
		taken_bytes = count_bytes;
	memcpy((char *)&stream->word + begun_bytes, bytes, taken_bytes);
	if (begun_bytes + taken_bytes == sizeof(stream->word)) {
		stream->hash = hash_number(stream->hash, stream->word);
		stream->word = 0;
	}
	return taken_bytes;
}

void hash_stream_add(struct hash_stream *stream, const void *bytes, size_t count_bytes)
{
	size_t taken_bytes = complete_word(stream, bytes, count_bytes);
	const char *at = (const char *)bytes + taken_bytes;
	size_t left_bytes = count_bytes - taken_bytes;
	uint64_t word;
	stream->count_bytes += count_bytes;
	for (; left_bytes >= sizeof(word); left_bytes -= sizeof(word), at += sizeof(word)) {
		memcpy(&word, at, sizeof(word));
		stream->hash = hash_number(stream->hash, word);
	}
	memcpy(&stream->word, at, left_bytes);
}

uint64_t hash_stream_value(const struct hash_stream *stream)
{
	uint64_t hash = hash_number(hash_number(stream->hash, stream->word), stream->count_bytes);
	return hash ? hash : 1;
}
