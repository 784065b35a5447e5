/* SPDX-License-Identifier: MIT */

/*
 * Starts a program under a system call filter: confined FILTER PROGRAM [ARGUMENT]...
 *
 * FILTER is a file of instructions as the kernel takes them (struct sock_filter). 77 where it takes none.
 */

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	static struct sock_filter instructions[BPF_MAXINSNS];
	FILE *file = argc > 2 ? fopen(argv[1], "re") : NULL;
	if (!file)
		return 99;
	const size_t count = fread(instructions, sizeof(instructions[0]), BPF_MAXINSNS, file);
	const struct sock_fprog program = {.len = (unsigned short)count, .filter = instructions};
	fclose(file);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
		return 77;
	execvp(argv[2], argv + 2);
	return 99;
}
