# libtach-openmp.so: LLVM's OpenMP runtime loads it if OMP_TOOL_LIBRARIES names it; LD_PRELOAD puts it before gcc's
# runtime. It contains the library with hidden symbols.
openmp_src := $(wildcard compat/openmp/*.c) compat/shared/object.c
lib_targets += $(B)/libtach-openmp.so
install_files += $(B)/libtach-openmp.so=$$LIBDIR/tach/libtach-openmp.so

$(B)/libtach-openmp.so: $(openmp_src) compat/openmp/openmp.h compat/shared/object.h $(B)/libtach.a $(headers) $(B)/flags
	$(call quiet,LD)$(shared) $(CPPFLAGS) -fPIC -Wl,-z,nodelete -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions \
		-o $@ $(openmp_src) $(B)/libtach.a $(so_libs)
