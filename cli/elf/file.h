/* SPDX-License-Identifier: MIT */
#ifndef TENACURL_CLI_ELF_FILE_H
#define TENACURL_CLI_ELF_FILE_H

/*
 * What an ELF file says of itself (cli/elf/read.h reads it), and what this program is.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct elf_file {
	char *path;
	int class_bits;    /* 32 or 64 */
	unsigned machine;  /* EM_… */
	char *interpreter; /* PT_INTERP; NULL: static, or a library */
	bool is_dynamic;   /* has a dynamic section (static-pie programs do, too) */
	bool has_audit;    /* names modules for ld.so to run (DT_AUDIT, DT_DEPAUDIT) */
	char **needed;     /* DT_NEEDED */
	size_t needed_count;
	uint64_t tls_bytes; /* of its PT_TLS, 0 without one */
	uint64_t tls_alignment;
	bool takes_static_tls; /* DF_STATIC_TLS: its TLS must be in the block that ld.so sizes at the program's start */
	bool is_sanitizer;     /* a sanitizer's runtime, or linked with one statically */

	/* libcurl's functions that it takes from elsewhere. */
	bool imports_easy;         /* curl_easy_perform */
	bool imports_multi;        /* curl_multi_perform, _socket_action, _socket, _socket_all */
	bool imports_easy_as_data; /* … through GLOB_DAT or an absolute relocation: the binder doesn't see those */
	char import_node[32];      /* "CURL_GNUTLS_3"; empty: unversioned */
	bool imports_d_curl;       /* D's std.net.curl, which finds libcurl by dlopen and dlsym */

	/* A libcurl of its own: the library itself, or a copy inside something else. */
	bool defines_easy;     /* curl_easy_perform is a symbol of its own, in whatever table */
	bool exports_easy;     /* … and others can bind to it */
	char curl_version[24]; /* "7.88.1", from its text "libcurl/7.88.1"; empty: none found */
};

/* Also of a file of which nothing was read. */
void elf_file_free(struct elf_file *file);

/* Whether the file is what this program is: same class and machine. */
bool elf_file_is_native(const struct elf_file *file);

/* The dynamic linker that this program was started by. NULL: none. */
const char *elf_own_interpreter(void);

/* Whether its interpreter is musl's. */
bool elf_file_is_musl(const struct elf_file *file);

/* Whether a file without an interpreter is one: glibc's dynamic linker, which was named to start a program by. */
bool elf_file_is_linker(const struct elf_file *file, const char *path);

/* Name of a machine for people: "x86-64", "i386", "aarch64", …; "machine 243" if it has none here. */
const char *elf_machine_name(unsigned machine);

#endif
