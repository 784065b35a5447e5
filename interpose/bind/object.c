/* SPDX-License-Identifier: MIT */

#include "interpose/bind/object.h"

#if __ELF_NATIVE_CLASS == 64
#define RELOCATION_SYMBOL(info) ELF64_R_SYM(info)
#else
#define RELOCATION_SYMBOL(info) ELF32_R_SYM(info)
#endif

bool text_equals(const char *a, const char *b)
{
	while (*a && *a == *b) {
		a++;
		b++;
	}
	return *a == *b;
}

static const ElfW(Dyn) * find_dynamic(const struct link_map *map, ElfW(Sxword) tag)
{
	for (const ElfW(Dyn) *entry = map->l_ld; entry && entry->d_tag != DT_NULL; entry++)
		if (entry->d_tag == tag)
			return entry;
	return NULL;
}

ElfW(Xword) object_dynamic(const struct link_map *map, ElfW(Sxword) tag, ElfW(Xword) otherwise)
{
	const ElfW(Dyn) *entry = find_dynamic(map, tag);
	return entry ? entry->d_un.d_val : otherwise;
}

const void *object_table(const struct link_map *map, ElfW(Sxword) tag)
{
	uintptr_t address = (uintptr_t)object_dynamic(map, tag, 0);
	/* ld.so relocates most dynamic sections in place, but not the vDSO's, nor any on some machines. */
	if (address != 0 && address < map->l_addr)
		address += map->l_addr;
	return (const void *)address;
}

bool object_read(struct object *object, const struct link_map *map)
{
	object->map = map;
	object->symbols = object_table(map, DT_SYMTAB);
	object->strings = object_table(map, DT_STRTAB);
	object->gnu_hash = object_table(map, DT_GNU_HASH);
	object->sysv_hash = object_table(map, DT_HASH);
	return object->symbols && object->strings;
}

uint32_t object_gnu_hash(const char *name)
{
	uint32_t hash = 5381;
	for (; *name; name++)
		hash = hash * 33 + (unsigned char)*name;
	return hash;
}

/* The hash of DT_HASH (System V ABI, "Hash Table"). */
static uint32_t sysv_hash_of(const char *name)
{
	uint32_t hash = 0;
	for (; *name; name++) {
		hash = (hash << 4) + (unsigned char)*name;
		hash ^= (hash >> 24) & 0xf0;
		hash &= 0x0fffffff;
	}
	return hash;
}

/* Versions: an index for each symbol (DT_VERSYM), whose highest bit hides it, and a name for each index. */

#define VERSION_HIDDEN 0x8000
#define VERSION_FIRST  2 /* those below have no name */

static unsigned int version_index(const struct object *object, const ElfW(Sym) * symbol)
{
	const ElfW(Half) *indices = object_table(object->map, DT_VERSYM);
	return indices ? indices[symbol - object->symbols] : VER_NDX_GLOBAL;
}

static const char *version_name(const struct object *object, unsigned int index)
{
	const ElfW(Verdef) *node = object_table(object->map, DT_VERDEF);
	size_t left = (size_t)object_dynamic(object->map, DT_VERDEFNUM, 0);
	for (; node && left > 0; left--) {
		const ElfW(Verdaux) *names = (const void *)((const char *)node + node->vd_aux);
		if (node->vd_ndx == index)
			return object->strings + names->vda_name;
		node = (const void *)((const char *)node + node->vd_next);
	}
	return NULL;
}

const char *object_version(const struct object *object, const ElfW(Sym) * symbol)
{
	unsigned int index = version_index(object, symbol) & ~(unsigned int)VERSION_HIDDEN;
	return index < VERSION_FIRST ? NULL : version_name(object, index);
}

struct wanted {
	const char *name;
	uint32_t hash;
	bool any_version;
	const char *version;
};

static bool is_served(const struct object *object, const ElfW(Sym) * symbol, const struct wanted *wanted)
{
	unsigned int index = version_index(object, symbol);
	const char *version = object_version(object, symbol);
	if (!version)
		return true;
	if (wanted->version)
		return text_equals(version, wanted->version);
	return (index & VERSION_HIDDEN) == 0 || (index & ~(unsigned int)VERSION_HIDDEN) == VERSION_FIRST;
}

static const ElfW(Sym) * defined_as(const struct object *object, uint32_t index, const struct wanted *wanted)
{
	const ElfW(Sym) *symbol = &object->symbols[index];
	/* Thread-local ones have offsets, of which 0 is the first. */
	bool has_value = symbol->st_value != 0 || ELF64_ST_TYPE(symbol->st_info) == STT_TLS;
	if (symbol->st_shndx == SHN_UNDEF || !has_value ||
	    !text_equals(object->strings + symbol->st_name, wanted->name))
		return NULL;
	return wanted->any_version || is_served(object, symbol, wanted) ? symbol : NULL;
}

/* Bucket count, index of the first symbol that is hashed, words and shift of the filter; filter, buckets, chains. */
static const ElfW(Sym) * find_by_gnu_hash(const struct object *object, const struct wanted *wanted)
{
	const uint32_t *table = object->gnu_hash;
	uint32_t bucket_count = table[0], first = table[1], filter_words = table[2], shift = table[3];
	const ElfW(Addr) *filter = (const ElfW(Addr) *)(const void *)(table + 4);
	const uint32_t *buckets = (const uint32_t *)(filter + filter_words);
	const uint32_t *chains = buckets + bucket_count;
	uint32_t hash = wanted->hash;

	ElfW(Addr) word = filter[(hash / __ELF_NATIVE_CLASS) & (filter_words - 1)];
	uint32_t bits = __ELF_NATIVE_CLASS - 1;
	if (((word >> (hash & bits)) & (word >> ((hash >> shift) & bits)) & 1) == 0 || bucket_count == 0)
		return NULL;
	for (uint32_t index = buckets[hash % bucket_count]; index >= first && index != 0; index++) {
		uint32_t chained = chains[index - first];
		const ElfW(Sym) *symbol = (chained | 1) == (hash | 1) ? defined_as(object, index, wanted) : NULL;
		if (symbol || (chained & 1) != 0)
			return symbol;
	}
	return NULL;
}

static const ElfW(Sym) * find_by_sysv_hash(const struct object *object, const struct wanted *wanted)
{
	const ElfW(Word) *table = object->sysv_hash;
	uint32_t bucket_count = table[0];
	const ElfW(Word) *buckets = table + 2, *chains = buckets + bucket_count;
	if (bucket_count == 0)
		return NULL;
	for (uint32_t index = buckets[sysv_hash_of(wanted->name) % bucket_count]; index != STN_UNDEF;
	     index = chains[index]) {
		const ElfW(Sym) *symbol = defined_as(object, index, wanted);
		if (symbol)
			return symbol;
	}
	return NULL;
}

static const ElfW(Sym) * find_wanted(const struct object *object, const struct wanted *wanted)
{
	if (object->gnu_hash)
		return find_by_gnu_hash(object, wanted);
	return object->sysv_hash ? find_by_sysv_hash(object, wanted) : NULL;
}

const ElfW(Sym) * object_find(const struct object *object, const char *name, uint32_t gnu_hash)
{
	const struct wanted wanted = {.name = name, .hash = gnu_hash, .any_version = true};
	return find_wanted(object, &wanted);
}

const ElfW(Sym) *
    object_find_version(const struct object *object, const char *name, uint32_t gnu_hash, const char *version)
{
	const struct wanted wanted = {.name = name, .hash = gnu_hash, .version = version};
	return find_wanted(object, &wanted);
}

/* One table of relocations; machines use one of the two kinds, which begin alike. */
struct relocations {
	const char *begin;
	size_t bytes, each_bytes;
};

/* Whether the relocation at `address` belongs to the procedure linkage table, which may be a part of the others. */
static bool is_of_linkage_table(const struct object *object, const char *address)
{
	const char *begin = object_table(object->map, DT_JMPREL);
	size_t bytes = (size_t)object_dynamic(object->map, DT_PLTRELSZ, 0);
	return begin && address >= begin && address < begin + bytes;
}

static bool visit_table(const struct object *object, const struct relocations *table, bool calls,
                        object_visit_function visit, void *context)
{
	for (size_t at = 0; at + table->each_bytes <= table->bytes; at += table->each_bytes) {
		const ElfW(Rel) *relocation = (const ElfW(Rel) *)(const void *)(table->begin + at);
		size_t index = RELOCATION_SYMBOL(relocation->r_info);
		if (index == STN_UNDEF)
			continue;
		const ElfW(Sym) *symbol = &object->symbols[index];
		const void *place = (const void *)(object->map->l_addr + relocation->r_offset);
		if (is_of_linkage_table(object, table->begin + at) == calls &&
		    visit(context, symbol, object->strings + symbol->st_name, place))
			return true;
	}
	return false;
}

bool object_visit_data_references(const struct object *object, object_visit_function visit, void *context)
{
	const struct relocations tables[] = {
	    {object_table(object->map, DT_RELA), (size_t)object_dynamic(object->map, DT_RELASZ, 0), sizeof(ElfW(Rela))},
	    {object_table(object->map, DT_REL), (size_t)object_dynamic(object->map, DT_RELSZ, 0), sizeof(ElfW(Rel))},
	};
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].begin && visit_table(object, &tables[i], false, visit, context))
			return true;
	return false;
}

bool object_visit_calls(const struct object *object, object_visit_function visit, void *context)
{
	bool has_addends = object_dynamic(object->map, DT_PLTREL, DT_RELA) == DT_RELA;
	const struct relocations table = {
	    object_table(object->map, DT_JMPREL),
	    (size_t)object_dynamic(object->map, DT_PLTRELSZ, 0),
	    has_addends ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel)),
	};
	return table.begin && visit_table(object, &table, true, visit, context);
}
