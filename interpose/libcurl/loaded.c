/* SPDX-License-Identifier: MIT */

#include <stdlib.h>
#include <string.h>

#include "base/base_name.h"
#include "interpose/libcurl/loaded.h"

struct loaded *loaded_new(size_t capacity)
{
	struct loaded *loaded = NULL;
	if (capacity <= UINT16_MAX)
		loaded = calloc(1, sizeof(*loaded) + capacity * (sizeof(loaded->objects[0]) + sizeof(*loaded->order)));
	if (loaded) {
		loaded->capacity = capacity;
		loaded->order = (uint16_t *)(loaded->objects + capacity);
	}
	return loaded;
}

void loaded_free(struct loaded *loaded)
{
	free(loaded);
}

static bool note_object(void *context, const struct mapping *mapping)
{
	struct loaded *loaded = context;
	if (loaded->count == loaded->capacity)
		return true;
	struct loaded_object *noted = &loaded->objects[loaded->count++];
	noted->mapping = *mapping;
	noted->map = (struct link_map){.l_addr = mapping->load, .l_ld = (ElfW(Dyn) *)(uintptr_t)mapping->dynamic};
	noted->is_first = noted->is_offered = false;
	noted->has_symbols = object_read(&noted->object, &noted->map);
	return false;
}

void loaded_take(struct loaded *loaded)
{
	loaded->count = 0;
	mapping_each(note_object, loaded);
}

size_t loaded_find(const struct loaded *loaded, const void *inside)
{
	size_t index = 0;
	while (index < loaded->count &&
	       (inside < loaded->objects[index].mapping.begin || inside >= loaded->objects[index].mapping.end))
		index++;
	return index;
}

/* Whether a dependency of this name is served by the object: by its own name, or by that of its file. */
static bool is_called(const struct loaded_object *object, const char *name)
{
	const char *path = object->mapping.path;
	size_t own_name = (size_t)object_dynamic(&object->map, DT_SONAME, 0);
	if (own_name && object->has_symbols && strcmp(object->object.strings + own_name, name) == 0)
		return true;
	return strcmp(strchr(name, '/') ? path : base_name(path), name) == 0;
}

/* As ld.so, which loads no second object where one of that name is there: the first one. */
static size_t find_called(const struct loaded *loaded, const char *name)
{
	size_t index = 0;
	while (index < loaded->count && !is_called(&loaded->objects[index], name))
		index++;
	return index;
}

static size_t queue_object(struct loaded *loaded, size_t index, size_t count)
{
	if (index == loaded->count || loaded->objects[index].is_queued)
		return count;
	loaded->objects[index].is_queued = true;
	loaded->order[count] = (uint16_t)index;
	return count + 1;
}

size_t loaded_closure(struct loaded *loaded, size_t first)
{
	for (size_t i = 0; i < loaded->count; i++)
		loaded->objects[i].is_queued = false;
	size_t count = queue_object(loaded, first, 0);
	for (size_t next = 0; next < count; next++) {
		const struct loaded_object *object = &loaded->objects[loaded->order[next]];
		const ElfW(Dyn) *entry = object->has_symbols ? object->map.l_ld : NULL;
		for (; entry && entry->d_tag != DT_NULL; entry++)
			if (entry->d_tag == DT_NEEDED)
				count = queue_object(
				    loaded, find_called(loaded, object->object.strings + entry->d_un.d_val), count);
	}
	return count;
}
