/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_INTERPOSE_JUDGE_H
#define TENACURL_INTERPOSE_JUDGE_H

/* Asks the engine for the verdict on an operation's attempt, and answers what the engine and the gate ask. */

#include "interpose/record/operation.h"

/* The gate's ports; the context is the struct operation. */
extern const struct gate_ports judge_gate_ports;

/* Judges an attempt whose perform returned, unless the verdict on its response stands. */
void judge_end(struct operation *operation, CURLcode result);

/*
 * Why a retry that a verdict asked for isn't made after all, from what happened since, in the program's callbacks too;
 * ENGINE_TRANSIENT_FAILURE: it is.
 */
enum engine_reason judge_meanwhile(struct operation *operation);

/* Whether the download of the attempt at hand is none that the program gets, as far as is known yet. */
bool judge_withholds(const struct operation *operation);

/* How often the request of the attempt at hand went out, as what its body is known by depends on that. */
enum body_sent judge_sent(const struct operation *operation);

/* Tells the log, once, that an outer layer came back with the operation. */
void judge_tell_return(struct operation *operation);

#endif
