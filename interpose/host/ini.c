/* SPDX-License-Identifier: MIT */

/*
 * iniparser, linked into the object. Its archive is compiled for programs and for the C library of the host that built
 * it; what ties it to them is renamed (interpose/host/ini.syms), and stands here:
 *
 *   - stderr, whose address only a program can have without text relocations, and the functions that print to it.
 *   - Characters. The program's locale is none of iniparser's business.
 *   - Memory. iniparser 4.1 uses its dictionary's arrays without a look at whether calloc() gave them. Here they come
 *     out of one mapping, which is there before it begins, and goes as a whole.
 *   - Names that only newer C libraries have, or only some, or that stand in functions which nobody calls: ld.so would
 *     look each up at the start of each process.
 */

#include <limits.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>

#include "interpose/host/ini.h"

/* From <iniparser/iniparser.h>, which isn't included: it would define what else it declares. */
extern struct _dictionary_ *iniparser_load(const char *path);
extern int iniparser_getnsec(const struct _dictionary_ *dictionary);
extern const char *iniparser_getsecname(const struct _dictionary_ *dictionary, int index);
extern const char *iniparser_getstring(const struct _dictionary_ *dictionary, const char *key, const char *fallback);
extern void iniparser_set_error_callback(int (*report)(const char *format, ...));

/* What stands in for what; the names are those of ini.syms. */
extern FILE *ini_stderr;
extern uintptr_t ini_stack_guard;
int ini_print_checked(FILE *out, int flag, const char *format, ...);
int ini_print_list_checked(FILE *out, int flag, const char *format, va_list arguments);
int ini_format_checked(char *text, int flag, size_t bytes, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
char *ini_read_line_checked(char *line, size_t room_bytes, int bytes, FILE *in);
FILE *ini_open(const char *path, const char *mode);
FILE *ini_open_memory(void *memory, size_t bytes, const char *mode);
void ini_unused_fputc(void);
const unsigned short **ini_classes(void);
const int32_t **ini_lower(void);
void *ini_allocate(size_t bytes);
void *ini_allocate_many(size_t count, size_t bytes);
void ini_release(void *memory);

/* Complaints. A callback takes them, so that nothing is ever printed. */

FILE *ini_stderr;

int ini_print_checked(FILE *out, int flag, const char *format, ...)
{
	(void)out;
	(void)flag;
	(void)format;
	return 0;
}

int ini_print_list_checked(FILE *out, int flag, const char *format, va_list arguments)
{
	(void)out;
	(void)flag;
	(void)format;
	(void)arguments;
	return 0;
}

/* Texts and files. */

uintptr_t ini_stack_guard; /* where it is no part of the thread's storage: aarch64 */

int ini_format_checked(char *text, int flag, size_t bytes, const char *format, ...)
{
	va_list arguments;
	(void)flag;
	va_start(arguments, format);
	int length = vsnprintf(text, bytes < INT_MAX ? bytes : INT_MAX, format, arguments);
	va_end(arguments);
	return length;
}

char *ini_read_line_checked(char *line, size_t room_bytes, int bytes, FILE *in)
{
	return fgets(line, room_bytes < (size_t)bytes ? (int)room_bytes : bytes, in);
}

FILE *ini_open(const char *path, const char *mode)
{
	(void)mode;
	return fopen(path, "re"); /* another thread may start a program meanwhile */
}

/* In a function that isn't used. */
FILE *ini_open_memory(void *memory, size_t bytes, const char *mode)
{
	(void)memory;
	(void)bytes;
	(void)mode;
	return NULL;
}

/* All that iniparser is asked for is texts, so that it reads no numbers and writes no files. */
void ini_unused_fputc(void)
{
}

void ini_unused_strtod(void) __attribute__((alias("ini_unused_fputc")));
void ini_unused_strtol(void) __attribute__((alias("ini_unused_fputc")));
void ini_unused_old_strtol(void) __attribute__((alias("ini_unused_fputc")));

/* Characters: what is looked up by -128 to 255, as <ctype.h> of glibc has it. */

#define CHARACTERS_BELOW 128
#define CHARACTERS       (CHARACTERS_BELOW + 256)
#define SPACE            0x2000 /* isspace(), where the low byte comes first */

static const unsigned short classes[CHARACTERS] = {
    [CHARACTERS_BELOW + '\t'] = SPACE, [CHARACTERS_BELOW + '\n'] = SPACE, [CHARACTERS_BELOW + '\v'] = SPACE,
    [CHARACTERS_BELOW + '\f'] = SPACE, [CHARACTERS_BELOW + '\r'] = SPACE, [CHARACTERS_BELOW + ' '] = SPACE,
};
static int32_t lower[CHARACTERS];

const unsigned short **ini_classes(void)
{
	static const unsigned short *from_zero = classes + CHARACTERS_BELOW;
	return &from_zero;
}

const int32_t **ini_lower(void)
{
	static const int32_t *from_zero = lower + CHARACTERS_BELOW;
	return &from_zero;
}

static void fill_lower(void)
{
	for (int c = -CHARACTERS_BELOW; c < CHARACTERS - CHARACTERS_BELOW; c++)
		lower[CHARACTERS_BELOW + c] = c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
}

/* Memory. */

#define POOL_BYTES (2 * 1024 * 1024) /* more than the largest file needs that the scan and the schema let through */
#define ALIGNMENT  16

static struct {
	char *begin;
	size_t used_bytes, last_bytes; /* `last`: before the newest piece */
} pool;

static bool open_pool(void)
{
	void *area = mmap(NULL, POOL_BYTES, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED)
		return false;
	pool.begin = area;
	pool.used_bytes = pool.last_bytes = 0;
	return true;
}

static void close_pool(void)
{
	munmap(pool.begin, POOL_BYTES);
	pool.begin = NULL;
}

void *ini_allocate(size_t bytes)
{
	if (bytes > POOL_BYTES - pool.used_bytes)
		return NULL;
	pool.last_bytes = pool.used_bytes;
	pool.used_bytes += (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
	return pool.begin + pool.last_bytes;
}

void *ini_allocate_many(size_t count, size_t bytes)
{
	void *memory = bytes == 0 || count <= POOL_BYTES / bytes ? ini_allocate(count * bytes) : NULL;
	return memory ? memset(memory, 0, count * bytes) : NULL;
}

/* The newest piece can be used again: iniparser copies each line and lets the copy go. */
void ini_release(void *memory)
{
	if (memory && memory == pool.begin + pool.last_bytes)
		pool.used_bytes = pool.last_bytes;
}

/* The functions. */

static struct _dictionary_ *load(const char *path)
{
	if (!open_pool())
		return NULL;
	fill_lower();
	struct _dictionary_ *dictionary = iniparser_load(path);
	if (!dictionary)
		close_pool();
	return dictionary;
}

static void free_dictionary(struct _dictionary_ *dictionary)
{
	(void)dictionary;
	close_pool();
}

const struct ini_functions *ini_functions(void)
{
	static const struct ini_functions functions = {
	    .load = load,
	    .free_dictionary = free_dictionary,
	    .section_count = iniparser_getnsec,
	    .section_name = iniparser_getsecname,
	    .get_string = iniparser_getstring,
	    .set_error_callback = iniparser_set_error_callback,
	};
	return &functions;
}
