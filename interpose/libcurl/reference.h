/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_REFERENCE_H
#define TENACURL_INTERPOSE_REFERENCE_H

#include "interpose/bind/bind.h"

/* How a call came to us: what its entry point says of the libcurl that was meant. */
struct reference {
	const char *version;          /* the symbol version node that the caller's reference names; NULL: none */
	const struct bind_slot *slot; /* of the libcurl that it was bound to; NULL unless the binder brought it here */
};

#endif
