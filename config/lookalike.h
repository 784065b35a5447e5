/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CONFIG_LOOKALIKE_H
#define TENACURL_CONFIG_LOOKALIKE_H

/*
 * Characters that an editor, a web page or an input method puts in place of those that a policy file is written in:
 * typographic quotes, spaces that aren't blanks, full-width letters and signs, and what shows nothing at all. A person
 * sees the right text, iniparser reads another one. Texts are UTF-8; a byte that isn't is taken as Windows has it
 * (code page 1252), as far as quotes and spaces go. Pure, no allocation, any thread.
 */

#include <stdbool.h>
#include <stddef.h>

/* What the first such character is called; NULL: there is none. Static. */

/* One that looks like a blank or like nothing, or is a control character (not ASCII ones, which never get here). */
const char *lookalike_blank(const char *text);

/* One that looks like a letter, a digit or a sign of ASCII: full-width forms. */
const char *lookalike_sign(const char *text);

/* Whether `text` begins or ends with a typographic quote. */
bool lookalike_is_quoted(const char *text);

#endif
