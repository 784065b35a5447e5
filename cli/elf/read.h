/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_ELF_READ_H
#define TENACURL_CLI_ELF_READ_H

/*
 * Reads ELF files with libelf, so of any class and byte order. Nothing of the file is executed.
 */

#include "cli/elf/file.h"

enum elf_result {
	ELF_RESULT_OK,
	ELF_RESULT_NOT_ELF,    /* readable, but something else: a script, most likely */
	ELF_RESULT_UNREADABLE, /* errno says why */
	ELF_RESULT_BROKEN      /* begins like an ELF file and makes no sense */
};

/* How much of a file is read; each takes several times as long as the one before. */
enum elf_part {
	ELF_PART_LAYOUT,  /* nothing of symbols: neither imports…, defines…, exports… nor curl_version */
	ELF_PART_SYMBOLS, /* all; but the version of a libcurl only where its symbols are found */
	ELF_PART_ALL /* … and in any file that imports nothing of libcurl: one that was built in, without symbols */
};

/* Reads the file at `path` into `file`, which is to be freed with elf_file_free() whatever is returned. */
enum elf_result elf_file_read(const char *path, struct elf_file *file);

/* The same, but no more than one needs. */
enum elf_result elf_file_read_part(const char *path, enum elf_part part, struct elf_file *file);

#endif
