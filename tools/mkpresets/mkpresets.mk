# Our own presets: text to C, by a program of the machine that builds, with the library's own
# reader of such files.
mkpresets_src := $(wildcard tools/mkpresets/*.c) core/derived/parse.c core/derived/record.c \
	$(wildcard core/formula/*.c) core/base/number.c core/base/error.c core/base/utf8.c
presets       := $(sort $(wildcard arch/*/presets/*.derived))
gen_obj       += $(B)/gen/presets.o

$(B)/mkpresets: $(mkpresets_src) core/derived/parse.h core/formula/formula.h core/derived/presets.h \
		include/tach/derived.h include/tach/formula.h
	@mkdir -p $(@D)
	$(CC_FOR_BUILD) -std=c11 -O2 -g $(WARN) -D_GNU_SOURCE -Iinclude -I. -I$(B)/gen -o $@ $(mkpresets_src) -lm

# The list of files is a prerequisite too: a file taken away must rebuild the presets.
$(B)/gen/presets.list: FORCE
	@mkdir -p $(@D)
	@echo '$(presets)' | cmp -s - $@ || echo '$(presets)' >$@
$(B)/gen/presets.c: $(B)/mkpresets arch/cpunames.tsv arch/presets.tsv $(presets) $(B)/gen/presets.list $(wildcard arch/*/events/*.tsv)
	@mkdir -p $(@D)
	$(B)/mkpresets -o $@ arch/cpunames.tsv arch/presets.tsv $(basename $(notdir $(wildcard arch/*/events/*.tsv))) -- $(presets)
