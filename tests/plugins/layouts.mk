# SPDX-License-Identifier: MIT
# Programs and plugins for tests/e2e/test_layouts*.py and test_binder.py: the ways in which a program can reach libcurl.

comma := ,
PLUGINS = $(BUILD)/tests/plugins

# What to link for each flavour. The development files of two flavours exclude each other: the others go by their soname.
CURL_openssl = -lcurl
CURL_gnutls = -l:libcurl-gnutls.so.4
CURL_nss = -l:libcurl-nss.so.4
is-flavour-installed = $(filter /%,$(shell $(CC) -print-file-name=libcurl-$(1).so.4))
FLAVOURS := openssl $(foreach f,gnutls nss,$(if $(call is-flavour-installed,$(f)),$(f)))
MUSL_CC ?= $(shell command -v musl-gcc)
LDC ?= $(shell command -v ldc2)

PLUGIN_BIN = $(FLAVOURS:%=$(PLUGINS)/fetch-%.so) $(FLAVOURS:%=$(PLUGINS)/host-%) $(FLAVOURS:%=$(PLUGINS)/host-through-%) \
	$(addprefix $(PLUGINS)/,early.so host host-early host-early-library host-dictionary host-own weak_probe \
	host-asan threads-tsan libcurl-forward-a.so libcurl-forward-b.so libcurl-unknown.so fetch-forward-a.so \
	fetch-forward-b.so host-unknown fetch-bundled.so fetch-no-plt.so fetch-address.so interposer.so \
	interposer-of-all.so hooked.so hooked-host hooked-host-openssl host-through-unknown host-through-unknown-now unversioned/libcurl.so.4 $(if $(MUSL_CC),musl) $(if $(LDC),fetch-d))

# $(call build-plugin,sources,flags): tail calls need the optimizer, so it is on whatever CFLAGS says.
define build-plugin
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) -O2 -pthread -o $@ $(1) $(2) -ldl
endef

$(PLUGIN_BIN): $(wildcard tests/plugins/*) tests/clients/threads.c $(BUILD)/flags
HOST = tests/plugins/host.c
SELF = $(HOST) tests/plugins/fetch.c -DHAS_SELF
LIBRARY = -shared -fPIC -fvisibility=hidden
BESIDE = -Wl,-rpath,'$$ORIGIN' -L$(PLUGINS)

$(FLAVOURS:%=$(PLUGINS)/fetch-%.so): $(PLUGINS)/fetch-%.so:
	$(call build-plugin,tests/plugins/fetch.c,$(LIBRARY) $(CURL_$*))

# They keep the addresses of functions in their data: of all, of one.
$(PLUGINS)/fetch-no-plt.so:
	$(call build-plugin,tests/plugins/fetch.c,$(LIBRARY) -fno-plt -lcurl)

$(PLUGINS)/fetch-address.so:
	$(call build-plugin,tests/plugins/fetch.c,$(LIBRARY) -DKEEPS_AN_ADDRESS -lcurl)

$(PLUGINS)/interposer.so:
	$(call build-plugin,tests/plugins/interposer.c,$(LIBRARY))

$(PLUGINS)/interposer-of-all.so:
	$(call build-plugin,tests/plugins/interposer.c,$(LIBRARY) -DWRAPS_ALL)

$(FLAVOURS:%=$(PLUGINS)/host-%): $(PLUGINS)/host-%:
	$(call build-plugin,$(SELF),$(CURL_$*))

# Linked to a library that is linked to libcurl.
$(FLAVOURS:%=$(PLUGINS)/host-through-%): $(PLUGINS)/host-through-%: $(PLUGINS)/fetch-%.so
	$(call build-plugin,$(HOST) -DHAS_SELF,$(BESIDE) -l:fetch-$*.so)

$(PLUGINS)/host:
	$(call build-plugin,$(HOST))

$(PLUGINS)/early.so:
	$(call build-plugin,tests/plugins/early.c tests/plugins/fetch.c,$(LIBRARY) -lcurl)

$(PLUGINS)/host-early:
	$(call build-plugin,$(SELF) tests/plugins/early.c,-lcurl)

$(PLUGINS)/host-early-library: $(PLUGINS)/early.so
	$(call build-plugin,$(HOST),$(BESIDE) -Wl$(comma)--no-as-needed -l:early.so)

# The plugin calls the program back.
$(PLUGINS)/hooked.so:
	$(call build-plugin,tests/plugins/hooked.c tests/plugins/fetch.c,$(LIBRARY) -lcurl)

$(PLUGINS)/hooked-host:
	$(call build-plugin,tests/plugins/hooked_host.c,-rdynamic)

$(PLUGINS)/hooked-host-openssl:
	$(call build-plugin,tests/plugins/hooked_host.c tests/plugins/fetch.c -DHAS_SELF,-rdynamic -lcurl)

$(PLUGINS)/host-dictionary:
	$(call build-plugin,$(SELF) tests/plugins/dictionary.c,-rdynamic -lcurl)

$(PLUGINS)/host-own:
	$(call build-plugin,$(SELF) tests/plugins/own_curl.c,-rdynamic)

# The reference must be left to the dynamic linker, which is how libraries have it anyway.
$(PLUGINS)/weak_probe:
	$(call build-plugin,tests/plugins/weak_probe.c,-fPIE -pie -Wl$(comma)-z$(comma)dynamic-undefined-weak)

$(PLUGINS)/host-asan:
	$(call build-plugin,$(SELF),-fsanitize=address -lcurl)

$(PLUGINS)/threads-tsan:
	$(call build-plugin,tests/clients/threads.c,-fsanitize=thread -lcurl)

FORWARD = tests/plugins/forward.c -DFORWARD_NAME='"forward-$*"'
# Each with one of the two kinds of hash table.
$(PLUGINS)/libcurl-forward-a.so: HASH_STYLE = gnu
$(PLUGINS)/libcurl-forward-b.so: HASH_STYLE = sysv
$(PLUGINS)/libcurl-forward-a.so $(PLUGINS)/libcurl-forward-b.so: $(PLUGINS)/libcurl-forward-%.so:
	$(call build-plugin,$(FORWARD),$(LIBRARY) -Wl$(comma)-soname$(comma)$(@F) -Wl$(comma)--hash-style=$(HASH_STYLE))

$(PLUGINS)/libcurl-unknown.so: FORWARD = tests/plugins/forward.c -DFORWARD_NAME='"unknown"'
$(PLUGINS)/libcurl-unknown.so:
	$(call build-plugin,$(FORWARD),$(LIBRARY) -Wl$(comma)-soname$(comma)$(@F) -Wl$(comma)--version-script=tests/plugins/forward.map)

# Takes the place of a libcurl.so.4 that has versions, through LD_LIBRARY_PATH.
$(PLUGINS)/unversioned/libcurl.so.4: FORWARD = tests/plugins/forward.c -DFORWARD_NAME='"unversioned"'
$(PLUGINS)/unversioned/libcurl.so.4:
	$(call build-plugin,$(FORWARD),$(LIBRARY) -Wl$(comma)-soname$(comma)$(@F))

$(PLUGINS)/fetch-forward-a.so $(PLUGINS)/fetch-forward-b.so: $(PLUGINS)/fetch-%.so: $(PLUGINS)/libcurl-%.so
	$(call build-plugin,tests/plugins/fetch.c,$(LIBRARY) $(BESIDE) -l:libcurl-$*.so)

$(PLUGINS)/host-unknown: $(PLUGINS)/libcurl-unknown.so
	$(call build-plugin,$(SELF),$(BESIDE) -l:libcurl-unknown.so)

# Linked to a library that is linked to it, and bound lazily or at start.
$(PLUGINS)/fetch-unknown.so: $(PLUGINS)/libcurl-unknown.so
	$(call build-plugin,tests/plugins/fetch.c,$(LIBRARY) $(BESIDE) -Wl$(comma)-z$(comma)lazy -l:libcurl-unknown.so)

$(PLUGINS)/fetch-unknown-now.so: $(PLUGINS)/libcurl-unknown.so
	$(call build-plugin,tests/plugins/fetch.c,$(LIBRARY) $(BESIDE) -Wl$(comma)-z$(comma)now -l:libcurl-unknown.so)

$(PLUGINS)/host-through-unknown $(PLUGINS)/host-through-unknown-now: $(PLUGINS)/host-through-%: $(PLUGINS)/fetch-%.so
	$(call build-plugin,$(HOST) -DHAS_SELF,$(BESIDE) -l:fetch-$*.so)

# A plugin with a libcurl inside that it also exports.
$(PLUGINS)/fetch-bundled.so:
	$(call build-plugin,tests/plugins/fetch.c tests/plugins/forward.c -DFORWARD_NAME='"bundled"',$(LIBRARY))

$(PLUGINS)/musl:
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(MUSL_CC) -o $@ tests/plugins/musl.c

$(PLUGINS)/fetch-d:
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(LDC) -of=$@ -od=$(@D) tests/plugins/fetch.d
