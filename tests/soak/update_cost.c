/* SPDX-License-Identifier: MIT */

/*
 * What it costs to tell the shared state that an operation succeeded, by one process and by two at once on processors
 * of their own. Prints JSON: nanoseconds for each update of each writer, the median of ROUNDS rounds.
 *
 *     update_cost DIRECTORY [UPDATES]
 *
 * With UPDATES it makes that many as the only writer and prints nothing: to count system calls.
 */

#include <errno.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "state/count.h"
#include "state/state.h"

enum { ROUNDS = 15, UPDATES = 200000, WRITERS_MAX = 2 };

#define ORIGIN  "https://origin.example:443"
#define SECTION "policy"

struct shared {
	_Atomic int ready;
	double ns[WRITERS_MAX];
};

static double now_ns(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e9 + (double)now.tv_nsec;
}

static struct state_entry *open_entry(const char *directory, struct state *state)
{
	struct state_request request = {.directory = directory};
	struct state_outcome outcome;
	state_open(&request, state, &outcome);
	if (outcome.shared)
		return state_find_entry(state, ORIGIN, SECTION);
	fprintf(stderr, "update_cost: %s: %s\n", state_trouble_text(outcome.trouble), strerror(outcome.os_errno));
	exit(1);
}

static void update(struct state_entry *entry, int64_t updates)
{
	for (int64_t i = 0; i < updates; i++) {
		state_touch_entry(entry, i);
		state_count_plain_success(entry, i & 15);
	}
}

static void write_on(int writer, int writers, const char *directory, struct shared *shared)
{
	struct state state = {.shared = NULL};
	struct state_entry *entry = open_entry(directory, &state);
	cpu_set_t one;
	CPU_ZERO(&one);
	CPU_SET((size_t)writer, &one);
	sched_setaffinity(0, sizeof(one), &one);
	atomic_fetch_add(&shared->ready, 1);
	while (atomic_load(&shared->ready) < writers)
		sched_yield();
	double start_ns = now_ns();
	update(entry, UPDATES);
	shared->ns[writer] = (now_ns() - start_ns) / UPDATES;
	_exit(0);
}

/* The slowest writer's. */
static double measure(int writers, const char *directory, struct shared *shared)
{
	double slowest = 0;
	atomic_store(&shared->ready, 0);
	for (int writer = 0; writer < writers; writer++)
		if (fork() == 0)
			write_on(writer, writers, directory, shared);
	for (int writer = 0; writer < writers; writer++)
		wait(NULL);
	for (int writer = 0; writer < writers; writer++)
		slowest = shared->ns[writer] > slowest ? shared->ns[writer] : slowest;
	return slowest;
}

static int compare(const void *one, const void *other)
{
	double difference = *(const double *)one - *(const double *)other;
	return (difference > 0) - (difference < 0);
}

static double median(int writers, const char *directory, struct shared *shared)
{
	double ns[ROUNDS];
	for (int round = 0; round < ROUNDS; round++)
		ns[round] = measure(writers, directory, shared);
	qsort(ns, ROUNDS, sizeof(ns[0]), compare);
	return ns[ROUNDS / 2];
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		fputs("usage: update_cost DIRECTORY [UPDATES]\n", stderr);
		return 2;
	}
	if (argc > 2) {
		struct state state = {.shared = NULL};
		update(open_entry(argv[1], &state), strtoll(argv[2], NULL, 10));
		return 0;
	}
	struct shared *shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (shared == MAP_FAILED)
		return 1;
	double alone = median(1, argv[1], shared);
	printf("{\"one_writer_ns\": %.1f, \"two_writers_ns\": %.1f}\n", alone, median(2, argv[1], shared));
	return 0;
}
