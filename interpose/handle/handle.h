/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_HANDLE_H
#define TENACURL_INTERPOSE_HANDLE_H

/*
 * What tenacurl knows of an easy handle: which libcurl made it, what the program asked it for, and which of the
 * handle's options are lent to us at the moment.
 *
 * A handle is used by one thread at a time (libcurl's rule), so the fields need no lock; only the table that finds a
 * handle's record by its address is shared.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/url.h"
#include "config/policy.h"
#include "interpose/handle/body_state.h"
#include "interpose/handle/held.h"
#include "interpose/handle/mime.h"
#include "interpose/libcurl/libcurl.h"

struct operation;   /* interpose/record/operation.h */
struct state_entry; /* state/state.h */

/* Where the request's body comes from. */
enum body_source {
	BODY_NONE,
	BODY_POSTFIELDS, /* memory */
	BODY_READ,       /* the read callback, or libcurl's fread from a FILE* */
	BODY_FORM,       /* CURLOPT_HTTPPOST */
	BODY_MIME,       /* CURLOPT_MIMEPOST */
	BODY_UNKNOWN,    /* libcurls differ in what they would send */
};

/* From here on CURLOPT_NOBODY sets the base method; before it is a flag beside it. */
#define NOBODY_IS_METHOD_VERSION 0x074700 /* 7.71.0 */

/* The base method as libcurl keeps it (Curl_HttpReq); the verb on the wire also depends on no_body and custom_verb. */
enum base_method { BASE_GET, BASE_HEAD, BASE_POST, BASE_FORM, BASE_MIME, BASE_PUT };

/* The options that the program set, as it set them. Zero is libcurl's default, except where set_defaults() says
 * otherwise. */
struct program_options {
	data_function write_function;  /* NULL: libcurl's fwrite */
	void *write_data;              /* valid with write_data_set; else stdout */
	data_function header_function; /* NULL: none */
	void *header_data;
	xferinfo_function xferinfo_function;
	curl_progress_callback progress_function;
	void *progress_data; /* XFERINFODATA is the same option */
	prereq_function prereq_function;
	void *prereq_data;
	curl_read_callback read_function; /* NULL: libcurl's fread */
	void *read_data;                  /* valid with read_data_set; else stdin */
	curl_seek_callback seek_function;
	void *seek_data;
	curl_ioctl_callback ioctl_function;
	void *ioctl_data;
	const struct curl_httppost *form;
	struct mime *mime; /* interpose/handle/mime.h */
	struct curl_slist *http_headers;
	struct curl_slist *proxy_headers;
	char *error_buffer;
	void *url_handle;      /* CURLOPT_CURLU */
	const char *aws_sigv4; /* only whether it is set: the text isn't ours to read later */
	int64_t timeout_ms, connect_timeout_ms;
	int64_t dns_cache_timeout_s;
	int64_t upload_bytes, post_bytes; /* CURLOPT_INFILESIZE, CURLOPT_POSTFIELDSIZE; -1: unknown */
	int64_t resume_bytes;             /* CURLOPT_RESUME_FROM: an upload's body is sought there by libcurl */
	int64_t protocols;
	int64_t port;              /* CURLOPT_PORT, which wins over the URL's; 0: none */
	int64_t http_auth;         /* CURLOPT_HTTPAUTH: CURLAUTH_* */
	const void *post_fields;   /* CURLOPT_POSTFIELDS: the program's memory; NULL: libcurl has a copy */
	uint64_t post_fields_hash; /* of CURLOPT_COPYPOSTFIELDS; 0: too large */
	/* Of CURLOPT_RANGE, PROXY, UNIX_SOCKET_PATH, USERPWD, USERNAME; 0: none. */
	uint64_t range_hash, proxy_hash, unix_socket_hash, user_password_hash, user_hash;
	/* Of CURLOPT_XOAUTH2_BEARER, INTERFACE, ABSTRACT_UNIX_SOCKET, RESOLVE, CONNECT_TO; 0: none. */
	uint64_t bearer_hash, interface_hash, abstract_socket_hash, resolve_hash, connect_to_hash;
	enum base_method method;
	bool write_data_set;
	bool read_data_set;
	bool no_progress;
	bool header_in_body; /* CURLOPT_HEADER */
	bool fail_on_error;
	bool follow_location;
	bool auto_referer; /* CURLOPT_AUTOREFERER */
	bool no_body;
	bool upload;
	bool has_postfields; /* CURLOPT_POSTFIELDS or COPYPOSTFIELDS gave memory */
	bool mixed_history;  /* both UPLOAD and POST options were used: versions differ in what they send */
	bool connect_only;
	bool fresh_connect;
	bool fast_open;
	bool no_signal;
	bool quick_exit;
	bool rtsp;
	void *open_socket;      /* CURLOPT_OPENSOCKETFUNCTION: only whether it is set */
	void *resolver_start;   /* CURLOPT_RESOLVER_START_FUNCTION: only whether it is set */
	void *trailer_function; /* CURLOPT_TRAILERFUNCTION: only whether it is set */
	bool time_condition;    /* CURLOPT_TIMECONDITION: If-Unmodified-Since and the like */
	bool early_data;        /* CURLSSLOPT_EARLYDATA */
	bool protocols_by_name; /* CURLOPT_PROTOCOLS_STR: can't be given back as a number */
	char custom_verb[24];   /* CURLOPT_CUSTOMREQUEST, "" without; too long a verb is kept as "?" */
	char default_protocol[8];
};

/* What is lent to libcurl in place of the program's callbacks; `data` is the struct handle. */
struct lendings {
	data_function write, header;
	curl_read_callback read;
	curl_seek_callback seek;
	xferinfo_function xferinfo;
	curl_progress_callback progress;
	prereq_function prereq;
};

/* Options that are the program's but set to something of ours. */
struct lent_options {
	bool callbacks; /* write and header, function and data: stay lent between performs */
	bool prereq;
	bool timeout;
	bool connect_timeout;
	bool fresh_connect;
	bool dns_cache_timeout;
	bool quick_exit;
	bool http_headers;
	bool no_progress;
	bool read;     /* function and data */
	bool seek;     /* function and data */
	bool progress; /* functions and data: stay lent between performs */
};

struct handle {
	_Atomic(CURL *) curl; /* NULL: the record is free */
	struct handle *next;  /* in its bucket; never changes once the record can be found */

	const struct libcurl *libcurl;
	struct program_options program;
	const struct lendings *lendings;
	struct lent_options lent;
	struct held held;              /* what is kept back of a response; its memory is reused */
	struct body body;              /* how the request's body can be sent again */
	struct operation *active;      /* of the perform that runs; NULL between performs */
	struct operation *room;        /* where it lives; NULL between performs, but for one that never came back */
	const void *active_frame;      /* of the call that runs it, on its thread's stack */
	const void *active_caller;     /* where that call returns to */
	bool performs;                 /* its attempt is inside libcurl; else it waits, or delivers what was held */
	uintptr_t active_thread;       /* who runs it */
	int waiting_thread;            /* the kernel's number of it, while it waits; 0: not known */
	long disowned_errno;           /* that CURLINFO_OS_ERRNO has of an attempt which was retried; 0: none */
	uint32_t performed_generation; /* of the process in which it performed last; 0: never did */

	bool is_under_way; /* the shared state was told of its operation: interpose/record/under_way.h */

	/* Not reset with the options, as in libcurl. */
	int64_t kept_connections; /* that performs of it may have left: at most so many */
	bool shares;              /* CURLOPT_SHARE: connections that others made may be used */

	char *referer;        /* CURLOPT_REFERER as set, owned; NULL: none */
	char *request_target; /* CURLOPT_REQUEST_TARGET as set, owned; NULL: none */
	bool referer_is_left; /* libcurl goes on with another one, that of a redirect (AUTOREFERER) */

	char *url; /* CURLOPT_URL as set, owned; NULL: none */
	size_t url_capacity_bytes;

	/* Which section the URL selects (NULL: none of our business); valid for this policy until the URL changes. */
	uint64_t selected_version; /* of the policy; 0: none */
	const struct policy_section *selected_section;

	/* What is shared about the URL's origin and that section (interpose/handle/shared_state.h); valid as long as
	 * they are.
	 */
	struct state_entry *shared_entry;
	uint64_t shared_key;
	const struct policy_section *shared_section; /* whose entry it is; good while an operation runs */
};

/* Returns the record of `curl`, or NULL if tenacurl doesn't know the handle. Lock-free, no allocation. */
struct handle *handle_find(CURL *curl);

/*
 * Makes a record for a handle that libcurl has just made, with libcurl's default options, replacing what may be left of
 * an older handle at this address. `lendings` last for ever. Returns NULL without memory: the handle is passed through
 * then.
 */
struct handle *handle_adopt(CURL *curl, const struct libcurl *libcurl, const struct lendings *lendings);

/*
 * Makes the record unfindable, but keeps it for callbacks: before libcurl frees the handle, since another thread may be
 * given a new handle at its address at once.
 */
void handle_hide(struct handle *handle);

/* Forgets the record: its memory is given back or kept for the next handle. The CURL * must not be used with it again.
 */
void handle_forget(struct handle *handle);

/* Sets what the program asked for back to libcurl's defaults, as curl_easy_reset() does; nothing is lent afterwards. */
void handle_reset(struct handle *handle);

/* Copies what `source` was asked for to `copy`, as curl_easy_duphandle() does. Returns false without memory. */
bool handle_copy_options(struct handle *copy, const struct handle *source);

/* Keeps a copy of `url` (NULL: none). Returns false without memory, with no URL kept. */
bool handle_set_url(struct handle *handle, const char *url);

/*
 * Takes the URL apart as libcurl will, with what the program set about it. Returns false if there is none, or none that
 * libcurl would take. *url points into the handle, until its URL changes.
 */
bool handle_read_url(const struct handle *handle, struct url *url);

/* Keeps a copy of the referrer (NULL: none), which libcurl now begins with. */
void handle_set_referer(struct handle *handle, const char *referer);

/* Keeps a copy of what is asked for in place of the URL's path and query (NULL: those). */
void handle_set_request_target(struct handle *handle, const char *target);

/* The query on the wire, behind its "?"; empty without one. Valid until URL or request target change. */
struct span handle_query(const struct handle *handle);

/* The verb on the wire, as libcurl chooses it. Never NULL. */
const char *handle_verb(const struct handle *handle);

/*
 * The verb as it may be told: "?" for what is no word of letters and hyphens in one case, since CUSTOMREQUEST may hold
 * anything, a secret by mistake too. Never NULL.
 */
const char *handle_told_verb(const struct handle *handle);

/*
 * Whether the operation is still the handle's: asked after each call of the program that we make, since it may clean
 * the handle up. If not, nothing of the operation may be touched; the handle's record never goes.
 */
static inline bool handle_runs(const struct handle *handle, const struct operation *operation)
{
	return handle->active == operation;
}

/*
 * Whether this process was forked, in whatever way, while the handle's operation ran: the request is its parent's to
 * repeat. No system call.
 */
bool handle_is_forked(const struct handle *handle);

/* Where the body of the next request comes from. */
enum body_source handle_body_source(const struct handle *handle);

#endif
