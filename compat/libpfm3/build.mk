# libpfm.so.3: libpfm-3's interface over its event lists and the dispatcher. Its headers have a folder of their own and
# programs link -lpfm3, because libpfm-4 uses the same names.
$(eval $(call drop_in,libpfm3,libpfm.so.3,libpfm3.so,libpfm3/,-fvisibility=default,-Wl$(comma)-Bsymbolic-functions))

$(B)/tests/unit/compat/libpfm3 $(B)/tests/vectors/libpfm3_so: override CPPFLAGS += -Icompat/libpfm3/include
