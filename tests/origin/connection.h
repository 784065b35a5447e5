/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_CONNECTION_H
#define ORIGIN_CONNECTION_H

#include "tests/origin/server.h"

/* Serves the accepted socket `fd` in a thread of its own, which closes it. `number` names it in the record. */
void connection_start(struct server *server, int fd, int64_t number);

#endif
