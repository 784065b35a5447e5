/* SPDX-License-Identifier: MIT */
#include "cli/check/scan.h"

#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cli/check/known_programs.h"

/* How an object comes into the process, which decides what its references to libcurl are bound to. */
enum way_in { WAY_AT_START, WAY_PLUGIN, WAY_DEEPBIND, WAY_DLSYM };

/* An object that may use libcurl, and the tree in which its libcurl is. */
struct candidate {
	const struct elf_file *object; /* NULL: nothing is known of the file */
	const char *path;
	const struct link_tree *tree;
	enum way_in way;
	enum check_interface possible;
	enum check_interface likely; /* if known_programs.c says nothing */
};

static enum check_interface imports_of(const struct elf_file *object)
{
	return (enum check_interface)((object->imports_easy ? CHECK_EASY : 0) |
	                              (object->imports_multi ? CHECK_MULTI : 0));
}

static bool is_libcurl(const struct elf_file *object)
{
	return object->exports_easy && strncmp(basename(object->path), "libcurl", 7) == 0;
}

static bool is_tenacurl(const struct elf_file *object)
{
	return strncmp(basename(object->path), "libtenacurl", strlen("libtenacurl")) == 0;
}

/* libcurl inside something else: by its symbols, or by what it says of itself where those were stripped. */
static bool has_own_libcurl(const struct elf_file *object)
{
	return !object->imports_easy && !object->imports_multi && (object->defines_easy || object->curl_version[0]) &&
	       !is_libcurl(object) && !is_tenacurl(object);
}

static enum check_interface usual_interface(const struct check_program *program, const struct candidate *candidate)
{
	bool is_program = strcmp(candidate->path, program->launch.path) == 0;
	return known_interface(&program->subject, candidate->path, is_program, candidate->possible, candidate->likely);
}

static const struct elf_file *find_in(const struct link_tree *tree, const char *path)
{
	for (size_t i = 0; i < tree->count; i++)
		if (strcmp(tree->objects[i].path, path) == 0)
			return &tree->objects[i];
	return NULL;
}

/* The libcurl among what the object itself needs. Others in the process may be of another flavour. */
static const struct elf_file *libcurl_of(const struct candidate *candidate)
{
	const struct elf_file *object = candidate->object;
	for (size_t i = 0; object && i < candidate->tree->count; i++) {
		const struct elf_file *other = &candidate->tree->objects[i];
		if (!is_libcurl(other))
			continue;
		for (size_t j = 0; j < object->needed_count; j++)
			if (strcmp(basename(other->path), object->needed[j]) == 0)
				return other;
	}
	return NULL;
}

static enum check_reason without_binder(const struct check_program *program, enum check_reason by_choice)
{
	const char *why = program->scan->report->binder_reason;
	if (strcmp(why, NO_BINDER_OPTION) == 0)
		return by_choice;
	return strcmp(why, binder_reason(BINDER_NO_TLS)) == 0 ? CHECK_REASON_TLS : CHECK_REASON_NO_BINDER;
}

/* Decides whether the object's easy calls come to us, and how. */
static void bind_use(const struct check_program *program, const struct candidate *candidate, struct check_use *use)
{
	bool has_binder = program->scan->report->binder;
	bool hidden = candidate->way == WAY_DEEPBIND || candidate->way == WAY_DLSYM;
	use->reason = program->reason;
	if (!(use->interface & CHECK_EASY) || use->reason != CHECK_REASON_NONE)
		return;
	if (candidate->object && has_own_libcurl(candidate->object))
		use->reason = CHECK_REASON_BUNDLED;
	else if (candidate->way == WAY_DEEPBIND && candidate->object->imports_easy_as_data)
		use->reason = CHECK_REASON_DEEPBIND_DATA;
	else if (hidden && !has_binder)
		use->reason =
		    without_binder(program, candidate->way == WAY_DLSYM ? CHECK_REASON_DLSYM : CHECK_REASON_DEEPBIND);
	else if (!hidden && program->tree.objects[0].exports_easy)
		use->reason = CHECK_REASON_BUNDLED; /* a program's own symbols come before those of any preload */
	else
		use->binding = hidden ? CHECK_BINDING_BINDER : CHECK_BINDING_PRELOAD;
}

static void name_libcurl(const struct candidate *candidate, struct check_use *use)
{
	const struct elf_file *object = candidate->object, *libcurl;
	if (!object)
		return;
	if (!has_own_libcurl(object))
		check_name_flavour(object->import_node, use);
	libcurl = has_own_libcurl(object) ? object : libcurl_of(candidate);
	if (!libcurl)
		return;
	use->libcurl = strdup(libcurl->path);
	snprintf(use->libcurl_version, sizeof(use->libcurl_version), "%s", libcurl->curl_version);
}

/* A script can start the same program where tenacurl gets to it, and where it doesn't: those are two uses. */
static struct check_use *find_use(const struct check_program *program, const char *path, enum check_reason reason)
{
	const struct check_report *report = program->scan->report;
	for (size_t i = 0; i < report->use_count; i++)
		if (strcmp(report->uses[i].object, path) == 0 && report->uses[i].reason == reason &&
		    strcmp(report->uses[i].program, program->launch.path) == 0)
			return &report->uses[i];
	return NULL;
}

static enum check_role role_of(const struct check_program *program, const struct candidate *candidate)
{
	if (program->is_helper)
		return CHECK_ROLE_HELPER;
	if (strcmp(candidate->path, program->launch.path) == 0)
		return CHECK_ROLE_PROGRAM;
	return candidate->way == WAY_AT_START ? CHECK_ROLE_LIBRARY : CHECK_ROLE_PLUGIN;
}

static struct check_use *new_use(struct check_program *program, const struct candidate *candidate)
{
	struct check_use *use = check_add_use(program->scan->report);
	if (!use)
		return NULL;
	use->program = strdup(program->launch.path);
	use->object = strdup(candidate->path);
	if (!use->program || !use->object) {
		free(use->program);
		free(use->object);
		program->scan->report->use_count--;
		return NULL;
	}
	use->role = role_of(program, candidate);
	name_libcurl(candidate, use);
	return use;
}

/* A script can call the same program in different ways: what it does is all of them. */
static void add_use(struct check_program *program, const struct candidate *candidate)
{
	enum check_interface interface = usual_interface(program, candidate);
	if (!interface)
		return;
	program->uses_libcurl = true;
	struct check_use bound = {.interface = interface};
	bind_use(program, candidate, &bound);
	struct check_use *use = find_use(program, candidate->path, bound.reason);
	if (!use)
		use = new_use(program, candidate);
	if (!use) {
		program->scan->failed = true;
		return;
	}
	use->interface = (enum check_interface)((unsigned)use->interface | (unsigned)interface);
	use->reason = bound.reason;
	use->binding = interface & CHECK_EASY ? bound.binding : use->binding;
}

/* What looks libcurl's functions up by itself leaves no trace of which, and usually means the easy interface. */
static void add_dlsym_use(struct check_program *program, const char *path)
{
	const struct candidate candidate = {
	    .path = path, .tree = &program->tree, .way = WAY_DLSYM, .possible = CHECK_BOTH, .likely = CHECK_EASY};
	add_use(program, &candidate);
}

/* Adds the uses of all objects of a tree, but for those that were in the process before. */
static void add_uses_of_tree(struct check_program *program, const struct link_tree *tree, enum way_in way)
{
	for (size_t i = 0; i < tree->count && !program->scan->failed; i++) {
		const struct elf_file *object = &tree->objects[i];
		/* Which functions of a libcurl inside are called doesn't show. */
		enum check_interface imports = has_own_libcurl(object) ? CHECK_BOTH : imports_of(object);
		const struct candidate candidate = {object, object->path, tree, way, imports, imports};
		bool was_there = way != WAY_AT_START && find_in(&program->tree, object->path);
		if (is_libcurl(object) || is_tenacurl(object) || was_there)
			continue;
		if (imports)
			add_use(program, &candidate);
		if (object->imports_d_curl)
			add_dlsym_use(program, object->path);
	}
}

static void add_plugin(struct check_program *program, const struct known_plugin *row, const char *path)
{
	static const enum way_in WAYS[] = {[KNOWN_LOCAL] = WAY_PLUGIN,
	                                   [KNOWN_GLOBAL] = WAY_PLUGIN,
	                                   [KNOWN_DEEPBIND] = WAY_DEEPBIND,
	                                   [KNOWN_DLSYM] = WAY_DLSYM};
	struct link_tree tree;
	if (!subject_has(&program->subject, row->words, path))
		return;
	if (row->load == KNOWN_DLSYM) {
		add_dlsym_use(program, path);
		return;
	}
	link_tree_read(path, NULL, &tree);
	add_uses_of_tree(program, &tree, WAYS[row->load]);
	link_tree_free(&tree);
}

static void add_plugins(struct check_program *program)
{
	for (size_t i = 0; i < KNOWN_PLUGIN_COUNT && !program->scan->failed; i++) {
		const struct known_plugin *row = &KNOWN_PLUGINS[i];
		glob_t files;
		if (!subject_is(&program->subject, row->program))
			continue;
		if (!row->files) {
			add_plugin(program, row, program->launch.path);
			continue;
		}
		if (glob(row->files, 0, NULL, &files) != 0)
			continue;
		for (size_t j = 0; j < files.gl_pathc; j++)
			add_plugin(program, row, files.gl_pathv[j]);
		globfree(&files);
	}
}

bool check_depends_on_words(const struct check_program *program)
{
	bool depends = false;
	for (size_t i = 0; i < KNOWN_PLUGIN_COUNT && !depends; i++)
		depends = subject_is(&program->subject, KNOWN_PLUGINS[i].program);
	for (size_t i = 0; i < KNOWN_HELPER_COUNT && !depends; i++)
		depends = subject_is(&program->subject, KNOWN_HELPERS[i].program);
	return depends;
}

void check_find_uses(struct check_program *program)
{
	if (program->tree.count == 0)
		return;
	add_uses_of_tree(program, &program->tree, WAY_AT_START);
	/* Without a dynamic linker there is nothing that could load any. */
	if (program->reason != CHECK_REASON_STATIC)
		add_plugins(program);
}
