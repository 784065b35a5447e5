/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_ELF_LINK_TREE_H
#define TENACURL_CLI_ELF_LINK_TREE_H

/*
 * The objects that the dynamic linker maps at a program's start. The dynamic linker itself is asked (ld.so --list), so
 * RUNPATH, LD_LIBRARY_PATH, ld.so.cache and preloads count as they will; no code of the program runs.
 */

#include "cli/elf/file.h"

struct link_tree {
	struct elf_file *objects; /* [0] is the program; the others in the linker's order */
	size_t count;
	uint64_t static_tls_bytes; /* of all libraries that take it (DF_STATIC_TLS), with the alignment of each */
	bool has_sanitizer;
	char *missing; /* the first name that was not found: the program would not start; NULL: all were */
};

/*
 * Reads the tree of the ELF program at `path`, with `preload` (NULL: none) as its LD_PRELOAD. Returns false if the
 * dynamic linker can't be asked: none, or one that others could have tampered with; the tree then holds the program
 * alone. To be freed with link_tree_free() whatever is returned.
 */
bool link_tree_read(const char *path, const char *preload, struct link_tree *tree);

/* The same without the symbols of the libraries (ELF_PART_LAYOUT), which takes a tenth of the time. */
bool link_tree_read_layout(const char *path, const char *preload, struct link_tree *tree);
void link_tree_free(struct link_tree *tree);

#endif
