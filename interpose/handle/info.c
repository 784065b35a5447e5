/* SPDX-License-Identifier: MIT */

#include "interpose/handle/info.h"

int64_t info_long(const struct handle *handle, CURLINFO info)
{
	long value = 0;
	if (handle->libcurl->getinfo(handle->curl, info, &value) != CURLE_OK)
		return 0;
	return value;
}

int info_response_code(const struct handle *handle)
{
	return (int)info_long(handle, CURLINFO_RESPONSE_CODE);
}

const char *info_text(const struct handle *handle, CURLINFO info)
{
	const char *text = NULL;
	if (handle->libcurl->getinfo(handle->curl, info, &text) != CURLE_OK || !text)
		return "";
	return text;
}

double info_bytes(const struct handle *handle, CURLINFO info)
{
	double bytes = -1;
	return handle->libcurl->getinfo(handle->curl, info, &bytes) == CURLE_OK ? bytes : -1;
}

int64_t info_ms(const struct handle *handle, CURLINFO info)
{
	double seconds = 0;
	if (handle->libcurl->getinfo(handle->curl, info, &seconds) != CURLE_OK)
		return INFO_UNKNOWN_MS;
	return (int64_t)(seconds * 1000 + 0.5);
}
