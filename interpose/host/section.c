/* SPDX-License-Identifier: MIT */

#include "interpose/host/section.h"
#include "interpose/host/process.h"

/* Whether the rules let us act on HTTP in this program. */
static bool may_act(const struct policy_rules *rules)
{
	if (rules->mode == POLICY_MODE_OFF)
		return false;
	if (rules->programs.count == 0 && rules->skip_programs.count == 0)
		return true;
	return policy_allows_program(rules, process_names(), PROCESS_NAMES);
}

const struct policy_section *section_of(const struct policy *policy, const struct url *url)
{
	const struct policy_section *section = url && url_is_http(url) ? policy_select(policy, url) : NULL;
	return section && may_act(&section->rules) ? section : NULL;
}
