/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BIND_SYSTEM_H
#define TENACURL_INTERPOSE_BIND_SYSTEM_H

/*
 * The few system calls of audit modules, which have no C library. They return what the kernel returns, so -errno for a
 * failure: errno is the program's, and it stays as it is. Async-signal-safe, any thread.
 */

#include <asm/unistd.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/mman.h>
#include <sys/uio.h>

/* What the kernel returns above -ERRNO_MAX is an error's number, negative. */
#define ERRNO_MAX 4096

#if defined(__x86_64__)
static inline long system_call(long number, long first, long second, long third, long fourth, long fifth)
{
	register long fourth_register __asm__("r10") = fourth;
	register long fifth_register __asm__("r8") = fifth;
	register long sixth_register __asm__("r9") = 0;
	long result;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(number), "D"(first), "S"(second), "d"(third), "r"(fourth_register), "r"(fifth_register),
	                   "r"(sixth_register)
	                 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline long system_call(long number, long first, long second, long third, long fourth, long fifth)
{
	register long number_register __asm__("x8") = number;
	register long result __asm__("x0") = first;
	register long second_register __asm__("x1") = second;
	register long third_register __asm__("x2") = third;
	register long fourth_register __asm__("x3") = fourth;
	register long fifth_register __asm__("x4") = fifth;
	register long sixth_register __asm__("x5") = 0;
	__asm__ volatile("svc 0"
	                 : "+r"(result)
	                 : "r"(number_register), "r"(second_register), "r"(third_register), "r"(fourth_register),
	                   "r"(fifth_register), "r"(sixth_register)
	                 : "memory");
	return result;
}
#else
#error "which instruction is a system call on this machine?"
#endif

static inline long system_open(const char *path, int flags)
{
	return system_call(__NR_openat, AT_FDCWD, (long)path, flags, 0, 0);
}

static inline long system_write_pieces(long fd, const struct iovec *pieces, size_t count)
{
	return system_call(__NR_writev, fd, (long)pieces, (long)count, 0, 0);
}

static inline long system_execute(const char *path, char **arguments, char **variables)
{
	return system_call(__NR_execve, (long)path, (long)arguments, (long)variables, 0, 0);
}

/*
 * Whether anything is mapped at the page. mincore would say so, but a system call filter may end the process for it,
 * and none for mmap, without which there is no ld.so. Where Linux is older than 4.17 the address is only a wish.
 */
static inline bool system_is_mapped(uintptr_t page)
{
	long found =
	    system_call(__NR_mmap, (long)page, 1, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1);
	bool is_failure = (uintptr_t)found > -(uintptr_t)ERRNO_MAX;
	if (!is_failure)
		system_call(__NR_munmap, found, 1, 0, 0, 0);
	return is_failure ? found == -EEXIST : (uintptr_t)found != page;
}

static inline long system_close(long fd)
{
	return system_call(__NR_close, fd, 0, 0, 0, 0);
}

static inline long system_read_link(const char *path, char *out, size_t bytes)
{
	return system_call(__NR_readlinkat, AT_FDCWD, (long)path, (long)out, (long)bytes, 0);
}

static inline long system_process_id(void)
{
	return system_call(__NR_getpid, 0, 0, 0, 0, 0);
}

#endif
