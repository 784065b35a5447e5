# SPDX-License-Identifier: MIT
"""Programs whose libraries have more static thread-local storage than the binder leaves room for."""

import subprocess

TLS_BYTES = 16 * 1024

# The note, where there is one, keeps the library's tables out of the page that its header is in.
LIBRARY = """
__thread char block[TLS_BYTES] MODEL;
char block_at(int i) { return block[i]; }
#ifdef NOTE_BYTES
__attribute__((section(".note.far"), used)) static const char note[NOTE_BYTES];
#endif
"""
MAIN = """
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
EXTERN
char block_at(int i);
int main(void)
{
	char name[64] = "";
	const char *audit = getenv("LD_AUDIT");
	FILE *file = fopen("/proc/self/comm", "re");
	if (file && fgets(name, sizeof(name), file))
		name[strcspn(name, "\\n")] = 0;
	printf("%s %s\\n", name, audit && strstr(audit, "libtenacurl-bind.so") ? "bound" : "not bound");
	return TAKE;
}
"""
FIXED = '__attribute__((tls_model("initial-exec")))'

# What the library's code and the program's do with its thread-local storage, and whether the binder stays then.
USES = {
    "ordinary": (["-DMODEL="], ["-DEXTERN=", "-DTAKE=block_at(0)"], True),
    "at a fixed offset": ([f"-DMODEL={FIXED}"], ["-DEXTERN=", "-DTAKE=block_at(0)"], False),
    "with its tables far from its header": (
        [f"-DMODEL={FIXED}", "-DNOTE_BYTES=16384"], ["-DEXTERN=", "-DTAKE=block_at(0)"], False),
    "which the program takes at a fixed offset": (
        ["-DMODEL="], [f"-DEXTERN=extern __thread char block[TLS_BYTES] {FIXED};", "-DTAKE=block[block_at(0)]"], False),
}


def build_program(directory, use, name="program"):
    """Returns the program, and whether the binder stays with it. It prints its name in ps, and "bound" or "not bound"."""
    flags, own_flags, stays = USES[use]
    library, program = directory / "libblock.so", directory / name
    for path, source, options in ((library, LIBRARY, ["-shared", "-fPIC", "-O1", *flags]),
                                  (program, MAIN, ["-O1", *own_flags, library, f"-Wl,-rpath,{directory}"])):
        subprocess.run(["gcc", "-x", "c", "-", "-x", "none", "-o", path, f"-DTLS_BYTES={TLS_BYTES}", *options],
                       input=source.encode(), check=True, capture_output=True)
    return program, stays
