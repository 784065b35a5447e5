/* SPDX-License-Identifier: MIT */
#include "state/run_page.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define MAGIC      UINT64_C(0x316e7572746e6574) /* "tentrun1" */
#define PAGE_BYTES sizeof(struct run_page)
#define SEALS      (F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL)
#define MEMFD      (1U | 2U) /* MFD_CLOEXEC, MFD_ALLOW_SEALING */

static struct run_page *map(int fd)
{
	void *mapped = mmap(NULL, PAGE_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
	return mapped == MAP_FAILED ? NULL : mapped;
}

struct run_page *run_page_make(char name[static RUN_PAGE_NAME_BYTES])
{
	int fd = (int)syscall(SYS_memfd_create, "tenacurl-run", MEMFD);
	struct run_page *page = NULL;
	if (fd >= 0 && ftruncate(fd, (off_t)PAGE_BYTES) == 0 && fcntl(fd, F_ADD_SEALS, SEALS) == 0)
		page = map(fd);
	if (!page) {
		if (fd >= 0)
			close(fd);
		return NULL;
	}
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	page->nonce = (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
	page->magic = MAGIC;
	snprintf(name, RUN_PAGE_NAME_BYTES, "/proc/%ld/fd/%d %016llx", (long)getpid(), fd,
	         (unsigned long long)page->nonce);
	return page;
}

/* Opens what is behind the path, if it looks like a page: opening a device or a fifo can have effects. */
static int open_page(const char *path)
{
	struct stat file;
	if (stat(path, &file) != 0 || !S_ISREG(file.st_mode) || file.st_size != (off_t)PAGE_BYTES)
		return -1;
	int fd = open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	int seals = fcntl(fd, F_GET_SEALS);
	if (seals >= 0 && (seals & SEALS) == SEALS && fstat(fd, &file) == 0 && file.st_size == (off_t)PAGE_BYTES)
		return fd;
	close(fd);
	return -1;
}

struct run_page *run_page_open(const char *name)
{
	char path[RUN_PAGE_NAME_BYTES];
	const char *blank = strrchr(name, ' ');
	size_t path_bytes = blank ? (size_t)(blank - name) : 0;
	if (path_bytes == 0 || path_bytes >= sizeof(path) || strncmp(name, "/proc/", 6) != 0)
		return NULL;
	memcpy(path, name, path_bytes);
	path[path_bytes] = '\0';
	int fd = open_page(path);
	struct run_page *page = fd >= 0 ? map(fd) : NULL;
	if (fd >= 0)
		close(fd);
	if (!page || (page->magic == MAGIC && page->nonce == strtoull(blank + 1, NULL, 16)))
		return page;
	run_page_unmap(page);
	return NULL;
}

void run_page_unmap(struct run_page *page)
{
	if (page)
		munmap(page, PAGE_BYTES);
}

static void add(_Atomic uint64_t *counter, uint64_t count)
{
	if (count)
		atomic_fetch_add_explicit(counter, count, memory_order_relaxed);
}

void run_page_count(struct run_page *page, const struct run_page_request *request)
{
	bool is_known = request->reason >= 0 && request->reason < RUN_PAGE_REASONS;
	bool is_retried = request->is_audited && request->is_retried;
	add(&page->requests, 1);
	add(&page->would_retry, is_retried);
	if (request->attempts > 1) {
		add(&page->saved, request->succeeded);
		add(&page->retries, (uint64_t)request->attempts - 1);
	}
	if (!request->is_audited && request->waited_ms > 0)
		add(&page->waited_ms, (uint64_t)request->waited_ms);
	if (!request->succeeded && !is_retried)
		add(&page->failed[is_known ? request->reason : RUN_PAGE_REASONS - 1], 1);
}

void run_page_add(struct run_page *page, const struct run_page *other)
{
	add(&page->requests, other->requests);
	add(&page->saved, other->saved);
	add(&page->retries, other->retries);
	add(&page->waited_ms, other->waited_ms);
	add(&page->would_retry, other->would_retry);
	for (size_t i = 0; i < RUN_PAGE_REASONS; i++)
		add(&page->failed[i], other->failed[i]);
}
