/* SPDX-License-Identifier: MIT */

#include "tests/plugins/fetch.h"

#include <curl/curl.h>
#include <link.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#undef curl_easy_setopt

/* Sets callbacks. */
#ifdef KEEPS_AN_ADDRESS
/* By a reference that isn't a call: the dynamic linker stores an address in our data. */
static CURLcode (*volatile set_callback)(CURL *curl, CURLoption option, ...) = curl_easy_setopt;
#else
#define set_callback curl_easy_setopt
#endif

struct fetch {
	CURL *curl;
	char served_by[64]; /* file name of the libcurl that connected; "-": none did */
	char body[64];      /* as much as fits */
	size_t body_bytes;
	const char *result; /* by a function that tenacurl leaves alone */
};

/* A place in the process, and what is mapped there; not by dladdr, which waits for whoever opens a library. */
struct place {
	uintptr_t address;
	char *file_name;
	size_t room_bytes;
};

static int name_place(struct dl_phdr_info *object, size_t size, void *context)
{
	struct place *place = context;
	(void)size;
	for (size_t i = 0; i < object->dlpi_phnum; i++) {
		const ElfW(Phdr) *header = &object->dlpi_phdr[i];
		uintptr_t begin = object->dlpi_addr + header->p_vaddr;
		if (header->p_type != PT_LOAD || place->address < begin || place->address >= begin + header->p_memsz)
			continue;
		const char *slash = strrchr(object->dlpi_name, '/');
		snprintf(place->file_name, place->room_bytes, "%s", slash ? slash + 1 : object->dlpi_name);
		return 1;
	}
	return 0;
}

/* tenacurl never touches this callback, so who calls it is the libcurl that serves the transfer. */
static int on_socket(void *data, curl_socket_t socket, curlsocktype purpose)
{
	struct fetch *fetch = data;
	struct place caller = {
	    .address = (uintptr_t)__builtin_return_address(0),
	    .file_name = fetch->served_by,
	    .room_bytes = sizeof(fetch->served_by),
	};
	(void)socket;
	(void)purpose;
	dl_iterate_phdr(name_place, &caller);
	return CURL_SOCKOPT_OK;
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	struct fetch *fetch = data;
	size_t count_bytes = size * count;
	for (size_t i = 0; i < count_bytes; i++, fetch->body_bytes++)
		if (fetch->body_bytes < sizeof(fetch->body) - 1)
			fetch->body[fetch->body_bytes] = bytes[i];
	return count_bytes;
}

static struct fetch *fetch_open(const char *url)
{
	struct fetch *fetch = calloc(1, sizeof(*fetch));
	if (!fetch)
		return NULL;
	strcpy(fetch->served_by, "-");
	fetch->curl = curl_easy_init();
	if (!fetch->curl) {
		free(fetch);
		return NULL;
	}
	curl_easy_setopt(fetch->curl, CURLOPT_URL, url);
	set_callback(fetch->curl, CURLOPT_WRITEFUNCTION, on_body);
	set_callback(fetch->curl, CURLOPT_WRITEDATA, fetch);
	set_callback(fetch->curl, CURLOPT_SOCKOPTFUNCTION, on_socket);
	set_callback(fetch->curl, CURLOPT_SOCKOPTDATA, fetch);
	curl_easy_setopt(fetch->curl, CURLOPT_NOSIGNAL, 1L);
	return fetch;
}

static int fetch_perform(struct fetch *fetch)
{
	return (int)curl_easy_perform(fetch->curl);
}

static void fetch_print(struct fetch *fetch, const char *name, int result)
{
	long status = 0;
	fetch->result = curl_easy_strerror((CURLcode)result);
	curl_easy_getinfo(fetch->curl, CURLINFO_RESPONSE_CODE, &status);
	printf("%s result %d status %ld served by %s body %s\n", name, result, status, fetch->served_by, fetch->body);
	fflush(stdout);
	memset(fetch->body, 0, sizeof(fetch->body));
	fetch->body_bytes = 0;
}

static int fetch_perform_and_print(struct fetch *fetch, const char *name)
{
	int result = (int)curl_easy_perform(fetch->curl);
	fetch_print(fetch, name, result);
	return result;
}

static void fetch_close(struct fetch *fetch)
{
	curl_easy_cleanup(fetch->curl);
	free(fetch);
}

__attribute__((visibility("default"))) const struct fetch_functions fetch_functions = {
    .open = fetch_open,
    .perform = fetch_perform,
    .perform_and_print = fetch_perform_and_print,
    .print = fetch_print,
    .close = fetch_close,
};
