/* SPDX-License-Identifier: MIT */

#include "engine/classify.h"

#include <errno.h>
#include <stddef.h>

#include "engine/curl_codes.h"

/* CURLcodes that take part in decisions; curl_codes.c knows them all. */
enum { CODE_OK = 0, CODE_COULDNT_CONNECT = 7, CODE_HTTP_RETURNED_ERROR = 22 };

/* retry_errors names the transport classes; a class outside this table is never one of them. */
static const uint32_t policy_error_of_class[] = {
    [ENGINE_CLASS_RESOLVE] = POLICY_ERROR_RESOLVE, [ENGINE_CLASS_CONNECT] = POLICY_ERROR_CONNECT,
    [ENGINE_CLASS_TLS] = POLICY_ERROR_TLS,         [ENGINE_CLASS_SEND] = POLICY_ERROR_SEND,
    [ENGINE_CLASS_RECEIVE] = POLICY_ERROR_RECEIVE, [ENGINE_CLASS_EMPTY] = POLICY_ERROR_EMPTY,
    [ENGINE_CLASS_PARTIAL] = POLICY_ERROR_PARTIAL, [ENGINE_CLASS_HTTP2] = POLICY_ERROR_HTTP2,
    [ENGINE_CLASS_TIMEOUT] = POLICY_ERROR_TIMEOUT, [ENGINE_CLASS_LOCAL] = 0,
};

bool engine_is_transport_failure(enum engine_class failure)
{
	return failure == ENGINE_CLASS_PROXY || policy_error_of_class[failure] != 0;
}

static bool status_may_pass(const struct policy_rules *rules, enum engine_method method, int status)
{
	if (policy_status_in(&rules->retry_status, status))
		return true;
	return (method == ENGINE_METHOD_GET || method == ENGINE_METHOD_HEAD) &&
	       policy_status_in(&rules->retry_status_get_only, status);
}

bool engine_connect_refused(int connect_status, int status)
{
	return status == 0 && connect_status != 0 && connect_status / 100 != 2;
}

/* A connect that this host itself forbids will be forbidden next time, too. */
static bool is_forbidden_here(const struct engine_outcome *outcome)
{
	if (outcome->curl_code != CODE_COULDNT_CONNECT)
		return false;
	return outcome->os_errno == EACCES || outcome->os_errno == EPERM || outcome->os_errno == EAFNOSUPPORT;
}

static enum engine_class class_of_answer(const struct engine_outcome *outcome)
{
	if (outcome->curl_code == CODE_OK && outcome->status != 0 && !outcome->header_block_complete)
		return ENGINE_CLASS_PARTIAL;
	if (outcome->status >= 400)
		return ENGINE_CLASS_STATUS;
	return outcome->curl_code == CODE_OK ? ENGINE_CLASS_NONE : ENGINE_CLASS_LOCAL;
}

enum engine_class engine_class_of(const struct engine_outcome *outcome)
{
	enum engine_class by_code = engine_class_of_curl_code(outcome->curl_code);

	if (outcome->cancelled || by_code == ENGINE_CLASS_CALLER)
		return ENGINE_CLASS_CALLER;
	if (outcome->not_http)
		return outcome->curl_code == CODE_OK ? ENGINE_CLASS_NONE : ENGINE_CLASS_LOCAL;
	if (by_code == ENGINE_CLASS_LOCAL)
		return ENGINE_CLASS_LOCAL;
	if (engine_connect_refused(outcome->connect_status, outcome->status))
		return ENGINE_CLASS_PROXY;
	if (outcome->curl_code == CODE_OK || outcome->curl_code == CODE_HTTP_RETURNED_ERROR)
		return class_of_answer(outcome);
	return is_forbidden_here(outcome) ? ENGINE_CLASS_LOCAL : by_code;
}

static bool connect_status_may_pass(const struct policy_rules *rules, int connect_status)
{
	return connect_status != 403 && connect_status != 407 && policy_status_in(&rules->retry_status, connect_status);
}

struct engine_finding engine_classify(const struct policy_rules *rules, enum engine_method method,
                                      const struct engine_outcome *outcome)
{
	struct engine_finding finding = {.failure = engine_class_of(outcome)};

	switch (finding.failure) {
	case ENGINE_CLASS_NONE:
	case ENGINE_CLASS_CALLER:
	case ENGINE_CLASS_LOCAL:
		break;
	case ENGINE_CLASS_PROXY:
		finding.passing = connect_status_may_pass(rules, outcome->connect_status);
		break;
	default:
		finding.passing = (rules->retry_errors & policy_error_of_class[finding.failure]) != 0 ||
		                  status_may_pass(rules, method, outcome->status);
		break;
	}
	return finding;
}
