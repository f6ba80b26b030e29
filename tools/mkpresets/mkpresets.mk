# Presets: a program that runs on the build machine converts text to C with the library's own reader.
mkpresets_obj := $(patsubst %.c,$(B)/host/%.o,$(wildcard tools/mkpresets/*.c core/formula/*.c) \
	core/derived/parse.c core/derived/record.c core/base/number.c core/base/error.c core/base/libc.c core/base/sized.c core/base/utf8.c)
presets       := $(sort $(wildcard arch/*/presets/*.derived))
gen_obj       += $(B)/gen/presets.o

host_obj      += $(mkpresets_obj)
$(B)/mkpresets: $(mkpresets_obj)
	$(call quiet,HOSTLD)$(host_program)

# The list of files is a prerequisite too: removing a file must rebuild the presets.
$(B)/gen/presets.list: FORCE
	@mkdir -p $(@D)
	@echo '$(presets)' | cmp -s - $@ || echo '$(presets)' >$@
$(B)/gen/presets.c: $(B)/mkpresets arch/cpunames.tsv arch/presets.tsv $(presets) $(B)/gen/presets.list $(wildcard arch/*/events/*.tsv)
	@mkdir -p $(@D)
	$(B)/mkpresets -o $@ arch/cpunames.tsv arch/presets.tsv $(basename $(notdir $(wildcard arch/*/events/*.tsv))) -- $(presets)
