/* SPDX-License-Identifier: MIT */

#include <dlfcn.h>
#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "interpose/mapping.h"

static int find_mapping(struct dl_phdr_info *info, size_t size, void *context)
{
	struct mapping *mapping = context;
	uintptr_t low = UINTPTR_MAX, high = 0;
	const ElfW(Dyn) *dynamic = NULL;
	(void)size;

	for (size_t i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &info->dlpi_phdr[i];
		uintptr_t begin = info->dlpi_addr + header->p_vaddr;
		if (header->p_type == PT_DYNAMIC)
			dynamic = (const ElfW(Dyn) *)begin;
		if (header->p_type != PT_LOAD)
			continue;
		low = begin < low ? begin : low;
		high = begin + header->p_memsz > high ? begin + header->p_memsz : high;
	}
	if ((uintptr_t)mapping->inside < low || (uintptr_t)mapping->inside >= high)
		return 0;
	mapping->begin = (const void *)low;
	mapping->end = (const void *)high;
	mapping->dynamic = dynamic;
	mapping->path = info->dlpi_name ? info->dlpi_name : "";
	return 1;
}

bool mapping_find(struct mapping *mapping)
{
#ifdef DLFO_STRUCT_HAS_EH_DBASE
	static _Atomic(void *) finder;
	struct dl_find_object found;
	int (*find)(void *, struct dl_find_object *);
	void *symbol = atomic_load(&finder);
	if (!symbol) {
		symbol = dlsym(RTLD_DEFAULT, "_dl_find_object");
		atomic_store(&finder, symbol);
	}
	if (symbol) {
		memcpy(&find, &symbol, sizeof(find));
		if (find((void *)(uintptr_t)mapping->inside, &found) != 0)
			return false;
		mapping->begin = found.dlfo_map_start;
		mapping->end = found.dlfo_map_end;
		mapping->dynamic = found.dlfo_link_map->l_ld;
		mapping->path = found.dlfo_link_map->l_name ? found.dlfo_link_map->l_name : "";
		return true;
	}
#endif
	return dl_iterate_phdr(find_mapping, mapping) != 0;
}
