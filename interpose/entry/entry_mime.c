/* SPDX-License-Identifier: MIT */

/*
 * The calls by which a program makes a MIME body: passed on as they are, and noted, since only then can it be known
 * whether the body can be sent again. libcurl makes mimes for itself too (for CURLOPT_HTTPPOST): those are none of the
 * program's.
 */

#include "interpose/entry/entry.h"
#include "interpose/handle/mime.h"

/* Whether a call that reached `libcurl` is the program's, and so to be noted. */
static bool is_programs(const struct libcurl *libcurl, const void *caller)
{
	return !libcurl_contains(libcurl, caller);
}

curl_mime *entry_mime_init(const struct reference *reference, const void *caller, CURL *curl)
{
	const struct libcurl *libcurl = entry_find_libcurl(reference, caller);
	if (!libcurl || !libcurl->mime_init)
		return NULL;
	curl_mime *mime = libcurl->mime_init(curl);
	if (is_programs(libcurl, caller))
		mime_note_init(mime);
	return mime;
}

curl_mimepart *entry_mime_addpart(const struct reference *reference, const void *caller, curl_mime *mime)
{
	const struct libcurl *libcurl = entry_find_libcurl(reference, caller);
	if (!libcurl || !libcurl->mime_addpart)
		return NULL;
	curl_mimepart *part = libcurl->mime_addpart(mime);
	if (is_programs(libcurl, caller))
		mime_note_part(mime, part);
	return part;
}

/*
 * What a part consisted of goes before it gets another content, even if that fails; and it is noted before, since
 * another thread may be given the same addresses at once.
 */
static void note_emptied(const struct libcurl *libcurl, const void *caller, const curl_mimepart *part)
{
	if (is_programs(libcurl, caller))
		mime_note_emptied(part);
}

CURLcode entry_mime_data(const struct reference *reference, const void *caller, curl_mimepart *part, const char *data,
                         size_t size_bytes)
{
	const struct libcurl *libcurl = entry_find_libcurl(reference, caller);
	if (!libcurl || !libcurl->mime_data)
		return CURLE_FAILED_INIT;
	note_emptied(libcurl, caller, part);
	CURLcode result = libcurl->mime_data(part, data, size_bytes);
	if (result == CURLE_OK && data && is_programs(libcurl, caller))
		mime_note_memory(part, data, size_bytes);
	return result;
}

CURLcode entry_mime_data_cb(const struct reference *reference, const void *caller, curl_mimepart *part,
                            curl_off_t size_bytes, curl_read_callback read, curl_seek_callback seek,
                            curl_free_callback release, void *argument)
{
	const struct libcurl *libcurl = entry_find_libcurl(reference, caller);
	if (!libcurl || !libcurl->mime_data_cb)
		return CURLE_FAILED_INIT;
	if (!is_programs(libcurl, caller))
		return libcurl->mime_data_cb(part, size_bytes, read, seek, release, argument);
	curl_read_callback given = mime_count_reads(read);
	mime_note_emptied(part);
	CURLcode result = libcurl->mime_data_cb(part, size_bytes, given, seek, release, argument);
	if (result == CURLE_OK && read)
		mime_note_callback(part, (int64_t)size_bytes, given, seek, argument);
	return result;
}

CURLcode entry_mime_filedata(const struct reference *reference, const void *caller, curl_mimepart *part,
                             const char *path)
{
	const struct libcurl *libcurl = entry_find_libcurl(reference, caller);
	if (!libcurl || !libcurl->mime_filedata)
		return CURLE_FAILED_INIT;
	note_emptied(libcurl, caller, part);
	CURLcode result = libcurl->mime_filedata(part, path);
	if (path && is_programs(libcurl, caller))
		mime_note_file(part, path);
	return result;
}

CURLcode entry_mime_subparts(const struct reference *reference, const void *caller, curl_mimepart *part,
                             curl_mime *inner)
{
	const struct libcurl *libcurl = entry_find_libcurl(reference, caller);
	if (!libcurl || !libcurl->mime_subparts)
		return CURLE_FAILED_INIT;
	if (!is_programs(libcurl, caller) || mime_is_inner(part, inner))
		return libcurl->mime_subparts(part, inner);
	mime_note_emptied(part);
	CURLcode result = libcurl->mime_subparts(part, inner);
	if (result == CURLE_OK && inner)
		mime_note_inner(part, inner);
	return result;
}

void entry_mime_free(const struct reference *reference, const void *caller, curl_mime *mime)
{
	const struct libcurl *libcurl = entry_find_libcurl(reference, caller);
	if (!libcurl || !libcurl->mime_free)
		return;
	/* Before: another thread may be given the same addresses at once. */
	if (is_programs(libcurl, caller))
		mime_forget(mime);
	libcurl->mime_free(mime);
}
