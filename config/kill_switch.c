/* SPDX-License-Identifier: MIT */
#include "config/kill_switch.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include "base/error_text.h"
#include "config/complaint.h"
#include "config/owner.h"

enum kill_switch kill_switch_look(struct policy_error *error)
{
	static const struct complaint_place place = {.path = KILL_SWITCH};
	int saved_errno = errno;
	struct stat status;
	enum kill_switch seen;

	if (lstat(KILL_SWITCH, &status) == 0) {
		seen = owner_is_trusted(status.st_uid) ? KILL_SWITCH_SET : KILL_SWITCH_FOREIGN;
		if (seen == KILL_SWITCH_FOREIGN && error != NULL)
			complain(error, &place, "doesn't count, since it belongs to user %lu; allowed: root's",
			         (unsigned long)status.st_uid);
	} else if (errno == ENOENT || errno == ENOTDIR) {
		seen = KILL_SWITCH_OPEN;
	} else {
		seen = KILL_SWITCH_UNKNOWN;
		if (error != NULL)
			complain(error, &place, "cannot be looked at: %s, so tenacurl stays out", error_text(errno));
	}
	errno = saved_errno;
	return seen;
}
