/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_POLICY_INI_H
#define TENACURL_CLI_POLICY_INI_H

#include "config/load.h"

/* iniparser's functions, as the command line tool is linked with them. Static. */
const struct ini_functions *cli_ini_functions(void);

#endif
