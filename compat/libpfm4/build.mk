# libpfm.so.4: libpfm-4's interface over the same tables and encoder.
$(eval $(call drop_in,libpfm4,libpfm.so.4,libpfm.so))

# The programs that tests run against it.
slow_packages += libpfm4 libpfm4-dev papi-tools

# Fuzzing takes the library's own look-up of presets: one definition is enough.
fuzz_with_pfm4 := $(filter-out %/derived.c,$(libpfm4_src))
$(B)/tests/unit/compat/libpfm4_forks: override CPPFLAGS += -Icompat/libpfm4/include
$(B)/tests/fuzz/pfm4 $(B)/fuzz/pfm4: override CPPFLAGS += -Icompat/libpfm4/include
