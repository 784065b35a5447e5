/* SPDX-License-Identifier: MIT */

/*
 * A program that closes every descriptor, even 0 to 2, becomes a daemon, and only then transfers: daemon URL RESULT
 *
 * What it saw appears in the file RESULT, complete at once, with the numbers of the descriptors that were open before
 * and after.
 */

#include <curl/curl.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

/* Appends the numbers of the open descriptors. */
static void list_descriptors(char *text, size_t room_bytes)
{
	DIR *directory = opendir("/proc/self/fd");
	struct dirent *entry;
	size_t used = strlen(text);
	while (directory && (entry = readdir(directory)))
		if (entry->d_name[0] != '.' && atoi(entry->d_name) != dirfd(directory) && used < room_bytes)
			used += (size_t)snprintf(text + used, room_bytes - used, " %s", entry->d_name);
	if (directory)
		closedir(directory);
}

static void become_daemon(void)
{
	for (int fd = 0; fd < 1024; fd++)
		close(fd);
	if (fork() != 0)
		_exit(0);
	setsid();
	if (fork() != 0)
		_exit(0);
}

static size_t on_body(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	*(size_t *)data += size * count;
	return size * count;
}

int main(int argc, char **argv)
{
	char before[512] = "", after[512] = "", temporary[4096];
	size_t body_bytes = 0;
	long status = 0;
	if (argc != 3)
		return 2;
	become_daemon();

	list_descriptors(before, sizeof(before));
	CURL *curl = curl_easy_init();
	curl_easy_setopt(curl, CURLOPT_URL, argv[1]);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, &body_bytes);
	CURLcode result = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_cleanup(curl);
	list_descriptors(after, sizeof(after));

	snprintf(temporary, sizeof(temporary), "%s.new", argv[2]);
	FILE *file = fopen(temporary, "w");
	if (!file)
		return 2;
	fprintf(file, "result %d status %ld body %zu before%s after%s\n", result, status, body_bytes, before, after);
	fclose(file);
	return rename(temporary, argv[2]) != 0;
}
