/* SPDX-License-Identifier: MIT */
/*
 *     2026-01-02T03:04:05.678901Z curl[4711] GET http://example.org/x: 200, success; 2 attempts, 1.067 s (waited 1.034
 * s) 1  503                       status  21 ms  Retry-After 1.000 s  retry in 1.034 s: transient_failure 2  200 9 ms
 * deliver: success
 *
 * Texts come from a file that anybody may have written to: control characters are printed as escapes, never sent to the
 * terminal.
 */
#include "cli/log.h"

#include <stdio.h>
#include <string.h>

#define RESULT_COLUMNS 26 /* the longest names of curl codes that are common */

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

static void print_safely(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;
	while (*at) {
		int bytes = control_bytes(at);
		if (bytes)
			printf("\\x%02x", at[bytes - 1]);
		else
			putchar(*at);
		at += bytes ? bytes : 1;
	}
}

static void print_text(const json_t *record, const char *name, const char *if_unknown)
{
	const char *text = json_string_value(field(record, name));
	print_safely(text ? text : if_unknown);
}

static void paint(const char *colour_code, bool colour)
{
	if (colour)
		fputs(colour_code, stdout);
}

static void print_duration(long long ms)
{
	if (ms < 1000)
		printf("%lld ms", ms);
	else
		printf("%lld.%03lld s", ms / 1000, ms % 1000);
}

static void print_who(const json_t *record, bool colour)
{
	print_text(record, "time", "unknown time");
	putchar(' ');
	print_text(record, "program", "?");
	printf("[%lld] ", number_of(record, "pid"));
	if (is_text(record, "mode", "audit")) {
		paint(YELLOW, colour);
		fputs("audit ", stdout);
		paint(PLAIN, colour);
	}
}

static void print_lost(const json_t *record)
{
	long long lost = number_of(record, "lost");
	if (lost > 0)
		printf("  (%lld record%s before this could not be written)\n", lost, lost == 1 ? "" : "s");
}

/* The status, or the name of the curl code where the transfer failed. */
static void result_text(const json_t *record, char *out, size_t out_bytes)
{
	const char *name = json_string_value(field(record, "curl"));
	if (number_of(record, "curl_code") != 0)
		snprintf(out, out_bytes, "%s", name ? name : "CURLE_UNKNOWN");
	else if (number_of(record, "status") != 0)
		snprintf(out, out_bytes, "%lld", number_of(record, "status"));
	else
		snprintf(out, out_bytes, "-");
}

static void print_attempt(const json_t *attempt, bool colour)
{
	char result[64];
	result_text(attempt, result, sizeof(result));
	const char *failure = json_string_value(field(attempt, "failure"));
	bool retry = is_text(attempt, "verdict", "retry");

	printf("  %3lld  ", number_of(attempt, "attempt"));
	print_safely(result);
	int padding = RESULT_COLUMNS - (int)strlen(result);
	printf("%*s", padding > 0 ? padding : 1, "");
	print_safely(failure && strcmp(failure, "none") != 0 ? failure : "");
	if (json_is_integer(field(attempt, "total_ms"))) {
		fputs("  ", stdout);
		print_duration(number_of(attempt, "total_ms"));
	}
	if (json_is_integer(field(attempt, "retry_after_ms"))) {
		fputs("  Retry-After ", stdout);
		print_duration(number_of(attempt, "retry_after_ms"));
	}
	fputs("  ", stdout);
	paint(retry ? YELLOW : is_text(attempt, "reason", "success") ? GREEN : RED, colour);
	print_text(attempt, "verdict", "?");
	if (json_is_integer(field(attempt, "wait_ms"))) {
		fputs(" in ", stdout);
		print_duration(number_of(attempt, "wait_ms"));
	}
	fputs(": ", stdout);
	print_text(attempt, "reason", "?");
	paint(PLAIN, colour);
	if (json_is_true(field(attempt, "ambiguous")))
		fputs(", may have been executed", stdout);
	putchar('\n');
	print_lost(attempt);
}

static void print_outcome(const json_t *operation, bool colour)
{
	char result[64];
	result_text(operation, result, sizeof(result));
	paint(is_text(operation, "reason", "success") ? GREEN : RED, colour);
	print_safely(result);
	fputs(", ", stdout);
	print_text(operation, "reason", "?");
	paint(PLAIN, colour);
	long long attempts = number_of(operation, "attempts"), waited_ms = number_of(operation, "waited_ms");
	printf("; %lld attempt%s, ", attempts, attempts == 1 ? "" : "s");
	print_duration(number_of(operation, "elapsed_ms"));
	if (waited_ms > 0) {
		fputs(" (waited ", stdout);
		print_duration(waited_ms);
		putchar(')');
	}
}

void log_print_operation(const json_t *operation, const json_t *attempts, bool colour)
{
	const json_t *head = operation ? operation : json_array_get(attempts, 0);
	print_who(head, colour);
	paint(BOLD, colour);
	print_text(head, "method", "?");
	putchar(' ');
	print_text(head, "url", "?");
	paint(PLAIN, colour);
	fputs(": ", stdout);
	if (operation)
		print_outcome(operation, colour);
	else
		printf("unfinished after %zu attempt%s", json_array_size(attempts),
		       json_array_size(attempts) == 1 ? "" : "s");
	putchar('\n');

	for (size_t i = 0; i < json_array_size(attempts); i++)
		print_attempt(json_array_get(attempts, i), colour);
	if (operation)
		print_lost(operation);
}

void log_print_note(const json_t *note, bool colour)
{
	print_who(note, colour);
	paint(YELLOW, colour);
	fputs("note: ", stdout);
	print_text(note, "note", "");
	paint(PLAIN, colour);
	putchar('\n');
	print_lost(note);
}
