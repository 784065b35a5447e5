/* SPDX-License-Identifier: MIT */
#include "cli/policy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/probe.h"
#include "base/url.h"
#include "cli/load.h"
#include "cli/plain_text.h"
#include "config/find.h"
#include "config/load.h"
#include "config/schema.h"
#include "config/value.h"

enum { EXIT_GOOD = 0, EXIT_BAD_POLICY = 1, EXIT_USAGE = 2 };

#define VALUE_BYTES  4096
#define WIDEST_VALUE 72 /* of a column; longer values stick out of theirs rather than make all rows long */
#define ORIGIN_BYTES (PATH_MAX + 128) /* with room for ":LINE [upstream NAME]" */

static const char usage[] =
    "Usage: tenacurl policy check FILE\n"
    "       tenacurl policy explain [--policy FILE] [URL]\n"
    "       tenacurl policy keys\n"
    "\n"
    "check    say whether FILE is a good policy: exit status 0, or 1 and what is wrong with it\n"
    "explain  tell which policy file is found, by which rule, which of its sections is for URL, and every value with\n"
    "         the file, line and section it comes from, or TENACURL_MODE or TENACURL_LOG\n"
    "keys     list every key with what it takes, its default and what it means\n";

static int refuse_usage(const char *what, const char *word)
{
	fprintf(stderr, "tenacurl: policy: %s%s (try: tenacurl policy --help)\n", what, plain_text(word));
	return EXIT_USAGE;
}

static void warn_on_stderr(void *context, const char *text)
{
	(void)context;
	fprintf(stderr, "tenacurl: warning: %s\n", plain_text(text));
}

/* An answer that didn't reach its reader (a full disk, say) is a failure. */
static int finish(void)
{
	if (fflush(stdout) == 0 && !ferror(stdout))
		return EXIT_GOOD;
	perror("tenacurl: can't write the answer");
	return EXIT_BAD_POLICY;
}

static const struct policy *load(const char *path, const struct policy_overrides *overrides)
{
	struct policy_error error;
	const struct policy *policy = cli_load_policy(path, overrides, warn_on_stderr, NULL, &error);

	if (policy == NULL)
		fprintf(stderr, "tenacurl: %s\n", plain_text(error.text));
	return policy;
}

static int check(int argc, char **argv)
{
	if (argc != 2 || (argv[1][0] == '-' && argv[1][1] != '\0'))
		return refuse_usage("check takes one FILE", "");

	/* The file as it stands, whatever the environment would replace. */
	const struct policy_overrides none = {NULL, NULL};
	const struct policy *policy = load(argv[1], &none);
	if (policy == NULL)
		return EXIT_BAD_POLICY;
	printf("%s: ok, %zu section%s\n", plain_text(argv[1]), policy->section_count,
	       policy->section_count == 1 ? "" : "s");
	policy_free(policy);
	return finish();
}

static int print_keys(int argc)
{
	char allowed[SCHEMA_ALLOWED_BYTES];

	if (argc != 1)
		return refuse_usage("keys takes no argument", "");
	for (size_t i = 0; i < schema_key_count(); i++) {
		const struct schema_key *key = schema_key_at(i);
		static const char *const scopes[] = {[SCHEMA_ANYWHERE] = "any section",
		                                     [SCHEMA_POLICY_ONLY] = "[policy] only",
		                                     [SCHEMA_UPSTREAM_ONLY] = "[upstream NAME] only"};
		schema_allowed(key, allowed);
		printf("%s\n    %s\n    takes: %s\n    default: %s\n    where: %s\n", key->name, key->doc, allowed,
		       key->default_text[0] != '\0' ? key->default_text : "(nothing)", scopes[key->scope]);
	}
	return finish();
}

/* What `explain` is asked for. */
struct question {
	const char *named; /* --policy; NULL: search */
	const char *url;   /* NULL: none */
};

/* What it answers from. */
struct answer {
	const struct policy *policy;
	const struct policy_section *section;
	const char *url; /* NULL: none was given */
	bool is_http;    /* libcurl speaks HTTP to it */
	bool is_probe;   /* and its host has one attempt (base/probe.h) */
	struct policy_overrides overrides;
};

static int read_question(int argc, char **argv, struct question *question)
{
	bool options = true;

	for (int i = 1; i < argc; i++) {
		if (options && strcmp(argv[i], "--") == 0) {
			options = false;
		} else if (options && strcmp(argv[i], "--policy") == 0) {
			if (++i == argc)
				return refuse_usage("--policy takes a FILE", "");
			question->named = argv[i];
		} else if (options && strncmp(argv[i], "--policy=", 9) == 0) {
			question->named = argv[i] + 9;
		} else if (options && argv[i][0] == '-') {
			return refuse_usage("explain knows no ", argv[i]);
		} else if (question->url != NULL) {
			return refuse_usage("explain takes one URL", "");
		} else {
			question->url = argv[i];
		}
	}
	return EXIT_GOOD;
}

/* The variable that replaced this key's value, or NULL. A value without a line is a default or was replaced. */
static const char *replacing_variable(const struct answer *answer, size_t key)
{
	const char *name = schema_key_at(key)->name;

	if (answer->section->line[key] != 0)
		return NULL;
	if (answer->overrides.mode != NULL && strcmp(name, "mode") == 0)
		return "TENACURL_MODE";
	return answer->overrides.log != NULL && strcmp(name, "log") == 0 ? "TENACURL_LOG" : NULL;
}

static void print_origin(const struct answer *answer, size_t key, char *out, size_t out_bytes)
{
	const struct policy *policy = answer->policy;
	const struct policy_section *section = answer->section;
	bool own = section != policy->sections && !section->inherited[key];
	const char *variable = replacing_variable(answer, key);

	if (variable != NULL)
		snprintf(out, out_bytes, "%s", variable);
	else if (section->line[key] == 0)
		snprintf(out, out_bytes, "default");
	else
		snprintf(out, out_bytes, "%s:%u [%s%s]", policy->path, (unsigned)section->line[key],
		         own ? "upstream " : "", own ? section->name : policy->sections[0].name);
}

/* Whether the key says something about this section. */
static bool is_shown(const struct answer *answer, const struct schema_key *key)
{
	return key->scope != SCHEMA_UPSTREAM_ONLY || answer->section != answer->policy->sections;
}

static int print_rows(const struct answer *answer)
{
	char value[VALUE_BYTES];
	char *origin = malloc(ORIGIN_BYTES);
	int value_width = 0;
	int origin_width = 0;

	if (origin == NULL) {
		perror("tenacurl");
		return EXIT_BAD_POLICY;
	}
	for (int print = 0; print <= 1; print++) {
		for (size_t i = 0; i < schema_key_count(); i++) {
			const struct schema_key *key = schema_key_at(i);
			if (!is_shown(answer, key))
				continue;
			value_print(key, &answer->section->rules, value, sizeof value);
			print_origin(answer, i, origin, ORIGIN_BYTES);
			if (print) {
				printf("%-22s = %-*s  %-*s  %s\n", key->name, value_width, plain_text(value),
				       origin_width, plain_text(origin), key->doc);
				continue;
			}
			if ((int)strlen(value) > value_width && strlen(value) <= WIDEST_VALUE)
				value_width = (int)strlen(value);
			if ((int)strlen(origin) > origin_width)
				origin_width = (int)strlen(origin);
		}
	}
	free(origin);
	return EXIT_GOOD;
}

/* Why it is [policy]. */
static const char *policy_section_reason(const struct answer *answer)
{
	if (answer->url == NULL)
		return "no URL given";
	return answer->is_http ? "no upstream section's match fits the URL"
	                       : "libcurl takes this for no HTTP or HTTPS URL: tenacurl stays out";
}

static int print_answer(const struct answer *answer, enum policy_found how)
{
	const struct policy *policy = answer->policy;
	const struct policy_section *section = answer->section;
	char match[VALUE_BYTES];

	printf("policy:  %s (%s)\n", policy->path != NULL ? plain_text(policy->path) : "built-in",
	       policy_found_text(how));
	printf("hash:    %s\n", policy->hash);
	if (section == policy->sections) {
		printf("section: [policy] (%s)\n", policy_section_reason(answer));
	} else {
		value_print(schema_key_at((size_t)schema_find("match")), &section->rules, match, sizeof match);
		printf("section: [upstream %s] (match = %s)\n", plain_text(section->name), plain_text(match));
	}
	if (answer->is_probe)
		puts(
		    "retries: none, since no answer is an answer there; a section whose match names the host has them");
	putchar('\n');

	int status = print_rows(answer);
	return status != EXIT_GOOD ? status : finish();
}

/* Whether TENACURL_MODE and TENACURL_LOG are good; says so if not. */
static bool check_variables(const struct policy_overrides *overrides)
{
	struct policy_error error;

	if (overrides->mode != NULL && !cli_check_override("mode", overrides->mode, &error)) {
		fprintf(stderr, "tenacurl: TENACURL_MODE: %s\n", plain_text(error.text));
		return false;
	}
	if (overrides->log != NULL && !cli_check_override("log", overrides->log, &error)) {
		fprintf(stderr, "tenacurl: TENACURL_LOG: %s\n", plain_text(error.text));
		return false;
	}
	return true;
}

static int explain(int argc, char **argv)
{
	struct question question = {NULL, NULL};
	struct answer answer = {.overrides = cli_environment_overrides()};
	char path[PATH_MAX];
	enum policy_found how;
	struct url url;
	int status = read_question(argc, argv, &question);

	if (status != EXIT_GOOD)
		return status;

	const struct policy_places places = {
	    .named_by_command = question.named,
	    .environment = getenv("TENACURL_POLICY"),
	    .home = getenv("HOME"),
	    .is_root = geteuid() == 0,
	};
	bool found = policy_find(&places, path, sizeof path, &how);
	if (how == POLICY_FOUND_TOO_LONG) {
		fprintf(stderr, "tenacurl: the policy is %s\n", policy_found_text(how));
		return EXIT_BAD_POLICY;
	}
	if (!check_variables(&answer.overrides))
		return EXIT_BAD_POLICY;

	answer.policy = load(found ? path : NULL, &answer.overrides);
	if (answer.policy == NULL) {
		fprintf(stderr, "tenacurl: that policy was %s\n", policy_found_text(how));
		return EXIT_BAD_POLICY;
	}
	answer.url = question.url;
	answer.is_http = url_read(question.url, "", &url) && url_is_http(&url);
	answer.section = policy_select(answer.policy, answer.is_http ? &url : NULL);
	answer.is_probe = answer.is_http && probe_is_made_once(&url, answer.section->rules.match.host_glob);
	status = print_answer(&answer, how);
	policy_free(answer.policy);
	return status;
}

int policy_command(int argc, char **argv)
{
	if (argc < 2)
		return refuse_usage("check, explain or keys?", "");
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0) {
		fputs(usage, stdout);
		return finish();
	}
	for (int i = 2; i < argc && strcmp(argv[i], "--") != 0; i++) {
		if (strcmp(argv[i], "--help") == 0) {
			fputs(usage, stdout);
			return finish();
		}
	}
	if (strcmp(argv[1], "check") == 0)
		return check(argc - 1, argv + 1);
	if (strcmp(argv[1], "explain") == 0)
		return explain(argc - 1, argv + 1);
	if (strcmp(argv[1], "keys") == 0)
		return print_keys(argc - 1);
	return refuse_usage("there is no policy ", argv[1]);
}
