/* SPDX-License-Identifier: MIT */

#include "cli/simulate.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/fleet.h"
#include "cli/plain_json.h"
#include "cli/plain_text.h"
#include "cli/simulation.h"

enum { EXIT_USAGE = 2 };

static const char usage[] =
    "usage: tenacurl simulate FILE…|-\n"
    "       tenacurl simulate --fleet [option…] [FILE | NAME=VALUE]…   (--fleet --help: many clients)\n"
    "\n"
    "Runs scripted outcomes through the retry engine on a logical clock. Each line of the input is\n"
    "one JSON object:\n"
    "\n"
    "  policy    total_ms, per_try_ms, max_attempts, min_try_ms, base_ms, backoff_cap_ms, replay_safe\n"
    "  outcomes  what each attempt would come to: duration_ms, status (200 to 599, \"timeout\" or\n"
    "            \"cancel\"), retry_after_ms (or null)\n"
    "  draws     the jitter fractions, 0 to 1, in the order in which they are asked for\n"
    "\n"
    "For each line one JSON object is printed: ok, stop, attempts, elapsed_ms and the trace, or\n"
    "rejected and error for a line that is refused.\n";

static json_t *rejection(const char *why)
{
	json_t *result = json_pack("{s:b, s:s}", "rejected", 1, "error", why);

	/* The parser's words may quote bytes that aren't UTF-8. */
	return result ? result : json_pack("{s:b, s:s}", "rejected", 1, "error", "not JSON: not UTF-8");
}

static json_t *simulate_line(const char *line, size_t line_bytes)
{
	struct simulation simulation;
	struct simulation_error error;
	json_t *result;

	if (!simulation_read(line, line_bytes, &simulation, &error))
		return rejection(error.text);
	result = simulation_run(&simulation, &error);
	simulation_free(&simulation);
	return result ? result : rejection(error.text);
}

static bool print_result(json_t *result)
{
	bool printed = result && plain_json_put(stdout, result);

	json_decref(result);
	return printed && putchar('\n') != EOF;
}

static bool is_empty(const char *line, size_t line_bytes)
{
	for (size_t i = 0; i < line_bytes; i++) {
		if (!memchr(" \t\r\n", line[i], 4))
			return false;
	}
	return true;
}

static bool complain(const char *what)
{
	fprintf(stderr, "tenacurl simulate: %s: %s\n", plain_text(what), strerror(errno));
	return false;
}

static bool simulate_stream(FILE *stream, const char *name)
{
	char *line = NULL;
	size_t capacity = 0;
	ssize_t bytes;
	bool good = true;

	errno = 0;
	while (good && (bytes = getline(&line, &capacity, stream)) >= 0) {
		if (!is_empty(line, (size_t)bytes) && !print_result(simulate_line(line, (size_t)bytes)))
			good = complain("standard output");
		errno = 0;
	}
	/* getline() also ends without an error on the stream, when there is no memory for the line. */
	if (good && (ferror(stream) || !feof(stream)))
		good = complain(name);
	free(line);
	return good;
}

static bool simulate_file(const char *path)
{
	FILE *stream;
	bool good;

	if (strcmp(path, "-") == 0)
		return simulate_stream(stdin, "standard input");
	stream = fopen(path, "re");
	if (!stream)
		return complain(path);
	good = simulate_stream(stream, path);
	fclose(stream);
	return good;
}

int simulate_command(int argc, char **argv)
{
	bool good = true;
	int first = argc > 1 && strcmp(argv[1], "--") == 0 ? 2 : 1;

	if (argc > 1 && strcmp(argv[1], "--fleet") == 0)
		return fleet_command(argc - 1, argv + 1);

	if (argc > 1 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0)) {
		fputs(usage, stdout);
		return fflush(stdout) == 0 ? EXIT_SUCCESS : EXIT_USAGE;
	}
	if (argc <= first || (first == 1 && argv[1][0] == '-' && argv[1][1] != '\0')) {
		fputs(usage, stderr);
		return EXIT_USAGE;
	}
	for (int i = first; i < argc; i++)
		good = simulate_file(argv[i]) && good;
	if (fflush(stdout) != 0)
		good = complain("standard output");
	return good ? EXIT_SUCCESS : EXIT_USAGE;
}
