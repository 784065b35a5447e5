/* SPDX-License-Identifier: MIT */
#include "config/block.h"

#include <stdlib.h>
#include <string.h>

#include "config/value.h"

/* Every policy but the built-in one is the first member of a block. */
struct policy_block {
	struct policy policy;
	struct arena arena;
};

struct policy *block_new(size_t section_count, const char *path)
{
	struct policy_block *block = calloc(1, sizeof *block);

	if (block == NULL)
		return NULL;
	block->policy.section_count = section_count;
	block->policy.sections = arena_allocate(&block->arena, section_count * sizeof *block->policy.sections);
	if (path != NULL)
		block->policy.path = arena_copy_text(&block->arena, path, strlen(path));
	if (block->policy.sections == NULL || (path != NULL && block->policy.path == NULL)) {
		policy_free(&block->policy);
		return NULL;
	}
	return &block->policy;
}

struct arena *block_arena(struct policy *policy)
{
	return &((struct policy_block *)policy)->arena;
}

void policy_free(const struct policy *policy)
{
	if (policy == NULL || policy == policy_builtin())
		return;

	struct policy_block *block = (struct policy_block *)(uintptr_t)policy;
	arena_free(&block->arena);
	free(block);
}

static bool own_section(struct arena *arena, struct policy_section *section)
{
	section->name = arena_copy_text(arena, section->name, strlen(section->name));
	if (section->name == NULL)
		return false;
	for (size_t i = 0; i < schema_key_count(); i++)
		if (!value_own(schema_key_at(i), arena, &section->rules))
			return false;
	return true;
}

struct policy *policy_copy(const struct policy *policy)
{
	struct policy *copy = block_new(policy->section_count, policy->path);

	if (copy == NULL)
		return NULL;
	memcpy(copy->hash, policy->hash, sizeof copy->hash);
	memcpy(copy->sections, policy->sections, policy->section_count * sizeof *policy->sections);
	for (size_t i = 0; i < copy->section_count; i++) {
		if (!own_section(block_arena(copy), &copy->sections[i])) {
			policy_free(copy);
			return NULL;
		}
	}
	return copy;
}
