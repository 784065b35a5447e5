/* SPDX-License-Identifier: MIT */

/*
 * Which libcurl a call would have reached without us: what the dynamic linker would have bound the reference to.
 *
 * It can't be asked. dlsym(RTLD_NEXT) is wrong twice over: it is NULL when libcurl came in below a plugin loaded
 * RTLD_LOCAL (Python, Perl, Lua, R), and it is the *other* flavour when two are loaded (apache). And whatever asks it
 * waits for whoever opens a library at the moment. So we look into the objects' own tables, always for the version node
 * that the reference names; an object that has no versions serves any reference. If one object has the functions, that
 * is it. If several have (interpose/libcurl/scope.c), it is the first one in the order in which the linker searches.
 *
 * Nothing keeps a libcurl mapped that the program lets go. What was known of it is recognised as outdated: the object
 * that an address lies in is looked at each time.
 *
 * A reference that the binder brought here needs no search: its slot has an address in the libcurl.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "interpose/bind/object.h"
#include "interpose/host/mapping.h"
#include "interpose/host/process.h"
#include "interpose/host/tsan.h"
#include "interpose/libcurl/libcurl.h"
#include "interpose/libcurl/scope.h"

/* What a libcurl is known by. */
static const char symbol_name[] = "curl_easy_perform";

/* All libcurls seen so far, newest first. Never freed. */
static _Atomic(struct libcurl *) registry;

/* How many objects there were before any was opened. */
static WRITTEN_AT_START size_t first_object_count;

static int count_object(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info;
	(void)size;
	(void)context;
	first_object_count++;
	return 0;
}

/* The loader's list as it is when the program begins: what is in it now stays mapped. */
__attribute__((constructor)) static void count_first_objects(void)
{
	dl_iterate_phdr(count_object, NULL);
}

static bool overlaps(const struct libcurl *libcurl, const void *begin, const void *end)
{
	return libcurl->begin < end && begin < libcurl->end;
}

/* What is mapped where the libcurl has its dynamic section; false: another object, or none. */
static bool find_in_place(const struct libcurl *libcurl, struct mapping *mapping)
{
	return mapping_find(libcurl->dynamic, mapping) && mapping->dynamic == libcurl->dynamic;
}

bool libcurl_is_mapped(const struct libcurl *libcurl)
{
	struct mapping mapping;
	if (libcurl->stays_mapped)
		return true;
	return !libcurl->is_unmapped && (!mapping_is_lock_free() || find_in_place(libcurl, &mapping));
}

/* The registered libcurl that `address` lies in, as far as that is known. */
static const struct libcurl *find_containing(const void *address)
{
	const struct libcurl *libcurl = atomic_load_explicit(&registry, memory_order_acquire);
	while (libcurl && (libcurl->is_unmapped || !libcurl_contains(libcurl, address)))
		libcurl = libcurl->next;
	return libcurl;
}

/* Room for the first few: without memory too a call must find the libcurl that it is passed through to. */
#define ROOM_COUNT 8
static struct room {
	struct libcurl libcurl;
	_Atomic bool is_taken;
} rooms[ROOM_COUNT];

static struct libcurl *new_libcurl(void)
{
	for (size_t i = 0; i < ROOM_COUNT; i++)
		if (!atomic_exchange(&rooms[i].is_taken, true)) {
			tsan_acquire(&rooms[i]);
			return &rooms[i].libcurl;
		}
	return calloc(1, sizeof(struct libcurl));
}

/* Only for what was never published. */
static void free_libcurl(struct libcurl *libcurl)
{
	for (size_t i = 0; i < ROOM_COUNT; i++) {
		if (libcurl != &rooms[i].libcurl)
			continue;
		memset(libcurl, 0, sizeof(*libcurl));
		tsan_release(&rooms[i]);
		atomic_store(&rooms[i].is_taken, false);
		return;
	}
	free(libcurl);
}

#define WANTED_FUNCTION(since, symbol, word, ...) {#symbol, (since) == 0, offsetof(struct libcurl, word)},
static const struct wanted_function {
	char name[FUNCTION_NAME_BYTES];
	bool required;
	size_t offset; /* of its pointer in struct libcurl */
} wanted_functions[] = {WRAPPED_FUNCTIONS(WANTED_FUNCTION) CALLED_FUNCTIONS(WANTED_FUNCTION)};

static void *function_of(const struct libcurl *libcurl, size_t index)
{
	void *function;
	memcpy(&function, (const char *)libcurl + wanted_functions[index].offset, sizeof(function));
	return function;
}

/* The search. */

struct search {
	const char *version; /* of the reference; NULL: none */
	const void *caller;
	const void *inside;     /* an address in the libcurl, where one is known; else NULL */
	struct libcurl *fresh;  /* what is found */
	uintptr_t version_info; /* its curl_version_info(); 0: it has none */
	bool is_found;
	size_t object_count, candidate_count; /* seen so far; candidates define the function that is sought */
	size_t own;                           /* our own object; object_count if not seen yet */
	struct loaded *loaded;                /* NULL: only the candidate itself can be looked into */
	size_t candidate;
};

static uintptr_t find_address(const struct object *object, const char *name, const char *version)
{
	const ElfW(Sym) *symbol = object_find_version(object, name, object_gnu_hash(name), version);
	return symbol ? object_address(object, symbol) : 0;
}

/* As dlsym on a handle of the candidate: in what it depends on, too. That is how some interposers have the rest. */
static uintptr_t find_function(const struct search *search, const struct object *object, const char *name)
{
	struct loaded *loaded = search->loaded;
	uintptr_t address = find_address(object, name, search->version);
	size_t count = loaded && !address ? loaded_closure(loaded, search->candidate) : 0;
	for (size_t i = 0; i < count && !address; i++) {
		const struct loaded_object *other = &loaded->objects[loaded->order[i]];
		if (other->has_symbols && loaded->order[i] != search->own)
			address = find_address(&other->object, name, search->version);
	}
	return address;
}

static bool fill_functions(struct search *search, const struct object *object)
{
	for (size_t i = 0; i < sizeof(wanted_functions) / sizeof(wanted_functions[0]); i++) {
		const struct wanted_function *wanted = &wanted_functions[i];
		uintptr_t address = find_function(search, object, wanted->name);
		if (!address && wanted->required)
			return false;
		memcpy((char *)search->fresh + wanted->offset, &address, sizeof(address));
	}
	search->version_info = find_function(search, object, "curl_version_info");
	return true;
}

static void copy_text(char *copy, size_t room_bytes, const char *text)
{
	size_t bytes = strnlen(text, room_bytes - 1);
	memcpy(copy, text, bytes);
	copy[bytes] = '\0';
}

/* Fills in what is found if the object has all that a libcurl has. */
static bool fill(struct search *search, const struct mapping *mapping, const struct object *object,
                 const ElfW(Sym) * symbol)
{
	struct libcurl *fresh = search->fresh;
	const char *node = object_version(object, symbol);
	if (search->inside)
		search->version = node;
	if (!fill_functions(search, object))
		return false;
	fresh->begin = mapping->begin;
	fresh->end = mapping->end;
	fresh->load = mapping->load;
	fresh->dynamic = mapping->dynamic;
	fresh->path_hash = hash_text(HASH_BASIS, mapping->path);
	copy_text(fresh->node, sizeof(fresh->node), node ? node : "");
	search->is_found = true;
	return true;
}

static bool is_wanted_place(const struct search *search, const struct mapping *mapping)
{
	if (search->inside)
		return search->inside >= mapping->begin && search->inside < mapping->end;
	return search->object_count > search->own;
}

/* Counts the candidates and fills in the first one that is complete. */
static bool visit_object(void *context, const struct mapping *mapping)
{
	struct search *search = context;
	const struct link_map map = {.l_addr = mapping->load, .l_ld = (ElfW(Dyn) *)(uintptr_t)mapping->dynamic};
	struct object object;
	bool is_own = mapping->dynamic == _DYNAMIC;
	if (is_own)
		search->own = search->object_count;
	if (!is_own && is_wanted_place(search, mapping) && object_read(&object, &map)) {
		uint32_t hash = object_gnu_hash(symbol_name);
		const ElfW(Sym) *symbol = search->inside
		                              ? object_find(&object, symbol_name, hash)
		                              : object_find_version(&object, symbol_name, hash, search->version);
		search->candidate_count += symbol != NULL;
		if (symbol && !search->is_found && fill(search, mapping, &object, symbol))
			search->fresh->stays_mapped = search->object_count < first_object_count;
	}
	search->object_count++;
	return false;
}

static void search_objects(void *context)
{
	struct search *search = context;
	search->own = SIZE_MAX;
	mapping_each(visit_object, search);
}

static bool accept_object(void *context, struct loaded *loaded, size_t index)
{
	struct search *search = context;
	const struct loaded_object *object = &loaded->objects[index];
	const ElfW(Sym) *symbol =
	    object_find_version(&object->object, symbol_name, object_gnu_hash(symbol_name), search->version);
	search->candidate = index;
	if (!symbol || !fill(search, &object->mapping, &object->object, symbol))
		return false;
	search->fresh->stays_mapped = index < first_object_count;
	return true;
}

static void search_scope(void *context)
{
	struct search *search = context;
	struct loaded *loaded = search->loaded;
	loaded_take(loaded);
	search->own = loaded_find(loaded, &registry);
	const struct scope scope = {
	    .loaded = loaded,
	    .own = search->own,
	    .caller = search->caller,
	    .accept = accept_object,
	    .context = search,
	};
	search->is_found = false;
	scope_search(&scope);
}

/* More may have been loaded since they were counted. */
#define MORE_OBJECTS 16

/* Finds the libcurl; returns whether there is one. */
static bool find_libcurl(struct search *search)
{
	mapping_hold(search_objects, search);
	if (search->inside || search->candidate_count == 0 || (search->candidate_count == 1 && search->is_found))
		return search->is_found;
	search->loaded = loaded_new(search->object_count + MORE_OBJECTS);
	if (search->loaded)
		mapping_hold(search_scope, search);
	loaded_free(search->loaded);
	return search->is_found;
}

/* The registry. */

static bool has_same_functions(const struct libcurl *a, const struct libcurl *b)
{
	for (size_t i = 0; i < sizeof(wanted_functions) / sizeof(wanted_functions[0]); i++)
		if (function_of(a, i) != function_of(b, i))
			return false;
	return true;
}

/* Returns the one that is registered already, if there is one. What lies in its way there is no more. */
static const struct libcurl *find_registered(const struct libcurl *fresh)
{
	const struct libcurl *found = NULL;
	for (struct libcurl *libcurl = atomic_load(&registry); libcurl; libcurl = libcurl->next) {
		if (libcurl->is_unmapped || !overlaps(libcurl, fresh->begin, fresh->end))
			continue;
		if (libcurl->dynamic == fresh->dynamic && libcurl->path_hash == fresh->path_hash &&
		    has_same_functions(libcurl, fresh))
			found = libcurl;
		else
			libcurl->is_unmapped = true;
	}
	return found;
}

static void describe_version(struct libcurl *libcurl, uintptr_t address)
{
	const char *flavour = libcurl->node[0] ? libcurl->node : "unversioned";
	if (strncmp(flavour, "CURL_", 5) == 0)
		flavour += 5;
	copy_text(libcurl->flavour, sizeof(libcurl->flavour), flavour);

	curl_version_info_data *(*version_info)(CURLversion) = NULL;
	memcpy(&version_info, &address, sizeof(address));
	const curl_version_info_data *info = version_info ? version_info(CURLVERSION_NOW) : NULL;
	if (!info)
		return;
	libcurl->version_number = info->version_num;
	libcurl->asynchronous_lookup = (info->features & CURL_VERSION_ASYNCHDNS) != 0;
	copy_text(libcurl->version, sizeof(libcurl->version), info->version);
}

/* Publishes `fresh`, or frees it and returns the one that another thread published meanwhile. */
static const struct libcurl *publish(struct libcurl *fresh)
{
	fresh->next = atomic_load_explicit(&registry, memory_order_acquire);
	do {
		const struct libcurl *seen = find_registered(fresh);
		if (seen) {
			free_libcurl(fresh);
			return seen;
		}
		fresh->number = fresh->next ? fresh->next->number + 1 : 1;
	} while (!atomic_compare_exchange_weak_explicit(&registry, &fresh->next, fresh, memory_order_acq_rel,
	                                                memory_order_acquire));
	return fresh;
}

static const struct libcurl *search_libcurl(const char *version, const void *caller, const void *inside)
{
	struct search search = {.version = version, .caller = caller, .inside = inside, .fresh = new_libcurl()};
	if (!search.fresh)
		return NULL;
	const struct libcurl *known = find_libcurl(&search) ? find_registered(search.fresh) : NULL;
	if (search.is_found && !known) {
		describe_version(search.fresh, search.version_info);
		return publish(search.fresh);
	}
	free_libcurl(search.fresh);
	return known;
}

/*
 * What was found for a call from one place through one reference: a hash of both and of the object that the place lies
 * in, with the libcurl's number in the lowest byte. Kept in one word each, so that no reader sees a half of it.
 */
#define ANSWER_COUNT 64
#define NUMBER_MASK  UINT64_C(0xff)
static _Atomic uint64_t answers[ANSWER_COUNT];

static uint64_t hash_of_call(const struct reference *reference, const void *caller)
{
	struct mapping mapping = {.path = ""};
	bool is_known = mapping_find(caller, &mapping);
	uint64_t hash = hash_number(hash_number(HASH_BASIS, (uintptr_t)reference), (uintptr_t)caller);
	if (is_known)
		hash = hash_text(hash_number(hash, (uintptr_t)mapping.dynamic), mapping.path);
	return hash & ~NUMBER_MASK;
}

/* Whether a look into the libcurl's tables still gives the functions that we know. */
static bool is_still_the_same(const struct libcurl *libcurl)
{
	const struct link_map map = {.l_addr = libcurl->load, .l_ld = (ElfW(Dyn) *)(uintptr_t)libcurl->dynamic};
	struct mapping mapping;
	struct object object;
	if (libcurl->stays_mapped)
		return true;
	if (libcurl->is_unmapped || !find_in_place(libcurl, &mapping) ||
	    hash_text(HASH_BASIS, mapping.path) != libcurl->path_hash || !object_read(&object, &map))
		return false;
	for (size_t i = 0; i < sizeof(wanted_functions) / sizeof(wanted_functions[0]); i++) {
		const void *function = function_of(libcurl, i);
		const char *node = libcurl->node[0] ? libcurl->node : NULL;
		if (function && libcurl_contains(libcurl, function) &&
		    find_address(&object, wanted_functions[i].name, node) != (uintptr_t)function)
			return false;
	}
	return true;
}

static const struct libcurl *find_answer(uint64_t call)
{
	uint64_t answer = atomic_load_explicit(&answers[call / (NUMBER_MASK + 1) % ANSWER_COUNT], memory_order_acquire);
	const struct libcurl *libcurl = atomic_load_explicit(&registry, memory_order_acquire);
	if ((answer & ~NUMBER_MASK) != call)
		return NULL;
	while (libcurl && libcurl->number != (answer & NUMBER_MASK))
		libcurl = libcurl->next;
	return libcurl && is_still_the_same(libcurl) ? libcurl : NULL;
}

static void keep_answer(uint64_t call, const struct libcurl *libcurl)
{
	if (libcurl && libcurl->number <= NUMBER_MASK)
		atomic_store_explicit(&answers[call / (NUMBER_MASK + 1) % ANSWER_COUNT], call | libcurl->number,
		                      memory_order_release);
}

/* The only registered libcurl that serves references with this version (NULL: without), or NULL. */
static const struct libcurl *registered_libcurl(const char *version)
{
	const struct libcurl *only = NULL;
	for (const struct libcurl *libcurl = atomic_load(&registry); libcurl; libcurl = libcurl->next) {
		if (libcurl->is_unmapped)
			continue;
		bool serves = !version || strcmp(libcurl->flavour, "unversioned") == 0 ||
		              strcmp(libcurl->flavour, version + strlen("CURL_")) == 0;
		if (serves && only)
			return NULL;
		only = serves ? libcurl : only;
	}
	return only;
}

/* As the dynamic linker would have bound the caller's reference. */
static const struct libcurl *find_by_name(const struct reference *reference, const void *caller)
{
	const struct libcurl *containing = find_containing(caller);
	if (containing && is_still_the_same(containing))
		return containing;
	uint64_t call = hash_of_call(reference, caller);
	const struct libcurl *libcurl = find_answer(call);
	if (!libcurl) {
		libcurl = search_libcurl(reference->version, caller, NULL);
		keep_answer(call, libcurl);
	}
	return libcurl;
}

static const struct libcurl *find_by_address(const void *inside)
{
	const struct libcurl *containing = find_containing(inside);
	return containing && is_still_the_same(containing) ? containing : search_libcurl(NULL, NULL, inside);
}

const struct libcurl *libcurl_of_caller(const struct reference *reference, const void *caller)
{
	const struct bind_slot *slot = reference->slot;
	const void *bound = slot ? (const void *)atomic_load_explicit(&slot->inside, memory_order_acquire) : NULL;
	/* The lock may be held for ever by a thread of the parent. */
	if (process_is_raw_child()) {
		const struct libcurl *registered =
		    bound ? find_containing(bound) : registered_libcurl(reference->version);
		if (registered)
			return registered;
	}
	return bound ? find_by_address(bound) : find_by_name(reference, caller);
}
