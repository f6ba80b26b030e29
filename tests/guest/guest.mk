# Programs for the test guests, and the guests themselves. A file of tests/guest/src becomes a
# program of both guests by lying there; so do the hardware tests of tests/hw.

guest_src := $(wildcard tests/guest/src/*.c tests/hw/*.c)
guest_bin := $(guest_src:%.c=$(B)/static/%)
guest_make = $(MAKE) --no-print-directory
arm64_make = $(guest_make) CC=aarch64-linux-gnu-gcc B=$(B)/arm64

# As users' programs are compiled: all their sites in one section.
$(guest_bin): private override CFLAGS += -fno-data-sections
# Instructions are counted to the last one.
$(guest_bin): private override LDFLAGS += $(exact_$(ARCH))

guest_programs: $(guest_bin)
	@:
-include $(addsuffix .d,$(guest_bin))

# The check goes on without a guest that cannot be had, no network say, and skips its tests (tests/guest/ready);
# so does one that waits too long.
check_deps += check-arm64 check-x86
check-arm64: try-arm64
	+@! tests/guest/ready arm64 >/dev/null || $(arm64_make) guest_programs
check-x86: try-x86
	+@$(guest_make) guest_programs
try-arm64 try-x86: try-%:
	@timeout -k 10 30m tests/guest/$*/prepare </dev/null || echo "the $* guest is not whole; tests that need it are skipped"
guest-arm64: prepare-arm64
	+@$(arm64_make) guest_programs
guest-x86: prepare-x86
	+@$(guest_make) guest_programs
prepare-arm64 prepare-x86: prepare-%:
	@tools/need $(packages) $$(tests/guest/$*/prepare packages)
	@tests/guest/$*/prepare

# The console of a guest is a terminal; what it ends in here need not be one.
guest_color = [ -t 1 ] || set -- -e NO_COLOR=1;

run-arm64: prepare-arm64
	+@$(arm64_make) -s $(B)/arm64/static/examples/inner_loops
	@$(guest_color) tests/guest/boot arm64 -q "$$@" $(B)/arm64/static/examples/inner_loops
run-x86: prepare-x86
	+@$(guest_make) -s $(B)/static/examples/inner_loops
	@$(guest_color) tests/guest/boot x86 -q "$$@" $(B)/static/examples/inner_loops

.PHONY: check-arm64 check-x86 try-arm64 try-x86 guest_programs guest-arm64 guest-x86 prepare-arm64 prepare-x86 run-arm64 run-x86
