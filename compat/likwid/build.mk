# liblikwid.so.5.2: LIKWID's marker API over readers. Its headers have a folder of their own, because headers
# of Debian's package likwid have the same names.
$(eval $(call drop_in,likwid,liblikwid.so.5.2,liblikwid.so,likwid/,-fvisibility=default,-Wl$(comma)-Bsymbolic-functions -Wl$(comma)-z$(comma)nodelete))
$(B)/bench/marker $(B)/static/bench/marker: $(likwid_obj)
$(B)/bench/marker $(B)/static/bench/marker: override CPPFLAGS += -Icompat/likwid/include
$(B)/bench/marker $(B)/static/bench/marker: bench_libs_marker = $(likwid_obj)
# Programs that bench/faces compares.
$(B)/bench/face_marker: bench/face_marker.c $(likwid_obj) $(B)/libtach.a $(B)/flags
	@mkdir -p $(@D)
	$(call quiet,LD)$(CC) $(bench_flags) -Icompat/likwid/include -o $@ $< $(likwid_obj) $(B)/libtach.a $(LDLIBS)
$(B)/tests/unit/compat/likwid: override CPPFLAGS += -Icompat/likwid/include
$(B)/static/tests/guest/src/likwid: override CPPFLAGS += -Icompat/likwid/include
