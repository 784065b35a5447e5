/* SPDX-License-Identifier: MIT */

#include "engine/facts.h"

#include "engine/classify.h"

bool engine_proves_unsent(const struct engine_facts *facts)
{
	/* An earlier hop, or an earlier authentication round, was sent and answered. */
	if (facts->redirects != 0 || facts->status != 0)
		return false;
	if (facts->sends != ENGINE_UNCOUNTED)
		return facts->sends == 0;
	/*
	 * The CONNECT itself is counted in the bytes by some libcurls (7.68, 7.88). So they don't tell whether it was
	 * made for a request that a kept tunnel had lost; that there was no such tunnel does.
	 */
	if (engine_connect_refused(facts->connect_status, facts->status))
		return facts->kept_connections == 0;
	/* Early data and fast open send before libcurl counts, and a negative count is early data that was refused. */
	return facts->request_bytes == 0 && facts->early_data_bytes == 0 && !facts->fast_open;
}

bool engine_proves_single(const struct engine_facts *facts)
{
	if (facts->redirects != 0)
		return false;
	if (facts->sends != ENGINE_UNCOUNTED)
		return facts->sends <= 1;
	/* To send again takes another connection. */
	return facts->kept_connections + facts->new_connections <= 1;
}

int64_t engine_proved_sends(const struct engine_facts *facts)
{
	if (facts->sends != ENGINE_UNCOUNTED)
		return facts->sends;
	return engine_proves_unsent(facts) ? 0 : facts->redirects + 1;
}
