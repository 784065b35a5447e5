/* SPDX-License-Identifier: MIT */

#include <errno.h>
#include <stdatomic.h>
#include <string.h>

#include "base/clock.h"
#include "base/launcher.h"
#include "interpose/handle/info.h"
#include "interpose/handle/shared_state.h"
#include "interpose/host/host_state.h"
#include "interpose/host/process.h"
#include "interpose/record/tally.h"
#include "interpose/record/under_way.h"
#include "state/running.h"

#define KEPT_MS (INT64_C(24) * 3600 * 1000)

/* What tells this process from a later one with its id. */
static _Atomic uint64_t start_ticks, pid_namespace;
static _Atomic uint32_t known_generation;

static void know_process(void)
{
	struct deadline_text own;
	uint32_t mine = process_generation();
	if (atomic_load(&known_generation) == mine)
		return;
	bool is_known = launcher_be(&own);
	atomic_store(&start_ticks, is_known ? own.launcher_start : 0);
	atomic_store(&pid_namespace, is_known ? own.pid_namespace : 0);
	atomic_store(&known_generation, mine);
}

static uint64_t key_of(const struct handle *handle)
{
	return hash_mix((uint64_t)process_pid() << 48 ^ (uint64_t)(uintptr_t)handle ^ atomic_load(&pid_namespace)) | 1;
}

static void fill_names(const struct operation *operation, struct state_running *running)
{
	char text[SHARED_STATE_SECTION_BYTES];
	shared_state_section(operation->section, text);
	state_running_text(running->section, text);
	shared_state_origin(operation->handle, running->origin, sizeof(running->origin));
	tally_put_path(operation, running->path, sizeof(running->path));
	state_running_text(running->method, handle_told_verb(operation->handle));
	state_running_text(running->job, process_environment()->job);
	state_running_text(running->run, process_run());
	state_running_text(running->program, process_program());
}

/* Not inlined: what it fills in is much for the stack that a transfer leaves. */
static __attribute__((noinline)) void keep(struct operation *operation, enum state_phase phase)
{
	int64_t now_ms = clock_ms(), wait_ms = operation->course.verdict.wait_ms;
	struct state_running running = {
	    .key = key_of(operation->handle),
	    .expires_ms = now_ms + KEPT_MS,
	    .time_us = clock_calendar_us(),
	    .until_ms = phase == STATE_PHASE_WAITING ? operation->course.verdict_ms + wait_ms : 0,
	    .pid = process_pid(),
	    .start_ticks = atomic_load(&start_ticks),
	    .pid_namespace = atomic_load(&pid_namespace),
	    .phase = (int32_t)phase,
	    .attempts = operation->course.engine.attempts,
	    .failure = (int32_t)operation->course.verdict.failure,
	    .status = info_response_code(operation->handle),
	    .curl_code = (int32_t)operation->outcome.curl_code,
	    .wait_ms = wait_ms < INT32_MAX ? (int32_t)wait_ms : INT32_MAX,
	};
	fill_names(operation, &running);
	state_running_keep(host_state(), &running, now_ms);
	operation->handle->is_under_way = true;
}

void under_way_waits(struct operation *operation)
{
	int saved_errno = errno;
	host_state_refresh(operation->policy);
	know_process();
	keep(operation, STATE_PHASE_WAITING);
	errno = saved_errno;
}

void under_way_performs(struct operation *operation)
{
	int saved_errno = errno;
	keep(operation, STATE_PHASE_PERFORMING);
	errno = saved_errno;
}

void under_way_end(struct handle *handle)
{
	if (!handle->is_under_way)
		return;
	handle->is_under_way = false;
	state_running_drop(host_state(), key_of(handle));
}
