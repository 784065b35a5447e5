/* SPDX-License-Identifier: MIT */
/* When a signed request expires by what it says itself (H-07). */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "engine/expiry.h"

#define countof(array) (sizeof(array) / sizeof((array)[0]))

#define DATE   "20260102T030405Z" /* the same as the number */
#define DATE_S 1767323045
#define HTTP   "Fri, 02 Jan 2026 03:04:05 GMT"
#define AWS4(service)                                                                                                  \
	"Authorization: AWS4-HMAC-SHA256 Credential=AKID/20260102/eu-west-1/" service "/aws4_request, Signature=00"

static int64_t expiry_of(const char *query, const char *const *lines, size_t count)
{
	struct engine_expiry expiry;

	engine_expiry_begin(&expiry);
	if (query)
		engine_expiry_read_query(&expiry, (struct span){query, strlen(query)});
	for (size_t i = 0; i < count && lines[i]; i++)
		engine_expiry_read_header(&expiry, lines[i]);
	return engine_expiry_s(&expiry);
}

static void queries(void **state)
{
	static const struct {
		const char *query;
		int64_t expected_s;
	} cases[] = {
	    {"X-Amz-Date=" DATE "&X-Amz-Expires=3&X-Amz-Signature=00", DATE_S + 3},
	    {"x=1&X-Amz-Expires=3&y=2&X-Amz-Date=" DATE, DATE_S + 3},
	    {"x-amz-date=" DATE "&x-amz-expires=604800", DATE_S + 604800},
	    {"X-Amz-Date=" DATE "&X-Amz-Signature=00", DATE_S + 900},
	    {"X-Goog-Date=" DATE "&X-Goog-Expires=60&X-Goog-Signature=00", DATE_S + 60},
	    {"x-oss-date=" DATE "&x-oss-expires=60&x-oss-signature=00", DATE_S + 60},
	    {"sv=2022&se=2026-01-02T03:04:05Z&sig=00", DATE_S},
	    {"sv=2022&se=2026-01-02T03%3A04%3A05Z&sig=00", DATE_S},
	    {"se=2026-01-02T03%3a04Z&sig=00", DATE_S - 5},
	    {"se=2026-01-02&sig=00", DATE_S - 3 * 3600 - 4 * 60 - 5},
	    {"se=2026-01-02T03:04:05.0000000Z&ske=2025-01-01&sig=00", 1735689600},
	    {"Expires=1767323045&Signature=00&Key-Pair-Id=K", DATE_S},
	    {"AWSAccessKeyId=A&Signature=0%3D&Expires=1767323045", DATE_S},
	    {"expires=1767323045&md5=00", DATE_S},
	    {"e=1767323045&token=00", DATE_S},
	    {"exp=1767323045000&sig=00", DATE_S},
	    {"hdnts=st=1~exp=1767323045~acl=/*~hmac=00", DATE_S},
	    {"Edge-Cache-Token=URLPrefix=a~Expires=1~hmac=00", ENGINE_NO_EXPIRY},
	    {"q-sign-algorithm=sha1&q-sign-time=1767320000;1767323045&q-signature=00", DATE_S},
	    {"q-sign-time=1767320000%3B1767323045", DATE_S},
	    /* Several: the earliest. */
	    {"X-Amz-Date=" DATE "&X-Amz-Expires=100&Expires=1767323045&Signature=00", DATE_S},
	    /* Nothing, or nothing of this kind. */
	    {"", ENGINE_NO_EXPIRY},
	    {"a&b=&=c&&", ENGINE_NO_EXPIRY},
	    {"Expires=1767323045", ENGINE_NO_EXPIRY},
	    {"se=3&sig=00", ENGINE_NO_EXPIRY},
	    {"Expires=never&Signature=00", ENGINE_NO_EXPIRY},
	    {"Expires=&Signature=00", ENGINE_NO_EXPIRY},
	    {"Expires=99999999999999999999&Signature=00", ENGINE_NO_EXPIRY},
	    {"x-start-date=" DATE, ENGINE_NO_EXPIRY},
	    {"x-start-date=" DATE "&token=00", ENGINE_NO_EXPIRY},
	    {"X-Amz-Date=2026&X-Amz-Expires=3", ENGINE_NO_EXPIRY},
	    {"X-Amz-Date=20261302T030405Z&X-Amz-Expires=3", ENGINE_NO_EXPIRY},
	    {"X-Amz-Date=%&X-Amz-Expires=%3", ENGINE_NO_EXPIRY},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++)
		if (expiry_of(cases[i].query, NULL, 0) != cases[i].expected_s)
			fail_msg("%s: %lld", cases[i].query, (long long)expiry_of(cases[i].query, NULL, 0));
}

static void headers(void **state)
{
	static const struct {
		const char *lines[3];
		int64_t expected_s;
	} cases[] = {
	    {{AWS4("s3"), "X-Amz-Date: " DATE}, DATE_S + 900},
	    {{"x-amz-date:" DATE, AWS4("s3")}, DATE_S + 900},
	    {{AWS4("execute-api"), "X-Amz-Date: " DATE}, DATE_S + 300},
	    {{AWS4("s3"), "Date: " HTTP}, DATE_S + 900},
	    {{"Authorization: AWS AKID:00", "Date: " HTTP}, DATE_S + 900},
	    {{"Authorization: AWS AKID:00", "Date: Mon, 01 Jan 2024 00:00:00 GMT", "x-amz-date: " HTTP}, DATE_S + 900},
	    {{"Authorization: SharedKey account:00", "x-ms-date: " HTTP}, DATE_S + 900},
	    {{"Authorization: HMAC-SHA256 Credential=c&SignedHeaders=x&Signature=00", "x-ms-date: " HTTP},
	     DATE_S + 900},
	    {{"Authorization: TC3-HMAC-SHA256 Credential=c", "X-TC-Timestamp: 1767323045"}, DATE_S + 300},
	    {{"Authorization: SharedAccessSignature sr=x&sig=00&se=1767323045&skn=k"}, DATE_S},
	    {{"Signature-Input: s=(\"@method\");created=1;expires=1767323045;keyid=\"k\"", "Signature: s=:00:"},
	     DATE_S},
	    {{"Authorization: Signature keyId=\"k\",created=1,expires=1767323045,signature=\"00\""}, DATE_S},
	    /* Not signed with a date. */
	    {{"Date: " HTTP}, ENGINE_NO_EXPIRY},
	    {{"X-Amz-Date: " DATE}, ENGINE_NO_EXPIRY},
	    {{AWS4("s3")}, ENGINE_NO_EXPIRY},
	    {{"Authorization: Bearer 00", "Date: " HTTP}, ENGINE_NO_EXPIRY},
	    {{"Authorization: Basic 00", "x-ms-date: " HTTP}, ENGINE_NO_EXPIRY},
	    {{"Authorization: ApiKey 00", "X-Start-Date: " DATE}, ENGINE_NO_EXPIRY},
	    {{"Authorization;", "Authorization:", ""}, ENGINE_NO_EXPIRY},
	};

	(void)state;
	for (size_t i = 0; i < countof(cases); i++)
		if (expiry_of(NULL, cases[i].lines, 3) != cases[i].expected_s)
			fail_msg("%s: %lld", cases[i].lines[0], (long long)expiry_of(NULL, cases[i].lines, 3));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(queries),
	    cmocka_unit_test(headers),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
