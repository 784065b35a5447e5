/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/call_filter.h"
#include "state/directory.h"
#include "state/file.h"
#include "state/file_name.h"
#include "state/layout.h"
#include "state/state.h"

static int reach_in(int directory, const struct state_request *request, struct state_outcome *outcome)
{
	char name[STATE_FILE_NAME_BYTES];
	if (state_file_name(request, directory, name))
		return state_reach_file(directory, name, outcome);
	outcome->trouble = STATE_NO_BOOT_ID;
	return -1;
}

/* Opens the file in the first place that can be used. Returns a descriptor, to be closed by the caller, or -1. */
static int reach(const struct state_request *request, struct state_outcome *outcome)
{
	struct state_outcome foreign = {0};
	for (size_t place = 0; place < state_place_count(request); place++) {
		int directory = state_open_directory(request, place, geteuid(), true, outcome);
		if (outcome->trouble == STATE_FOREIGN_DIRECTORY)
			foreign = *outcome;
		if (directory < 0)
			continue;
		int fd = reach_in(directory, request, outcome);
		close(directory);
		if (fd >= 0 && outcome->trouble == STATE_NO_TROUBLE && foreign.trouble != STATE_NO_TROUBLE)
			*outcome = foreign;
		return fd;
	}
	return -1;
}

/* `at` NULL: anywhere; else in place of what is mapped there, at once for all threads. */
static struct state_layout *map_file(int fd, struct state_layout *at, struct state_outcome *outcome)
{
	int flags = MAP_SHARED | (at ? MAP_FIXED : 0);
	void *memory = mmap(at, sizeof(struct state_layout), PROT_READ | PROT_WRITE, flags, fd, 0);
	if (memory == MAP_FAILED) {
		outcome->trouble = STATE_CANT_MAP;
		outcome->os_errno = errno;
		return NULL;
	}
	return memory;
}

static uint64_t root_inode(void)
{
	struct stat root;
	return stat("/", &root) == 0 ? root.st_ino : 0;
}

static void remember(struct state *state, int fd)
{
	struct stat file;
	if (fstat(fd, &file) != 0)
		return;
	atomic_store(&state->device, file.st_dev);
	atomic_store(&state->inode, file.st_ino);
	atomic_store(&state->root_inode, root_inode());
	atomic_store(&state->owner, geteuid());
}

static void open_first(const struct state_request *request, struct state *state, struct state_outcome *outcome)
{
	int fd = reach(request, outcome);
	struct state_layout *shared = fd >= 0 ? map_file(fd, NULL, outcome) : NULL, *first = NULL;
	outcome->shared = shared != NULL;
	/* Nobody has seen our mapping yet, if another thread's was first. */
	if (shared && !atomic_compare_exchange_strong(&state->shared, &first, shared))
		munmap(shared, sizeof(*shared));
	else if (shared)
		remember(state, fd);
	if (fd >= 0)
		close(fd);
}

/* The process may have another root or user now, and then another's files by the same names. */
static bool may_open_again(const struct state *state)
{
	return atomic_load(&state->shared) && atomic_load(&state->inode) != 0 && !call_filter_may_be_there() &&
	       atomic_load(&state->owner) == geteuid() && atomic_load(&state->root_inode) == root_inode();
}

static bool open_other(const struct state_request *request, struct state *state)
{
	struct state_outcome outcome = {0};
	struct stat file;
	int fd = may_open_again(state) ? reach(request, &outcome) : -1;
	if (fd < 0)
		return false;
	bool is_other = fstat(fd, &file) == 0 &&
	                (file.st_dev != atomic_load(&state->device) || file.st_ino != atomic_load(&state->inode));
	bool is_mapped = is_other && map_file(fd, atomic_load(&state->shared), &outcome);
	if (is_mapped)
		remember(state, fd);
	close(fd);
	return is_mapped;
}

/*
 * A signal handler of the program that leaves by longjmp would leave our descriptors open; one that comes again and
 * again would keep posix_fallocate from ever ending.
 */
struct undisturbed {
	int saved_errno, cancel_state;
	sigset_t saved_mask;
};

static void begin_undisturbed(struct undisturbed *before)
{
	sigset_t all;
	before->saved_errno = errno;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before->cancel_state);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &before->saved_mask);
}

static void end_undisturbed(struct undisturbed *before)
{
	pthread_sigmask(SIG_SETMASK, &before->saved_mask, NULL);
	pthread_setcancelstate(before->cancel_state, &before->cancel_state);
	errno = before->saved_errno;
}

void state_open(const struct state_request *request, struct state *state, struct state_outcome *outcome)
{
	struct undisturbed before;
	*outcome = (struct state_outcome){0};
	if (request->scope != STATE_SCOPE_USER)
		return;
	begin_undisturbed(&before);
	open_first(request, state, outcome);
	end_undisturbed(&before);
}

bool state_open_again(const struct state_request *request, struct state *state)
{
	struct undisturbed before;
	begin_undisturbed(&before);
	bool is_other = request->scope == STATE_SCOPE_USER && open_other(request, state);
	end_undisturbed(&before);
	return is_other;
}

static void unmap(_Atomic(struct state_layout *) *place)
{
	struct state_layout *layout = atomic_exchange(place, NULL);
	if (layout)
		munmap(layout, sizeof(*layout));
}

void state_close(struct state *state)
{
	unmap(&state->shared);
	unmap(&state->own);
}

const char *state_trouble_text(enum state_trouble trouble)
{
	static const char texts[][72] = {
	    [STATE_NO_TROUBLE] = "no trouble",
	    [STATE_NO_BOOT_ID] = "can't read the id of this boot",
	    [STATE_NO_DIRECTORY] = "can't open the state directory",
	    [STATE_UNTRUSTED_DIRECTORY] = "the state directory isn't this user's alone",
	    [STATE_UNSUITED_FILE_SYSTEM] = "the state directory's file system isn't suited for shared memory",
	    [STATE_CANT_MAKE] = "can't make the state file",
	    [STATE_CANT_READ] = "can't open the state file",
	    [STATE_CANT_MAP] = "can't map the state file",
	    [STATE_CANT_REPLACE] = "can't replace a state file that can't be trusted",
	    [STATE_FOREIGN_DIRECTORY] = "another user made the directory of this user's number",
	    [STATE_NO_FILE] = "there is no state file",
	    [STATE_NOT_REGULAR] = "the state file isn't a regular file",
	    [STATE_WRONG_OWNER] = "the state file belongs to another user",
	    [STATE_WRONG_MODE] = "the state file's mode isn't 0600",
	    [STATE_WRONG_SIZE] = "the state file has a wrong size",
	    [STATE_WRONG_HEADER] = "the state file has a wrong header",
	};
	return (size_t)trouble < sizeof(texts) / sizeof(texts[0]) ? texts[trouble] : "unknown trouble";
}
