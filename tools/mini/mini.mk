# `make mini`: builds tach-mini.h (tools/mini/mini describes it).
$(B)/gen/tach-mini.h: tools/mini/mini tools/mini/tach-mini.h.in include/tach/base.h include/tach/arch.h include/tach/page.h \
		$(wildcard include/tach/arch/*.h core/reader/lag.c core/reader/slow.c core/reader/group.c arch/*/counters.c)
	@mkdir -p $(@D)
	$(call quiet,MINI)tools/mini/mini >$@.new && mv $@.new $@
mini: $(B)/gen/tach-mini.h
	@cp $< $(B)/tach-mini.h
	@echo "$(B)/tach-mini.h: $$(wc -l <$<) lines"
.PHONY: mini
$(B)/static/tests/guest/src/mini_exact: $(B)/gen/tach-mini.h
