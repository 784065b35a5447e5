/* SPDX-License-Identifier: MIT */
#include "cli/policy/ini.h"

#include <iniparser/iniparser.h>

const struct ini_functions *cli_ini_functions(void)
{
	static const struct ini_functions functions = {
	    .load = iniparser_load,
	    .free_dictionary = iniparser_freedict,
	    .section_count = iniparser_getnsec,
	    .section_name = iniparser_getsecname,
	    .get_string = iniparser_getstring,
	    .set_error_callback = iniparser_set_error_callback,
	};
	return &functions;
}
