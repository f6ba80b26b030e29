# The style and the script of the HTML report, as C strings.
$(B)/gen/report.%.h: core/report.%
	@mkdir -p $(@D)
	$(call quiet,GEN)sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/' $< >$@
$(B)/core/report_html.o: $(B)/gen/report.css.h $(B)/gen/report.js.h
