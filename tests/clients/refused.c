/* SPDX-License-Identifier: MIT */

/*
 * Starts a program in a sandbox that refuses it some system calls, as seccomp filters do: refused ERRNO CALL… --
 * PROGRAM ARGUMENT…
 *
 * ERRNO is a name of the table below or a number; 0 makes the calls look as if they had done what they were asked for.
 * CALL is one of the other table.
 */

#include <errno.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#define CALLS_MAX         8
#define SECCOMP_IS_ABSENT 77

static const struct {
	const char *name;
	int number;
} errors[] = {{"EPERM", EPERM}, {"ENOSYS", ENOSYS}, {"EINVAL", EINVAL}, {"EACCES", EACCES}, {"EINTR", EINTR}};

/* Those with an argument are refused only where it is 0: they watch no descriptor, so they only sleep. */
struct call {
	const char *name;
	int number;
	int argument;
};

enum { ANY = -1 };

static const struct call calls[] = {
    {"clock_nanosleep", SYS_clock_nanosleep, ANY},
    {"nanosleep", SYS_nanosleep, ANY},
#ifdef SYS_poll
    {"empty-poll", SYS_poll, 1},
#endif
    {"empty-ppoll", SYS_ppoll, 1},
    {"empty-pselect", SYS_pselect6, 0},
};

static int errno_named(const char *name)
{
	for (size_t i = 0; i < sizeof(errors) / sizeof(errors[0]); i++)
		if (strcmp(errors[i].name, name) == 0)
			return errors[i].number;
	return atoi(name);
}

static const struct call *call_named(const char *name)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (strcmp(calls[i].name, name) == 0)
			return &calls[i];
	return NULL;
}

static unsigned offset_of_argument(int argument)
{
	return (unsigned)(offsetof(struct seccomp_data, args) + (size_t)argument * sizeof(__u64));
}

/* Adds "if this call (with that argument 0) then refuse". */
static void add_call(struct sock_fprog *program, const struct call *call, int number)
{
	struct sock_filter *at = program->filter + program->len;
	bool looks = call->argument != ANY;

	*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
	*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)call->number, 0, looks ? 3 : 1);
	if (looks) {
		*at++ = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offset_of_argument(call->argument));
		*at++ = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 0, 1);
	}
	*at++ = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)number);
	program->len = (unsigned short)(at - program->filter);
}

int main(int argc, char **argv)
{
	struct sock_filter filter[5 * CALLS_MAX + 1];
	struct sock_fprog program = {.filter = filter};
	int word = 2;

	for (; word < argc && word < 2 + CALLS_MAX && strcmp(argv[word], "--") != 0; word++) {
		const struct call *call = call_named(argv[word]);
		if (call)
			add_call(&program, call, errno_named(argv[1]));
	}
	if (word + 1 >= argc)
		return 99;
	filter[program.len++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return SECCOMP_IS_ABSENT;
	execvp(argv[word + 1], argv + word + 1);
	perror(argv[word + 1]);
	return 98;
}
