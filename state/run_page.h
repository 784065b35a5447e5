/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_RUN_PAGE_H
#define TENACURL_STATE_RUN_PAGE_H

/*
 * What the processes of one `tenacurl run --summary` count together. It is memory of the launcher's (memfd_create(2)),
 * which has no name in any directory and goes when the launcher does; the others find it as /proc/PID/fd/N. Sealed, so
 * that nobody who has it mapped can lose it under his feet.
 */

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define RUN_PAGE_REASONS    32 /* enum engine_reason */
#define RUN_PAGE_NAME_BYTES 64

struct run_page {
	uint64_t magic;
	uint64_t nonce; /* the page's own, so that another one under the same number isn't taken for it */
	_Atomic uint64_t requests;
	_Atomic uint64_t saved;   /* that succeeded after a retry */
	_Atomic uint64_t retries; /* that were made */
	_Atomic uint64_t waited_ms;
	_Atomic uint64_t would_retry;              /* requests that are only audited, and would have been retried */
	_Atomic uint64_t failed[RUN_PAGE_REASONS]; /* requests that failed, by why no further attempt was made */
	_Atomic uint64_t not_started;              /* the command couldn't be executed */
};

/* A request that is over. */
struct run_page_request {
	bool succeeded;
	bool is_audited;
	bool is_retried; /* the verdict was to retry: of an audited one */
	int attempts;
	int reason; /* enum engine_reason */
	int64_t waited_ms;
};

/*
 * Makes a page and writes its name for the environment (TENACURL_SUMMARY). Returns it, mapped for the life of the
 * process; NULL without memory or /proc. The descriptor is kept open, and is not inherited through exec.
 */
struct run_page *run_page_make(char name[static RUN_PAGE_NAME_BYTES]);

/*
 * Maps the page of this name, or returns NULL: it is gone, another user's, of another pid namespace, or none. To be
 * given to run_page_unmap(). May change errno. Any thread.
 */
struct run_page *run_page_open(const char *name);
void run_page_unmap(struct run_page *page);

/* Counts a request. No system call; any thread. */
void run_page_count(struct run_page *page, const struct run_page_request *request);

/* Adds what another page counts: an inner run's to the outer one's. */
void run_page_add(struct run_page *page, const struct run_page *other);

#endif
