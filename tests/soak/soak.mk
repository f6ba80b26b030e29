# make soak [HOURS=1]: fuzzers, threads, snapshots, forks and adversaries, for hours; continues where it stopped. make
# soak-log: prints what ran.
HOURS ?= 1
$(B)/tests/soak/work: $(B)/flags
unit_tests: $(B)/tests/soak/work
soak: need-clang fuzz_programs $(B)/tests/soak/work $(if $(wildcard tests/guest/x86/prepare),$(patsubst %.c,$(B)/static/%,$(wildcard tests/guest/src/adv_*.c)))
	@B=$(B) nice tests/soak/soak $(HOURS)
soak-log:
	@tests/soak/soak --log
.PHONY: soak soak-log
