/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_STATE_H
#define TENACURL_STATE_STATE_H

/*
 * The state: what the processes of one user share on a host about each origin. A mapped file, or, where there can't be
 * one, memory of the process itself that looks the same.
 *
 *     state_open → (state_find_entry → budget, breaker, leases, counters of that entry)*
 *
 * After the opening there is no lock, no system call and no allocation: every function is a few atomic operations, and
 * may be called by any thread at any time, in a signal handler too. (Exceptions: the first origin for which the
 * file has no place, and the first thing that is kept where nothing is shared, map memory of the process; and who wants
 * an entry in a full table in which another is just being made may call sched_yield(2).) errno is kept.
 *
 * Forks: a child shares the file with its parent. What is the process's own starts empty in the child, so a pointer to
 * an entry must be looked at with state_entry_holds() before it is used again. Where a system call filter may be
 * (base/call_filter.h), the child has to say so: state_empty_own().
 *
 * Times are given as CLOCK_MONOTONIC in milliseconds; all processes of the host agree on it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct state_entry;
struct state_layout;

enum state_scope {
	STATE_SCOPE_USER,   /* share with this user's other processes */
	STATE_SCOPE_PROCESS /* share with nobody */
};

/* Where the state is to be. Zero-initialise it. */
struct state_request {
	enum state_scope scope;
	const char *directory; /* TENACURL_STATE or state_dir; NULL or "": the usual place */
	/* What tests put somewhere else; NULL: as it is. */
	const char *run_directory; /* /run/tenacurl */
	const char *shm_prefix;    /* /dev/shm/tenacurl- */
	const char *boot_id;       /* of /proc/sys/kernel/random/boot_id */
};

/* What was wrong, if anything. state_trouble_text() has the words. */
enum state_trouble {
	STATE_NO_TROUBLE,
	STATE_NO_BOOT_ID,
	STATE_NO_DIRECTORY,         /* os_errno says why */
	STATE_UNTRUSTED_DIRECTORY,  /* of another owner, or others may write to it */
	STATE_UNSUITED_FILE_SYSTEM, /* a write to mapped memory could fail there */
	STATE_CANT_MAKE,            /* os_errno says why */
	STATE_CANT_READ,            /* os_errno says why */
	STATE_CANT_MAP,             /* os_errno says why */
	STATE_CANT_REPLACE,         /* what lies in the file's place can't be trusted and won't go away */
	STATE_FOREIGN_DIRECTORY,    /* under this user's number in a place that all use; another place is used */
	STATE_NO_FILE,              /* when reading only: there is none */
	STATE_NOT_REGULAR,          /* from here on: a file that can't be trusted */
	STATE_WRONG_OWNER,
	STATE_WRONG_MODE,
	STATE_WRONG_SIZE,
	STATE_WRONG_HEADER,
};

#define STATE_PATH_BYTES 128

/*
 * How an opening went. Worth a line in a log if there is trouble: with `shared` an untrusted file was replaced by a
 * fresh one, without it the state is the process's own.
 */
struct state_outcome {
	bool shared;
	enum state_trouble trouble;
	int os_errno;                /* 0: none */
	char path[STATE_PATH_BYTES]; /* of the directory, cut to fit */
};

/* A state. All zeros is one of the process's own. Belongs to the caller; the functions below look after what is in it.
 */
struct state {
	_Atomic(struct state_layout *) shared; /* NULL: nothing is */
	_Atomic(struct state_layout *) own;    /* mapped when it is needed */
	_Atomic uint64_t device, inode;        /* of the file that is mapped */
	_Atomic uint64_t root_inode, owner;    /* "/" and the effective user when it was opened */
};

/*
 * Makes `state`, which is all zeros, the one that `request` asks for. It always can be used afterwards; what went wrong
 * is in *outcome. Other threads may use it meanwhile: they get the process's own state until this is done. Several may
 * be at it at once, with the same request: all of them end up with what the first one mapped. It opens, makes and
 * removes files and closes all of them again; signals stay blocked and cancellation deferred meanwhile (a millisecond);
 * it may allocate. errno is kept.
 */
void state_open(const struct state_request *request, struct state *state, struct state_outcome *outcome);

/*
 * Looks whether what is mapped still is the file that opening would find, which loses its name where somebody tidies up
 * after a session, and if it isn't, maps that one in its place: entries are found anew (state_entry_holds). Returns
 * whether it did. `request` as it was opened with. As many system calls as opening, so not too often; as much care; any
 * thread, and several at once. After a chroot or a change of user, and where a system call filter may be, it does
 * nothing.
 */
bool state_open_again(const struct state_request *request, struct state *state);

/*
 * Empties what is the process's own, in a child that the kernel hasn't done it for. Harmless to whoever uses an entry
 * of it meanwhile. No system call.
 */
void state_empty_own(struct state *state);

/* Unmaps everything. Nobody may use the state or an entry of it any more. For tools and tests. */
void state_close(struct state *state);

/*
 * Returns the entry of an origin ("https://host:port") in the view of a policy section; makes one if there is none. It
 * can be used until state_close(), but may become another origin's, see state_entry_holds(). Never NULL: where neither
 * file nor process has a place left, it is the one spare entry of the process, which such origins share
 * (state_entry_is_spare).
 */
struct state_entry *state_find_entry(struct state *state, const char *origin, const char *section);

/* What state_entry_holds() recognises an entry by. */
uint64_t state_entry_key(const struct state_entry *entry);

/*
 * Whether an entry that was found with this key is still that one. Not so in a child, for what was its parent's own,
 * and if it was idle and another origin got it.
 */
bool state_entry_holds(const struct state_entry *entry, uint64_t key);

/* Notes that the entry was of use at now_ms: those that weren't for long make room first. One store. */
void state_touch_entry(struct state_entry *entry, int64_t now_ms);

/* Whether unrelated origins meet in this entry. A breaker must not be shared so; budget and leases may. */
bool state_entry_is_spare(const struct state_entry *entry);

/* The word of engine/budget.h, to be changed by compare-and-swap. */
_Atomic uint64_t *state_budget_word(struct state_entry *entry);

/* The three words of engine/breaker.h, to be changed by compare-and-swap; all 0 is a breaker that never saw anything.
 */
_Atomic uint64_t *state_breaker_words(struct state_entry *entry);

/*
 * Sets all counters to zero and empties the flight recorder; with `everything` also fills the budgets, closes the
 * breakers, frees the leases, and forgets intents and what was learned of callers, which protect servers too. What
 * others count at the same time may or may not be lost.
 */
void state_reset(struct state *state, bool everything);

/* "can't make the state file" and so on. Never NULL. */
const char *state_trouble_text(enum state_trouble trouble);

#endif
