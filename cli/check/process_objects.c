/* SPDX-License-Identifier: MIT */
#include "cli/check/process_objects.h"

#include <elf.h>
#include <link.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "interpose/bind/bind.h"

/* More than these is no honest object. */
#define TABLE_BYTES_MAX     ((size_t)256 * 1024 * 1024)
#define PROGRAM_HEADERS_MAX 128
#define DYNAMIC_BYTES_MAX   ((size_t)64 * 1024)
#define VERSIONS_MAX        4096
#define CHAIN_LINKS_MAX     65536

/* The rest of a symbol's version number says whether it is the default one. */
#define VERSION_INDEX 0x7fff

#define EASY_PERFORM "curl_easy_perform"

#if __ELF_NATIVE_CLASS == 64
#define RELOCATION_SYMBOL(info) ELF64_R_SYM(info)
#define OWN_CLASS               ELFCLASS64
#else
#define RELOCATION_SYMBOL(info) ELF32_R_SYM(info)
#define OWN_CLASS               ELFCLASS32
#endif

#define FUNCTION_NAME(since, symbol, ...) #symbol,
static const char *const FUNCTIONS[] = {WRAPPED_FUNCTIONS(FUNCTION_NAME) "curl_multi_perform",
                                        "curl_multi_socket_action", "curl_multi_socket", "curl_multi_socket_all"};
#define FUNCTION_COUNT (sizeof(FUNCTIONS) / sizeof(FUNCTIONS[0]))

/* An object while it is read. */
struct reading {
	const struct process_memory *memory;
	struct process_object *object;
	uintptr_t base; /* what addresses in the file are relative to */
	ElfW(Dyn) * dynamic;
	size_t dynamic_count;
	size_t string_bytes;
	ElfW(Sym) * symbols;
	size_t symbol_count;
};

bool process_is_easy_function(const char *function)
{
	return strcmp(function, EASY_PERFORM) == 0;
}

bool process_is_multi_function(const char *function)
{
	return strncmp(function, "curl_multi_", strlen("curl_multi_")) == 0;
}

/* The value of an entry of the dynamic section, 0 without one. */
static ElfW(Xword) value_of(const struct reading *reading, ElfW(Sxword) tag)
{
	for (size_t i = 0; i < reading->dynamic_count && reading->dynamic[i].d_tag != DT_NULL; i++)
		if (reading->dynamic[i].d_tag == tag)
			return reading->dynamic[i].d_un.d_val;
	return 0;
}

/* The same for an address, which ld.so may have made one of the process already. */
static uintptr_t address_of(const struct reading *reading, ElfW(Sxword) tag)
{
	uintptr_t address = (uintptr_t)value_of(reading, tag);
	return address != 0 && address < reading->base ? address + reading->base : address;
}

static const char *string_at(const struct reading *reading, size_t at)
{
	return at < reading->string_bytes ? reading->object->strings + at : "";
}

/* Finds the dynamic section and the object's extent. Returns false if there is no object of our class. */
static bool read_segments(struct reading *reading)
{
	ElfW(Ehdr) header;
	ElfW(Phdr) segments[PROGRAM_HEADERS_MAX];
	uintptr_t begin = reading->object->begin, dynamic = 0, lowest = UINTPTR_MAX, highest = 0;
	if (!process_memory_read(reading->memory, begin, &header, sizeof(header)) ||
	    memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_ident[EI_CLASS] != OWN_CLASS ||
	    header.e_phentsize != sizeof(segments[0]) || header.e_phnum > PROGRAM_HEADERS_MAX ||
	    !process_memory_read(reading->memory, begin + header.e_phoff, segments,
	                         header.e_phnum * sizeof(segments[0])))
		return false;
	for (size_t i = 0; i < header.e_phnum; i++) {
		if (segments[i].p_type == PT_LOAD) {
			lowest = segments[i].p_vaddr < lowest ? segments[i].p_vaddr : lowest;
			uintptr_t end = segments[i].p_vaddr + segments[i].p_memsz;
			highest = end > highest ? end : highest;
		} else if (segments[i].p_type == PT_DYNAMIC && segments[i].p_memsz <= DYNAMIC_BYTES_MAX) {
			dynamic = segments[i].p_vaddr;
			reading->dynamic_count = segments[i].p_memsz / sizeof(*reading->dynamic);
		}
	}
	if (!dynamic || lowest > highest)
		return false;
	reading->base = begin - (lowest & ~(uintptr_t)0xfff);
	reading->object->end = reading->base + highest;
	reading->dynamic = process_memory_copy(reading->memory, reading->base + dynamic,
	                                       reading->dynamic_count * sizeof(*reading->dynamic), DYNAMIC_BYTES_MAX);
	return reading->dynamic != NULL;
}

static bool read_names(struct reading *reading)
{
	struct process_object *object = reading->object;
	reading->string_bytes = (size_t)value_of(reading, DT_STRSZ);
	object->strings = process_memory_copy(reading->memory, address_of(reading, DT_STRTAB), reading->string_bytes,
	                                      TABLE_BYTES_MAX);
	object->needed = calloc(reading->dynamic_count + 1, sizeof(*object->needed));
	if (!object->strings || !object->needed)
		return false;
	object->soname = string_at(reading, (size_t)value_of(reading, DT_SONAME));
	for (size_t i = 0; i < reading->dynamic_count && reading->dynamic[i].d_tag != DT_NULL; i++)
		if (reading->dynamic[i].d_tag == DT_NEEDED)
			object->needed[object->needed_count++] = string_at(reading, reading->dynamic[i].d_un.d_val);
	return true;
}

/*
 * No entry says how many symbols there are. The old hash table has one chain link for each; in the new one the last
 * symbol ends the chain of the highest bucket.
 */
static size_t count_symbols(const struct reading *reading)
{
	uint32_t head[4], link, highest = 0;
	uintptr_t table = address_of(reading, DT_HASH);
	if (table)
		return process_memory_read(reading->memory, table, head, 2 * sizeof(head[0])) ? head[1] : 0;
	table = address_of(reading, DT_GNU_HASH);
	if (!table || !process_memory_read(reading->memory, table, head, sizeof(head)))
		return 0;
	uintptr_t at = table + sizeof(head) + head[2] * sizeof(ElfW(Addr));
	uint32_t *buckets = process_memory_copy(reading->memory, at, head[0] * sizeof(*buckets), TABLE_BYTES_MAX);
	for (size_t i = 0; buckets && i < head[0]; i++)
		highest = buckets[i] > highest ? buckets[i] : highest;
	free(buckets);
	if (highest < head[1])
		return head[1];
	at += (head[0] + (uintptr_t)(highest - head[1])) * sizeof(link);
	const uintptr_t end = at + CHAIN_LINKS_MAX * sizeof(link);
	do {
		if (at == end || !process_memory_read(reading->memory, at, &link, sizeof(link)))
			return 0;
		at += sizeof(link);
		highest++;
	} while (!(link & 1));
	return highest;
}

/* The version that a symbol is defined in; "" if in none. */
static const char *node_of(const struct reading *reading, size_t index)
{
	ElfW(Versym) version;
	uintptr_t versions = address_of(reading, DT_VERSYM), at = address_of(reading, DT_VERDEF);
	size_t count = (size_t)value_of(reading, DT_VERDEFNUM);
	if (!versions || !at ||
	    !process_memory_read(reading->memory, versions + index * sizeof(version), &version, sizeof(version)))
		return "";
	for (size_t i = 0; i < count && i < VERSIONS_MAX; i++) {
		ElfW(Verdef) definition;
		ElfW(Verdaux) name;
		if (!process_memory_read(reading->memory, at, &definition, sizeof(definition)) ||
		    !process_memory_read(reading->memory, at + definition.vd_aux, &name, sizeof(name)))
			return "";
		if (definition.vd_ndx == (version & VERSION_INDEX) && !(definition.vd_flags & VER_FLG_BASE))
			return string_at(reading, name.vda_name);
		if (definition.vd_next == 0)
			return "";
		at += definition.vd_next;
	}
	return "";
}

static const char *known_function(const char *name)
{
	for (size_t i = 0; i < FUNCTION_COUNT; i++)
		if (strcmp(name, FUNCTIONS[i]) == 0)
			return FUNCTIONS[i];
	return NULL;
}

static void read_definitions(struct reading *reading)
{
	struct process_object *object = reading->object;
	for (size_t i = 1; i < reading->symbol_count; i++) {
		const ElfW(Sym) *symbol = &reading->symbols[i];
		const char *name = string_at(reading, symbol->st_name);
		if (symbol->st_shndx == SHN_UNDEF || symbol->st_value == 0)
			continue;
		if (strcmp(name, BIND_TABLE_SYMBOL) == 0)
			object->bind_table = reading->base + symbol->st_value;
		if (process_is_easy_function(name)) {
			object->exports_easy = true;
			object->node = node_of(reading, i);
		}
	}
}

static bool add_reference(struct reading *reading, const char *function, uintptr_t place, bool is_data)
{
	struct process_object *object = reading->object;
	if (!array_make_room(&object->references, object->reference_count, sizeof(*object->references)))
		return false;
	struct process_reference *reference = &object->references[object->reference_count];
	*reference = (struct process_reference){.function = function, .is_data = is_data};
	if (process_memory_read(reading->memory, place, &reference->address, sizeof(reference->address)))
		object->reference_count++;
	return true;
}

/* Which table of relocations: both kinds begin alike. */
struct relocation_table {
	uintptr_t address;
	size_t bytes, each_bytes;
	bool is_data;
};

static bool read_relocations(struct reading *reading, const struct relocation_table *table)
{
	char *entries = process_memory_copy(reading->memory, table->address, table->bytes, TABLE_BYTES_MAX);
	uintptr_t linkage = address_of(reading, DT_JMPREL);
	size_t linkage_bytes = (size_t)value_of(reading, DT_PLTRELSZ);
	bool complete = true;
	for (size_t at = 0; entries && complete && at + table->each_bytes <= table->bytes; at += table->each_bytes) {
		ElfW(Rel) entry;
		memcpy(&entry, entries + at, sizeof(entry));
		size_t index = RELOCATION_SYMBOL(entry.r_info);
		/* The linkage table's own may be a part of the others. */
		bool is_linkage = table->address + at >= linkage && table->address + at < linkage + linkage_bytes;
		if (index == STN_UNDEF || index >= reading->symbol_count || is_linkage == table->is_data)
			continue;
		const char *function = known_function(string_at(reading, reading->symbols[index].st_name));
		if (function)
			complete = add_reference(reading, function, reading->base + entry.r_offset, table->is_data);
	}
	free(entries);
	return complete;
}

static bool read_references(struct reading *reading)
{
	bool has_addends = value_of(reading, DT_PLTREL) == DT_RELA;
	const struct relocation_table tables[] = {
	    {address_of(reading, DT_JMPREL), (size_t)value_of(reading, DT_PLTRELSZ),
	     has_addends ? sizeof(ElfW(Rela)) : sizeof(ElfW(Rel)), false},
	    {address_of(reading, DT_RELA), (size_t)value_of(reading, DT_RELASZ), sizeof(ElfW(Rela)), true},
	    {address_of(reading, DT_REL), (size_t)value_of(reading, DT_RELSZ), sizeof(ElfW(Rel)), true},
	};
	for (size_t i = 0; i < sizeof(tables) / sizeof(tables[0]); i++)
		if (tables[i].address && !read_relocations(reading, &tables[i]))
			return false;
	return true;
}

/* Returns false without memory. An object that makes no sense is left without references. */
static bool read_object(struct reading *reading)
{
	bool complete = true;
	if (!read_segments(reading) || !read_names(reading))
		return true;
	if (!memmem(reading->object->strings, reading->string_bytes, "curl_", strlen("curl_")))
		return true;
	reading->symbol_count = count_symbols(reading);
	reading->symbols = process_memory_copy(reading->memory, address_of(reading, DT_SYMTAB),
	                                       reading->symbol_count * sizeof(*reading->symbols), TABLE_BYTES_MAX);
	if (reading->symbols) {
		read_definitions(reading);
		complete = read_references(reading);
	}
	return complete;
}

static bool add_object(const struct process_memory *memory, const struct process_mapping *mapping,
                       struct process_objects *objects)
{
	if (!array_make_room(&objects->all, objects->count, sizeof(*objects->all)))
		return false;
	struct process_object *object = &objects->all[objects->count++];
	*object = (struct process_object){
	    .path = mapping->path, .begin = mapping->begin, .end = mapping->end, .soname = "", .node = ""};
	struct reading reading = {.memory = memory, .object = object};
	bool complete = read_object(&reading);
	free(reading.dynamic);
	free(reading.symbols);
	return complete;
}

/* Whether an object begins with this mapping that code is run in: a file that is only read may begin like one, too. */
static bool begins_object(const struct process_memory *memory, size_t at)
{
	const struct process_mapping *mapping = &memory->mappings[at];
	char magic[SELFMAG];
	if (mapping->inode == 0 || mapping->offset_bytes != 0)
		return false;
	for (size_t i = at; i < memory->mapping_count; i++) {
		const struct process_mapping *other = &memory->mappings[i];
		if (i > at && other->inode == mapping->inode && other->offset_bytes == 0)
			return false;
		if (other->inode == mapping->inode && other->device == mapping->device && other->is_executable)
			return process_memory_read(memory, mapping->begin, magic, sizeof(magic)) &&
			       memcmp(magic, ELFMAG, SELFMAG) == 0;
	}
	return false;
}

bool process_objects_read(const struct process_memory *memory, struct process_objects *objects)
{
	*objects = (struct process_objects){0};
	for (size_t i = 0; i < memory->mapping_count; i++)
		if (begins_object(memory, i) && !add_object(memory, &memory->mappings[i], objects))
			return false;
	return true;
}

void process_objects_free(struct process_objects *objects)
{
	for (size_t i = 0; i < objects->count; i++) {
		free(objects->all[i].strings);
		free(objects->all[i].needed);
		free(objects->all[i].references);
	}
	free(objects->all);
	*objects = (struct process_objects){0};
}

const struct process_object *process_objects_at(const struct process_objects *objects, uintptr_t address)
{
	for (size_t i = 0; i < objects->count; i++)
		if (address >= objects->all[i].begin && address < objects->all[i].end)
			return &objects->all[i];
	return NULL;
}
