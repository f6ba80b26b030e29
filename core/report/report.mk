# The style and the script of the HTML report, as C strings.
gen_obj += $(B)/gen/report_page.o
report_string = sed -e 's/[\\"]/\\&/g' -e 's/.*/"&\\n"/'

$(B)/gen/report_page.c: core/report/page.css core/report/page.js core/report/report.mk
	@mkdir -p $(@D)
	@{ echo '#include "core/report/page.h"'; \
	echo 'const char tach__report_style[] ='; $(report_string) core/report/page.css; echo ';'; \
	echo 'const char tach__report_script[] ='; $(report_string) core/report/page.js; echo ';'; } >$@
