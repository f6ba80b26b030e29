/* SPDX-License-Identifier: MIT */
/* `tach run --openmp` and --functions: names for places in the program. */
#include <stdio.h>
#include <stdlib.h>
#include "tools/tach/places.h"
#include "tools/tach/run.h"

static const struct places_kind parallel = {"parallel ", 0}, called = {"function ", 0},
				functions = {"function ", 1};

/* Text has the first functions, unless globs select them. */
static void choose_functions(const struct run_arguments *a, struct tach_snapshot *whole)
{
	enum { SHOWN = 20, HOT = 1000 };
	int n = places_count(whole, &functions), small;
	uint64_t calls;

	if (n == 0)
		fprintf(stderr,
			"tach run: no function called the hooks%s: build with "
			"-finstrument-functions, and link dynamically\n",
			*a->functions ? ", or the list selects none" : "");
	small = places_too_small(whole, &functions, HOT, &calls);
	if (small)
		fprintf(stderr,
			"tach run: %d of the functions, with %llu calls, cost less than the "
			"uncertainty of their measurement: exclude them ('!NAME'), or measure "
			"some of the calls (TACH_SPARSE=16)\n",
			small, (unsigned long long)calls);
	if (!*a->functions && a->format == TACH_FORMAT_TEXT) {
		places_choose(whole, &called, SHOWN);
		places_choose(whole, &functions, SHOWN);
		if (n > SHOWN)
			fprintf(stderr,
				"tach run: the %d of %d functions with the most self time; "
				"--functions='*' shows all\n",
				SHOWN, n);
	}
	setenv("TACH_TREE", "1", 0);
}

int run_name_places(const struct run_arguments *a, struct run_reports *reports)
{
	int spread = a->openmp && a->rows != RUN_THREADS && !run_ranks_wanted(a);

	if ((!a->openmp && !a->functions) || !reports->whole)
		return 0;
	if (a->openmp && !places_count(reports->whole, &parallel))
		fprintf(stderr, "tach run: no parallel region of OpenMP began: the program "
				"is statically linked, or uses neither libgomp nor a runtime "
				"with OMPT, such as LLVM's\n");
	if (a->functions && places_sum_callers(reports->whole, called.name, "tach run"))
		return -1;
	if (a->functions)
		choose_functions(a, reports->whole);
	return places_name(&reports->whole, spread, "tach run") < 0 ? -1 : 0;
}
