/* SPDX-License-Identifier: MIT */

#include "interpose/parts/progress.h"

#define INFO_NUMBER_MASK  0xFFFFF
#define INFO_TYPE_MASK    0xF00000
#define INFO_TYPE_DOUBLE  0x300000
#define INFO_TYPE_OFF_T   0x600000
#define INFO_UNKNOWN_SIZE (-1)

static void lift(curl_off_t *number, curl_off_t least)
{
	if (*number < least)
		*number = least;
}

static void lower(curl_off_t *number, curl_off_t most)
{
	if (*number > most)
		*number = most;
}

/*
 * Not less than the attempts before have shown, until this one has come so far, or goes back itself: libcurl's numbers
 * do that at a redirect, without us too.
 */
static void keep_from_going_back(curl_off_t *number, curl_off_t real, curl_off_t before, curl_off_t *least)
{
	if (real >= *least || real < before)
		*least = 0;
	lift(number, *least);
}

static void keep_all_from_going_back(struct progress *progress, struct progress_numbers *numbers,
                                     const struct progress_numbers *real)
{
	const struct progress_numbers *before = &progress->real;
	struct progress_numbers *least = &progress->shown_before;
	keep_from_going_back(&numbers->download_total, real->download_total, before->download_total,
	                     &least->download_total);
	keep_from_going_back(&numbers->download_now, real->download_now, before->download_now, &least->download_now);
	keep_from_going_back(&numbers->upload_total, real->upload_total, before->upload_total, &least->upload_total);
	keep_from_going_back(&numbers->upload_now, real->upload_now, before->upload_now, &least->upload_now);
}

void progress_begin_attempt(struct progress *progress)
{
	progress->shown_before = progress->shown;
	progress->real = (struct progress_numbers){0};
}

void progress_filter(struct progress *progress, struct progress_numbers *numbers, bool withheld)
{
	const struct progress_numbers real = *numbers;
	if (withheld) {
		lower(&numbers->download_total, progress->shown.download_total);
		lower(&numbers->download_now, progress->shown.download_now);
	}
	progress->hides = numbers->download_total < real.download_total || numbers->download_now < real.download_now;
	keep_all_from_going_back(progress, numbers, &real);
	progress->real = real;
	progress->shown = *numbers;
}

int progress_tell(const struct handle *handle, const struct progress_numbers *numbers)
{
	const struct program_options *program = &handle->program;
	if (program->xferinfo_function)
		return program->xferinfo_function(program->progress_data, numbers->download_total,
		                                  numbers->download_now, numbers->upload_total, numbers->upload_now);
	if (program->progress_function)
		return program->progress_function(program->progress_data, (double)numbers->download_total,
		                                  (double)numbers->download_now, (double)numbers->upload_total,
		                                  (double)numbers->upload_now);
	return 0;
}

static bool has_callback(const struct program_options *program)
{
	return program->xferinfo_function || program->progress_function;
}

static bool set_data(const struct libcurl *libcurl, CURL *curl, const void *data)
{
	return libcurl->setopt(curl, CURLOPT_PROGRESSDATA, data) == CURLE_OK;
}

/* A function that isn't set stays so: libcurl's meter is on where there is none. */
static bool set_functions(const struct handle *handle, xferinfo_function xferinfo, curl_progress_callback progress)
{
	const struct libcurl *libcurl = handle->libcurl;
	CURL *curl = handle->curl;
	if (handle->program.progress_function && libcurl->setopt(curl, CURLOPT_PROGRESSFUNCTION, progress) != CURLE_OK)
		return false;
	return !handle->program.xferinfo_function ||
	       libcurl->setopt(curl, (CURLoption)OPTION_XFERINFOFUNCTION, xferinfo) == CURLE_OK;
}

void progress_lend(struct handle *handle)
{
	const struct program_options *program = &handle->program;
	bool wants = has_callback(program);
	if (!wants && !handle->lent.progress)
		return;
	handle->lent.progress = wants &&
	                        set_functions(handle, handle->lendings->xferinfo, handle->lendings->progress) &&
	                        set_data(handle->libcurl, handle->curl, handle);
	if (handle->lent.progress)
		return;
	set_functions(handle, program->xferinfo_function, program->progress_function);
	set_data(handle->libcurl, handle->curl, program->progress_data);
}

bool progress_adopt_duplicate(struct handle *copy)
{
	return !copy->lent.progress || set_data(copy->libcurl, copy->curl, copy);
}

void progress_give_back_duplicate(const struct handle *source, CURL *copy)
{
	const struct program_options *program = &source->program;
	if (!source->lent.progress)
		return;
	if (program->progress_function)
		source->libcurl->setopt(copy, CURLOPT_PROGRESSFUNCTION, program->progress_function);
	if (program->xferinfo_function)
		source->libcurl->setopt(copy, (CURLoption)OPTION_XFERINFOFUNCTION, program->xferinfo_function);
	set_data(source->libcurl, copy, program->progress_data);
}

bool progress_is_wanted(const struct handle *handle)
{
	return !handle->program.no_progress && has_callback(&handle->program);
}

bool progress_report(const struct handle *handle, const struct progress *progress)
{
	int answer = progress_tell(handle, &progress->shown);
	return answer == 0 || answer == PROGRESS_CONTINUE;
}

bool progress_catch_up(const struct handle *handle, struct progress *progress)
{
	if (!progress->hides || !progress_is_wanted(handle))
		return true;
	progress->hides = false;
	progress->shown = progress->real;
	return progress_report(handle, progress);
}

void progress_hide_meter(struct handle *handle)
{
	const struct program_options *program = &handle->program;
	if (program->no_progress || has_callback(program))
		return;
	if (handle->libcurl->setopt(handle->curl, CURLOPT_NOPROGRESS, 1L) == CURLE_OK)
		handle->lent.no_progress = true;
}

void progress_show_meter(struct handle *handle)
{
	if (handle->lent.no_progress)
		handle->libcurl->setopt(handle->curl, CURLOPT_NOPROGRESS, (long)handle->program.no_progress);
	handle->lent.no_progress = false;
}

static void set_number(CURLINFO info, void *value, curl_off_t number)
{
	int type = (int)info & INFO_TYPE_MASK;
	if (type == INFO_TYPE_DOUBLE)
		*(double *)value = (double)number;
	else if (type == INFO_TYPE_OFF_T)
		*(curl_off_t *)value = number;
}

void progress_correct_info(CURLINFO info, void *value)
{
	if (!value)
		return;
	switch ((int)info & INFO_NUMBER_MASK) {
	case CURLINFO_SIZE_DOWNLOAD &INFO_NUMBER_MASK:
	case CURLINFO_SPEED_DOWNLOAD &INFO_NUMBER_MASK:
		set_number(info, value, 0);
		break;
	case CURLINFO_CONTENT_LENGTH_DOWNLOAD &INFO_NUMBER_MASK:
		set_number(info, value, INFO_UNKNOWN_SIZE);
		break;
	default:
		break;
	}
}
