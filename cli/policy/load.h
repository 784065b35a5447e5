/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_POLICY_LOAD_H
#define TENACURL_CLI_POLICY_LOAD_H

/* A policy as the preloaded object will have it, overrides included. */

#include "config/find.h"
#include "config/load.h"

/* TENACURL_MODE and TENACURL_LOG; one that is empty is as good as unset, as it is for the object. Texts are not owned.
 */
struct policy_overrides cli_environment_overrides(void);

/* Where a program finds its policy that has this process's environment; `named` is --policy, NULL: not given. */
struct policy_places cli_policy_places(const char *named);

/* Whether `key` (mode, log) takes `value`; if not, `error` says what it takes. */
bool cli_check_override(const char *key, const char *value, struct policy_error *error);

/*
 * Loads `path`, or takes the built-in policy for NULL, and applies `overrides`. warn: NULL to ignore warnings. Returns
 * a policy for the caller to policy_free(), or NULL with `error` filled.
 */
const struct policy *cli_load_policy(const char *path, const struct policy_overrides *overrides, policy_warn warn,
                                     void *warn_context, struct policy_error *error);

#endif
