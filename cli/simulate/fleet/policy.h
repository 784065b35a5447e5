/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SIMULATE_FLEET_POLICY_H
#define TENACURL_CLI_SIMULATE_FLEET_POLICY_H

#include "cli/simulate/fleet/scenario.h"

enum fleet_policy { FLEET_NO_RETRIES, FLEET_NAIVE, FLEET_TENACURL, FLEET_POLICIES };

/*
 * The rules that stand for a policy. Without retries and in the naive loop each attempt has the program's whole
 * timeout, as a loop around a transfer gives it; if there is none, the policy's per_try_ms, so that all three are as
 * patient.
 */
struct policy_rules fleet_rules_of(const struct fleet_scenario *scenario, enum fleet_policy policy);

/* The policy's name for people. */
const char *fleet_policy_name(enum fleet_policy policy);

#endif
