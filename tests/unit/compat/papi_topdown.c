/* SPDX-License-Identifier: MIT */
/* PAPI's topdown component: the events of each processor, and their descriptions. */
#include <papi.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/check.h"

static const PAPI_component_info_t *component(const char *pmu)
{
	setenv("TACH_PMU", pmu, 1);
	return PAPI_library_init(PAPI_VER_CURRENT) == PAPI_VER_CURRENT
		       ? PAPI_get_component_info(PAPI_get_component_index("topdown"))
		       : NULL;
}

static int count_events(int topdown)
{
	char name[PAPI_MAX_STR_LEN];
	PAPI_event_info_t info;
	int code = PAPI_NATIVE_MASK, again, n = 0;
	int more = PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, topdown);

	while (more == PAPI_OK && n < 100) {
		n++;
		CHECK(PAPI_event_code_to_name(code, name) == PAPI_OK &&
		      strncmp(name, "topdown:::TOPDOWN_", 18) == 0);
		CHECK(PAPI_event_name_to_code(name, &again) == PAPI_OK && again == code);
		CHECK(PAPI_event_name_to_code(name + 10, &again) == PAPI_OK && again == code);
		CHECK(PAPI_get_event_info(code, &info) == PAPI_OK &&
		      strcmp(info.units, "%") == 0 && info.data_type == PAPI_DATATYPE_FP64 &&
		      info.long_descr[0] && PAPI_get_event_component(code) == topdown);
		more = PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, topdown);
	}
	return n;
}

static void look_at_one_level(void)
{
	const PAPI_component_info_t *info = component("icx");
	int code;

	CHECK(info && !info->disabled && info->num_native_events == 4);
	CHECK(count_events(info->CmpIdx) == 4);
	CHECK(PAPI_event_name_to_code("topdown:::TOPDOWN_MEM_BOUND_PERC", &code) ==
	      PAPI_ENOEVNT);
	CHECK(PAPI_event_name_to_code("topdown:::NONSENSE", &code) == PAPI_ENOEVNT);
}

static void look_at_two_levels(void)
{
	const PAPI_component_info_t *info = component("spr");

	CHECK(info && !info->disabled && count_events(info->CmpIdx) == 12);
}

static void look_at_none(void)
{
	const PAPI_component_info_t *info = component("skl");
	int code;

	CHECK(info && info->disabled && strstr(info->disabled_reason, "Ice Lake") &&
	      info->num_native_events == 0);
	CHECK(PAPI_event_name_to_code("topdown:::TOPDOWN_RETIRING_PERC", &code) != PAPI_OK);
	CHECK(PAPI_event_name_to_code("TOPDOWN_RETIRING_PERC", &code) != PAPI_OK);
}

/* A process reads TACH_PMU once. */
static void each_processor_has_its_own(void)
{
	static void (*const look[])(void) = {look_at_one_level, look_at_two_levels,
					     look_at_none};

	for (int i = 0; i < 3; i++) {
		int status, child;

		fflush(stdout);
		child = fork();
		if (child == 0) {
			look[i]();
			fflush(stdout);
			_exit(check__failed != 0);
		}
		CHECK(waitpid(child, &status, 0) == child && status == 0);
	}
}

int main(void)
{
	CASE(each_processor_has_its_own);
	return check_done();
}
