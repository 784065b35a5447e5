/* SPDX-License-Identifier: MIT */

/*
 * Kills processes in the middle of whatever they do to a shared state, and looks at the state after each kill.
 *
 *     soak DIRECTORY KILLS SEED
 *
 * DIRECTORY is empty. WRITERS processes open the state and do everything that can be done to it, without a pause. Each
 * is killed (SIGKILL) after a random time on a processor, which is at a random instruction, and is replaced by a new
 * one. Besides, one process for every OPENING_EVERY kills is killed while it makes a state in a fresh directory.
 *
 * What must hold after each kill, and is a matter of counts, not of time:
 *
 * - every counter is at least what it was;
 * - of the operations that writers began, all they completed are in the counters, and none that wasn't begun;
 * - an entry's name belongs to its hash; flights, intents and learned things that are read are whole;
 * - no lease lies beyond the limit;
 * - all other writers go on: nobody waits for the dead one.
 *
 * At the end every lease can be had again once its time is over. Prints one line; the exit status is 1 if something
 * didn't hold.
 */

#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/hash.h"
#include "state/count.h"
#include "state/entries.h"
#include "state/flight.h"
#include "state/intent.h"
#include "state/layout.h"
#include "state/learned.h"
#include "state/lease.h"
#include "state/read.h"
#include "state/state.h"
#include "tests/soak/marked.h"

enum {
	WRITERS = 8,
	ORIGINS = STATE_ENTRIES + 40, /* some find no place */
	LIMIT = 5,                    /* of leases at an origin */
	TURN_STEPS = 64,              /* of a writer before it lets others go on */
	LIFE_MIN_MS = 5,              /* of processor time; in less a machine may not get through the opening */
	LIFE_MAX_MS = 10,
	IDLE_LIVES = 10, /* in a row; on a busy machine an opening can take all of one */
	OPENING_EVERY = 10,
	HOLD_MS = 2000,
	KEYS = 64, /* of intents and of learned things */
	KEPT_MS = 3600000,
	PATIENCE_S = 120, /* a writer that doesn't move for so long, on however busy a machine, waits for something */
};

/* What the writers tell the watcher, in memory that isn't part of what is tested. */
struct tally {
	_Atomic uint64_t steps[WRITERS];
	_Atomic uint64_t begun; /* operations, over all writers */
	_Atomic uint64_t completed;
	_Atomic int64_t clock_ms;   /* the writers' logical clock */
	_Atomic uint64_t next_life; /* numbers the processes */
};

/* What the watcher saw last; in shared memory too, only because each fork would make it be copied otherwise. */
struct last_seen {
	struct state_view views[STATE_ENTRIES];
	bool known[STATE_ENTRIES];
};

static struct tally *tally;
static struct last_seen *last_seen;
static struct state_request request;
static struct state watched;
static uint64_t dice;

__attribute__((noreturn, format(printf, 1, 2))) static void fail(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	fputs("soak: ", stderr);
	vfprintf(stderr, format, arguments);
	fputc('\n', stderr);
	va_end(arguments);
	exit(1);
}

static uint64_t roll(uint64_t sides)
{
	dice += UINT64_C(0x9E3779B97F4A7C15);
	return hash_mix(dice) % sides;
}

/* Writers. */

static void origin_of(uint64_t number, char origin[static 32])
{
	snprintf(origin, 32, "http://h%llu.example:80", (unsigned long long)number);
}

static void change_budget(struct state_entry *entry)
{
	_Atomic uint64_t *word = state_budget_word(entry);
	uint64_t seen = atomic_load(word);
	while (!atomic_compare_exchange_weak(word, &seen, seen + 1))
		;
}

static void record_flight(const char *origin, uint64_t number)
{
	struct state_flight flight = {.pid = getpid(), .time_us = (int64_t)number, .elapsed_ms = (int64_t)~number};
	state_flight_text(flight.origin, origin);
	state_flight_text(flight.job, origin);
	state_record_flight(&watched, &flight);
}

static void retry_under_lease(struct state_entry *entry)
{
	struct state_lease lease;
	int64_t now_ms = atomic_fetch_add(&tally->clock_ms, 1);
	if (!state_lease_acquire(entry, LIMIT, now_ms, HOLD_MS, &lease))
		return;
	state_count_retry(entry, (int)roll(5), (int64_t)roll(5000));
	state_lease_release(&lease);
}

static uint64_t key_of(uint64_t number)
{
	return hash_mix(number + 1) | 1;
}

static void keep_and_learn(struct state_entry *entry)
{
	int64_t now_ms = atomic_fetch_add(&tally->clock_ms, 1);
	uint64_t key = key_of(roll(KEYS)), mark = roll(UINT64_MAX);
	struct state_intent intent = marked_intent(key, now_ms + KEPT_MS, mark);
	struct state_learned learned = marked_learned(key, now_ms + KEPT_MS, mark);
	state_intent_keep(&watched, &intent, now_ms);
	state_intents_extend(entry, intent.expires_ms);
	if (roll(16))
		state_learned_keep(&watched, &learned, now_ms);
	else
		state_learned_drop(&watched, key);
}

/* Everything that an operation can do to a state, once. */
static void make_step(uint64_t number)
{
	char origin[32];
	/* They meet at a few origins, and in the end use them all. */
	uint64_t chosen = roll(16) ? roll(4) : roll(ORIGINS);
	origin_of(chosen, origin);
	struct state_entry *entry = state_find_entry(&watched, origin, "policy");
	struct state_operation operation = {.succeeded = roll(3) > 0, .attempts = 1 + (int)roll(3), .elapsed_ms = 5};
	operation.sends = operation.attempts;
	retry_under_lease(entry);
	change_budget(entry);
	/* What the process's own table holds is nobody's business. */
	bool is_shared = (char *)entry >= (char *)watched.shared && (char *)entry < (char *)(watched.shared + 1);
	if (is_shared)
		atomic_fetch_add(&tally->begun, 1);
	state_count_operation(entry, &operation);
	if (is_shared)
		atomic_fetch_add(&tally->completed, 1);
	record_flight(origin, number);
	keep_and_learn(entry);
}

__attribute__((noreturn)) static void write_for_ever(size_t writer)
{
	struct state_outcome outcome;
	memset((void *)&watched, 0, sizeof(watched));
	state_open(&request, &watched, &outcome);
	if (!outcome.shared || outcome.trouble != STATE_NO_TROUBLE)
		fail("a writer: %s: %s", state_trouble_text(outcome.trouble), strerror(outcome.os_errno));
	for (uint64_t number = 0;; number++) {
		make_step(number);
		atomic_fetch_add(&tally->steps[writer], 1);
		/* There are more of us than processors, and the watcher needs one. */
		if (number % TURN_STEPS == 0)
			sched_yield();
	}
}

/*
 * Has this process killed after a random time on a processor. Such a timer runs out while the process runs, at whatever
 * instruction it then is; a killer from outside would find it waiting for a processor nearly always.
 */
static bool await_death(void)
{
	struct sigevent killed = {.sigev_notify = SIGEV_SIGNAL, .sigev_signo = SIGKILL};
	struct itimerspec life = {0};
	timer_t timer;
	life.it_value.tv_nsec = (long)(LIFE_MIN_MS * 1000000 + roll((LIFE_MAX_MS - LIFE_MIN_MS) * 1000000));
	return timer_create(CLOCK_PROCESS_CPUTIME_ID, &killed, &timer) == 0 &&
	       timer_settime(timer, 0, &life, NULL) == 0;
}

static pid_t start_writer(size_t writer)
{
	pid_t parent = getpid(), child = fork();
	if (child < 0)
		fail("can't fork: %s", strerror(errno));
	if (child == 0) {
		dice = atomic_fetch_add(&tally->next_life, 1) << 20;
		if (prctl(PR_SET_PDEATHSIG, SIGKILL) == 0 && getppid() == parent && await_death())
			write_for_ever(writer);
		_exit(0);
	}
	return child;
}

/* The watcher. */

static size_t bury_one(const pid_t children[static WRITERS])
{
	int status;
	pid_t child = wait(&status);
	for (size_t writer = 0; writer < WRITERS; writer++) {
		if (children[writer] != child)
			continue;
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL)
			fail("writer %zu ended by itself", writer);
		return writer;
	}
	fail("no child to wait for");
}

static uint64_t sum_of(const uint64_t *values, size_t count)
{
	uint64_t total = 0;
	for (size_t i = 0; i < count; i++)
		total += values[i];
	return total;
}

/* All words of a view from `operations` on are counters. */
static void check_monotonic(const struct state_view *before, const struct state_view *now, const char *origin)
{
	const size_t first = offsetof(struct state_view, operations) / 8, end = sizeof(struct state_view) / 8;
	uint64_t old[sizeof(struct state_view) / 8], new[sizeof(struct state_view) / 8];
	memcpy(old, before, sizeof(old));
	memcpy(new, now, sizeof(new));
	for (size_t i = first; i < end; i++)
		if (new[i] < old[i])
			fail("%s: counter %zu went from %llu to %llu", origin, i - first, (unsigned long long)old[i],
			     (unsigned long long)new[i]);
}

static void check_name(const struct state_entry *entry, const struct state_view *view)
{
	if (strcmp(view->origin, "?") == 0)
		return;
	struct state_identity identity = state_identify(view->origin, view->section);
	if (atomic_load(&entry->key) != identity.key || atomic_load(&entry->check) != identity.check)
		fail("%s is not the name of its entry", view->origin);
}

/*
 * Each kill can leave one operation in some of its counters only. While writers go on, what is copied later has grown
 * meanwhile.
 */
static void check_sums(const struct state_view *view, uint64_t kills, bool is_quiet)
{
	uint64_t operations = sum_of(view->operations, STATE_RESULTS);
	uint64_t sends = sum_of(view->sends, STATE_COUNT_BUCKETS);
	if (operations > sends + kills + WRITERS || (is_quiet && sends > operations))
		fail("%s: %llu operations, but %llu of their sends", view->origin, (unsigned long long)operations,
		     (unsigned long long)sends);
}

static void check_places(const struct state_entry *entry)
{
	for (size_t slot = LIMIT; slot < STATE_LEASES; slot++)
		if (atomic_load(&entry->leases[slot]) != 0)
			fail("a lease beyond the limit");
}

static void check_flights(const struct state_snapshot *snapshot, bool is_quiet)
{
	static struct state_flight flights[STATE_FLIGHTS];
	size_t count = state_snapshot_flights(snapshot, flights);
	for (size_t i = 0; i < count; i++) {
		if (flights[i].elapsed_ms != ~flights[i].time_us || strcmp(flights[i].job, flights[i].origin) != 0)
			fail("flight %llu is a mixture", (unsigned long long)flights[i].number);
		if (i > 0 && flights[i].number >= flights[i - 1].number)
			fail("flights out of order");
	}
	/* While the copy is made the writers can come round. When it is quiet only what was cut short is missing. */
	if (is_quiet && count < STATE_FLIGHTS / 2)
		fail("only %zu flights", count);
}

static void check_intents(bool is_quiet)
{
	size_t count = 0;
	for (uint64_t number = 0; number < KEYS; number++) {
		struct state_intent found;
		if (!state_intent_find(&watched, key_of(number), atomic_load(&tally->clock_ms), &found))
			continue;
		struct state_intent expected = marked_intent(key_of(number), found.expires_ms, found.id);
		if (memcmp(&found, &expected, sizeof(found)) != 0)
			fail("intent %llu is a mixture", (unsigned long long)number);
		count++;
	}
	if (is_quiet && count < KEYS / 2)
		fail("only %zu intents", count);
}

static void check_learned(const struct state_snapshot *snapshot, bool is_quiet)
{
	static struct state_learned learned[STATE_LEARNED];
	size_t count = state_snapshot_learned(snapshot, atomic_load(&tally->clock_ms), learned);
	for (size_t i = 0; i < count; i++) {
		struct state_learned expected = marked_learned(learned[i].key, learned[i].expires_ms, ~learned[i].kept);
		if (memcmp(&learned[i], &expected, sizeof(expected)) != 0)
			fail("learned thing %zu is a mixture", i);
	}
	if (is_quiet && count < KEYS / 2)
		fail("only %zu learned things", count);
}

static void check_state(uint64_t kills, bool is_quiet)
{
	uint64_t completed = atomic_load(&tally->completed), counted = 0;
	struct state_snapshot *snapshot = state_snapshot_take(&watched);
	uint64_t begun = atomic_load(&tally->begun);
	const struct state_layout *layout = atomic_load(&watched.shared);

	for (size_t i = 0; i < STATE_ENTRIES; i++) {
		struct state_view view;
		bool found = state_snapshot_view(snapshot, i, atomic_load(&tally->clock_ms), &view);
		if (last_seen->known[i] && !found)
			fail("entry %zu is gone", i);
		if (!found)
			continue;
		if (last_seen->known[i])
			check_monotonic(&last_seen->views[i], &view, view.origin);
		check_name(&layout->entries[i], &view);
		check_sums(&view, kills, is_quiet);
		check_places(&layout->entries[i]);
		counted += sum_of(view.operations, STATE_RESULTS);
		last_seen->views[i] = view;
		last_seen->known[i] = true;
	}
	if (counted < completed || counted > begun)
		fail("%llu operations counted; %llu completed, %llu begun", (unsigned long long)counted,
		     (unsigned long long)completed, (unsigned long long)begun);
	check_flights(snapshot, is_quiet);
	check_intents(is_quiet);
	check_learned(snapshot, is_quiet);
	state_snapshot_free(snapshot);
}

/* Everybody's time is over: all places are free, whoever died with them. */
static void check_leases_come_back(void)
{
	int64_t later_ms = atomic_load(&tally->clock_ms) + HOLD_MS + 1000;
	for (uint64_t number = 0; number < 4; number++) {
		char origin[32];
		struct state_lease leases[LIMIT + 1];
		origin_of(number, origin);
		struct state_entry *entry = state_find_entry(&watched, origin, "policy");
		for (size_t i = 0; i < LIMIT; i++)
			if (!state_lease_acquire(entry, LIMIT, later_ms, HOLD_MS, &leases[i]))
				fail("%s: lease %zu is lost", origin, i);
		if (state_lease_acquire(entry, LIMIT, later_ms, HOLD_MS, &leases[LIMIT]))
			fail("%s: one lease too many", origin);
	}
}

static void give_up(int signal_number)
{
	static const char text[] = "soak: a writer waits\n";
	(void)signal_number;
	_exit(write(STDERR_FILENO, text, sizeof(text) - 1) < 0 ? 2 : 1);
}

/*
 * Waits until one has died, and looks at what it left. A writer that waits is noticed either way: asleep it doesn't get
 * to the end of its life, awake it gets there without a step, again and again.
 */
static size_t see_one_die(const pid_t children[static WRITERS], uint64_t deaths, bool is_last)
{
	static uint64_t born_at[WRITERS];
	static int idle_lives[WRITERS];
	alarm(PATIENCE_S);
	size_t writer = bury_one(children);
	alarm(0);
	check_state(deaths, is_last);
	uint64_t steps = atomic_load(&tally->steps[writer]);
	idle_lives[writer] = steps == born_at[writer] ? idle_lives[writer] + 1 : 0;
	if (idle_lives[writer] == IDLE_LIVES)
		fail("writer %zu lived %d times without a step", writer, IDLE_LIVES);
	born_at[writer] = steps;
	return writer;
}

/* Openers: killed while they make the file, or replace one that can't be trusted. */

static void spin(uint64_t rounds)
{
	for (volatile uint64_t i = 0; i < rounds; i++)
		;
}

static pid_t start_opener(const struct state_request *where)
{
	pid_t child = fork();
	if (child < 0)
		fail("can't fork: %s", strerror(errno));
	if (child == 0) {
		struct state state = {.shared = NULL};
		struct state_outcome outcome;
		state_open(where, &state, &outcome);
		_exit(0);
	}
	return child;
}

static void kill_one_opener(const char *directory)
{
	char path[256], file[320];
	struct state_request where = {.directory = path, .boot_id = request.boot_id};
	struct state state = {.shared = NULL};
	struct state_outcome outcome;
	snprintf(path, sizeof(path), "%s/opening", directory);
	snprintf(file, sizeof(file), "%s/state-%d-%s", path, STATE_LAYOUT_VERSION, request.boot_id);
	mkdir(path, 0700);
	if (roll(2))
		symlink("nowhere", file);
	pid_t victim = start_opener(&where), other = start_opener(&where);
	spin(roll(1000000));
	kill(victim, SIGKILL);
	waitpid(victim, NULL, 0);
	waitpid(other, NULL, 0);
	state_open(&where, &state, &outcome);
	if (!outcome.shared)
		fail("after a killed opener: %s", state_trouble_text(outcome.trouble));
	state_close(&state);
	unlink(file);
	/* A lock of one who was killed with it keeps nobody out, and goes after a day (state/file.c). */
	snprintf(file, sizeof(file), "%s/new-lock", path);
	unlink(file);
	if (rmdir(path) != 0)
		fail("a killed opener left something behind");
}

static void watch_writers(uint64_t kills)
{
	pid_t children[WRITERS];
	struct state_outcome outcome;
	state_open(&request, &watched, &outcome);
	if (!outcome.shared)
		fail("%s", state_trouble_text(outcome.trouble));
	for (size_t writer = 0; writer < WRITERS; writer++)
		children[writer] = start_writer(writer);
	uint64_t deaths = 0;
	while (++deaths <= kills) {
		size_t writer = see_one_die(children, deaths, false);
		children[writer] = start_writer(writer);
	}
	for (size_t left = WRITERS; left > 0; left--)
		see_one_die(children, deaths++, left == 1);
	check_leases_come_back();
}

static void *map_shared(size_t bytes)
{
	void *memory = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (memory == MAP_FAILED)
		fail("no memory");
	return memory;
}

int main(int argc, char **argv)
{
	if (argc != 4) {
		fputs("usage: soak DIRECTORY KILLS SEED\n", stderr);
		return 2;
	}
	uint64_t kills = strtoull(argv[2], NULL, 10);
	dice = strtoull(argv[3], NULL, 10);
	request = (struct state_request){.directory = argv[1], .boot_id = "01234567-89ab-cdef-0123-456789abcdef"};
	tally = map_shared(sizeof(*tally));
	last_seen = map_shared(sizeof(*last_seen));
	atomic_store(&tally->clock_ms, 1000);
	signal(SIGALRM, give_up);
	for (uint64_t kill = 0; kill < kills; kill += OPENING_EVERY)
		kill_one_opener(argv[1]);
	watch_writers(kills);
	uint64_t completed = atomic_load(&tally->completed);
	printf(
	    "soak: %llu kills, %llu of them while an operation was counted; %llu operations by %llu processes: valid "
	    "after each\n",
	    (unsigned long long)kills, (unsigned long long)(atomic_load(&tally->begun) - completed),
	    (unsigned long long)completed, (unsigned long long)atomic_load(&tally->next_life));
	return 0;
}
