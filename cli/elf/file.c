/* SPDX-License-Identifier: MIT */
#include "cli/elf/file.h"

#include <elf.h>
#include <fnmatch.h>
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

void elf_file_free(struct elf_file *file)
{
	free(file->path);
	free(file->interpreter);
	for (size_t i = 0; i < file->needed_count; i++)
		free(file->needed[i]);
	free(file->needed);
	memset(file, 0, sizeof(*file));
}

/* The linker puts this program's own header here. */
extern const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

/* The first object is the program. */
static int take_interpreter(struct dl_phdr_info *program, size_t bytes, void *context)
{
	const char **interpreter = context;
	(void)bytes;
	for (size_t i = 0; i < program->dlpi_phnum; i++)
		if (program->dlpi_phdr[i].p_type == PT_INTERP)
			*interpreter = (const char *)(program->dlpi_addr + program->dlpi_phdr[i].p_vaddr);
	return 1;
}

const char *elf_own_interpreter(void)
{
	const char *interpreter = NULL;
	dl_iterate_phdr(take_interpreter, &interpreter);
	return interpreter;
}

bool elf_file_is_native(const struct elf_file *file)
{
	int own_bits = __ehdr_start.e_ident[EI_CLASS] == ELFCLASS32 ? 32 : 64;
	return file->class_bits == own_bits && file->machine == __ehdr_start.e_machine;
}

bool elf_file_is_musl(const struct elf_file *file)
{
	return file->interpreter && strncmp(basename(file->interpreter), "ld-musl-", strlen("ld-musl-")) == 0;
}

bool elf_file_is_linker(const struct elf_file *file, const char *path)
{
	const char *name = basename(path);
	return !file->interpreter && strncmp(name, "ld-musl-", strlen("ld-musl-")) != 0 &&
	       fnmatch("ld*.so*", name, 0) == 0;
}

const char *elf_machine_name(unsigned machine)
{
	static const struct {
		unsigned machine;
		const char *name;
	} MACHINES[] = {
	    {EM_X86_64, "x86-64"},   {EM_386, "i386"},
	    {EM_AARCH64, "aarch64"}, {EM_ARM, "arm"},
	    {EM_RISCV, "riscv"},     {EM_PPC64, "ppc64"},
	    {EM_PPC, "ppc"},         {EM_S390, "s390"},
	    {EM_MIPS, "mips"},       {EM_LOONGARCH, "loongarch"},
	    {EM_SPARCV9, "sparc64"}, {EM_IA_64, "ia64"},
	};
	static char unnamed[32];
	for (size_t i = 0; i < sizeof(MACHINES) / sizeof(MACHINES[0]); i++)
		if (MACHINES[i].machine == machine)
			return MACHINES[i].name;
	snprintf(unnamed, sizeof(unnamed), "machine %u", machine);
	return unnamed;
}
