# libtach-kokkos.so: Kokkos loads it if KOKKOS_TOOLS_LIBS names it. It contains the library with hidden symbols.
kokkos_src := $(wildcard compat/kokkos/*.c)
lib_targets += $(B)/libtach-kokkos.so
install_files += $(B)/libtach-kokkos.so=$$LIBDIR/tach/libtach-kokkos.so

$(B)/libtach-kokkos.so: $(kokkos_src) $(B)/libtach.a $(headers) $(B)/flags
	$(call quiet,LD)$(shared) $(CPPFLAGS) -fPIC -Wl,-z,nodelete -Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions \
		-o $@ $(kokkos_src) $(B)/libtach.a $(so_libs)

slow_packages += likwid libtrilinos-kokkos-dev
