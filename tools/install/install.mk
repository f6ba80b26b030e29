# make install, make uninstall: both read the lists that the GNUmakefile and its fragments filled.
install_packages := tach.pc=$$LIBDIR/pkgconfig/tach.pc \
	tachConfig.cmake=$$LIBDIR/cmake/tach/tachConfig.cmake tachConfigVersion.cmake=$$LIBDIR/cmake/tach/tachConfigVersion.cmake
# What tests/check/slow/install.sh and debian.sh need.
slow_packages += cmake meson ninja-build lintian build-essential dpkg-dev debhelper
installed_files = $(install_programs) $(install_files)

# A page of section 3 is found by every name it explains. Expanded by install and uninstall alone.
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
# What depends on the prefix is written elsewhere than into the build, of which two may be installed at a time.
# The dynamic linker is told of libraries in its folders by ldconfig; who stages a package does it later.
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
# Folders that are ours alone go as well.
uninstall:
	$(foreach i,$(installed_files) $(install_packages),@rm -f $(call destination,$i)$(newline))
	$(foreach i,$(install_links) $(man_links),@rm -f "$$DESTDIR$(call source,$i)"$(newline))
	@for d in "$$LIBDIR/tach/musl" "$$LIBDIR/tach" "$$LIBDIR/cmake/tach"; do rmdir "$$DESTDIR$$d" 2>/dev/null || true; done
	@find "$$DESTDIR$$INCLUDEDIR/tach" -depth -type d -empty -delete 2>/dev/null || true
	@[ -n "$$DESTDIR" ] || [ "$$(id -u)" != 0 ] || PATH=$$PATH:/sbin:/usr/sbin ldconfig || true
.PHONY: install uninstall
