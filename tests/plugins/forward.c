/* SPDX-License-Identifier: MIT */

/*
 * A libcurl of its own: it hands everything on to the GnuTLS flavour, but its symbols carry no version, or whichever
 * the version script says, and it calls itself FORWARD_NAME. It can also be compiled into its user, as a bundled
 * libcurl.
 */

#define CURL_DISABLE_TYPECHECK
#include <curl/curl.h>
#include <dlfcn.h>
#include <stdarg.h>
#include <stdlib.h>

#undef curl_easy_setopt
#undef curl_easy_getinfo

#define EXPORT __attribute__((visibility("default")))

static void *find_real(const char *name)
{
	void *library = dlopen("libcurl-gnutls.so.4", RTLD_NOW | RTLD_LOCAL);
	void *symbol = library ? dlsym(library, name) : NULL;
	if (!symbol)
		abort();
	return symbol;
}

/* The real function of the same name, by the type of this one. */
#define REAL(function) ((__typeof__(&function))find_real(__func__))

EXPORT CURL *curl_easy_init(void)
{
	return REAL(curl_easy_init)();
}

EXPORT CURLcode curl_easy_setopt(CURL *curl, CURLoption option, ...)
{
	va_list arguments;
	va_start(arguments, option);
	void *argument = va_arg(arguments, void *);
	va_end(arguments);
	return REAL(curl_easy_setopt)(curl, option, argument);
}

EXPORT CURLcode curl_easy_getinfo(CURL *curl, CURLINFO info, ...)
{
	va_list arguments;
	va_start(arguments, info);
	void *argument = va_arg(arguments, void *);
	va_end(arguments);
	return REAL(curl_easy_getinfo)(curl, info, argument);
}

EXPORT const char *curl_easy_strerror(CURLcode result)
{
	return REAL(curl_easy_strerror)(result);
}

EXPORT CURLcode curl_easy_perform(CURL *curl)
{
	return REAL(curl_easy_perform)(curl);
}

EXPORT void curl_easy_cleanup(CURL *curl)
{
	REAL(curl_easy_cleanup)(curl);
}

EXPORT void curl_easy_reset(CURL *curl)
{
	REAL(curl_easy_reset)(curl);
}

EXPORT CURL *curl_easy_duphandle(CURL *curl)
{
	return REAL(curl_easy_duphandle)(curl);
}

EXPORT CURLcode curl_easy_pause(CURL *curl, int action)
{
	return REAL(curl_easy_pause)(curl, action);
}

EXPORT curl_version_info_data *curl_version_info(CURLversion age)
{
	static curl_version_info_data named;
	named = *REAL(curl_version_info)(age);
	named.version = FORWARD_NAME;
	return &named;
}
