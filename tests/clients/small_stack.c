/* SPDX-License-Identifier: MIT */

/*
 * Transfers on a thread with a small stack: small_stack URL STACK_BYTES [transfers=N] [upload=BYTES] [insecure=1]
 * [measure=1]
 *
 * The stack lies between two pages that can't be touched, so that one byte too many ends the program. Prints the body,
 * the result and the status of each transfer; with measure=1 also how many bytes of the stack were ever written to.
 */

#include <curl/curl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#define PAINT         0xa5
#define TRANSFERS_MAX 16

struct task {
	const char *url;
	long stack_bytes;
	long transfers;
	long upload_bytes;
	long insecure;
	long measure;
	long given_bytes; /* of the upload, so far */
	size_t body_bytes;
	char body[256];
	sigset_t mask_before, mask_after;
	CURLcode results[TRANSFERS_MAX];
	long statuses[TRANSFERS_MAX];
};

static size_t on_write(char *bytes, size_t size, size_t count, void *data)
{
	struct task *task = data;
	size_t room_bytes = sizeof(task->body) - task->body_bytes;
	size_t taken_bytes = size * count < room_bytes ? size * count : room_bytes;
	memcpy(task->body + task->body_bytes, bytes, taken_bytes);
	task->body_bytes += taken_bytes;
	return size * count;
}

static size_t on_read(char *out, size_t size, size_t count, void *data)
{
	struct task *task = data;
	size_t given_bytes = 0;
	for (; given_bytes < size * count && task->given_bytes < task->upload_bytes; task->given_bytes++)
		out[given_bytes++] = (char)('a' + task->given_bytes % 26);
	return given_bytes;
}

static void *perform_all(void *data)
{
	struct task *task = data;
	pthread_sigmask(SIG_SETMASK, NULL, &task->mask_before);
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, task->url);
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_write);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, task);
	curl_easy_setopt(curl, CURLOPT_SSL_VERIFYPEER, (long)!task->insecure);
	if (task->upload_bytes > 0) {
		curl_easy_setopt(curl, CURLOPT_UPLOAD, 1L);
		curl_easy_setopt(curl, CURLOPT_READFUNCTION, on_read);
		curl_easy_setopt(curl, CURLOPT_READDATA, task);
		curl_easy_setopt(curl, CURLOPT_INFILESIZE_LARGE, (curl_off_t)task->upload_bytes);
	}
	for (long i = 0; i < task->transfers; i++) {
		task->given_bytes = 0;
		task->results[i] = curl_easy_perform(curl);
		curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &task->statuses[i]);
	}
	curl_easy_cleanup(curl);
	pthread_sigmask(SIG_SETMASK, NULL, &task->mask_after);
	return NULL;
}

static unsigned char *make_stack(size_t stack_bytes)
{
	size_t page_bytes = (size_t)sysconf(_SC_PAGESIZE);
	unsigned char *area = mmap(NULL, stack_bytes + 2 * page_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	if (area == MAP_FAILED || mprotect(area + page_bytes, stack_bytes, PROT_READ | PROT_WRITE) != 0)
		exit(99);
	memset(area + page_bytes, PAINT, stack_bytes);
	return area + page_bytes;
}

static void read_option(struct task *task, const char *argument)
{
	const struct {
		const char *name;
		long *value;
	} options[] = {
	    {"transfers=", &task->transfers},
	    {"upload=", &task->upload_bytes},
	    {"insecure=", &task->insecure},
	    {"measure=", &task->measure},
	};
	for (size_t i = 0; i < sizeof(options) / sizeof(options[0]); i++) {
		size_t name_bytes = strlen(options[i].name);
		if (strncmp(argument, options[i].name, name_bytes) == 0) {
			*options[i].value = strtol(argument + name_bytes, NULL, 10);
			return;
		}
	}
	exit(99);
}

int main(int argc, char **argv)
{
	static struct task task;
	pthread_attr_t attributes;
	pthread_t thread;
	if (argc < 3)
		return 99;
	task.url = argv[1];
	task.stack_bytes = strtol(argv[2], NULL, 10);
	task.transfers = 1;
	for (int i = 3; i < argc; i++)
		read_option(&task, argv[i]);
	if (task.transfers > TRANSFERS_MAX)
		return 99;
	curl_global_init(CURL_GLOBAL_ALL);

	size_t stack_bytes = (size_t)task.stack_bytes, untouched_bytes = 0;
	unsigned char *stack = make_stack(stack_bytes);
	pthread_attr_init(&attributes);
	if (pthread_attr_setstack(&attributes, stack, stack_bytes) != 0 ||
	    pthread_create(&thread, &attributes, perform_all, &task) != 0)
		return 98;
	pthread_join(thread, NULL);

	printf("%.*s\n", (int)task.body_bytes, task.body);
	for (long i = 0; i < task.transfers; i++)
		printf("result %d status %ld\n", task.results[i], task.statuses[i]);
	if (memcmp(&task.mask_before, &task.mask_after, sizeof(task.mask_before)) != 0)
		puts("the signal mask has changed");
	while (untouched_bytes < stack_bytes && stack[untouched_bytes] == PAINT)
		untouched_bytes++;
	if (task.measure)
		printf("used %zu\n", stack_bytes - untouched_bytes);
	curl_global_cleanup();
	return 0;
}
