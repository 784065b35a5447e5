/* SPDX-License-Identifier: MIT */
#include "cli/report.h"

#include <errno.h>
#include <getopt.h>
#include <string.h>

enum { EXIT_USAGE = 2 };

static const char COMMAND[] = "tenacurl report";

static const char HELP[] =
    "Usage: tenacurl report [--json] FILE...\n"
    "Adds up what logs tell, for each program, origin and job.\n"
    "\n"
    "FILE is a log as `log = FILE` or `tenacurl run --log FILE` makes it; - is standard input. Rotated files can be\n"
    "given in any order, all of them together; a record that is in several counts once.\n"
    "\n"
    "  --json       print one JSON object: tenacurl(1) has its keys\n"
    "  -h, --help   print this text\n"
    "\n"
    "What the lines mean:\n"
    "\n"
    "  operations   calls by the program: that succeeded with their first attempt, after a retry, that failed, and\n"
    "               that the log doesn't tell the end of\n"
    "  sends        requests on the wire, libcurl's own resends included; for so many intents. An intent is what the\n"
    "               program wanted done: the operations of an outer retry layer for one thing are one, any other\n"
    "               operation is one of its own. Sends per intent are the amplification, 1 without any retry\n"
    "  owner        of how many operations it was known who retries: us, or an outer layer and what showed it\n"
    "  waits        of ours, between attempts\n"
    "  failed by    why operations that failed weren't tried once more: the reasons of log records\n"
    "  refused      operations that failed without a request, on the policy's word\n"
    "  Retry-After  what the server asked for: how often, least and most, and the most frequent values\n"
    "  recovery     how long it took: of an operation that a retry rescued, all of its time; of one that failed, from\n"
    "               its first failed attempt to the next success of the same program, origin and job\n"
    "  ambiguous    retries that may have repeated a request that was executed\n"
    "  proxies      further attempts that a proxy behind the origin's address made, as its responses say\n"
    "\n"
    "In audit mode nothing was changed, and there is instead:\n"
    "\n"
    "  added        operations that would have been tried again: each at least once, so at least as many sends more;\n"
    "               with the first wait of each\n"
    "  saved        requests that were made and would not have been, since the operation would have been refused;\n"
    "               some may have succeeded\n"
    "  failed       operations that failed, and would have been tried again, which may or may not have helped; the\n"
    "               others would have failed all the same\n"
    "\n"
    "With `log_events = retries`, the default, a log leaves out operations that succeeded at once. Then success is "
    "seen\n"
    "later than it came, and only operations in which something failed count for sends per intent.\n";

/* The position of the first FILE; 0: help was printed; -1: usage error. */
static int parse_options(int argc, char **argv, bool *json)
{
	static const struct option OPTIONS[] = {
	    {"json", no_argument, NULL, 'j'}, {"help", no_argument, NULL, 'h'}, {0}};
	optind = 0;
	for (int option; (option = getopt_long(argc, argv, "h", OPTIONS, NULL)) != -1;) {
		if (option == 'h') {
			fputs(HELP, stdout);
			return 0;
		}
		if (option != 'j')
			return -1;
		*json = true;
	}
	if (optind == argc) {
		fputs("tenacurl report: which file? (- is standard input)\n", stderr);
		return -1;
	}
	return optind;
}

static bool flush_output(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return true;
	fprintf(stderr, "tenacurl report: can't write: %s\n", strerror(errno));
	return false;
}

static bool print(const struct report *report, bool json)
{
	if (json)
		return report_print_json(stdout, report);
	report_print(stdout, report);
	return true;
}

static bool tell(char **files, bool json)
{
	struct report report = {0};
	for (; *files; files++)
		records_read(*files, COMMAND, report_take, &report.source, &report.seen);
	bool readable = records_conclude(&report.seen, COMMAND);
	bool is_complete = !report.source.is_out_of_memory && report_gather(&report) && report_follow_events(&report);
	bool printed = is_complete && (!readable || print(&report, json));
	if (!printed && !ferror(stdout))
		fputs("tenacurl report: not enough memory\n", stderr);
	report_free(&report);
	return flush_output() && printed && readable;
}

int report_command(int argc, char **argv)
{
	char name[] = "tenacurl report";
	bool json = false;
	argv[0] = name;
	int first = parse_options(argc, argv, &json);
	if (first < 0) {
		fputs("Try 'tenacurl report --help'.\n", stderr);
		return EXIT_USAGE;
	}
	if (first == 0)
		return flush_output() ? 0 : 1;
	return tell(argv + first, json) ? 0 : 1;
}
