/* SPDX-License-Identifier: MIT */
#ifndef ORIGIN_ANSWER_H
#define ORIGIN_ANSWER_H

/*
 * Sending what a step says.
 */

#include "tests/origin/record.h"
#include "tests/origin/request.h"
#include "tests/origin/script.h"

/*
 * Sends the step's answer up to its end: pauses, informational blocks, header block, body, trailers, or the raw bytes,
 * or nothing for a fault. `request` is NULL when the step acts before a request is read. Returns what the connection
 * is to do next (never STEP_END_AUTO) and fills `answer`; on a failing wire the result says how (answer->how).
 */
enum step_end answer_send(const struct wire *wire, const struct step *step, const struct request *request,
                          struct record_answer *answer);

#endif
