/* SPDX-License-Identifier: MIT */
/*
 * perf's top-down events on small cores: the codes that Linux uses
 * (arch/x86/events/intel/core.c).
 */
#include <string.h>
#include <tach.h>
#include <tach/derived.h>
#include "tests/check.h"

static void codes_of_linux(void)
{
	static const struct {
		const char *pmu, *name;
		uint64_t config;
	} all[] = {
		{"adl_grt", "topdown-retiring", 0xc2},
		{"adl_grt", "topdown-bad-spec", 0x73},
		{"adl_grt", "topdown-be-bound", 0x74},
		{"mtl_cmt", "topdown-retiring", 0xc2},
		{"mtl_cmt", "topdown-bad-spec", 0x73},
		{"mtl_cmt", "topdown-fe-bound", 0x71},
		{"mtl_cmt", "topdown-be-bound", 0x74},
		{"arl_cmt", "topdown-retiring", 0xc2},
		{"arl_cmt", "topdown-bad-spec", 0x73},
		{"arl_cmt", "topdown-fe-bound", 0x71},
		{"arl_cmt", "topdown-be-bound", 0x74},
		{"arl_skt", "topdown-retiring", 0x2c2},
		{"arl_skt", "topdown-bad-spec", 0x73},
		{"arl_skt", "topdown-fe-bound", 0x19c},
		{"arl_skt", "topdown-be-bound", 0x2a4},
		{"lnl_skt", "topdown-bad-spec", 0x73},
		{"lnl_skt", "topdown-fe-bound", 0x19c},
		{"ptl_dkt", "topdown-retiring", 0x2c2},
		{"ptl_dkt", "topdown-bad-spec", 0x73},
		{"ptl_dkt", "topdown-fe-bound", 0x19c},
		{"ptl_dkt", "topdown-be-bound", 0x2a4},
		{"nvl_arw", "topdown-retiring", 0x2c2},
		{"nvl_arw", "topdown-bad-spec", 0x73},
		{"nvl_arw", "topdown-fe-bound", 0x19c},
		{"nvl_arw", "topdown-be-bound", 0x2a4},
		{"cwf", "topdown-retiring", 0x2c2},
		{"cwf", "topdown-bad-spec", 0x73},
		{"cwf", "topdown-fe-bound", 0x19c},
		{"cwf", "topdown-be-bound", 0x2a4},
		{"srf", "topdown-retiring", 0x72},
		{"srf", "topdown-bad-spec", 0x73},
		{"srf", "topdown-be-bound", 0x74},
		{"grr", "topdown-retiring", 0x72},
		{"grr", "topdown-fe-bound", 0x71},
		{"grr", "topdown-be-bound", 0x74},
		{"tmt", "topdown-retiring", 0xc2},
		{"tmt", "topdown-bad-spec", 0x673},
		{"tmt", "topdown-fe-bound", 0x71},
		{"tmt", "topdown-be-bound", 0x74},
		{"ehl", "topdown-retiring", 0xc2},
		{"ehl", "topdown-bad-spec", 0x673},
		{"ehl", "topdown-fe-bound", 0x71},
		{"ehl", "topdown-be-bound", 0x74},
		{"glm", "topdown-total-slots", 0x3c},
		{"glm", "topdown-fetch-bubbles", 0x9c},
		{"glm", "topdown-recovery-bubbles", 0x2ca},
		{"glm", "topdown-slots-issued", 0xe},
		{"glp", "topdown-total-slots", 0x3c},
		{"glp", "topdown-fetch-bubbles", 0x9c},
		{"glp", "topdown-recovery-bubbles", 0x2ca},
		{"glp", "topdown-slots-issued", 0xe},
		{"glp", "topdown-slots-retired", 0xc2},
		{"slm", "topdown-total-slots", 0x3c},
		{"slm", "topdown-fetch-bubbles", 0x50ca},
		{"slm", "topdown-slots-issued", 0x10c2},
		{"slm", "topdown-slots-retired", 0x10c2},
	};
	struct tach_derived_options opt = {.size = sizeof opt, .flags = TACH_DERIVED_PRESETS};
	struct tach_derived *d = NULL;

	CHECK(tach_derived_create(&opt, &d, NULL) == 0);
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		struct tach_error err = TACH_ERROR_INIT;
		struct tach_expansion *x = NULL;
		struct tach_event event = {.size = sizeof event};
		struct tach_encode_options how = TACH_ENCODE_OPTIONS_INIT;
		int pmu = tach_pmu_find(all[i].pmu);

		how.os = TACH_OS_PERF;
		how.pmu = pmu;
		how.host = all[i].pmu;
		CHECK(tach_derived_expand(d, pmu, all[i].name, &x, &err) == 0, "%s %s: %s",
		      all[i].pmu, all[i].name, err.text);
		if (!x)
			continue;
		CHECK(tach_expansion_count(x) == 1 &&
			      tach_event_encode(tach_expansion_event(x, 0), &how, &event,
						&err) == 0 &&
			      (event.config & 0xffff) == all[i].config,
		      "%s %s: %s%s %llx", all[i].pmu, all[i].name, err.text,
		      tach_expansion_event(x, 0), (unsigned long long)event.config);
		tach_expansion_free(x);
	}
	tach_derived_free(d);
}

int main(void)
{
	CASE(codes_of_linux);
	return check_done();
}
