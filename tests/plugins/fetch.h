/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_TESTS_FETCH_H
#define TENACURL_TESTS_FETCH_H

/*
 * A GET through whatever libcurl this code was linked to. It is compiled into programs and into plugins of each
 * flavour; a plugin exports `fetch_functions` and nothing else.
 */

struct fetch; /* a handle and what was seen of its last transfer */

struct fetch_functions {
	/* Returns a handle set up for `url`, or NULL if curl_easy_init() gave none. */
	struct fetch *(*open)(const char *url);
	/* Performs: the call of curl_easy_perform() is the last thing it does, so compilers make a jump of it. */
	int (*perform)(struct fetch *fetch);
	/* Performs as above, but the call comes back here, and prints one line of what was seen under `name`. */
	int (*perform_and_print)(struct fetch *fetch, const char *name);
	/* Prints one line of what was seen. */
	void (*print)(struct fetch *fetch, const char *name, int result);
	void (*close)(struct fetch *fetch);
};

extern const struct fetch_functions fetch_functions;

#endif
