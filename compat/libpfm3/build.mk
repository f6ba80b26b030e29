# libpfm.so.3: libpfm-3's interface over its event lists and the dispatcher. Its headers lie apart and it is
# linked as -lpfm3: libpfm-4 has the same names.
$(eval $(call drop_in,libpfm3,libpfm.so.3,libpfm3.so,libpfm3/,-fvisibility=default,-Wl$(comma)-Bsymbolic-functions))

$(B)/tests/unit/compat/libpfm3 $(B)/tests/vectors/libpfm3_so: override CPPFLAGS += -Icompat/libpfm3/include
