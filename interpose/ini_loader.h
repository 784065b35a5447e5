/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_INI_LOADER_H
#define TENACURL_INTERPOSE_INI_LOADER_H

#include <stdbool.h>

#include "config/load.h"

/* iniparser, loaded into a namespace of its own. */
struct ini_loader {
	void *library;
	struct ini_functions functions;
};

/*
 * Loads iniparser. A namespace of its own (dlmopen): its dictionary_* functions, which it calls through its PLT, can't
 * be taken for functions of that name in the host program, nor the other way round. Returns false if it isn't
 * installed.
 */
bool ini_loader_open(struct ini_loader *loader);

/* Unloads it; everything that came from it must have been copied. */
void ini_loader_close(struct ini_loader *loader);

#endif
