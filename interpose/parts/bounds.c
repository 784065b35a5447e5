/* SPDX-License-Identifier: MIT */

#include <stddef.h>

#include "base/clock.h"
#include "base/probe.h"
#include "engine/engine.h"
#include "engine/expiry.h"
#include "interpose/handle/thread_notes.h"
#include "interpose/host/process.h"
#include "interpose/parts/bounds.h"

bool bounds_is_probe(const struct handle *handle, const struct policy_rules *rules)
{
	struct url url;

	return handle_read_url(handle, &url) && probe_is_made_once(&url, rules->match.host_glob);
}

int64_t bounds_expires_ms(const struct handle *handle)
{
	struct engine_expiry expiry;

	engine_expiry_begin(&expiry);
	engine_expiry_read_query(&expiry, handle_query(handle));
	for (const struct curl_slist *header = handle->program.http_headers; header; header = header->next)
		if (header->data)
			engine_expiry_read_header(&expiry, header->data);

	int64_t expiry_s = engine_expiry_s(&expiry);
	if (expiry_s >= INT64_MAX / 1000 || expiry_s < 0)
		return ENGINE_NEVER;
	return clock_ms() + expiry_s * 1000 - clock_calendar_us() / 1000;
}

int64_t bounds_added_limit_ms(int64_t now_ms)
{
	int64_t watchdog_ms = process_watchdog_ms();
	if (watchdog_ms == 0)
		return 0;
	int64_t left_ms = (watchdog_ms - 1) / 2 - thread_notes_added_ms(now_ms, watchdog_ms);
	return left_ms > 0 ? left_ms : 1;
}

void bounds_note_added(int64_t added_ms, int64_t now_ms)
{
	int64_t watchdog_ms = process_watchdog_ms();
	if (watchdog_ms > 0 && added_ms > 0)
		thread_notes_add(added_ms, now_ms, watchdog_ms);
}
