/* SPDX-License-Identifier: MIT */

#include "interpose/parts/os_errno.h"
#include "interpose/handle/info.h"

#define CLEARS_IT_VERSION 0x080800

void os_errno_disown(struct handle *handle)
{
	if (handle->libcurl->version_number < CLEARS_IT_VERSION)
		handle->disowned_errno = info_long(handle, CURLINFO_OS_ERRNO);
}

/* Whether libcurl sets an errno with it. */
static bool has_errno(CURLcode result)
{
	return result == CURLE_COULDNT_CONNECT || result == CURLE_INTERFACE_FAILED || result == CURLE_SEND_ERROR ||
	       result == CURLE_RECV_ERROR;
}

void os_errno_settle(struct handle *handle, CURLcode result)
{
	if (handle->disowned_errno != 0 &&
	    (has_errno(result) || info_long(handle, CURLINFO_OS_ERRNO) != handle->disowned_errno))
		handle->disowned_errno = 0;
}

void os_errno_correct(const struct handle *handle, CURLINFO info, long *value)
{
	if (info == CURLINFO_OS_ERRNO && value && *value == handle->disowned_errno)
		*value = 0;
}
