/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BIND_STEP_ASIDE_H
#define TENACURL_INTERPOSE_BIND_STEP_ASIDE_H

/*
 * Programs that don't get along with any audit module are started again without this one. `tenacurl run` looks at the
 * program that it starts; what that one's children are, nobody knows before they are there.
 */

#include <link.h>

/*
 * To be told of each object of the program's own namespace that ld.so maps, from la_objopen. While the program is being
 * put together, the first object that shows it to be such a one ends in an execve of the same program with the same
 * arguments, the environment lacking this module: then the function doesn't return. It does, and the program starts or
 * fails as it would, if the kernel doesn't let us.
 */
void step_aside_look(const struct link_map *map);

/* To be told that the program is put together, from la_preinit: from now on it must not be disturbed. */
void step_aside_end(void);

#endif
