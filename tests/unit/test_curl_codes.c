/* SPDX-License-Identifier: MIT */

/* The table of CURLcodes against curl/curl.h itself: its numbers, its names, and the class of every one of them. */

#include "tests/unit/test_engine.h"

#include <curl/curl.h>

#include "engine/curl_codes.h"

#define CODE(name)                                                                                                     \
	{                                                                                                              \
		name, #name                                                                                            \
	}

static const struct {
	int number;
	const char *name;
} every_code[] = {
    CODE(CURLE_OK),
    CODE(CURLE_UNSUPPORTED_PROTOCOL),
    CODE(CURLE_FAILED_INIT),
    CODE(CURLE_URL_MALFORMAT),
    CODE(CURLE_NOT_BUILT_IN),
    CODE(CURLE_COULDNT_RESOLVE_PROXY),
    CODE(CURLE_COULDNT_RESOLVE_HOST),
    CODE(CURLE_COULDNT_CONNECT),
    CODE(CURLE_WEIRD_SERVER_REPLY),
    CODE(CURLE_REMOTE_ACCESS_DENIED),
    CODE(CURLE_FTP_ACCEPT_FAILED),
    CODE(CURLE_FTP_WEIRD_PASS_REPLY),
    CODE(CURLE_FTP_ACCEPT_TIMEOUT),
    CODE(CURLE_FTP_WEIRD_PASV_REPLY),
    CODE(CURLE_FTP_WEIRD_227_FORMAT),
    CODE(CURLE_FTP_CANT_GET_HOST),
    CODE(CURLE_HTTP2),
    CODE(CURLE_FTP_COULDNT_SET_TYPE),
    CODE(CURLE_PARTIAL_FILE),
    CODE(CURLE_FTP_COULDNT_RETR_FILE),
    CODE(CURLE_OBSOLETE20),
    CODE(CURLE_QUOTE_ERROR),
    CODE(CURLE_HTTP_RETURNED_ERROR),
    CODE(CURLE_WRITE_ERROR),
    CODE(CURLE_OBSOLETE24),
    CODE(CURLE_UPLOAD_FAILED),
    CODE(CURLE_READ_ERROR),
    CODE(CURLE_OUT_OF_MEMORY),
    CODE(CURLE_OPERATION_TIMEDOUT),
    CODE(CURLE_OBSOLETE29),
    CODE(CURLE_FTP_PORT_FAILED),
    CODE(CURLE_FTP_COULDNT_USE_REST),
    CODE(CURLE_OBSOLETE32),
    CODE(CURLE_RANGE_ERROR),
    CODE(CURLE_HTTP_POST_ERROR),
    CODE(CURLE_SSL_CONNECT_ERROR),
    CODE(CURLE_BAD_DOWNLOAD_RESUME),
    CODE(CURLE_FILE_COULDNT_READ_FILE),
    CODE(CURLE_LDAP_CANNOT_BIND),
    CODE(CURLE_LDAP_SEARCH_FAILED),
    CODE(CURLE_OBSOLETE40),
    CODE(CURLE_FUNCTION_NOT_FOUND),
    CODE(CURLE_ABORTED_BY_CALLBACK),
    CODE(CURLE_BAD_FUNCTION_ARGUMENT),
    CODE(CURLE_OBSOLETE44),
    CODE(CURLE_INTERFACE_FAILED),
    CODE(CURLE_OBSOLETE46),
    CODE(CURLE_TOO_MANY_REDIRECTS),
    CODE(CURLE_UNKNOWN_OPTION),
    CODE(CURLE_SETOPT_OPTION_SYNTAX),
    CODE(CURLE_OBSOLETE50),
    CODE(CURLE_OBSOLETE51),
    CODE(CURLE_GOT_NOTHING),
    CODE(CURLE_SSL_ENGINE_NOTFOUND),
    CODE(CURLE_SSL_ENGINE_SETFAILED),
    CODE(CURLE_SEND_ERROR),
    CODE(CURLE_RECV_ERROR),
    CODE(CURLE_OBSOLETE57),
    CODE(CURLE_SSL_CERTPROBLEM),
    CODE(CURLE_SSL_CIPHER),
    CODE(CURLE_PEER_FAILED_VERIFICATION),
    CODE(CURLE_BAD_CONTENT_ENCODING),
    CODE(CURLE_OBSOLETE62),
    CODE(CURLE_FILESIZE_EXCEEDED),
    CODE(CURLE_USE_SSL_FAILED),
    CODE(CURLE_SEND_FAIL_REWIND),
    CODE(CURLE_SSL_ENGINE_INITFAILED),
    CODE(CURLE_LOGIN_DENIED),
    CODE(CURLE_TFTP_NOTFOUND),
    CODE(CURLE_TFTP_PERM),
    CODE(CURLE_REMOTE_DISK_FULL),
    CODE(CURLE_TFTP_ILLEGAL),
    CODE(CURLE_TFTP_UNKNOWNID),
    CODE(CURLE_REMOTE_FILE_EXISTS),
    CODE(CURLE_TFTP_NOSUCHUSER),
    CODE(CURLE_OBSOLETE75),
    CODE(CURLE_OBSOLETE76),
    CODE(CURLE_SSL_CACERT_BADFILE),
    CODE(CURLE_REMOTE_FILE_NOT_FOUND),
    CODE(CURLE_SSH),
    CODE(CURLE_SSL_SHUTDOWN_FAILED),
    CODE(CURLE_AGAIN),
    CODE(CURLE_SSL_CRL_BADFILE),
    CODE(CURLE_SSL_ISSUER_ERROR),
    CODE(CURLE_FTP_PRET_FAILED),
    CODE(CURLE_RTSP_CSEQ_ERROR),
    CODE(CURLE_RTSP_SESSION_ERROR),
    CODE(CURLE_FTP_BAD_FILE_LIST),
    CODE(CURLE_CHUNK_FAILED),
    CODE(CURLE_NO_CONNECTION_AVAILABLE),
    CODE(CURLE_SSL_PINNEDPUBKEYNOTMATCH),
    CODE(CURLE_SSL_INVALIDCERTSTATUS),
    CODE(CURLE_HTTP2_STREAM),
    CODE(CURLE_RECURSIVE_API_CALL),
    CODE(CURLE_AUTH_ERROR),
    CODE(CURLE_HTTP3),
    CODE(CURLE_QUIC_CONNECT_ERROR),
    CODE(CURLE_PROXY),
    CODE(CURLE_SSL_CLIENTCERT),
    CODE(CURLE_UNRECOVERABLE_POLL),
#if LIBCURL_VERSION_NUM >= 0x080600
    CODE(CURLE_TOO_LARGE),
#endif
#if LIBCURL_VERSION_NUM >= 0x080800
    CODE(CURLE_ECH_REQUIRED),
#endif
};

/* Every code whose class isn't ENGINE_CLASS_LOCAL. */
static const struct {
	int number;
	enum engine_class failure;
} exceptions[] = {
    {CURLE_COULDNT_RESOLVE_PROXY, ENGINE_CLASS_RESOLVE},
    {CURLE_COULDNT_RESOLVE_HOST, ENGINE_CLASS_RESOLVE},
    {CURLE_COULDNT_CONNECT, ENGINE_CLASS_CONNECT},
    {CURLE_QUIC_CONNECT_ERROR, ENGINE_CLASS_CONNECT},
    {CURLE_PROXY, ENGINE_CLASS_CONNECT},
    {CURLE_SSL_CONNECT_ERROR, ENGINE_CLASS_TLS},
    {CURLE_SEND_ERROR, ENGINE_CLASS_SEND},
    {CURLE_SEND_FAIL_REWIND, ENGINE_CLASS_SEND},
    {CURLE_RECV_ERROR, ENGINE_CLASS_RECEIVE},
    {CURLE_GOT_NOTHING, ENGINE_CLASS_EMPTY},
    {CURLE_PARTIAL_FILE, ENGINE_CLASS_PARTIAL},
    {CURLE_HTTP2, ENGINE_CLASS_HTTP2},
    {CURLE_HTTP2_STREAM, ENGINE_CLASS_HTTP2},
    {CURLE_HTTP3, ENGINE_CLASS_HTTP2},
    {CURLE_OPERATION_TIMEDOUT, ENGINE_CLASS_TIMEOUT},
    {CURLE_WRITE_ERROR, ENGINE_CLASS_CALLER},
    {CURLE_READ_ERROR, ENGINE_CLASS_CALLER},
    {CURLE_ABORTED_BY_CALLBACK, ENGINE_CLASS_CALLER},
    {CURLE_OK, ENGINE_CLASS_NONE},
    {CURLE_HTTP_RETURNED_ERROR, ENGINE_CLASS_STATUS},
};

static void names_and_numbers_are_libcurls(void **state)
{
	(void)state;
	for (size_t i = 0; i < countof(every_code); i++) {
		assert_int_equal(every_code[i].number, i);
		assert_string_equal(engine_curl_code_name(every_code[i].number), every_code[i].name);
	}
}

/* A libcurl that this test is built with must not know a code which the table lacks. */
static void table_is_complete(void **state)
{
	(void)state;
	for (int code = 0; code < CURL_LAST; code++)
		assert_string_not_equal(engine_curl_code_name(code), "CURLE_UNKNOWN");
}

static enum engine_class expected_class(int code)
{
	for (size_t i = 0; i < countof(exceptions); i++) {
		if (exceptions[i].number == code)
			return exceptions[i].failure;
	}
	return ENGINE_CLASS_LOCAL;
}

static void every_code_has_its_class(void **state)
{
	(void)state;
	for (int code = -2; code < 200; code++)
		assert_class(engine_class_of_curl_code(code), expected_class(code));
}

static void unknown_codes_are_local(void **state)
{
	static const int unknown[] = {-1, INT32_MIN, INT32_MAX, 102, 99999};

	(void)state;
	for (size_t i = 0; i < countof(unknown); i++) {
		assert_string_equal(engine_curl_code_name(unknown[i]), "CURLE_UNKNOWN");
		assert_class(engine_class_of_curl_code(unknown[i]), ENGINE_CLASS_LOCAL);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(names_and_numbers_are_libcurls),
	    cmocka_unit_test(table_is_complete),
	    cmocka_unit_test(every_code_has_its_class),
	    cmocka_unit_test(unknown_codes_are_local),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
