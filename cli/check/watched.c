/* SPDX-License-Identifier: MIT */
/*
 * From lines of watched processes to a report. Calls count, not bindings: a program that has a function and doesn't
 * call it isn't said to use it. The exception are addresses in an object's data, whose calls nobody sees.
 */
#include "cli/check/watched.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/elf/read.h"

static bool is_same_file(const char *path, const char *other)
{
	char *resolved = realpath(path, NULL), *other_resolved = realpath(other, NULL);
	bool same = strcmp(resolved ? resolved : path, other_resolved ? other_resolved : other) == 0;
	free(resolved);
	free(other_resolved);
	return same;
}

/* What was predicted, which goes when the report is made. */
struct prediction {
	struct check_use *uses;
	size_t use_count;
	enum check_reason reason;
};

static bool needs(const struct elf_file *object, const char *name)
{
	for (size_t i = 0; i < object->needed_count; i++)
		if (strcmp(object->needed[i], name) == 0)
			return true;
	return false;
}

static bool is_called(const struct watch_libcurl *libcurl, const struct watch_call *call, const struct elf_file *object)
{
	if (call->libcurl[0])
		return strcmp(libcurl->path, call->libcurl) == 0;
	return (object->import_node[0] && strcmp(libcurl->node, object->import_node) == 0) ||
	       needs(object, basename(libcurl->path));
}

/*
 * Which of the process's libcurls a call ends in that was bound to the preloaded object first: the one with the symbol
 * version that the object asks for, or that it is linked to, or the only one. NULL: can't be told.
 */
static const struct watch_libcurl *find_libcurl(const struct watch_log *log, const struct watch_call *call,
                                                const struct elf_file *object)
{
	const struct watch_libcurl *only = NULL;
	size_t count = 0;
	for (size_t i = 0; i < log->libcurl_count; i++) {
		const struct watch_libcurl *libcurl = &log->libcurls[i];
		if (libcurl->process_id != call->process_id || strcmp(libcurl->program, call->program) != 0)
			continue;
		if (is_called(libcurl, call, object))
			return libcurl;
		only = libcurl;
		count++;
	}
	return count == 1 && !call->libcurl[0] ? only : NULL;
}

static bool describe_libcurl(const struct watch_log *log, const struct watch_call *call, struct check_use *use)
{
	struct elf_file object;
	elf_file_read_part(call->object, ELF_PART_SYMBOLS, &object);
	const struct watch_libcurl *libcurl = find_libcurl(log, call, &object);
	elf_file_free(&object);
	return !libcurl || check_describe_libcurl(libcurl->node, libcurl->path, libcurl->path, use);
}

static enum check_role role_of(const struct watch_call *call, const struct check_report *report)
{
	if (report->chain_count && !is_same_file(call->program, report->chain[report->chain_count - 1]))
		return CHECK_ROLE_HELPER;
	if (strcmp(call->object, call->program) == 0)
		return CHECK_ROLE_PROGRAM;
	return call->is_from_start ? CHECK_ROLE_LIBRARY : CHECK_ROLE_PLUGIN;
}

static bool has_data(const struct watch_log *log, const struct watch_call *call)
{
	for (size_t i = 0; i < log->call_count; i++)
		if (log->calls[i].is_data && strcmp(log->calls[i].object, call->object) == 0)
			return true;
	return false;
}

/*
 * Whether the policy keeps tenacurl out of the program, or the user from everything, which only the prediction knows. A
 * script can start a program both switched off and not: then it is the process's word that counts.
 */
static bool is_predicted_off(const struct watch_call *call, const struct prediction *prediction)
{
	size_t off = 0, others = 0;
	for (size_t i = 0; i < prediction->use_count; i++) {
		if (!is_same_file(prediction->uses[i].program, call->program))
			continue;
		off += prediction->uses[i].reason == CHECK_REASON_OFF;
		others += prediction->uses[i].reason != CHECK_REASON_OFF;
	}
	return off && !others;
}

/* What keeps tenacurl out of all of the process, NONE: nothing. */
static enum check_reason reason_of_process(const struct watch_log *log, const struct watch_call *call,
                                           const struct prediction *prediction, const struct check_report *report)
{
	const struct watch_process *process = watch_log_process(log, call->process_id, call->program);
	bool has_tenacurl = process && process->has_tenacurl;
	bool is_first = role_of(call, report) != CHECK_ROLE_HELPER;
	if (prediction->reason == CHECK_REASON_OFF && (is_first || !has_tenacurl))
		return CHECK_REASON_OFF;
	if ((process && process->is_switched_off) || is_predicted_off(call, prediction))
		return CHECK_REASON_OFF;
	return has_tenacurl ? CHECK_REASON_NONE : CHECK_REASON_ENVIRONMENT;
}

/* Why an easy call went to a libcurl directly. */
static enum check_reason reason_of(const struct watch_log *log, const struct watch_call *call,
                                   const struct check_report *report)
{
	if (strcmp(call->libcurl, call->program) == 0)
		return CHECK_REASON_BUNDLED;
	if (call->is_data || (report->binder && has_data(log, call)))
		return CHECK_REASON_DEEPBIND_DATA;
	if (report->binder)
		return CHECK_REASON_NO_BINDER;
	return call->is_by_dlsym ? CHECK_REASON_DLSYM : CHECK_REASON_DEEPBIND;
}

static void bind_use(const struct watch_log *log, const struct watch_call *call, const struct check_report *report,
                     struct check_use *use)
{
	bool is_first = !(use->interface & CHECK_EASY);
	use->interface |= CHECK_EASY;
	switch (call->target) {
	case WATCH_TARGET_UNKNOWN: /* in its data, and the process ended otherwise than by exit */
	case WATCH_TARGET_PRELOAD:
		if (is_first)
			use->binding = CHECK_BINDING_PRELOAD;
		break;
	case WATCH_TARGET_BINDER:
		if (is_first)
			use->binding = CHECK_BINDING_BINDER;
		break;
	case WATCH_TARGET_LIBCURL: /* one way past tenacurl counts more than one through it */
		use->binding = CHECK_BINDING_NONE;
		if (use->reason == CHECK_REASON_NONE)
			use->reason = reason_of(log, call, report);
		break;
	}
}

static bool is_of_process(enum check_reason reason)
{
	return reason == CHECK_REASON_OFF || reason == CHECK_REASON_ENVIRONMENT;
}

/* The same program in a process that tenacurl gets into, and in one that it doesn't: those are two uses. */
static struct check_use *find_use(const struct check_report *report, const struct watch_call *call,
                                  const struct check_use *described)
{
	const char *libcurl = described->libcurl;
	for (size_t i = 0; i < report->use_count; i++) {
		struct check_use *use = &report->uses[i];
		bool same_libcurl =
		    libcurl && use->libcurl ? strcmp(libcurl, use->libcurl) == 0 : libcurl == use->libcurl;
		bool same_process = (is_of_process(use->reason) ? use->reason : CHECK_REASON_NONE) == described->reason;
		if (strcmp(use->program, call->program) == 0 && strcmp(use->object, call->object) == 0 &&
		    same_libcurl && same_process)
			return use;
	}
	return NULL;
}

static struct check_use *add_use(const struct watch_call *call, const struct check_use *described,
                                 struct check_report *report)
{
	struct check_use *use = check_add_use(report);
	if (!use)
		return NULL;
	*use = *described;
	use->program = strdup(call->program);
	use->object = strdup(call->object);
	use->role = role_of(call, report);
	return use->program && use->object ? use : NULL;
}

static bool report_call(const struct watch_log *log, const struct watch_call *call, const struct prediction *prediction,
                        struct check_report *report)
{
	struct check_use described = {0};
	if (!describe_libcurl(log, call, &described))
		return false;
	if (!call->is_multi)
		described.reason = reason_of_process(log, call, prediction, report);
	struct check_use *use = find_use(report, call, &described);
	if (use)
		free(described.libcurl);
	else
		use = add_use(call, &described, report);
	if (!use)
		return false;
	if (call->is_multi)
		use->interface |= CHECK_MULTI;
	else
		bind_use(log, call, report, use);
	return true;
}

/*
 * A libcurl that is built into its user is called without anybody seeing it, and no program is watched that the
 * variables don't get to: there the prediction stands.
 */
static bool is_never_seen(enum check_reason reason)
{
	switch (reason) {
	case CHECK_REASON_BUNDLED:
	case CHECK_REASON_STATIC:
	case CHECK_REASON_CLASS:
	case CHECK_REASON_MUSL:
	case CHECK_REASON_SETUID:
	case CHECK_REASON_SETGID:
	case CHECK_REASON_CAPABILITIES:
	case CHECK_REASON_ENVIRONMENT:
	case CHECK_REASON_CHROOT:
		return true;
	default:
		return false;
	}
}

static bool keep_unseen(struct prediction *prediction, struct check_report *report)
{
	size_t seen_count = report->use_count;
	for (size_t i = 0; i < prediction->use_count; i++) {
		struct check_use *predicted = &prediction->uses[i];
		bool is_bundled = predicted->reason == CHECK_REASON_BUNDLED;
		bool is_seen = !is_never_seen(predicted->reason);
		for (size_t j = 0; !is_seen && j < seen_count; j++)
			is_seen = (is_bundled || report->uses[j].reason == predicted->reason) &&
			          is_same_file(report->uses[j].object, predicted->object);
		struct check_use *kept = is_seen ? NULL : check_add_use(report);
		if (!is_seen && !kept)
			return false;
		if (kept) {
			*kept = *predicted;
			*predicted = (struct check_use){0};
		}
	}
	return true;
}

bool check_report_watched(const struct watch_log *log, struct check_report *report)
{
	struct prediction prediction = {report->uses, report->use_count, report->reason};
	bool complete = true;
	report->uses = NULL;
	report->use_count = 0;
	report->observed = true;
	for (size_t i = 0; complete && i < log->call_count; i++)
		complete = report_call(log, &log->calls[i], &prediction, report);
	complete = complete && keep_unseen(&prediction, report);
	check_uses_free(prediction.uses, prediction.use_count);
	if (report->use_count) {
		report->reason = CHECK_REASON_NONE;
		free(report->detail);
		report->detail = NULL;
	} else if (report->reason == CHECK_REASON_NONE) {
		report->reason = CHECK_REASON_NO_LIBCURL;
	}
	return complete;
}
