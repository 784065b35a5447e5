/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_POLICY_PLACE_H
#define TENACURL_INTERPOSE_POLICY_PLACE_H

/*
 * One of the places in which a policy file is looked for, and what is known of it. Nothing here may be called by two
 * threads at once.
 */

#include <stdbool.h>
#include <stdint.h>
#include <sys/stat.h>

#include "config/load.h"
#include "interpose/host/mounts.h"

#define POLICY_PATH_MAX 4096

/* By which a changed file is recognised. */
struct file_identity {
	dev_t device;
	ino_t inode;
	off_t size_bytes;
	struct timespec changed;
};

enum place_content {
	PLACE_UNSEEN,
	PLACE_EMPTY, /* there is no file */
	PLACE_FILLED /* there was one, or something that can't be looked at */
};

/* Zero it and set `path` and `is_named`. */
struct policy_place {
	char path[POLICY_PATH_MAX];
	bool is_named; /* by TENACURL_POLICY */
	enum place_content content;
	bool is_settled;  /* the file was read to an end as it is by `identity`, and … */
	bool is_bad;      /* … refused */
	bool is_pending;  /* looking failed for a passing cause */
	bool is_measured; /* `distance` is known */
	enum mounts_distance distance;
	struct file_identity identity;
	int64_t seen_since_ms;   /* the file that it is by `identity` */
	int64_t next_look_ms;    /* while it is empty */
	int64_t absent_since_ms; /* 0: it isn't, or it never had one */
	uint64_t told;           /* a hash of what was said of it last */
};

enum place_sight {
	PLACE_SKIPPED, /* it isn't looked at now, or can't be without the risk of a wait */
	PLACE_ABSENT,  /* there is no file at the moment */
	PLACE_SAME,    /* nothing new, or not for long enough: somebody may be writing it */
	PLACE_KNOWN,   /* the very policy that is in force */
	PLACE_LOADED,  /* a good policy that isn't in force yet */
	PLACE_TROUBLE  /* none that can be used; `error` has why, or is empty if that was said before */
};

/* What to look by. */
struct place_look {
	int64_t now_ms;
	bool is_first;          /* at the start of a process a remote place is looked at, too */
	const char *known_hash; /* of the policy in force; NULL: there is none yet */
	const struct policy_overrides *overrides;
};

/*
 * Looks at the place. On PLACE_LOADED *policy is the caller's to free. May take as long as a remote file system makes
 * it wait if look->is_first, never else. errno isn't kept.
 */
enum place_sight policy_place_look(struct policy_place *place, const struct place_look *look,
                                   const struct policy **policy, struct policy_error *error);

#endif
