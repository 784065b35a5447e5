/* SPDX-License-Identifier: MIT */
/*
 *     2026-01-02 03:04:05+01:00  import.sh[4711]  job nightly  GET https://api.example.org:443/v1/list [payments]
 *       waits until 2026-01-02 03:04:20+01:00 for attempt 3: the server answered with an error (503)
 *
 * or "makes attempt 3:", or "its process ended in the wait for attempt 3:", as when it is killed. A process that can't
 * be seen from here, since it is in another pid namespace, counts as alive.
 */
#include "cli/stats/last_running.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/launcher.h"
#include "cli/say/plain_json.h"
#include "cli/say/time.h"
#include "cli/stats/last_words.h"
#include "engine/curl_codes.h"
#include "engine/engine.h"
#include "state/running.h"

/* Far away, but such that an hour can be added. */
#define FAR_MS (INT64_MAX / 2)

struct told {
	struct state_running running;
	bool died;
	char user[USER_NAME_BYTES];
};

struct findings {
	const struct last_filter *filter;
	struct told *told;
	size_t count;
};

/* The rules are those of a deadline's launcher: gone is what is proved to be. */
static bool has_died(const struct state_running *running)
{
	const struct deadline_text process = {
	    .deadline_ms = FAR_MS,
	    .launcher_pid = running->pid,
	    .launcher_start = running->start_ticks,
	    .pid_namespace = running->pid_namespace,
	};
	bool is_known = running->start_ticks != 0 && running->pid > 0;
	return is_known && !launcher_holds(&process, clock_ms());
}

/* A user_state_visitor. */
static bool find(void *context, const struct user_state *user)
{
	static struct state_running running[STATE_RUNNING];
	struct findings *findings = context;
	size_t count = state_snapshot_running(user->snapshot, clock_ms(), running);
	struct told *told = reallocarray(findings->told, findings->count + STATE_RUNNING, sizeof(*told));
	if (!told)
		return false;
	findings->told = told;
	for (size_t i = 0; i < count; i++) {
		if (!last_is_asked_for(findings->filter, LAST_WHO(&running[i])))
			continue;
		struct told *next = &told[findings->count++];
		*next = (struct told){.running = running[i], .died = has_died(&running[i])};
		memcpy(next->user, user->name, sizeof(next->user));
	}
	return true;
}

struct last_running_counts last_running_count(const struct user_state *user, const struct last_filter *filter)
{
	static struct state_running running[STATE_RUNNING];
	struct last_running_counts counts = {0};
	size_t count = state_snapshot_running(user->snapshot, clock_ms(), running);
	for (size_t i = 0; i < count; i++)
		if (last_is_asked_for(filter, LAST_WHO(&running[i])))
			*(has_died(&running[i]) ? &counts.died : &counts.running) += 1;
	return counts;
}

static int newest_first(const void *left, const void *right)
{
	int64_t a = ((const struct told *)left)->running.time_us, b = ((const struct told *)right)->running.time_us;
	return (a < b) - (a > b);
}

static bool is_waiting(const struct state_running *running)
{
	return running->phase == STATE_PHASE_WAITING;
}

static int64_t until_us(const struct state_running *running)
{
	return (int64_t)((uint64_t)running->time_us + (uint64_t)running->wait_ms * 1000);
}

static void put_phase(const struct told *told)
{
	const struct state_running *running = &told->running;
	int64_t next = (int64_t)running->attempts + 1;
	char time[SAY_TIME_BYTES];
	if (told->died)
		printf("  its process ended in %sattempt %" PRId64, is_waiting(running) ? "the wait for " : "", next);
	else if (is_waiting(running))
		printf("  waits until %s for attempt %" PRId64, say_time(until_us(running), time), next);
	else
		printf("  makes attempt %" PRId64, next);
	printf(": %s", last_failure_text((enum engine_class)running->failure));
	if (running->status)
		printf(" (%" PRId32 ")", running->status);
	else if (running->curl_code)
		printf(" (%s)", engine_curl_code_name(running->curl_code));
	putchar('\n');
}

static json_t *running_json(const struct told *told)
{
	const struct state_running *running = &told->running;
	char time[SAY_TIME_BYTES], until[SAY_TIME_BYTES];
	return json_pack(
	    "{s:s?, s:s, s:I, s:b, s:o, s:o, s:o, s:o, s:s, s:o, s:s, s:s, s:s?, s:i, s:s, s:o, s:i}", "time",
	    say_time_utc(running->time_us, time), "user", told->user, "pid", (json_int_t)running->pid, "died",
	    told->died, "program", plain_json_text(running->program), "job", plain_json_text(running->job), "run",
	    plain_json_text(running->run), "method", plain_json_text(running->method), "origin", running->origin,
	    "path", plain_json_text(running->path), "section", running->section, "phase",
	    is_waiting(running) ? "waiting" : "performing", "until",
	    is_waiting(running) ? say_time_utc(until_us(running), until) : NULL, "attempts", (int)running->attempts,
	    "failure", engine_class_name((enum engine_class)running->failure), "status",
	    running->status ? json_integer(running->status) : json_null(), "curl_code", (int)running->curl_code);
}

static bool print_json(const struct findings *findings)
{
	json_t *running = json_array();
	for (size_t i = 0; i < findings->count; i++)
		json_array_append_new(running, running_json(&findings->told[i]));
	return plain_json_print(stdout, json_pack("{s:i, s:o}", "schema", 1, "running", running));
}

bool last_running_print(const struct user_state_query *query, const struct last_filter *filter, bool json)
{
	struct findings findings = {.filter = filter};
	struct user_states_seen seen;
	bool good = user_states_visit(query, find, &findings, &seen);
	if (findings.count)
		qsort(findings.told, findings.count, sizeof(*findings.told), newest_first);
	if (good && json)
		good = print_json(&findings);
	for (size_t i = 0; good && !json && i < findings.count; i++) {
		const struct told *told = &findings.told[i];
		last_print_who(stdout, LAST_WHO(&told->running), query->all_users ? told->user : NULL);
		put_phase(told);
	}
	if (good && !json && !findings.count && !seen.untrusted)
		fputs("tenacurl last: nothing waits for a further attempt or makes one\n", stderr);
	free(findings.told);
	return good && findings.count;
}
