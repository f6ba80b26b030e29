/* SPDX-License-Identifier: MIT */
/*
 * Any bytes are a definition file: an error has a line, a column and a sentence; an accepted
 * definition can be looked up, and expands or gives a reason.
 */
#include <stdlib.h>
#include <string.h>
#include <tach/derived.h>
#include <tach/pmu.h>

static void insist(int holds)
{
	if (!holds)
		abort();
}

static void report(void *context, const struct tach_diagnostic *d)
{
	int *errors = context;

	insist(d->line > 0 && d->column > 0 && d->text[0] && d->file[0]);
	*errors += d->level == TACH_DIAGNOSTIC_ERROR;
}

static void look(struct tach_derived *d, int pmu)
{
	static const uint64_t n[TACH_FORMULA_OPERANDS_MAX] = {3, 0, 1};
	int count = tach_derived_count(d, pmu);

	for (int i = 0; i < count && i < 20; i++) {
		struct tach_derived_info info = {.size = sizeof info}, found = info;
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_expansion *x;

		insist(tach_derived_at(d, pmu, i, &info) == 0);
		insist(tach_derived_find(d, pmu, info.name, &found) == 0);
		insist(found.name == info.name);
		if (tach_derived_expand(d, pmu, info.name, &x, &err)) {
			insist(err.text[0] != 0);
			continue;
		}
		for (int j = tach_expansion_count(x); j < TACH_FORMULA_OPERANDS_MAX; j++)
			insist(!tach_formula_uses(tach_expansion_formula(x), j));
		tach_formula_eval(tach_expansion_formula(x), n, 0, NULL);
		tach_expansion_free(x);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int errors = 0, taken;
	struct tach_derived_options opt = {
		.size = sizeof opt, .report = report, .context = &errors, .max_hz = 1e9};
	struct tach_derived *d;

	if (tach_derived_create(&opt, &d, NULL))
		return 0;
	taken = tach_derived_load_text(d, "fuzz", (const char *)data, size, NULL);
	insist(taken >= 0);
	look(d, tach_pmu_find("skl"));
	look(d, tach_pmu_find("nhm_ex"));
	tach_derived_free(d);
	return 0;
}
