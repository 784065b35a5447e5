/* SPDX-License-Identifier: MIT */

#include <string.h>

#include "tests/clients/observe/observe.h"

/* Pauses once, at the first call of the kind that was asked for. */
static bool pauses_at(struct transfer *transfer, const char *kind)
{
	if (transfer->was_paused || !transfer->pause || strcmp(transfer->pause, kind) != 0)
		return false;
	stream_add_mark(&transfer->streams[DELIVERY], "pause");
	transfer->paused = transfer->was_paused = true;
	return true;
}

/* A header line per event: after a pause libcurl before 8.7 gives several in one call. */
static size_t add_header(struct transfer *transfer, const char *kind, const char *bytes, size_t count_bytes)
{
	if (pauses_at(transfer, "header"))
		return CURL_WRITEFUNC_PAUSE;
	if (!transfer->was_paused)
		stream_add_call(&transfer->streams[DELIVERY], kind, bytes, count_bytes);
	const char *end = bytes + count_bytes;
	while (transfer->was_paused && bytes < end) {
		const char *newline = memchr(bytes, '\n', (size_t)(end - bytes));
		const char *next = newline ? newline + 1 : end;
		stream_add_call(&transfer->streams[DELIVERY], kind, bytes, (size_t)(next - bytes));
		bytes = next;
	}
	return count_bytes;
}

static size_t on_header(char *bytes, size_t size, size_t count, void *data)
{
	return add_header(data, "header", bytes, size * count);
}

static size_t on_write(char *bytes, size_t size, size_t count, void *data)
{
	struct transfer *transfer = data;
	if (pauses_at(transfer, "write"))
		return CURL_WRITEFUNC_PAUSE;
	stream_add_bytes(&transfer->streams[DELIVERY], "write", bytes, size * count);
	return size * count;
}

/* Header data without a header function: libcurl gives the lines to the write function, with the header's pointer. */
static struct transfer *header_data_owner;

static size_t on_write_or_header(char *bytes, size_t size, size_t count, void *data)
{
	if (data != (void *)&header_data_owner)
		return on_write(bytes, size, count, data);
	return add_header(header_data_owner, "header-by-write", bytes, size * count);
}

static int on_progress(void *data, curl_off_t download_total, curl_off_t download_now, curl_off_t upload_total,
                       curl_off_t upload_now)
{
	struct transfer *transfer = data;
	snprintf(transfer->progress_text, sizeof(transfer->progress_text),
	         "%" CURL_FORMAT_CURL_OFF_T " %" CURL_FORMAT_CURL_OFF_T " %" CURL_FORMAT_CURL_OFF_T
	         " %" CURL_FORMAT_CURL_OFF_T,
	         download_total, download_now, upload_total, upload_now);
	if (!transfer->paused)
		return 0;
	transfer->paused = false;
	return curl_easy_pause(transfer->curl, CURLPAUSE_CONT) != CURLE_OK;
}

static int on_old_progress(void *data, double download_total, double download_now, double upload_total,
                           double upload_now)
{
	return on_progress(data, (curl_off_t)download_total, (curl_off_t)download_now, (curl_off_t)upload_total,
	                   (curl_off_t)upload_now);
}

static int on_debug(CURL *curl, curl_infotype type, char *bytes, size_t count_bytes, void *data)
{
	struct transfer *transfer = data;
	(void)curl;
	switch (type) {
	case CURLINFO_HEADER_OUT:
		stream_add_call(&transfer->streams[SENT], "header-out", bytes, count_bytes);
		break;
	case CURLINFO_DATA_OUT:
		stream_add_bytes(&transfer->streams[SENT], "data-out", bytes, count_bytes);
		break;
	case CURLINFO_HEADER_IN:
		stream_add_call(&transfer->streams[RECEIVED], "header-in", bytes, count_bytes);
		break;
	case CURLINFO_DATA_IN:
		stream_add_bytes(&transfer->streams[RECEIVED], "data-in", bytes, count_bytes);
		break;
	default:
		break;
	}
	return 0;
}

void set_delivery(struct transfer *transfer, const char *delivery)
{
	CURL *curl = transfer->curl;
	header_data_owner = transfer;
	bool by_write = strcmp(delivery, "data-only") == 0, has_function = strcmp(delivery, "function") == 0;
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, by_write ? on_write_or_header : on_write);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, transfer);
	curl_easy_setopt(curl, CURLOPT_HEADERFUNCTION, has_function ? on_header : NULL);
	curl_easy_setopt(curl, CURLOPT_HEADERDATA,
	                 has_function ? (void *)transfer
	                 : by_write   ? (void *)&header_data_owner
	                              : NULL);
}

void set_watchers(struct transfer *transfer)
{
	CURL *curl = transfer->curl;
	curl_easy_setopt(curl, CURLOPT_VERBOSE, 1L);
	curl_easy_setopt(curl, CURLOPT_DEBUGFUNCTION, on_debug);
	curl_easy_setopt(curl, CURLOPT_DEBUGDATA, transfer);
	curl_easy_setopt(curl, CURLOPT_NOPROGRESS, 0L);
	curl_easy_setopt(curl, CURLOPT_PROGRESSDATA, transfer);
	/* libcurl before 7.32 has the old form only. */
	if (curl_easy_setopt(curl, CURLOPT_XFERINFOFUNCTION, on_progress) != CURLE_OK)
		curl_easy_setopt(curl, CURLOPT_PROGRESSFUNCTION, on_old_progress);
}
