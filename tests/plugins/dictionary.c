/* SPDX-License-Identifier: MIT */

/*
 * A program's own functions under iniparser's names. Exported (-rdynamic), they come before a library's in every
 * look-up; a policy that was read through them would be empty.
 */

#include <stdio.h>

void *dictionary_new(size_t size);
void dictionary_del(void *dictionary);
int dictionary_set(void *dictionary, const char *key, const char *value);
const char *dictionary_get(const void *dictionary, const char *key, const char *missing);
void *iniparser_load(const char *path);
void iniparser_freedict(void *dictionary);
int iniparser_getnsec(const void *dictionary);
const char *iniparser_getsecname(const void *dictionary, int n);
const char *iniparser_getstring(const void *dictionary, const char *key, const char *missing);
void iniparser_set_error_callback(int (*callback)(const char *, ...));

static void say(const char *function)
{
	printf("the program's %s was called\n", function);
}

void *dictionary_new(size_t size)
{
	(void)size;
	say(__func__);
	return NULL;
}

void dictionary_del(void *dictionary)
{
	(void)dictionary;
	say(__func__);
}

int dictionary_set(void *dictionary, const char *key, const char *value)
{
	(void)dictionary;
	(void)key;
	(void)value;
	say(__func__);
	return -1;
}

const char *dictionary_get(const void *dictionary, const char *key, const char *missing)
{
	(void)dictionary;
	(void)key;
	say(__func__);
	return missing;
}

void *iniparser_load(const char *path)
{
	(void)path;
	say(__func__);
	return NULL;
}

void iniparser_freedict(void *dictionary)
{
	(void)dictionary;
	say(__func__);
}

int iniparser_getnsec(const void *dictionary)
{
	(void)dictionary;
	say(__func__);
	return 0;
}

const char *iniparser_getsecname(const void *dictionary, int n)
{
	(void)dictionary;
	(void)n;
	say(__func__);
	return NULL;
}

const char *iniparser_getstring(const void *dictionary, const char *key, const char *missing)
{
	(void)dictionary;
	(void)key;
	say(__func__);
	return missing;
}

void iniparser_set_error_callback(int (*callback)(const char *, ...))
{
	(void)callback;
	say(__func__);
}
