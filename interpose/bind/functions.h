/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BIND_FUNCTIONS_H
#define TENACURL_INTERPOSE_BIND_FUNCTIONS_H

/*
 * The one list of the functions of libcurl that tenacurl wraps, and of those that it only calls.
 *
 * To wrap one more, add a line to WRAPPED_FUNCTIONS and write its body, entry_WORD(), in entry/entry.c or beside it.
 * All else comes from the line:
 *
 *   what is exported, and what the object is checked for
 *       entry/exports.map.in, entry/exports.c, tests/elf/exports.txt.in
 *   what the binder binds to
 *       entry/bound.c, bind/bind.h, bind/binder.c
 *   the entry points, and the declaration of the body
 *       entry/entry_points.h, entry/entry.h
 *   where the real one is
 *       libcurl/libcurl.c: struct libcurl's member WORD
 *   what `check` looks for
 *       cli/check/process_objects.c
 *
 * The columns:
 *
 *   since       LIBCURL_VERSION_NUM of the first libcurl that has it. In older ones WORD is NULL, and the body answers
 *               for it. 0: all that we serve have it, and what lacks it is no libcurl.
 *   symbol      libcurl's name
 *   word        ours: entry_WORD() is the body, libcurl->WORD() the real function
 *   kind        FIXED, or VARIADIC: one more argument follows, as wide as a register, which the body gets as a void *
 *   result      what it returns
 *   parameters  as libcurl's header has them (it is compared), each with a name; () where there is none
 *   arguments   their names
 *
 * The order is the one of the binder's table: a new line comes last, so that the table has another size, by which parts
 * of different versions know that they don't belong together.
 *
 * Further arguments of WRAPPED_FUNCTIONS are handed on to FUNCTION behind the columns. Nothing is included here, since
 * the version script and the binder, which knows no libcurl, are made from it too.
 */

/* clang-format off */
#define WRAPPED_FUNCTIONS(FUNCTION, ...)                                                                              \
	FUNCTION(0, curl_easy_init, init, FIXED, CURL *,                                                              \
	         (), (), __VA_ARGS__)                                                                                 \
	FUNCTION(0, curl_easy_setopt, setopt, VARIADIC, CURLcode,                                                     \
	         (CURL *curl, CURLoption option), (curl, option), __VA_ARGS__)                                        \
	FUNCTION(0, curl_easy_getinfo, getinfo, VARIADIC, CURLcode,                                                   \
	         (CURL *curl, CURLINFO info), (curl, info), __VA_ARGS__)                                              \
	FUNCTION(0, curl_easy_perform, perform, FIXED, CURLcode,                                                      \
	         (CURL *curl), (curl), __VA_ARGS__)                                                                   \
	FUNCTION(0, curl_easy_reset, reset, FIXED, void,                                                              \
	         (CURL *curl), (curl), __VA_ARGS__)                                                                   \
	FUNCTION(0, curl_easy_duphandle, duphandle, FIXED, CURL *,                                                    \
	         (CURL *curl), (curl), __VA_ARGS__)                                                                   \
	FUNCTION(0, curl_easy_cleanup, cleanup, FIXED, void,                                                          \
	         (CURL *curl), (curl), __VA_ARGS__)                                                                   \
	FUNCTION(0, curl_easy_pause, pause, FIXED, CURLcode,                                                          \
	         (CURL *curl, int action), (curl, action), __VA_ARGS__)                                               \
	FUNCTION(0x073800, curl_mime_init, mime_init, FIXED, curl_mime *,                                             \
	         (CURL *curl), (curl), __VA_ARGS__)                                                                   \
	FUNCTION(0x073800, curl_mime_addpart, mime_addpart, FIXED, curl_mimepart *,                                   \
	         (curl_mime *mime), (mime), __VA_ARGS__)                                                              \
	FUNCTION(0x073800, curl_mime_data, mime_data, FIXED, CURLcode,                                                \
	         (curl_mimepart *part, const char *data, size_t size_bytes), (part, data, size_bytes), __VA_ARGS__)   \
	FUNCTION(0x073800, curl_mime_data_cb, mime_data_cb, FIXED, CURLcode,                                          \
	         (curl_mimepart *part, curl_off_t size_bytes, curl_read_callback read, curl_seek_callback seek,       \
	          curl_free_callback release, void *argument), (part, size_bytes, read, seek, release, argument), __VA_ARGS__)\
	FUNCTION(0x073800, curl_mime_filedata, mime_filedata, FIXED, CURLcode,                                        \
	         (curl_mimepart *part, const char *path), (part, path), __VA_ARGS__)                                  \
	FUNCTION(0x073800, curl_mime_subparts, mime_subparts, FIXED, CURLcode,                                        \
	         (curl_mimepart *part, curl_mime *inner), (part, inner), __VA_ARGS__)                                 \
	FUNCTION(0x073800, curl_mime_free, mime_free, FIXED, void,                                                    \
	         (curl_mime *mime), (mime), __VA_ARGS__)

/* What tenacurl calls and doesn't wrap, by the first three columns. */
#define CALLED_FUNCTIONS(FUNCTION, ...)                                                                               \
	FUNCTION(0x073f00, curl_url_get, url_get, __VA_ARGS__)                                                        \
	FUNCTION(0x073f00, curl_free, free, __VA_ARGS__)
/* clang-format on */

/* Room for a symbol's name: in the tables it stands itself, since ld.so would relocate a pointer to it at each start.
 */
#define FUNCTION_NAME_BYTES 31

#endif
