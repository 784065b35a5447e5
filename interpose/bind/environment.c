/* SPDX-License-Identifier: MIT */

#include "interpose/bind/environment.h"

#include <link.h>
#include <stddef.h>

#include "config/variable.h"
#include "interpose/bind/object.h"

static char **variables;
static char **arguments;

__attribute__((constructor)) static void keep_environment(int argc, char **argv, char **environment)
{
	(void)argc;
	arguments = argv;
	variables = environment;
}

char **environment_arguments(void)
{
	return arguments;
}

char **environment_variables(void)
{
	return variables;
}

/* The kernel puts it behind the environment. */
unsigned long environment_auxiliary(unsigned long type)
{
	char **end = variables;
	while (*end)
		end++;
	const ElfW(auxv_t) *entry = (const ElfW(auxv_t) *)(const void *)(end + 1);
	while (entry->a_type != AT_NULL && entry->a_type != type)
		entry++;
	return entry->a_type == type ? entry->a_un.a_val : 0;
}

const char *environment_get(const char *name)
{
	for (char **variable = variables; variable && *variable; variable++) {
		const char *text = *variable, *wanted = name;
		while (*wanted && *text == *wanted) {
			text++;
			wanted++;
		}
		if (!*wanted && *text == '=')
			return text + 1;
	}
	return NULL;
}

bool environment_is_disabled(void)
{
	return variable_read_switch(environment_get("TENACURL_DISABLE")) != VARIABLE_OFF;
}
