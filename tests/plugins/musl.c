/* SPDX-License-Identifier: MIT */

/* A program of another C library, which inherits the preload and has nothing to do with libcurl. */

#include <stdio.h>

int main(void)
{
	puts("hello from musl");
	return 0;
}
