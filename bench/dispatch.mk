# `make bench-dispatch`: what dispatching 4 events costs, in nanoseconds of this machine.
$(B)/bench/dispatch: bench/dispatch.c $(B)/libtach.a $(B)/flags
	@mkdir -p $(@D)
	$(CC) $(filter-out -DTACH_BUILD,$(CPPFLAGS)) $(CFLAGS) $(LDFLAGS) -o $@ $< $(B)/libtach.a $(LDLIBS)
bench-dispatch: $(B)/bench/dispatch
	@$<
.PHONY: bench-dispatch
