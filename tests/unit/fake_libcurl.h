/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_UNIT_FAKE_LIBCURL_H
#define TENACURL_TESTS_UNIT_FAKE_LIBCURL_H

/*
 * A libcurl that plays a script: what each perform brings, asks for, calls and returns, is data. It remembers options
 * and counts what is done with it. Its handle is the struct itself.
 */

#include "interpose/libcurl/libcurl.h"

#define FAKE_OPTIONS 400 /* more than libcurl has */
#define FAKE_INFOS   80
#define FAKE_EVENTS  12

enum fake_kind {
	FAKE_END,
	FAKE_REQUEST,  /* a request goes out: the prereq function is asked */
	FAKE_HEADERS,  /* text: header lines, each with its \r\n */
	FAKE_PROXY,    /* the same of a proxy's answer to CONNECT, whose status libcurl doesn't tell */
	FAKE_BODY,     /* text: one call of the write function */
	FAKE_READ,     /* number: so many bytes of the request's body are asked for, at once */
	FAKE_SEEK,     /* libcurl rewinds the body by itself */
	FAKE_PROGRESS, /* number: so much has been downloaded */
	FAKE_UPLOADED, /* number: so much has been uploaded */
	FAKE_TIME,     /* number: so many ms pass, or as many as TIMEOUT_MS allows */
	FAKE_CALL,     /* call(): a callback that is none of tenacurl's: the debug function, say */
};

struct fake_libcurl;

struct fake_event {
	enum fake_kind kind;
	const char *text;
	long number;
	void (*call)(struct fake_libcurl *fake);
};

/* One perform. What isn't an event is there when it returns. */
struct fake_attempt {
	struct fake_event events[FAKE_EVENTS]; /* up to FAKE_END */
	CURLcode result;                       /* unless a callback or the time ends it before */
	const char *error;                     /* left in the error buffer if it fails */
	long connects, redirects, os_errno, connect_code;
};

struct fake_libcurl {
	struct libcurl functions;
	const struct fake_attempt *attempts; /* the script */
	int attempt_count;
	int performs;        /* of the script */
	int barren_performs; /* that may use no protocol */
	int requests;        /* that went out */
	int setopts;
	int refused_option; /* its number modulo 10000: it can't be set; 0: all can */
	char sent[256];     /* what was read of the body, each read behind the other; '|' where an attempt began */
	bool is_gone;       /* it was cleaned up */
	bool is_paused;
	CURLcode callback_result; /* why the perform at hand ends; CURLE_OK: it goes on */
	int64_t begin_ms;         /* of the perform at hand */
	void *options[FAKE_OPTIONS];
	long infos[FAKE_INFOS];
	const char *scheme, *effective_url;

	/* The clock. */
	int64_t (*now_ms)(void);
	void (*pass_ms)(int64_t ms);
};

/* Makes a handle with libcurl's default options; version: as LIBCURL_VERSION_NUM. */
void fake_init(struct fake_libcurl *fake, unsigned int version);

/* As curl_easy_reset() does. */
void fake_set_defaults(struct fake_libcurl *fake);

/* Which script is played from now on. */
void fake_play(struct fake_libcurl *fake, const struct fake_attempt *attempts, int count);

/* The number of an option in `options`; of TIMEOUT and CONNECTTIMEOUT that of their millisecond forms. */
int fake_option_number(CURLoption option);

#endif
