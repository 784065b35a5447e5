/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_LIBCURL_H
#define TENACURL_INTERPOSE_LIBCURL_H

/*
 * The real libcurls of the process. Several are normal (gdalinfo, octave, apache load the OpenSSL and the GnuTLS
 * flavour), so real functions belong to a libcurl, and a handle to the libcurl that made it.
 */

#include <stdbool.h>
#include <stdint.h>

#include "interpose/libcurl/curl_abi.h"
#include "interpose/libcurl/reference.h"

struct libcurl {
	struct libcurl *next;        /* in the list of all that were seen */
	unsigned int number;         /* counted from 1 */
	const void *begin, *end;     /* where the object is mapped */
	uintptr_t load;              /* what the object's addresses are relative to */
	const void *dynamic;         /* its dynamic section: no two objects have that at one place */
	uint64_t path_hash;          /* of its file, by which it is known from another one that came to its place */
	bool stays_mapped;           /* it came with the program */
	_Atomic bool is_unmapped;    /* it was, and another object may lie there now */
	char node[32];               /* the version of its functions; "": they have none */
	char flavour[24];            /* OPENSSL_4, GNUTLS_3, …; "unversioned" */
	char version[24];            /* 8.5.0 */
	unsigned int version_number; /* 0x080500 */
	bool asynchronous_lookup;    /* it can bound name look-ups without SIGALRM */

	/* The real functions, with the types that libcurl's header gives them; NULL in a libcurl that is older. */
#define LIBCURL_FUNCTION(since, symbol, word, ...) __typeof__(symbol) *word;
	WRAPPED_FUNCTIONS(LIBCURL_FUNCTION)
	CALLED_FUNCTIONS(LIBCURL_FUNCTION)
#undef LIBCURL_FUNCTION
};

/*
 * Returns the libcurl that a call from `caller` through this reference would have reached without us, or NULL if there
 * is none. Takes the lock of the loader's list of objects (interpose/host/mapping.h), from glibc 2.35 on only for the
 * first call from a place; not for hot paths. Any thread; errno may change.
 *
 * What is returned is never freed, but its functions are there only as long as the program keeps it mapped: by then it
 * may not call them any more, through us or not.
 */
const struct libcurl *libcurl_of_caller(const struct reference *reference, const void *caller);

/* Whether the libcurl is still what is mapped there, as far as that can be said without a lock. */
bool libcurl_is_mapped(const struct libcurl *libcurl);

/* Whether `address` lies in this libcurl: a call from there is its own. */
static inline bool libcurl_contains(const struct libcurl *libcurl, const void *address)
{
	return address >= libcurl->begin && address < libcurl->end;
}

#endif
