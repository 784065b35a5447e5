/* SPDX-License-Identifier: MIT */

/*
 * Loading happens once, at the first transfer, under one mutex. A handler holds that mutex across fork, so that no
 * child is born in the middle of a load. What the handler misses (_Fork, raw clone) is seen by the process generation:
 * a child that finds a load which another process began passes through for good.
 *
 * The policy in force is an atomic pointer to something immutable. A newer one replaces it; the old one is never freed,
 * since an operation in some thread may still go by it. Policies change rarely, and one is a few kilobytes.
 */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/find.h"
#include "config/load.h"
#include "interpose/clock.h"
#include "interpose/ini.h"
#include "interpose/journal.h"
#include "interpose/large_stack.h"
#include "interpose/policy_source.h"
#include "interpose/process.h"
#include "interpose/tsan.h"

#define KILL_SWITCH     "/run/tenacurl/off"
#define LOOK_EVERY_MS   1000
#define POLICY_PATH_MAX 4096
#define LOCK_LIMIT_S    2 /* a load takes a millisecond */

enum source_state { SOURCE_UNTOUCHED, SOURCE_LOADING, SOURCE_READY };

/* By which a changed file is recognised. */
struct file_identity {
	dev_t device;
	ino_t inode;
	off_t size_bytes;
	struct timespec changed;
};

static _Atomic int state;
static _Atomic uint32_t loading_generation;
static _Atomic(const struct policy *) current; /* NULL: stay out */
static _Atomic bool is_killed;
static _Atomic int64_t next_look_ms;

/* Guards loading and what only loading touches. */
static pthread_mutex_t load_mutex = PTHREAD_MUTEX_INITIALIZER;
static _Atomic uintptr_t forking_thread; /* who holds it across a fork */
static pthread_once_t atfork_once = PTHREAD_ONCE_INIT;
static char loaded_path[POLICY_PATH_MAX]; /* "": no file */
static struct file_identity loaded_identity;
static char found_path[POLICY_PATH_MAX];   /* while a changed file is looked for */
static const struct policy *loaded_policy; /* what the load at hand came to */

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
	pthread_mutex_init(&load_mutex, NULL);
}

/* What pthread_atfork is in glibc; weak, since musl lacks it and a musl program that inherits the preload must still
 * start. */
extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object)
    __attribute__((weak));
extern void *__dso_handle __attribute__((visibility("hidden")));

static void register_atfork(void)
{
	if (__register_atfork)
		__register_atfork(before_fork, after_fork_in_parent, after_fork_in_child, __dso_handle);
}

static void publish(const struct policy *policy)
{
	tsan_release(&current);
	atomic_store_explicit(&current, policy, memory_order_release);
}

static const struct policy *in_force(void)
{
	const struct policy *policy = atomic_load_explicit(&current, memory_order_acquire);
	tsan_acquire(&current);
	return policy;
}

static void identify_file(const char *path, struct file_identity *identity)
{
	struct stat status;
	memset(identity, 0, sizeof(*identity));
	if (!path[0] || stat(path, &status) != 0)
		return;
	identity->device = status.st_dev;
	identity->inode = status.st_ino;
	identity->size_bytes = status.st_size;
	identity->changed = status.st_ctim;
}

static bool is_same_file(const struct file_identity *a, const struct file_identity *b)
{
	return a->device == b->device && a->inode == b->inode && a->size_bytes == b->size_bytes &&
	       a->changed.tv_sec == b->changed.tv_sec && a->changed.tv_nsec == b->changed.tv_nsec;
}

/* Returns whether the places could be searched; the path is "" where no file was found. */
static bool find_path(char path[static POLICY_PATH_MAX])
{
	const struct process_environment *environment = process_environment();
	const struct policy_places places = {
	    .environment = environment->policy,
	    .home = environment->home,
	    .is_root = geteuid() == 0,
	};
	enum policy_found how;
	path[0] = '\0';
	return policy_find(&places, path, POLICY_PATH_MAX, &how) || how == POLICY_FOUND_BUILT_IN;
}

static const struct policy *load_file(const char *path, const struct policy_overrides *overrides,
                                      struct policy_error *error)
{
	const struct policy *policy = NULL;
	if (policy_load_with(path, ini_functions(), overrides, NULL, NULL, &policy, error) != POLICY_LOADED)
		policy = NULL;
	return policy;
}

static const struct policy *override_builtin(const struct policy_overrides *overrides, struct policy_error *error)
{
	if (!overrides->mode && !overrides->log)
		return policy_builtin();
	struct policy *policy = policy_copy(policy_builtin());
	if (!policy) {
		snprintf(error->text, sizeof(error->text), "no memory for the policy");
		return NULL;
	}
	if ((overrides->mode && !policy_override(policy, "mode", overrides->mode, error)) ||
	    (overrides->log && !policy_override(policy, "log", overrides->log, error)) ||
	    !policy_check(policy, error)) {
		policy_free(policy);
		return NULL;
	}
	return policy;
}

/* Finds and loads what should be in force now. loaded_policy is NULL, with a word to syslog why, if that is nothing. */
static void load_here(void)
{
	const struct process_environment *environment = process_environment();
	const struct policy_overrides overrides = {
	    .mode = environment->mode[0] ? environment->mode : NULL,
	    .log = environment->log[0] ? environment->log : NULL,
	};
	struct policy_error error = {.text = "no place for a policy file has a usable path"};
	const struct policy *policy = NULL;

	if (find_path(loaded_path)) {
		identify_file(loaded_path, &loaded_identity);
		policy =
		    loaded_path[0] ? load_file(loaded_path, &overrides, &error) : override_builtin(&overrides, &error);
	}
	if (!policy)
		journal_complain(error.text);
	loaded_policy = policy;
}

static const struct policy *load(void)
{
	static const char no_stack[] = "no memory for a stack that a policy could be loaded on";
	loaded_policy = NULL;
	if (!large_stack_call(load_here))
		journal_complain(no_stack);
	return loaded_policy;
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
			publish(load());
			atomic_store(&is_killed, access(KILL_SWITCH, F_OK) == 0);
			atomic_store(&next_look_ms, clock_ms() + LOOK_EVERY_MS);
		}
		atomic_store(&state, SOURCE_READY);
		pthread_mutex_unlock(&load_mutex);
	}

	pthread_setcancelstate(cancel_state, &cancel_state);
	errno = saved_errno;
}

/* Loads again if another file is found now, or the file has changed. A newer one that can't be loaded changes nothing.
 */
static void reload_if_changed(void)
{
	struct file_identity identity;
	if (!find_path(found_path))
		return;
	identify_file(found_path, &identity);
	if (strcmp(found_path, loaded_path) == 0 && is_same_file(&identity, &loaded_identity))
		return;
	const struct policy *newer = load();
	if (newer)
		publish(newer);
}

static void look_again(int64_t now_ms)
{
	int cancel_state, saved_errno = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	atomic_store_explicit(&next_look_ms, now_ms + LOOK_EVERY_MS, memory_order_relaxed);
	atomic_store_explicit(&is_killed, access(KILL_SWITCH, F_OK) == 0, memory_order_relaxed);
	/* Whoever holds the mutex is looking already. */
	if (!process_is_raw_child() && pthread_mutex_trylock(&load_mutex) == 0) {
		reload_if_changed();
		pthread_mutex_unlock(&load_mutex);
	}
	pthread_setcancelstate(cancel_state, &cancel_state);
	errno = saved_errno;
}

const struct policy *policy_source_get(int64_t now_ms)
{
	if (process_environment()->disabled)
		return NULL;
	int seen = atomic_load_explicit(&state, memory_order_acquire);
	if (seen != SOURCE_READY) {
		if (process_is_raw_child() ||
		    (seen == SOURCE_LOADING && atomic_load(&loading_generation) != process_generation()))
			return NULL;
		load_first();
	} else if (now_ms >= atomic_load_explicit(&next_look_ms, memory_order_relaxed)) {
		look_again(now_ms);
	}
	if (atomic_load_explicit(&is_killed, memory_order_relaxed))
		return NULL;
	return in_force();
}

bool policy_source_is_switched_off(const struct policy *policy, const struct policy_section *section)
{
	look_again(clock_ms());
	if (atomic_load_explicit(&is_killed, memory_order_relaxed))
		return true;
	const struct policy *now = in_force();
	if (now == policy)
		return false;
	/* A newer policy decides over later operations; for this one it only counts whether it was switched off. */
	for (size_t i = 0; now && i < now->section_count; i++)
		if (strcmp(now->sections[i].name, section->name) == 0)
			return now->sections[i].rules.mode == POLICY_MODE_OFF;
	return !now || now->sections[0].rules.mode == POLICY_MODE_OFF;
}
