/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BIND_OBJECT_H
#define TENACURL_INTERPOSE_BIND_OBJECT_H

/*
 * Reads the dynamic symbols and relocations of a mapped object, for modules of ld.so's audit interface and for the
 * preloaded object. Nothing here needs a C library: with one of its own, an audit module would bring a second libc into
 * every process.
 *
 * All functions are pure, lock-free and async-signal-safe; texts and symbols that they return belong to the object.
 */

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct object {
	const struct link_map *map;
	const ElfW(Sym) * symbols;
	const char *strings;
	const uint32_t *gnu_hash;     /* NULL: it has none */
	const ElfW(Word) * sysv_hash; /* NULL: it has none */
};

/*
 * Finds the object's tables through its dynamic section, which may or may not have been relocated. Returns false if it
 * has no dynamic symbols.
 */
bool object_read(struct object *object, const struct link_map *map);

/* The value of the first entry with `tag` in the dynamic section; `otherwise` without one. */
ElfW(Xword) object_dynamic(const struct link_map *map, ElfW(Sxword) tag, ElfW(Xword) otherwise);

/* As object_dynamic, for a tag whose value is an address; NULL without one. */
const void *object_table(const struct link_map *map, ElfW(Sxword) tag);

/* The hash of a symbol's name as DT_GNU_HASH has it: computed once for a name that is looked up often. */
uint32_t object_gnu_hash(const char *name);

/*
 * Returns the symbol of this name (whatever its version) that the object itself defines, or NULL. `gnu_hash` is the
 * name's. A Bloom filter answers for most objects that don't have it.
 */
const ElfW(Sym) * object_find(const struct object *object, const char *name, uint32_t gnu_hash);

/*
 * Returns the symbol that ld.so would bind a reference to `name` to that has the version `version` (NULL: none), of
 * those that the object defines; NULL if there is none. An object without versions serves any reference; a reference
 * without one is served by the object's first version or its default (glibc, elf/dl-lookup.c, check_match()).
 */
const ElfW(Sym) *
    object_find_version(const struct object *object, const char *name, uint32_t gnu_hash, const char *version);

/* The version of a symbol that the object defines; NULL if it has none. */
const char *object_version(const struct object *object, const ElfW(Sym) * symbol);

/* Where the symbol lies in the process. */
static inline uintptr_t object_address(const struct object *object, const ElfW(Sym) * symbol)
{
	return object->map->l_addr + symbol->st_value;
}

/*
 * Calls `visit` for each relocation that stores the address of a named symbol in the object's data (GLOB_DAT and the
 * like, not the procedure linkage table), until it returns true. `place` is where the address is, or will be, stored.
 * Returns whether it did.
 */
typedef bool (*object_visit_function)(void *context, const ElfW(Sym) * symbol, const char *name,
                                      const uintptr_t *place);
bool object_visit_data_references(const struct object *object, object_visit_function visit, void *context);

/* The same for the procedure linkage table: what is at `place` may not be the symbol's address yet. */
bool object_visit_calls(const struct object *object, object_visit_function visit, void *context);

bool text_equals(const char *a, const char *b);

#endif
