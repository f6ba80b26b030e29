# `make bench-formula`: evaluation beside the C compiler's code and beside reading the text.
$(B)/bench/formula: bench/formula.c $(B)/libtach.a $(B)/flags
	@mkdir -p $(@D)
	$(CC) $(bench_flags) -o $@ $< $(B)/libtach.a $(LDLIBS)
bench-formula: need-build
	@tools/need valgrind papi-tools
	+@$(MAKE) --no-print-directory -s $(B)/bench/formula
	@$(B)/bench/formula
.PHONY: bench-formula
