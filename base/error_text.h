/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_BASE_ERROR_TEXT_H
#define TENACURL_BASE_ERROR_TEXT_H

/*
 * What an errno of a file means, in the words of strerror() in the C locale. strerror() itself translates, for which it
 * may open a library, under the dynamic linker's lock. Static. Any context.
 */
const char *error_text(int number);

#endif
