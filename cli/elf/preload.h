/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_ELF_PRELOAD_H
#define TENACURL_CLI_ELF_PRELOAD_H

/* What the dynamic linker is told in the environment, so that it maps the object first. */

/*
 * Composes LD_PRELOAD: sanitizer runtimes, which insist on being first; `object` (NULL: none); whatever else
 * `inherited` (may be NULL) held, in its order, without other copies of tenacurl. Returns a text to free(), NULL
 * without memory.
 */
char *preload_compose(const char *inherited, const char *object);

/* Composes ASAN_OPTIONS: what was inherited (may be NULL), and that an object before the runtime is no error. As above.
 */
char *preload_compose_asan_options(const char *inherited);

#endif
