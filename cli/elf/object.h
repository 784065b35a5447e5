/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_ELF_OBJECT_H
#define TENACURL_CLI_ELF_OBJECT_H

/* Where the object that is preloaded lies, and the names by which dynamic linkers find it. */

#include "cli/say/error.h"

/*
 * Finds libtenacurl.so: beside this executable (a build tree), in ../lib/tenacurl from it, in the directory that was
 * configured. Returns its absolute path for the caller to free(); NULL with `error` filled if there is none or if the
 * dynamic linker could not load it from there (unreadable, file system without exec, a path with a blank or colon).
 */
char *object_find(struct say_error *error);

/*
 * Returns the name by which each dynamic linker finds a file of its own architecture ("…/multiarch/$LIB/…"), since one
 * that is given a file of another complains on the program's stderr; `object` is what object_find returned. To
 * free(); NULL if no such files are installed, or without memory.
 */
char *object_name_by_architecture(const char *object);

/*
 * Returns the path of what lies beside the object under this name, formed as the object's is. To free(); NULL without
 * memory.
 */
char *object_beside(const char *object, const char *name);

/*
 * Returns the name for LD_AUDIT of the binder that lies beside the object, formed as the object's name for LD_PRELOAD
 * is. `real_object` is what object_find returned. To free(); NULL if there is none that can be loaded.
 */
char *object_find_binder(const char *real_object, const char *object);

#endif
