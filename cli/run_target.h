/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_TARGET_H
#define TENACURL_CLI_RUN_TARGET_H

/*
 * The program that run is about to start, looked at as far as tenacurl's way into it goes.
 */

#include "cli/elf_read.h"
#include "cli/launch.h"
#include "cli/link_tree.h"
#include "cli/run.h"

struct run_target {
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
enum run_obstacle {
	RUN_OBSTACLE_NONE,
	RUN_OBSTACLE_DOUBT,     /* it can't be told whether something does */
	RUN_OBSTACLE_IGNORED,   /* it has no effect */
	RUN_OBSTACLE_UNLOADABLE /* the dynamic linker would complain about it on the program's stderr */
};

/*
 * Looks at what the command starts, and whether `preload` as LD_PRELOAD brings the object at this path into it. To be
 * freed.
 */
void run_target_read(char **command, const char *preload, const char *object, struct run_target *target);
void run_target_free(struct run_target *target);

/* Tells what keeps the object out of the program, in words for people. */
enum run_obstacle run_target_obstacle(const struct run_target *target, struct run_error *text);

/* Why the program can't have the binder, as half a sentence; "": it can. */
const char *run_target_binder_obstacle(const struct run_target *target);

#endif
