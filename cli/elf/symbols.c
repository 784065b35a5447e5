/* SPDX-License-Identifier: MIT */
#include "cli/elf/symbols.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#define EASY_PERFORM "curl_easy_perform"

/* D mangles each name with its module's. */
#define D_CURL "_D3std3net4curl"

/* What libcurl says of itself in curl_version(). */
#define VERSION_TEXT "libcurl/"

/* A symbol table as it is looked through. */
struct table {
	Elf *elf;
	Elf_Data *symbols;
	size_t names; /* index of the section with its names */
	int count;
	bool is_dynamic;
};

/* The sections that say which version a dynamic symbol is taken in. */
struct versions {
	Elf_Data *of_symbol;
	Elf_Data *needed;
	size_t names;
	size_t file_count;
};

static bool is_multi(const char *name)
{
	static const char *const MULTI[] = {"curl_multi_perform", "curl_multi_socket", "curl_multi_socket_action",
	                                    "curl_multi_socket_all"};
	for (size_t i = 0; i < sizeof(MULTI) / sizeof(MULTI[0]); i++)
		if (strcmp(name, MULTI[i]) == 0)
			return true;
	return false;
}

static bool is_sanitizer_symbol(const char *name)
{
	static const char *const INIT[] = {"__asan_init",   "__tsan_init", "__msan_init",
	                                   "__hwasan_init", "__lsan_init", "__ubsan_handle_type_mismatch_v1"};
	for (size_t i = 0; i < sizeof(INIT) / sizeof(INIT[0]); i++)
		if (strcmp(name, INIT[i]) == 0)
			return true;
	return false;
}

static bool open_table(Elf *elf, Elf_Scn *section, const GElf_Shdr *header, struct table *table)
{
	size_t symbol_bytes = gelf_fsize(elf, ELF_T_SYM, 1, EV_CURRENT);
	*table = (struct table){.elf = elf,
	                        .symbols = elf_getdata(section, NULL),
	                        .names = header->sh_link,
	                        .is_dynamic = header->sh_type == SHT_DYNSYM};
	if (!table->symbols || symbol_bytes == 0 || table->symbols->d_size / symbol_bytes > INT_MAX)
		return false;
	table->count = (int)(table->symbols->d_size / symbol_bytes);
	return true;
}

/* Returns the name of a symbol, NULL if there is none. */
static const char *symbol_at(const struct table *table, int index, GElf_Sym *symbol)
{
	return gelf_getsym(table->symbols, index, symbol) ? elf_strptr(table->elf, table->names, symbol->st_name)
	                                                  : NULL;
}

/* Moves on in a list of entries, each of which says how far away the next one is. Returns false at the end. */
static bool step(int *at, GElf_Word bytes)
{
	return bytes > 0 && bytes <= INT_MAX && !__builtin_add_overflow(*at, (int)bytes, at);
}

/* Copies the name of the version that is needed under this number. */
static void copy_version(Elf *elf, const struct versions *versions, GElf_Versym wanted, struct elf_file *file)
{
	int at = 0;
	for (size_t i = 0; i < versions->file_count; i++) {
		GElf_Verneed library;
		if (!gelf_getverneed(versions->needed, at, &library))
			return;
		int aux_at = at;
		if (!step(&aux_at, library.vn_aux))
			return;
		for (int j = 0; j < library.vn_cnt; j++) {
			GElf_Vernaux version;
			if (!gelf_getvernaux(versions->needed, aux_at, &version))
				return;
			if (version.vna_other == wanted) {
				const char *name = elf_strptr(elf, versions->names, version.vna_name);
				snprintf(file->import_node, sizeof(file->import_node), "%s", name ? name : "");
				return;
			}
			if (!step(&aux_at, version.vna_next))
				break;
		}
		if (!step(&at, library.vn_next))
			return;
	}
}

static void read_version(Elf *elf, const struct versions *versions, int index, struct elf_file *file)
{
	GElf_Versym version;
	if (file->import_node[0] == '\0' && versions->of_symbol && versions->needed &&
	    gelf_getversym(versions->of_symbol, index, &version) && (version & 0x7fff) > VER_NDX_GLOBAL)
		copy_version(elf, versions, version & 0x7fff, file);
}

static void note_import(const char *name, int index, Elf *elf, const struct versions *versions, struct elf_file *file)
{
	bool easy = strcmp(name, EASY_PERFORM) == 0, multi = is_multi(name);
	file->imports_easy |= easy;
	file->imports_multi |= multi;
	file->imports_d_curl |= strncmp(name, D_CURL, strlen(D_CURL)) == 0;
	if (easy || multi)
		read_version(elf, versions, index, file);
}

static void note_definition(const char *name, const GElf_Sym *symbol, bool is_dynamic, struct elf_file *file)
{
	unsigned char binding = GELF_ST_BIND(symbol->st_info), visibility = GELF_ST_VISIBILITY(symbol->st_other);
	file->is_sanitizer |= is_sanitizer_symbol(name);
	/* A program that has D's library inside; the library alone uses nothing. */
	file->imports_d_curl |= file->interpreter && strncmp(name, D_CURL, strlen(D_CURL)) == 0;
	if (strcmp(name, EASY_PERFORM) != 0)
		return;
	file->defines_easy = true;
	file->exports_easy |= is_dynamic && (binding == STB_GLOBAL || binding == STB_WEAK) &&
	                      (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

static void read_table(const struct table *table, const struct versions *versions, struct elf_file *file)
{
	for (int i = 1; i < table->count; i++) {
		GElf_Sym symbol;
		const char *name = symbol_at(table, i, &symbol);
		/* All that count begin so: most symbols are done with one look. */
		if (!name || (name[0] != 'c' && name[0] != '_' && name[0] != 'd'))
			continue;
		if (symbol.st_shndx != SHN_UNDEF)
			note_definition(name, &symbol, table->is_dynamic, file);
		else if (table->is_dynamic)
			note_import(name, i, table->elf, versions, file);
	}
}

/*
 * A call through the PLT has its relocation there. Any other relocation to the function is bound as data; which number
 * its type has on this machine doesn't matter then.
 */
static void read_relocations(Elf_Scn *section, const GElf_Shdr *header, const struct table *symbols,
                             struct elf_file *file)
{
	Elf_Data *data = elf_getdata(section, NULL);
	size_t count = data && header->sh_entsize ? data->d_size / header->sh_entsize : 0;
	for (size_t i = 0; i < count && i < INT_MAX; i++) {
		GElf_Rela with;
		GElf_Rel without;
		GElf_Sym symbol;
		GElf_Xword info;
		if (header->sh_type == SHT_RELA && gelf_getrela(data, (int)i, &with))
			info = with.r_info;
		else if (header->sh_type == SHT_REL && gelf_getrel(data, (int)i, &without))
			info = without.r_info;
		else
			return;
		if (GELF_R_SYM(info) == 0 || GELF_R_SYM(info) > INT_MAX)
			continue;
		const char *name = symbol_at(symbols, (int)GELF_R_SYM(info), &symbol);
		if (name && symbol.st_shndx == SHN_UNDEF && strcmp(name, EASY_PERFORM) == 0)
			file->imports_easy_as_data = true;
	}
}

/* Copies the version behind the text, if it is one. */
static bool take_version(const char *text, size_t bytes, struct elf_file *file)
{
	size_t length = 0;
	while (length < bytes && length + 1 < sizeof(file->curl_version) &&
	       strchr("0123456789.-abcdefghijklmnopqrstuvwxyzDEV", text[length]) && text[length] != '\0')
		length++;
	if (length < 3 || text[0] < '0' || text[0] > '9' || !memchr(text, '.', length))
		return false;
	memcpy(file->curl_version, text, length);
	file->curl_version[length] = '\0';
	return true;
}

static bool find_version_in(const char *start, size_t bytes, struct elf_file *file)
{
	const char *at = start, *end = start + bytes;
	while ((at = memmem(at, (size_t)(end - at), VERSION_TEXT, strlen(VERSION_TEXT)))) {
		at += strlen(VERSION_TEXT);
		if (take_version(at, (size_t)(end - at), file))
			return true;
	}
	return false;
}

/* Not every linker puts constants into a section of their own, so all that is mapped is looked through. */
static void find_version(Elf *elf, struct elf_file *file)
{
	size_t count;
	if (elf_getphdrnum(elf, &count) != 0)
		return;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || segment.p_filesz == 0)
			continue;
		Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)segment.p_offset, segment.p_filesz, ELF_T_BYTE);
		if (data && find_version_in(data->d_buf, data->d_size, file))
			return;
	}
}

/* Finds the sections that others refer to: the dynamic symbols and their versions. */
static void find_sections(Elf *elf, struct table *symbols, struct versions *versions)
{
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_DYNSYM) {
			if (!open_table(elf, section, &header, symbols))
				*symbols = (struct table){0};
		} else if (header.sh_type == SHT_GNU_versym) {
			versions->of_symbol = elf_getdata(section, NULL);
		} else if (header.sh_type == SHT_GNU_verneed) {
			versions->needed = elf_getdata(section, NULL);
			versions->names = header.sh_link;
			versions->file_count = header.sh_info;
		}
	}
}

void elf_symbols_read(Elf *elf, GElf_Addr plt_address, bool search_text, struct elf_file *file)
{
	struct table dynamic = {0}, all;
	struct versions versions = {0};
	find_sections(elf, &dynamic, &versions);
	read_table(&dynamic, &versions, file);
	for (Elf_Scn *section = NULL; (section = elf_nextscn(elf, section));) {
		GElf_Shdr header;
		if (!gelf_getshdr(section, &header))
			continue;
		if (header.sh_type == SHT_SYMTAB && open_table(elf, section, &header, &all))
			read_table(&all, &versions, file);
		bool relocations = header.sh_type == SHT_RELA || header.sh_type == SHT_REL;
		if (relocations && file->imports_easy && (header.sh_flags & SHF_ALLOC) && header.sh_addr != plt_address)
			read_relocations(section, &header, &dynamic, file);
	}
	if (file->defines_easy || (search_text && !file->imports_easy && !file->imports_multi))
		find_version(elf, file);
}
