# libpfm.so.3: libpfm-3's interface over its event lists and the dispatcher. Like libpfm.so.4 it
# carries what it needs of the archive, hidden; both may be loaded into one program.
p3_src := $(wildcard compat/libpfm3/*.c)
p3_obj := $(p3_src:%.c=$(B)/%.o)
p3_so  := $(B)/libpfm3/libpfm.so.3
p3_headers := $(wildcard compat/libpfm3/include/perfmon/*.h)
lib_targets += $(p3_so) $(B)/libpfm3/libpfm3.so
# Its headers lie apart and it is linked as -lpfm3: libpfm-4 has the same names.
install_files += $(p3_so)=$$LIBDIR/tach/libpfm.so.3 \
	$(foreach h,$(p3_headers),$(h)=$$INCLUDEDIR/tach/libpfm3/$(h:compat/libpfm3/include/%=%))
install_links += $$LIBDIR/tach/libpfm3.so=libpfm.so.3

$(p3_obj): override CPPFLAGS += -Icompat/libpfm3/include
$(p3_obj): override CFLAGS += -fvisibility=default
$(p3_so): $(p3_obj) $(B)/libtach.a compat/libpfm3/libpfm.map
	@mkdir -p $(@D)
	$(CC) $(CFLAGS) $(LDFLAGS) -shared -Wl,-soname,libpfm.so.3 -Wl,-Bsymbolic-functions \
		-Wl,--version-script=compat/libpfm3/libpfm.map -Wl,-z,defs -Wl,-z,relro \
		-Wl,--gc-sections -Wl,--as-needed -o $@ $(p3_obj) $(B)/libtach.a $(so_libs)
$(B)/libpfm3/libpfm3.so: $(p3_so)
	ln -sf libpfm.so.3 $@
-include $(p3_obj:.o=.d)

$(B)/tests/unit/compat/libpfm3 $(B)/tests/vectors/libpfm3_so: override CPPFLAGS += -Icompat/libpfm3/include
