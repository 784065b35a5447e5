/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/call_filter.h"
#include "base/clock.h"
#include "base/launcher.h"
#include "interpose/host/process.h"

/* What is usually set lies on one page. */
#define PAGE_BYTES 4096
static _Alignas(PAGE_BYTES) struct process_environment environment;
_Static_assert(offsetof(struct process_environment, policy) <= PAGE_BYTES, "see there");

static WRITTEN_AT_START struct log_stderr_identity stderr_identity;

/* Names, too, lie where relocations have written: elsewhere the kernel would map 16 pages for them. */
static WRITTEN_AT_START char disable_name[] = "TENACURL_DISABLE";

#define COPIED(name, is_ours, member)                                                                                  \
	{                                                                                                              \
		name, is_ours, offsetof(struct process_environment, member), sizeof(environment.member)                \
	}
static WRITTEN_AT_START struct copied_variable {
	char name[19];
	bool is_ours;
	uint16_t offset, room_bytes; /* of its copy, in the environment */
} variables[] = {
    COPIED("TENACURL_POLICY", true, policy),
    COPIED("TENACURL_MODE", true, mode),
    COPIED("TENACURL_LOG", true, log),
    COPIED("TENACURL_STATE", true, state),
    COPIED("TENACURL_JOB", true, job),
    COPIED("TENACURL_RUN", true, run),
    COPIED("TENACURL_SUMMARY", true, summary),
    COPIED("TENACURL_DEADLINE", true, deadline),
    COPIED("WATCHDOG_USEC", false, watchdog_usec),
    COPIED("WATCHDOG_PID", false, watchdog_pid),
    COPIED("HOME", false, home),
    COPIED("PWD", false, pwd),
};

static void copy_variable(const struct copied_variable *variable)
{
	const char *text = secure_getenv(variable->name);
	char *copy = (char *)&environment + variable->offset;
	if (!text)
		return;
	struct variable_span value = {text, strlen(text)};
	if (variable->is_ours)
		value = variable_value(text);
	/* Too long to be right: kept as something that no reader accepts, instead of a part that one might. */
	if (value.count >= variable->room_bytes)
		value = (struct variable_span){"\x01", 1};
	memcpy(copy, value.bytes, value.count);
	copy[value.count] = '\0';
}

static WRITTEN_AT_START _Atomic bool is_copied;

/*
 * Does nothing but copy: the host program hasn't even begun. The constructor of a library that is initialised before us
 * may already transfer; then it is called from there.
 */
__attribute__((constructor)) static void copy_environment(void)
{
	if (is_copied)
		return;
	environment.disable = variable_read_switch(secure_getenv(disable_name));
	for (size_t i = 0; i < sizeof(variables) / sizeof(variables[0]); i++)
		copy_variable(&variables[i]);
	log_remember_stderr(&stderr_identity);
	is_copied = true;
}

const struct process_environment *process_environment(void)
{
	if (!atomic_load_explicit(&is_copied, memory_order_acquire))
		copy_environment();
	return &environment;
}

const struct log_stderr_identity *process_stderr(void)
{
	return &stderr_identity;
}

/* Generations. */

/* In a page that the kernel empties in every child, however it is made; atfork handlers miss _Fork and raw clone. */
static _Atomic(_Atomic uint32_t *) generation_page;
static _Atomic uint32_t last_generation;

/* Where no page may be asked for, or none could be had. */
static _Atomic uint32_t no_page;

static bool wipe_in_children(void *page, size_t page_bytes)
{
	return !call_filter_may_be_there() && madvise(page, page_bytes, MADV_WIPEONFORK) == 0;
}

static _Atomic uint32_t *map_generation_page(void)
{
	size_t page_bytes = (size_t)getauxval(AT_PAGESZ);
	_Atomic uint32_t *seen = NULL, *page = &no_page;
	void *mapped = mmap(NULL, page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (mapped != MAP_FAILED && wipe_in_children(mapped, page_bytes))
		page = mapped;
	if (atomic_compare_exchange_strong(&generation_page, &seen, page))
		seen = page;
	if (mapped != MAP_FAILED && seen != mapped)
		munmap(mapped, page_bytes);
	return seen;
}

/* Not inlined: it is asked for with each operation, and seldom begins. */
static __attribute__((noinline)) uint32_t begin_generation(void)
{
	_Atomic uint32_t *page = atomic_load_explicit(&generation_page, memory_order_acquire);
	if (!page)
		page = map_generation_page();
	if (page == &no_page)
		return (uint32_t)getpid();
	uint32_t seen = 0, fresh = atomic_fetch_add(&last_generation, 1) + 1;
	return atomic_compare_exchange_strong(page, &seen, fresh) ? fresh : seen;
}

uint32_t process_generation(void)
{
	_Atomic uint32_t *page = atomic_load_explicit(&generation_page, memory_order_acquire);
	uint32_t generation = page ? atomic_load_explicit(page, memory_order_relaxed) : 0;
	return generation != 0 ? generation : begin_generation();
}

int64_t process_pid(void)
{
	static _Atomic uint64_t known; /* generation, pid */
	uint64_t generation = process_generation();
	uint64_t seen = atomic_load_explicit(&known, memory_order_relaxed);
	if (seen >> 32 != generation) {
		seen = generation << 32 | (uint32_t)getpid();
		atomic_store_explicit(&known, seen, memory_order_relaxed);
	}
	return (int64_t)(uint32_t)seen;
}

static _Atomic uint32_t orderly_generation; /* of the last process that was not made by a raw fork */
static _Atomic bool watches_forks;

static void note_orderly_child(void)
{
	atomic_store(&orderly_generation, process_generation());
}

extern int __register_atfork(void (*prepare)(void), void (*parent)(void), void (*child)(void), void *object)
    __attribute__((weak));

bool process_is_raw_child(void)
{
	if (!atomic_load_explicit(&watches_forks, memory_order_acquire)) {
		note_orderly_child();
		if (!atomic_exchange(&watches_forks, true) && __register_atfork)
			__register_atfork(NULL, NULL, note_orderly_child, NULL);
	}
	return process_generation() != atomic_load_explicit(&orderly_generation, memory_order_relaxed);
}

/* The launcher's deadline. */

/* Close to the deadline each time: what it decides then is whether a request is made at all. */
#define LAUNCHER_LOOK_EVERY_MS 1000

static struct deadline_text deadline;
static _Atomic bool deadline_counts;
static _Atomic int64_t next_launcher_look_ms;
static pthread_once_t deadline_once = PTHREAD_ONCE_INIT;

static void parse_deadline(void)
{
	if (!deadline_text_parse(environment.deadline, &deadline) || !launcher_is_of_this_boot(&deadline))
		return;
	launcher_take_over(&deadline);
	atomic_store(&deadline_counts, true);
}

static bool is_look_due(int64_t now_ms)
{
	return now_ms >= atomic_load_explicit(&next_launcher_look_ms, memory_order_relaxed) ||
	       now_ms >= deadline.deadline_ms - LAUNCHER_LOOK_EVERY_MS;
}

/* Whether the deadline's launcher lives, as far as that was looked at lately. */
static bool launcher_lives(void)
{
	bool counts = atomic_load_explicit(&deadline_counts, memory_order_relaxed);
	int64_t now_ms = clock_ms();
	if (!counts || !is_look_due(now_ms))
		return counts;
	atomic_store_explicit(&next_launcher_look_ms, now_ms + LAUNCHER_LOOK_EVERY_MS, memory_order_relaxed);
	if (launcher_holds(&deadline, now_ms))
		return true;
	atomic_store(&deadline_counts, false);
	return false;
}

/* Apart, since few processes have one. */
static __attribute__((noinline)) int64_t inherited_deadline_ms(void)
{
	int saved_errno = errno;
	pthread_once(&deadline_once, parse_deadline);
	/* A launcher that is gone has no patience left to spend: what it started as a daemon is free. */
	bool counts = launcher_lives();
	errno = saved_errno;
	return counts ? deadline.deadline_ms : INT64_MAX;
}

int64_t process_deadline_ms(void)
{
	return environment.deadline[0] ? inherited_deadline_ms() : INT64_MAX;
}

const char *process_run(void)
{
	/* Only a deadline says whose run it is. */
	return environment.deadline[0] && process_deadline_ms() == INT64_MAX ? "" : environment.run;
}

/* The watchdog. */

/* Reads a text that is a number above 0 and nothing else; 0 for what isn't. */
static int64_t read_number(const char *text)
{
	char *end;
	int saved_errno = errno;
	errno = 0;
	long long number = strtoll(text, &end, 10);
	bool is_number = text[0] >= '0' && text[0] <= '9' && *end == '\0' && errno == 0;
	errno = saved_errno;
	return is_number ? number : 0;
}

/* Apart, since few processes are watched. */
static __attribute__((noinline)) int64_t read_watchdog_ms(void)
{
	if (environment.watchdog_pid[0] && read_number(environment.watchdog_pid) != process_pid())
		return 0;
	int64_t usec = read_number(environment.watchdog_usec);
	return usec > 0 && usec < 1000 ? 1 : usec / 1000;
}

int64_t process_watchdog_ms(void)
{
	return environment.watchdog_usec[0] ? read_watchdog_ms() : 0;
}

uintptr_t process_thread_id(void)
{
	return (uintptr_t)pthread_self();
}

int process_thread_number(void)
{
	return (int)syscall(SYS_gettid);
}

bool process_thread_has_ended(int number)
{
	int saved_errno = errno;
	bool has_ended = number != 0 && !call_filter_may_be_there() && syscall(SYS_tgkill, getpid(), number, 0) != 0 &&
	                 errno == ESRCH;
	errno = saved_errno;
	return has_ended;
}
