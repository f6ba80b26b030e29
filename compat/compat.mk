# Drop-ins: interfaces of other libraries over this library's tables, encoder and dispatcher. Each contains the parts of
# the archive that it needs, with hidden symbols, so a program can load all of them together with libtach.so.
#
# $(call drop_in,NAME,SONAME,LINK,HEADERS,CFLAGS,LDFLAGS): builds the sources of compat/NAME to $(B)/NAME/SONAME, and
# LINK next to it for linking programs. Headers are installed below HEADERS in tach's folder.
define drop_in
$1_src := $$(wildcard compat/$1/*.c)
$1_obj := $$($1_src:%.c=$(B)/%.o)
lib_targets += $(B)/$1/$2 $(B)/$1/$3
install_files += $(B)/$1/$2=$$$$LIBDIR/tach/$2 $$(foreach h,$$(wildcard compat/$1/include/*.h compat/$1/include/*/*.h),\
	$$h=$$$$INCLUDEDIR/tach/$4$$(h:compat/$1/include/%=%))
install_links += $$$$LIBDIR/tach/$3=$2

$$($1_obj): override CPPFLAGS += -Icompat/$1/include
$$($1_obj): override CFLAGS += $5
$(B)/$1/$2: $$($1_obj) $(B)/libtach.a $$(wildcard compat/$1/*.map)
	@mkdir -p $$(@D)
	$$(call quiet,LD)$$(shared) $6 -Wl,--version-script=$$(wildcard compat/$1/*.map) -Wl,--as-needed \
		-o $$@ $$($1_obj) $(B)/libtach.a $$(so_libs)
$(B)/$1/$3: $(B)/$1/$2
	@ln -sf $2 $$@
-include $$($1_obj:.o=.d)
endef
