/* SPDX-License-Identifier: MIT */

/*
 * With an audit module ld.so lays out static TLS before it has seen the program's libraries, with a fixed room for them
 * (csu/libc-tls.c and elf/dl-tls.c, _dl_tls_static_surplus_init). What doesn't fit ends the process: "cannot allocate
 * memory in static TLS block". rustc has 23 KiB of it, programs with a ThreadSanitizer 768. A larger room for all isn't
 * the answer, since every thread pays for it with its stack.
 *
 * And some are disturbed by the interface itself (glibc 2.36):
 *
 *   - ld.so allocates what it notes of bindings while it relocates the program, by then with the program's own calloc.
 *     clang's ThreadSanitizer, which is part of the program, isn't ready for that.
 *   - valgrind reports two frees in ld.so at exit. What it runs inherits the environment of its front end.
 *
 * Nothing of the program has run when its objects are mapped, so that it can be started anew without a trace but the
 * millisecond that it takes.
 *
 * A sandbox may end a process for any system call that its author didn't think of. Whether a program has to step aside
 * is found out by none but what ld.so makes as well (system_is_mapped, for few objects); only one that does, and would
 * fail otherwise, makes others.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "interpose/bind/bind.h"
#include "interpose/bind/environment.h"
#include "interpose/bind/object.h"
#include "interpose/bind/step_aside.h"
#include "interpose/bind/system.h"

#define COUNT(array) (sizeof(array) / sizeof((array)[0]))

/* What ld.so keeps free beyond the tunable, for its own namespaces, is 1360 bytes; some must stay for plugins. */
#define TLS_ROOM_BYTES    768
#define TLS_TUNABLE       "glibc.rtld.optional_static_tls="
#define TLS_TUNABLE_BYTES 512 /* its default */

#define AUDIT_VARIABLE "LD_AUDIT="
#define PATH_BYTES     4096
#define PAGE_BYTES_MIN 4096

/* Where the name leads is what runs, whatever has become of the file's path; the process is then called "exe", though.
 */
#define PROGRAM_LINK "/proc/self/exe"

static const char *const disturbed_programs[] = {"valgrind", "valgrind.bin"};
static const char *const disturbed_runtimes[] = {"__tsan_init"};

/* Variables of libraries that the program reaches at a fixed offset: what holds them must have static TLS. */
#define TAKEN_MAX 16

static bool program_begins;
static size_t static_tls_bytes; /* of the libraries so far */
static const char *taken_names[TAKEN_MAX];
static size_t taken_count; /* more than TAKEN_MAX: not all names are known */

void step_aside_end(void)
{
	program_begins = true;
}

/* Returns what follows `start` at the beginning of the text, or NULL. */
static char *text_after(char *text, const char *start)
{
	while (*start && *text == *start) {
		text++;
		start++;
	}
	return *start ? NULL : text;
}

static char *base_name(char *path, size_t bytes)
{
	while (bytes > 0 && path[bytes - 1] != '/')
		bytes--;
	return path + bytes;
}

/* How much static TLS the program's libraries may have: what GLIBC_TUNABLES, which `run` sets with LD_AUDIT, has room
 * for. */
static size_t room_for_tls_bytes(void)
{
	char *tunables = (char *)(uintptr_t)environment_get("GLIBC_TUNABLES");
	size_t bytes = TLS_TUNABLE_BYTES;
	for (char *at = tunables; at && *at; at++) {
		char *digit = at == tunables || at[-1] == ':' ? text_after(at, TLS_TUNABLE) : NULL;
		if (digit)
			bytes = 0;
		for (; digit && *digit >= '0' && *digit <= '9' && bytes < SIZE_MAX / 16; digit++)
			bytes = 10 * bytes + (size_t)(*digit - '0');
	}
	return bytes + TLS_ROOM_BYTES;
}

static bool is_in_first_page(const struct link_map *map, const void *table)
{
	return (uintptr_t)table - map->l_addr < PAGE_BYTES_MIN;
}

/* Where a library isn't linked for address 0, its header is elsewhere. Most have one of these tables right behind it.
 */
static bool is_header_mapped(const struct link_map *map)
{
	static const ElfW(Sxword) tables[] = {DT_GNU_HASH, DT_HASH, DT_SYMTAB};
	for (size_t i = 0; i < COUNT(tables); i++)
		if (is_in_first_page(map, object_table(map, tables[i])))
			return true;
	return system_is_mapped(map->l_addr);
}

/* 0 where the header can't be read. */
static size_t tls_bytes_of(const struct link_map *map)
{
	const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)map->l_addr;
	if (!header || !is_header_mapped(map) || header->e_ident[EI_MAG0] != ELFMAG0 ||
	    header->e_ident[EI_MAG1] != ELFMAG1 || header->e_ident[EI_MAG2] != ELFMAG2)
		return 0;
	const ElfW(Phdr) *segment = (const ElfW(Phdr) *)(map->l_addr + header->e_phoff);
	for (size_t i = 0; i < header->e_phnum; i++)
		if (segment[i].p_type == PT_TLS)
			return segment[i].p_memsz + segment[i].p_align;
	return 0;
}

static bool note_taken(void *context, const ElfW(Sym) * symbol, const char *name, const uintptr_t *place)
{
	(void)context;
	(void)place;
	if (ELF64_ST_TYPE(symbol->st_info) != STT_TLS || symbol->st_shndx != SHN_UNDEF)
		return false;
	if (taken_count < TAKEN_MAX)
		taken_names[taken_count] = name;
	taken_count += taken_count <= TAKEN_MAX;
	return false;
}

/* Without an audit module all libraries that are there at start have static TLS; with one, only those that need it. */
static bool needs_static_tls(const struct link_map *map)
{
	struct object object;
	if ((object_dynamic(map, DT_FLAGS, 0) & DF_STATIC_TLS) != 0 || taken_count > TAKEN_MAX)
		return true;
	if (taken_count == 0 || !object_read(&object, map))
		return false;
	for (size_t i = 0; i < taken_count; i++)
		if (object_find(&object, taken_names[i], object_gnu_hash(taken_names[i])))
			return true;
	return false;
}

/*
 * Takes this module out of LD_AUDIT's list, whose texts are the process's own, and the watcher behind it: a program
 * that can't live with one can't with the other. Returns whether another one is left.
 */
static bool leave_list(char *list)
{
	char *out = list;
	for (char *at = list; *at;) {
		size_t bytes = 0;
		while (at[bytes] && at[bytes] != ':')
			bytes++;
		char *name = base_name(at, bytes);
		bool is_us =
		    text_after(name, BIND_LIBRARY) == at + bytes || text_after(name, WATCH_LIBRARY) == at + bytes;
		for (size_t i = 0; !is_us && i < bytes + (at[bytes] == ':'); i++)
			*out++ = at[i];
		at += bytes + (at[bytes] == ':');
	}
	*out = '\0';
	return out != list;
}

static void leave_environment(char **variables)
{
	char **out = variables;
	for (char **variable = variables; *variable; variable++) {
		char *list = text_after(*variable, AUDIT_VARIABLE);
		if (!list || leave_list(list))
			*out++ = *variable;
	}
	*out = NULL;
}

/* What execve was told to start: the program, or a script that it interprets. */
static const char *started_path(void)
{
	const char *path = (const char *)environment_auxiliary(AT_EXECFN);
	return path ? path : "";
}

/* A script's path is among the arguments that its interpreter gets. */
static bool may_be_script(const char *path)
{
	char **argument = environment_arguments();
	while (*argument && !text_equals(argument[1] ? argument[1] : "", path))
		argument++;
	return *argument != NULL;
}

/* The path by which the program is started again, so that it has the name in ps that it had; "" if it isn't known. */
static const char *program_path(void)
{
	static char name[PATH_BYTES];
	if (!may_be_script(started_path()))
		return started_path();
	long bytes = system_read_link(PROGRAM_LINK, name, sizeof(name) - 1);
	name[bytes > 0 ? bytes : 0] = '\0';
	return name;
}

static void start_anew(void)
{
	/* ld.so that was called as a program has shifted its arguments. */
	if (environment_auxiliary(AT_BASE) == 0)
		return;
	const char *path = program_path();
	leave_environment(environment_variables());
	system_execute(path, environment_arguments(), environment_variables());
	/* It was removed, or never had a name here (memfd_create). */
	system_execute(PROGRAM_LINK, environment_arguments(), environment_variables());
}

static bool is_disturbed_program(void)
{
	const char *path = started_path(), *name = path;
	for (const char *at = path; *at; at++)
		name = *at == '/' ? at + 1 : name;
	if (may_be_script(path))
		return false;
	for (size_t i = 0; i < COUNT(disturbed_programs); i++)
		if (text_equals(name, disturbed_programs[i]))
			return true;
	return false;
}

static bool has_disturbed_runtime(const struct link_map *map)
{
	struct object object;
	if (!object_read(&object, map))
		return false;
	for (size_t i = 0; i < COUNT(disturbed_runtimes); i++)
		if (object_find(&object, disturbed_runtimes[i], object_gnu_hash(disturbed_runtimes[i])))
			return true;
	return false;
}

void step_aside_look(const struct link_map *map)
{
	if (program_begins)
		return;
	/* The program itself, whose own TLS ld.so knows in time. */
	struct object program;
	bool is_program = map->l_name[0] == '\0';
	if (is_program && object_read(&program, map))
		object_visit_data_references(&program, note_taken, NULL);
	if (!is_program && needs_static_tls(map))
		static_tls_bytes += tls_bytes_of(map);
	if (static_tls_bytes > room_for_tls_bytes() ||
	    (is_program && (has_disturbed_runtime(map) || is_disturbed_program())))
		start_anew();
}
