/* SPDX-License-Identifier: MIT */

/*
 * Transfers while the dynamic linker's lock is held, by a thread that lets go of it only when the transfer has ended:
 *
 *     hooked_host WAY PLUGIN URL RUNS
 *
 *     constructor    a plugin's constructor waits for a thread that makes a transfer, each time it is opened
 *     destructor     its destructor does, each time it is closed
 *     beside         its constructor waits, in another thread, for a transfer of the main thread
 *     callback       the plugin of `constructor` is opened in a callback of a transfer (-DHAS_SELF)
 *     listing        a transfer in a callback of dl_iterate_phdr()
 *     fork           a child is made while another thread is in the plugin's constructor; it makes a transfer
 *
 * PLUGIN is tests/plugins/hooked.c. Transfers are made by the plugin where there is one; with -DHAS_SELF by the program
 * itself. Each prints a line. SIGALRM ends what hangs.
 */

#include <curl/curl.h>
#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/plugins/hooks.h"

#define LIMIT_S 60

static const char *way, *path, *url;
static const struct fetch_functions *used; /* by transfers */
static sem_t constructed, done;

static void fail(const char *what)
{
	printf("%s failed\n", what);
	exit(3);
}

static void use(const struct fetch_functions *functions)
{
#ifdef HAS_SELF
	used = &fetch_functions;
	(void)functions;
#else
	used = functions;
#endif
}

static void transfer(const char *name)
{
	struct fetch *fetch = used->open(url);
	if (!fetch)
		fail("curl_easy_init");
	used->perform_and_print(fetch, name);
	used->close(fetch);
}

static pthread_t start(void *(*function)(void *), void *argument)
{
	pthread_t thread;
	if (pthread_create(&thread, NULL, function, argument) != 0)
		fail("pthread_create");
	return thread;
}

static void *work(void *name)
{
	transfer(*(const char **)name);
	return NULL;
}

static void transfer_in_thread(const char *name)
{
	pthread_join(start(work, &name), NULL);
}

__attribute__((visibility("default"))) void hook_constructed(const struct fetch_functions *functions)
{
	use(functions);
	if (strcmp(way, "constructor") == 0 || strcmp(way, "callback") == 0)
		transfer_in_thread("constructor");
	if (strcmp(way, "beside") != 0 && strcmp(way, "fork") != 0)
		return;
	sem_post(&constructed);
	sem_wait(&done);
}

__attribute__((visibility("default"))) void hook_destructed(const struct fetch_functions *functions)
{
	use(functions);
	if (strcmp(way, "destructor") == 0)
		transfer_in_thread("destructor");
}

static void *open_and_close(void *unused)
{
	void *plugin = dlopen(path, RTLD_NOW);
	(void)unused;
	if (!plugin)
		fail(dlerror());
	dlclose(plugin);
	return NULL;
}

static void beside(void)
{
	pthread_t opening = start(open_and_close, NULL);
	sem_wait(&constructed);
	transfer("beside");
	sem_post(&done);
	pthread_join(opening, NULL);
}

static void in_child(void)
{
	pthread_t opening = start(open_and_close, NULL);
	sem_wait(&constructed);
	pid_t child = fork();
	if (child == 0) {
		alarm(LIMIT_S);
		transfer("child");
		_exit(0);
	}
	int status = -1;
	waitpid(child, &status, 0);
	sem_post(&done);
	pthread_join(opening, NULL);
	if (status != 0)
		fail("the child");
}

static int transfer_once(struct dl_phdr_info *info, size_t size, void *context)
{
	(void)info;
	(void)size;
	(void)context;
	transfer("listing");
	return 1;
}

static void listing(void)
{
	void *plugin = dlopen(path, RTLD_NOW);
	dl_iterate_phdr(transfer_once, NULL);
	dlclose(plugin);
}

#ifdef HAS_SELF
static size_t open_in_callback(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	open_and_close(NULL);
	return size * count;
}

static void in_callback(void)
{
	long status = 0;
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, open_in_callback);
	CURLcode result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	printf("callback result %d status %ld\n", (int)result, status);
	curl_easy_cleanup(curl);
}
#else
static void in_callback(void)
{
	fail("callback");
}
#endif

int main(int argc, char **argv)
{
	if (argc != 5)
		return 2;
	way = argv[1];
	path = argv[2];
	url = argv[3];
	sem_init(&constructed, 0, 0);
	sem_init(&done, 0, 0);
	alarm(LIMIT_S);
	for (int run = 0; run < atoi(argv[4]); run++) {
		if (strcmp(way, "beside") == 0)
			beside();
		else if (strcmp(way, "fork") == 0)
			in_child();
		else if (strcmp(way, "listing") == 0)
			listing();
		else if (strcmp(way, "callback") == 0)
			in_callback();
		else
			open_and_close(NULL);
	}
	puts("end");
	return 0;
}
