# libpfm.so.4: libpfm-4's interface over the same tables and encoder.
$(eval $(call drop_in,libpfm4,libpfm.so.4,libpfm.so))

# libpfm.a: the same library as one object. It exports only libpfm-4's own names, so a program can also link
# libtach.a. Programs link -lpfm -lm -lpthread -ldl with it.
lib_targets += $(B)/libpfm4/libpfm.a
install_files += $(B)/libpfm4/libpfm.a=$$LIBDIR/tach/libpfm.a
$(B)/libpfm4/libpfm.a: $(libpfm4_obj) $(B)/libtach.a compat/libpfm4/libpfm.map
	@mkdir -p $(@D)
	@sed -n 's/^\t\(pfm_[a-z_]*\);$$/\1/p' compat/libpfm4/libpfm.map >$(@D)/libpfm.names
	$(call quiet,AR)$(CC) -r -nostdlib -o $(@D)/libpfm.o $(libpfm4_obj) $(B)/libtach.a && \
		$$($(CC) -print-prog-name=objcopy) --keep-global-symbols=$(@D)/libpfm.names $(@D)/libpfm.o && \
		rm -f $@ && $(AR) rcs $@ $(@D)/libpfm.o

# The programs that tests run with this library.
slow_packages += libpfm4 libpfm4-dev papi-tools swig libncurses-dev python3-dev python3-setuptools linux-perf llvm-14/
clients: need-build
	@tools/need g++ libpfm4 libpfm4-dev libbenchmark-dev
	+@$(MAKE) --no-print-directory $(parallel) lib tools
	@B=$(B) tests/run --all compat/libpfm4_programs compat/libpfm4_headers compat/libpfm3_client check/slow/clients \
		check/slow/google-benchmark guest/x86-clients clients/papi_ctests clients/rust_features clients/faces clients/fresh_root
.PHONY: clients

# The fuzzer uses the library's own search of presets, so this second definition is left out.
fuzz_with_pfm4 := $(filter-out %/derived.c,$(libpfm4_src))
$(B)/tests/unit/compat/libpfm4_forks $(B)/tests/unit/compat/libpfm4_names: override CPPFLAGS += -Icompat/libpfm4/include
$(B)/tests/fuzz/pfm4 $(B)/fuzz/pfm4: override CPPFLAGS += -Icompat/libpfm4/include
