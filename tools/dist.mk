# make dist: the tracked files as one archive, which builds without git, and tach-mini.h. make release: an archive of a new version.
dist_name := tach-$(VERSION)
dist: | $(B)
	@$(MAKE) --no-print-directory -s mini >/dev/null
	@git archive --format=tar --prefix=$(dist_name)/ HEAD | xz -c >$(B)/$(dist_name).tar.xz
	@echo '$(B)/$(dist_name).tar.xz'
release:
	@tools/release
$(B):
	@mkdir -p $@
.PHONY: dist release
