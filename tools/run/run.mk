# The object that `tach run` preloads. It contains the library with hidden symbols: one file to load in every process,
# which works with any version of the library in the program (core/region/beacon.h).
run_src := $(wildcard tools/run/*.c) core/region/beacon.c
lib_targets += $(B)/libtach-run.so
install_files += $(B)/libtach-run.so=$$LIBDIR/tach/libtach-run.so

$(B)/libtach-run.so: $(run_src) $(wildcard tools/run/*.h) $(B)/libtach.a $(headers) $(B)/flags
	$(call quiet,LD)$(shared) $(CPPFLAGS) -DTACH__BEACON_BORN=TACH__BEACON_OWNER -fPIC -Wl,-z,nodelete \
		-Wl,--exclude-libs,ALL -Wl,-Bsymbolic-functions -o $@ $(run_src) $(B)/libtach.a $(so_libs)
check_deps += $(B)/static/tach
