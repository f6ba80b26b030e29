# libtach-functions.so: LD_PRELOAD puts its hooks before libc's empty ones, for programs built with
# -finstrument-functions. It contains the library with hidden symbols.
functions_src := $(wildcard compat/functions/*.c) compat/shared/object.c
lib_targets += $(B)/libtach-functions.so
install_files += $(B)/libtach-functions.so=$$LIBDIR/tach/libtach-functions.so

$(B)/libtach-functions.so: $(functions_src) $(wildcard compat/functions/*.h) compat/shared/object.h $(B)/libtach.a $(headers) $(B)/flags
	$(call quiet,LD)$(shared) $(CPPFLAGS) -fPIC -Wl,-z,nodelete -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions \
		-o $@ $(functions_src) $(B)/libtach.a $(so_libs)
