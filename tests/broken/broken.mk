# SPDX-License-Identifier: MIT
# For tests/e2e/test_differential.py: the observing client, one per libcurl flavour, and objects with a deliberately broken gate,
# one per tests/broken/NAME.sed: a script that changes a line of a copy of a file of interpose/ ("# file: ROOM/NAME.c" says of which).

OBSERVE_BIN = $(FLAVOURS:%=$(BUILD)/tests/observe-%)
BROKEN = $(patsubst tests/broken/%.sed,%,$(wildcard tests/broken/*.sed))
BROKEN_BIN = $(BROKEN:%=$(BUILD)/broken/%/libtenacurl.so)

$(OBSERVE_BIN): $(BUILD)/tests/observe-%: $(wildcard tests/clients/observe/*) $(BUILD)/flags
	@mkdir -p $(@D)
	$(say) TEST $@
	$(Q)$(CC) $(COMMON) $(CPPFLAGS) $(CFLAGS) -o $@ $(wildcard tests/clients/observe/*.c) $(CURL_$*)

# A script that no longer changes anything is an error: the line that it breaks has moved.
$(BROKEN_BIN): $(BUILD)/broken/%/libtenacurl.so: tests/broken/%.sed $(SO_OBJ) $(INI) $(BUILD)/exports.map $(BUILD)/flags
	$(say) BREAK $@
	$(Q)rm -rf $(@D) && mkdir -p $(@D)
	$(Q)file=$$(sed -n 's/^# file: //p' $<) && sed -f $< "interpose/$$file" >"$(@D)/broken.c" && \
	if cmp -s "interpose/$$file" "$(@D)/broken.c"; then echo "$<: changes nothing in interpose/$$file" >&2; exit 1; fi && \
	$(CC) $(COMMON) -w $(CFLAGS) $(SO_FLAGS) $(SO_LTO) -c -o "$(@D)/broken.o" "$(@D)/broken.c" && \
	$(CC) $(CFLAGS) $(SO_LTO) $(SO_LINK) -o $@ "$(@D)/broken.o" \
		$$(printf '%s\n' $(SO_OBJ) | grep -vxF "$(BUILD)/so/interpose/$${file%.c}.o") $(INI)
