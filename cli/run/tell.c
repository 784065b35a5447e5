/* SPDX-License-Identifier: MIT */
#include "cli/run/tell.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <syslog.h>
#include <unistd.h>

#include "cli/say/plain_text.h"
#include "log/sink.h"

static bool has_told; /* something that keeps the program from being helped */

bool run_is_read(const struct run_options *options)
{
	return options->verbose || options->summary || isatty(STDERR_FILENO);
}

void run_tell(const struct run_options *options, enum run_audience audience, const char *format, ...)
{
	char text[1024] = "";
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(text, sizeof(text), format, arguments);
	va_end(arguments);
	has_told |= audience != RUN_TELL_VERBOSE;
	if (options->verbose || (audience != RUN_TELL_VERBOSE && run_is_read(options)))
		fprintf(stderr, "tenacurl run: warning: %s\n", plain_text(text));
	if (audience == RUN_TELL_ANYBODY && !options->verbose && !isatty(STDERR_FILENO))
		log_syslog(LOG_WARNING, text, strlen(text));
}

bool run_has_told(void)
{
	return has_told;
}
