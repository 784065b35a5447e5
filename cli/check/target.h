/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_TARGET_H
#define TENACURL_CLI_CHECK_TARGET_H

/*
 * The program that run is about to start, looked at as far as tenacurl's way into it goes.
 */

#include "cli/elf/link_tree.h"
#include "cli/elf/read.h"
#include "cli/launch/follow.h"
#include "cli/say/error.h"

struct target {
	const char *name; /* as the user typed it */
	struct launch launch;
	bool is_found;
	struct elf_file program; /* its layout, if result is OK */
	enum elf_result result;
	struct link_tree tree;   /* of the program; empty where this root's dynamic linker knows nothing of it */
	bool is_complete;        /* the dynamic linker could be asked */
	bool takes_preload;      /* the object is mapped by the LD_PRELOAD that was tried */
	bool has_object_in_root; /* the object is at its path in the root that the program is confined to */
};

/* What keeps the object out of the program. */
enum target_obstacle {
	TARGET_OBSTACLE_NONE,
	TARGET_OBSTACLE_DOUBT,     /* it can't be told whether something does */
	TARGET_OBSTACLE_IGNORED,   /* it has no effect */
	TARGET_OBSTACLE_UNLOADABLE /* the dynamic linker would complain about it on the program's stderr */
};

/*
 * Looks at what the command starts, and whether `preload` as LD_PRELOAD brings the object at this path into it. To be
 * freed.
 */
void target_read(char **command, const char *preload, const char *object, struct target *target);
void target_free(struct target *target);

/* Tells what keeps the object out of the program, in words for people. */
enum target_obstacle target_find_obstacle(const struct target *target, struct say_error *text);

/* Why the program can't have the binder, as half a sentence; "": it can. */
const char *target_binder_obstacle(const struct target *target);

#endif
