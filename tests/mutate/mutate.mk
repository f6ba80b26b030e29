# make mutate FILES='core/ROOM/FILE.c...' [SAMPLE=40] [SEED=1] [LONGEST=SECONDS]: finds changes that the tests of
# these files do not notice. With GUEST=arm64-n1 (tests/guest/*.sh) the tests run in that guest.
SAMPLE ?= 40
SEED   ?= 1
LONGEST ?= 3600
mutate: lib unit_tests $(addprefix guest-,$(firstword $(subst -, ,$(GUEST))))
	@B=$(B) tests/mutate/mutate -n $(SAMPLE) -s $(SEED) -c $(LONGEST) $(GUEST:%=-g %) $(or $(FILES),$(error make mutate FILES='core/ROOM/FILE.c...'))
.PHONY: mutate
