/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_DIRECTORY_H
#define TENACURL_STATE_DIRECTORY_H

/* Which directory the state file is in, and whether it can be trusted. */

#include <dirent.h>
#include <stdbool.h>
#include <sys/types.h>

#include "state/state.h"

/* How many directories may be the one that `request` means: the first that can be used is. */
size_t state_place_count(const struct state_request *request);

/*
 * Opens the directory of `owner` in that place. Returns a descriptor that names it (O_PATH), to be closed by the
 * caller, or -1 with the trouble in *outcome; outcome->path says which directory it was. A directory is trusted if it
 * is no symbolic link, belongs to `owner` and nobody else may write to it. With `make`, one that is missing is made,
 * except for /run/tenacurl/<owner>, which is used only where an administrator made it.
 */
int state_open_directory(const struct state_request *request, size_t place, uid_t owner, bool make,
                         struct state_outcome *outcome);

/* Lists a directory that is open (O_PATH is enough). NULL: it can't be read. The caller closes it; it allocates. */
DIR *state_list_directory(int directory);

/*
 * Users who may have a state in one of the usual places, each once. Returns how many, at most `room`. For tools; it
 * allocates.
 */
size_t state_list_owners(const struct state_request *request, uid_t *owners, size_t room);

#endif
