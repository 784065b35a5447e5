/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_CHECK_KNOWN_USE_H
#define TENACURL_CLI_CHECK_KNOWN_USE_H

#include "cli/check/known_programs.h"
#include "cli/launch/subject.h"

/*
 * By which of the `possible` interfaces the program works through an object of its process, as known_programs.c has it;
 * `likely` if that says nothing. `object` is a path; `is_program`: the object is the program itself.
 */
enum known_interface known_use_interface(const struct subject *subject, const char *object, bool is_program,
                                         enum known_interface possible, enum known_interface likely);

#endif
