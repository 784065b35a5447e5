/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_PLAN_H
#define TENACURL_CLI_RUN_PLAN_H

/* What comes of the options of `tenacurl run`, and the program's environment after that. */

#include <stdbool.h>

#include "base/deadline_text.h"
#include "cli/run/options.h"
#include "cli/say/error.h"

#define RUN_ID_DIGITS 16

/* What the program's environment will hold; NULL: left as it is. Texts are owned. */
struct run_plan {
	char *object; /* as LD_PRELOAD names it; NULL: no preloading */
	char *binder; /* as LD_AUDIT names it; NULL: no binder */
	char *policy_path;
	char *log;
	char run_id[RUN_ID_DIGITS + 1];
	char deadline[DEADLINE_TEXT_BYTES_MAX]; /* empty: none of our own */
	bool void_deadline;                     /* the inherited one is to go */
};

/* Makes the plan. Returns false with `error` filled if run has to refuse. To be freed in either case. */
bool run_plan_make(const struct run_options *options, struct run_plan *plan, struct say_error *error);
void run_plan_free(struct run_plan *plan);

/* Puts the plan into this process's environment. Returns false if that fails; errno says why. */
bool run_plan_set(const struct run_options *options, const struct run_plan *plan);

#endif
