/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_LOG_STDERR_H
#define TENACURL_LOG_STDERR_H

/*
 * What fd 2 is. A program may send its standard error elsewhere after its start (PHP-FPM, Apache, daemons: dup2() of a
 * log file or a pipe onto 2), and may just as well close 2 and get the number again for something else: a socket, a
 * data file. The first is to be followed, the second must never be written to.
 */

#include <stdbool.h>
#include <stdint.h>

/* What a descriptor was. */
struct log_start_file {
	bool known;
	uint64_t device;
	uint64_t inode;
};

/* What standard output and standard error were when tenacurl was loaded. */
struct log_stderr_identity {
	struct log_start_file output;
	struct log_start_file error;
};

/* Remembers what they are now. errno is kept. */
void log_remember_stderr(struct log_stderr_identity *identity);

/*
 * Whether fd 2 is standard error: the file of the start, or one that somebody put there on purpose (log/stderr.c). Not
 * where whatever is written goes nowhere: a daemon's /dev/null. May change errno. No allocation; any thread.
 */
bool log_stderr_is_meant(const struct log_stderr_identity *start);

#endif
