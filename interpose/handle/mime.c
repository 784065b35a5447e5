/* SPDX-License-Identifier: MIT */

/*
 * A record per mime and per part, linked as libcurl links them: a mime has parts in order, a part can own a mime, a
 * handle has one as its body without owning it. So whatever libcurl frees with something, and whatever it takes out of
 * something that it frees, is found here at once, and an address that is used again never means the old thing. A copy
 * that curl_easy_duphandle() makes has addresses that nobody tells: its records can't be found by one, and belong to
 * the copied handle.
 *
 * libcurl asks a part's seek callback only if it has begun to read the part, and so must we: a program may well say
 * that it can't rewind what it hasn't opened yet (PHP's CURLFile). Hence the read callbacks are counted. Neither their
 * argument nor their number of copies can be relied on, so nothing is kept per part: a few functions of our own each
 * stand for one read function of a program, and count in a table by the argument's address. Arguments that share a
 * counter may be asked too often, never too seldom.
 */

#include <stdint.h>
#include <sys/stat.h>

#include "base/hash.h"
#include "interpose/handle/content_key.h"
#include "interpose/handle/mime.h"
#include "interpose/libcurl/address_map.h"

#define COUNTER_BITS 10

enum part_content {
	PART_PLAIN,    /* memory or a file: can always be read again */
	PART_STREAM,   /* a callback, a file that can't be sought; or nothing, which libcurl doesn't rewind either */
	PART_MULTIPLE, /* another mime */
};

struct part {
	struct address_node node;
	struct mime *mime; /* that it is in */
	struct part *previous, *next;
	enum part_content content;
	uint64_t key;            /* PART_PLAIN: what its content is known by; 0: it isn't */
	struct mime *inner;      /* PART_MULTIPLE */
	curl_seek_callback seek; /* PART_STREAM; NULL: it can't be rewound */
	void *argument;
	bool counted;       /* its reads are */
	int64_t size_bytes; /* PART_STREAM: as announced; -1: it wasn't */
	uint32_t reads;     /* of the argument's counter, when the part was at its beginning */
};

struct mime {
	struct address_node node;
	struct part *first, *last;
	struct part *owner;   /* the part that consists of it */
	struct mime **holder; /* the variable of the handle whose body it is */
	bool is_copy;         /* goes with its holder */
	bool is_incomplete;   /* there was no memory for one of its parts */
	uint64_t copied_key;  /* of a copy: what its source was known by */
};

static struct address_map mimes = {.record_bytes = sizeof(struct mime)};
static struct address_map parts = {.record_bytes = sizeof(struct part)};

/* A body of which nothing is known. */
static struct mime unknown = {.is_incomplete = true};

/* What reads with an argument came to. Where two threads share one, what they gave is known for something else. */
static struct counter {
	_Atomic uint32_t reads;
	_Atomic bool ended;                       /* the last one gave nothing */
	_Atomic uint64_t hash, word, count_bytes; /* since the part's beginning: a struct hash_stream */
} counters[1 << COUNTER_BITS];

static struct counter *counter_of(const void *argument)
{
	uint64_t mixed = (uint64_t)(uintptr_t)argument * UINT64_C(0x9E3779B97F4A7C15);
	return &counters[mixed >> (64 - COUNTER_BITS)];
}

static uint32_t reads_of(const void *argument)
{
	return atomic_load_explicit(&counter_of(argument)->reads, memory_order_relaxed);
}

static struct hash_stream load_given(const struct counter *counter)
{
	return (struct hash_stream){
	    .hash = atomic_load_explicit(&counter->hash, memory_order_relaxed),
	    .word = atomic_load_explicit(&counter->word, memory_order_relaxed),
	    .count_bytes = atomic_load_explicit(&counter->count_bytes, memory_order_relaxed),
	};
}

static void store_given(struct counter *counter, const struct hash_stream *given)
{
	atomic_store_explicit(&counter->hash, given->hash, memory_order_relaxed);
	atomic_store_explicit(&counter->word, given->word, memory_order_relaxed);
	atomic_store_explicit(&counter->count_bytes, given->count_bytes, memory_order_relaxed);
}

static void begin_given(const void *argument)
{
	struct hash_stream given;
	hash_stream_begin(&given);
	store_given(counter_of(argument), &given);
	atomic_store_explicit(&counter_of(argument)->ended, false, memory_order_relaxed);
}

/* PAUSE and ABORT are more than was asked for. */
static void add_given(struct counter *counter, const char *bytes, size_t given_bytes, size_t room_bytes)
{
	struct hash_stream given = load_given(counter);
	if (given_bytes > room_bytes)
		return;
	hash_stream_add(&given, bytes, given_bytes);
	store_given(counter, &given);
	atomic_store_explicit(&counter->ended, given_bytes == 0, memory_order_relaxed);
}

/* Programs have one read function or two; those that make one per object (closures of foreign function interfaces) use
 * them up, and are asked as if all was read. */
#define READERS(READER) READER(0) READER(1) READER(2) READER(3) READER(4) READER(5) READER(6) READER(7)

#define COUNT_READER(number) +1
#define READER_COUNT         (0 READERS(COUNT_READER))

/* Never emptied: libcurl may hold a copy of the function that stands for it. */
static _Atomic(curl_read_callback) readers[READER_COUNT];

static size_t count_and_read(size_t reader, char *out, size_t size, size_t count, void *argument)
{
	curl_read_callback read = atomic_load_explicit(&readers[reader], memory_order_acquire);
	struct counter *counter = counter_of(argument);
	atomic_fetch_add_explicit(&counter->reads, 1, memory_order_relaxed);
	size_t given_bytes = read(out, size, count, argument);
	add_given(counter, out, given_bytes, size * count);
	return given_bytes;
}

#define DEFINE_READER(number)                                                                                          \
	static size_t read_##number(char *out, size_t size, size_t count, void *argument)                              \
	{                                                                                                              \
		return count_and_read(number, out, size, count, argument);                                             \
	}
READERS(DEFINE_READER)

#define READER_NAME(number) read_##number,
static const curl_read_callback counting_readers[READER_COUNT] = {READERS(READER_NAME)};

curl_read_callback mime_count_reads(curl_read_callback read)
{
	for (size_t i = 0; read && i < READER_COUNT; i++) {
		curl_read_callback known = NULL;
		if (atomic_compare_exchange_strong(&readers[i], &known, read) || known == read)
			return counting_readers[i];
	}
	return read;
}

static bool is_counting(curl_read_callback read)
{
	for (size_t i = 0; i < READER_COUNT; i++)
		if (read == counting_readers[i])
			return true;
	return false;
}

static struct part *next_sibling(const struct mime *mime, const struct part *part)
{
	while (part && !part->next)
		part = part->mime == mime ? NULL : part->mime->owner;
	return part ? part->next : NULL;
}

/* Through a mime's parts at all levels, each after the part that owns its mime. */
static struct part *next_part(const struct mime *mime, const struct part *part)
{
	if (part->content == PART_MULTIPLE && part->inner && part->inner->first)
		return part->inner->first;
	return next_sibling(mime, part);
}

static void append_part(struct mime *mime, struct part *part)
{
	part->mime = mime;
	part->previous = mime->last;
	part->next = NULL;
	*(mime->last ? &mime->last->next : &mime->first) = part;
	mime->last = part;
}

static void remove_part(struct part *part)
{
	struct mime *mime = part->mime;
	*(part->previous ? &part->previous->next : &mime->first) = part->next;
	*(part->next ? &part->next->previous : &mime->last) = part->previous;
}

/* Returns an empty mime that can't be found yet, or NULL without memory. */
static struct mime *claim_mime(const void *key)
{
	struct mime *mime = address_claim(&mimes, key);
	if (!mime)
		return NULL;
	mime->first = mime->last = mime->owner = NULL;
	mime->holder = NULL;
	mime->is_copy = mime->is_incomplete = false;
	return mime;
}

static void set_stream(struct part *part, curl_seek_callback seek, void *argument, bool counted)
{
	part->content = PART_STREAM;
	part->seek = seek;
	part->argument = argument;
	part->counted = counted;
	part->size_bytes = -1;
	part->reads = reads_of(argument);
}

static struct part *claim_part(const void *key)
{
	struct part *part = address_claim(&parts, key);
	if (part)
		set_stream(part, NULL, NULL, false);
	return part;
}

static void release_mime(struct mime *mime)
{
	if (mime->owner)
		set_stream(mime->owner, NULL, NULL, false);
	if (mime->holder)
		*mime->holder = NULL;
	mime->first = mime->last = mime->owner = NULL;
	mime->holder = NULL;
	address_release(&mime->node);
}

/* Forgets the mime with all that it owns, from the innermost first part on: without recursion, stacks may be small. */
static void forget(struct mime *mime)
{
	struct mime *emptied = mime;
	while (emptied != mime || mime->first) {
		struct part *part = emptied->first;
		if (part && part->content == PART_MULTIPLE) {
			emptied = part->inner;
		} else if (part) {
			remove_part(part);
			address_release(&part->node);
		} else {
			struct mime *outer = emptied->owner->mime;
			release_mime(emptied);
			emptied = outer;
		}
	}
	release_mime(mime);
}

static void empty_part(struct part *part)
{
	if (part->content == PART_MULTIPLE)
		forget(part->inner);
	set_stream(part, NULL, NULL, false);
}

void mime_forget(const curl_mime *mime)
{
	struct mime *record = address_find(&mimes, mime);
	if (record)
		forget(record);
}

void mime_note_init(const curl_mime *mime)
{
	mime_forget(mime);
	struct mime *record = mime ? claim_mime(mime) : NULL;
	if (record)
		address_publish(&record->node, mime);
}

void mime_note_part(const curl_mime *mime, const curl_mimepart *part)
{
	struct mime *record = address_find(&mimes, mime);
	struct part *stale = address_find(&parts, part);
	if (stale) {
		empty_part(stale);
		remove_part(stale);
		address_release(&stale->node);
	}
	if (!record || !part)
		return;
	struct part *fresh = claim_part(part);
	if (!fresh) {
		record->is_incomplete = true;
		return;
	}
	append_part(record, fresh);
	address_publish(&fresh->node, part);
}

void mime_note_emptied(const curl_mimepart *part)
{
	struct part *record = address_find(&parts, part);
	if (record)
		empty_part(record);
}

static void set_plain(const curl_mimepart *part, uint64_t key)
{
	struct part *record = address_find(&parts, part);
	if (!record)
		return;
	record->content = PART_PLAIN;
	record->key = key;
}

void mime_note_memory(const curl_mimepart *part, const char *data, size_t size_bytes)
{
	set_plain(part, content_key_of_memory(data, size_bytes == (size_t)-1 ? -1 : (int64_t)size_bytes));
}

void mime_note_callback(const curl_mimepart *part, int64_t size_bytes, curl_read_callback given,
                        curl_seek_callback seek, void *argument)
{
	struct part *record = address_find(&parts, part);
	if (!record)
		return;
	set_stream(record, seek, argument, is_counting(given));
	record->size_bytes = size_bytes;
}

void mime_note_file(const curl_mimepart *part, const char *path)
{
	struct stat status;
	if (stat(path, &status) == 0 && S_ISREG(status.st_mode))
		set_plain(part, content_key_of_file(&status, 0));
}

void mime_note_inner(const curl_mimepart *part, const curl_mime *inner)
{
	struct part *record = address_find(&parts, part);
	struct mime *content = address_find(&mimes, inner);
	if (!record)
		return;
	if (content) {
		record->content = PART_MULTIPLE;
		record->inner = content;
		content->owner = record;
	} else {
		record->mime->is_incomplete = true;
	}
}

bool mime_is_inner(const curl_mimepart *part, const curl_mime *inner)
{
	const struct part *record = address_find(&parts, part);
	return record && inner && record->content == PART_MULTIPLE && record->inner == address_find(&mimes, inner);
}

void mime_detach(struct mime **body)
{
	struct mime *mime = *body;
	*body = NULL;
	/* A record that another handle's body uses by now is none of this one's. */
	if (!mime || mime->holder != body)
		return;
	mime->holder = NULL;
	if (mime->is_copy)
		forget(mime);
}

static void hold(struct mime **body, struct mime *mime)
{
	*body = mime;
	if (mime != &unknown)
		mime->holder = body;
}

void mime_attach(struct mime **body, const curl_mime *mime)
{
	struct mime *record = mime ? address_find(&mimes, mime) : NULL;
	mime_detach(body);
	if (mime)
		hold(body, record ? record : &unknown);
}

/* Returns false without memory. */
static bool copy_stream(struct mime *copy, const struct part *part)
{
	struct part *duplicate = claim_part(part);
	if (!duplicate)
		return false;
	set_stream(duplicate, part->seek, part->argument, part->counted);
	append_part(copy, duplicate);
	return true;
}

void mime_copy(struct mime **copy, const struct mime *source)
{
	*copy = NULL;
	if (!source)
		return;
	struct mime *mime = claim_mime(source);
	if (!mime) {
		*copy = &unknown;
		return;
	}
	mime->is_copy = true;
	mime->copied_key = mime_key(source, false);
	mime->is_incomplete = source->is_incomplete;
	/* What can be read again anyway needs no record. */
	for (const struct part *part = source->first; part; part = next_part(source, part)) {
		bool is_known = part->content != PART_MULTIPLE || !part->inner->is_incomplete;
		if (!is_known || (part->content == PART_STREAM && !copy_stream(mime, part)))
			mime->is_incomplete = true;
	}
	hold(copy, mime);
}

/* Whether each part satisfies `test`, and none is missing. */
static bool all_parts(const struct mime *body, bool (*test)(struct part *))
{
	if (!body)
		return true;
	if (body->is_incomplete)
		return false;
	for (struct part *part = body->first; part; part = next_part(body, part)) {
		if (part->content == PART_MULTIPLE && part->inner->is_incomplete)
			return false;
		if (part->content == PART_STREAM && !test(part))
			return false;
	}
	return true;
}

static bool was_read(const struct part *part)
{
	return !part->counted || reads_of(part->argument) != part->reads;
}

static bool may_rewind(struct part *part)
{
	return part->seek || part->counted;
}

static bool could_rewind(struct part *part)
{
	return part->seek || !was_read(part);
}

static bool begins(struct part *part)
{
	begin_given(part->argument);
	return true;
}

void mime_begin(struct mime *body)
{
	all_parts(body, begins);
}

static bool rewinds(struct part *part)
{
	if (!was_read(part))
		return true;
	if (!part->seek || part->seek(part->argument, 0, SEEK_SET) != CURL_SEEKFUNC_OK)
		return false;
	part->reads = reads_of(part->argument);
	begin_given(part->argument);
	return true;
}

/* What its callback gave since the part's beginning, if that was all. */
static uint64_t stream_key(const struct part *part)
{
	const struct counter *counter = counter_of(part->argument);
	struct hash_stream given = load_given(counter);
	bool is_whole = atomic_load_explicit(&counter->ended, memory_order_relaxed) ||
	                (int64_t)given.count_bytes == part->size_bytes;
	return part->counted && is_whole ? hash_stream_value(&given) : 0;
}

static uint64_t part_key(const struct part *part, bool sent)
{
	switch (part->content) {
	case PART_PLAIN:
		return part->key;
	case PART_MULTIPLE:
		return part->inner->is_incomplete ? 0 : HASH_BASIS;
	case PART_STREAM:
		break;
	}
	return sent ? stream_key(part) : 0;
}

/* How deep a part is shows in the order of those that consist of others. */
uint64_t mime_key(const struct mime *body, bool sent)
{
	uint64_t hash = HASH_BASIS;
	if (!body || body->is_copy)
		return body ? body->copied_key : 1;
	if (body->is_incomplete)
		return 0;
	for (const struct part *part = body->first; part; part = next_part(body, part)) {
		uint64_t key = part_key(part, sent);
		if (key == 0)
			return 0;
		hash = hash_number(hash, key);
	}
	return hash ? hash : 1;
}

bool mime_is_replayable(const struct mime *body)
{
	return all_parts(body, may_rewind);
}

bool mime_could_rewind(const struct mime *body)
{
	return all_parts(body, could_rewind);
}

bool mime_rewind(struct mime *body)
{
	return all_parts(body, rewinds);
}
