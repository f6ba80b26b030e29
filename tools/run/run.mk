# What `tach run` preloads.
run_src := $(wildcard tools/run/*.c)
lib_targets += $(B)/libtach-run.so
install_files += $(B)/libtach-run.so=$$LIBDIR/tach/libtach-run.so

$(B)/libtach-run.so: $(run_src) $(wildcard tools/run/*.h) $(B)/libtach.so $(headers) $(B)/flags
	$(call quiet,LD)$(shared) $(CPPFLAGS) -fPIC -Wl,-z,nodelete -Wl,-rpath,'$$ORIGIN:$$ORIGIN/..' \
		-o $@ $(run_src) -L$(B) -ltach -lpthread -ldl
check_deps += $(B)/static/tach
