/* SPDX-License-Identifier: MIT */

/*
 * A program that reaches some functions of libcurl by linking and others by dlsym on a handle, which no preload can
 * see:
 *
 *     mixed URL WORD…      one transfer for each word
 *
 * A word holds the first letters of the functions that come by dlsym (init, setopt, perform, cleanup); "-" for none.
 */

#include <curl/curl.h>
#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

#undef curl_easy_setopt

struct functions {
	__typeof__(&curl_easy_init) init;
	__typeof__(&curl_easy_setopt) setopt;
	__typeof__(&curl_easy_perform) perform;
	__typeof__(&curl_easy_cleanup) cleanup;
};

static const struct functions linked = {curl_easy_init, curl_easy_setopt, curl_easy_perform, curl_easy_cleanup};
static struct functions found;

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	size_t *body_bytes = data;
	(void)bytes;
	*body_bytes += size * count;
	return size * count;
}

static void transfer(const char *url, const char *word)
{
	const struct functions *init = strchr(word, 'i') ? &found : &linked;
	const struct functions *setopt = strchr(word, 's') ? &found : &linked;
	const struct functions *perform = strchr(word, 'p') ? &found : &linked;
	const struct functions *cleanup = strchr(word, 'c') ? &found : &linked;
	size_t body_bytes = 0;
	long status = 0;

	CURL *curl = init->init();
	setopt->setopt(curl, CURLOPT_URL, url);
	setopt->setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	setopt->setopt(curl, CURLOPT_WRITEDATA, &body_bytes);
	CURLcode result = perform->perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	cleanup->cleanup(curl);
	printf("%s result %d status %ld body %zu\n", word, result, status, body_bytes);
}

int main(int argc, char **argv)
{
	void *library = dlopen("libcurl.so.4", RTLD_NOW);
	if (argc < 2 || !library)
		return 2;
	found.init = (__typeof__(found.init))dlsym(library, "curl_easy_init");
	found.setopt = (__typeof__(found.setopt))dlsym(library, "curl_easy_setopt");
	found.perform = (__typeof__(found.perform))dlsym(library, "curl_easy_perform");
	found.cleanup = (__typeof__(found.cleanup))dlsym(library, "curl_easy_cleanup");
	for (int i = 2; i < argc; i++)
		transfer(argv[1], argv[i]);
	return 0;
}
