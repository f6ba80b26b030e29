# `make bench-encode`: encoding beside Debian's libpfm4, in one run.
$(B)/bench/encode: bench/encode.c $(B)/libtach.a $(B)/flags
	@mkdir -p $(@D)
	$(CC) $(bench_flags) -MMD -MP -MF $@.d -o $@ $< $(B)/libtach.a $(LDLIBS)
-include $(B)/bench/encode.d
$(B)/bench/empty.so: $(B)/flags
	@mkdir -p $(@D)
	echo | $(CC) -shared -fPIC -o $@ -x c - -Wl,--no-as-needed -lurcu-bp
bench-encode: need-build
	@tools/need libpfm4
	+@$(MAKE) --no-print-directory -s $(B)/bench/encode $(B)/libtach.so $(B)/libpfm4/libpfm.so.4 $(B)/bench/empty.so
	@$(B)/bench/encode $(B)/libtach.so /usr/lib/$$($(CC) -dumpmachine)/libpfm.so.4 $(B)/libpfm4/libpfm.so.4 $(B)/bench/empty.so
.PHONY: bench-encode
