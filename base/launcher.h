/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_LAUNCHER_H
#define TENACURL_BASE_LAUNCHER_H

/*
 * Whether the launcher of a deadline is still there, whose patience it is. A process that can't be seen (another user's
 * under hidepid, one outside of our pid namespace) isn't gone for that: it is gone when that is proved. System calls,
 * no allocation, any thread; errno isn't kept.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/deadline_text.h"

/* Whether the deadline's clock is this boot's, as far as that can be told. */
bool launcher_is_of_this_boot(const struct deadline_text *deadline);

/*
 * Whether the deadline, which is of this boot, counts at the instant now_ms: its launcher isn't gone. Where nobody can
 * ever tell, in another pid namespace, it ceases to count a minute after it was over.
 */
bool launcher_holds(const struct deadline_text *deadline, int64_t now_ms);

/* What names this process as a launcher: fills all but deadline_ms. Returns false if /proc can't be read. */
bool launcher_be(struct deadline_text *deadline);

/* From the host's clocks, by which the text has it, to this process's, by which all others take it. */
void launcher_take_over(struct deadline_text *deadline);

/* The other way round. */
void launcher_hand_down(struct deadline_text *deadline);

#endif
