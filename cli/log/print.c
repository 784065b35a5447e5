/* SPDX-License-Identifier: MIT */
/*
 *     2026-01-02T03:04:05.678901Z curl[4711] GET http://example.org/x
 *       came back after 1.2 s: operation 2 of intent 0123456789abcdef, 1 send before
 *       200, success: 2 attempts, 1.067 s (waited 1.034 s)
 *       owner us (observed), intent 0123456789abcdef: 2 operations, 3 sends
 *       1  503  status  21 ms  Retry-After 1 s  retry in 1.034 s: transient_failure
 *       2  200  9 ms  deliver: success
 *
 * Lines are put together before they are printed, so that one that would be wider than a terminal is broken between its
 * two halves instead of anywhere. Texts come from a file that anybody may have written to: control characters are
 * printed as escapes, never sent to the terminal.
 */
#include "cli/log/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/log/records.h"
#include "cli/say/plain_text.h"
#include "cli/say/time.h"

#define LINE_COLUMNS        80
#define HTTP_RETURNED_ERROR 22 /* CURLE_HTTP_RETURNED_ERROR: FAILONERROR made a failure of a status */

#define GREEN  "\x1b[32m"
#define YELLOW "\x1b[33m"
#define RED    "\x1b[31m"
#define BOLD   "\x1b[1m"
#define PLAIN  "\x1b[0m"

static const json_t *field(const json_t *record, const char *name)
{
	return json_object_get(record, name);
}

static bool is_text(const json_t *record, const char *name, const char *expected)
{
	return strcmp(record_text(record, name), expected) == 0;
}

static void put_field(FILE *out, const json_t *record, const char *name, const char *if_unknown)
{
	const char *text = json_string_value(field(record, name));
	plain_text_put(out, text ? text : if_unknown);
}

/* One half of a line: opened, written to with the functions above, closed by print_line(). */
struct half {
	char *text;
	size_t bytes;
	FILE *out;
	const char *colour_code; /* NULL: plain */
};

static bool open_half(struct half *half)
{
	*half = (struct half){0};
	half->out = open_memstream(&half->text, &half->bytes);
	return half->out != NULL;
}

static void print_half(const struct half *half, bool colour)
{
	if (colour && half->colour_code)
		fputs(half->colour_code, stdout);
	fputs(half->text, stdout);
	if (colour && half->colour_code)
		fputs(PLAIN, stdout);
}

/* Prints and frees two halves, of which the second may be empty: on one line if they fit, else on two. */
static void print_line(struct half *first, struct half *second, const char *separator, int indent, bool colour)
{
	if (fclose(first->out) == 0 && fclose(second->out) == 0) {
		print_half(first, colour);
		bool fits = first->bytes + strlen(separator) + second->bytes <= LINE_COLUMNS;
		if (second->bytes && fits)
			fputs(separator, stdout);
		else if (second->bytes)
			printf("\n%*s", indent, "");
		print_half(second, colour);
		putchar('\n');
	}
	free(first->text);
	free(second->text);
}

static bool open_line(struct half *first, struct half *second)
{
	if (!open_half(first))
		return false;
	if (open_half(second))
		return true;
	fclose(first->out);
	free(first->text);
	return false;
}

static void put_who(FILE *out, const json_t *record)
{
	char text[SAY_TIME_BYTES];
	int64_t time_us = INT64_MAX;
	say_time_read(record_text(record, "time"), &time_us);
	fprintf(out, "%s ", say_time(time_us, text));
	put_field(out, record, "program", "?");
	fprintf(out, "[%lld]", record_number(record, "pid"));
	if (is_text(record, "mode", "audit"))
		fputs(" audit", out);
}

static void print_lost(const json_t *record)
{
	long long lost = record_number(record, "lost");
	if (lost > 0)
		printf("  (%lld record%s before this could not be written)\n", lost, lost == 1 ? "" : "s");
}

static const char *curl_name_of(const json_t *record)
{
	const char *name = json_string_value(field(record, "curl"));
	return name ? name : "CURLE_UNKNOWN";
}

/* What came of an attempt: the status, or the name of the curl code where the transfer itself failed. */
static void result_text(const json_t *attempt, char *out, size_t out_bytes)
{
	long long code = record_number(attempt, "curl_code"), status = record_number(attempt, "status");
	bool is_status = status != 0 && (code == 0 || code == HTTP_RETURNED_ERROR);
	if (is_status)
		snprintf(out, out_bytes, "%lld", status);
	else
		snprintf(out, out_bytes, "%s", code != 0 ? curl_name_of(attempt) : "-");
}

/* The widest result of the attempts: what follows it stands in a column. */
static int result_columns(const json_t *attempts)
{
	int widest = 1;
	for (size_t i = 0; i < json_array_size(attempts); i++) {
		char result[64];
		result_text(json_array_get(attempts, i), result, sizeof(result));
		if ((int)strlen(result) > widest)
			widest = (int)strlen(result);
	}
	return widest;
}

static void put_facts(FILE *out, const json_t *attempt, int columns)
{
	char result[64];
	result_text(attempt, result, sizeof(result));
	int padding = columns - (int)strlen(result);
	const char *failure = json_string_value(field(attempt, "failure"));

	fprintf(out, "%3lld  ", record_number(attempt, "attempt"));
	plain_text_put(out, result);
	fprintf(out, "%*s", padding > 0 ? padding : 0, "");
	if (failure && strcmp(failure, "none") != 0) {
		fputs("  ", out);
		plain_text_put(out, failure);
	}
	if (json_is_integer(field(attempt, "total_ms"))) {
		fputs("  ", out);
		plain_text_put_duration(out, record_number(attempt, "total_ms"));
	}
	if (record_number(attempt, "upstream_attempts") > 1)
		fprintf(out, "  by a proxy's %lld attempts", record_number(attempt, "upstream_attempts"));
	if (json_is_integer(field(attempt, "retry_after_ms"))) {
		fputs("  Retry-After ", out);
		plain_text_put_duration(out, record_number(attempt, "retry_after_ms"));
	}
}

static void put_verdict(FILE *out, const json_t *attempt)
{
	if (is_text(attempt, "mode", "audit") && is_text(attempt, "verdict", "retry"))
		fputs("would ", out);
	put_field(out, attempt, "verdict", "?");
	if (json_is_integer(field(attempt, "wait_ms"))) {
		fputs(" in ", out);
		plain_text_put_duration(out, record_number(attempt, "wait_ms"));
	}
	fputs(": ", out);
	put_field(out, attempt, "reason", "?");
	if (json_is_true(field(attempt, "ambiguous")))
		fputs(", may have been executed", out);
}

static void print_attempt(const json_t *attempt, int columns, bool colour)
{
	struct half facts, verdict;
	if (!open_line(&facts, &verdict))
		return;
	put_facts(facts.out, attempt, columns);
	put_verdict(verdict.out, attempt);
	bool retry = is_text(attempt, "verdict", "retry");
	verdict.colour_code = retry ? YELLOW : is_text(attempt, "reason", "success") ? GREEN : RED;
	print_line(&facts, &verdict, "  ", 5, colour);
	print_lost(attempt);
}

static void put_totals(FILE *out, const json_t *operation)
{
	long long attempts = record_number(operation, "attempts"), waited_ms = record_number(operation, "waited_ms");
	fprintf(out, "%lld attempt%s, ", attempts, attempts == 1 ? "" : "s");
	plain_text_put_duration(out, record_number(operation, "elapsed_ms"));
	if (waited_ms > 0) {
		fputs(is_text(operation, "mode", "audit") ? " (would have waited " : " (waited ", out);
		plain_text_put_duration(out, waited_ms);
		putc(')', out);
	}
}

/* What the program got: status and curl code, whichever there are. */
static void put_result(FILE *out, const json_t *operation)
{
	long long code = record_number(operation, "curl_code"), status = record_number(operation, "status");
	if (status != 0)
		fprintf(out, "%lld", status);
	if (status != 0 && code != 0)
		putc(' ', out);
	if (code != 0)
		plain_text_put(out, curl_name_of(operation));
	else if (status == 0)
		putc('-', out);
}

static void print_outcome(const json_t *operation, bool colour)
{
	struct half outcome, totals;
	if (!open_line(&outcome, &totals))
		return;
	fputs("  ", outcome.out);
	put_result(outcome.out, operation);
	fputs(", ", outcome.out);
	put_field(outcome.out, operation, "reason", "?");
	putc(':', outcome.out);
	outcome.colour_code = is_text(operation, "reason", "success") ? GREEN : RED;
	put_totals(totals.out, operation);
	print_line(&outcome, &totals, " ", 4, colour);
}

static void print_headline(const json_t *record, bool colour)
{
	struct half who, what;
	if (!open_line(&who, &what))
		return;
	put_who(who.out, record);
	put_field(what.out, record, "method", "?");
	putc(' ', what.out);
	put_field(what.out, record, "url", "?");
	what.colour_code = BOLD;
	print_line(&who, &what, " ", 2, colour);
}

/* That an outer layer came back, and how soon: its rhythm. */
static void print_return(const json_t *nested, bool colour)
{
	struct half rhythm, intent;
	if (!open_line(&rhythm, &intent))
		return;
	long long sends = record_number(nested, "intent_sends");
	fputs("  came back", rhythm.out);
	if (json_is_integer(field(nested, "gap_ms"))) {
		fputs(" after ", rhythm.out);
		plain_text_put_duration(rhythm.out, record_number(nested, "gap_ms"));
	}
	putc(':', rhythm.out);
	fprintf(intent.out, "operation %lld of intent ", record_number(nested, "intent_operations"));
	put_field(intent.out, nested, "intent", "?");
	fprintf(intent.out, ", %lld send%s before", sends, sends == 1 ? "" : "s");
	print_line(&rhythm, &intent, " ", 4, colour);
	print_lost(nested);
}

static void put_owner(FILE *out, const json_t *operation)
{
	fputs("  owner ", out);
	put_field(out, operation, "owner", "?");
	if (json_is_string(field(operation, "evidence"))) {
		fputs(" (", out);
		put_field(out, operation, "evidence", "?");
		putc(')', out);
	}
}

static void put_intent(FILE *out, const json_t *operation)
{
	long long operations = record_number(operation, "intent_operations");
	long long sends = record_number(operation, "intent_sends");
	if (!json_is_string(field(operation, "intent")))
		return;
	fputs("intent ", out);
	put_field(out, operation, "intent", "?");
	if (operations > 0)
		fprintf(out, ": %lld operation%s, %lld send%s", operations, operations == 1 ? "" : "s", sends,
		        sends == 1 ? "" : "s");
}

/* Whose retries they are, where there is something to tell: another layer showed itself. */
static void print_owner(const json_t *operation, bool colour)
{
	struct half owner, intent;
	bool is_ours = !is_text(operation, "owner", "outer") && !json_is_string(field(operation, "evidence")) &&
	               record_number(operation, "intent_operations") <= 1;
	if (is_ours || !open_line(&owner, &intent))
		return;
	put_owner(owner.out, operation);
	put_intent(intent.out, operation);
	print_line(&owner, &intent, ", ", 4, colour);
}

static void print_unfinished(size_t attempts)
{
	if (attempts)
		printf("  unfinished after %zu attempt%s\n", attempts, attempts == 1 ? "" : "s");
	else
		puts("  nothing else of it is in the log");
}

void log_print_operation(const json_t *operation, const json_t *earlier, bool colour)
{
	size_t count = json_array_size(earlier);
	const json_t *first = json_array_get(earlier, 0);
	size_t returns = is_text(first, "kind", "nested") ? 1 : 0;
	print_headline(operation ? operation : first, colour);
	if (returns)
		print_return(first, colour);
	if (operation) {
		print_outcome(operation, colour);
		print_owner(operation, colour);
	} else {
		print_unfinished(count - returns);
	}

	int columns = result_columns(earlier);
	for (size_t i = returns; i < count; i++)
		print_attempt(json_array_get(earlier, i), columns, colour);
	if (operation)
		print_lost(operation);
}

void log_print_note(const json_t *note, bool colour)
{
	struct half who, what;
	if (!open_line(&who, &what))
		return;
	put_who(who.out, note);
	fputs("note: ", what.out);
	put_field(what.out, note, "note", "");
	what.colour_code = YELLOW;
	print_line(&who, &what, " ", 2, colour);
	print_lost(note);
}
