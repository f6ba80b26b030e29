# Programs for the test guests, and the guests themselves. Each file of tests/guest/src, and each hardware test of
# tests/hw, becomes a program of every guest.

guests := $(patsubst tests/guest/%/prepare,%,$(wildcard tests/guest/*/prepare))
guest_src := $(wildcard tests/guest/src/*.c tests/hw/*.c)
guest_bin := $(guest_src:%.c=$(B)/static/%)
guest_make = $(MAKE) --no-print-directory
arm64_make = $(guest_make) CC=aarch64-linux-gnu-gcc B=$(B)/arm64
riscv64_make = $(guest_make) CC=riscv64-linux-gnu-gcc B=$(B)/riscv64
x86_make = $(guest_make)
arm64_folder = $(B)/arm64
riscv64_folder = $(B)/riscv64
x86_folder = $(B)

# Compiled like users' programs: all their sites are in one section.
$(guest_bin): private override CFLAGS += -fno-data-sections
# Tests expect exact instruction counts.
$(guest_bin): private override LDFLAGS += $(exact_$(ARCH))

guest_programs: $(guest_bin)
	@:
-include $(addsuffix .d,$(guest_bin))

# If a guest cannot be prepared, for example without a network, the check continues and skips its tests
# (tests/guest/ready). The same happens if downloading takes too long; if only one kernel is there, that kernel's
# tests run. Programs for this machine do not need guests. Guests that no test boots are not prepared.
check_deps += $(foreach g,$(guests),$(if $(wildcard tests/guest/$g-*.sh),check-$g))
$(guests:%=check-%): check-%: try-%
	+@{ [ $* != x86 ] && ! tests/guest/ready $* any >/dev/null; } || $($*_make) guest_programs
$(guests:%=try-%): try-%:
	@timeout -k 10 30m tests/guest/$*/prepare </dev/null || echo "the $* guest is not whole; tests that need it are skipped"
$(guests:%=guest-%): guest-%: prepare-%
	+@$($*_make) guest_programs
$(guests:%=prepare-%): prepare-%:
	@tools/need $(packages) $$(tests/guest/$*/prepare packages)
	@tests/guest/$*/prepare

# A guest's console is a terminal; here its output may go to a pipe.
$(guests:%=run-%): run-%: prepare-%
	+@$($*_make) -s $($*_folder)/static/examples/inner_loops
	@# An emulated processor executes what a real one does, but its cycles and cache misses are invented: left out.
	@[ -t 1 ] || set -- -e NO_COLOR=1; tests/guest/boot $* -q -e TACH_EVENTS=instructions "$$@" $($*_folder)/static/examples/inner_loops

.PHONY: guest_programs $(foreach g,$(guests),check-$g guest-$g prepare-$g run-$g try-$g)
