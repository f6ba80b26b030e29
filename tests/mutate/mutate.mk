# make mutate FILES='core/ROOM/FILE.c...' [MUTANTS=40] [SEED=1]: what the tests of these files do not notice.
MUTANTS ?= 40
SEED    ?= 1
mutate: lib
	@B=$(B) tests/mutate/mutate -n $(MUTANTS) -s $(SEED) $(or $(FILES),$(error make mutate FILES='core/ROOM/FILE.c...'))
.PHONY: mutate
