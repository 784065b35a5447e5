/* SPDX-License-Identifier: MIT */
/*
 * The programs of a report are those that the command line starts, those that these are known to start for their
 * transfers (git), and those that scripts name.
 */
#include "cli/check/scan.h"

#include <argz.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "cli/check/check.h"
#include "cli/check/known_programs.h"
#include "cli/elf/object.h"
#include "cli/elf/preload.h"

static bool is_below_root(const char *root, const char *object)
{
	char path[PATH_MAX];
	int needed = snprintf(path, sizeof(path), "%s%s", root, object ? object : "");
	return object && needed < (int)sizeof(path) && access(path, R_OK) == 0;
}

static enum check_reason privilege_reason(const char *path)
{
	static const enum check_reason REASONS[] = {[LAUNCH_ORDINARY] = CHECK_REASON_NONE,
	                                            [LAUNCH_SETUID] = CHECK_REASON_SETUID,
	                                            [LAUNCH_SETGID] = CHECK_REASON_SETGID,
	                                            [LAUNCH_CAPABILITIES] = CHECK_REASON_CAPABILITIES};
	return REASONS[launch_privilege_of(path)];
}

static enum check_reason reason_of_file(const struct check_program *program)
{
	const struct elf_file *file = &program->tree.objects[0];
	if (!elf_file_is_native(file))
		return CHECK_REASON_CLASS;
	if (elf_file_is_linker(file, program->launch.path))
		return CHECK_REASON_NONE; /* of what it starts nothing is read */
	if (!file->interpreter)
		return CHECK_REASON_STATIC;
	return elf_file_is_musl(file) ? CHECK_REASON_MUSL : CHECK_REASON_NONE;
}

/* What is on the way to the program: it may never see what `run` puts into the environment. */
static enum check_reason reason_of_way(const struct launch *launch, const struct check_scan *scan, const char **detail)
{
	*detail = launch->cleared_by;
	if (launch->cleared_by)
		return CHECK_REASON_ENVIRONMENT;
	*detail = launch->privileged_by;
	if (launch->privileged_by)
		return CHECK_REASON_SETUID;
	*detail = launch->root;
	if (launch->root && !is_below_root(launch->root, scan->object))
		return CHECK_REASON_CHROOT;
	*detail = NULL;
	return launch->starts_run ? CHECK_REASON_NONE : scan->inherited;
}

/* Finds out what keeps tenacurl out of the program. Returns a text to free() about it, NULL if there is no more to say.
 */
static char *find_reason(struct check_program *program)
{
	const char *detail = NULL;
	char *text = NULL;
	if (program->tree.count == 0) {
		program->reason = CHECK_REASON_UNREADABLE;
		return strdup(program->launch.error ? strerror(program->launch.error) : "a damaged ELF file");
	}
	program->reason = reason_of_file(program);
	if (program->reason == CHECK_REASON_CLASS)
		return strdup(elf_machine_name(program->tree.objects[0].machine));
	if (program->reason == CHECK_REASON_NONE)
		program->reason = privilege_reason(program->launch.path);
	if (program->reason == CHECK_REASON_NONE)
		program->reason = reason_of_way(&program->launch, program->scan, &detail);
	if (program->reason == CHECK_REASON_NONE && check_is_off(program, &text))
		program->reason = CHECK_REASON_OFF;
	return detail ? strdup(detail) : text;
}

/* Of what keeps tenacurl out of a program, that which does so for its children: the variables don't get through. */
static bool is_inherited(enum check_reason reason)
{
	return reason == CHECK_REASON_ENVIRONMENT || reason == CHECK_REASON_CHROOT || reason == CHECK_REASON_CLASS ||
	       reason == CHECK_REASON_SETUID || reason == CHECK_REASON_SETGID || reason == CHECK_REASON_CAPABILITIES;
}

bool check_is_noted(const struct check_notes *notes, const char *text)
{
	for (const char *note = NULL; (note = argz_next(notes->at, notes->bytes, note));)
		if (strcmp(note, text) == 0)
			return true;
	return false;
}

void check_note(struct check_notes *notes, const char *text)
{
	argz_add(&notes->at, &notes->bytes, text);
}

/* Scripts name the same few tools again and again, and to look at one takes some milliseconds. */
static void note_without_libcurl(const struct check_program *program)
{
	if (!check_depends_on_words(program) && !program->reads_words)
		check_note(&program->scan->without_libcurl, program->launch.path);
}

static void add_helpers(struct check_program *program)
{
	char **arguments = program->launch.arguments;
	size_t count = 0;
	while (arguments[count])
		count++;
	char **command = calloc(count + 2, sizeof(*command));
	for (size_t i = 0; command && i < KNOWN_HELPER_COUNT; i++) {
		const struct known_helper *row = &KNOWN_HELPERS[i];
		if (!subject_is(&program->subject, row->program) || !subject_has(&program->subject, row->words, ""))
			continue;
		command[0] = (char *)(uintptr_t)row->helper;
		memcpy(command + 1, arguments, count * sizeof(*command));
		check_add_program(program->scan, command, program->depth + 1);
	}
	program->scan->failed |= !command;
	free(command);
}

/* What is decided by the first program, and then inherited by those that it starts. */
static void decide_for_all(struct check_program *program)
{
	struct check_scan *scan = program->scan;
	struct check_report *report = scan->report;
	if (report->binder && program->tree.count) {
		enum binder_state state = binder_decide(&program->tree, program->tree_is_complete);
		report->binder = state == BINDER_SAFE;
		snprintf(report->binder_reason, sizeof(report->binder_reason), "%s", binder_reason(state));
	}
}

static void pass_on(const struct check_program *program)
{
	struct check_scan *scan = program->scan;
	if (program->launch.starts_run)
		scan->inherited = CHECK_REASON_NONE;
	if (is_inherited(program->reason))
		scan->inherited = program->reason;
	if (program->launch.switched != LAUNCH_SWITCH_KEPT)
		scan->switched = program->launch.switched;
}

/* What is no reason, but what people would wonder at. */
static void add_notes(struct check_program *program)
{
	struct check_report *report = program->scan->report;
	struct stat file;
	if (program->tree.missing) {
		snprintf(report->note, sizeof(report->note), "it would not start: its library %s isn't found",
		         program->tree.missing);
	} else if (program->reason == CHECK_REASON_NONE && stat(program->launch.path, &file) == 0 &&
	           ((file.st_mode & (S_ISUID | S_ISGID)) ||
	            getxattr(program->launch.path, "security.capability", NULL, 0) > 0)) {
		snprintf(report->note, sizeof(report->note),
		         "it is setuid, setgid or has capabilities: for other users it is not covered");
	}
}

static bool has_binder_beside(const char *object)
{
	char *binder = object ? object_find_binder(object, object) : NULL;
	bool found = binder != NULL;
	free(binder);
	return found;
}

/* Looks at the program that program->launch leads to, and at what that starts. */
static void look_at(struct check_program *program, char **detail)
{
	struct check_scan *scan = program->scan;
	if (!subject_read(&program->launch, &program->subject)) {
		scan->failed = true;
		return;
	}
	program->tree_is_complete = link_tree_read(program->launch.path, scan->preload, &program->tree);
	*detail = find_reason(program);
	if (!program->is_helper)
		decide_for_all(program);
	check_find_uses(program);
	if (program->depth == CHECK_DEPTH_MAX)
		return;
	enum check_reason inherited = scan->inherited;
	enum launch_switch switched = scan->switched;
	pass_on(program);
	add_helpers(program);
	check_visit_words(program);
	scan->inherited = inherited;
	scan->switched = switched;
}

static void free_program(struct check_program *program)
{
	subject_free(&program->subject);
	link_tree_free(&program->tree);
	launch_free(&program->launch);
}

bool check_add_program(struct check_scan *scan, char **command, unsigned depth)
{
	struct check_program program = {.scan = scan, .is_helper = true, .depth = depth};
	size_t use_count = scan->report->use_count;
	char *detail = NULL;
	if (launch_follow(command, &program.launch) && !check_is_noted(&scan->without_libcurl, program.launch.path)) {
		look_at(&program, &detail);
		if (!program.uses_libcurl && scan->report->use_count == use_count && !scan->failed)
			note_without_libcurl(&program);
	}
	free(detail);
	free_program(&program);
	return program.uses_libcurl || scan->report->use_count > use_count;
}

/* Finds what `run` would put into the environment. */
static bool begin(const struct check_request *request, struct check_scan *scan)
{
	struct check_report *report = scan->report;
	scan->object = object_find(&scan->object_error);
	if (scan->object)
		scan->preload = preload_compose(getenv("LD_PRELOAD"), scan->object);
	const char *why_no_binder = request->no_binder                 ? NO_BINDER_OPTION
	                            : !has_binder_beside(scan->object) ? "it isn't installed"
	                                                               : "";
	snprintf(report->binder_reason, sizeof(report->binder_reason), "%s", why_no_binder);
	report->binder = !why_no_binder[0];
	check_load_policy(scan);
	return scan->preload || !scan->object;
}

static void end(struct check_scan *scan)
{
	free(scan->without_libcurl.at);
	free(scan->seen.at);
	free(scan->object);
	free(scan->preload);
	policy_free(scan->policy);
}

/* Static programs have no interpreter either, but need nothing. */
static bool is_library(const struct check_program *program)
{
	const struct elf_file *file = program->tree.objects;
	return program->tree.count && !file->interpreter && file->needed_count;
}

bool check_static(const struct check_request *request, struct check_report *report)
{
	struct check_scan scan = {.report = report};
	struct check_program program = {.scan = &scan};
	int reason = ENOMEM;
	*report = (struct check_report){0};
	if (!begin(request, &scan))
		goto end;
	if (!launch_follow(request->command, &program.launch)) {
		reason = program.launch.error ? program.launch.error : ENOMEM;
		goto end;
	}
	look_at(&program, &report->detail);
	if (!scan.failed && is_library(&program))
		reason = ENOEXEC;
	if (scan.failed || is_library(&program))
		goto end;
	add_notes(&program);
	report->reason = program.reason;
	report->chain = program.launch.chain;
	report->chain_count = program.launch.chain_count;
	program.launch.chain = NULL;
	program.launch.chain_count = 0;
	reason = 0;
end:
	free_program(&program);
	end(&scan);
	if (reason != 0)
		check_report_free(report);
	errno = reason;
	return reason == 0;
}
