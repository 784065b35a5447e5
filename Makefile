# tenacurl. GNU make; everything that is built goes to build/.
#
#   make            the preloaded object, its audit modules and the command line tool
#   make check      the test suite that needs nothing but the build dependencies and python3-pytest
#   make check-sanitize   transfers under valgrind, and with sanitizers in the programs and in the object
#   make install    DESTDIR= PREFIX=/usr/local; by rename, so that a mapped object is never written to
#   make fuzz       the fuzz targets (clang)
#   make format     clang-format over the tree
#
# WERROR=1 turns warnings into errors, SANITIZE=address,undefined builds the command line tool and the unit tests with
# sanitizers (the preloaded object never is), V=1 shows the commands.

VERSION = 0.1.0

PREFIX ?= /usr/local
BINDIR ?= $(PREFIX)/bin
LIBDIR ?= $(PREFIX)/lib/tenacurl
DOCDIR ?= $(PREFIX)/share/doc/tenacurl
MANDIR ?= $(PREFIX)/share/man
TMPFILESDIR ?= $(PREFIX)/lib/tmpfiles.d
INSTALL ?= install

CC ?= cc
CLANG ?= clang
OBJCOPY ?= $(shell $(CC) -print-prog-name=objcopy)
# The archive that the preloaded object takes iniparser from.
INIPARSER_A ?= $(shell $(CC) -print-file-name=libiniparser.a)
CFLAGS ?= -O2 -g
BUILD ?= build

WARNINGS = -Wall -Wextra -Wshadow -Wstrict-prototypes -Wmissing-prototypes -Wwrite-strings -Wconversion \
	-Wformat=2 -Wcast-align -Wpointer-arith -Wimplicit-fallthrough -Wundef
ifdef WERROR
WARNINGS += -Werror
endif
ifdef SANITIZE
SANITIZERS = -fsanitize=$(SANITIZE) -fno-omit-frame-pointer -fno-sanitize-recover=undefined
endif

# _FORTIFY_SOURCE would tie the preloaded object to __*_chk symbols that other C libraries lack. Some distributions hand it to the
# preprocessor by itself, where only the same way takes it back.
NO_FORTIFY = -U_FORTIFY_SOURCE -Wp,-U_FORTIFY_SOURCE
COMMON = -std=gnu11 -I. -D_GNU_SOURCE -DTENACURL_VERSION='"$(VERSION)"' $(WARNINGS) -fno-common -fstack-protector-strong
SO_FLAGS = -include interpose/host/floor.h -fPIC -fvisibility=hidden $(NO_FORTIFY) -fno-exceptions
# Threads may have 16 KiB of stack, of which libcurl leaves little: what is large goes to the heap. (With link-time optimisation
# gcc doesn't say; clang does.)
SO_WARNINGS = -Wframe-larger-than=1024
# The object's many small functions lie in many files: half of what a successful transfer costs is calling them. gcc needs no more
# than itself for link-time optimisation; clang would need a linker plugin. exports.c is left out, since its .symver lines are
# assembly that the optimiser doesn't see.
ifneq ($(findstring Free Software Foundation,$(shell $(CC) --version 2>/dev/null)),)
SO_LTO ?= -flto -flto-partition=one
endif
CLI_FLAGS = -DTENACURL_LIBDIR='"$(LIBDIR)"'
# Every process on the host maps the object: fewer segments and pages of its own make that cheaper. No start files: they would only
# look up four functions, and clean up at the end after what is never unloaded.
SO_LINK = -shared -nostartfiles -Wl,-z,defs -Wl,-z,noseparate-code -Wl,-z,now -Wl,-z,relro -Wl,-z,nodelete -Wl,-z,noexecstack \
	-Wl,-O1 -Wl,--version-script=$(BUILD)/exports.map -Wl,-soname,libtenacurl.so

# Audit modules (interpose/bind/) come into every process too, in a namespace of their own: with any library they would bring a second
# libc. Hence no start files and nothing that a compiler takes from one.
BIND_FLAGS = -fPIC -fvisibility=hidden $(NO_FORTIFY) -fno-exceptions -ffreestanding -fno-builtin -fno-stack-protector \
	$(if $(filter aarch64%,$(shell $(CC) -dumpmachine)),-mno-outline-atomics)
BIND_LINK = -shared -nostdlib -Wl,-z,defs -Wl,-z,noseparate-code -Wl,-z,now -Wl,-z,relro -Wl,-z,noexecstack -Wl,-O1

SHARED_SRC = $(wildcard base/*.c config/*.c engine/*.c log/*.c state/*.c)
ROOMS = entry drive record parts nesting gate handle libcurl host
SO_SRC = $(SHARED_SRC) $(wildcard $(ROOMS:%=interpose/%/*.c)) interpose/bind/object.c
BIND_SRC = $(addprefix interpose/bind/,binder.c step_aside.c object.c environment.c)
WATCH_SRC = $(wildcard interpose/bind/watch*.c) $(addprefix interpose/bind/,object.c environment.c)
CLI_SRC = $(SHARED_SRC) $(wildcard cli/*.c cli/*/*.c cli/*/*/*.c)
ORIGIN_SRC = $(wildcard tests/origin/*.c)
CLIENT_SRC = $(wildcard tests/clients/*.c)
UNIT_SRC = $(wildcard tests/unit/test_*.c)
FUZZ_SRC = $(wildcard tests/fuzz/fuzz_*.c)

SO_OBJ = $(SO_SRC:%.c=$(BUILD)/so/%.o)
INI = $(BUILD)/iniparser.a
BIND_OBJ = $(BIND_SRC:%.c=$(BUILD)/bind/%.o)
WATCH_OBJ = $(WATCH_SRC:%.c=$(BUILD)/bind/%.o)
CLI_OBJ = $(CLI_SRC:%.c=$(BUILD)/cli/%.o)
SHARED_OBJ = $(SHARED_SRC:%.c=$(BUILD)/cli/%.o)
UNIT_BIN = $(UNIT_SRC:tests/unit/%.c=$(BUILD)/tests/unit/%)
CXX_CLIENT_SRC = $(if $(shell command -v $(CXX)),$(wildcard tests/clients/*.cc))
CLIENT_BIN = $(CLIENT_SRC:tests/clients/%.c=$(BUILD)/tests/clients/%) $(CXX_CLIENT_SRC:tests/clients/%.cc=$(BUILD)/tests/clients/%)
FUZZ_BIN = $(FUZZ_SRC:tests/fuzz/%.c=$(BUILD)/fuzz/%)

CLI_LIBS = -liniparser -ljansson -lelf -lm

# Without V=1 a line per command.
ifdef V
Q =
say = @:
else
Q = @
say = @printf '  %-6s %s\n'
endif

# Before what is included, whose first target would be the default.
all:

include interpose/placeholder/placeholder.mk

all: $(BUILD)/libtenacurl.so $(BUILD)/exports.txt $(BUILD)/libtenacurl-bind.so $(BUILD)/libtenacurl-watch.so $(BUILD)/tenacurl $(MULTIARCH)

$(BUILD)/libtenacurl.so: $(SO_OBJ) $(INI) $(BUILD)/exports.map $(BUILD)/flags
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(SO_LTO) $(SO_LINK) -o $@.new $(SO_OBJ) $(INI) && mv -f $@.new $@

# What the object exports, from the table of functions and that of version nodes: for the linker, and for scripts/check-elf.
$(BUILD)/exports.map: interpose/entry/exports.map.in
	$(say) MAKE $@
	$(Q)$(CC) -E -P -I. -x c -o $@ $<
$(BUILD)/exports.txt: tests/elf/exports.txt.in
	$(say) MAKE $@
	$(Q)$(CC) -E -P -I. -x c $< | tr -d ' \n' | tr ',' '\n' | LC_ALL=C sort >$@
$(BUILD)/exports.map $(BUILD)/exports.txt: interpose/bind/functions.h interpose/libcurl/nodes.h $(BUILD)/flags

$(INI): interpose/host/ini.syms $(BUILD)/flags
	@test -r '$(INIPARSER_A)' || { echo 'libiniparser.a is missing (Debian: libiniparser-dev); INIPARSER_A=PATH names another' >&2; false; }
	$(say) RENAME $@
	$(Q)$(OBJCOPY) --redefine-syms=$< '$(INIPARSER_A)' $@

$(BUILD)/libtenacurl-bind.so: $(BIND_OBJ) $(BUILD)/flags
$(BUILD)/libtenacurl-watch.so: $(WATCH_OBJ) $(BUILD)/flags
$(BUILD)/libtenacurl-bind.so $(BUILD)/libtenacurl-watch.so:
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(BIND_LINK) -Wl,-soname,$(@F) -o $@.new $(filter %.o,$^) && mv -f $@.new $@

$(BUILD)/tenacurl: $(CLI_OBJ) $(BUILD)/flags
	$(say) LINK $@
	$(Q)$(CC) $(CFLAGS) $(SANITIZERS) $(LDFLAGS) -o $@.new $(CLI_OBJ) $(CLI_LIBS) && mv -f $@.new $@

$(BUILD)/so/%.o: OBJECT_LTO = $(SO_LTO)
$(BUILD)/so/interpose/entry/exports.o: OBJECT_LTO = -fno-lto
$(BUILD)/so/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(COMMON) $(SO_WARNINGS) $(CFLAGS) $(SO_FLAGS) $(OBJECT_LTO) -MMD -MP -c -o $@ $<

$(BUILD)/bind/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(COMMON) $(CFLAGS) $(BIND_FLAGS) -MMD -MP -c -o $@ $<

$(BUILD)/cli/%.o: %.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) CC $<
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) $(SANITIZERS) $(CLI_FLAGS) -MMD -MP -c -o $@ $<

# Rebuild everything when the compiler or the flags change.
FLAGS_NOW = $(CC) $(shell $(CC) -dumpfullversion -dumpversion 2>/dev/null) $(COMMON) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) \
	$(SANITIZERS) $(SO_FLAGS) $(SO_WARNINGS) $(SO_LTO) $(INIPARSER_A) $(CLI_FLAGS) $(SO_LINK) $(BIND_FLAGS) $(BIND_LINK) $(CLI_LIBS)
$(BUILD)/flags: FORCE
	@mkdir -p $(@D)
	@printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' | cmp -s - $@ || printf '%s\n' '$(subst ','\'',$(FLAGS_NOW))' >$@

# Tests.

$(BUILD)/tests/unit/test_url: UNIT_LIBS = -lcurl
$(BUILD)/tests/unit/%: tests/unit/%.c $(SHARED_OBJ) $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) $(SANITIZERS) -MMD -MP -MF $@.d -o $@ $< $(SHARED_OBJ) -lcmocka $(CLI_LIBS) $(UNIT_LIBS)

$(BUILD)/tests/origin/origin: $(ORIGIN_SRC) $(wildcard tests/origin/*.h) $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) $(SANITIZERS) -pthread -o $@ $(ORIGIN_SRC) -ljansson

$(BUILD)/tests/clients/%: tests/clients/%.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) -pthread -MMD -MP -MF $@.d -o $@ $< -lcurl -ldl

$(BUILD)/tests/clients/%: tests/clients/%.cc $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CXX) $(CPPFLAGS) $(CFLAGS) -Wall -Wextra -o $@ $< -lcurl

# The policy in force, on a clock of the test's own; what it asks of the host process is played by the test.
SOURCE_OBJ = $(addprefix $(BUILD)/cli/interpose/host/,policy_source.o policy_place.o policy_slots.o mounts.o)
$(BUILD)/tests/unit/test_policy_source: $(SOURCE_OBJ)
$(BUILD)/tests/unit/test_policy_source: CLI_LIBS += $(SOURCE_OBJ)
# The gate between a libcurl and a program that the tests play, with their clock and memory.
GATE_OBJ = $(addprefix $(BUILD)/cli/interpose/,gate/gate.o gate/deliver.o gate/block.o handle/held.o)
GATE_TESTS = $(filter $(BUILD)/tests/unit/test_gate_%,$(UNIT_BIN))
$(GATE_TESTS): $(GATE_OBJ)
$(GATE_TESTS): CLI_LIBS += $(GATE_OBJ) -Wl,--wrap=held_append,--wrap=clock_gettime
$(BUILD)/tests/unit/test_deliver $(BUILD)/tests/unit/test_block: $(GATE_OBJ)
$(BUILD)/tests/unit/test_deliver: CLI_LIBS += $(addprefix $(BUILD)/cli/interpose/,gate/deliver.o handle/held.o)
$(BUILD)/tests/unit/test_block: CLI_LIBS += $(BUILD)/cli/interpose/gate/block.o
$(BUILD)/tests/unit/test_mounts: $(BUILD)/cli/interpose/host/mounts.o
$(BUILD)/tests/unit/test_mounts: CLI_LIBS += $(BUILD)/cli/interpose/host/mounts.o

# The conductor, against a libcurl that plays a script. What a test defines itself stands in place of the host's.
CONDUCT_TEST = $(filter $(BUILD)/tests/unit/test_conduct_%,$(UNIT_BIN))
SCENE_OBJ = $(addprefix $(BUILD)/cli/tests/unit/,conduct_scene.o fake_libcurl.o)
GUEST_OBJ = $(patsubst %.c,$(BUILD)/cli/%.o,$(filter interpose/%,$(SO_SRC)))
$(BUILD)/tests/interpose.a: $(GUEST_OBJ)
	@mkdir -p $(@D)
	@rm -f $@
	$(say) AR $@
	$(Q)$(AR) rcs $@ $^
$(CONDUCT_TEST): $(SCENE_OBJ) $(BUILD)/tests/interpose.a
$(CONDUCT_TEST): UNIT_LIBS = -Wl,--wrap=clock_gettime $(SCENE_OBJ) $(BUILD)/tests/interpose.a $(CLI_LIBS) -lcmocka

include tests/plugins/layouts.mk
include tests/broken/broken.mk

# Lets allocations of the object fail.
TORTURE_BIN = $(BUILD)/tests/torture/fail_allocation.so
$(TORTURE_BIN): tests/torture/fail_allocation.c $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) -shared -fPIC -fvisibility=hidden -o $@ $<

# Random histories against a server of its own: scripts/fuzz-requests runs it.
REQUESTS_BIN = $(BUILD)/tests/fuzz-requests
$(REQUESTS_BIN): $(wildcard tests/fuzz/requests/*.[ch]) $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) -pthread -o $@ $(filter %.c,$^) -lcurl

# Programs about the shared state alone: scripts/soak, scripts/bench and the end-to-end tests start them.
SOAK_BIN = $(addprefix $(BUILD)/tests/soak/,soak update_cost write_state)
$(SOAK_BIN): $(BUILD)/tests/soak/%: tests/soak/%.c $(SHARED_OBJ) $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) $(SANITIZERS) -MMD -MP -MF $@.d -pthread -o $@ $< $(SHARED_OBJ) $(CLI_LIBS)

# Judges a log again, with the engine and the policies' reader.
REPLAY_BIN = $(BUILD)/tests/replay
$(REPLAY_BIN): tests/replay/replay.c $(SHARED_OBJ) $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) $(SANITIZERS) -MMD -MP -MF $@.d -o $@ $< $(SHARED_OBJ) $(CLI_LIBS)

tests: all $(UNIT_BIN) $(SOAK_BIN) $(REPLAY_BIN) $(CLIENT_BIN) $(REQUESTS_BIN) $(PLUGIN_BIN) $(TORTURE_BIN) $(OBSERVE_BIN) $(BROKEN_BIN) $(if $(ORIGIN_SRC),$(BUILD)/tests/origin/origin)

check: tests
	BUILD='$(abspath $(BUILD))' tests/run-all

# Sanitizers: programs with one, for the object as it is; and the object itself with one, for tests only. What it takes
# from a sanitizer's runtime is undefined in it: the program brings the runtime.
SANITIZED = $(BUILD)/sanitized
SANITIZED_CLIENTS = transfer upload threads forks cancelled nested meddles
SANITIZED_BIN = $(foreach s,asan tsan,$(SANITIZED_CLIENTS:%=$(SANITIZED)/$(s)/%) $(SANITIZED)/libtenacurl-$(s).so)
FLAGS_asan = -fsanitize=address,undefined -fno-sanitize-recover=undefined -fno-omit-frame-pointer
FLAGS_tsan = -fsanitize=thread -fno-omit-frame-pointer

define build-sanitized
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) $(1) -o $@
endef

$(SANITIZED)/asan/%: tests/clients/%.c $(BUILD)/flags
	$(call build-sanitized,$(FLAGS_asan) -pthread) $< -lcurl -ldl

$(SANITIZED)/tsan/%: tests/clients/%.c $(BUILD)/flags
	$(call build-sanitized,$(FLAGS_tsan) -pthread) $< -lcurl -ldl

$(SANITIZED)/libtenacurl-%.so: $(SO_SRC) $(INI) $(wildcard interpose/*/*.h engine/*.h log/*.h config/*.h state/*.h base/*.h) $(BUILD)/exports.map \
		$(BUILD)/flags
	$(call build-sanitized,$(SO_FLAGS) $(FLAGS_$*) $(filter-out -Wl$(comma)-z$(comma)defs,$(SO_LINK))) $(SO_SRC) $(INI)

check-sanitize: all $(CLIENT_BIN) $(BUILD)/tests/origin/origin $(SANITIZED_BIN)
	BUILD='$(abspath $(BUILD))' tests/run-sanitized

fuzz: $(FUZZ_BIN)

$(BUILD)/fuzz/%: tests/fuzz/%.c $(SHARED_SRC) $(wildcard base/*.h config/*.h engine/*.h log/*.h state/*.h)
	@mkdir -p $(@D)
	$(say) FUZZ $@
	$(Q)$(CLANG) $(COMMON) -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined -o $@ $< \
		$(SHARED_SRC) -liniparser -lm

# Installation: write beside the target, then rename over it.

define install-file
	$(INSTALL) -d '$(DESTDIR)$(dir $(3))'
	$(INSTALL) -m $(1) '$(2)' '$(DESTDIR)$(3).new'
	mv -f '$(DESTDIR)$(3).new' '$(DESTDIR)$(3)'

endef

INSTALLED_LIBS = $(addprefix $(LIBDIR)/,libtenacurl.so libtenacurl-bind.so libtenacurl-watch.so)
INSTALLED_BIN = $(BINDIR)/tenacurl
DOC_FILES = README.md CHANGELOG.md LICENSE config/policy.ini docs/design.md docs/libcurl.md docs/interposing.md docs/policies.md
EXAMPLES = $(notdir $(wildcard config/examples/*.ini))
MAN1 = $(notdir $(wildcard docs/*.1))
MAN5 = $(notdir $(wildcard docs/*.5))

install: all
	$(foreach f,$(INSTALLED_LIBS),$(call install-file,755,$(BUILD)/$(notdir $(f)),$(f)))
	$(call install-file,755,$(BUILD)/tenacurl,$(INSTALLED_BIN))
	$(if $(MULTIARCH),$(call install-file,755,$(PLACEHOLDER),$(LIBDIR)/$(notdir $(PLACEHOLDER))))
	$(if $(MULTIARCH),$(call multiarch-links,$(DESTDIR)$(LIBDIR)))
	$(call install-file,644,contrib/tmpfiles.d/tenacurl.conf,$(TMPFILESDIR)/tenacurl.conf)
	$(foreach f,$(DOC_FILES),$(call install-file,644,$(f),$(DOCDIR)/$(notdir $(f))))
	$(foreach f,$(EXAMPLES),$(call install-file,644,config/examples/$(f),$(DOCDIR)/examples/$(f)))
	$(foreach f,$(MAN1),$(call install-file,644,docs/$(f),$(MANDIR)/man1/$(f)))
	$(foreach f,$(MAN5),$(call install-file,644,docs/$(f),$(MANDIR)/man5/$(f)))

uninstall:
	rm -f $(foreach f,$(INSTALLED_LIBS) $(INSTALLED_BIN),'$(DESTDIR)$(f)')
	rm -rf '$(DESTDIR)$(LIBDIR)/multiarch' '$(DESTDIR)$(LIBDIR)/$(notdir $(PLACEHOLDER))'
	rm -f '$(DESTDIR)$(TMPFILESDIR)/tenacurl.conf'
	rm -f $(foreach f,$(MAN1),'$(DESTDIR)$(MANDIR)/man1/$(f)') $(foreach f,$(MAN5),'$(DESTDIR)$(MANDIR)/man5/$(f)')
	rm -f $(foreach f,$(DOC_FILES),'$(DESTDIR)$(DOCDIR)/$(notdir $(f))') $(foreach f,$(EXAMPLES),'$(DESTDIR)$(DOCDIR)/examples/$(f)')
	-rmdir '$(DESTDIR)$(DOCDIR)/examples' '$(DESTDIR)$(DOCDIR)' '$(DESTDIR)$(LIBDIR)' 2>/dev/null

format:
	clang-format -i $$(git ls-files '*.c' '*.h')

clean:
	rm -rf $(BUILD)

.PHONY: all tests check check-sanitize fuzz install uninstall format clean FORCE
.DELETE_ON_ERROR:

-include $(SO_OBJ:.o=.d) $(BIND_OBJ:.o=.d) $(WATCH_OBJ:.o=.d) $(CLI_OBJ:.o=.d) $(GUEST_OBJ:.o=.d) $(SCENE_OBJ:.o=.d) $(UNIT_BIN:=.d) $(SOAK_BIN:=.d) $(REPLAY_BIN:=.d) $(CLIENT_BIN:=.d)
