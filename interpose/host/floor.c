/* SPDX-License-Identifier: MIT */

#include "interpose/host/floor.h"

#ifdef FLOOR_FIRST

#include <string.h>

#include "base/base_name.h"
#include "interpose/bind/object.h"
#include "interpose/host/mapping.h"

struct late {
	const char *name;
	uintptr_t address;
};

static bool visit_object(void *context, const struct mapping *mapping)
{
	struct late *late = context;
	const struct link_map map = {.l_addr = mapping->load, .l_ld = (ElfW(Dyn) *)(uintptr_t)mapping->dynamic};
	struct object object;
	if (strcmp(base_name(mapping->path), "libpthread.so.0") != 0 || !object_read(&object, &map))
		return false;
	const ElfW(Sym) *symbol = object_find_version(&object, late->name, object_gnu_hash(late->name), FLOOR_FIRST);
	late->address = symbol ? object_address(&object, symbol) : 0;
	return true;
}

static void visit_objects(void *context)
{
	mapping_each(visit_object, context);
}

void *floor_late(const char *name, _Atomic(void *) *known)
{
	void *function = atomic_load_explicit(known, memory_order_acquire);
	struct late late = {.name = name};
	if (function)
		return function;
	mapping_hold(visit_objects, &late);
	memcpy(&function, &late.address, sizeof(function));
	atomic_store_explicit(known, function, memory_order_release);
	return function;
}

#endif
