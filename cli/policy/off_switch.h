/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_POLICY_OFF_SWITCH_H
#define TENACURL_CLI_POLICY_OFF_SWITCH_H

/* What every command tells of the file that switches tenacurl off for the whole host (config/kill_switch.h). */

#include "config/kill_switch.h"

#define OFF_SWITCH_TEXT_BYTES 512

/*
 * Puts into `text`, as a line for people without its newline, what there is to tell of the switch: that it is on, that
 * it can't be looked at, that it is there and doesn't count; "" where it isn't there. Returns which of these it is.
 */
enum kill_switch off_switch_describe(char text[static OFF_SWITCH_TEXT_BYTES]);

/* Says the same on standard error, after "tenacurl: ". Says nothing if there is nothing to tell. */
void off_switch_tell(void);

#endif
