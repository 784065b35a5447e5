/* SPDX-License-Identifier: MIT */
/*
 *     2026-01-02 04:04:05+01:00  import.sh[4711]  job nightly  GET https://api.example.org/v1/items [payments]
 *       failed: the server answered with an error (503)
 *       4 attempts in 7.5 s, 7.2 s of them waiting
 *       max_attempts allows no further attempt. (attempt_cap)
 *
 * and before the reason, if that is so,
 *
 *       left to its caller: curl was told to --retry
 */
#include "cli/stats/last.h"

#include <inttypes.h>
#include <string.h>

#include "cli/say/plain_json.h"
#include "cli/say/time.h"
#include "cli/stats/last_who.h"
#include "cli/stats/last_words.h"
#include "engine/curl_codes.h"
#include "engine/engine.h"

/* Behind the name of a section in audit mode (interpose/handle/shared_state.c). */
#define AUDITED " (audit)"

static void put_duration(FILE *out, int64_t ms)
{
	if (ms < 1000)
		fprintf(out, "%" PRId64 " ms", ms);
	else
		fprintf(out, "%" PRId64 ".%" PRId64 " s", ms / 1000, ms % 1000 / 100);
}

static bool succeeded(const struct state_flight *flight)
{
	return flight->reason == ENGINE_SUCCESS;
}

static void put_result(FILE *out, const struct state_flight *flight)
{
	fprintf(out, "  %s", succeeded(flight) ? "succeeded" : "failed: ");
	if (!succeeded(flight))
		fputs(last_failure_text((enum engine_class)flight->failure), out);
	if (flight->status)
		fprintf(out, " (%" PRId32 ")", flight->status);
	if (flight->curl_code)
		fprintf(out, " (%s)", engine_curl_code_name(flight->curl_code));
	putc('\n', out);
}

static void put_effort(FILE *out, const struct state_flight *flight)
{
	fprintf(out, "  %" PRId32 " attempt%s in ", flight->attempts, flight->attempts == 1 ? "" : "s");
	put_duration(out, flight->elapsed_ms);
	if (flight->waited_ms > 0) {
		bool is_audited = strstr(flight->section, AUDITED) != NULL;
		fputs(is_audited ? "; would have waited " : ", ", out);
		put_duration(out, flight->waited_ms);
		fputs(is_audited ? "" : " of them waiting", out);
	}
	if (flight->sends > flight->attempts)
		fprintf(out, "; %" PRId64 " requests on the wire", flight->sends);
	putc('\n', out);
}

static void put_owner(FILE *out, const struct state_flight *flight)
{
	enum state_evidence evidence = (enum state_evidence)flight->evidence;
	if (evidence != STATE_EVIDENCE_NONE)
		fprintf(out, "  left to its caller: %s\n", last_evidence_text(evidence));
}

void last_print_flight(FILE *out, const struct state_flight *flight, const char *user)
{
	enum engine_reason reason = (enum engine_reason)flight->reason;
	last_print_who(out, LAST_WHO(flight), user);
	put_result(out, flight);
	put_effort(out, flight);
	put_owner(out, flight);
	if (!succeeded(flight))
		fprintf(out, "  %s (%s)\n", last_reason_text(reason), engine_reason_name(reason));
}

json_t *last_flight_json(const struct state_flight *flight, const char *user)
{
	char time[SAY_TIME_BYTES];
	enum engine_reason reason = (enum engine_reason)flight->reason;
	bool is_ours = flight->evidence == STATE_EVIDENCE_NONE;
	const char *evidence = is_ours ? NULL : last_evidence_name((enum state_evidence)flight->evidence);
	json_t *status = flight->status ? json_integer(flight->status) : json_null();
	return json_pack(
	    "{s:s?, s:s, s:I, s:o, s:o, s:o, s:o, s:s, s:o, s:s, s:b, s:s, s:s, s:s, s:o, s:s, s:o, s:i, s:s, s:i, "
	    "s:I, s:I, s:I}",
	    "time", say_time_utc(flight->time_us, time), "user", user, "pid", (json_int_t)flight->pid, "program",
	    plain_json_text(flight->program), "job", plain_json_text(flight->job), "run", plain_json_text(flight->run),
	    "method", plain_json_text(flight->method), "origin", flight->origin, "path", plain_json_text(flight->path),
	    "section", flight->section, "succeeded", succeeded(flight), "reason", engine_reason_name(reason), "text",
	    last_reason_text(reason), "owner", is_ours ? "us" : "outer", "evidence", plain_json_text(evidence),
	    "failure", engine_class_name((enum engine_class)flight->failure), "status", status, "curl_code",
	    (int)flight->curl_code, "curl", flight->curl_code ? engine_curl_code_name(flight->curl_code) : "CURLE_OK",
	    "attempts", (int)flight->attempts, "sends", (json_int_t)flight->sends, "waited_ms",
	    (json_int_t)flight->waited_ms, "elapsed_ms", (json_int_t)flight->elapsed_ms);
}
