/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_INI_H
#define TENACURL_INTERPOSE_INI_H

#include "config/load.h"

/*
 * iniparser's functions, as the object has them in itself. Static. Not reentrant, as policy_load_with() isn't: one
 * dictionary at a time, which is freed before the next file is loaded. No lock is taken; 2 MiB of address space are
 * mapped from load() to free_dictionary(), of which what a file needs is touched. Needs 8 KiB of stack.
 */
const struct ini_functions *ini_functions(void);

#endif
