# What QEMU loads for `tach run --emulate`. It needs nothing of QEMU's to be built: plugin.c declares it.
lib_targets += $(B)/libtach-emulate.so
install_files += $(B)/libtach-emulate.so=$$LIBDIR/tach/libtach-emulate.so

# Its undefined symbols are QEMU's.
$(B)/libtach-emulate.so: tools/emulate/plugin.c core/os/emulator.h $(B)/flags
	$(call quiet,LD)$(filter-out -Wl$(comma)-z$(comma)defs,$(shared)) $(CPPFLAGS) -fPIC -o $@ $<

slow_packages += qemu-user

# Where Debian's qemu-user takes no plugins (Debian 13): QEMU's user mode from Debian's source package, in the cache.
qemu-user:
	@tools/emulate/qemu
.PHONY: qemu-user
