/* SPDX-License-Identifier: MIT */
#include "cli/stats/last_who.h"

#include <inttypes.h>
#include <string.h>

#include "cli/say/time.h"
#include "state/flight.h"
#include "state/running.h"

#define BYTES_OF(type, field) sizeof(((type *)NULL)->field)
#define IS_ALIKE(field)       (BYTES_OF(struct state_flight, field) == BYTES_OF(struct state_running, field))
_Static_assert(IS_ALIKE(job) && IS_ALIKE(program) && IS_ALIKE(run), "what is asked for is cut alike");

/* Whether a text of a state is what `wanted` becomes there: cut to fit, and printable. */
static bool fits(const char *text, size_t text_bytes, const char *wanted)
{
	char expected[BYTES_OF(struct state_flight, origin)];
	state_copy_text(expected, text_bytes, wanted);
	state_clean_text(expected, text_bytes);
	return strcmp(text, expected) == 0;
}

bool last_is_asked_for(const struct last_filter *filter, struct last_who who)
{
	if (filter->job)
		return fits(who.job, BYTES_OF(struct state_flight, job), filter->job) ||
		       fits(who.program, BYTES_OF(struct state_flight, program), filter->job);
	if (filter->run)
		return fits(who.run, BYTES_OF(struct state_flight, run), filter->run);
	return filter->pid == 0 || who.pid == filter->pid;
}

void last_print_who(FILE *out, struct last_who who, const char *user)
{
	char time[SAY_TIME_BYTES];
	fprintf(out, "%s  %s[%" PRId64 "]", say_time(who.time_us, time), who.program[0] ? who.program : "?", who.pid);
	if (who.job[0])
		fprintf(out, "  job %s", who.job);
	if (user)
		fprintf(out, "  of %s", user);
	fprintf(out, "  %s%s%s%s [%s]\n", who.method, who.method[0] ? " " : "", who.origin, who.path, who.section);
}
