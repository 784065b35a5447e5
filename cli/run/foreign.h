/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_RUN_FOREIGN_H
#define TENACURL_CLI_RUN_FOREIGN_H

#include "cli/say/error.h"

/* Whether the command is known not to use libcurl; if so, `text` says that. */
bool run_is_foreign(char **command, struct say_error *text);

#endif
