/* SPDX-License-Identifier: MIT */
/*
 * Which script interpreters run. The first table was made by running each line with Debian 12's interpreters and a
 * script `s` that says that it runs.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "base/script.h"

static const struct {
	const char *name, *line;
	bool runs_script;
} MEASURED[] = {
    {"bash", "s", true},
    {"bash", "-x s", true},
    {"bash", "-o errexit s", true},
    {"bash", "-eo pipefail s", true},
    {"bash", "-oe pipefail s", true},
    {"bash", "-eo errexit -u s", true},
    {"bash", "+o errexit s", true},
    {"bash", "-O extglob s", true},
    {"bash", "+O extglob s", true},
    {"bash", "--rcfile x s", true},
    {"bash", "--init-file x -e s", true},
    {"bash", "--norc s", true},
    {"bash", "- s", true},
    {"bash", "-- s", true},
    {"bash", "-e - s", true},
    {"bash", "-c true s", false},
    {"bash", "-ec true s", false},
    {"bash", "-lc true s", false},
    {"bash", "-s s", false},
    {"bash", "-c -- true s", false},
    {"dash", "s", true},
    {"dash", "-o errexit s", true},
    {"dash", "-eo errexit -u s", true},
    {"dash", "- s", true},
    {"dash", "-c true s", false},
    {"dash", "-ce true s", false},
    {"dash", "-s s", false},
    {"python3", "s", true},
    {"python3", "-u s", true},
    {"python3", "-W ignore s", true},
    {"python3", "-Wignore s", true},
    {"python3", "-uW ignore s", true},
    {"python3", "-uBW ignore s", true},
    {"python3", "-X dev s", true},
    {"python3", "-Xdev s", true},
    {"python3", "-X dev -W ignore s", true},
    {"python3", "--check-hash-based-pycs always s", true},
    {"python3", "-- s", true},
    {"python3", "-OO s", true},
    {"python3", "-c pass s", false},
    {"python3", "-ucpass s", false},
    {"python3", "-uc pass s", false},
    {"python3", "-m this s", false},
    {"python3", "-mthis s", false},
    {"python3", "- s", false},
    {"python3", "-u - s", false},
    {"php", "s", true},
    {"php", "-d a=1 s", true},
    {"php", "-da=1 s", true},
    {"php", "-n -d a=1 s", true},
    {"php", "-nd a=1 s", true},
    {"php", "--define a=1 s", true},
    {"php", "--define=a=1 s", true},
    {"php", "-c . s", true},
    {"php", "-c. -d a=1 s", true},
    {"php", "--php-ini . s", true},
    {"php", "-t . s", true},
    {"php", "-f s", true},
    {"php", "-nf s", true},
    {"php", "-fs", true},
    {"php", "--file s", true},
    {"php", "--file=s", true},
    {"php", "-F s", true},
    {"php", "-nq s", true},
    {"php", "-r 1; s", false},
    {"php", "-nr 1; s", false},
    {"php", "--run 1; s", false},
    {"php", "-R 1; s", false},
    {"php", "-d a=1 -r 1; s", false},
    {"php", "-- s", false},
    {"php", "-B 1; -R 1; s", false},
    {"perl", "s", true},
    {"perl", "-I lib s", true},
    {"perl", "-Ilib s", true},
    {"perl", "-w s", true},
    {"perl", "-wI lib s", true},
    {"perl", "-Mstrict s", true},
    {"perl", "-CS s", true},
    {"perl", "-C s", true},
    {"perl", "-0777 s", true},
    {"perl", "-T s", true},
    {"perl", "-Mstrict -I lib -w s", true},
    {"perl", "-- s", true},
    {"perl", "-e 1 s", false},
    {"perl", "-E 1 s", false},
    {"perl", "-we 1 s", false},
    {"perl", "-0777ne 1 s", false},
    {"perl", "-Mstrict -e 1 s", false},
    {"perl", "- s", false},
    {"perl", "-i.bak s", true},
    {"perl", "-l012 s", true},
    {"ruby", "s", true},
    {"ruby", "-I lib s", true},
    {"ruby", "-Ilib s", true},
    {"ruby", "-r json s", true},
    {"ruby", "-rjson s", true},
    {"ruby", "-wr json s", true},
    {"ruby", "-C . s", true},
    {"ruby", "-X . s", true},
    {"ruby", "-E utf-8 s", true},
    {"ruby", "-Ku s", true},
    {"ruby", "-W0 s", true},
    {"ruby", "-W:no-deprecated s", true},
    {"ruby", "--encoding utf-8 s", true},
    {"ruby", "--enable gems s", true},
    {"ruby", "--disable gems s", true},
    {"ruby", "--external-encoding utf-8 s", true},
    {"ruby", "--backtrace-limit 3 s", true},
    {"ruby", "-- s", true},
    {"ruby", "-e 1 s", false},
    {"ruby", "-we 1 s", false},
    {"ruby", "- s", false},
    {"lua", "s", true},
    {"lua", "-e x=1 s", true},
    {"lua", "-ex=1 s", true},
    {"lua", "-l os s", true},
    {"lua", "-los s", true},
    {"lua", "-v s", true},
    {"lua", "-- s", true},
    {"lua", "- s", false},
    {"lua", "-e x=1 -l os s", true},
    {"node", "s", true},
    {"node", "-r fs s", true},
    {"node", "--require fs s", true},
    {"node", "--require=fs s", true},
    {"node", "--title x s", true},
    {"node", "--title=x s", true},
    {"node", "-C x s", true},
    {"node", "--conditions x s", true},
    {"node", "--max-http-header-size 9000 s", true},
    {"node", "--stack-trace-limit=3 s", true},
    {"node", "--no-warnings s", true},
    {"node", "--unhandled-rejections warn s", true},
    {"node", "--trace-event-categories x s", true},
    {"node", "-- s", true},
    {"node", "-e 1 s", false},
    {"node", "-p 1 s", false},
    {"node", "--eval 1 s", false},
    {"node", "--print 1 s", false},
    {"node", "-pe 1 s", false},
    {"node", "- s", false},
    {"node", "-i s", true},
    {"tclsh", "s", true},
    {"tclsh", "-encoding utf-8 s", true},
};

/* By their manuals. */
static const struct {
	const char *name, *line, *file; /* NULL: none */
} DOCUMENTED[] = {
    {"php-cgi8.2", "-b 127.0.0.1:1 -d a=b job", "job"},
    {"php8.2", "-S 127.0.0.1:1 -t web job", "job"},
    {"perl5.36-x86_64-linux-gnu", "-d:NYTProf job", "job"},
    {"perl", "-de job", NULL},
    {"python2.7", "-Q new job", "job"},
    {"pypy3", "--jit off job", "job"},
    {"luajit", "-joff job", "job"},
    {"luajit", "-b job out", NULL},
    {"R", "--no-echo --no-restore --file=job --args x", "job"},
    {"R", "-f job", "job"},
    {"R", "-e job", NULL},
    {"R", "job", NULL},
    {"R", "--args -f job", NULL},
    {"octave-cli-7.3.0", "--path lib -p lib job", "job"},
    {"octave", "--eval job", NULL},
    {"zsh", "--emulate sh -o errexit job", "job"},
    {"ksh93", "-o errexit job", "job"},
    {"wish8.6", "-encoding utf-8 job", "job"},
    {"expect", "-c x -f job", "job"},
    {"expect", "-D 0 job", "job"},
    {"julia", "-t 4 -O3 --project=x job", "job"},
    {"julia", "-e job", NULL},
    {"cmake", "-D X=Y -P job", "job"},
    {"cmake", "-DX=Y -S source job", NULL},
    {"cmake", "-E echo -P job", NULL},
    {"nodejs", "--import fs --report-dir x job", "job"},
    {"python3", "", NULL},
    {"python3", "-W", NULL},
    {"php", "-f", NULL},
    {"python3", "-W  job", "job"}, /* an empty value */
};

static struct script_word find(const char *name, const char *line)
{
	static char words[256];
	size_t bytes = (size_t)snprintf(words, sizeof(words), "%s %s", name, line) + 1;
	const struct interpreter *interpreter = interpreter_find(name);
	assert_non_null(interpreter);
	for (size_t i = 0; i < bytes; i++)
		words[i] = words[i] == ' ' ? '\0' : words[i];
	return script_find(interpreter, words, line[0] ? bytes : bytes - 1);
}

static void test_h15_scripts_are_found_as_interpreters_find_them(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(MEASURED) / sizeof(MEASURED[0]); i++) {
		struct script_word found = find(MEASURED[i].name, MEASURED[i].line);
		if ((found.file && strcmp(found.file, "s") == 0) != MEASURED[i].runs_script)
			fail_msg("%s %s: finds %s", MEASURED[i].name, MEASURED[i].line,
			         found.file ? found.file : "none");
	}
}

static void test_h15_scripts_are_found_as_manuals_say(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(DOCUMENTED) / sizeof(DOCUMENTED[0]); i++) {
		struct script_word found = find(DOCUMENTED[i].name, DOCUMENTED[i].line);
		const char *expected = DOCUMENTED[i].file;
		if ((found.file == NULL) != (expected == NULL) || (expected && strcmp(found.file, expected) != 0))
			fail_msg("%s %s: finds %s", DOCUMENTED[i].name, DOCUMENTED[i].line,
			         found.file ? found.file : "none");
	}
}

static void test_h15_modules_are_found(void **state)
{
	(void)state;
	assert_string_equal(find("python3", "-W ignore -m http.server 80").module, "http.server");
	assert_string_equal(find("python3", "-umhttp.server").module, "http.server");
	assert_null(find("python3", "-m").module);
	assert_null(find("perl", "-mstrict s").module);
}

static void test_h15_other_programs_are_no_interpreters(void **state)
{
	static const char *const NAMES[] = {"",      "curl",  "java",          "phpize", "pythonic", "r",
	                                    "shred", "perls", "node_exporter", " ",      "sh bash"};
	(void)state;
	for (size_t i = 0; i < sizeof(NAMES) / sizeof(NAMES[0]); i++)
		assert_null(interpreter_find(NAMES[i]));
	assert_ptr_equal(interpreter_find("python3.11"), interpreter_find("python"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
	    cmocka_unit_test(test_h15_scripts_are_found_as_interpreters_find_them),
	    cmocka_unit_test(test_h15_scripts_are_found_as_manuals_say),
	    cmocka_unit_test(test_h15_modules_are_found),
	    cmocka_unit_test(test_h15_other_programs_are_no_interpreters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
