/* SPDX-License-Identifier: MIT */
/*
 *     2026-01-02T03:04:05.678901Z curl[4711] GET http://example.org/x
 *       200, success: 2 attempts, 1.067 s (waited 1.034 s)
 *       1  503  status  21 ms  Retry-After 1 s  retry in 1.034 s: transient_failure
 *       2  200  9 ms  deliver: success
 *
 * Lines are put together before they are printed, so that one that would be wider than a terminal is broken between its
 * two halves instead of anywhere. Texts come from a file that anybody may have written to: control characters are
 * printed as escapes, never sent to the terminal.
 */
#include "cli/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

static long long number_of(const json_t *record, const char *name)
{
	return (long long)json_integer_value(field(record, name));
}

static bool is_text(const json_t *record, const char *name, const char *expected)
{
	const char *text = json_string_value(field(record, name));
	return text && strcmp(text, expected) == 0;
}

/* Length of the control character (C0, DEL, C1) that the text starts with, 0 if it is none. jansson's texts are UTF-8.
 */
static int control_bytes(const unsigned char *text)
{
	if (text[0] < 0x20 || text[0] == 0x7f)
		return 1;
	return text[0] == 0xc2 && text[1] < 0xa0 ? 2 : 0;
}

static void put_safely(FILE *out, const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	while (*at) {
		int bytes = control_bytes(at);
		if (bytes)
			fprintf(out, "\\x%02x", at[bytes - 1]);
		else
			putc(*at, out);
		at += bytes ? bytes : 1;
	}
}

static void put_field(FILE *out, const json_t *record, const char *name, const char *if_unknown)
{
	const char *text = json_string_value(field(record, name));
	put_safely(out, text ? text : if_unknown);
}

static void put_duration(FILE *out, long long ms)
{
	if (ms < 1000)
		fprintf(out, "%lld ms", ms);
	else if (ms % 1000 == 0)
		fprintf(out, "%lld s", ms / 1000);
	else
		fprintf(out, "%lld.%03lld s", ms / 1000, ms % 1000);
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

/* Prints and frees two halves, on one line if they fit, else with the second one on a line of its own. */
static void print_line(struct half *first, struct half *second, const char *separator, int indent, bool colour)
{
	if (fclose(first->out) == 0 && fclose(second->out) == 0) {
		print_half(first, colour);
		if (first->bytes + strlen(separator) + second->bytes <= LINE_COLUMNS)
			fputs(separator, stdout);
		else
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
	put_field(out, record, "time", "unknown time");
	putc(' ', out);
	put_field(out, record, "program", "?");
	fprintf(out, "[%lld]", number_of(record, "pid"));
	if (is_text(record, "mode", "audit"))
		fputs(" audit", out);
}

static void print_lost(const json_t *record)
{
	long long lost = number_of(record, "lost");
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
	long long code = number_of(attempt, "curl_code"), status = number_of(attempt, "status");
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

	fprintf(out, "%3lld  ", number_of(attempt, "attempt"));
	put_safely(out, result);
	fprintf(out, "%*s", padding > 0 ? padding : 0, "");
	if (failure && strcmp(failure, "none") != 0) {
		fputs("  ", out);
		put_safely(out, failure);
	}
	if (json_is_integer(field(attempt, "total_ms"))) {
		fputs("  ", out);
		put_duration(out, number_of(attempt, "total_ms"));
	}
	if (json_is_integer(field(attempt, "retry_after_ms"))) {
		fputs("  Retry-After ", out);
		put_duration(out, number_of(attempt, "retry_after_ms"));
	}
}

static void put_verdict(FILE *out, const json_t *attempt)
{
	put_field(out, attempt, "verdict", "?");
	if (json_is_integer(field(attempt, "wait_ms"))) {
		fputs(" in ", out);
		put_duration(out, number_of(attempt, "wait_ms"));
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
	long long attempts = number_of(operation, "attempts"), waited_ms = number_of(operation, "waited_ms");
	fprintf(out, "%lld attempt%s, ", attempts, attempts == 1 ? "" : "s");
	put_duration(out, number_of(operation, "elapsed_ms"));
	if (waited_ms > 0) {
		fputs(" (waited ", out);
		put_duration(out, waited_ms);
		putc(')', out);
	}
}

/* What the program got: status and curl code, whichever there are. */
static void put_result(FILE *out, const json_t *operation)
{
	long long code = number_of(operation, "curl_code"), status = number_of(operation, "status");
	if (status != 0)
		fprintf(out, "%lld", status);
	if (status != 0 && code != 0)
		putc(' ', out);
	if (code != 0)
		put_safely(out, curl_name_of(operation));
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

void log_print_operation(const json_t *operation, const json_t *attempts, bool colour)
{
	size_t count = json_array_size(attempts);
	print_headline(operation ? operation : json_array_get(attempts, 0), colour);
	if (operation)
		print_outcome(operation, colour);
	else
		printf("  unfinished after %zu attempt%s\n", count, count == 1 ? "" : "s");

	int columns = result_columns(attempts);
	for (size_t i = 0; i < count; i++)
		print_attempt(json_array_get(attempts, i), columns, colour);
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
