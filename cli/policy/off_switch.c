/* SPDX-License-Identifier: MIT */
#include "cli/policy/off_switch.h"

#include <stdio.h>

#include "cli/say/plain_text.h"

enum kill_switch off_switch_describe(char text[static OFF_SWITCH_TEXT_BYTES])
{
	struct policy_error error;
	text[0] = '\0';
	enum kill_switch seen = kill_switch_look(&error);
	switch (seen) {
	case KILL_SWITCH_OPEN:
		break;
	case KILL_SWITCH_SET:
		snprintf(text, OFF_SWITCH_TEXT_BYTES,
		         KILL_SWITCH " switches tenacurl off: nothing is retried while it is there");
		break;
	case KILL_SWITCH_FOREIGN:
	case KILL_SWITCH_UNKNOWN:
		snprintf(text, OFF_SWITCH_TEXT_BYTES, "%s", error.text);
		break;
	}
	return seen;
}

void off_switch_tell(void)
{
	char text[OFF_SWITCH_TEXT_BYTES];
	if (off_switch_describe(text) != KILL_SWITCH_OPEN)
		fprintf(stderr, "tenacurl: %s\n", plain_text(text));
}
