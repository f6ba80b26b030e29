# make install, make uninstall: both use the lists that GNUmakefile and its fragments filled.
install_packages := tach.pc=$$LIBDIR/pkgconfig/tach.pc \
	tachConfig.cmake=$$LIBDIR/cmake/tach/tachConfig.cmake tachConfigVersion.cmake=$$LIBDIR/cmake/tach/tachConfigVersion.cmake
# Packages that tests/check/slow/install.sh and debian.sh need.
slow_packages += cmake meson ninja-build lintian build-essential dpkg-dev debhelper
installed_files = $(install_programs) $(install_files)

# A page of section 3 gets a link for every name that it explains. Expanded by install and uninstall alone.
man_names = $(shell sed -n '/^\.Sh NAME/,/^\.Nd/s/^\.Nm //p' $1 | tr -d ,)
man_links = $(foreach m,$(wildcard man/*.3),$(foreach n,$(filter-out $(basename $(notdir $m)),$(call man_names,$m)),\
	$$MANDIR/man3/$n.3=$(notdir $m)))

install uninstall: export DESTDIR := $(DESTDIR)
install uninstall: export PREFIX := $(PREFIX)
install uninstall: export BINDIR := $(BINDIR)
install uninstall: export LIBDIR := $(LIBDIR)
install uninstall: export INCLUDEDIR := $(INCLUDEDIR)
install uninstall: export MANDIR := $(MANDIR)

source = $(firstword $(subst =, ,$1))
destination = "$$DESTDIR$(lastword $(subst =, ,$1))"
define newline


endef
# Files that depend on the prefix are written outside the build folder, because two installs may run at the same time.
# ldconfig updates the dynamic linker's cache. With DESTDIR, run it later on the target machine.
install: lib tools
	@mkdir -p "$$DESTDIR$$LIBDIR" # one that does not exist yet is none of the dynamic linker's
	@d=$$(mktemp -d) && trap 'rm -rf "$$d"' EXIT && \
		VERSION=$(VERSION) SONAME=$(SONAME) STATIC='$(static_libs)' tools/install/describe "$$d" \
		$(foreach i,$(install_packages),&& install -D -m644 "$$d"/$(call source,$i) $(call destination,$i))
	$(foreach i,$(install_programs),@install -D -m755 $(call source,$i) $(call destination,$i)$(newline))
	$(foreach i,$(filter-out $(install_programs),$(installed_files)),@install -D -m644 $(call source,$i) $(call destination,$i)$(newline))
	$(foreach i,$(install_links) $(man_links),@ln -sf $(lastword $(subst =, ,$i)) "$$DESTDIR$(call source,$i)"$(newline))
	@[ -n "$$DESTDIR" ] || [ "$$(id -u)" != 0 ] || PATH=$$PATH:/sbin:/usr/sbin ldconfig || true
	@echo "installed under $$DESTDIR$$PREFIX"
# Also removes the folders that only tach uses.
uninstall:
	$(foreach i,$(installed_files) $(install_packages),@rm -f $(call destination,$i)$(newline))
	$(foreach i,$(install_links) $(man_links),@rm -f "$$DESTDIR$(call source,$i)"$(newline))
	@for d in "$$LIBDIR/tach/musl" "$$LIBDIR/tach" "$$LIBDIR/cmake/tach"; do rmdir "$$DESTDIR$$d" 2>/dev/null || true; done
	@find "$$DESTDIR$$INCLUDEDIR/tach" -depth -type d -empty -delete 2>/dev/null || true
	@[ -n "$$DESTDIR" ] || [ "$$(id -u)" != 0 ] || PATH=$$PATH:/sbin:/usr/sbin ldconfig || true
.PHONY: install uninstall
