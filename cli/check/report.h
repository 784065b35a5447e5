/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_REPORT_H
#define TENACURL_CLI_CHECK_REPORT_H

/* What is found out of a program's transfers, and the verdict on it. */

#include <stdbool.h>
#include <stddef.h>

#include "cli/check/script_words.h"

/* The exit status, too. */
enum check_verdict { CHECK_COVERED = 0, CHECK_PARTLY = 1, CHECK_NOT = 2, CHECK_UNKNOWN = 3 };

/* Why a use of libcurl, or a whole program, is not wrapped. report.c has their names and texts. */
enum check_reason {
	CHECK_REASON_NONE,
	CHECK_REASON_NO_LIBCURL, /* nothing in it uses libcurl */
	CHECK_REASON_MULTI,      /* transfers of the multi interface are left alone */
	CHECK_REASON_STATIC,     /* no dynamic linker */
	CHECK_REASON_BUNDLED,    /* a libcurl inside the program or library, not to be bound to */
	CHECK_REASON_CLASS,      /* another ELF class or machine */
	CHECK_REASON_MUSL,
	CHECK_REASON_SETUID,
	CHECK_REASON_SETGID,
	CHECK_REASON_CAPABILITIES,
	CHECK_REASON_DEEPBIND_DATA, /* RTLD_DEEPBIND with GLOB_DAT: the binder doesn't see it */
	CHECK_REASON_DEEPBIND,      /* RTLD_DEEPBIND, and no binder */
	CHECK_REASON_DLSYM,         /* dlsym on a handle, and no binder */
	CHECK_REASON_TLS,           /* too much static TLS for the binder, which it would need */
	CHECK_REASON_NO_BINDER,     /* needs the binder, which can't be used for another reason */
	CHECK_REASON_ENVIRONMENT,   /* the environment is cleared on the way */
	CHECK_REASON_CHROOT,        /* the object can't be found in there */
	CHECK_REASON_UNREADABLE,
	CHECK_REASON_VARIABLES, /* a script changes LD_PRELOAD or TENACURL_DISABLE */
	CHECK_REASON_INDIRECT,  /* a script starts by way of what clears the environment, and what can't be seen */
	CHECK_REASON_OFF        /* switched off for it: TENACURL_DISABLE, mode, programs, skip_programs */
};

enum check_binding {
	CHECK_BINDING_NONE,    /* reaches libcurl directly */
	CHECK_BINDING_PRELOAD, /* reaches us by the preload */
	CHECK_BINDING_BINDER   /* reaches us by the binder */
};

enum check_role { CHECK_ROLE_PROGRAM, CHECK_ROLE_LIBRARY, CHECK_ROLE_PLUGIN, CHECK_ROLE_HELPER };

enum check_interface { CHECK_EASY = 1, CHECK_MULTI = 2, CHECK_BOTH = 3 };

/* One object's use of one libcurl. */
struct check_use {
	char *program; /* the executable in whose process it is */
	char *object;  /* the file that calls libcurl; may be the program */
	enum check_role role;
	enum check_interface interface;
	char *libcurl; /* path; NULL: not known */
	char libcurl_version[24];
	char flavour[32];           /* "OPENSSL_4", "GNUTLS_3", …; "unversioned" */
	enum check_binding binding; /* of its easy calls */
	enum check_reason reason;   /* why the easy calls are not wrapped; NONE if they are, or if there are none */
};

struct check_report {
	char **chain; /* program, or script and interpreters, as launch_follow found them */
	size_t chain_count;
	struct check_use *uses;
	size_t use_count;
	enum check_reason reason;    /* of the whole: NONE, or what keeps tenacurl out altogether */
	char *detail;                /* what the reason is about: a path, a size; NULL: nothing more to say */
	bool binder;                 /* the binder is, or would be, in use */
	char binder_reason[96];      /* why not */
	char note[160];              /* something else that people should know; empty: nothing */
	char *tenacurl;              /* --pid: the object's file in the process; NULL: it isn't there */
	struct script_doubts doubts; /* by what uses may be out of reach */
	bool observed;               /* seen at run time, not only read from files */
	bool has_run;                /* --run: the program ran, observed or not */
	int program_status;          /* … with this exit status, as a shell would give it */
	enum check_verdict verdict;
};

/* Adds an empty use and returns it; NULL without memory. */
struct check_use *check_add_use(struct check_report *report);

/* Frees what they point to, and the list. */
void check_uses_free(struct check_use *uses, size_t count);

/* By the symbol version of the libcurl; log records have such names, too: "GNUTLS_3" of "CURL_GNUTLS_3". */
void check_name_flavour(const char *node, struct check_use *use);

/*
 * Says of a use which libcurl it is of, at `path`, which can be read as `file`; `node` is the version of its symbols.
 * Returns false without memory.
 */
bool check_describe_libcurl(const char *node, const char *path, const char *file, struct check_use *use);

/* Whether the use has easy transfers that reach tenacurl. */
bool check_is_wrapped(const struct check_use *use);

/*
 * Draws the verdict: covered if all transfers of all uses are wrapped, not if none are; unknown if that comes from
 * files which can't tell. If there is no reason for the latter two yet it becomes the one that all uses share, or
 * NO_LIBCURL if there are none.
 */
void check_judge(struct check_report *report);
void check_report_free(struct check_report *report);

/* "multi", "setuid", …: the reason's name in JSON. */
const char *check_reason_name(enum check_reason reason);

/* The reason as half a sentence for people, and what would help as a whole one ("": nothing). Never NULL. */
const char *check_reason_text(enum check_reason reason);
const char *check_reason_remedy(enum check_reason reason);

#endif
