# The style and the script of the page of tach history, as C strings.
tach_obj += $(B)/gen/history_page.o

$(B)/gen/history_page.c: tools/tach/history_page.css tools/tach/history_page.js core/report/report.mk tools/tach/history.mk
	@mkdir -p $(@D)
	@{ echo 'extern const char history_style[], history_script[];'; \
	echo 'const char history_style[] ='; $(report_string) tools/tach/history_page.css; echo ';'; \
	echo 'const char history_script[] ='; $(report_string) tools/tach/history_page.js; echo ';'; } >$@
