/* SPDX-License-Identifier: MIT */

/*
 * Which libcurl a call would have reached without us: what the dynamic linker would have bound the reference to.
 *
 * dlsym(RTLD_NEXT) alone is wrong twice over: it is NULL when libcurl came in below a plugin loaded RTLD_LOCAL (Python,
 * Perl, Lua, R), and it is the *other* flavour when two are loaded (apache). So we look, always for the version node
 * that the reference names, as the linker does:
 *
 *   - in the global scope behind us; an object there that has no versions serves any reference;
 *   - in what the caller's own library depends on. For a versioned reference a loaded libcurl that is the only one with
 *     that version is as good, and needs no dlopen of the caller: in a library that is being closed that would run its
 *     constructors again.
 *
 * A reference that the binder brought here needs none of this: its slot has an address in the libcurl.
 */

#include <dlfcn.h>
#include <link.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "interpose/base_name.h"
#include "interpose/bind/object.h"
#include "interpose/libcurl.h"
#include "interpose/mapping.h"
#include "interpose/process.h"
#include "interpose/tsan.h"

/* What musl lacks is weak: a musl program that inherits the preload must still start. */
extern void *dlvsym(void *restrict handle, const char *restrict name, const char *restrict version)
    __attribute__((weak));

/* What a libcurl is known by. */
static const char symbol_name[] = "curl_easy_perform";

/* All libcurls seen so far, newest first. Never freed: one is found for each copy that is mapped, and those stay. */
static _Atomic(struct libcurl *) registry;

const struct libcurl *libcurl_containing(const void *address)
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

/* Publishes `fresh`, or frees it and returns the one that another thread published meanwhile. */
static const struct libcurl *register_libcurl(struct libcurl *fresh)
{
	fresh->next = atomic_load_explicit(&registry, memory_order_acquire);
	do {
		const struct libcurl *seen = libcurl_containing(fresh->begin);
		if (seen) {
			free_libcurl(fresh);
			return seen;
		}
	} while (!atomic_compare_exchange_weak_explicit(&registry, &fresh->next, fresh, memory_order_acq_rel,
	                                                memory_order_acquire));
	return fresh;
}

static void *find_symbol(void *handle, const char *name, const char *version)
{
	if (version && dlvsym)
		return dlvsym(handle, name, version);
	return dlsym(handle, name);
}

/* Whether the object that `symbol` lies in gives its symbols versions. */
static bool is_versioned(const void *symbol)
{
	struct mapping mapping = {.inside = symbol};
	if (!mapping_find(&mapping))
		return false;
	for (const ElfW(Dyn) *entry = mapping.dynamic; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == DT_VERDEF)
			return true;
	return false;
}

/* Whether `symbol` is one of ours: an unversioned look-up in the global scope finds the preloaded object first. */
static bool is_own_symbol(const void *symbol)
{
	Dl_info theirs, ours;
	return dladdr(symbol, &theirs) && dladdr((const void *)&registry, &ours) && theirs.dli_fbase == ours.dli_fbase;
}

/*
 * As the dynamic linker binds a reference: an object without versions serves one with any version, where it comes
 * first; dlvsym alone passes over it.
 */
static void *bind_symbol(void *handle, const char *name, const char *version)
{
	void *first = dlsym(handle, name);
	if (version && first && (is_own_symbol(first) || is_versioned(first)))
		first = find_symbol(handle, name, version);
	return first && !is_own_symbol(first) ? first : NULL;
}

/* The version node by which the object defines `name`, for references that name none; NULL if it has none. */
static const char *defined_version(void *handle, const char *name)
{
	struct link_map *map = NULL;
	if (!dlvsym || dlinfo(handle, RTLD_DI_LINKMAP, &map) != 0)
		return NULL;
	const char *strings = object_table(map, DT_STRTAB);
	const ElfW(Verdef) *node = object_table(map, DT_VERDEF);
	for (size_t left = (size_t)object_dynamic(map, DT_VERDEFNUM, 0); node && left > 0; left--) {
		const ElfW(Verdaux) *names = (const void *)((const char *)node + node->vd_aux);
		const char *version = strings + names->vda_name;
		/* The first node is the file's own name. */
		if ((node->vd_flags & VER_FLG_BASE) == 0 && dlvsym(handle, name, version))
			return version;
		node = (const void *)((const char *)node + node->vd_next);
	}
	return NULL;
}

static void describe_version(struct libcurl *libcurl, void *handle, const char *version)
{
	const char *flavour = version ? version : "unversioned";
	if (strncmp(flavour, "CURL_", 5) == 0)
		flavour += 5;
	strncpy(libcurl->flavour, flavour, sizeof(libcurl->flavour) - 1);

	curl_version_info_data *(*version_info)(CURLversion) = NULL;
	void *symbol = find_symbol(handle, "curl_version_info", version);
	memcpy(&version_info, &symbol, sizeof(symbol));
	const curl_version_info_data *info = version_info ? version_info(CURLVERSION_NOW) : NULL;
	if (!info)
		return;
	libcurl->version_number = info->version_num;
	libcurl->asynchronous_lookup = (info->features & CURL_VERSION_ASYNCHDNS) != 0;
	strncpy(libcurl->version, info->version, sizeof(libcurl->version) - 1);
}

struct wanted_function {
	const char *name;
	size_t offset; /* of its pointer in struct libcurl */
	bool required;
};

static const struct wanted_function wanted_functions[] = {
    {"curl_easy_init", offsetof(struct libcurl, init), true},
    {"curl_easy_setopt", offsetof(struct libcurl, setopt), true},
    {"curl_easy_getinfo", offsetof(struct libcurl, getinfo), true},
    {"curl_easy_perform", offsetof(struct libcurl, perform), true},
    {"curl_easy_reset", offsetof(struct libcurl, reset), true},
    {"curl_easy_duphandle", offsetof(struct libcurl, duphandle), true},
    {"curl_easy_cleanup", offsetof(struct libcurl, cleanup), true},
    {"curl_easy_pause", offsetof(struct libcurl, pause), true},
    {"curl_mime_init", offsetof(struct libcurl, mime_init), false},
    {"curl_mime_addpart", offsetof(struct libcurl, mime_addpart), false},
    {"curl_mime_data", offsetof(struct libcurl, mime_data), false},
    {"curl_mime_data_cb", offsetof(struct libcurl, mime_data_cb), false},
    {"curl_mime_filedata", offsetof(struct libcurl, mime_filedata), false},
    {"curl_mime_subparts", offsetof(struct libcurl, mime_subparts), false},
    {"curl_mime_free", offsetof(struct libcurl, mime_free), false},
    {"curl_url_get", offsetof(struct libcurl, url_get), false},
    {"curl_free", offsetof(struct libcurl, free), false},
};

static bool fill_functions(struct libcurl *libcurl, void *handle, const char *version)
{
	for (size_t i = 0; i < sizeof(wanted_functions) / sizeof(wanted_functions[0]); i++) {
		const struct wanted_function *wanted = &wanted_functions[i];
		void *symbol = find_symbol(handle, wanted->name, version);
		symbol = symbol && !is_own_symbol(symbol) ? symbol : NULL;
		if (!symbol && wanted->required)
			return false;
		memcpy((char *)libcurl + wanted->offset, &symbol, sizeof(symbol));
	}
	return true;
}

/* Returns the registered libcurl that `symbol` lies in, registering and pinning it at first sight. */
static const struct libcurl *libcurl_of_symbol(const void *symbol, const char *version)
{
	const struct libcurl *known = symbol ? libcurl_containing(symbol) : NULL;
	if (known || !symbol)
		return known;
	if (!is_versioned(symbol))
		version = NULL;

	Dl_info info;
	struct mapping mapping = {.inside = symbol};
	if (!dladdr(symbol, &info) || !info.dli_fname || !mapping_find(&mapping))
		return NULL;
	/*
	 * Never closed: pointers into it stay valid whatever the program unloads. Not NODELETE, which ld.so takes for
	 * an inconsistency, and ends the process, if it is closing the library already.
	 */
	void *handle = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	struct libcurl *fresh = new_libcurl();
	if (!fresh)
		return NULL;
	fresh->begin = mapping.begin;
	fresh->end = mapping.end;
	if (!fill_functions(fresh, handle, version)) {
		free_libcurl(fresh);
		return NULL;
	}
	describe_version(fresh, handle, version ? version : defined_version(handle, symbol_name));
	return register_libcurl(fresh);
}

/* Looks `name` up as the library at `path` would see it in its own dependencies. */
static void *find_through_library(const char *path, const char *name, const char *version)
{
	void *handle = dlopen(path, RTLD_LAZY | RTLD_NOLOAD);
	if (!handle)
		return NULL;
	void *symbol = bind_symbol(handle, name, version);
	dlclose(handle);
	return symbol;
}

#define CANDIDATES_MAX 64

struct candidates {
	char *paths[CANDIDATES_MAX];
	size_t count;
};

/* Only collects: dlopen inside the callback would take the loader's locks in the wrong order. */
static int collect_libcurl_path(struct dl_phdr_info *object, size_t size, void *context)
{
	struct candidates *candidates = context;
	(void)size;
	if (!object->dlpi_name || candidates->count == CANDIDATES_MAX)
		return 0;
	if (strncmp(base_name(object->dlpi_name), "libcurl", 7) != 0)
		return 0;
	char *path = strdup(object->dlpi_name);
	if (path)
		candidates->paths[candidates->count++] = path;
	return 0;
}

/* The one loaded libcurl that has the symbol; NULL if there are several, since then a guess could be the wrong flavour.
 */
static void *find_among_loaded(const char *name, const char *version)
{
	struct candidates candidates = {.count = 0};
	void *only = NULL;
	bool several = false;

	dl_iterate_phdr(collect_libcurl_path, &candidates);
	for (size_t i = 0; i < candidates.count; i++) {
		void *symbol = find_through_library(candidates.paths[i], name, version);
		several = several || (symbol && only && symbol != only);
		only = symbol ? symbol : only;
		free(candidates.paths[i]);
	}
	return several ? NULL : only;
}

static void *find_for_caller(const char *version, const void *caller)
{
	Dl_info info;
	void *symbol = bind_symbol(RTLD_NEXT, symbol_name, version);
	if (!symbol && version)
		symbol = find_among_loaded(symbol_name, version);
	if (!symbol && dladdr(caller, &info) && info.dli_fname)
		symbol = find_through_library(info.dli_fname, symbol_name, version);
	if (!symbol && !version)
		symbol = find_among_loaded(symbol_name, version);
	return symbol;
}

/*
 * A libcurl can't be kept from being unmapped if it is being closed already: when a plugin's first transfer of all is
 * in its destructor. Another object may lie at its place by now.
 */
static void forget_unmapped(void)
{
	for (struct libcurl *libcurl = atomic_load(&registry); libcurl; libcurl = libcurl->next) {
		struct mapping mapping = {.inside = libcurl->begin};
		if (!mapping_find(&mapping) || mapping.begin != libcurl->begin || mapping.end != libcurl->end)
			libcurl->is_unmapped = true;
	}
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
static const struct libcurl *find_by_name(const char *version, const void *caller)
{
	const struct libcurl *containing = libcurl_containing(caller);
	if (containing)
		return containing;
	const struct libcurl *libcurl = libcurl_of_symbol(find_for_caller(version, caller), version);
	/* Another interposer, which has some of libcurl's functions only. */
	return libcurl ? libcurl : libcurl_of_symbol(find_among_loaded(symbol_name, version), version);
}

const struct libcurl *libcurl_of_caller(const struct reference *reference, const void *caller)
{
	const struct bind_slot *slot = reference->slot;
	const void *bound = slot ? (const void *)atomic_load_explicit(&slot->inside, memory_order_acquire) : NULL;
	/* The loader's locks may be held for ever by a thread of the parent. */
	if (process_is_raw_child()) {
		const struct libcurl *registered =
		    bound ? libcurl_containing(bound) : registered_libcurl(reference->version);
		if (registered)
			return registered;
	}
	forget_unmapped();
	const struct libcurl *libcurl =
	    bound ? libcurl_of_symbol(bound, NULL) : find_by_name(reference->version, caller);
	/* A failed look-up of ours must not be what the program's next dlerror() tells. */
	dlerror();
	return libcurl;
}
