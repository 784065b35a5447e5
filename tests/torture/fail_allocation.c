/* SPDX-License-Identifier: MIT */

/*
 * Preloaded behind libtenacurl.so, it lets allocations fail that libtenacurl.so asks for; those of the program, of
 * libcurl and of libc itself are left alone.
 *
 *     TORTURE_NTH      the number of the first allocation that fails, counted from 1; 0: none
 *     TORTURE_COUNT    how many fail from there on; 0: all
 *     TORTURE_REPORT   a file, to which the end of the process writes "allocations N failed N locked N"
 *
 * "locked" counts the mutexes that libtenacurl.so took and didn't give back.
 */

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define EXPORTED  __attribute__((visibility("default")))
#define IS_OURS() is_ours((uintptr_t)__builtin_return_address(0))

extern void *__libc_malloc(size_t bytes);
extern void *__libc_calloc(size_t count, size_t bytes);
extern void *__libc_realloc(void *old, size_t bytes);

static uintptr_t object_begin, object_end;
static long first_failing, failing_count;
static _Atomic long allocations, failed, locked;

static int find_object(struct dl_phdr_info *object, size_t size, void *context)
{
	static const char name[] = "/libtenacurl.so";
	const size_t name_bytes = sizeof(name) - 1, path_bytes = strlen(object->dlpi_name);
	(void)size;
	(void)context;
	if (path_bytes < name_bytes || strcmp(object->dlpi_name + path_bytes - name_bytes, name) != 0)
		return 0;
	object_begin = object->dlpi_addr;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		const uintptr_t end = object->dlpi_addr + header->p_vaddr + header->p_memsz;
		if (header->p_type == PT_LOAD && end > object_end)
			object_end = end;
	}
	return 1;
}

static long number_in(const char *variable)
{
	const char *text = getenv(variable);
	return text ? strtol(text, NULL, 10) : 0;
}

__attribute__((constructor)) static void begin(void)
{
	first_failing = number_in("TORTURE_NTH");
	failing_count = number_in("TORTURE_COUNT");
	dl_iterate_phdr(find_object, NULL);
}

__attribute__((destructor)) static void report(void)
{
	const char *path = getenv("TORTURE_REPORT");
	FILE *file = path ? fopen(path, "w") : NULL;
	if (!file)
		return;
	fprintf(file, "allocations %ld failed %ld locked %ld\n", allocations, failed, locked);
	fclose(file);
}

static int is_ours(uintptr_t caller)
{
	return caller >= object_begin && caller < object_end;
}

/* Counts an allocation; returns whether it is to fail. */
static int fails(void)
{
	const long number = atomic_fetch_add(&allocations, 1) + 1;
	if (first_failing == 0 || number < first_failing)
		return 0;
	if (failing_count != 0 && number >= first_failing + failing_count)
		return 0;
	atomic_fetch_add(&failed, 1);
	errno = ENOMEM;
	return 1;
}

EXPORTED void *malloc(size_t bytes)
{
	return IS_OURS() && fails() ? NULL : __libc_malloc(bytes);
}

EXPORTED void *calloc(size_t count, size_t bytes)
{
	return IS_OURS() && fails() ? NULL : __libc_calloc(count, bytes);
}

EXPORTED void *realloc(void *old, size_t bytes)
{
	return IS_OURS() && fails() ? NULL : __libc_realloc(old, bytes);
}

/* libc's own asks for memory from inside libc. */
EXPORTED char *strdup(const char *text)
{
	const size_t bytes = strlen(text) + 1;
	char *copy = IS_OURS() && fails() ? NULL : __libc_malloc(bytes);
	return copy ? memcpy(copy, text, bytes) : NULL;
}

/* Mutexes: only counted. */

static void *next(const char *name)
{
	void *symbol = dlsym(RTLD_NEXT, name);
	if (!symbol)
		abort();
	return symbol;
}

static int count_lock(int is_counted, int result)
{
	if (is_counted && result == 0)
		atomic_fetch_add(&locked, 1);
	return result;
}

EXPORTED int pthread_mutex_lock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);
	const int is_counted = IS_OURS();
	if (!real)
		real = (__typeof__(real))next("pthread_mutex_lock");
	return count_lock(is_counted, real(mutex));
}

EXPORTED int pthread_mutex_trylock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);
	const int is_counted = IS_OURS();
	if (!real)
		real = (__typeof__(real))next("pthread_mutex_trylock");
	return count_lock(is_counted, real(mutex));
}

EXPORTED int pthread_mutex_timedlock(pthread_mutex_t *mutex, const struct timespec *limit)
{
	static int (*real)(pthread_mutex_t *, const struct timespec *);
	const int is_counted = IS_OURS();
	if (!real)
		real = (__typeof__(real))next("pthread_mutex_timedlock");
	return count_lock(is_counted, real(mutex, limit));
}

EXPORTED int pthread_mutex_unlock(pthread_mutex_t *mutex)
{
	static int (*real)(pthread_mutex_t *);
	if (IS_OURS())
		atomic_fetch_sub(&locked, 1);
	if (!real)
		real = (__typeof__(real))next("pthread_mutex_unlock");
	return real(mutex);
}
