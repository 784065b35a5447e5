/* SPDX-License-Identifier: MIT */

/*
 * requests FIRST-SEED COUNT POLICIES FILE: runs the histories of these seeds. Sections of the policy are told by the
 * path: /pN/, N < POLICIES. FILE is one that forms may send.
 */

#include <inttypes.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "program.h"

#define HANG_S 40

int main(int argc, char **argv)
{
	if (argc != 5)
		return 99;
	uint64_t seed = strtoull(argv[1], NULL, 10);
	int count = atoi(argv[2]), policies = atoi(argv[3]);
	bodies_file_of_form(argv[4]);
	signal(SIGPIPE, SIG_IGN);
	curl_global_init(CURL_GLOBAL_ALL);
	server_start();
	for (int i = 0; i < count; i++) {
		/* What hangs is ended by the signal; the last line tells which history it was. */
		alarm(HANG_S);
		history_run(seed + (uint64_t)i, policies);
		fflush(stdout);
	}
	return 0;
}
