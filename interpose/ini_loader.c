/* SPDX-License-Identifier: MIT */

#include <dlfcn.h>
#include <stddef.h>
#include <string.h>

#include "interpose/ini_loader.h"

/* What musl lacks is weak: a musl program that inherits the preload must still start. */
extern void *dlmopen(Lmid_t nsid, const char *file, int mode) __attribute__((weak));

/* The sonames of iniparser 4.1 and of 4.2 and later; the functions used are the same. */
static const char *const sonames[] = {"libiniparser.so.1", "libiniparser.so.4"};

static const struct {
	const char *name;
	size_t offset; /* in struct ini_functions */
} wanted_functions[] = {
    {"iniparser_load", offsetof(struct ini_functions, load)},
    {"iniparser_freedict", offsetof(struct ini_functions, free_dictionary)},
    {"iniparser_getnsec", offsetof(struct ini_functions, section_count)},
    {"iniparser_getsecname", offsetof(struct ini_functions, section_name)},
    {"iniparser_getstring", offsetof(struct ini_functions, get_string)},
    {"iniparser_set_error_callback", offsetof(struct ini_functions, set_error_callback)},
};

bool ini_loader_open(struct ini_loader *loader)
{
	loader->library = NULL;
	for (size_t i = 0; dlmopen && !loader->library && i < sizeof(sonames) / sizeof(sonames[0]); i++)
		loader->library = dlmopen(LM_ID_NEWLM, sonames[i], RTLD_NOW | RTLD_LOCAL);
	if (!loader->library) {
		dlerror();
		return false;
	}
	for (size_t i = 0; i < sizeof(wanted_functions) / sizeof(wanted_functions[0]); i++) {
		void *symbol = dlsym(loader->library, wanted_functions[i].name);
		if (!symbol) {
			ini_loader_close(loader);
			return false;
		}
		memcpy((char *)&loader->functions + wanted_functions[i].offset, &symbol, sizeof(symbol));
	}
	return true;
}

void ini_loader_close(struct ini_loader *loader)
{
	dlclose(loader->library);
	loader->library = NULL;
	dlerror();
}
