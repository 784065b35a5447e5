/* SPDX-License-Identifier: MIT */
#include "cli/log/report.h"

#include <string.h>

#include "cli/say/options.h"
#include "cli/say/output.h"
#include "cli/stats/lost_records.h"

/* What the command line says. */
struct request {
	bool json;
};

static const struct say_option OPTIONS[] = {
    SAY_ROW("json", '\0', NULL, SAY_FLAG, struct request, json, "print one JSON object: tenacurl(1) has its keys"),
    {0}};

static const char NOTES[] =
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

static const struct say_command COMMAND = {
    .name = "tenacurl report",
    .forms = "tenacurl report [--json] FILE...",
    .about = "Adds up what logs tell, for each program, origin and job.\n"
             "\n"
             "FILE is a log as `log = FILE` or `tenacurl run --log FILE` makes it; - is standard input. Rotated files "
             "can be\n"
             "given in any order, all of them together; a record that is in several counts once.",
    .options = OPTIONS,
    .notes = NOTES,
    .examples = "tenacurl report audit.jsonl audit.jsonl.1\n"
                "tenacurl report --json audit.jsonl\n",
    .needs = "which file? (- is standard input)",
    .wrong_usage = 2,
    .unwritable = 1,
};

static bool print(const struct report *report, bool json)
{
	if (json)
		return report_print_json(stdout, report);
	report_print(stdout, report);
	lost_records_print_own(stdout);
	return true;
}

static bool tell(char **files, bool json)
{
	struct report report = {0};
	for (; *files; files++)
		records_read(*files, COMMAND.name, report_take, &report.source, &report.seen);
	bool readable = records_conclude(&report.seen, COMMAND.name);
	bool is_complete = !report.source.is_out_of_memory && report_gather(&report) && report_follow_events(&report);
	bool printed = is_complete && (!readable || print(&report, json));
	if (!printed && !ferror(stdout))
		fputs("tenacurl report: not enough memory\n", stderr);
	report_free(&report);
	return say_flush(COMMAND.name) && printed && readable;
}

int report_command(int argc, char **argv)
{
	struct request request = {false};
	char **files;
	int end = say_read_options(&COMMAND, argc, argv, &request, &files);
	if (end != SAY_GO_ON)
		return end;
	return tell(files, request.json) ? 0 : 1;
}
