/* SPDX-License-Identifier: MIT */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <unistd.h>

#include "state/directory.h"
#include "state/file.h"
#include "state/layout.h"
#include "state/state.h"

static struct state_layout *map_file(const struct state_request *request, struct state_outcome *outcome)
{
	char name[STATE_FILE_NAME_BYTES];
	if (!state_file_name(request, name)) {
		outcome->trouble = STATE_NO_BOOT_ID;
		return NULL;
	}
	int directory = state_open_directory(request, geteuid(), true, outcome);
	if (directory < 0)
		return NULL;
	int fd = state_reach_file(directory, name, outcome);
	close(directory);
	if (fd < 0)
		return NULL;

	void *memory = mmap(NULL, sizeof(struct state_layout), PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	if (memory == MAP_FAILED) {
		outcome->trouble = STATE_CANT_MAP;
		outcome->os_errno = errno;
	}
	close(fd);
	return memory == MAP_FAILED ? NULL : memory;
}

/*
 * A signal handler of the program that leaves by longjmp would leave our descriptors open; one that comes again and
 * again would keep posix_fallocate from ever ending.
 */
void state_open(const struct state_request *request, struct state *state, struct state_outcome *outcome)
{
	int saved_errno = errno, cancel_state;
	sigset_t all, saved_mask;

	*outcome = (struct state_outcome){0};
	if (request->scope != STATE_SCOPE_USER)
		return;
	pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel_state);
	sigfillset(&all);
	pthread_sigmask(SIG_SETMASK, &all, &saved_mask);

	struct state_layout *shared = map_file(request, outcome), *first = NULL;
	/* Nobody has seen our mapping yet, if another thread's was first. */
	if (shared && !atomic_compare_exchange_strong(&state->shared, &first, shared))
		munmap(shared, sizeof(*shared));
	outcome->shared = shared != NULL;

	pthread_sigmask(SIG_SETMASK, &saved_mask, NULL);
	pthread_setcancelstate(cancel_state, &cancel_state);
	errno = saved_errno;
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
	static const char *const texts[] = {
	    [STATE_NO_TROUBLE] = "no trouble",
	    [STATE_NO_BOOT_ID] = "can't read the id of this boot",
	    [STATE_NO_DIRECTORY] = "can't open the state directory",
	    [STATE_UNTRUSTED_DIRECTORY] = "the state directory isn't this user's alone",
	    [STATE_UNSUITED_FILE_SYSTEM] = "the state directory's file system isn't suited for shared memory",
	    [STATE_CANT_MAKE] = "can't make the state file",
	    [STATE_CANT_READ] = "can't open the state file",
	    [STATE_CANT_MAP] = "can't map the state file",
	    [STATE_CANT_REPLACE] = "can't replace a state file that can't be trusted",
	    [STATE_NO_FILE] = "there is no state file",
	    [STATE_NOT_REGULAR] = "the state file isn't a regular file",
	    [STATE_WRONG_OWNER] = "the state file belongs to another user",
	    [STATE_WRONG_MODE] = "the state file's mode isn't 0600",
	    [STATE_WRONG_SIZE] = "the state file has a wrong size",
	    [STATE_WRONG_HEADER] = "the state file has a wrong header",
	};
	return (size_t)trouble < sizeof(texts) / sizeof(texts[0]) ? texts[trouble] : "unknown trouble";
}
