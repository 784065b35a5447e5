/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/error_text.h"
#include "config/complaint.h"
#include "config/find.h"
#include "interpose/host/ini.h"
#include "interpose/host/large_stack.h"
#include "interpose/host/policy_place.h"

#define LOOK_SELDOM_MS 10000 /* where there was no file */
#define STILL_MS       250   /* longer than the pauses of what writes a file */

static bool is_passing(int error_number)
{
	return error_number == EMFILE || error_number == ENFILE || error_number == ENOMEM;
}

/* Once it is known it stays so; what can't be read for want of memory or a descriptor isn't known yet. */
static void measure(struct policy_place *place)
{
	char *table = mounts_read();
	if (table)
		place->distance = mounts_find(table, place->path);
	else
		place->distance = MOUNTS_UNKNOWN;
	place->is_measured = table || !is_passing(errno);
	free(table);
}

/* Whether a look at it is answered at once. Without a table of mounts /etc is taken to be where it always is. */
static bool answers_at_once(struct policy_place *place)
{
	if (!place->is_measured)
		measure(place);
	if (place->distance == MOUNTS_UNKNOWN)
		return strncmp(place->path, "/etc/", 5) == 0;
	return place->distance == MOUNTS_LOCAL;
}

static bool is_due(struct policy_place *place, int64_t now_ms)
{
	if (place->content == PLACE_EMPTY && now_ms < place->next_look_ms)
		return false;
	/* What couldn't be read at the process's start, and will be soon, is still to be read. */
	return place->is_pending || answers_at_once(place);
}

static bool is_same_file(const struct file_identity *a, const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

static enum place_sight note_unseen(struct policy_place *place, const struct place_look *look, int error_number,
                                    struct policy_error *error)
{
	const struct complaint_place where = {.path = place->path};
	bool is_absent = policy_is_absent(place->path);
	place->is_settled = false;
	place->is_pending = is_passing(error_number);
	if (!is_absent || place->is_named)
		complain(error, &where, "cannot be opened: %s", error_text(error_number));
	if (!is_absent || place->is_named) {
		place->content = PLACE_FILLED;
	} else if (place->content != PLACE_FILLED) {
		place->content = PLACE_EMPTY;
		place->next_look_ms = look->now_ms + LOOK_SELDOM_MS;
	}
	return is_absent && !(place->is_named && look->is_first) ? PLACE_ABSENT : PLACE_TROUBLE;
}

/* What load_here() is called with, which takes no arguments: it may be on another stack. */
static struct loading {
	const char *path;
	const struct place_look *look;
	const struct policy *policy;
	enum policy_load_result result;
	struct policy_error *error;
} loading;

static void load_here(void)
{
	loading.result = policy_load_changed(loading.path, loading.look->known_hash, ini_functions(),
	                                     loading.look->overrides, &loading.policy, loading.error);
}

static enum policy_load_result load(struct policy_place *place, const struct place_look *look,
                                    const struct policy **policy, struct policy_error *error)
{
	loading = (struct loading){.path = place->path, .look = look, .result = POLICY_UNREADABLE, .error = error};
	if (!large_stack_call(load_here)) {
		const struct complaint_place where = {.path = place->path};
		complain(error, &where, "there is no memory for a stack to read it on");
		error->is_passing = true;
	}
	*policy = loading.policy;
	return loading.result;
}

/* Whether the file has been what it is for a while, by its own time of change or by what was seen of it. */
static bool is_still(const struct policy_place *place, int64_t now_ms)
{
	const struct timespec *changed = &place->identity.changed;
	int64_t changed_ms = (int64_t)changed->tv_sec * 1000 + changed->tv_nsec / 1000000;
	return now_ms - place->seen_since_ms >= STILL_MS || clock_calendar_us() / 1000 - changed_ms >= STILL_MS;
}

/*
 * A file may be half written, and further changes in the same moment don't show in its time of change. So what is to
 * replace a policy must have been still for a while; that it switches us off can only be meant.
 */
static enum place_sight take_result(struct policy_place *place, const struct place_look *look,
                                    enum policy_load_result result, const struct policy **policy)
{
	bool settles = is_still(place, look->now_ms);
	bool is_awaited = look->known_hash && !settles;
	place->is_bad = result == POLICY_INVALID;
	place->is_settled = settles && result != POLICY_ABSENT && result != POLICY_UNREADABLE;
	switch (result) {
	case POLICY_LOADED:
		if (!is_awaited || (*policy)->sections[0].rules.mode == POLICY_MODE_OFF)
			return PLACE_LOADED;
		policy_free(*policy);
		return PLACE_SAME;
	case POLICY_UNCHANGED:
		return PLACE_KNOWN;
	case POLICY_INVALID:
		return is_awaited ? PLACE_SAME : PLACE_TROUBLE;
	case POLICY_ABSENT: /* just now it was there */
	case POLICY_UNREADABLE:
		break;
	}
	return PLACE_TROUBLE;
}

static enum place_sight load_file(struct policy_place *place, const struct place_look *look,
                                  const struct policy **policy, struct policy_error *error)
{
	enum policy_load_result result = load(place, look, policy, error);
	place->is_pending = result == POLICY_ABSENT || (result == POLICY_UNREADABLE && error->is_passing);
	return take_result(place, look, result, policy);
}

enum place_sight policy_place_look(struct policy_place *place, const struct place_look *look,
                                   const struct policy **policy, struct policy_error *error)
{
	struct stat status;
	if (!look->is_first && !is_due(place, look->now_ms))
		return PLACE_SKIPPED;
	if (stat(place->path, &status) != 0)
		return note_unseen(place, look, errno, error);
	place->content = PLACE_FILLED;
	place->absent_since_ms = 0;
	const struct file_identity identity = {
	    .device = status.st_dev, .inode = status.st_ino, .size_bytes = status.st_size, .changed = status.st_ctim};
	if (place->is_settled && is_same_file(&identity, &place->identity)) {
		error->text[0] = '\0'; /* it was told */
		return place->is_bad ? PLACE_TROUBLE : PLACE_SAME;
	}
	if (!is_same_file(&identity, &place->identity))
		place->seen_since_ms = look->now_ms;
	place->identity = identity;
	return load_file(place, look, policy, error);
}
