# Event tables: a program that runs on the build machine converts text to C.
mkevents_obj := $(patsubst %.c,$(B)/host/%.o,$(wildcard tools/mkevents/*.c))
mkevents_tsv := $(sort $(wildcard arch/*/events/*.tsv arch/*/uncore/*.tsv arch/*/pfm3/*.tsv))
mkevents_desc := $(sort $(wildcard arch/*/descriptions.tsv))
gen_obj      += $(B)/gen/tables.o

host_obj     += $(mkevents_obj)
$(B)/mkevents: $(mkevents_obj)
	$(call quiet,HOSTLD)$(host_program)

# The list of files is a prerequisite too: removing a file must rebuild the tables.
$(B)/gen/tables.list: FORCE
	@mkdir -p $(@D)
	@echo '$(mkevents_tsv) $(mkevents_desc)' | cmp -s - $@ || echo '$(mkevents_tsv) $(mkevents_desc)' >$@
$(B)/gen/tables.c: $(B)/mkevents $(mkevents_tsv) $(mkevents_desc) $(B)/gen/tables.list
	@mkdir -p $(@D)
	$(B)/mkevents -o $@ $(mkevents_tsv) $(addprefix -d ,$(mkevents_desc))
FORCE:
.PHONY: FORCE
