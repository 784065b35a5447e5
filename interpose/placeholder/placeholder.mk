# SPDX-License-Identifier: MIT
# The object and the binder under the names that `tenacurl run` gives to the dynamic linker: multiarch/$LIB/…, where it puts
# the name of its own library directory. In those of 64-bit linkers there are links to ours, in those of 32-bit linkers to
# a placeholder. Where none can be built, there is no multiarch/, and `run` names the object itself.

PLACEHOLDER = $(BUILD)/libtenacurl-placeholder.so
PLACEHOLDER_FLAGS = -m32 -shared -fPIC -nostdlib -nostartfiles -Wl,-soname,libtenacurl-placeholder.so -Wl,-z,noexecstack
MULTIARCH_OBJECTS = libtenacurl.so libtenacurl-bind.so libtenacurl-watch.so

# Which name is whose depends on the distribution; Debian keeps lib64 and lib for linkers that bring themselves along.
ifneq ($(wildcard /lib/x86_64-linux-gnu),)
LIB_OURS = lib/x86_64-linux-gnu lib64 lib
LIB_OTHER = lib/i386-linux-gnu lib32
else
LIB_OURS = lib64
LIB_OTHER = lib lib32
endif

# __LP64__: an x86-64 build, no x32 one.
CAN_PLACE := $(shell printf '\#if !defined(__x86_64__) || !defined(__LP64__)\n\#error\n\#endif\n' | \
	$(CC) $(CFLAGS) -E - >/dev/null 2>&1 && echo 'void f(void); void f(void) {}' | \
	$(CC) $(CFLAGS) $(PLACEHOLDER_FLAGS) -x c -o /dev/null - 2>/dev/null && echo yes)

# $(call multiarch-links,directory,as seen from there,quiet): one link for each name of each architecture.
define multiarch-links
	$(3)for lib in $(LIB_OURS) $(LIB_OTHER); do mkdir -p '$(1)/multiarch/'$$lib; done
	$(3)for object in $(MULTIARCH_OBJECTS); do \
		for lib in $(LIB_OURS); do ln -sfn "$$(echo $$lib | sed 's|[^/]*|..|g')/../$$object" '$(1)/multiarch/'$$lib/$$object; done; \
		for lib in $(LIB_OTHER); do \
			ln -sfn "$$(echo $$lib | sed 's|[^/]*|..|g')/../$(notdir $(PLACEHOLDER))" '$(1)/multiarch/'$$lib/$$object; \
		done; \
	done
endef

ifeq ($(CAN_PLACE),yes)
MULTIARCH = $(BUILD)/multiarch/done
endif

$(PLACEHOLDER): interpose/placeholder/placeholder.c $(BUILD)/flags
	$(say) LINK $@
	$(Q)$(CC) -std=gnu11 $(WARNINGS) $(CFLAGS) $(PLACEHOLDER_FLAGS) -o $@.new $< && mv -f $@.new $@

$(MULTIARCH): interpose/placeholder/placeholder.mk $(PLACEHOLDER)
	$(call multiarch-links,$(BUILD),,$(Q))
	$(Q)touch $@
