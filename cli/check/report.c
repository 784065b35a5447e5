/* SPDX-License-Identifier: MIT */
#include "cli/check/report.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/array.h"
#include "cli/elf/read.h"

struct reason_texts {
	const char *name;
	const char *text;
	const char *remedy;
};

static const struct reason_texts REASONS[] = {
    [CHECK_REASON_NONE] = {"none", "", ""},
    [CHECK_REASON_NO_LIBCURL] = {"no-libcurl", "no use of libcurl was found", ""},
    [CHECK_REASON_MULTI] = {"multi", "transfers of the multi interface are left alone", ""},
    [CHECK_REASON_STATIC] = {"static", "it is statically linked, so nothing can be preloaded into it",
                             "A build of it that is linked with the system's libcurl would be covered."},
    [CHECK_REASON_BUNDLED] = {"bundled", "it calls a libcurl that is built into it",
                              "A build of it that is linked with the system's libcurl would be covered."},
    [CHECK_REASON_CLASS] = {"class", "it is of another architecture than this tenacurl",
                            "A tenacurl that was built for that architecture would do."},
    [CHECK_REASON_MUSL] = {"musl", "it uses another C library (musl) than this tenacurl",
                           "A build of it for this system's C library would be covered."},
    [CHECK_REASON_SETUID] = {"setuid", "it is setuid, so the dynamic linker ignores preloads",
                             "Started by the user that it changes to, it is covered."},
    [CHECK_REASON_SETGID] = {"setgid", "it is setgid, so the dynamic linker ignores preloads",
                             "Started with the group that it changes to, it is covered."},
    [CHECK_REASON_CAPABILITIES] = {"capabilities", "it has file capabilities, so the dynamic linker ignores preloads",
                                   "Started by root it is covered; so is a copy without capabilities."},
    [CHECK_REASON_DEEPBIND_DATA] = {"deepbind-data",
                                    "it is loaded with RTLD_DEEPBIND and has libcurl's address as data", ""},
    [CHECK_REASON_DEEPBIND] = {"deepbind", "it is loaded with RTLD_DEEPBIND, which only the binder reaches",
                               "Leave out --no-binder."},
    [CHECK_REASON_DLSYM] = {"dlsym", "it looks libcurl's functions up with dlsym, which only the binder reaches",
                            "Leave out --no-binder."},
    [CHECK_REASON_TLS] = {"tls", "only the binder reaches it, and the program has too much static TLS for that", ""},
    [CHECK_REASON_NO_BINDER] = {"no-binder", "only the binder reaches it, which can't be used here", ""},
    [CHECK_REASON_ENVIRONMENT] = {"environment", "the environment is cleared before it starts",
                                  "Put 'tenacurl run --' behind what clears the environment."},
    [CHECK_REASON_CHROOT] = {"chroot", "tenacurl isn't installed below the root that it is confined to",
                             "Install tenacurl there, at the same path."},
    [CHECK_REASON_UNREADABLE] = {"unreadable", "it can't be read", "Check as a user who may read it."},
    [CHECK_REASON_VARIABLES] = {"variables", "a script changes a variable that tenacurl needs, so files can't tell",
                                ""},
    [CHECK_REASON_INDIRECT] = {"indirect", "a script hands on to what clears the environment, so files can't tell",
                               "Put 'tenacurl run --' behind what clears the environment."},
    [CHECK_REASON_OFF] = {"off", "tenacurl is switched off for it", ""},
};

const char *check_reason_name(enum check_reason reason)
{
	return REASONS[reason].name;
}

const char *check_reason_text(enum check_reason reason)
{
	return REASONS[reason].text;
}

const char *check_reason_remedy(enum check_reason reason)
{
	return REASONS[reason].remedy;
}

struct check_use *check_add_use(struct check_report *report)
{
	if (!array_make_room(&report->uses, report->use_count, sizeof(*report->uses)))
		return NULL;
	struct check_use *use = &report->uses[report->use_count++];
	*use = (struct check_use){0};
	return use;
}

void check_uses_free(struct check_use *uses, size_t count)
{
	for (size_t i = 0; i < count; i++) {
		free(uses[i].program);
		free(uses[i].object);
		free(uses[i].libcurl);
	}
	free(uses);
}

void check_name_flavour(const char *node, struct check_use *use)
{
	static const char PREFIX[] = "CURL_";
	if (strncmp(node, PREFIX, strlen(PREFIX)) == 0)
		node += strlen(PREFIX);
	snprintf(use->flavour, sizeof(use->flavour), "%s", *node ? node : "unversioned");
}

bool check_describe_libcurl(const char *node, const char *path, const char *file, struct check_use *use)
{
	struct elf_file libcurl;
	check_name_flavour(node, use);
	elf_file_read_part(file, ELF_PART_SYMBOLS, &libcurl);
	memcpy(use->libcurl_version, libcurl.curl_version, sizeof(use->libcurl_version));
	elf_file_free(&libcurl);
	use->libcurl = strdup(path);
	return use->libcurl != NULL;
}

bool check_is_wrapped(const struct check_use *use)
{
	return (use->interface & CHECK_EASY) && use->reason == CHECK_REASON_NONE;
}

/* What keeps all uses from being wrapped, if it is the same for all; else NONE. */
static enum check_reason common_reason(const struct check_report *report)
{
	enum check_reason common = CHECK_REASON_NONE;
	for (size_t i = 0; i < report->use_count; i++) {
		enum check_reason reason = report->uses[i].reason;
		if (reason == CHECK_REASON_NONE)
			reason = CHECK_REASON_MULTI;
		if (i > 0 && reason != common)
			return CHECK_REASON_NONE;
		common = reason;
	}
	return common;
}

/*
 * Files can't tell what a program does that shows nothing, nor what comes of a variable that a script changes, nor what
 * `sudo "$@"` starts.
 */
static void doubt(struct check_report *report)
{
	const char *changed = report->doubts.changed, *indirect = report->doubts.indirect;
	bool may_be_in_reach = report->verdict != CHECK_NOT || report->reason == CHECK_REASON_OFF;
	if ((changed || indirect) && may_be_in_reach) {
		free(report->detail);
		report->detail = strdup(changed ? changed : indirect);
		report->reason = changed ? CHECK_REASON_VARIABLES : CHECK_REASON_INDIRECT;
		report->verdict = CHECK_UNKNOWN;
	}
	if (report->reason == CHECK_REASON_NO_LIBCURL || report->reason == CHECK_REASON_UNREADABLE)
		report->verdict = CHECK_UNKNOWN;
}

void check_judge(struct check_report *report)
{
	bool any_wrapped = false, any_missed = false;
	for (size_t i = 0; i < report->use_count; i++) {
		const struct check_use *use = &report->uses[i];
		any_wrapped |= check_is_wrapped(use);
		any_missed |= !check_is_wrapped(use) || (use->interface & CHECK_MULTI);
	}
	report->verdict = !any_wrapped ? CHECK_NOT : any_missed ? CHECK_PARTLY : CHECK_COVERED;
	if (report->verdict == CHECK_NOT && report->reason == CHECK_REASON_NONE)
		report->reason = report->use_count ? common_reason(report) : CHECK_REASON_NO_LIBCURL;
	if (!report->observed)
		doubt(report);
}

void check_report_free(struct check_report *report)
{
	for (size_t i = 0; i < report->chain_count; i++)
		free(report->chain[i]);
	free(report->chain);
	check_uses_free(report->uses, report->use_count);
	free(report->detail);
	free(report->tenacurl);
	*report = (struct check_report){0};
}
