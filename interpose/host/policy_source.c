/* SPDX-License-Identifier: MIT */

/*
 * Loading happens once, at the first transfer, under one mutex. A handler holds that mutex across fork, so that no
 * child is born in the middle of a load. What the handler misses (_Fork, raw clone) is seen by the process generation:
 * a child that finds a load which another process began passes through for good.
 *
 * Where a policy is looked for is settled by the environment and the user at that moment, and what is in force is
 * replaced by another good policy only. That a file can't be looked at, can't be used, or isn't there is no
 * instruction: files are moved away and written anew, processes change their root and their user. Only a file that was
 * in force, has been absent for long from the root that it was found in, and whose absence could be told, makes way for
 * the next place. Before any policy was in force, trouble keeps us out; it is looked at again all the same.
 */

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/hash.h"
#include "config/check.h"
#include "config/complaint.h"
#include "config/find.h"
#include "config/kill_switch.h"
#include "config/load.h"
#include "interpose/host/policy_place.h"
#include "interpose/host/policy_source.h"
#include "interpose/host/process.h"
#include "interpose/host/section.h"
#include "interpose/host/tell.h"

#define LOOK_EVERY_MS 1000
#define LOCK_LIMIT_S  2 /* a load takes a millisecond */
#define ABSENCE_MS    60000
#define PLACES_MAX    2

enum source_state { SOURCE_UNTOUCHED, SOURCE_LOADING, SOURCE_READY };

static _Atomic int state;
static _Atomic uint32_t loading_generation;
static _Atomic bool is_killed;
static _Atomic int64_t next_look_ms;

/* Guards loading and what only loading touches. */
static pthread_mutex_t load_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uintptr_t forking_thread; /* who holds it across a fork */
static pthread_once_t atfork_once = PTHREAD_ONCE_INIT;

#define NOTHING_IN_FORCE (-1)

static struct policy_place places[PLACES_MAX];
static int place_count;
static int in_force = NOTHING_IN_FORCE; /* a place's index; place_count: what is built in */
static struct stat first_root;          /* "/", when the places were settled */
static struct policy_overrides overrides;
static struct policy_error error;
static uint64_t told_of_environment; /* a hash of what was said last */

/* Takes the mutex, but not at any price: a load takes a millisecond, and in a child its holder may be no more. */
static bool lock_or_give_way(void)
{
	struct timespec limit;
	clock_gettime(CLOCK_REALTIME, &limit);
	limit.tv_sec += LOCK_LIMIT_S;
	return pthread_mutex_timedlock(&load_mutex, &limit) == 0;
}

static void before_fork(void)
{
	if (lock_or_give_way())
		forking_thread = process_thread_id();
}

static void after_fork_in_parent(void)
{
	if (forking_thread != process_thread_id())
		return;
	forking_thread = 0;
	pthread_mutex_unlock(&load_mutex);
}

static void after_fork_in_child(void)
{
	/* A load was going on that will never end here: pass through for good. */
	if (forking_thread != process_thread_id())
		return;
	forking_thread = 0;
	/* We held the mutex, so whoever says that it is loading was only waiting for it. */
	int loading = SOURCE_LOADING;
	atomic_compare_exchange_strong(&state, &loading, SOURCE_UNTOUCHED);
	load_mutex = (pthread_mutex_t)PTHREAD_MUTEX_INITIALIZER;
}

/* What pthread_atfork is in glibc; weak, since musl lacks it and a musl program that inherits the preload must still
 * start. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object)
    __attribute__((weak));

static void register_atfork(void)
{
	if (__register_atfork)
		__register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, NULL);
}

/* Which places count is settled once: a process that changes its user or directory later goes by the same. */

static void make_absolute(struct policy_place *place)
{
	char *directory = place->path[0] != '/' ? getcwd(NULL, 0) : NULL;
	size_t directory_bytes = directory ? strlen(directory) : 0, path_bytes = strlen(place->path);
	if (directory && directory_bytes + 1 + path_bytes < sizeof(place->path)) {
		memmove(place->path + directory_bytes + 1, place->path, path_bytes + 1);
		memcpy(place->path, directory, directory_bytes);
		place->path[directory_bytes] = '/';
	}
	free(directory);
}

static void settle_places(void)
{
	const struct process_environment *environment = process_environment();
	const struct policy_places search = {
	    .environment = environment->policy,
	    .home = environment->home,
	    .is_root = geteuid() == 0,
	};
	enum policy_found how = POLICY_FOUND_BUILT_IN;
	while (place_count < PLACES_MAX &&
	       policy_place_at(&search, (size_t)place_count, places[place_count].path, POLICY_PATH_MAX, &how)) {
		places[place_count].is_named = policy_found_by_name(how);
		make_absolute(&places[place_count++]);
	}
	overrides.mode = environment->mode[0] ? environment->mode : NULL;
	overrides.log = environment->log[0] ? environment->log : NULL;
	if (stat("/", &first_root) != 0)
		memset(&first_root, 0, sizeof(first_root));
}

/* Whether "/" is what it was: in another one nothing says anything about our files. */
static bool is_in_first_root(void)
{
	struct stat root;
	return stat("/", &root) == 0 && root.st_dev == first_root.st_dev && root.st_ino == first_root.st_ino;
}

/* Says it to the log of the policy in force, or without one as all complaints. Returns whether it got there. */
static bool tell(const char *text)
{
	struct policy_hold hold;
	policy_slots_hold(&hold);
	if (!hold.policy)
		return tell_complaint(text);
	bool told = tell_log(&hold.policy->sections[0].rules, text);
	policy_slots_release(&hold);
	return told;
}

/* Says what is in `error`, if it is anything new, and what comes of it. */
static void tell_once(uint64_t *told)
{
	static char text[sizeof(error.text) + 64];
	if (!error.text[0] || hash_text(HASH_BASIS, error.text) == *told)
		return;
	snprintf(text, sizeof(text), "%s; %s", error.text,
	         in_force == NOTHING_IN_FORCE ? "tenacurl stays out" : "the policy that was loaded stays in force");
	tell(text);
	*told = hash_text(HASH_BASIS, error.text);
}

static void put_in_force(int index, const struct policy *policy)
{
	in_force = index;
	policy_slots_publish(policy);
	if (index < place_count)
		places[index].told = 0;
}

static const struct policy *make_builtin(void)
{
	if (!overrides.mode && !overrides.log)
		return policy_builtin();
	struct policy *policy = policy_copy(policy_builtin());
	if (!policy) {
		snprintf(error.text, sizeof(error.text), "no memory for the policy");
		return NULL;
	}
	if ((overrides.mode && !policy_override(policy, "mode", overrides.mode, &error)) ||
	    (overrides.log && !policy_override(policy, "log", overrides.log, &error)) ||
	    !policy_check(policy, &error)) {
		policy_free(policy);
		return NULL;
	}
	return policy;
}

static enum place_sight look_at(int index, bool is_first, int64_t now_ms, const struct policy **policy)
{
	const struct policy *now = policy_slots_peek();
	const struct place_look look = {
	    .now_ms = now_ms,
	    .is_first = is_first,
	    .known_hash = now ? now->hash : NULL,
	    .overrides = &overrides,
	};
	return policy_place_look(&places[index], &look, policy, &error);
}

/*
 * A file that was there and is gone: whether that is an instruction. Not of a file that somebody named, nor in another
 * root; else once it has lasted, and was told, in which case the place counts as one without a file.
 */
static bool has_made_way(struct policy_place *place, int64_t now_ms)
{
	const struct complaint_place where = {.path = place->path};
	bool may_end = !place->is_named && is_in_first_root();
	if (place->absent_since_ms == 0)
		place->absent_since_ms = now_ms;
	complain(&error, &where, "isn't there any more; %s%s",
	         in_force == NOTHING_IN_FORCE ? "tenacurl stays out" : "what it said stays in force",
	         may_end ? " for a minute" : "");
	uint64_t hash = hash_text(HASH_BASIS, error.text);
	if (place->told != hash && tell(error.text))
		place->told = hash;
	if (!may_end || place->told != hash || now_ms - place->absent_since_ms < ABSENCE_MS)
		return false;
	place->content = PLACE_EMPTY;
	return true;
}

/* Whether it is known that there is no file at a place that was not looked at, or seemed to have none. */
static bool is_passed_over(struct policy_place *place, enum place_sight sight, int64_t now_ms)
{
	if (place->is_named || (sight != PLACE_SKIPPED && sight != PLACE_ABSENT))
		return false;
	return place->content == PLACE_EMPTY || (sight == PLACE_ABSENT && has_made_way(place, now_ms));
}

/*
 * Puts in force what the places from `index` on come to. The first one that has, or may have, a file decides; if that
 * can't be used, what is in force stays: nothing, at first.
 */
static void take_first(int index, bool is_first, int64_t now_ms)
{
	const struct policy *policy = NULL;
	for (; index < place_count; index++) {
		enum place_sight sight = look_at(index, is_first, now_ms, &policy);
		if (sight == PLACE_LOADED)
			put_in_force(index, policy);
		else if (sight == PLACE_TROUBLE)
			tell_once(&places[index].told);
		if (!is_passed_over(&places[index], sight, now_ms))
			return;
	}
	policy = make_builtin();
	if (policy)
		put_in_force(place_count, policy);
	else
		tell_once(&told_of_environment);
}

/* Looks for a newer policy where the one in force came from, and at the places before that. */
static void look_for_newer(int64_t now_ms)
{
	const struct policy *policy = NULL;
	for (int index = 0; index < place_count && index <= in_force; index++) {
		struct policy_place *place = &places[index];
		switch (look_at(index, false, now_ms, &policy)) {
		case PLACE_LOADED:
			put_in_force(index, policy);
			return;
		case PLACE_KNOWN:
			in_force = index;
			return;
		case PLACE_TROUBLE:
			tell_once(&place->told);
			break;
		case PLACE_ABSENT:
			if (index == in_force && has_made_way(place, now_ms))
				take_first(index + 1, false, now_ms);
			break;
		case PLACE_SAME:
		case PLACE_SKIPPED:
			break;
		}
	}
}

static void look(int64_t now_ms)
{
	if (in_force == NOTHING_IN_FORCE)
		take_first(0, false, now_ms);
	else
		look_for_newer(now_ms);
	policy_slots_sweep();
}

/* The kill switch. */

/* Apart, since it is rare. */
static __attribute__((noinline)) void tell_of_switch(void)
{
	static struct policy_error switch_error;
	static _Atomic bool is_told;
	if (atomic_exchange(&is_told, true))
		return;
	kill_switch_look(&switch_error);
	if (switch_error.text[0])
		tell(switch_error.text);
}

static void look_at_switch(void)
{
	enum kill_switch seen = kill_switch_look(NULL);
	/* A switch that was set isn't undone by a change of root. */
	if (seen == KILL_SWITCH_OPEN && atomic_load_explicit(&is_killed, memory_order_relaxed) && !is_in_first_root())
		return;
	atomic_store_explicit(&is_killed, seen == KILL_SWITCH_SET || seen == KILL_SWITCH_UNKNOWN, memory_order_relaxed);
	if (seen == KILL_SWITCH_FOREIGN || seen == KILL_SWITCH_UNKNOWN)
		tell_of_switch();
}

static void load_first(void)
{
	/* A thread that is cancelled in the middle would leave the mutex locked. */
	int cancel_state, saved_errno = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	pthread_once(&atfork_once, register_atfork);
	atomic_store(&loading_generation, process_generation());
	atomic_store(&state, SOURCE_LOADING);

	if (lock_or_give_way()) {
		if (atomic_load(&next_look_ms) == 0) {
			/* Here, where the mutex guards them: a child made by _Fork could wait for them for ever. */
			process_names();
			process_deadline_ms();
			settle_places();
			look_at_switch();
			take_first(0, true, clock_ms());
			atomic_store(&next_look_ms, clock_ms() + LOOK_EVERY_MS);
		}
		atomic_store(&state, SOURCE_READY);
		pthread_mutex_unlock(&load_mutex);
	}

	pthread_setcancelstate(cancel_state, &cancel_state);
	errno = saved_errno;
}

static void look_again(int64_t now_ms)
{
	int cancel_state, saved_errno = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	atomic_store_explicit(&next_look_ms, now_ms + LOOK_EVERY_MS, memory_order_relaxed);
	look_at_switch();
	/* Whoever holds the mutex is looking already. */
	if (!process_is_raw_child() && pthread_mutex_trylock(&load_mutex) == 0) {
		look(now_ms);
		pthread_mutex_unlock(&load_mutex);
	}
	pthread_setcancelstate(cancel_state, &cancel_state);
	errno = saved_errno;
}

/* Apart, since it is rare. */
static __attribute__((noinline)) void tell_of_odd_word(void)
{
	static const struct complaint_place where = {.key = "TENACURL_DISABLE"};
	static struct policy_error odd;
	static _Atomic bool is_told;
	if (atomic_exchange(&is_told, true))
		return;
	complain(&odd, &where, "not a known word, so tenacurl is off; known: 1, yes, true, on; 0, no, false, off");
	tell_complaint(odd.text);
}

static bool is_disabled(void)
{
	enum variable_switch disable = process_environment()->disable;
	if (disable == VARIABLE_ON_BY_ODD_WORD)
		tell_of_odd_word();
	return disable != VARIABLE_OFF;
}

bool policy_source_hold(int64_t now_ms, struct policy_hold *hold)
{
	if (is_disabled())
		return false;
	int seen = atomic_load_explicit(&state, memory_order_acquire);
	if (seen != SOURCE_READY) {
		if (process_is_raw_child() ||
		    (seen == SOURCE_LOADING && atomic_load(&loading_generation) != process_generation()))
			return false;
		load_first();
	} else if (now_ms >= atomic_load_explicit(&next_look_ms, memory_order_relaxed)) {
		look_again(now_ms);
	}
	if (atomic_load_explicit(&is_killed, memory_order_relaxed))
		return false;
	policy_slots_hold(hold);
	return hold->policy != NULL;
}

/*
 * What a newer policy says of the request: it decides over later operations, but this one may have been switched off,
 * by whichever section its URL gets now.
 */
static bool is_off(const struct policy *policy, const struct url *url, const struct policy_section *before)
{
	const struct policy_section *now = section_of(policy, url);
	return !now || (now->rules.mode == POLICY_MODE_AUDIT && before->rules.mode != POLICY_MODE_AUDIT);
}

bool policy_source_is_switched_off(const struct url *url, const struct policy *policy,
                                   const struct policy_section *section)
{
	struct policy_hold now;
	look_again(clock_ms());
	if (atomic_load_explicit(&is_killed, memory_order_relaxed))
		return true;
	policy_slots_hold(&now);
	if (!now.policy)
		return true;
	bool off = now.policy != policy && is_off(now.policy, url, section);
	policy_slots_release(&now);
	return off;
}
