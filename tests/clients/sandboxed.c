/* SPDX-License-Identifier: MIT */

/*
 * A program that locks itself up before it transfers: sandboxed URL
 *
 * Its filter lets through what a plain transfer by libcurl needs; every other system call fails with EPERM. Prints the
 * result and the status.
 */

#include <curl/curl.h>
#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stddef.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/syscall.h>

static const int allowed[] = {
    SYS_read,        SYS_write,      SYS_writev,          SYS_close,         SYS_fcntl,
    SYS_poll,        SYS_ppoll,      SYS_socket,          SYS_socketpair,    SYS_connect,
    SYS_sendto,      SYS_recvfrom,   SYS_setsockopt,      SYS_getsockopt,    SYS_getsockname,
    SYS_getpeername, SYS_pipe2,      SYS_eventfd2,        SYS_mmap,          SYS_munmap,
    SYS_mprotect,    SYS_brk,        SYS_futex,           SYS_rt_sigaction,  SYS_rt_sigprocmask,
    SYS_exit,        SYS_exit_group, SYS_clock_nanosleep, SYS_clock_gettime,
};

#define ALLOWED_COUNT (sizeof(allowed) / sizeof(allowed[0]))

static int lock_up(void)
{
	struct sock_filter filter[2 * ALLOWED_COUNT + 2];
	unsigned short length = 0;
	filter[length++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	for (size_t i = 0; i < ALLOWED_COUNT; i++) {
		filter[length++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], 0, 1);
		filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	}
	filter[length++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);

	const struct sock_fprog program = {.len = length, .filter = filter};
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

int main(int argc, char **argv)
{
	long status = 0;
	if (argc != 2)
		return 99;
	curl_global_init(CURL_GLOBAL_ALL);
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, discard);
	setvbuf(stdout, NULL, _IONBF, 0); /* or the first printf would want to look at the stream */
	if (!lock_up())
		return 77;
	CURLcode result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("result %d status %ld\n", result, status);
	curl_easy_cleanup(curl);
	return 0;
}
