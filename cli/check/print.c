/* SPDX-License-Identifier: MIT */
#include "cli/check/print.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

#include "cli/check/advice.h"
#include "cli/say/plain_json.h"
#include "cli/say/plain_text.h"

/* Their names in JSON, in the order of the enums. */
static const char *const ROLES[] = {"program", "library", "plugin", "helper"};
static const char *const BINDINGS[] = {"none", "preload", "binder"};
static const char *const VERDICTS[] = {"covered", "partly", "not", "unknown"};

/* What the verdict is about if it isn't a reason: the transfers of a run, the calls of a process, what files show. */
static const char *summary_of(const struct check_report *report)
{
	static const char *const SUMMARIES[][3] = {
	    [CHECK_COVERED] = {"covered: all its transfers were wrapped",
	                       "covered: all its calls of libcurl lead to tenacurl",
	                       "covered: every use of libcurl that its files show is wrapped"},
	    [CHECK_PARTLY] = {"partly covered: some of its transfers were wrapped",
	                      "partly covered: some of its calls of libcurl lead to tenacurl",
	                      "partly covered: some of its uses of libcurl are wrapped"},
	    [CHECK_NOT] = {"not covered: none of its transfers were wrapped",
	                   "not covered: none of its calls of libcurl lead to tenacurl",
	                   "not covered: none of its uses of libcurl are wrapped"},
	};
	return SUMMARIES[report->verdict][!report->observed ? 2 : report->has_run ? 0 : 1];
}

static void print_verdict(const struct check_report *report)
{
	const char *detail = report->detail ? report->detail : "";
	bool is_not = report->verdict == CHECK_NOT, is_unknown = report->verdict == CHECK_UNKNOWN;
	if ((is_not || is_unknown) && report->reason == CHECK_REASON_NO_LIBCURL)
		puts(is_not ? "not covered: no use of libcurl was seen"
		            : "unknown: no use of libcurl is visible in its files");
	else if (is_unknown || (is_not && report->reason != CHECK_REASON_NONE))
		printf("%s: %s%s%s%s\n", is_not ? "not covered" : "unknown", check_reason_text(report->reason),
		       *detail ? " (" : "", plain_text(detail), *detail ? ")" : "");
	else
		puts(summary_of(report));
}

static void print_chain(const struct check_report *report)
{
	if (report->chain_count < 2)
		return;
	fputs("  starts:", stdout);
	for (size_t i = 0; i < report->chain_count; i++)
		printf("%s %s", i ? " ->" : "", plain_text(report->chain[i]));
	putchar('\n');
}

static void print_libcurl(const struct check_use *use)
{
	bool is_inside = use->libcurl && strcmp(use->libcurl, use->object) == 0;
	const char *where = is_inside ? "inside it" : use->libcurl ? use->libcurl : "";
	const char *version = use->libcurl_version[0] ? use->libcurl_version : is_inside ? "of unknown version" : "";
	printf("libcurl%s%s", *version ? " " : "", plain_text(version));
	if (use->flavour[0] || *where)
		printf(" (%s%s%s)", plain_text(use->flavour), use->flavour[0] && *where ? ", " : "", plain_text(where));
}

/* What the first line says already isn't repeated. */
static void print_fate(const struct check_report *report, const struct check_use *use, enum check_interface interface)
{
	static const char *const BOUND[] = {"wrapped", "wrapped, by the preload", "wrapped, by the binder"};
	enum check_reason reason = interface == CHECK_MULTI && !use->reason ? CHECK_REASON_MULTI : use->reason;
	printf("    %s interface of ", interface == CHECK_MULTI ? "multi" : "easy");
	print_libcurl(use);
	if (reason == CHECK_REASON_NONE)
		printf(": %s\n", BOUND[use->binding]);
	else if (reason == report->reason)
		puts(": not wrapped");
	else
		printf(": not wrapped, %s\n", check_reason_text(reason));
}

static void print_use(const struct check_report *report, const struct check_use *use)
{
	static const char *const ROLE_WORDS[] = {"program", "library", "plugin", "helper program"};
	bool through = use->role == CHECK_ROLE_HELPER && strcmp(use->program, use->object) != 0;
	printf("  %s %s%s%s\n", ROLE_WORDS[use->role], plain_text(through ? use->program : use->object),
	       through ? " through " : "", through ? plain_text(use->object) : "");
	if (use->interface & CHECK_EASY)
		print_fate(report, use, CHECK_EASY);
	if (use->interface & CHECK_MULTI)
		print_fate(report, use, CHECK_MULTI);
}

/* Says what would help, once for each reason. */
static void print_remedies(const struct check_report *report)
{
	for (int reason = CHECK_REASON_NONE + 1; reason <= CHECK_REASON_OFF; reason++) {
		bool counts = report->verdict >= CHECK_NOT && (int)report->reason == reason;
		for (size_t i = 0; i < report->use_count; i++)
			counts |= (int)report->uses[i].reason == reason;
		const char *remedy = check_reason_remedy((enum check_reason)reason);
		if (counts && check_advice_is_for(report, (enum check_reason)reason))
			check_print_advice(report, (enum check_reason)reason);
		else if (counts && *remedy)
			printf("  %s\n", remedy);
	}
}

bool check_print_text(const struct check_report *report)
{
	print_verdict(report);
	print_chain(report);
	for (size_t i = 0; i < report->use_count; i++)
		print_use(report, &report->uses[i]);
	if (report->note[0])
		printf("  note: %s\n", plain_text(report->note));
	if (!report->binder && report->binder_reason[0])
		printf("  binder: not used, %s\n", plain_text(report->binder_reason));
	if (report->verdict == CHECK_UNKNOWN && report->reason != CHECK_REASON_UNREADABLE)
		puts("  Files can't tell more: tenacurl check --run runs it and does.");
	print_remedies(report);
	return fflush(stdout) == 0 && !ferror(stdout);
}

static json_t *reason_or_null(enum check_reason reason)
{
	return reason == CHECK_REASON_NONE ? json_null() : json_string(check_reason_name(reason));
}

static json_t *interfaces_of(const struct check_use *use)
{
	json_t *list = json_array();
	if (use->interface & CHECK_EASY)
		json_array_append_new(list, json_string("easy"));
	if (use->interface & CHECK_MULTI)
		json_array_append_new(list, json_string("multi"));
	return list;
}

static json_t *use_object(const struct check_use *use)
{
	return json_pack("{s:o, s:o, s:s, s:o, s:o, s:o, s:o, s:b, s:s, s:o}", "program", plain_json_text(use->program),
	                 "object", plain_json_text(use->object), "role", ROLES[use->role], "interfaces",
	                 interfaces_of(use), "libcurl", plain_json_text(use->libcurl), "libcurl_version",
	                 plain_json_text(use->libcurl_version), "libcurl_flavour", plain_json_text(use->flavour),
	                 "wrapped", check_is_wrapped(use), "binding", BINDINGS[use->binding], "reason",
	                 reason_or_null(use->reason));
}

static json_t *report_object(const struct check_report *report)
{
	json_t *chain = json_array(), *uses = json_array();
	json_t *status = report->has_run ? json_integer(report->program_status) : json_null();
	for (size_t i = 0; i < report->chain_count; i++)
		json_array_append_new(chain, plain_json_text(report->chain[i]));
	for (size_t i = 0; i < report->use_count; i++)
		json_array_append_new(uses, use_object(&report->uses[i]));
	return json_pack("{s:i, s:s, s:o, s:o, s:b, s:o, s:b, s:o, s:o, s:o, s:o}", "schema", 1, "verdict",
	                 VERDICTS[report->verdict], "reason", reason_or_null(report->reason), "detail",
	                 plain_json_text(report->detail), "observed", report->observed, "program_status", status,
	                 "binder", report->binder, "binder_reason",
	                 plain_json_text(report->binder ? NULL : report->binder_reason), "note",
	                 plain_json_text(report->note), "chain", chain, "uses", uses);
}

bool check_print_json(const struct check_report *report)
{
	return plain_json_print(stdout, report_object(report)) && fflush(stdout) == 0 && !ferror(stdout);
}
