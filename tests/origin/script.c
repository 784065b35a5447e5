/* SPDX-License-Identifier: MIT */
#include "tests/origin/script.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/origin/step_parser.h"

static bool parse_list(struct step_list *list, const char *path, const json_t *array, struct step_error *error)
{
	size_t count = json_array_size(array);

	if (!json_is_array(array) || count == 0)
		return step_error_set(error, "a list of steps must be a non-empty array");
	list->path = path;
	list->steps = calloc(count, sizeof *list->steps);
	if (!list->steps)
		return step_error_set(error, "no memory");
	for (size_t i = 0; i < count; i++) {
		list->count = i + 1;
		list->steps[i].index = i;
		if (!step_parse(&list->steps[i], json_array_get(array, i), error)) {
			step_error_prefix(error, path ? path : "steps", i);
			return false;
		}
	}
	return true;
}

static bool parse_paths(struct script *script, json_t *paths, struct step_error *error)
{
	const char *path;
	json_t *array;

	if (paths && !json_is_object(paths))
		return step_error_set(error, "paths must be an object");
	json_object_foreach(paths, path, array)
	{
		if (!parse_list(&script->lists[script->list_count++], path, array, error))
			return false;
	}
	return true;
}

static bool parse_refuse(struct script *script, const json_t *refuse, struct step_error *error)
{
	const json_t *for_ms = json_object_get(refuse, "for_ms");

	if (!refuse)
		return true;
	if (!json_is_integer(for_ms) || json_integer_value(for_ms) < 0)
		return step_error_set(error, "refuse must be {\"for_ms\": N}");
	script->refuse_for_ms = json_integer_value(for_ms);
	return true;
}

static bool knows_all_keys(json_t *object, struct step_error *error)
{
	const char *key;
	json_t *value;

	json_object_foreach(object, key, value)
	{
		if (strcmp(key, "steps") != 0 && strcmp(key, "paths") != 0 && strcmp(key, "refuse") != 0)
			return step_error_set(error, "unknown key \"%s\": steps, paths and refuse are allowed", key);
	}
	return true;
}

/* A bare array is short for {"steps": array}. */
static bool parse_root(struct script *script, struct step_error *error)
{
	json_t *root = script->root;
	json_t *steps = json_is_array(root) ? root : json_object_get(root, "steps");
	json_t *paths = json_object_get(root, "paths");

	script->lists = calloc(1 + json_object_size(paths), sizeof *script->lists);
	if (!script->lists)
		return step_error_set(error, "no memory");
	script->list_count = 1;
	if (!json_is_array(root) && (!json_is_object(root) || !knows_all_keys(root, error)))
		return error->text[0] ? false : step_error_set(error, "a script is an array or an object");
	if (!steps && !paths)
		return step_error_set(error, "neither steps nor paths");
	if (steps && !parse_list(&script->lists[0], NULL, steps, error))
		return false;
	return parse_paths(script, paths, error) && parse_refuse(script, json_object_get(root, "refuse"), error);
}

bool script_load(struct script *script, const char *path, char *error, size_t error_bytes)
{
	json_error_t json_error;
	struct step_error step_error = {.text = ""};

	memset(script, 0, sizeof *script);
	script->refuse_for_ms = STEP_UNSET;
	pthread_mutex_init(&script->lock, NULL);
	script->root = json_load_file(path, JSON_REJECT_DUPLICATES | JSON_ALLOW_NUL, &json_error);
	if (!script->root) {
		snprintf(error, error_bytes, "%s:%d: %s", path, json_error.line, json_error.text);
		return false;
	}
	if (parse_root(script, &step_error))
		return true;
	snprintf(error, error_bytes, "%s: %s", path, step_error.text);
	script_free(script);
	return false;
}

void script_free(struct script *script)
{
	for (size_t i = 0; i < script->list_count; i++) {
		for (size_t j = 0; j < script->lists[i].count; j++)
			step_free(&script->lists[i].steps[j]);
		free(script->lists[i].steps);
	}
	free(script->lists);
	json_decref(script->root);
	pthread_mutex_destroy(&script->lock);
	memset(script, 0, sizeof *script);
}

/* Whether the name of a list is "METHOD /path". */
static bool is_of_method(const char *name, const char *method, const char *path)
{
	size_t method_length = strlen(method);

	return strncmp(name, method, method_length) == 0 && name[method_length] == ' ' &&
	       strcmp(name + method_length + 1, path) == 0;
}

static struct step_list *find_list(struct script *script, const char *method, const char *path)
{
	struct step_list *of_path = &script->lists[0];

	for (size_t i = 1; i < script->list_count; i++) {
		if (is_of_method(script->lists[i].path, method, path))
			return &script->lists[i];
		if (strcmp(script->lists[i].path, path) == 0)
			of_path = &script->lists[i];
	}
	return of_path;
}

static const struct step *use_next(struct step_list *list)
{
	struct step *step;

	if (list->next >= list->count)
		return NULL;
	step = &list->steps[list->next];
	if (step->uses_left != STEP_UNSET && --step->uses_left == 0)
		list->next++;
	return step;
}

const struct step *script_take(struct script *script, const char *method, const char *path)
{
	const struct step *step;

	pthread_mutex_lock(&script->lock);
	step = use_next(find_list(script, method, path));
	pthread_mutex_unlock(&script->lock);
	return step;
}

const struct step *script_take_early(struct script *script, enum step_read read)
{
	struct step_list *list = &script->lists[0];
	const struct step *step = NULL;

	pthread_mutex_lock(&script->lock);
	if (list->next < list->count && list->steps[list->next].read == (int)read)
		step = use_next(list);
	pthread_mutex_unlock(&script->lock);
	return step;
}
