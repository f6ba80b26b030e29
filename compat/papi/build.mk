# libpapi.so.7.0: PAPI 7's interface over sets and readers. Its headers have a folder of their own, because Debian's
# headers have the same names.
$(eval $(call drop_in,papi,libpapi.so.7.0,libpapi.so,papi/,-fvisibility=default,-Wl$(comma)-Bsymbolic-functions -Wl$(comma)-z$(comma)nodelete))

# PAPI 7.1 has the same interface under another soname. PAPI 7.2 has larger structs.
lib_targets += $(B)/papi/libpapi.so.7.1
install_links += $$LIBDIR/tach/libpapi.so.7.1=libpapi.so.7.0
$(B)/papi/libpapi.so.7.1: $(B)/papi/libpapi.so.7.0
	@ln -sf libpapi.so.7.0 $@

# PAPI's constants for Fortran, for preprocessed, fixed and free source.
papi_fortran := fpapi.h f77papi.h f90papi.h
$(B)/gen/papi/%.h: compat/papi/mkfpapi $(wildcard compat/papi/include/*.h)
	@mkdir -p $(@D)
	$(call quiet,GEN)compat/papi/mkfpapi $(if $(filter fpapi,$*),c,$(*:%papi=%)) $(CC) >$@.new && mv $@.new $@
lib_targets += $(papi_fortran:%=$(B)/gen/papi/%)
install_files += $(papi_fortran:%=$(B)/gen/papi/%=$$INCLUDEDIR/tach/papi/%)

# These tests call the library like a program.
$(B)/tests/unit/compat/papi $(B)/tests/unit/compat/papi_topdown: $(B)/papi/libpapi.so
$(B)/tests/unit/compat/papi $(B)/tests/unit/compat/papi_topdown: private override CPPFLAGS += -Icompat/papi/include
$(B)/tests/unit/compat/papi $(B)/tests/unit/compat/papi_topdown: private override LDLIBS += -L$(B)/papi -lpapi -Wl,-rpath,$(abspath $(B)/papi)
slow_packages += libpapi-dev papi-tools gfortran python3
