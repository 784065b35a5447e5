/* SPDX-License-Identifier: MIT */
#include "cli/policy/policy.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/probe.h"
#include "base/url.h"
#include "cli/policy/load.h"
#include "cli/policy/off_switch.h"
#include "cli/policy/sink_trial.h"
#include "cli/say/options.h"
#include "cli/say/plain_text.h"
#include "config/find.h"
#include "config/load.h"
#include "config/schema.h"
#include "config/value.h"

enum { EXIT_GOOD = 0, EXIT_BAD_POLICY = 1, EXIT_USAGE = 2 };

#define VALUE_BYTES  4096
#define WIDEST_VALUE 72 /* of a column; longer values stick out of theirs rather than make all rows long */
#define ORIGIN_BYTES (PATH_MAX + 128) /* with room for ":LINE [upstream NAME]" */

/* What the command line says. */
struct request {
	const char *policy_path; /* --policy; NULL: search */
	const char *user;        /* --user; NULL: who we are */
};

static const struct say_option OPTIONS[] = {SAY_ROW("policy", '\0', "FILE", SAY_TEXT, struct request, policy_path,
                                                    "explain this policy instead of the one that is found"),
                                            SAY_ROW("user", '\0', "NAME", SAY_TEXT, struct request, user,
                                                    "check, as root: whether this user could write the log"),
                                            {0}};

static const struct say_command COMMAND = {
    .name = "tenacurl policy",
    .forms = "tenacurl policy check [--user NAME] FILE\n"
             "tenacurl policy explain [--policy FILE] [URL]\n"
             "tenacurl policy keys",
    .about = "check    say whether FILE is a good policy: exit status 0, or 1 and what is wrong with it; its log is "
             "tried\n"
             "         too: a warning, or with --user status 1, if records would be lost\n"
             "explain  tell which policy file is found, by which rule, which of its sections is for URL, and every "
             "value with\n"
             "         the file, line and section it comes from, or TENACURL_MODE or TENACURL_LOG\n"
             "keys     list every key with what it takes, its default and what it means",
    .options = OPTIONS,
    .examples = "tenacurl policy check policy.ini\n"
                "tenacurl policy check --user www-data /etc/tenacurl/policy.ini\n"
                "tenacurl policy explain https://api.example.org/v1/items\n"
                "tenacurl policy keys\n",
    .needs = "check, explain or keys?",
    .operands_max = 2,
    .wrong_usage = EXIT_USAGE,
    .unwritable = EXIT_BAD_POLICY,
};

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

/* Whether nothing that can be told now keeps records from the policy's log; says so if not. */
static bool try_log(const struct policy *policy, const struct passwd *user)
{
	struct sink_trouble trouble = {0};
	const struct policy_rules *rules = &policy->sections[0].rules;
	const struct passwd *writer = user ? user : getpwuid(geteuid());
	/* Our own standard error says nothing of a program's. */
	bool is_stderr = rules->log == POLICY_LOG_STDERR || rules->log == POLICY_LOG_STDERR_JSON;

	if (!sink_is_wanted(policy) || is_stderr)
		return true;
	if (user ? sink_try_as(user, rules, &trouble) : sink_try(rules, &trouble))
		return true;
	fprintf(stderr, "tenacurl: warning: the log can't be written by %s, so records will be lost: %s\n",
	        writer ? writer->pw_name : "this user", plain_text(trouble.text));
	/* The file is good all the same, and may be for another host. Who names a user asks about this one. */
	return user == NULL;
}

static const struct passwd *find_user(const char *name)
{
	const struct passwd *user = geteuid() == 0 ? getpwnam(name) : NULL;

	if (user == NULL)
		fprintf(stderr, "tenacurl: --user %s: %s\n", plain_text(name),
		        geteuid() == 0 ? "there is no such user" : "only root can try for others");
	return user;
}

static int check(const char *path, const char *user_name)
{
	const struct passwd *user = user_name ? find_user(user_name) : NULL;
	if (user_name && user == NULL)
		return EXIT_BAD_POLICY;

	/* The file as it stands, whatever the environment would replace. */
	const struct policy_overrides none = {NULL, NULL};
	const struct policy *policy = load(path, &none);
	if (policy == NULL)
		return EXIT_BAD_POLICY;
	printf("%s: ok, %zu section%s\n", plain_text(path), policy->section_count,
	       policy->section_count == 1 ? "" : "s");
	bool is_writable = try_log(policy, user);
	policy_free(policy);
	int status = finish();
	return is_writable ? status : EXIT_BAD_POLICY;
}

static int print_keys(void)
{
	char allowed[SCHEMA_ALLOWED_BYTES];

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

/* What `explain` answers from. */
struct answer {
	const struct policy *policy;
	const struct policy_section *section;
	const char *url; /* NULL: none was given */
	bool is_http;    /* libcurl speaks HTTP to it */
	bool is_probe;   /* and its host has one attempt (base/probe.h) */
	struct policy_overrides overrides;
};

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

/* `named`: a policy, or NULL to search; `asked`: a URL, or NULL. */
static int explain(const char *named, const char *asked)
{
	struct answer answer = {.overrides = cli_environment_overrides()};
	char path[PATH_MAX];
	enum policy_found how;
	struct url url;
	const struct policy_places places = cli_policy_places(named);
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
	answer.url = asked;
	answer.is_http = url_read(asked, "", &url) && url_is_http(&url);
	answer.section = policy_select(answer.policy, answer.is_http ? &url : NULL);
	answer.is_probe = answer.is_http && probe_is_made_once(&url, answer.section->rules.match.host_glob);
	off_switch_tell();
	int status = print_answer(&answer, how);
	policy_free(answer.policy);
	return status;
}

/* SAY_GO_ON, or the exit status of wrong usage. `operand` is what stands behind the word. */
static int check_request(const struct request *request, const char *word, const char *operand)
{
	bool is_check = strcmp(word, "check") == 0, is_explain = strcmp(word, "explain") == 0;
	if (!is_check && !is_explain && strcmp(word, "keys") != 0)
		return say_wrong_usage(&COMMAND, "there is no policy %s", word);
	if (request->policy_path && !is_explain)
		return say_wrong_usage(&COMMAND, "--policy goes with explain");
	if (request->user && !is_check)
		return say_wrong_usage(&COMMAND, "--user goes with check");
	if (is_check && !operand)
		return say_wrong_usage(&COMMAND, "check takes one FILE");
	return !is_check && !is_explain && operand ? say_wrong_usage(&COMMAND, "keys takes no argument") : SAY_GO_ON;
}

int policy_command(int argc, char **argv)
{
	struct request request = {0};
	char **words;
	int end = say_read_options(&COMMAND, argc, argv, &request, &words);
	if (end == SAY_GO_ON)
		end = check_request(&request, words[0], words[1]);
	if (end != SAY_GO_ON)
		return end;
	if (strcmp(words[0], "check") == 0)
		return check(words[1], request.user);
	return strcmp(words[0], "explain") == 0 ? explain(request.policy_path, words[1]) : print_keys();
}
