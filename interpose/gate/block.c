/* SPDX-License-Identifier: MIT */

#include <stddef.h>
#include <string.h>

#include "base/ascii.h"
#include "base/hash.h"
#include "base/span.h"
#include "interpose/gate/block.h"

#define UPSTREAM_ATTEMPTS_MAX 1000000

static int parse_status(const char *line, size_t line_bytes)
{
	const char *space = memchr(line, ' ', line_bytes), *end = line + line_bytes;
	/* Of several blanks libcurl takes the last one. */
	while (space && end - space > 1 && space[1] == ' ')
		space++;
	if (!space || end - space < 4)
		return 0;
	int status = 0;
	for (int i = 1; i <= 3; i++) {
		if (space[i] < '0' || space[i] > '9')
			return 0;
		status = status * 10 + (space[i] - '0');
	}
	return status;
}

/* Returns the value of the field if the line has this name, trimmed, else NULL. */
static const char *field_value(const char *line, size_t line_bytes, const char *name, size_t *value_bytes)
{
	size_t name_bytes = strlen(name);
	if (line_bytes <= name_bytes || line[name_bytes] != ':' || !ascii_prefix_bytes(line, line_bytes, name))
		return NULL;
	const char *begin = line + name_bytes + 1, *end = line + line_bytes;
	while (begin < end && (*begin == ' ' || *begin == '\t'))
		begin++;
	while (end > begin && (end[-1] == ' ' || end[-1] == '\t'))
		end--;
	*value_bytes = (size_t)(end - begin);
	return begin;
}

static int64_t parse_length(const char *text, size_t text_bytes)
{
	int64_t length = 0;
	if (text_bytes == 0 || text_bytes > 18)
		return BLOCK_LENGTH_UNKNOWN;
	for (size_t i = 0; i < text_bytes; i++) {
		if (text[i] < '0' || text[i] > '9')
			return BLOCK_LENGTH_UNKNOWN;
		length = length * 10 + (text[i] - '0');
	}
	return length;
}

/* A proxy's count of its own tries; one that no proxy makes is nobody's count. */
static int parse_attempts(const char *text, size_t text_bytes)
{
	int64_t attempts = parse_length(text, text_bytes);
	return attempts > 0 && attempts <= UPSTREAM_ATTEMPTS_MAX ? (int)attempts : 0;
}

void block_clear(struct header_block *block, bool reads_success)
{
	memset(block, 0, offsetof(struct header_block, field));
	block->reads_success = reads_success;
	block->content_length_bytes = BLOCK_LENGTH_UNKNOWN;
}

static void begin_block(struct header_block *block, const struct policy_rules *rules, const char *line,
                        size_t line_bytes)
{
	bool reads_success = block->reads_success;
	/* An attempt's first block has nothing to forget. */
	if (block->open || block->complete)
		block_clear(block, reads_success);
	block->open = true;
	block->status = parse_status(line, line_bytes);
	block->skips_fields =
	    block->status >= 200 && block->status < 300 && rules->hold_success_bytes == 0 && !block->reads_success;
	if (block->status >= 300)
		block->step_hash = hash_number(HASH_BASIS, (uint64_t)block->status);
}

static void add_field(struct header_block *block, const struct policy_rules *rules, const char *line, size_t line_bytes)
{
	static const char event_stream[] = "text/event-stream";
	size_t value_bytes;
	const char *value;

	if ((value = field_value(line, line_bytes, "Location", &value_bytes))) {
		block->has_location = block->has_location || value_bytes > 0;
		block->step_hash = hash_bytes(block->step_hash, value, value_bytes);
	} else if ((value = field_value(line, line_bytes, "Content-Length", &value_bytes))) {
		block->content_length_bytes = parse_length(value, value_bytes);
	} else if ((value = field_value(line, line_bytes, "Content-Type", &value_bytes))) {
		block->is_event_stream = ascii_prefix_bytes(value, value_bytes, event_stream) > 0;
	} else if ((value = field_value(line, line_bytes, "x-envoy-attempt-count", &value_bytes))) {
		block->upstream_attempts = parse_attempts(value, value_bytes);
	} else if ((value = field_value(line, line_bytes, "Upgrade", &value_bytes))) {
		block->is_h2c = ascii_equals(value, value_bytes, "h2c");
	} else {
		engine_demand_add_line(&block->demand, rules, line, line_bytes);
	}
}

/* Keeps the field, for a line that continues it. */
static void keep_field(struct header_block *block, struct span field)
{
	block->field_bytes = field.bytes <= sizeof(block->field) ? field.bytes : 0;
	memcpy(block->field, field.text, block->field_bytes);
}

/*
 * A line that begins with a blank continues the field before it (RFC 9112, section 5.2), which is read again as a
 * whole, with one blank for the fold: what its beginning meant by itself was read already, and of two demands the
 * longer one counts.
 */
static void continue_field(struct header_block *block, const struct policy_rules *rules, struct span line)
{
	size_t begun_bytes = span_trimmed((struct span){block->field, block->field_bytes}).bytes;
	struct span rest = span_trimmed(line);

	if (begun_bytes == 0 || begun_bytes + 1 + rest.bytes > sizeof(block->field)) {
		block->field_bytes = 0;
		return;
	}
	block->field[begun_bytes] = ' ';
	memcpy(block->field + begun_bytes + 1, rest.text, rest.bytes);
	block->field_bytes = begun_bytes + 1 + rest.bytes;
	add_field(block, rules, block->field, block->field_bytes);
}

static int add_line(struct header_block *block, const struct policy_rules *rules, const char *line, size_t line_bytes)
{
	if (line_bytes >= 5 && memcmp(line, "HTTP/", 5) == 0) {
		begin_block(block, rules, line, line_bytes);
		return BLOCK_BEGAN;
	}
	if (!block->open)
		return 0;
	if (line_bytes == 0) {
		block_end(block);
		return BLOCK_ENDED;
	}
	if (block->skips_fields)
		return 0;
	if (ascii_is_blank(line[0])) {
		continue_field(block, rules, (struct span){line, line_bytes});
	} else {
		keep_field(block, (struct span){line, line_bytes});
		add_field(block, rules, line, line_bytes);
	}
	return 0;
}

int block_add(struct header_block *block, const struct policy_rules *rules, const char *bytes, size_t count_bytes)
{
	const char *end = bytes + count_bytes;
	int events = 0;

	while (bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		const char *line_end = newline ? newline : end;
		const char *next = newline ? newline + 1 : end;
		if (line_end > bytes && line_end[-1] == '\r')
			line_end--;
		int event = add_line(block, rules, bytes, (size_t)(line_end - bytes));
		events = event == BLOCK_BEGAN ? BLOCK_BEGAN : events | event;
		bytes = next;
	}
	return events;
}

/* Whether the last line of these is blank. */
static bool ends_blank(const char *bytes, size_t count_bytes)
{
	size_t before = count_bytes - 1;
	if (count_bytes == 0 || bytes[before] != '\n')
		return false;
	if (before > 0 && bytes[before - 1] == '\r')
		before--;
	return before == 0 || bytes[before - 1] == '\n';
}

void block_skip(struct header_block *block, const char *bytes, size_t count_bytes)
{
	if (block->open && ends_blank(bytes, count_bytes))
		block_end(block);
}
