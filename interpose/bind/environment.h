/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BIND_ENVIRONMENT_H
#define TENACURL_INTERPOSE_BIND_ENVIRONMENT_H

/*
 * The environment of the process, for audit modules, which have no C library to ask. ld.so hands it to a module's
 * constructors, and these run before it asks for the module's la_version.
 */

#include <stdbool.h>

/*
 * Returns the value of the environment variable `name` as it was when the module was loaded, or NULL. The text belongs
 * to the process, which may overwrite it later: for use in la_version and before the program begins.
 */
const char *environment_get(const char *name);

/* What the program was started with: NULL-terminated, the process's own. */
char **environment_arguments(void);
char **environment_variables(void);

/* The kernel's word to the process (AT_BASE and the like, getauxval(3)); 0 without one. */
unsigned long environment_auxiliary(unsigned long type);

/* Whether TENACURL_DISABLE switches tenacurl off. */
bool environment_is_disabled(void);

#endif
