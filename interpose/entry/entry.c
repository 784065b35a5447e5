/* SPDX-License-Identifier: MIT */

/*
 * What the exported functions do: find out whose call it is, keep the handle's record, and decide whether an operation
 * is ours or passed through. Calls that libcurl makes to itself (it reaches its own exports through the PLT) go
 * straight on: handles that it makes for itself never get a record.
 */

#include <stdatomic.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/clock.h"
#include "interpose/drive/callbacks.h"
#include "interpose/drive/conduct.h"
#include "interpose/drive/room.h"
#include "interpose/entry/entry.h"
#include "interpose/handle/handle.h"
#include "interpose/host/policy_source.h"
#include "interpose/host/process.h"
#include "interpose/host/section.h"
#include "interpose/host/tell.h"
#include "interpose/parts/facts.h"
#include "interpose/parts/lend.h"
#include "interpose/parts/options.h"
#include "interpose/parts/os_errno.h"

#define GUARDS_CALLS_VERSION 0x081600 /* 8.22.0 (lib/api.c) */
#define RECURSIVE_API_CALL   ((CURLcode)93)

static void complain_once(void)
{
	static _Atomic bool said;
	if (!atomic_exchange(&said, true))
		tell_complaint("a program called libcurl, but no libcurl can be found behind its call: the call fails");
}

const struct libcurl *entry_find_libcurl(const struct reference *reference, const void *caller)
{
	const struct libcurl *libcurl = libcurl_of_caller(reference, caller);
	if (!libcurl)
		complain_once();
	return libcurl;
}

/* The libcurl that serves this call: the handle's own where it is known. */
static const struct libcurl *libcurl_for(const struct handle *handle, const struct reference *reference,
                                         const void *caller)
{
	return handle ? handle->libcurl : entry_find_libcurl(reference, caller);
}

CURL *entry_init(const struct reference *reference, const void *caller)
{
	const struct libcurl *libcurl = libcurl_for(NULL, reference, caller);
	if (!libcurl)
		return NULL;
	CURL *curl = libcurl->init();
	if (curl && !libcurl_contains(libcurl, caller))
		handle_adopt(curl, libcurl, &callbacks);
	return curl;
}

static CURLcode set_option(struct handle *handle, CURLoption option, void *argument)
{
	CURLcode result = options_set(handle, option, argument);
	if (handle->active && result == CURLE_OK)
		conduct_note_option(handle->active, option);
	return result;
}

CURLcode entry_setopt(const struct reference *reference, const void *caller, CURL *curl, CURLoption option,
                      void *argument)
{
	struct handle *handle = handle_find(curl);
	if (handle && !libcurl_contains(handle->libcurl, caller))
		return set_option(handle, option, argument);
	const struct libcurl *libcurl = libcurl_for(handle, reference, caller);
	return libcurl ? libcurl->setopt(curl, option, argument) : CURLE_FAILED_INIT;
}

CURLcode entry_getinfo(const struct reference *reference, const void *caller, CURL *curl, CURLINFO info, void *argument)
{
	const struct handle *handle = handle_find(curl);
	const struct libcurl *libcurl = libcurl_for(handle, reference, caller);
	if (!libcurl)
		return CURLE_FAILED_INIT;
	CURLcode result = libcurl->getinfo(curl, info, argument);
	if (handle && result == CURLE_OK && handle->disowned_errno != 0)
		os_errno_correct(handle, info, argument);
	if (handle && result == CURLE_OK && handle->active)
		conduct_correct_info(handle->active, info, argument);
	return result;
}

/*
 * Whether this call comes while the handle's operation runs: from one of the program's callbacks, which lies further
 * down the stack than the perform that it is in; or from another thread. An operation may also have been left, by
 * longjmp, an exception, or because its thread was cancelled. Where the same thread is further down its stack again,
 * nobody can tell: then libcurl, too, would take the handle for one that is in use.
 */
static bool is_in_operation(const struct handle *handle, const void *frame)
{
	if (!handle->active)
		return false;
	/* A new thread may have the place of one that has ended, so that only the kernel can tell them apart. */
	bool is_childs = handle->performed_generation != process_generation();
	if (!handle->performs && !is_childs && process_thread_has_ended(handle->waiting_thread))
		return false;
	if (handle->active_thread == process_thread_id())
		return (uintptr_t)frame < (uintptr_t)handle->active_frame;
	return !is_childs;
}

/* Whether libcurl's own guard would keep this call from doing anything. */
static bool is_guarded(const struct handle *handle, const void *frame)
{
	return handle && handle->libcurl->version_number >= GUARDS_CALLS_VERSION && is_in_operation(handle, frame);
}

void entry_reset(const struct reference *reference, const void *caller, CURL *curl)
{
	struct handle *handle = handle_find(curl);
	const struct libcurl *libcurl = libcurl_for(handle, reference, caller);
	if (!libcurl || is_guarded(handle, __builtin_frame_address(0)))
		return;
	libcurl->reset(curl);
	if (!handle)
		return;
	handle_reset(handle);
	if (handle->active)
		conduct_note_reset(handle->active);
}

CURL *entry_duphandle(const struct reference *reference, const void *caller, CURL *curl)
{
	struct handle *source = handle_find(curl);
	const struct libcurl *libcurl = libcurl_for(source, reference, caller);
	if (!libcurl)
		return NULL;
	CURL *duplicate = libcurl->duphandle(curl);
	if (!duplicate || !source)
		return duplicate;

	/* A handle that libcurl makes for itself (server push) is none of ours; any other gets a record like its
	 * source's. */
	struct handle *copy = libcurl_contains(libcurl, caller) ? NULL : handle_adopt(duplicate, libcurl, &callbacks);
	if (copy && handle_copy_options(copy, source) && lend_adopt_duplicate(copy)) {
		lend_give_back_numbers(copy);
		return duplicate;
	}
	if (copy)
		handle_forget(copy);
	lend_give_back_duplicate(source, duplicate);
	return duplicate;
}

void entry_cleanup(const struct reference *reference, const void *caller, CURL *curl)
{
	struct handle *handle = handle_find(curl);
	const struct libcurl *libcurl = libcurl_for(handle, reference, caller);
	if (is_guarded(handle, __builtin_frame_address(0)))
		return;
	/* Whoever runs its operation finds that gone. */
	if (handle)
		handle_hide(handle);
	if (libcurl)
		libcurl->cleanup(curl);
	/* Only now: closing a connection can still make callbacks. */
	if (!handle)
		return;
	room_abandon(handle);
	handle_forget(handle);
}

CURLcode entry_pause(const struct reference *reference, const void *caller, CURL *curl, int action)
{
	struct handle *handle = handle_find(curl);
	const struct libcurl *libcurl = libcurl_for(handle, reference, caller);
	if (!libcurl)
		return CURLE_FAILED_INIT;
	if (handle && handle->active && !handle->performs) {
		/* Between attempts there is no transfer to pause; libcurl would call that an error. */
		conduct_note_unpause(handle->active, (action & CURLPAUSE_RECV) == 0);
		return CURLE_OK;
	}
	return libcurl->pause(curl, action);
}

/* An operation that never came back: its handle is as good as new, if libcurl wasn't in use. */
static void drop_abandoned_operation(struct handle *handle)
{
	handle->performs = false;
	handle->active = NULL;
	facts_note_unknown(handle);
	lend_give_back_numbers(handle);
}

/* What libcurl answers while it performs. Here it doesn't: the operation waits, or delivers what it held. */
static CURLcode refuse_second_perform(const struct handle *handle)
{
	if (handle->libcurl->version_number >= GUARDS_CALLS_VERSION)
		return RECURSIVE_API_CALL;
	if (handle->program.error_buffer)
		snprintf(handle->program.error_buffer, CURL_ERROR_SIZE, "easy handle already used in multi handle");
	return CURLE_FAILED_INIT;
}

/* CURLOPT_CURLU comes before CURLOPT_URL: the URL to go by is what the program has put into it by now. */
static void read_url_handle(struct handle *handle)
{
	const struct libcurl *libcurl = handle->libcurl;
	char *url = NULL;
	if (!libcurl->url_get || !libcurl->free)
		return;
	if (libcurl->url_get(handle->program.url_handle, CURLUPART_URL, &url, 0) != CURLUE_OK)
		url = NULL;
	handle_set_url(handle, url);
	libcurl->free(url);
}

/* Not inlined: a handle's later operations go by what was selected for its first. */
static __attribute__((noinline)) void select_anew(struct handle *handle, const struct policy_hold *hold)
{
	struct url url;
	bool is_read = handle_read_url(handle, &url);
	handle->selected_section = section_of(hold->policy, is_read ? &url : NULL);
	handle->selected_version = hold->version;
	handle->shared_entry = NULL;
}

/* The section that the handle's next operation goes by; NULL: it is none of our business. */
static const struct policy_section *select_section(struct handle *handle, const struct policy_hold *hold)
{
	if (handle->program.url_handle)
		read_url_handle(handle);
	if (handle->program.connect_only || handle->program.rtsp)
		return NULL;
	if (handle->selected_version != hold->version)
		select_anew(handle, hold);
	return handle->selected_section;
}

static CURLcode pass_through(struct handle *handle)
{
	facts_note_unknown(handle);
	CURLcode result = handle->libcurl->perform(handle->curl);
	os_errno_settle(handle, result);
	return result;
}

CURLcode entry_perform(const struct reference *reference, const void *caller, CURL *curl)
{
	const void *frame = __builtin_frame_address(0);
	struct handle *handle = handle_find(curl);
	const struct libcurl *libcurl = libcurl_for(handle, reference, caller);
	if (!libcurl)
		return CURLE_FAILED_INIT;
	if (!handle)
		return libcurl->perform(curl);
	if (handle->active && is_in_operation(handle, frame))
		return handle->performs ? libcurl->perform(curl) : refuse_second_perform(handle);

	/* A connection that a child inherited belongs to its parent; what libcurl makes of it is not ours to repeat. */
	uint32_t generation = process_generation();
	bool is_inherited = handle->performed_generation != 0 && handle->performed_generation != generation;
	if (handle->active && !(is_inherited && handle->performs))
		drop_abandoned_operation(handle);
	if (is_inherited) {
		handle->active = NULL; /* what the parent was doing with it */
		return pass_through(handle);
	}
	handle->performed_generation = generation;

	int64_t now_ms = clock_ms();
	struct policy_hold hold;
	if (!policy_source_hold(now_ms, &hold))
		return pass_through(handle);
	const struct policy_section *section = select_section(handle, &hold);
	if (!section || !lend_callbacks(handle)) {
		policy_slots_release(&hold);
		return pass_through(handle);
	}
	handle->active_frame = frame;
	handle->active_caller = caller;
	CURLcode result = conduct_operation(handle, hold.policy, section, now_ms);
	policy_slots_release(&hold);
	return result;
}
