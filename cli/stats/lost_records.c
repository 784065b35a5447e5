/* SPDX-License-Identifier: MIT */
#include "cli/stats/lost_records.h"

#include <inttypes.h>

#include "cli/say/plain_text.h"
#include "cli/stats/user_state.h"

void lost_records_print(FILE *out, uint64_t count, const char *user)
{
	if (count == 0)
		return;
	fprintf(out, "\n%" PRIu64 " record%s of the log could not be written", count, count == 1 ? "" : "s");
	if (user)
		fprintf(out, " for user %s", plain_text(user));
	fputs("; `tenacurl policy check` tells whether it can now.\n", out);
}

/* A user_state_visitor. */
static bool add(void *context, const struct user_state *user)
{
	*(uint64_t *)context += state_snapshot_lost_records(user->snapshot);
	return true;
}

void lost_records_print_own(FILE *out)
{
	const struct user_state_query own = {0};
	struct user_states_seen seen;
	uint64_t count = 0;
	if (user_states_visit(&own, add, &count, &seen))
		lost_records_print(out, count, NULL);
}
