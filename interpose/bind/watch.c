/* SPDX-License-Identifier: MIT */

/*
 * The watcher: tells `tenacurl check --run` which objects of a program call libcurl, and where their calls go.
 *
 * An audit module like the binder, loaded behind it: ld.so asks the modules one after the other, and each sees what the
 * one before it made of a binding. So an address inside the preloaded object, of a reference that ld.so had bound to a
 * libcurl, is the binder's doing. Nothing is bound elsewhere: a stub stands in front of each function by which
 * transfers are made, and tells of its first call (watch_stub.c).
 *
 * A libcurl's own references, those of the preloaded object and those of other namespaces don't count. An address in an
 * object's data (GLOB_DAT) is never announced: what is in such places is read once ld.so has filled them, and told
 * without a call, since nobody sees whether there is one.
 */

#include <link.h>
#include <stdbool.h>
#include <stddef.h>

#include "interpose/bind/bind.h"
#include "interpose/bind/environment.h"
#include "interpose/bind/object.h"
#include "interpose/bind/watch_line.h"
#include "interpose/bind/watch_stub.h"

#define EXPORT __attribute__((visibility("default")))

/* Of glibc 2.35. Before, references that are bound at once are not announced. */
#define AUDIT_INTERFACE 2

/* In the low bits of a cookie, which else is the link map's address. */
#define COOKIE_LATER    ((uintptr_t)1)
#define COOKIE_LIBCURL  ((uintptr_t)2)
#define COOKIE_REFERRER ((uintptr_t)4)
#define COOKIE_BITS     ((uintptr_t)7)

#define DATA_REFERENCES_MAX 32

/* The rest of a symbol's version number says whether it is the default one. */
#define VERSION_INDEX 0x7fff

/* An address in an object's data that ld.so fills in after it has told of the object. */
struct data_reference {
	const struct link_map *referrer; /* NULL: told of */
	const uintptr_t *place;
	const char *function;
	const char *when;
};

#define WATCH_FUNCTION_NAME(name) [WATCH_##name] = #name,
static const char *const FUNCTIONS[WATCH_FUNCTION_COUNT] = {WATCH_FUNCTIONS(WATCH_FUNCTION_NAME)};

/* Written with ld.so's lock held, except that the program's first binding may come at any time. */
static struct data_reference data_references[DATA_REFERENCES_MAX];
static size_t data_reference_count;
static bool has_program, has_started;

/* Where the preloaded object lies; 0: it isn't there. */
static uintptr_t tenacurl_begin, tenacurl_end;

static const struct link_map *map_of(uintptr_t cookie)
{
	return (const struct link_map *)(cookie & ~COOKIE_BITS);
}

static const char *path_of(const struct link_map *map)
{
	return map->l_name && map->l_name[0] ? map->l_name : watch_line_program();
}

static const char *when_of(uintptr_t cookie)
{
	return cookie & COOKIE_LATER ? WATCH_LATER : WATCH_AT_START;
}

static bool is_tenacurl_address(uintptr_t address)
{
	return address >= tenacurl_begin && address < tenacurl_end;
}

static enum watch_function function_of(const char *name)
{
	unsigned function = 0;
	while (function < WATCH_FUNCTION_COUNT && !text_equals(FUNCTIONS[function], name))
		function++;
	return (enum watch_function)function;
}

static const ElfW(Sym) * find(const struct object *object, const char *name)
{
	return object_find(object, name, object_gnu_hash(name));
}

/* The preloaded object's header is at its start, as in all shared objects that are linked in the usual way. */
static void note_tenacurl(const struct link_map *map)
{
	const ElfW(Ehdr) *header = (const void *)map->l_addr;
	const ElfW(Phdr) *segments = (const void *)(map->l_addr + header->e_phoff);
	tenacurl_begin = map->l_addr;
	for (unsigned i = 0; i < header->e_phnum; i++) {
		uintptr_t end = map->l_addr + segments[i].p_vaddr + segments[i].p_memsz;
		if (segments[i].p_type == PT_LOAD && end > tenacurl_end)
			tenacurl_end = end;
	}
}

/* Returns the version of one of the object's symbols; "" if it has none. */
static const char *node_of(const struct object *object, const ElfW(Sym) * symbol)
{
	const ElfW(Versym) *versions = object_table(object->map, DT_VERSYM);
	const char *definitions = object_table(object->map, DT_VERDEF);
	size_t count = (size_t)object_dynamic(object->map, DT_VERDEFNUM, 0);
	for (size_t i = 0; versions && definitions && i < count; i++) {
		const ElfW(Verdef) *definition = (const void *)definitions;
		const ElfW(Verdaux) *name = (const void *)(definitions + definition->vd_aux);
		bool is_its_own = definition->vd_ndx == (versions[symbol - object->symbols] & VERSION_INDEX);
		if (is_its_own && !(definition->vd_flags & VER_FLG_BASE))
			return object->strings + name->vda_name;
		definitions += definition->vd_next;
	}
	return "";
}

static void tell_data_reference(const struct data_reference *reference)
{
	const char *target = WATCH_TO_UNKNOWN;
	if (*reference->place)
		target = is_tenacurl_address(*reference->place) ? WATCH_TO_PRELOAD : WATCH_TO_LIBCURL;
	const char *const fields[] = {path_of(reference->referrer), reference->when, reference->function, target, NULL};
	watch_line_append(WATCH_DATA, fields);
}

/* Tells what has become of the addresses in data that have been filled in; of those of `closing` in any case. */
static void tell_data_references(const struct link_map *closing)
{
	for (size_t i = 0; i < data_reference_count; i++) {
		struct data_reference *reference = &data_references[i];
		if (!reference->referrer || (reference->referrer != closing && !*reference->place))
			continue;
		tell_data_reference(reference);
		reference->referrer = NULL;
	}
}

/* What a look through an object's relocations needs to know of the object. */
struct opening {
	const struct link_map *map;
	const char *when;
};

static bool note_data_reference(void *context, const ElfW(Sym) * symbol, const char *name, const uintptr_t *place)
{
	const struct opening *opening = context;
	(void)symbol;
	enum watch_function function = function_of(name);
	if (function == WATCH_FUNCTION_COUNT || data_reference_count == DATA_REFERENCES_MAX)
		return false;
	data_references[data_reference_count++] =
	    (struct data_reference){opening->map, place, FUNCTIONS[function], opening->when};
	return false;
}

EXPORT unsigned int la_version(unsigned int version)
{
	return version >= AUDIT_INTERFACE && watch_line_begin() ? AUDIT_INTERFACE : 0;
}

EXPORT unsigned int la_objopen(struct link_map *map, Lmid_t namespace_id, uintptr_t *cookie)
{
	struct object object;
	*cookie = (uintptr_t)map | (has_started ? COOKIE_LATER : 0);
	if (namespace_id != LM_ID_BASE || !object_read(&object, map))
		return 0;
	has_program = true;
	if (find(&object, BIND_TABLE_SYMBOL)) {
		note_tenacurl(map);
		return LA_FLG_BINDTO;
	}
	const ElfW(Sym) *perform = find(&object, FUNCTIONS[WATCH_curl_easy_perform]);
	if (perform) {
		const char *const fields[] = {path_of(map), node_of(&object, perform), NULL};
		watch_line_append(WATCH_LIBCURL, fields);
		*cookie |= COOKIE_LIBCURL;
		return LA_FLG_BINDTO;
	}
	struct opening opening = {map, when_of(*cookie)};
	object_visit_data_references(&object, note_data_reference, &opening);
	*cookie |= COOKIE_REFERRER;
	return LA_FLG_BINDFROM;
}

EXPORT void la_activity(uintptr_t *cookie, unsigned int activity)
{
	(void)cookie;
	tell_data_references(NULL);
	if (!has_program || has_started || activity != LA_ACT_CONSISTENT)
		return;
	const char *there = environment_is_disabled() ? WATCH_OFF : WATCH_YES;
	const char *const fields[] = {tenacurl_begin ? there : WATCH_NO, NULL};
	has_started = true;
	watch_line_append(WATCH_PROCESS, fields);
}

EXPORT void la_preinit(uintptr_t *cookie)
{
	(void)cookie;
	tell_data_references(NULL);
}

EXPORT unsigned int la_objclose(uintptr_t *cookie)
{
	tell_data_references(map_of(*cookie));
	watch_stub_forget(map_of(*cookie));
	return 0;
}

static uintptr_t bind(uintptr_t address, uintptr_t referrer, uintptr_t definer, unsigned flags, const char *name)
{
	enum watch_function function = function_of(name);
	/* What dlsym finds is announced whoever asks: ld.so holds only one of the two flags to be necessary then. */
	if (function == WATCH_FUNCTION_COUNT || !(referrer & COOKIE_REFERRER))
		return address;
	bool is_libcurl = (definer & COOKIE_LIBCURL) != 0;
	const char *target = WATCH_TO_LIBCURL;
	if (is_tenacurl_address(address))
		target = is_libcurl ? WATCH_TO_BINDER : WATCH_TO_PRELOAD;
	const struct watch_binding binding = {
	    .referrer = map_of(referrer),
	    .object = path_of(map_of(referrer)),
	    .when = when_of(referrer),
	    .function = FUNCTIONS[function],
	    .target = target,
	    .libcurl = is_libcurl ? path_of(map_of(definer)) : "",
	    .how = flags & LA_SYMB_DLSYM ? WATCH_BY_DLSYM : WATCH_BY_LINKAGE_TABLE,
	    .address = address,
	};
	return watch_stub_take(function, &binding);
}

#if __ELF_NATIVE_CLASS == 64
EXPORT uintptr_t la_symbind64(Elf64_Sym *symbol, unsigned int index, uintptr_t *referrer, uintptr_t *definer,
                              unsigned int *flags, const char *name)
#else
EXPORT uintptr_t la_symbind32(Elf32_Sym *symbol, unsigned int index, uintptr_t *referrer, uintptr_t *definer,
                              unsigned int *flags, const char *name)
#endif
{
	(void)index;
	return bind(symbol->st_value, *referrer, *definer, *flags, name);
}
