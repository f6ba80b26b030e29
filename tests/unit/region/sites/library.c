/* SPDX-License-Identifier: MIT */
/* A library of a thousand regions for tests/check/slow/sites.sh; LIBRARY is its number. */
#include <tach.h>

#define TEXT_OF(x) #x
#define TEXT(x)	   TEXT_OF(x)
#define SITE(n)	   TACH_SITE_INIT("site " TEXT(LIBRARY) #n, 0, "enter_all")
#define TEN(n)                                                                                 \
	SITE(n##0), SITE(n##1), SITE(n##2), SITE(n##3), SITE(n##4), SITE(n##5), SITE(n##6),    \
		SITE(n##7), SITE(n##8), SITE(n##9)
#define HUNDRED(n)                                                                             \
	TEN(n##0), TEN(n##1), TEN(n##2), TEN(n##3), TEN(n##4), TEN(n##5), TEN(n##6),           \
		TEN(n##7), TEN(n##8), TEN(n##9)

static struct tach_site site[] = {HUNDRED(0), HUNDRED(1), HUNDRED(2), HUNDRED(3), HUNDRED(4),
				  HUNDRED(5), HUNDRED(6), HUNDRED(7), HUNDRED(8), HUNDRED(9)};

TACH_API void enter_all(void);
void enter_all(void)
{
	TACH_SCOPE(whole_library);
	for (unsigned i = 0; i < sizeof site / sizeof *site; i++) {
		struct tach_region_mark mark = TACH_REGION_MARK_INIT;

		tach_region_begin(&site[i], &mark);
		tach_region_end(&mark);
	}
}
