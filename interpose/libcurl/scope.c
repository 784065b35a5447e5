/* SPDX-License-Identifier: MIT */

/*
 * ld.so searches the global scope: the program, the preloads, and what they depend on, breadth first; then what was
 * opened RTLD_GLOBAL; then, for a library that was opened later, what it was opened with.
 *
 * Without ld.so's locks all of that is to be had but RTLD_GLOBAL, which only ld.so knows of. So what it has decided
 * comes first: where the caller's other references to a libcurl, which aren't ours, were bound to. A handle must go to
 * the same one through both. A caller without such references is served by whichever is found, since all that it does
 * with a handle comes through us.
 */

#include <string.h>

#include "interpose/libcurl/scope.h"

static bool offer(const struct scope *scope, size_t index)
{
	struct loaded *loaded = scope->loaded;
	if (index <= scope->own || index >= loaded->count || loaded->objects[index].is_offered)
		return false;
	loaded->objects[index].is_offered = true;
	return loaded->objects[index].has_symbols && scope->accept(scope->context, loaded, index);
}

/* Whether the reference was bound; one that is bound lazily points into its own object until then. */
static bool is_bound(const struct loaded_object *object, const char *name, uintptr_t address)
{
	const ElfW(Sym) *symbol =
	    object->has_symbols ? object_find(&object->object, name, object_gnu_hash(name)) : NULL;
	return symbol && object_address(&object->object, symbol) == address;
}

/* Ends with a reference to a function of libcurl that is bound to what is accepted. */
static bool offer_bound(void *context, const ElfW(Sym) * symbol, const char *name, const uintptr_t *place)
{
	const struct scope *scope = context;
	const struct loaded *loaded = scope->loaded;
	uintptr_t address;
	if (symbol->st_shndx != SHN_UNDEF || strncmp(name, "curl_", 5) != 0)
		return false;
	memcpy(&address, place, sizeof(address));
	size_t index = loaded_find(loaded, (const void *)address);
	return index < loaded->count && is_bound(&loaded->objects[index], name, address) && offer(scope, index);
}

static bool search_bindings(const struct scope *scope, size_t caller)
{
	const struct loaded_object *object = &scope->loaded->objects[caller];
	if (caller == scope->loaded->count || !object->has_symbols)
		return false;
	return object_visit_data_references(&object->object, offer_bound, (void *)(uintptr_t)scope) ||
	       object_visit_calls(&object->object, offer_bound, (void *)(uintptr_t)scope);
}

static void mark_first(struct loaded *loaded, size_t index)
{
	size_t count = loaded_closure(loaded, index);
	for (size_t i = 0; i < count; i++)
		loaded->objects[loaded->order[i]].is_first = true;
}

/* What came with the program; preloads are what was loaded before the first thing that it depends on. */
static void mark_global(struct loaded *loaded)
{
	mark_first(loaded, 0);
	size_t preload_end = 1;
	while (preload_end < loaded->count && !loaded->objects[preload_end].is_first)
		preload_end++;
	for (size_t i = 1; i < preload_end; i++)
		mark_first(loaded, i);
}

static bool search_global(const struct scope *scope)
{
	mark_global(scope->loaded);
	for (size_t i = 0; i < scope->loaded->count; i++)
		if (scope->loaded->objects[i].is_first && offer(scope, i))
			return true;
	return false;
}

/* The accepting may use the order, so that it is made anew for each that is offered. */
static bool search_opened(const struct scope *scope, size_t opened)
{
	size_t count = loaded_closure(scope->loaded, opened);
	for (size_t i = 0; i < count; i++) {
		if (offer(scope, scope->loaded->order[i]))
			return true;
		loaded_closure(scope->loaded, opened);
	}
	return false;
}

/* What the caller was opened with: by itself, or as something that another library depends on. */
static bool search_local(const struct scope *scope, size_t caller)
{
	struct loaded *loaded = scope->loaded;
	for (size_t opened = 0; caller < loaded->count && opened < loaded->count; opened++) {
		if (loaded->objects[opened].is_first)
			continue;
		loaded_closure(loaded, opened);
		if (loaded->objects[caller].is_queued && search_opened(scope, opened))
			return true;
	}
	return false;
}

void scope_search(const struct scope *scope)
{
	size_t caller = loaded_find(scope->loaded, scope->caller);
	if (search_bindings(scope, caller) || search_global(scope) || search_local(scope, caller))
		return;
	for (size_t i = 0; i < scope->loaded->count; i++)
		if (offer(scope, i))
			return;
}
