/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BIND_WATCH_STUB_H
#define TENACURL_INTERPOSE_BIND_WATCH_STUB_H

/*
 * Stubs that references are bound to instead of a function: each tells of its first call and jumps on. It leaves no
 * frame and returns nowhere, so that who is called finds its caller's address and arguments as without it.
 */

#include <link.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define WATCH_FUNCTIONS(FUNCTION)                                                                                      \
	FUNCTION(curl_easy_perform)                                                                                    \
	FUNCTION(curl_multi_perform)                                                                                   \
	FUNCTION(curl_multi_socket_action)                                                                             \
	FUNCTION(curl_multi_socket)                                                                                    \
	FUNCTION(curl_multi_socket_all)

#define WATCH_FUNCTION_INDEX(name) WATCH_##name,
enum watch_function { WATCH_FUNCTIONS(WATCH_FUNCTION_INDEX) WATCH_FUNCTION_COUNT };
#undef WATCH_FUNCTION_INDEX

/* What there is to tell of a reference. Texts are not copied: they are mapped as long as the stub can be called. */
struct watch_binding {
	const struct link_map *referrer;
	const char *object;
	const char *when;     /* WATCH_AT_START, … */
	const char *function; /* its name */
	const char *target;   /* WATCH_TO_… */
	const char *libcurl;  /* its path; "": not known from the reference */
	const char *how;      /* WATCH_BY_… */
	uintptr_t address;    /* of the function */
};

/*
 * Returns the address of a stub for this reference: the one that an equal reference got before, or a new one. If all
 * are taken it returns the function's own address. Any thread, lock-free.
 */
uintptr_t watch_stub_take(enum watch_function function, const struct watch_binding *binding);

/* Forgets that references of this object exist, since another one may get its link map. Stubs stay as they are. */
void watch_stub_forget(const struct link_map *referrer);

#endif
