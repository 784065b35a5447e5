/* SPDX-License-Identifier: MIT */

#include <dlfcn.h>
#include <sched.h>
#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "base/clock.h"
#include "interpose/bind/object.h"
#include "interpose/host/mapping.h"

/*
 * Forks. glibc's fork gives the child its loader's lock back, but not that of the list of objects: it must not happen
 * while we hold that one. The limit is for a thread that transfers in its own dl_iterate_phdr().
 */

#define FORK_LIMIT_MS 200

static _Atomic int holders, forks;
static _Atomic bool watches_forks;

static void wait_for_none(_Atomic int *count)
{
	int64_t limit_ms = 0;
	while (atomic_load(count) > 0) {
		int64_t now_ms = clock_ms();
		limit_ms = limit_ms ? limit_ms : now_ms + FORK_LIMIT_MS;
		if (now_ms >= limit_ms)
			return;
		sched_yield();
	}
}

static void before_fork(void)
{
	atomic_fetch_add(&forks, 1);
	wait_for_none(&holders);
}

static void after_fork_in_parent(void)
{
	atomic_fetch_sub(&forks, 1);
}

static void after_fork_in_child(void)
{
	atomic_store(&forks, 0);
	atomic_store(&holders, 0);
}

/* What pthread_atfork is in glibc; weak, since musl lacks it and a musl program that inherits the preload must still
 * start. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object)
    __attribute__((weak));

static void begin_hold(void)
{
	if (!atomic_exchange(&watches_forks, true) && __register_atfork)
		__register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, NULL);
	for (;;) {
		atomic_fetch_add(&holders, 1);
		if (atomic_load(&forks) == 0)
			return;
		atomic_fetch_sub(&holders, 1);
		wait_for_none(&forks);
		if (atomic_load(&forks) > 0)
			break;
	}
	atomic_fetch_add(&holders, 1);
}

static void end_hold(void)
{
	atomic_fetch_sub(&holders, 1);
}

/* Visits. */

static void describe(const struct dl_phdr_info *info, struct mapping *mapping)
{
	uintptr_t low = UINTPTR_MAX, high = 0;
	*mapping = (struct mapping){.load = info->dlpi_addr, .path = info->dlpi_name ? info->dlpi_name : ""};
	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + header->p_vaddr;
		if (header->p_type == PT_DYNAMIC)
			mapping->dynamic = (const ElfW(Dyn) *)begin;
		if (header->p_type != PT_LOAD)
			continue;
		low = begin < low ? begin : low;
		high = begin + header->p_memsz > high ? begin + header->p_memsz : high;
	}
	mapping->begin = (const void *)low;
	mapping->end = (const void *)high;
}

struct visit {
	mapping_visit_function function;
	void *context;
};

static int visit_object(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct visit *visit = context;
	struct mapping mapping;
	(void)size;
	describe(info, &mapping);
	return visit->function(visit->context, &mapping);
}

void mapping_each(mapping_visit_function function, void *context)
{
	struct visit visit = {.function = function, .context = context};
	dl_iterate_phdr(visit_object, &visit);
}

struct work {
	void (*function)(void *context);
	void *context;
};

/* The lock is held from the first visit on; visits within it take it once more. */
static int do_work(struct dl_phdr_info *info, size_t size, void *context)
{
	const struct work *work = context;
	(void)info;
	(void)size;
	work->function(work->context);
	return 1;
}

/* Addresses. */

static bool contains(const struct mapping *mapping, const void *inside)
{
	return inside >= mapping->begin && inside < mapping->end;
}

struct address {
	const void *inside;
	struct mapping *found;
	bool is_found;
};

static bool is_there(void *context, const struct mapping *mapping)
{
	struct address *address = context;
	if (!contains(mapping, address->inside))
		return false;
	*address->found = *mapping;
	address->is_found = true;
	return true;
}

static void find_there(void *context)
{
	mapping_each(is_there, context);
}

#ifdef DLFO_STRUCT_HAS_EH_DBASE
static _Atomic(uintptr_t) finder; /* _dl_find_object(), a function of glibc 2.35 that takes no lock; 0: there is none */
static _Atomic bool finder_was_sought;

static bool defines_finder(void *context, const struct mapping *mapping)
{
	static const char name[] = "_dl_find_object";
	const struct link_map map = {.l_addr = mapping->load, .l_ld = (ElfW(Dyn) *)(uintptr_t)mapping->dynamic};
	struct object object;
	(void)context;
	const ElfW(Sym) *symbol = object_read(&object, &map) ? object_find(&object, name, object_gnu_hash(name)) : NULL;
	if (symbol)
		atomic_store(&finder, object_address(&object, symbol));
	return symbol != NULL;
}

static void seek_finder(void)
{
	if (atomic_load_explicit(&finder_was_sought, memory_order_acquire))
		return;
	mapping_each(defines_finder, NULL);
	atomic_store_explicit(&finder_was_sought, true, memory_order_release);
}

/* Returns false if there is no such function; else *is_found says whether there is an object. */
static bool find_without_lock(const void *inside, struct mapping *mapping, bool *is_found)
{
	int (*find)(void *address, struct dl_find_object *found);
	struct dl_find_object found;
	uintptr_t address = atomic_load_explicit(&finder, memory_order_relaxed);
	if (!address)
		return false;
	memcpy(&find, &address, sizeof(find));
	*is_found = find((void *)(uintptr_t)inside, &found) == 0;
	if (*is_found)
		*mapping = (struct mapping){
		    .begin = found.dlfo_map_start,
		    .end = found.dlfo_map_end,
		    .load = found.dlfo_link_map->l_addr,
		    .dynamic = found.dlfo_link_map->l_ld,
		    .path = found.dlfo_link_map->l_name ? found.dlfo_link_map->l_name : "",
		};
	return true;
}

bool mapping_is_lock_free(void)
{
	return atomic_load_explicit(&finder, memory_order_relaxed) != 0;
}
#else
static void seek_finder(void)
{
}

static bool find_without_lock(const void *inside, struct mapping *mapping, bool *is_found)
{
	(void)inside;
	(void)mapping;
	(void)is_found;
	return false;
}

bool mapping_is_lock_free(void)
{
	return false;
}
#endif

void mapping_hold(void (*function)(void *context), void *context)
{
	struct work work = {.function = function, .context = context};
	begin_hold();
	seek_finder();
	dl_iterate_phdr(do_work, &work);
	end_hold();
}

bool mapping_find(const void *inside, struct mapping *mapping)
{
	struct address address = {.inside = inside, .found = mapping};
	if (!find_without_lock(inside, mapping, &address.is_found))
		mapping_hold(find_there, &address);
	return address.is_found;
}
