/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_SAY_EXIT_H
#define TENACURL_CLI_SAY_EXIT_H

/* Exit statuses of `run` and `check` themselves, those of env(1) and timeout(1). Otherwise the status is the program's.
 */
enum say_exit {
	SAY_EXIT_REFUSED = 125,        /* it could not do what it was asked for; nothing was started */
	SAY_EXIT_NOT_EXECUTABLE = 126, /* the program was found but could not be started */
	SAY_EXIT_NOT_FOUND = 127
};

#endif
