# Fuzz targets: tests/fuzz/NAME.c defines LLVMFuzzerTestOneInput; saved inputs are in tests/fuzz/corpus/NAME. `make
# fuzz` runs each under libFuzzer for FUZZ_SECONDS with the library instrumented; `make check-quick` feeds them their
# corpus only (tests/unit/tools/fuzz_corpus.sh).
#
# fuzz_with_NAME: further sources that a target needs.
fuzz_names   := $(patsubst tests/fuzz/%.c,%,$(wildcard tests/fuzz/*.c))
FUZZ_SECONDS ?= 60
FUZZ         ?= $(fuzz_names)
fuzz_with_mkevents = $(filter-out %/main.c,$(wildcard tools/mkevents/*.c))

unit_tests: $(fuzz_names:%=$(B)/tests/fuzz/%)
$(foreach n,$(fuzz_names),$(eval $(B)/tests/fuzz/$n $(B)/fuzz/$n: $(fuzz_with_$n)))
$(B)/tests/fuzz/%: tests/fuzz/%.c tests/fuzz/driver/replay.c $(B)/libtach.a
	@mkdir -p $(@D)
	$(call quiet,LD)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -o $@ $(filter %.c,$^) $(B)/libtach.a $(LDLIBS)

# The library is compiled once for all of them. FUZZED names another library: code that is only linked needs no
# instrumentation.
FUZZED ?= $(B)/fuzzed/libtach.a
fuzz_clang := clang -O1 -g -fsanitize=fuzzer,address,undefined -fno-sanitize-recover=undefined
$(B)/fuzzed/libtach.a: need-clang FORCE
	+@$(MAKE) --no-print-directory -s CC=clang B=$(B)/fuzzed OPT='-O1 -g' SAN=fuzzer-no-link,address,undefined $@
$(B)/fuzz/%: tests/fuzz/%.c $(FUZZED)
	@mkdir -p $(@D)
	$(call quiet,LD)$(fuzz_clang) $(CPPFLAGS) -std=c11 -o $@ $(filter %.c,$^) $(filter %.a,$^) $(LDLIBS)
fuzz_programs: $(fuzz_names:%=$(B)/fuzz/%)

# New inputs go to build/fuzz/corpus; `make fuzz-keep` adds those that reach new code to the saved ones.
fuzz: need-clang $(FUZZ:%=$(B)/fuzz/%)
	@for n in $(FUZZ); do mkdir -p $(B)/fuzz/corpus/$$n; echo "== $$n"; \
		nice $(B)/fuzz/$$n -max_total_time=$(FUZZ_SECONDS) -max_len=2048 -timeout=10 -print_final_stats=1 \
			-verbosity=0 -artifact_prefix=$(B)/fuzz/$$n- $(FUZZ_FLAGS) \
			$(B)/fuzz/corpus/$$n tests/fuzz/corpus/$$n || exit 1; done
fuzz-keep:
	@for n in $(FUZZ); do $(B)/fuzz/$$n -set_cover_merge=1 -use_counters=0 tests/fuzz/corpus/$$n $(B)/fuzz/corpus/$$n; done
need-clang:
	@tools/need clang
.PHONY: fuzz fuzz_programs fuzz-keep need-clang
