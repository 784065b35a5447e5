/* SPDX-License-Identifier: MIT */
#include "cli/check/known_use.h"

#include <fnmatch.h>
#include <string.h>

enum known_interface known_use_interface(const struct subject *subject, const char *object, bool is_program,
                                         enum known_interface possible, enum known_interface likely)
{
	for (size_t i = 0; i < KNOWN_USE_COUNT; i++) {
		const struct known_use *row = &KNOWN_USES[i];
		bool fits = row->object[0] ? fnmatch(row->object, basename(object), 0) == 0 : is_program;
		if (fits && subject_is(subject, row->program) && subject_has(subject, row->words, object))
			return (enum known_interface)((unsigned)row->interface & (unsigned)possible);
	}
	return likely;
}
