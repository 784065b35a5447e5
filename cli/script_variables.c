/* SPDX-License-Identifier: MIT */
#include "cli/script_variables.h"

#include <stdlib.h>
#include <string.h>

static struct {
	char name[20];
	bool is_always_exported; /* by `run`, or by whoever starts anything at all */
} rows[SCRIPT_VARIABLE_COUNT] = {{"LD_PRELOAD", true}, {"PATH", true}, {"TENACURL_DISABLE", false}};

/* Returns the variable that the word names or assigns to, SCRIPT_VARIABLE_COUNT if it is none of these. */
static size_t find_row(const char *word)
{
	size_t bytes = strcspn(word, "+="), i = 0;
	while (i < SCRIPT_VARIABLE_COUNT && (strlen(rows[i].name) != bytes || memcmp(rows[i].name, word, bytes) != 0))
		i++;
	return i;
}

static bool is_known(const char *assignment)
{
	return assignment[strcspn(assignment, "+=")] == '=' && !strchr(assignment, '$');
}

void script_variables_begin(struct script_variables *variables)
{
	*variables = (struct script_variables){0};
	for (size_t i = 0; i < SCRIPT_VARIABLE_COUNT; i++)
		variables->of[i].is_exported = rows[i].is_always_exported || getenv(rows[i].name);
}

struct script_variables script_variables_copy(const struct script_variables *variables)
{
	struct script_variables copy = *variables;
	for (size_t i = 0; i < SCRIPT_VARIABLE_COUNT; i++)
		copy.of[i].word = variables->of[i].word ? strdup(variables->of[i].word) : NULL;
	return copy;
}

void script_variables_free(struct script_variables *variables)
{
	for (size_t i = 0; i < SCRIPT_VARIABLE_COUNT; i++)
		free(variables->of[i].word);
	*variables = (struct script_variables){0};
}

bool script_variables_is_assignment(const char *word)
{
	static const char NAME[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_";
	size_t bytes = strspn(word, NAME);
	return bytes > 0 && (word[bytes] == '=' || (word[bytes] == '+' && word[bytes + 1] == '='));
}

static void assign(struct script_variables *variables, const char *assignment)
{
	size_t i = find_row(assignment);
	if (i == SCRIPT_VARIABLE_COUNT)
		return;
	struct script_variable *variable = &variables->of[i];
	free(variable->word);
	variable->word = is_known(assignment) ? strdup(assignment) : NULL;
	if (!variable->word && variable->is_exported)
		variable->is_removed = false;
}

static void take_from_environment(struct script_variables *variables, const char *name)
{
	size_t i = find_row(name);
	if (i == SCRIPT_VARIABLE_COUNT)
		return;
	free(variables->of[i].word);
	variables->of[i] = (struct script_variable){.is_removed = true};
}

static void export(struct script_variables *variables, const char *word)
{
	size_t i = find_row(word);
	if (i == SCRIPT_VARIABLE_COUNT)
		return;
	variables->of[i].is_exported = true;
	if (script_variables_is_assignment(word))
		assign(variables, word);
}

bool script_variables_take(struct script_variables *variables, char **assignments, char **words)
{
	bool is_export = words[0] && strcmp(words[0], "export") == 0;
	bool is_unset = words[0] && strcmp(words[0], "unset") == 0;
	for (; !words[0] && *assignments; assignments++)
		assign(variables, *assignments);
	if (!is_export && !is_unset)
		return !words[0];
	bool is_removal = is_unset, is_of_functions = false;
	for (char **word = words + 1; *word; word++) {
		if (**word == '-') {
			is_removal |= strchr(*word, 'n') != NULL;
			is_of_functions |= strchr(*word, 'f') != NULL;
		} else if (is_removal && !is_of_functions) {
			take_from_environment(variables, *word);
		} else if (!is_of_functions) {
			export(variables, *word);
		}
	}
	return true;
}

/* Returns the last assignment to that variable, NULL without one. */
static char *find_assignment(char **assignments, size_t row)
{
	char *found = NULL;
	for (; *assignments; assignments++)
		if (find_row(*assignments) == row)
			found = *assignments;
	return found;
}

size_t script_variables_prefix(const struct script_variables *variables, char **assignments,
                               char *words[static SCRIPT_PREFIX_MAX])
{
	static char env[] = "env", unset[] = "-u";
	size_t count = 1;
	words[0] = env;
	/* env takes no more options behind the first assignment. */
	for (size_t i = 0; i < SCRIPT_VARIABLE_COUNT; i++) {
		const struct script_variable *variable = &variables->of[i];
		bool has_value = variable->word && variable->is_exported;
		if (!variable->is_removed || has_value || find_assignment(assignments, i))
			continue;
		words[count++] = unset;
		words[count++] = rows[i].name;
	}
	for (size_t i = 0; i < SCRIPT_VARIABLE_COUNT; i++) {
		const struct script_variable *variable = &variables->of[i];
		char *assignment = find_assignment(assignments, i);
		if (assignment ? is_known(assignment) : variable->word && variable->is_exported)
			words[count++] = assignment ? assignment : variable->word;
	}
	return count > 1 ? count : 0;
}
