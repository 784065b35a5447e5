/* SPDX-License-Identifier: MIT */

/*
 * Two handles on one share with locks: shared URL
 *
 * Prints the results, the number of locks that were taken and not given back, and whether one was held while the
 * progress callback ran (which it does during waits, too).
 */

#define CURL_DISABLE_DEPRECATION /* the older progress function, which every libcurl has */
#include <curl/curl.h>
#include <stdio.h>

#define HANDLES 2

static int taken[CURL_LOCK_DATA_LAST + 1], locks, held_in_callback;

static int held(void)
{
	int sum = 0;
	for (int i = 0; i <= CURL_LOCK_DATA_LAST; i++)
		sum += taken[i];
	return sum;
}

static void lock(CURL *curl, curl_lock_data data, curl_lock_access access, void *user)
{
	(void)curl, (void)access, (void)user;
	taken[data]++;
	locks++;
}

static void unlock(CURL *curl, curl_lock_data data, void *user)
{
	(void)curl, (void)user;
	taken[data]--;
}

static size_t discard(char *bytes, size_t size, size_t count, void *data)
{
	(void)bytes;
	(void)data;
	return size * count;
}

static int on_progress(void *data, double a, double b, double c, double d)
{
	(void)data, (void)a, (void)b, (void)c, (void)d;
	held_in_callback += held() > 0;
	return 0;
}

int main(int argc, char **argv)
{
	CURL *handles[HANDLES];
	if (argc != 2)
		return 99;
	curl_global_init(CURL_GLOBAL_ALL);
	CURLSH *share = curl_share_init();
	curl_share_setopt(share, CURLSHOPT_LOCKFUNC, lock);
	curl_share_setopt(share, CURLSHOPT_UNLOCKFUNC, unlock);
	curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_COOKIE);
	curl_share_setopt(share, CURLSHOPT_SHARE, CURL_LOCK_DATA_DNS);
	for (int i = 0; i < HANDLES; i++) {
		handles[i] = curl_easy_init();
		curl_easy_setopt(handles[i], CURLOPT_URL, argv[1]);
		curl_easy_setopt(handles[i], CURLOPT_SHARE, share);
		curl_easy_setopt(handles[i], CURLOPT_COOKIEFILE, "");
		curl_easy_setopt(handles[i], CURLOPT_WRITEFUNCTION, discard);
		curl_easy_setopt(handles[i], CURLOPT_PROGRESSFUNCTION, on_progress);
		curl_easy_setopt(handles[i], CURLOPT_NOPROGRESS, 0L);
	}
	for (int i = 0; i < HANDLES; i++) {
		CURLcode result = curl_easy_perform(handles[i]);
		printf("result %d held %d\n", result, held());
	}
	for (int i = 0; i < HANDLES; i++)
		curl_easy_cleanup(handles[i]);
	printf("share %d held %d in callbacks %d locks %s\n", curl_share_cleanup(share), held(), held_in_callback,
	       locks > 0 ? "used" : "never used");
	return 0;
}
