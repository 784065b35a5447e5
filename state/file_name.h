/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_FILE_NAME_H
#define TENACURL_STATE_FILE_NAME_H

/* The state file's name: of this layout, of this boot. */

#include <stdbool.h>

#include "state/state.h"

#define STATE_FILE_NAME_BYTES 64

/*
 * Writes the file's name of this boot in a directory that is open, O_PATH is enough. Where the boot's id can't be read,
 * it is the name of the file that is there, or state_file_name_unknown(). Returns false if that won't do.
 */
bool state_file_name(const struct state_request *request, int directory, char name[static STATE_FILE_NAME_BYTES]);

/*
 * Writes the name by which who can't read the boot's id makes the file. Returns false where files outlive a boot: there
 * nobody makes one.
 */
bool state_file_name_unknown(int directory, char name[static STATE_FILE_NAME_BYTES]);

/* The boot id at the end of a state file's name, of any layout, or NULL if the name is none. */
const char *state_file_name_boot_id(const char *name);

#endif
