/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_PROCESS_H
#define TENACURL_INTERPOSE_PROCESS_H

/*
 * The process that we are a guest in: the environment it was started with, its names, and whether it is a fork of the
 * one in which something happened.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "config/variable.h"
#include "log/sink.h"

/* For variables that the constructors write: where relocations have written already, so that they need no page more. */
#define WRITTEN_AT_START __attribute__((section(".data")))

/* The environment as it was when the object was loaded: programs change or overwrite it later. "" where a variable is
 * unset; of ours, what is meant by the value (config/variable.h). */
struct process_environment {
	enum variable_switch disable; /* TENACURL_DISABLE */
	char mode[16];
	char job[128];
	char run[40];
	char summary[64];
	char deadline[160];
	char watchdog_usec[24];
	char watchdog_pid[16];
	char home[1024];
	char pwd[1024];
	/* Last: seldom set, and what isn't touched costs a process no page. */
	char policy[4096];
	char log[4096];
	char state[4096];
};

/* What the constructor copied. Never NULL, never changes. */
const struct process_environment *process_environment(void);

/* What fd 2 was when the object was loaded. */
const struct log_stderr_identity *process_stderr(void);

/* The names by which `programs` and `skip_programs` know this process: job, script or Python module, executable. NULL
 * where there is none. */
enum { PROCESS_NAMES = 3 };
const char *const *process_names(void);

/*
 * The most telling of them, for logs, state and terminals: the script's name if it is a file's, else the executable's,
 * with control characters replaced. Never NULL.
 */
const char *process_program(void);

/* Whether the executable runs scripts: then all calls that a script makes come from one place. */
bool process_is_interpreter(void);

/* A hash of what is run: the executable, and of an interpreter's command line the script's path or, without one, all of
 * it. */
uint64_t process_identity(void);

/*
 * Numbers the processes that descend from one another by fork, however it was done (fork, _Fork, raw clone): the same
 * number in the same process, another one in a child. Never 0. No system call after the first, but getpid where the
 * kernel may not be asked for a page that it empties (base/call_filter.h).
 */
uint32_t process_generation(void);

/* The process id. A system call once in each process. */
int64_t process_pid(void);

/*
 * Whether this process was made by _Fork or a raw clone, so that no fork handler ran: locks that other threads of the
 * parent held, the loader's for one, are held for ever.
 */
bool process_is_raw_child(void);

/* The instant (CLOCK_MONOTONIC, ms) of the launcher's deadline while the launcher lives, INT64_MAX without one. Any
 * thread; errno is kept. */
int64_t process_deadline_ms(void);

/*
 * The id that the processes of a run share; "" outside of one. A deadline that counts no more, since its launcher is
 * gone or it is of another boot, ends the run, too: what is left of it is a daemon. Like process_deadline_ms() it may
 * read a file of /proc, once a second at most but for the deadline's last one. Any thread; errno is kept.
 */
const char *process_run(void);

/*
 * How often this process, as a service, tells its watchdog that it lives (WATCHDOG_USEC where WATCHDOG_PID is unset or
 * ours; sd_watchdog_enabled(3)), in milliseconds; 0: it needn't. Any thread; a system call once in each process.
 */
int64_t process_watchdog_ms(void);

/* Identifies the calling thread. */
uintptr_t process_thread_id(void);

/* The kernel's number of the calling thread. */
int process_thread_number(void);

/*
 * Whether a thread of this process that had this number has ended. False if nobody can tell (0; a system call filter
 * may be there). errno is kept.
 */
bool process_thread_has_ended(int number);

#endif
