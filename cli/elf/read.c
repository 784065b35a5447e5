/* SPDX-License-Identifier: MIT */
/*
 * The file may be anybody's: each number that is read from it is held against the file's size, by libelf or here.
 */
#include "cli/elf/read.h"

#include <errno.h>
#include <fcntl.h>
#include <gelf.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cli/elf/symbols.h"

/* ld.so would take more, no linker makes them. */
#define NEEDED_MAX 4096

/* Where the dynamic section and its strings are. */
struct dynamic {
	GElf_Off at;
	size_t bytes;
	GElf_Addr strings_address;
	size_t strings_bytes;
	GElf_Addr plt_address;
	size_t needed_count;
};

/* The runtimes of gcc and clang as libraries; one that was linked statically is told by its symbols. */
static bool is_sanitizer_name(const char *name)
{
	static const char *const RUNTIMES[] = {"libasan.", "libtsan.",   "libubsan.",   "liblsan.",
	                                       "libmsan.", "libhwasan.", "libclang_rt."};
	name = basename(name);
	for (size_t i = 0; i < sizeof(RUNTIMES) / sizeof(RUNTIMES[0]); i++)
		if (strncmp(name, RUNTIMES[i], strlen(RUNTIMES[i])) == 0)
			return true;
	return false;
}

/* Returns the text at an offset of the file, if it ends within `bytes`, for the caller to free(); NULL: it doesn't. */
static char *text_at(Elf *elf, GElf_Off at, size_t bytes)
{
	if (bytes == 0 || bytes > PATH_MAX)
		return NULL;
	Elf_Data *data = elf_getdata_rawchunk(elf, (int64_t)at, bytes, ELF_T_BYTE);
	return data && memchr(data->d_buf, '\0', data->d_size) ? strdup(data->d_buf) : NULL;
}

static bool read_segments(Elf *elf, struct elf_file *file, struct dynamic *dynamic)
{
	size_t count;
	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf, (int)i, &segment))
			return false;
		if (segment.p_type == PT_INTERP && !file->interpreter) {
			file->interpreter = text_at(elf, segment.p_offset, segment.p_filesz);
			if (!file->interpreter)
				return false;
		} else if (segment.p_type == PT_TLS) {
			file->tls_bytes = segment.p_memsz;
			file->tls_alignment = segment.p_align;
		} else if (segment.p_type == PT_DYNAMIC) {
			file->is_dynamic = true;
			dynamic->at = segment.p_offset;
			dynamic->bytes = segment.p_filesz;
		}
	}
	return true;
}

/* Where in the file the bytes are that will be mapped at `address`. Returns false if none are. */
static bool find_offset(Elf *elf, GElf_Addr address, GElf_Off *at)
{
	size_t count;
	if (elf_getphdrnum(elf, &count) != 0)
		return false;
	for (size_t i = 0; i < count; i++) {
		GElf_Phdr segment;
		if (!gelf_getphdr(elf, (int)i, &segment) || segment.p_type != PT_LOAD || address < segment.p_vaddr ||
		    address - segment.p_vaddr >= segment.p_filesz)
			continue;
		*at = segment.p_offset + (address - segment.p_vaddr);
		return true;
	}
	return false;
}

static void read_entry(const GElf_Dyn *entry, struct elf_file *file, struct dynamic *dynamic)
{
	switch (entry->d_tag) {
	case DT_STRTAB:
		dynamic->strings_address = entry->d_un.d_ptr;
		break;
	case DT_STRSZ:
		dynamic->strings_bytes = entry->d_un.d_val;
		break;
	case DT_JMPREL:
		dynamic->plt_address = entry->d_un.d_ptr;
		break;
	case DT_AUDIT:
	case DT_DEPAUDIT:
		file->has_audit = true;
		break;
	case DT_FLAGS:
		file->takes_static_tls |= (entry->d_un.d_val & DF_STATIC_TLS) != 0;
		break;
	case DT_NEEDED:
		dynamic->needed_count += dynamic->needed_count < NEEDED_MAX;
		break;
	default:
		break;
	}
}

/* Goes through the entries again, now that it is known where the strings are and how many names there will be. */
static bool read_names(Elf_Data *entries, int entry_count, size_t wanted, const Elf_Data *strings,
                       struct elf_file *file)
{
	file->needed = calloc(wanted + 1, sizeof(*file->needed));
	if (!file->needed)
		return false;
	for (int i = 0; i < entry_count; i++) {
		GElf_Dyn entry;
		if (!gelf_getdyn(entries, i, &entry) || entry.d_tag == DT_NULL)
			break;
		if (entry.d_tag != DT_NEEDED && entry.d_tag != DT_SONAME)
			continue;
		if (entry.d_un.d_val >= strings->d_size)
			return false;
		const char *name = (const char *)strings->d_buf + entry.d_un.d_val;
		if (entry.d_tag == DT_SONAME)
			file->is_sanitizer |= is_sanitizer_name(name);
		else if (file->needed_count < wanted && !(file->needed[file->needed_count++] = strdup(name)))
			return false;
	}
	return true;
}

static bool read_dynamic(Elf *elf, struct elf_file *file, struct dynamic *dynamic)
{
	GElf_Off strings_at;
	if (!file->is_dynamic)
		return true;
	size_t entry_bytes = gelf_fsize(elf, ELF_T_DYN, 1, EV_CURRENT);
	Elf_Data *entries = elf_getdata_rawchunk(elf, (int64_t)dynamic->at, dynamic->bytes, ELF_T_DYN);
	if (!entries || entry_bytes == 0 || dynamic->bytes / entry_bytes > INT_MAX)
		return false;
	int entry_count = (int)(dynamic->bytes / entry_bytes);
	for (int i = 0; i < entry_count; i++) {
		GElf_Dyn entry;
		if (!gelf_getdyn(entries, i, &entry) || entry.d_tag == DT_NULL)
			break;
		read_entry(&entry, file, dynamic);
	}
	if (dynamic->strings_bytes == 0 || !find_offset(elf, dynamic->strings_address, &strings_at))
		return dynamic->needed_count == 0;
	Elf_Data *strings = elf_getdata_rawchunk(elf, (int64_t)strings_at, dynamic->strings_bytes, ELF_T_BYTE);
	if (!strings || ((const char *)strings->d_buf)[strings->d_size - 1] != '\0')
		return false;
	return read_names(entries, entry_count, dynamic->needed_count, strings, file);
}

static enum elf_result read_elf(int fd, struct elf_file *file, enum elf_part part)
{
	enum elf_result result = ELF_RESULT_BROKEN;
	GElf_Ehdr header;
	struct dynamic dynamic = {0};
	elf_version(EV_CURRENT);
	Elf *elf = elf_begin(fd, ELF_C_READ, NULL);
	if (!elf || elf_kind(elf) != ELF_K_ELF || !gelf_getehdr(elf, &header))
		goto end;
	file->class_bits = gelf_getclass(elf) == ELFCLASS32 ? 32 : 64;
	file->machine = header.e_machine;
	if (!read_segments(elf, file, &dynamic) || !read_dynamic(elf, file, &dynamic))
		goto end;
	if (part != ELF_PART_LAYOUT)
		elf_symbols_read(elf, dynamic.plt_address, part == ELF_PART_ALL, file);
	result = ELF_RESULT_OK;
end:
	elf_end(elf);
	return result;
}

enum elf_result elf_file_read_part(const char *path, enum elf_part part, struct elf_file *file)
{
	char magic[SELFMAG];
	struct stat status;
	enum elf_result result = ELF_RESULT_UNREADABLE;
	memset(file, 0, sizeof(*file));
	file->path = strdup(path);
	/* O_NONBLOCK: whatever has that name, opening it must not hang. */
	int fd = file->path ? open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY) : -1;
	if (fd < 0)
		return ELF_RESULT_UNREADABLE;
	if (fstat(fd, &status) != 0)
		goto end;
	if (!S_ISREG(status.st_mode)) {
		errno = S_ISDIR(status.st_mode) ? EISDIR : EACCES;
		goto end;
	}
	ssize_t got = pread(fd, magic, sizeof(magic), 0);
	if (got == (ssize_t)sizeof(magic) && memcmp(magic, ELFMAG, SELFMAG) == 0)
		result = read_elf(fd, file, part);
	else if (got >= 0)
		result = ELF_RESULT_NOT_ELF;
	file->is_sanitizer |= is_sanitizer_name(path);
end:;
	int reason = errno;
	close(fd);
	errno = reason;
	return result;
}

enum elf_result elf_file_read(const char *path, struct elf_file *file)
{
	return elf_file_read_part(path, ELF_PART_ALL, file);
}
