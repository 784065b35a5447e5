/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/base_name.h"
#include "base/hash.h"
#include "base/proc.h"
#include "interpose/host/dice.h"
#include "interpose/host/process.h"
#include "interpose/nesting/family.h"
#include "state/text.h"

#define COMMAND_BYTES 512
#define MS_PER_S      1000
#define NANOS_PER_MS  1000000

uint64_t family_process(void)
{
	/* A child of a fork has its parent's random number, but not its pid. */
	static _Atomic uint64_t random_number;
	uint64_t seen = atomic_load_explicit(&random_number, memory_order_relaxed), fresh;
	if (seen == 0) {
		fresh = dice_number();
		if (atomic_compare_exchange_strong(&random_number, &seen, fresh))
			seen = fresh;
	}
	return hash_number(seen, (uint64_t)process_pid());
}

uint64_t family_thread(void)
{
	return hash_number(family_process(), (uint64_t)syscall(SYS_gettid));
}

static int64_t time_ms(clockid_t clock)
{
	struct timespec now;
	if (clock_gettime(clock, &now) != 0)
		return 0;
	return (int64_t)now.tv_sec * MS_PER_S + now.tv_nsec / NANOS_PER_MS;
}

/* The kernel tells the tick in which the process was made, on a clock that goes on while the host sleeps. */
static int64_t start_ms_of(const struct proc_stat *stat)
{
	int64_t ticks_per_s = (int64_t)getauxval(AT_CLKTCK);
	if (ticks_per_s == 0)
		return INT64_MIN;
	int64_t next_tick = (int64_t)stat->start_ticks + 1;
	return next_tick * MS_PER_S / ticks_per_s - (time_ms(CLOCK_BOOTTIME) - time_ms(CLOCK_MONOTONIC));
}

/* 0: not known. */
static uint64_t hash_command(int64_t process)
{
	char path[40], words[COMMAND_BYTES];
	snprintf(path, sizeof(path), "/proc/%lld/cmdline", (long long)process);
	ssize_t count_bytes = proc_read(path, words, sizeof(words));
	return count_bytes > 0 ? hash_bytes(HASH_BASIS, words, (size_t)count_bytes) : 0;
}

/* Up to one that isn't known. */
static int find_ancestors(struct family_ancestor ancestors[FAMILY_ANCESTORS])
{
	struct proc_stat stat;
	struct family_ancestor ancestor = {.pid = process_pid(), .way = HASH_BASIS};
	int count = 0;
	while (count < FAMILY_ANCESTORS && proc_find(ancestor.pid, &stat) && stat.parent > 0) {
		if (count > 0) {
			uint64_t command = hash_command(ancestor.pid);
			if (command == 0)
				break;
			ancestor.way = hash_number(ancestor.way, command);
		}
		ancestor.pid = stat.parent;
		ancestor.started_ms = start_ms_of(&stat);
		ancestors[count++] = ancestor;
	}
	return count;
}

/* What was found, for the process and the parent that it was found for. */
static _Atomic uint64_t known_for;
static _Atomic int known_count;
static struct {
	_Atomic int64_t pid, started_ms;
	_Atomic uint64_t way;
} known[FAMILY_ANCESTORS];

static void recall(struct family *family)
{
	family->ancestor_count = atomic_load_explicit(&known_count, memory_order_relaxed);
	for (int i = 0; i < family->ancestor_count; i++)
		family->ancestors[i] = (struct family_ancestor){
		    .pid = atomic_load_explicit(&known[i].pid, memory_order_relaxed),
		    .started_ms = atomic_load_explicit(&known[i].started_ms, memory_order_relaxed),
		    .way = atomic_load_explicit(&known[i].way, memory_order_relaxed),
		};
}

static void remember(const struct family *family, uint64_t found_for)
{
	for (int i = 0; i < family->ancestor_count; i++) {
		atomic_store_explicit(&known[i].pid, family->ancestors[i].pid, memory_order_relaxed);
		atomic_store_explicit(&known[i].started_ms, family->ancestors[i].started_ms, memory_order_relaxed);
		atomic_store_explicit(&known[i].way, family->ancestors[i].way, memory_order_relaxed);
	}
	atomic_store_explicit(&known_count, family->ancestor_count, memory_order_relaxed);
	atomic_store_explicit(&known_for, found_for, memory_order_release);
}

void family_find(struct family *family)
{
	int saved_errno = errno;
	family->process = family_process();
	uint64_t found_for = hash_number(family->process, (uint64_t)getppid());
	if (atomic_load_explicit(&known_for, memory_order_acquire) == found_for) {
		recall(family);
	} else {
		family->ancestor_count = find_ancestors(family->ancestors);
		remember(family, found_for);
	}
	errno = saved_errno;
}

/*
 * "bash" of "/usr/bin/bash", as the kernel knows it: the words may be anything, and of an interpreter's the script's
 * name would be better, and isn't worth a search. "?" where it can't be seen.
 */
static void find_name(int64_t process, struct family_parent *found)
{
	char link[40], path[COMMAND_BYTES];
	snprintf(link, sizeof(link), "/proc/%lld/exe", (long long)process);
	ssize_t bytes = readlink(link, path, sizeof(path) - 1);
	path[bytes > 0 ? bytes : 0] = '\0';
	const char *name = bytes > 0 && path[0] == '/' ? base_name(path) : "?";
	state_copy_text(found->name, sizeof(found->name), name);
	state_clean_text(found->name, sizeof(found->name));
}

void family_find_parent(int64_t parent, struct family_parent *found)
{
	int saved_errno = errno;
	*found = (struct family_parent){.hash = hash_command(parent)};
	if (found->hash != 0)
		find_name(parent, found);
	errno = saved_errno;
}
