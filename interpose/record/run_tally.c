/* SPDX-License-Identifier: MIT */
#include "interpose/record/run_tally.h"

#include <errno.h>
#include <stdatomic.h>

#include "interpose/host/process.h"
#include "state/run_page.h"

static _Atomic(struct run_page *) shared_page;
static _Atomic bool is_missing; /* it was looked for in vain */

/* Whoever comes while another thread opens it does so, too: no operation goes uncounted. */
static struct run_page *find_page(void)
{
	struct run_page *seen = atomic_load_explicit(&shared_page, memory_order_acquire);
	if (seen || atomic_load_explicit(&is_missing, memory_order_relaxed))
		return seen;
	struct run_page *mine = run_page_open(process_environment()->summary);
	if (!mine)
		atomic_store(&is_missing, true);
	else if (!atomic_compare_exchange_strong(&shared_page, &seen, mine))
		run_page_unmap(mine);
	return seen ? seen : mine;
}

static __attribute__((noinline)) void count(const struct operation *operation, CURLcode result)
{
	int saved_errno = errno;
	struct run_page *page = find_page();
	const struct run_page_request request = {
	    .succeeded = operation->course.verdict.failure == ENGINE_CLASS_NONE && result == CURLE_OK,
	    .is_audited = operation->gate.observes,
	    .is_retried = operation->course.verdict.action == ENGINE_RETRY,
	    .attempts = operation->course.engine.attempts,
	    .reason = (int)operation->course.verdict.reason,
	    .waited_ms = operation->course.engine.waited_ms,
	};
	if (page)
		run_page_count(page, &request);
	errno = saved_errno;
}

void run_tally_operation(const struct operation *operation, CURLcode result)
{
	if (process_environment()->summary[0])
		count(operation, result);
}
