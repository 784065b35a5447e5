/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_LAUNCH_SWITCH_H
#define TENACURL_CLI_LAUNCH_SWITCH_H

/* What is done on the way to TENACURL_DISABLE. */
enum launch_switch { LAUNCH_SWITCH_KEPT, LAUNCH_SWITCH_OFF, LAUNCH_SWITCH_ON };

#endif
