/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_ELF_BINDER_H
#define TENACURL_CLI_ELF_BINDER_H

/*
 * Whether a program can have the binder (libtenacurl-bind.so in LD_AUDIT; interpose/bind/ says what it is for). With an
 * audit module ld.so lays out static TLS before it knows the program's libraries, so that a program with much of it
 * would not start; and before glibc 2.35 the interface doesn't work for libraries that bind at once.
 */

#include "cli/elf/link_tree.h"

/* Room in the static TLS block that is asked for with the binder (glibc.rtld.optional_static_tls). */
#define BINDER_OPTIONAL_STATIC_TLS_BYTES 2304

/* More static TLS than this in the program's own libraries, and it could fail to start. */
#define BINDER_TLS_BYTES_MAX 3072

enum binder_state {
	BINDER_SAFE,
	BINDER_NO_OLD_GLIBC, /* before 2.35 */
	BINDER_NO_TLS,       /* too much static TLS */
	BINDER_NO_SANITIZER,
	BINDER_NO_FOREIGN, /* another class, machine or C library */
	BINDER_NO_UNKNOWN  /* the program's libraries can't be found out */
};

/*
 * Decides for the program whose tree this is; `complete` is what link_tree_read returned. A static program has no
 * dynamic linker to disturb: for it the answer is about its children, and safe.
 */
enum binder_state binder_decide(const struct link_tree *tree, bool complete);

/* Why not, as half a sentence for people; "" for BINDER_SAFE. */
const char *binder_reason(enum binder_state state);

/*
 * Composes LD_AUDIT: ours (`binder`; NULL: none), which has to see where references really lead, before what others put
 * there (`inherited`, may be NULL), without other copies of ours. Returns a text to free(), which may be empty; NULL
 * without memory.
 */
char *binder_compose_audit(const char *inherited, const char *binder);

/*
 * Composes GLIBC_TUNABLES: what was inherited (may be NULL), and room for static TLS. A larger room that was inherited
 * stays. Returns a text to free(), NULL without memory.
 */
char *binder_compose_tunables(const char *inherited);

#endif
