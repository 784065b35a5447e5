/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_FLOOR_H
#define TENACURL_INTERPOSE_FLOOR_H

/*
 * Included before all else into each file of the preloaded object: lets it be built on a newer glibc than the one it is
 * loaded into, down to 2.17. Programs bring older ones along: vendors' bundles, another root, a loader of their own.
 *
 * A name that came after 2.17, or got a new version then, would end such a program at its start. So the old version is
 * asked for. It is in libc.so.6, but for what was in libpthread.so.0 before 2.34: that is weak, so that it may be
 * missing, and looked for when it is needed, since libpthread may have come with libcurl by then. These look right
 * and aren't: libpthread.so.0 among the libraries that the object needs ends programs in roots without it, and makes
 * each program threaded; without versions the linker takes the oldest of each name (pthread_cond_init with another
 * struct, memcpy); weak without the late look-up crashes where libpthread comes with a plugin. tests/elf/imports.txt
 * holds what is imported, and scripts/check-elf compares.
 */

#include <features.h>

/* glibc 2.38 and later have other names for those that read 0b1 as a number. */
#undef __GLIBC_USE_C2X_STRTOL
#define __GLIBC_USE_C2X_STRTOL 0
#undef __GLIBC_USE_C23_STRTOL
#define __GLIBC_USE_C23_STRTOL 0

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stddef.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__LP64__)
/* The kernel fills in the C library's own struct here. As functions they are macros or inlined before 2.33. */
#define fstatat(fd, path, status, flags) ((int)syscall(SYS_newfstatat, fd, path, status, flags))
#define stat(path, status)               fstatat(AT_FDCWD, path, status, 0)
#define lstat(path, status)              fstatat(AT_FDCWD, path, status, AT_SYMLINK_NOFOLLOW)
/* As newer C libraries have it: filters are made for what these call. The empty name isn't in .rodata, which the
 * constructor leaves unread (docs/interposing.md, What a start costs). */
#define fstat(fd, status) fstatat(fd, (char[1]){0}, status, AT_EMPTY_PATH)
#endif

/* 2.25. Fails where the kernel is older. */
#define getrandom(buffer, bytes, flags) syscall(SYS_getrandom, buffer, bytes, flags)

/* The same system call for the same thread; in libpthread before 2.32. */
#define pthread_sigmask(how, set, old) sigprocmask(how, set, old)

#if defined(__x86_64__) && defined(__LP64__)
#define FLOOR_FIRST "GLIBC_2.2.5"
#elif defined(__aarch64__) && defined(__LP64__)
#define FLOOR_FIRST "GLIBC_2.17"
#endif

#if defined(__GLIBC__) && defined(FLOOR_FIRST)

#define FLOOR(name)                                                                                                    \
	extern __typeof__(name) name __attribute__((weak));                                                            \
	__asm__(".symver " #name "," #name "@" FLOOR_FIRST)

FLOOR(pthread_attr_getstack);
FLOOR(pthread_getattr_np);
FLOOR(pthread_getspecific);
FLOOR(pthread_key_create);
FLOOR(pthread_key_delete);
FLOOR(pthread_mutex_timedlock);
FLOOR(pthread_mutex_trylock);
FLOOR(pthread_once);
FLOOR(pthread_setspecific);

/*
 * Returns the function of this name in libpthread.so.0 if that was loaded meanwhile, else NULL; `known` keeps what was
 * found. Any thread. errno is kept.
 */
__attribute__((visibility("hidden"))) void *floor_late(const char *name, _Atomic(void *) *known);

/* Calls a function that may be missing; then there is only one thread, for which `otherwise` is as good. */
#define FLOOR_CALL(otherwise, name, ...)                                                                               \
	__extension__({                                                                                                \
		static _Atomic(void *) floor_known;                                                                    \
		__typeof__(&name) floor_call = name ? &name : (__typeof__(&name))floor_late(#name, &floor_known);      \
		floor_call ? floor_call(__VA_ARGS__) : (otherwise);                                                    \
	})

#define FLOOR_ONCE_DONE 2 /* as glibc marks it */

#define pthread_attr_getstack(a, low, bytes)    FLOOR_CALL(1, pthread_attr_getstack, a, low, bytes)
#define pthread_getspecific(key)                FLOOR_CALL(NULL, pthread_getspecific, key)
#define pthread_key_create(key, release)        FLOOR_CALL(1, pthread_key_create, key, release)
#define pthread_key_delete(key)                 FLOOR_CALL(0, pthread_key_delete, key)
#define pthread_mutex_timedlock(mutex, instant) FLOOR_CALL(0, pthread_mutex_timedlock, mutex, instant)
#define pthread_mutex_trylock(mutex)            FLOOR_CALL(0, pthread_mutex_trylock, mutex)
#define pthread_once(once, function)                                                                                   \
	FLOOR_CALL((*(once) ? 0 : (*(once) = FLOOR_ONCE_DONE, (function)(), 0)), pthread_once, once, function)
#define pthread_setspecific(key, value) FLOOR_CALL(1, pthread_setspecific, key, value)

#endif

#endif
