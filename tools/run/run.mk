# What `tach run` preloads.
lib_targets += $(B)/libtach-run.so
install_files += $(B)/libtach-run.so=$(LIBDIR)/libtach-run.so

$(B)/libtach-run.so: tools/run/preload.c $(B)/libtach.so $(headers) $(B)/flags
	$(call quiet,LD)$(CC) $(CPPFLAGS) $(CFLAGS) $(LDFLAGS) -fPIC -shared -Wl,-soname,libtach-run.so \
		-Wl,-z,defs -Wl,-z,nodelete -Wl,-rpath,'$$ORIGIN' -o $@ $< -L$(B) -ltach -lpthread -ldl
check_deps += $(B)/static/tach
