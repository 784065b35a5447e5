/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_POLICY_POLICY_H
#define TENACURL_CLI_POLICY_POLICY_H

/*
 * `tenacurl policy check|explain|keys`; argv[0] is "policy". Answers go to stdout, complaints and warnings to stderr,
 * each after "tenacurl: ". Returns the exit status: 0; 1 for a policy that can't be used or an answer that can't be
 * written; 2 for wrong usage. Reads HOME, TENACURL_POLICY,
 * and explain TENACURL_MODE and TENACURL_LOG too.
 */
int policy_command(int argc, char **argv);

#endif
