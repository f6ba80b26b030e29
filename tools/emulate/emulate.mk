# The plugin that QEMU loads for `tach run --emulate`. It needs no header of QEMU: plugin.c declares the interface.
lib_targets += $(B)/libtach-emulate.so
install_files += $(B)/libtach-emulate.so=$$LIBDIR/tach/libtach-emulate.so

# QEMU defines its undefined symbols.
$(B)/libtach-emulate.so: tools/emulate/plugin.c core/os/emulator.h $(B)/flags
	$(call quiet,LD)$(filter-out -Wl$(comma)-z$(comma)defs,$(shared)) $(CPPFLAGS) -fPIC -o $@ $<

slow_packages += qemu-user

# For releases whose qemu-user does not support plugins (Debian 13): builds QEMU's user mode from Debian's source
# package, in the cache.
qemu-user:
	@tools/emulate/qemu
.PHONY: qemu-user
