# libpfm.so.4: libpfm-4's interface over the same tables and encoder. It carries what it needs of
# the archive, hidden, so that a program may load it beside libtach.so and libpfm.so.3.
p4_src := $(wildcard compat/libpfm4/*.c)
p4_obj := $(p4_src:%.c=$(B)/%.o)
p4_so  := $(B)/libpfm4/libpfm.so.4
p4_headers := $(wildcard compat/libpfm4/include/perfmon/*.h)
lib_targets += $(p4_so) $(B)/libpfm4/libpfm.so
install_files += $(p4_so)=$$LIBDIR/tach/libpfm.so.4 \
	$(foreach h,$(p4_headers),$(h)=$$INCLUDEDIR/tach/$(h:compat/libpfm4/include/%=%))
install_links += $$LIBDIR/tach/libpfm.so=libpfm.so.4

$(p4_obj): override CPPFLAGS += -Icompat/libpfm4/include
$(p4_so): $(p4_obj) $(B)/libtach.a compat/libpfm4/libpfm.map
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libpfm.so.4 \
		-Wl,--version-script=compat/libpfm4/libpfm.map -Wl,-z,defs -Wl,-z,relro \
		-Wl,--gc-sections -Wl,--as-needed -o $@ $(p4_obj) $(B)/libtach.a $(so_libs)
$(B)/libpfm4/libpfm.so: $(p4_so)
	ln -sf libpfm.so.4 $@
-include $(p4_obj:.o=.d)

# The programs that tests run against it.
check_deps += p4_programs
.PHONY: p4_programs
p4_programs:
	@tools/need libpfm4 libpfm4-dev papi-tools

# Fuzzing takes the library's own look-up of presets: one definition is enough.
fuzz_with_pfm4 := $(filter-out %/derived.c,$(p4_src))
$(B)/tests/fuzz/pfm4 $(B)/fuzz/pfm4: override CPPFLAGS += -Icompat/libpfm4/include
