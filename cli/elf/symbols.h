/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_ELF_SYMBOLS_H
#define TENACURL_CLI_ELF_SYMBOLS_H

#include <gelf.h>

#include "cli/elf/file.h"

/*
 * Fills in what the file's symbol tables say: the imports, what it defines, a sanitizer that is linked in, and the
 * version of a libcurl that it holds. `plt_address` is that of its PLT's relocations (DT_JMPREL), 0 without one. With
 * `search_text` libcurl is looked for even if no symbol of its own is there. What a damaged table doesn't tell stays
 * false.
 */
void elf_symbols_read(Elf *elf, GElf_Addr plt_address, bool search_text, struct elf_file *file);

#endif
