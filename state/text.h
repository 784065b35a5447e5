/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_STATE_TEXT_H
#define TENACURL_STATE_TEXT_H

/* Texts of a fixed size. */

#include <stddef.h>

/* Copies a text that may be NULL into out and fills the rest with NUL; of one that doesn't fit the last byte is "~". */
void state_copy_text(char *out, size_t out_bytes, const char *text);

/* Ends a text of another process and makes it harmless: what isn't printable ASCII becomes "?". */
void state_clean_text(char *text, size_t text_bytes);

#endif
