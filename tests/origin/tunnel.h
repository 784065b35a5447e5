/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_TUNNEL_H
#define ORIGIN_TUNNEL_H

#include <stdint.h>

#include "tests/origin/wire.h"

/*
 * Connects to the port of `target` ("host:port") on 127.0.0.1, whatever the host: nothing leaves the machine. Returns
 * a non-blocking descriptor, or -1.
 */
int tunnel_connect(const char *target);

/* Carries bytes both ways until one side closes or the server stops. Closes neither descriptor. */
void tunnel_run(const struct wire *client, int target_fd, int64_t *up_bytes, int64_t *down_bytes);

#endif
