# `make bench`: compares this library with its peers, each a Debian package; see bench/README.md. bench/peer_X.c becomes
# the program $(B)/bench/X, and for the guests $(B)/static/bench/X.

bench_peers  := $(patsubst bench/peer_%.c,%,$(wildcard bench/peer_*.c))
bench_bin    := $(bench_peers:%=$(B)/bench/%)
# Guests run static programs. LIKWID has only a shared library, and Debian's static PAPI and libpfm-4 exist only for the
# machine's own architecture.
bench_static := $(patsubst %,$(B)/static/bench/%,tach marker floor read $(if $(sysroot),,papi pfm))
bench_libs_papi   := -lpapi -lpfm
bench_libs_pfm    := -lpfm
bench_libs_likwid := -llikwid
bench_flags = $(filter-out -DTACH_BUILD,$(CPPFLAGS)) $(CFLAGS) -Wno-missing-prototypes -Wno-strict-prototypes $(LDFLAGS) $(exact_$(ARCH))

$(B)/bench/%: bench/peer_%.c bench/driver.c $(B)/libtach.a $(B)/flags
	@mkdir -p $(@D)
	$(call quiet,LD)$(CC) $(bench_flags) -MMD -MP -MF $@.d -o $@ bench/driver.c $< $(bench_libs_$*) $(B)/libtach.a $(LDLIBS)
$(B)/static/bench/%: bench/peer_%.c bench/driver.c $(B)/libtach.a $(B)/flags
	@mkdir -p $(@D)
	$(call quiet,LD)$(CC) $(bench_flags) -static -MMD -MP -MF $@.d -o $@ bench/driver.c $< $(bench_libs_$*) $(B)/libtach.a $(static_libs)
$(B)/bench/fakeperf.so: bench/fakeperf.c $(B)/flags
	@mkdir -p $(@D)
	$(CC) $(bench_flags) -fvisibility=default -shared -fPIC -o $@ $< -ldl
# Without peers: how costs grow (also in the guests), and the cost of single steps.
bench_alone := scale encode formula dispatch face
$(bench_alone:%=$(B)/bench/%): $(B)/bench/%: bench/%.c $(B)/libtach.a $(B)/flags
	@mkdir -p $(@D)
	$(call quiet,LD)$(CC) $(bench_flags) -MMD -MP -MF $@.d -o $@ $< $(B)/libtach.a $(LDLIBS)
$(B)/bench/face_kokkos: bench/face_kokkos.c $(B)/flags
	@mkdir -p $(@D)
	$(call quiet,LD)$(CC) $(bench_flags) -o $@ $< -ldl
$(B)/bench/face_cxx: bench/face_cxx.cc $(B)/libtach.a $(headers) $(B)/flags
	@mkdir -p $(@D)
	g++ -std=c++11 -O2 -Wall -Wextra -Werror -Iinclude -o $@ $< $(B)/libtach.a $(static_libs)
$(B)/static/bench/scale: bench/scale.c $(B)/libtach.a $(B)/flags
	@mkdir -p $(@D)
	$(call quiet,LD)$(CC) $(bench_flags) -static -MMD -MP -MF $@.d -o $@ $< $(B)/libtach.a $(static_libs)
$(B)/static/bench/msr: bench/msr.c $(B)/flags
	@mkdir -p $(@D)
	$(CC) $(bench_flags) -static -o $@ $<
-include $(addsuffix .d,$(bench_bin) $(bench_static) $(bench_alone:%=$(B)/bench/%) $(B)/static/bench/scale)

$(B)/bench/tach $(B)/static/bench/tach: $(B)/gen/tach-mini.h
bench_programs: $(bench_bin) $(B)/bench/scale $(B)/bench/fakeperf.so
bench_static: $(bench_static) $(B)/static/bench/scale $(if $(sysroot),,$(B)/static/bench/msr)
need-bench: need-build
	@tools/need libpapi-dev libpfm4-dev likwid valgrind binutils python3

# `make bench` compares on this machine and in both guests. With BENCH=--here it compares on this machine only.
BENCH ?= --here --guest x86 --guest arm64
bench: need-bench $(if $(findstring x86,$(BENCH)),prepare-x86) $(if $(findstring arm64,$(BENCH)),prepare-arm64)
	+@$(MAKE) --no-print-directory -s bench_programs
	+$(if $(findstring x86,$(BENCH)),@$(guest_make) -s bench_static)
	+$(if $(findstring arm64,$(BENCH)),@$(arm64_make) -s bench_static)
	@B=$(B) bench/run $(BENCH)
	+$(if $(findstring here,$(BENCH)),@$(MAKE) --no-print-directory bench-harness)

.PHONY: bench bench_programs bench_static need-bench

# tests/check/budgets.sh checks the budgets on every machine that builds these programs, and in the guests.
check_deps += bench-budgets
slow_packages += valgrind binutils python3
guest_programs: $(B)/static/bench/tach
bench-budgets:
	+@$(MAKE) --no-print-directory -s $(B)/bench/tach $(B)/bench/fakeperf.so $(B)/tach
.PHONY: bench-budgets

# Makes a page of this project's own history: the budgets of each commit, and the counts of this build.
history: bench-budgets
	@B=$(B) bench/history $(B)/history
.PHONY: history

# bench-dispatch prints the nanoseconds that dispatching 4 events takes on this machine. bench-encode compares encoding
# with Debian's libpfm4 in one run. bench-formula compares evaluation with the C compiler's code and with parsing text.
bench-dispatch: $(B)/bench/dispatch
	@$<
$(B)/bench/empty.so: $(B)/flags
	@mkdir -p $(@D)
	echo | $(CC) -shared -fPIC -o $@ -x c - -Wl,--no-as-needed -lurcu-bp
bench-encode: need-build
	@tools/need libpfm4
	+@$(MAKE) --no-print-directory -s $(B)/bench/encode $(B)/libtach.so $(B)/libpfm4/libpfm.so.4 $(B)/bench/empty.so
	@$(B)/bench/encode $(B)/libtach.so /usr/lib/$$($(CC) -dumpmachine)/libpfm.so.4 $(B)/libpfm4/libpfm.so.4 $(B)/bench/empty.so
bench-formula: need-build
	@tools/need valgrind papi-tools
	+@$(MAKE) --no-print-directory -s $(B)/bench/formula
	@$(B)/bench/formula
# TACH_BENCH and google-benchmark measure one object with the same code, so the alignment of its loops does not differ.
harness_flags := -O2 -Wall -Wextra -Iinclude -I. -falign-functions=64 -falign-loops=32
$(B)/bench/harness_work.o: bench/harness_work.cc bench/harness_work.h $(B)/flags
	@mkdir -p $(@D)
	g++ -std=c++17 $(harness_flags) -c -o $@ $<
$(B)/bench/harness_tach: bench/harness_tach.c $(B)/bench/harness_work.o $(B)/libtach.a $(headers)
	$(CC) -std=gnu11 $(harness_flags) -o $@ $(filter %.c %.o %.a,$^) $(LDLIBS) -lstdc++
$(B)/bench/harness_google: bench/harness_google.cc $(B)/bench/harness_work.o
	g++ -std=c++17 $(harness_flags) -o $@ $^ -lbenchmark -lpthread
bench-harness: need-build
	@tools/need g++ libbenchmark-dev python3
	+@$(MAKE) --no-print-directory -s $(B)/bench/harness_tach $(B)/bench/harness_google
	@B=$(B) bench/harness $(ROUNDS)
.PHONY: bench-dispatch bench-encode bench-formula bench-harness
