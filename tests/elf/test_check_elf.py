# SPDX-License-Identifier: MIT
"""scripts/check-elf: passes the object that was built, and names each fault of one that was built wrong."""

import os
import re
import subprocess
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
CHECK_ELF = REPOSITORY / "scripts" / "check-elf"
BUILT = Path(os.environ.get("BUILD", REPOSITORY / "build")).resolve()
OBJECT = BUILT / "libtenacurl.so"
BINDER = BUILT / "libtenacurl-bind.so"

GOOD_FLAGS = ["-Wl,-z,now", "-Wl,-z,relro", "-Wl,-z,nodelete", "-Wl,-z,noexecstack"]
SOURCE = """
int one_default(void) { return 1; }
int one_named(void) { return 1; }
__asm__(".symver one_default, one@@DEFAULT_1");
__asm__(".symver one_named, one@NAMED_4");
"""
NODES = "DEFAULT_1 { global: one; local: *; };\nNAMED_4 { };\n"
IMPORTS = """_ITM_deregisterTMCloneTable weak
_ITM_registerTMCloneTable weak
__cxa_finalize weak
__cxa_finalize@GLIBC_2.2.5 weak
__environ@GLIBC_2.2.5
__gmon_start__ weak
__memcpy_chk@GLIBC_2.3.4
environ@GLIBC_2.2.5
getpid@GLIBC_2.2.5
memcpy@GLIBC_2.2.5
puts@GLIBC_2.2.5 weak # may be missing
"""
EXPORTS = "# what the test object exports\none@@DEFAULT_1 # the default\n\none@NAMED_4\n"


@pytest.fixture
def check(tmp_path):
    """Builds an object with one thing different and checks it; returns the status and the lines about it."""
    def build_and_check(source=SOURCE, nodes=NODES, flags=(), without=(), exports=EXPORTS):
        (tmp_path / "x.c").write_text(source)
        (tmp_path / "x.map").write_text(nodes)
        (tmp_path / "exports.txt").write_text(exports)
        (tmp_path / "imports.txt").write_text(IMPORTS)
        kept = [flag for flag in GOOD_FLAGS if flag not in without]
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-O1", "-U_FORTIFY_SOURCE", "-o",
                        tmp_path / "x.so", tmp_path / "x.c", f"-Wl,--version-script={tmp_path}/x.map", *kept, *flags],
                       check=True, capture_output=True)
        done = subprocess.run([CHECK_ELF, tmp_path / "x.so"], capture_output=True, text=True,
                              env={**os.environ, "EXPORTS": str(tmp_path / "exports.txt"),
                                   "IMPORTS": str(tmp_path / "imports.txt")})
        assert done.stderr == ""
        return done.returncode, [line for line in done.stdout.splitlines() if "needs GLIBC_" not in line
                                 or "newer than" in line]
    return build_and_check


def fault(check, words, **different):
    status, lines = check(**different)
    assert status == 1
    assert len(lines) == 1 and words in lines[0], lines


def test_the_built_object_passes():
    done = subprocess.run([CHECK_ELF, OBJECT], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert re.fullmatch(r"check-elf: .*: needs GLIBC_2\.\d+\n", done.stdout)


def test_the_built_binder_passes():
    done = subprocess.run([CHECK_ELF, BINDER], capture_output=True, text=True)
    assert (done.returncode, done.stdout) == (0, "")


@pytest.mark.parametrize("path,exports", [
    (OBJECT, BUILT / "exports.txt"), (BINDER, REPOSITORY / "tests" / "elf" / "exports-bind.txt")], ids=["object", "binder"])
def test_the_list_is_what_the_check_compares_with(path, exports):
    done = subprocess.run([CHECK_ELF, "--list", path], capture_output=True, text=True, check=True)
    expected = exports.read_text().splitlines()
    assert done.stdout.splitlines() == [line for line in expected if line and not line.startswith("#")]


def test_h03_imports_of_the_built_object_are_listed():
    done = subprocess.run([CHECK_ELF, "--imports", OBJECT], capture_output=True, text=True, check=True)
    listed = (REPOSITORY / "tests" / "elf" / "imports.txt").read_text().splitlines()
    assert set(done.stdout.splitlines()) <= {line.split(" #")[0] for line in listed}


def importing(*words):
    """A source that calls functions, by weak references where the word says so."""
    calls = [word.removeprefix("weak ") for word in words]
    declared = "".join(f"int {call}(void){' __attribute__((weak))' if call not in words else ''};\n" for call in calls)
    return SOURCE + declared + "int use(void);\nint use(void) { return " + " + ".join(f"{call}()" for call in calls) + "; }\n"


def test_h03_imports(check):
    assert check(source=importing("getpid", "weak puts"), flags=["-fno-builtin"]) == (0, [])


@pytest.mark.parametrize("word, told", [("getppid", "getppid@GLIBC_2.2.5"), ("puts", "puts@GLIBC_2.2.5"),
                                        ("weak getpid", "getpid weak")])
def test_h03_an_import_that_is_not_listed(check, word, told):
    """Another name, one that must be allowed to be missing, and one that needn't."""
    fault(check, f"imports {told}, which", source=importing(word), flags=["-fno-builtin"])


def test_h03_an_import_of_another_version(check):
    source = SOURCE + """
void *memcpy(void *, const void *, unsigned long);
void *use(void *a, void *b);
void *use(void *a, void *b) { return memcpy(a, b, 100); }
"""
    fault(check, "imports memcpy@GLIBC_2.14, which", source=source, flags=["-fno-builtin"])


def test_a_good_object_passes(check):
    assert check() == (0, [])


def test_an_additional_export(check):
    fault(check, "exports two@@DEFAULT_1", source=SOURCE + "int two(void) { return 2; }\n",
          nodes=NODES.replace("one;", "one; two;"))


def test_a_missing_export(check):
    fault(check, "doesn't export gone@NAMED_4", exports=EXPORTS + "gone@NAMED_4\n")


def test_a_default_node_that_is_not_first(check):
    fault(check, "must be the first node, which is NAMED_4",
          nodes="NAMED_4 { };\nDEFAULT_1 { global: one; local: *; };\n")


def test_no_default_node(check):
    fault(check, "has no default version", source=SOURCE.replace("@@DEFAULT_1", "@OTHER_1"),
          nodes="NAMED_4 { };\nOTHER_1 { local: one_*; };\n", exports="one@OTHER_1\none@NAMED_4\n")


def test_another_library(check):
    fault(check, "needs libm.so.6", flags=["-Wl,--no-as-needed", "-lm"])


@pytest.mark.parametrize("flag, words", [
    ("-Wl,-z,nodelete", "NODELETE"), ("-Wl,-z,now", "BIND_NOW"), ("-Wl,-z,relro", "RELRO")])
def test_a_missing_flag(check, flag, words):
    opposite = {"-Wl,-z,nodelete": [], "-Wl,-z,now": ["-Wl,-z,lazy"], "-Wl,-z,relro": ["-Wl,-z,norelro"]}[flag]
    fault(check, words, without=[flag], flags=opposite)


def test_an_executable_stack(check):
    fault(check, "executable stack", without=["-Wl,-z,noexecstack"], flags=["-Wl,-z,execstack"])


def test_static_tls(check):
    source = SOURCE + '__attribute__((tls_model("initial-exec"))) static __thread int slot;\n' \
                      "int use(void); int use(void) { return slot++; }\n"
    fault(check, "STATIC_TLS", source=source)


def test_much_tls(check):
    source = SOURCE + "static __thread char slot[65]; char *use(void); char *use(void) { return slot; }\n"
    status, lines = check(source=source)
    assert status == 1
    assert any("65 bytes of TLS" in line for line in lines), lines


def test_text_relocations(check):
    source = SOURCE + '__asm__(".text\\n.quad environ\\n");\n'
    fault(check, "TEXTREL", source=source, flags=["-Wl,-z,notext"])


def test_fortified_functions(check):
    source = "#include <string.h>\n" + SOURCE + """
extern void *__memcpy_chk(void *, const void *, size_t, size_t);
void *use(void *a, void *b, size_t n);
void *use(void *a, void *b, size_t n) { return __memcpy_chk(a, b, n, 4); }
"""
    fault(check, "imports __memcpy_chk", source=source)


def test_a_newer_glibc(tmp_path):
    script = tmp_path / "scripts" / "check-elf"
    script.parent.mkdir()
    script.write_text(re.sub(r"(?m)^glibc_max=[0-9.]+", "glibc_max=2.3", CHECK_ELF.read_text()))
    script.chmod(0o755)
    done = subprocess.run([script, OBJECT], capture_output=True, text=True,
                          env={**os.environ, "EXPORTS": str(BUILT / "exports.txt")})
    assert done.returncode == 1
    assert "newer than 2.3" in done.stdout


def test_what_is_no_shared_object(tmp_path):
    (tmp_path / "text").write_text("x")
    for path in (tmp_path / "text", tmp_path / "missing", CHECK_ELF):
        done = subprocess.run([CHECK_ELF, path], capture_output=True, text=True)
        assert (done.returncode, done.stdout) == (1, f"check-elf: {path}: not a shared object\n")


# Audit modules.

AUDIT = {"source": "unsigned int la_version(unsigned int offered) { return offered; }\n",
         "nodes": "{ global: la_version; local: *; };\n", "exports": "la_version\n"}
ALONE = ["-nostdlib", "-fno-stack-protector", "-fno-builtin"]


def test_a_good_audit_module_passes(check):
    assert check(**AUDIT, flags=ALONE) == (0, [])


def test_an_audit_module_with_a_library(check):
    fault(check, "needs libc.so.6", **AUDIT, flags=["-nostdlib", "-Wl,--no-as-needed", "-lc"])


def test_an_audit_module_that_imports(check):
    source = "int outside(void);\nunsigned int la_version(unsigned int offered) { return offered + outside(); }\n"
    fault(check, "imports outside", **{**AUDIT, "source": source}, flags=ALONE)


def test_an_audit_module_with_thread_local_storage(check):
    source = ("static __thread unsigned int count;\nunsigned int la_version(unsigned int offered)"
              " { return offered + count++; }\n")
    status, lines = check(**{**AUDIT, "source": source}, flags=[*ALONE, "-ftls-model=initial-exec"])
    assert status == 1
    assert any("has thread-local storage" in line for line in lines), lines
