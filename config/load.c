/* SPDX-License-Identifier: MIT */
/*
 * Loading goes in steps, each of which sees only what the one before let through: the bytes (source.c), a scan of them
 * (scan.c), the keys (here), iniparser, the values (value.c), what they say to each other (check.c).
 *
 * iniparser takes a path, so it reads the file a second time: by the name of the descriptor through which it was looked
 * at, or where there is no /proc by its own. It may have changed in between, and nothing here tries to hold it still
 * (memfd_create() would hand over the very bytes, but sandboxes kill programs for it). Instead every section and value
 * that iniparser gives is compared with what the scan saw in the bytes that were hashed. A policy so always is the one
 * its hash names, whatever happens to the file; and a value that iniparser would read differently from a person can't
 * get in, even one the scan doesn't know how to refuse.
 */
#include "config/load.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "config/block.h"
#include "config/check.h"
#include "config/complaint.h"
#include "config/scan.h"
#include "config/source.h"
#include "config/value.h"

/* More than iniparser's dictionary needs for the largest file that the scan and the schema let through. */
#define INI_RESERVE_BYTES (2 * 1024 * 1024)

struct loading {
	const char *path;
	const char *known_hash; /* NULL: none */
	int fd;                 /* the file, from the first step on */
	const struct ini_functions *ini;
	struct arena scratch;
	struct scan scan;
	char hash[17];
	struct _dictionary_ *dictionary;
	struct policy *policy;
	struct policy_error *error;
};

/* iniparser prints its complaints unless it is given someone to tell them to. */
static int ignore_report(const char *format, ...)
{
	(void)format;
	return 0;
}

static enum policy_load_result no_memory(const struct loading *loading)
{
	complain_of_memory(loading->error, loading->path);
	return POLICY_UNREADABLE;
}

static struct complaint_place place_of(const struct loading *loading, const struct scan_section *section,
                                       const struct scan_entry *entry)
{
	return (struct complaint_place){
	    .path = loading->path,
	    .line = entry != NULL ? entry->line : section->line,
	    .section = section->name,
	    .is_upstream = section->is_upstream,
	    .key = entry != NULL ? entry->key : NULL,
	    .value = entry != NULL ? entry->value : NULL,
	};
}

/* Step: the bytes and the scan of them. */
static enum policy_load_result read_and_scan(struct loading *loading)
{
	char *bytes;
	size_t length;
	enum policy_load_result result =
	    source_read(loading->path, &loading->scratch, &loading->fd, &bytes, &length, loading->error);

	if (result != POLICY_LOADED)
		return result;
	source_hash(bytes, length, loading->hash);
	if (loading->known_hash != NULL && strcmp(loading->hash, loading->known_hash) == 0)
		return POLICY_UNCHANGED;
	result = scan_bytes(bytes, length, loading->path, &loading->scratch, &loading->scan, loading->error);
	if (result == POLICY_LOADED && loading->known_hash != NULL && loading->scan.section_count == 0) {
		const struct complaint_place place = {.path = loading->path};
		complain(loading->error, &place, "says nothing; allowed: at least [policy]");
		return POLICY_INVALID;
	}
	return result;
}

static bool check_key(const struct loading *loading, const struct scan_section *section, const struct scan_entry *entry)
{
	const struct complaint_place place = place_of(loading, section, entry);
	int index = schema_find(entry->key);

	if (index < 0) {
		int nearest = schema_nearest(entry->key);
		complain(loading->error, &place,
		         "unknown key%s%s%s; allowed: the keys that `tenacurl policy keys` lists",
		         nearest < 0 ? "" : " (did you mean ", nearest < 0 ? "" : schema_key_at((size_t)nearest)->name,
		         nearest < 0 ? "" : "?)");
		return false;
	}

	const struct schema_key *key = schema_key_at((size_t)index);
	if (key->scope == SCHEMA_POLICY_ONLY && section->is_upstream) {
		complain(loading->error, &place, "belongs to the whole program; allowed: in [policy] only");
		return false;
	}
	if (key->scope == SCHEMA_UPSTREAM_ONLY && !section->is_upstream) {
		complain(loading->error, &place, "[policy] is for every URL; allowed: in [upstream NAME] only");
		return false;
	}
	return true;
}

static bool has_match(const struct loading *loading, const struct scan_section *section)
{
	for (size_t i = 0; i < section->entry_count; i++)
		if (strcmp(loading->scan.entries[section->first_entry + i].key, "match") == 0)
			return true;
	return false;
}

/* Step: every key is known and stands where it may. */
static enum policy_load_result check_keys(const struct loading *loading)
{
	char allowed[SCHEMA_ALLOWED_BYTES];

	for (size_t i = 0; i < loading->scan.section_count; i++) {
		const struct scan_section *section = &loading->scan.sections[i];
		for (size_t j = 0; j < section->entry_count; j++)
			if (!check_key(loading, section, &loading->scan.entries[section->first_entry + j]))
				return POLICY_INVALID;
		if (section->is_upstream && !has_match(loading, section)) {
			const struct complaint_place place = place_of(loading, section, NULL);
			schema_allowed(schema_key_at((size_t)schema_find("match")), allowed);
			complain(loading->error, &place, "match is missing; allowed: match = %s", allowed);
			return POLICY_INVALID;
		}
	}
	return POLICY_LOADED;
}

static enum policy_load_result differs(const struct loading *loading, const struct scan_section *section,
                                       const struct scan_entry *entry)
{
	const struct complaint_place place = place_of(loading, section, entry);

	complain(loading->error, &place, "iniparser reads something else: the file changed, or there is no memory");
	loading->error->is_passing = true;
	return POLICY_UNREADABLE;
}

/*
 * iniparser 4.1 uses its dictionary's arrays without a look at whether calloc() gave them. Room that was there a moment
 * ago is as much as can be had.
 */
static bool has_room_for_iniparser(void)
{
	void *volatile room = malloc(INI_RESERVE_BYTES);

	free(room);
	return room != NULL;
}

static struct _dictionary_ *load_by_iniparser(const struct loading *loading)
{
	char path[32];
	struct stat status;

	snprintf(path, sizeof path, "/proc/self/fd/%d", loading->fd);
	return loading->ini->load(stat(path, &status) == 0 ? path : loading->path);
}

/* Step: iniparser's reading, with the same sections in the same order. */
static enum policy_load_result parse(struct loading *loading)
{
	const struct complaint_place place = {.path = loading->path};
	const struct ini_functions *ini = loading->ini;
	const struct scan *scan = &loading->scan;

	if (!has_room_for_iniparser())
		return no_memory(loading);
	if (ini->set_error_callback != NULL)
		ini->set_error_callback(ignore_report);
	loading->dictionary = load_by_iniparser(loading);
	if (loading->dictionary == NULL || ini->section_count(loading->dictionary) != (int)scan->section_count) {
		complain(loading->error, &place,
		         "iniparser reads something else: the file changed, or there is no memory");
		loading->error->is_passing = true;
		return POLICY_UNREADABLE;
	}
	for (size_t i = 0; i < scan->section_count; i++) {
		const char *name = ini->section_name(loading->dictionary, (int)i);
		if (name == NULL || strcmp(name, scan->sections[i].title) != 0)
			return differs(loading, &scan->sections[i], NULL);
	}
	return POLICY_LOADED;
}

static enum policy_load_result take_value(struct loading *loading, const struct scan_section *source,
                                          const struct scan_entry *entry, struct policy_section *section)
{
	const struct complaint_place place = place_of(loading, source, entry);
	size_t index = (size_t)schema_find(entry->key);
	const struct schema_key *key = schema_key_at(index);
	char name[2 * SCAN_NAME_BYTES_MAX];
	char allowed[SCHEMA_ALLOWED_BYTES];
	struct value_fault fault;

	snprintf(name, sizeof name, "%s:%s", source->title, entry->key);
	const char *value = loading->ini->get_string(loading->dictionary, name, NULL);
	if (value == NULL || strcmp(value, entry->value) != 0)
		return differs(loading, source, entry);

	switch (value_parse(key, value, block_arena(loading->policy), &section->rules, &fault)) {
	case VALUE_NO_MEMORY:
		return no_memory(loading);
	case VALUE_WRONG:
		schema_allowed(key, allowed);
		complain(loading->error, &place, "%s; allowed: %s", fault.wrong, allowed);
		return POLICY_INVALID;
	case VALUE_TAKEN:
		break;
	}
	section->line[index] = entry->line;
	section->inherited[index] = false;
	return POLICY_LOADED;
}

static enum policy_load_result take_section(struct loading *loading, const struct scan_section *source,
                                            struct policy_section *section)
{
	for (size_t i = 0; i < source->entry_count; i++) {
		enum policy_load_result result =
		    take_value(loading, source, &loading->scan.entries[source->first_entry + i], section);
		if (result != POLICY_LOADED)
			return result;
	}
	return POLICY_LOADED;
}

/* An upstream section begins as a copy of [policy]; they share its texts, which live as long. */
static enum policy_load_result begin_upstream(struct loading *loading, const struct scan_section *source,
                                              struct policy_section *section)
{
	*section = loading->policy->sections[0];
	for (size_t i = 0; i < schema_key_count(); i++)
		section->inherited[i] = section->line[i] != 0;
	section->name = arena_copy_text(block_arena(loading->policy), source->name, strlen(source->name));
	return section->name != NULL ? POLICY_LOADED : no_memory(loading);
}

static const struct scan_section *find_policy_section(const struct scan *scan)
{
	for (size_t i = 0; i < scan->section_count; i++)
		if (!scan->sections[i].is_upstream)
			return &scan->sections[i];
	return NULL;
}

/* Step: the values. [policy] comes first wherever it stands, since the others begin as copies of it. */
static enum policy_load_result build(struct loading *loading)
{
	const struct scan *scan = &loading->scan;
	const struct scan_section *policy_section = find_policy_section(scan);
	size_t upstreams = scan->section_count - (policy_section != NULL);
	enum policy_load_result result = POLICY_LOADED;

	loading->policy = block_new(1 + upstreams, loading->path);
	if (loading->policy == NULL)
		return no_memory(loading);
	memcpy(loading->policy->hash, loading->hash, sizeof loading->hash);

	struct policy_section *section = loading->policy->sections;
	*section = policy_builtin()->sections[0];
	if (policy_section != NULL)
		result = take_section(loading, policy_section, section);
	for (size_t i = 0; i < scan->section_count && result == POLICY_LOADED; i++) {
		if (!scan->sections[i].is_upstream)
			continue;
		section++;
		result = begin_upstream(loading, &scan->sections[i], section);
		if (result == POLICY_LOADED)
			result = take_section(loading, &scan->sections[i], section);
	}
	return result;
}

/* Step: overrides, then contradictions. */
static enum policy_load_result override_and_check(struct loading *loading, const struct policy_overrides *overrides)
{
	if (overrides != NULL && overrides->mode != NULL &&
	    !policy_override(loading->policy, "mode", overrides->mode, loading->error))
		return POLICY_INVALID;
	if (overrides != NULL && overrides->log != NULL &&
	    !policy_override(loading->policy, "log", overrides->log, loading->error))
		return POLICY_INVALID;
	return policy_check(loading->policy, loading->error) ? POLICY_LOADED : POLICY_INVALID;
}

static enum policy_load_result run_steps(struct loading *loading, const struct policy_overrides *overrides)
{
	enum policy_load_result result = read_and_scan(loading);

	if (result == POLICY_LOADED)
		result = check_keys(loading);
	if (result == POLICY_LOADED)
		result = parse(loading);
	if (result == POLICY_LOADED)
		result = build(loading);
	if (result == POLICY_LOADED)
		result = override_and_check(loading, overrides);
	return result;
}

static enum policy_load_result load(struct loading *loading, const struct policy_overrides *overrides,
                                    const struct policy **policy)
{
	int saved_errno = errno;
	enum policy_load_result result = run_steps(loading, overrides);

	if (loading->dictionary != NULL)
		loading->ini->free_dictionary(loading->dictionary);
	if (loading->fd >= 0)
		close(loading->fd);
	arena_free(&loading->scratch);
	if (result == POLICY_LOADED)
		*policy = loading->policy;
	else
		policy_free(loading->policy);
	errno = saved_errno;
	return result;
}

enum policy_load_result policy_load_with(const char *path, const struct ini_functions *ini,
                                         const struct policy_overrides *overrides, policy_warn warn, void *warn_context,
                                         const struct policy **policy, struct policy_error *error)
{
	struct loading loading = {.path = path, .fd = -1, .ini = ini, .error = error};
	enum policy_load_result result = load(&loading, overrides, policy);

	if (result == POLICY_LOADED && warn != NULL)
		check_unreachable(*policy, warn, warn_context);
	return result;
}

enum policy_load_result policy_load_changed(const char *path, const char *known_hash, const struct ini_functions *ini,
                                            const struct policy_overrides *overrides, const struct policy **policy,
                                            struct policy_error *error)
{
	struct loading loading = {.path = path, .known_hash = known_hash, .fd = -1, .ini = ini, .error = error};

	return load(&loading, overrides, policy);
}

enum policy_load_result policy_load(const char *path, const struct ini_functions *ini, policy_warn warn,
                                    void *warn_context, const struct policy **policy, struct policy_error *error)
{
	return policy_load_with(path, ini, NULL, warn, warn_context, policy, error);
}
