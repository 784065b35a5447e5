# SPDX-License-Identifier: MIT
"""`tenacurl check` of programs that nobody should trust: nothing of them runs, hangs or gets at the terminal."""

import os
import subprocess

import pytest

from support.check import compile_c, read_report

MAIN = "int main(void) { return 0; }\n"
AUDIT_MODULE = """
#include <fcntl.h>
__attribute__((constructor)) static void begin(void) { creat(MARK, 0600); }
unsigned la_version(unsigned offered) { return offered; }
"""

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="only root can make files of others")


@pytest.fixture
def check(build, runner):
    """check(path) -> Report"""
    return lambda path: read_report(runner.bare([build / "tenacurl", "check", "--json", path]))


@pytest.fixture
def interpreted(tmp_path):
    """interpreted(name, script) -> a program whose dynamic linker is that shell script."""

    def make(name, script):
        interpreter = tmp_path / name
        interpreter.write_text(f"#!/bin/sh\n{script}\n")
        interpreter.chmod(0o755)
        return compile_c(tmp_path / "program", MAIN, f"-Wl,--dynamic-linker={interpreter}")

    return make


@pytest.mark.parametrize("option", ["--audit", "--depaudit"])
def test_an_audit_module_that_the_program_names_does_not_run(check, bare, tmp_path, option):
    mark = tmp_path / "mark"
    module = compile_c(tmp_path / "module.so", AUDIT_MODULE, "-shared", "-fPIC", f'-DMARK="{mark}"')
    program = compile_c(tmp_path / "program", MAIN, f"-Wl,{option}={module}")
    assert (check(program).verdict, check(program).reason) == ("unknown", "no-libcurl")
    assert not mark.exists()
    bare([program])
    if option == "--audit":
        assert mark.exists()  # it would have, had the dynamic linker been asked


@needs_root
@pytest.mark.parametrize("name, owner, is_asked", [("ld-x.so.2", 0, True), ("starter", 0, False),
                                                   ("ld-x.so.2", 65534, False)])
def test_only_a_dynamic_linker_of_roots_is_asked(check, interpreted, tmp_path, name, owner, is_asked):
    program = interpreted(name, f"echo > {tmp_path}/mark")
    os.chown(tmp_path / name, owner, owner)
    assert (check(program).verdict, check(program).reason) == ("unknown", "no-libcurl")
    assert (tmp_path / "mark").exists() == is_asked


@needs_root
def test_a_dynamic_linker_that_does_not_end_is_ended(check, interpreted, tmp_path):
    program = interpreted("ld-x.so.2", f"echo $$ > {tmp_path}/id; exec sleep 1000 >&- 2>&-")
    assert (check(program).verdict, check(program).reason) == ("unknown", "no-libcurl")
    with pytest.raises(ProcessLookupError):
        os.kill(int((tmp_path / "id").read_text()), 0)


def test_names_of_libraries_do_nothing_to_the_terminal(check, build, bare, tmp_path):
    library = compile_c(tmp_path / "libgone.so", "int gone(void) { return 0; }\n", "-shared", "-fPIC",
                        "-Wl,-soname,libgone.so")
    program = compile_c(tmp_path / "program", "int gone(void);\nint main(void) { return gone(); }\n", library)
    library.unlink()
    program.write_bytes(program.read_bytes().replace(b"libgone.so", b"lib\x1b[1m.so"))
    assert b"lib\x1b[1m.so" in subprocess.run([program], capture_output=True).stderr
    assert "lib?[1m.so" in check(program).note
    printed = bare([build / "tenacurl", "check", program])
    assert b"lib?[1m.so" in printed.stdout and b"\x1b" not in printed.stdout + printed.stderr
