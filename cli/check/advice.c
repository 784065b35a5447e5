/* SPDX-License-Identifier: MIT */
#include "cli/check/advice.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/elf/binder.h"
#include "cli/elf/object.h"
#include "cli/say/plain_text.h"
#include "interpose/bind/bind.h"

bool check_advice_is_for(const struct check_report *report, enum check_reason reason)
{
	bool is_process = report->observed && !report->has_run;
	return is_process &&
	       (reason == CHECK_REASON_DEEPBIND || reason == CHECK_REASON_DLSYM || reason == CHECK_REASON_ENVIRONMENT);
}

static void print_lines(const char *object, bool with_preload)
{
	char *tunables = binder_compose_tunables(NULL);
	int directory_bytes = (int)(strrchr(object, '/') - object);
	if (with_preload)
		printf("    Environment=LD_PRELOAD=%s\n", plain_text(object));
	printf("    Environment=LD_AUDIT=%.*s/" BIND_LIBRARY "\n", directory_bytes, plain_text(object));
	printf("    Environment=GLIBC_TUNABLES=%s\n", tunables ? tunables : "");
	free(tunables);
}

void check_print_advice(const struct check_report *report, enum check_reason reason)
{
	struct say_error ignored;
	bool without_preload = reason == CHECK_REASON_ENVIRONMENT;
	char *object = report->tenacurl ? strdup(report->tenacurl) : object_find(&ignored);
	if (object && strchr(object, '/')) {
		puts(without_preload
		         ? "  Start it by 'tenacurl run'; a service of systemd by these lines in its [Service]:"
		         : "  Leave out --no-binder; for a service of systemd, add to its [Service]:");
		print_lines(object, without_preload);
	}
	free(object);
}
