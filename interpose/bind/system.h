/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BIND_SYSTEM_H
#define TENACURL_INTERPOSE_BIND_SYSTEM_H

/*
 * The few system calls of audit modules, which have no C library. They return what the kernel returns, so -errno for a
 * failure: errno is the program's, and it stays as it is. Async-signal-safe, any thread.
 */

#include <asm/unistd.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#if defined(__x86_64__)
static inline long system_call(long number, long first, long second, long third, long fourth)
{
	register long fourth_register __asm__("r10") = fourth;
	long result;
	__asm__ volatile("syscall"
	                 : "=a"(result)
	                 : "0"(number), "D"(first), "S"(second), "d"(third), "r"(fourth_register)
	                 : "rcx", "r11", "memory");
	return result;
}
#elif defined(__aarch64__)
static inline long system_call(long number, long first, long second, long third, long fourth)
{
	register long number_register __asm__("x8") = number;
	register long result __asm__("x0") = first;
	register long second_register __asm__("x1") = second;
	register long third_register __asm__("x2") = third;
	register long fourth_register __asm__("x3") = fourth;
	__asm__ volatile("svc 0"
	                 : "+r"(result)
	                 : "r"(number_register), "r"(second_register), "r"(third_register), "r"(fourth_register)
	                 : "memory");
	return result;
}
#else
#error "which instruction is a system call on this machine?"
#endif

static inline long system_open(const char *path, int flags)
{
	return system_call(__NR_openat, AT_FDCWD, (long)path, flags, 0);
}

static inline long system_write_pieces(long fd, const struct iovec *pieces, size_t count)
{
	return system_call(__NR_writev, fd, (long)pieces, (long)count, 0);
}

static inline long system_execute(const char *path, char **arguments, char **variables)
{
	return system_call(__NR_execve, (long)path, (long)arguments, (long)variables, 0);
}

/* Whether the page that the address lies in is mapped. */
static inline bool system_is_mapped(uintptr_t page)
{
	unsigned char resident;
	return system_call(__NR_mincore, (long)page, 1, (long)&resident, 0) == 0;
}

static inline long system_close(long fd)
{
	return system_call(__NR_close, fd, 0, 0, 0);
}

static inline long system_read_link(const char *path, char *out, size_t bytes)
{
	return system_call(__NR_readlinkat, AT_FDCWD, (long)path, (long)out, (long)bytes);
}

static inline long system_process_id(void)
{
	return system_call(__NR_getpid, 0, 0, 0, 0);
}

#endif
