/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_UNDER_WAY_H
#define TENACURL_INTERPOSE_UNDER_WAY_H

/*
 * Tells the shared state which operations are between two attempts or at a further one, for `tenacurl last --running`.
 * Not inside of libcurl: it looks whether the state's file still has its name. errno is kept.
 */

#include "interpose/record/operation.h"

/* The operation begins to wait for the attempt that its verdict asks for. System calls once in each process. */
void under_way_waits(struct operation *operation);

/* The wait is over, and the attempt is made. */
void under_way_performs(struct operation *operation);

/* The handle's operation is over, if it was told of. In a child that was forked meanwhile it does nothing. */
void under_way_end(struct handle *handle);

#endif
