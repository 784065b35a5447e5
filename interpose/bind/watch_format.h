/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_BIND_WATCH_FORMAT_H
#define TENACURL_INTERPOSE_BIND_WATCH_FORMAT_H

/*
 * The lines that watched processes append to one file (watch_line.c) and `tenacurl check --run` reads
 * (cli/check/watch_file.c): fields with tabs between them.
 *
 * - `process PID PROGRAM TENACURL`: it began. TENACURL: whether the preloaded object is in it, or off.
 *
 * - `libcurl PID PROGRAM PATH NODE`: one was mapped. NODE: its symbols' version.
 *
 * - `call PID PROGRAM OBJECT WHEN FUNCTION TARGET LIBCURL HOW`: OBJECT called FUNCTION, for the first time.
 *
 * - `data PID PROGRAM OBJECT WHEN FUNCTION TARGET`: OBJECT has the function's address in its data.
 *
 * PID is that of the process that began; children that it forks go by it, too, until they execute another program.
 * Paths are absolute or as the program named them. What is not known is empty; a path with a tab or a newline in it
 * makes a line that nobody can read, which is ignored.
 */

#define WATCH_VARIABLE "TENACURL_WATCH" /* the file; without it nothing is watched */

#define WATCH_PROCESS "process"
#define WATCH_LIBCURL "libcurl"
#define WATCH_CALL    "call"
#define WATCH_DATA    "data"

#define WATCH_YES "yes"
#define WATCH_NO  "no"
#define WATCH_OFF "off" /* it is in it, but TENACURL_DISABLE is set */

/* WHEN the object was mapped. */
#define WATCH_AT_START "start"
#define WATCH_LATER    "later"

/* TARGET: where a call goes. */
#define WATCH_TO_PRELOAD "preload" /* to the preloaded object, which came first in the search */
#define WATCH_TO_BINDER  "binder"  /* to the preloaded object, by the binder's doing */
#define WATCH_TO_LIBCURL "libcurl" /* past it */
#define WATCH_TO_UNKNOWN ""

/* HOW the object came by the function's address. */
#define WATCH_BY_LINKAGE_TABLE "plt"
#define WATCH_BY_DLSYM         "dlsym"

/* The most fields of a line. */
#define WATCH_FIELDS_MAX 9

#endif
