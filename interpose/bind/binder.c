/* SPDX-License-Identifier: MIT */

/*
 * The binder: points bindings at the preloaded object that would reach a libcurl behind its back.
 *
 * An audit module of ld.so (LD_AUDIT, rtld-audit(7)). ld.so tells it of each object that it maps and of each reference
 * that it binds, also of the two kinds that a preload can't see: those of a plugin that was opened with RTLD_DEEPBIND
 * (PHP's extensions), and dlsym on a handle (ctypes, Ruby's FFI, D). It has no C library, no memory but its own few
 * variables and no lock: bindings happen on any thread, lazy ones without ld.so's locks. What it must remember of an
 * object is in the object's cookie, which ld.so keeps.
 *
 * Who is what:
 *
 *   the preloaded object   the first that has the table of bind.h. Nothing that it refers to is touched.
 *   a libcurl              what defines all that a libcurl has, and was mapped after the preloaded object. What came
 *                          before it is the program, which may be its own libcurl, or another preload, which stands in
 *                          front of us on purpose. Its own references are never touched: a libcurl calls its own
 *                          exports, and an interposer looks for the next one. Bound to us they would go in circles.
 *   left alone             what defines some of the functions only: another interposer. And other namespaces, where the
 *                          preloaded object isn't.
 *   a referrer             everything else.
 *
 * A handle that is in part used behind our back is the danger: we lend its callbacks, the program sets its own again
 * past us, and function and data no longer go together. So for each libcurl and each referrer either all bindings that
 * can be seen are turned, or none is:
 *
 *   - A libcurl gets a slot at its first binding, or never: because all are taken, or because the preloaded object
 * isn't relocated yet (a library that binds at once, at start).
 *   - An address that an object keeps in its data (GLOB_DAT: what was compiled with -fno-plt, or takes a function's
 *     address) isn't announced. An object that has one which went to the libcurl itself is left alone altogether. ld.so
 *     relocates an object's data before its procedure linkage table, so that it can be seen. What went to us because
 *     the object isn't DEEPBIND does no harm.
 *   - What reaches us by the preload and what reaches us by the binder mix freely: the record belongs to the handle.
 *   - What is left: two plugins hand one handle to each other, one of them is turned, and the other was opened with
 *     RTLD_DEEPBIND and has such addresses. What the other one sets goes past the record. Nothing shows it: ld.so
 *     announces nothing of that plugin. No program is known that does this.
 *
 * A slot that becomes free when its libcurl is unmapped keeps its address: at exit ld.so closes all objects while
 * handlers may still call.
 */

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "interpose/bind/bind.h"
#include "interpose/bind/environment.h"
#include "interpose/bind/object.h"
#include "interpose/bind/step_aside.h"

#define EXPORT __attribute__((visibility("default")))

/* Of glibc 2.35. Before, references that are bound at once are not announced. */
#define AUDIT_INTERFACE 2

/* What an object is: in the low bits of its cookie, which else is its link map's address. */
enum kind {
	KIND_LEFT_ALONE,
	KIND_REFERRER, /* addresses in its data were not looked for, or are there and do no harm */
	KIND_PLAIN,    /* a referrer without such addresses */
	KIND_LIBCURL,  /* nothing was bound to it so far */
	KIND_SERVED,   /* a libcurl that has a slot */
	KIND_REFUSED,  /* a libcurl that never gets one */
	KIND_MASK = 7
};

#define FUNCTION(since, symbol, ...) {#symbol, (since) == 0},
static const struct function {
	char name[FUNCTION_NAME_BYTES];
	bool is_in_every_libcurl;
} functions[BIND_FUNCTION_COUNT] = {WRAPPED_FUNCTIONS(FUNCTION)};
static uint32_t function_hashes[BIND_FUNCTION_COUNT];

/* The preloaded object's; NULL until it is mapped. */
static _Atomic(struct bind_table *) shared_table;
static _Atomic(uintptr_t) preloaded_base;

EXPORT unsigned int la_version(unsigned int offered)
{
	/* 0: ld.so unloads this module again, without a word. */
	if (offered < AUDIT_INTERFACE || environment_is_disabled())
		return 0;
	for (size_t i = 0; i < BIND_FUNCTION_COUNT; i++)
		function_hashes[i] = object_gnu_hash(functions[i].name);
	return AUDIT_INTERFACE;
}

/* Remembers the table if the object is the preloaded one. */
static bool find_table(const struct object *object)
{
	const ElfW(Sym) *symbol = object_find(object, BIND_TABLE_SYMBOL, object_gnu_hash(BIND_TABLE_SYMBOL));
	if (!symbol || symbol->st_size != sizeof(struct bind_table))
		return false;
	atomic_store(&preloaded_base, object->map->l_addr);
	atomic_store(&shared_table, (struct bind_table *)object_address(object, symbol));
	return true;
}

static bool defines_function(const struct object *object)
{
	for (size_t i = 0; i < BIND_FUNCTION_COUNT; i++)
		if (object_find(object, functions[i].name, function_hashes[i]))
			return true;
	return false;
}

/* Whether it has all that every libcurl has, and no interposer has reason to define altogether. */
static bool is_libcurl(const struct object *object)
{
	for (size_t i = 0; i < BIND_FUNCTION_COUNT; i++)
		if (functions[i].is_in_every_libcurl && !object_find(object, functions[i].name, function_hashes[i]))
			return false;
	return object_find(object, "curl_version_info", object_gnu_hash("curl_version_info")) != NULL;
}

/* What an object is whose references and symbols concern us at all. */
static enum kind kind_of_object(const struct object *object)
{
	bool is_after_us = atomic_load(&shared_table) != NULL;
	if (!is_after_us && find_table(object))
		return KIND_LEFT_ALONE;
	if (!defines_function(object))
		return KIND_REFERRER;
	return is_after_us && is_libcurl(object) ? KIND_LIBCURL : KIND_LEFT_ALONE;
}

EXPORT unsigned int la_objopen(struct link_map *map, Lmid_t namespace, uintptr_t *cookie)
{
	struct object object;
	enum kind kind = KIND_LEFT_ALONE;
	bool has_room_for_kind = ((uintptr_t)map & KIND_MASK) == 0;

	if (namespace == LM_ID_BASE)
		step_aside_look(map);
	if (namespace == LM_ID_BASE && has_room_for_kind && object_read(&object, map))
		kind = kind_of_object(&object);
	*cookie = has_room_for_kind ? (uintptr_t)map | kind : KIND_LEFT_ALONE;
	if (kind == KIND_LEFT_ALONE)
		return 0;
	return kind == KIND_LIBCURL ? LA_FLG_BINDTO : LA_FLG_BINDFROM;
}

EXPORT void la_preinit(uintptr_t *cookie)
{
	(void)cookie;
	step_aside_end();
}

static enum kind kind_of(uintptr_t cookie)
{
	return (enum kind)(cookie & KIND_MASK);
}

static const struct link_map *map_of(uintptr_t cookie)
{
	return (const struct link_map *)(cookie & ~(uintptr_t)KIND_MASK);
}

/* Gives the libcurl's slot back, if it has one. */
static void free_slot(uintptr_t owner)
{
	struct bind_table *table = atomic_load(&shared_table);
	for (size_t i = 0; table && i < BIND_SLOT_COUNT; i++) {
		uintptr_t seen = owner;
		atomic_compare_exchange_strong(&table->slots[i].owner, &seen, 0);
	}
}

EXPORT unsigned int la_objclose(uintptr_t *cookie)
{
	uintptr_t closed = __atomic_load_n(cookie, __ATOMIC_ACQUIRE);
	if (kind_of(closed) == KIND_SERVED)
		free_slot((uintptr_t)map_of(closed));
	return 0;
}

/* Which slot the owner has, BIND_SLOT_COUNT if none. */
static size_t find_slot(struct bind_table *table, uintptr_t owner)
{
	size_t slot = 0;
	while (slot < BIND_SLOT_COUNT && atomic_load(&table->slots[slot].owner) != owner)
		slot++;
	return slot;
}

static size_t claim_slot(struct bind_table *table, uintptr_t owner)
{
	for (size_t slot = 0; slot < BIND_SLOT_COUNT; slot++) {
		uintptr_t seen = 0;
		if (atomic_compare_exchange_strong(&table->slots[slot].owner, &seen, owner) || seen == owner)
			return slot;
	}
	return BIND_SLOT_COUNT;
}

/* Before that, what stands in the table's entries are no addresses. */
static bool is_relocated(const struct bind_table *table)
{
	return (uintptr_t)table->entries[0][0] > atomic_load(&preloaded_base);
}

/*
 * The slot of a libcurl, BIND_SLOT_COUNT if it has none. Whether it gets one is decided once, by whichever thread comes
 * first, so that all its functions fare alike.
 */
static size_t slot_of(struct bind_table *table, uintptr_t *cookie)
{
	uintptr_t seen = __atomic_load_n(cookie, __ATOMIC_ACQUIRE);
	uintptr_t owner = (uintptr_t)map_of(seen);
	if (kind_of(seen) == KIND_LIBCURL) {
		bool has_slot = is_relocated(table) && claim_slot(table, owner) < BIND_SLOT_COUNT;
		uintptr_t decided = owner | (has_slot ? KIND_SERVED : KIND_REFUSED);
		if (__atomic_compare_exchange_n(cookie, &seen, decided, false, __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
			seen = decided;
		else if (kind_of(seen) == KIND_REFUSED && has_slot)
			free_slot(owner);
	}
	return kind_of(seen) == KIND_SERVED ? find_slot(table, owner) : BIND_SLOT_COUNT;
}

/* BIND_FUNCTION_COUNT for another name. */
static size_t find_function(const char *name)
{
	size_t function = 0;
	while (function < BIND_FUNCTION_COUNT && !text_equals(name, functions[function].name))
		function++;
	return function;
}

/* Looks through a referrer's data for addresses of our functions. */
struct search {
	struct object libcurl;
	bool found;
};

/* Ends the search at an address that lies in the libcurl. */
static bool reaches_libcurl(void *context, const ElfW(Sym) * imported, const char *name, const uintptr_t *place)
{
	struct search *search = context;
	(void)imported;
	size_t function = find_function(name);
	if (function == BIND_FUNCTION_COUNT)
		return false;
	search->found = true;
	const ElfW(Sym) *symbol = object_find(&search->libcurl, name, function_hashes[function]);
	uintptr_t stored;
	__builtin_memcpy(&stored, place, sizeof(stored));
	return symbol && stored == object_address(&search->libcurl, symbol);
}

/* Whether bindings of this object to the libcurl can be turned: none of them escapes us. */
static bool may_turn(uintptr_t *referrer, uintptr_t libcurl)
{
	uintptr_t seen = __atomic_load_n(referrer, __ATOMIC_RELAXED);
	struct object object;
	struct search search = {.found = false};
	if (kind_of(seen) != KIND_REFERRER)
		return kind_of(seen) == KIND_PLAIN;
	if (!object_read(&object, map_of(seen)) || !object_read(&search.libcurl, map_of(libcurl)))
		return false;
	if (object_visit_data_references(&object, reaches_libcurl, &search))
		return false;
	if (!search.found)
		__atomic_store_n(referrer, (uintptr_t)map_of(seen) | KIND_PLAIN, __ATOMIC_RELAXED);
	return true;
}

/* What a reference of this name is bound to that would be bound to `address`. */
static uintptr_t bind(uintptr_t address, uintptr_t *referrer, uintptr_t *definer, const char *name)
{
	struct bind_table *table = atomic_load_explicit(&shared_table, memory_order_acquire);
	uintptr_t libcurl = __atomic_load_n(definer, __ATOMIC_ACQUIRE);
	if (!table || (kind_of(libcurl) != KIND_LIBCURL && kind_of(libcurl) != KIND_SERVED))
		return address;
	size_t function = find_function(name);
	if (function == BIND_FUNCTION_COUNT || !may_turn(referrer, libcurl))
		return address;
	size_t slot = slot_of(table, definer);
	if (slot == BIND_SLOT_COUNT)
		return address;
	atomic_store_explicit(&table->slots[slot].inside, address, memory_order_release);
	return (uintptr_t)table->entries[slot][function];
}

#if __ELF_NATIVE_CLASS == 64
#define LA_SYMBIND la_symbind64
#else
#define LA_SYMBIND la_symbind32
#endif

EXPORT uintptr_t LA_SYMBIND(ElfW(Sym) * symbol, unsigned int index, uintptr_t *referrer, uintptr_t *definer,
                            unsigned int *flags, const char *name)
{
	(void)index;
	/* Another audit module knows better. */
	if ((*flags & LA_SYMB_ALTVALUE) != 0)
		return symbol->st_value;
	return bind(symbol->st_value, referrer, definer, name);
}
