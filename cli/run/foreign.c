/* SPDX-License-Identifier: MIT */
/*
 * That a file isn't linked with libcurl proves nothing: it may load or start something that is. So there is a list of
 * what is known to make its requests itself. An interpreter is, for a script that names another library for that and
 * curl nowhere: what the script starts would be named in it.
 */
#include "cli/run/foreign.h"

#include <string.h>

#include "cli/launch/subject.h"

struct foreign {
	const char *program; /* glob */
	const char *words;   /* of the script and the command line, one of which must be there; NULL: none need be */
};

static const struct foreign FOREIGN[] = {
    {"wget", NULL},
    {"wget2", NULL},
    {"aria2c", NULL},
    {"axel", NULL},
    {"lftp", NULL},
    {"lynx", NULL},
    {"w3m", NULL},
    {"elinks", NULL},
    {"python3*", "import urllib|from urllib|import http.client|from http.client|import requests|from requests|"
                 "import httpx|from httpx|import aiohttp|from aiohttp"},
    {"perl*", "LWP|HTTP::Tiny|WWW::Mechanize"},
    {"ruby*", "net/http|open-uri|faraday|httparty"},
    {"node", "http|fetch|axios"},
};

static bool is_row_of(const struct foreign *row, const struct subject *subject)
{
	return subject_is(subject, row->program) &&
	       (!row->words || (subject_has(subject, row->words, "") && !subject_has(subject, "curl", "")));
}

/* What people call it: the script where there is one. */
static const char *name_of(const struct launch *launch, const struct subject *subject)
{
	const char *argument = launch->arguments[0];
	if (launch->script)
		return basename(launch->script);
	return argument && subject_text_of(subject, argument) ? basename(argument) : basename(launch->path);
}

static bool find(const struct launch *launch, struct say_error *text)
{
	struct subject subject = {0};
	bool is_foreign = false;
	bool is_read = subject_read(launch, &subject);
	for (size_t i = 0; is_read && !is_foreign && i < sizeof(FOREIGN) / sizeof(FOREIGN[0]); i++)
		is_foreign = is_row_of(&FOREIGN[i], &subject);
	if (is_foreign)
		say_refuse(text, "%s doesn't use libcurl, so its requests aren't retried", name_of(launch, &subject));
	subject_free(&subject);
	return is_foreign;
}

bool run_is_foreign(char **command, struct say_error *text)
{
	struct launch launch = {0};
	bool is_foreign = launch_follow(command, &launch) && !launch.starts_run && find(&launch, text);
	launch_free(&launch);
	return is_foreign;
}
