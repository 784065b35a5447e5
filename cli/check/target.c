/* SPDX-License-Identifier: MIT */
#include "cli/check/target.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cli/elf/binder.h"

static bool has_object(const struct link_tree *tree, const char *object)
{
	struct stat wanted, mapped;
	if (stat(object, &wanted) != 0)
		return false;
	for (size_t i = 1; i < tree->count; i++)
		if (stat(tree->objects[i].path, &mapped) == 0 && mapped.st_dev == wanted.st_dev &&
		    mapped.st_ino == wanted.st_ino)
			return true;
	return false;
}

/* Whether this program's own dynamic linker would map it: what its children of the same architecture have, most likely.
 */
static bool is_taken_by_our_linker(const char *preload, const char *object)
{
	struct link_tree tree;
	char *self = realpath("/proc/self/exe", NULL);
	bool taken = self && link_tree_read_layout(self, preload, &tree) && has_object(&tree, object);
	if (self)
		link_tree_free(&tree);
	free(self);
	return taken;
}

static bool is_in_root(const char *root, const char *object)
{
	char path[PATH_MAX];
	struct stat file;
	return snprintf(path, sizeof(path), "%s%s", root, object) < (int)sizeof(path) && stat(path, &file) == 0;
}

void target_read(char **command, const char *preload, const char *object, struct target *target)
{
	*target = (struct target){.name = command[0], .result = ELF_RESULT_UNREADABLE};
	target->is_found = launch_follow(command, &target->launch);
	const char *root = target->launch.root;
	if (target->is_found) {
		target->result = elf_file_read_part(target->launch.path, ELF_PART_LAYOUT, &target->program);
		target->has_object_in_root = root && is_in_root(root, object);
	}
	/* In another root the same paths name other files, and the dynamic linker knows nothing of them. */
	bool is_linked_here = target->result == ELF_RESULT_OK && target->program.interpreter && !root;
	if (is_linked_here) {
		target->is_complete = link_tree_read_layout(target->launch.path, preload, &target->tree);
		target->takes_preload = has_object(&target->tree, object);
	} else if (!root) {
		target->takes_preload = is_taken_by_our_linker(preload, object);
	}
}

void target_free(struct target *target)
{
	launch_free(&target->launch);
	elf_file_free(&target->program);
	link_tree_free(&target->tree);
}

/* What happens on the way to the program. */
static enum target_obstacle obstacle_before(const struct target *target, struct say_error *text)
{
	const struct launch *launch = &target->launch;
	if (launch->root && !target->has_object_in_root) {
		say_refuse(text, "%s starts in %s, which has no libtenacurl.so at the same path", target->name,
		           launch->root);
		return TARGET_OBSTACLE_UNLOADABLE;
	}
	if (launch->privileged_by) {
		say_refuse(text, "%s is setuid or setgid: the dynamic linker drops tenacurl", launch->privileged_by);
		return TARGET_OBSTACLE_IGNORED;
	}
	if (launch->cleared_by) {
		say_refuse(text, "%s clears the environment, and tenacurl goes with it", launch->cleared_by);
		return TARGET_OBSTACLE_IGNORED;
	}
	return TARGET_OBSTACLE_NONE;
}

/* What the program itself is. */
static enum target_obstacle obstacle_in(const struct target *target, struct say_error *text)
{
	static const char *const PRIVILEGES[] = {[LAUNCH_SETUID] = "is setuid",
	                                         [LAUNCH_SETGID] = "is setgid",
	                                         [LAUNCH_CAPABILITIES] = "has file capabilities"};
	const char *name = target->launch.chain_count == 1 ? target->name : target->launch.path;
	if (target->result == ELF_RESULT_OK && !elf_file_is_native(&target->program)) {
		say_refuse(text, "%s is of another architecture (%s) than tenacurl", name,
		           elf_machine_name(target->program.machine));
		return TARGET_OBSTACLE_UNLOADABLE;
	}
	enum launch_privilege privilege = launch_privilege_of(target->launch.path);
	if (privilege != LAUNCH_ORDINARY) {
		say_refuse(text, "%s %s: the dynamic linker drops tenacurl", name, PRIVILEGES[privilege]);
		return TARGET_OBSTACLE_IGNORED;
	}
	if (target->result != ELF_RESULT_OK) {
		say_refuse(text, "%s can't be read, so it isn't known what it needs", name);
		return TARGET_OBSTACLE_DOUBT;
	}
	if (elf_file_is_linker(&target->program, target->launch.path))
		return TARGET_OBSTACLE_NONE; /* its program is read by itself, with our variables */
	if (!target->program.interpreter) {
		say_refuse(text, "%s is statically linked: only its children can be helped", name);
		return TARGET_OBSTACLE_IGNORED;
	}
	if (elf_file_is_musl(&target->program)) {
		say_refuse(text, "%s is linked with musl, where tenacurl does nothing", name);
		return TARGET_OBSTACLE_IGNORED;
	}
	return TARGET_OBSTACLE_NONE;
}

enum target_obstacle target_find_obstacle(const struct target *target, struct say_error *text)
{
	/* A program that isn't there fails by itself; another run says of its program what there is to say. */
	if (!target->is_found || target->launch.starts_run)
		return TARGET_OBSTACLE_NONE;
	enum target_obstacle before = obstacle_before(target, text);
	return before == TARGET_OBSTACLE_NONE ? obstacle_in(target, text) : before;
}

const char *target_binder_obstacle(const struct target *target)
{
	if (!target->is_found || target->launch.root || target->result != ELF_RESULT_OK)
		return binder_reason(BINDER_NO_UNKNOWN);
	if (target->program.interpreter)
		return binder_reason(binder_decide(&target->tree, target->is_complete));
	const struct link_tree alone = {.objects = (struct elf_file *)(uintptr_t)&target->program, .count = 1};
	return binder_reason(binder_decide(&alone, false));
}
