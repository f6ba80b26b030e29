# The event tables: text to C, by a program of the machine that builds.
mkevents_src := $(wildcard tools/mkevents/*.c)
mkevents_tsv := $(sort $(wildcard arch/*/events/*.tsv arch/*/pfm3/*.tsv))
mkevents_desc := $(sort $(wildcard arch/*/descriptions.tsv))
gen_obj      += $(B)/gen/tables.o

$(B)/mkevents: $(mkevents_src) $(wildcard tools/mkevents/*.h) core/tables/tables.h core/tables/data.h core/tables/search.h
	@mkdir -p $(@D)
	$(CC_FOR_BUILD) -std=c11 -O2 -g $(WARN) -D_GNU_SOURCE -Iinclude -I. -I$(B)/gen -o $@ $(mkevents_src)

# The list of files is a prerequisite too: a file taken away must rebuild the tables.
$(B)/gen/tables.list: FORCE
	@mkdir -p $(@D)
	@echo '$(mkevents_tsv) $(mkevents_desc)' | cmp -s - $@ || echo '$(mkevents_tsv) $(mkevents_desc)' >$@
$(B)/gen/tables.c: $(B)/mkevents $(mkevents_tsv) $(mkevents_desc) $(B)/gen/tables.list
	@mkdir -p $(@D)
	$(B)/mkevents -o $@ $(mkevents_tsv) $(addprefix -d ,$(mkevents_desc))
FORCE:
.PHONY: FORCE
