/* SPDX-License-Identifier: MIT */
/*
 * Every preset of this machine's PMU on the real kernel: its events are opened pass by pass and
 * count a loop of known length, and its formula gives the expected value if that is known. The
 * kernel refuses events that an emulated PMU lacks.
 */
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>
#include <tach/derived.h>
#include <tach/pmu.h>
#include <tach/reader.h>
#include <tach/schedule.h>
#include "tests/check.h"
#include "tests/guest/machine.h"

enum { TURNS = 20000 };

static struct tach_derived *presets;
static int pmu;

struct pass {
	char events[4096]; /* a list for a set */
	int number[TACH_COUNTERS_MAX], count;
	int slots; /* 1: slots are the first event, and no operand needs them */
};

static const char SLOTS[] = "TOPDOWN:SLOTS";

/*
 * On a PMU with many counters, a group with the fields of PERF_METRICS may have more members
 * than a set accepts.
 */
static int fill(struct pass *p, const struct tach_expansion *x, const struct tach_schedule *s,
		int group)
{
	size_t at = p->slots ? sizeof SLOTS - 1 : 0;

	p->count = 0;
	strcpy(p->events, p->slots ? SLOTS : "");
	for (int i = 0; i < tach_expansion_count(x); i++) {
		const char *event = tach_expansion_event(x, i);

		if (s->group[i + p->slots] != group)
			continue;
		if (p->count + p->slots == TACH_COUNTERS_MAX ||
		    at + strlen(event) + 2 > sizeof p->events)
			return TACH_ERR_TOOMANY;
		at += (size_t)snprintf(p->events + at, sizeof p->events - at, "%s%s",
				       at ? "," : "", event);
		p->number[p->count++] = i;
	}
	return 0;
}

/*
 * An interrupted region is exact but flagged, so use one that is not flagged. Returns 0 if all
 * are flagged.
 */
static int loop(struct tach_reader *reader, uint64_t turns, uint64_t *delta)
{
	struct tach_mark mark;

	for (int i = 0; i < 100; i++) {
		tach_reader_begin(reader, &mark);
		machine_loop(turns);
		if (tach_reader_end(reader, &mark, delta) == 0)
			return 1;
	}
	return 0;
}

/* Stores in n[i] the counts of the pass for TURNS turns. Returns 0, or the library's error. */
static int count(const struct pass *p, uint64_t *n, struct tach_error *err)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	uint64_t one[TACH_COUNTERS_MAX], many[TACH_COUNTERS_MAX];
	struct tach_reader *reader = NULL;
	struct tach_set *set = NULL;
	int code;

	opt.events = p->events;
	code = tach_set_create(&opt, &set, err);
	if (!code && tach_set_count(set) != p->slots + p->count)
		code = TACH_ERR_INVAL;
	if (!code)
		code = tach_reader_open(set, &reader, err);
	if (!code) {
		CHECK(loop(reader, 1, one) && loop(reader, 1 + TURNS, many),
		      "%s: disturbed every time", p->events);
		for (int i = 0; i < p->count; i++)
			n[p->number[i]] = many[p->slots + i] - one[p->slots + i];
	}
	tach_reader_close(reader);
	tach_set_free(set);
	return code;
}

/* Splits into groups; each group with PERF_METRICS fields also has slots. */
static int split(const struct tach_expansion *x, struct tach_schedule *s, int *slots,
		 struct tach_error *err)
{
	static struct tach_event events[TACH_SCHEDULE_MAX];
	struct tach_schedule_options opt = TACH_SCHEDULE_OPTIONS_INIT;
	struct tach_encode_options how = TACH_ENCODE_OPTIONS_INIT;
	int n = tach_expansion_count(x);
	int code = tach_schedule_split(tach_expansion_encoded(x), n, 0, &opt, s, err);

	*slots = code == TACH_ERR_FEATCOMB && n < TACH_SCHEDULE_MAX;
	if (!*slots)
		return code;
	how.pmu = pmu;
	events[0].size = sizeof events[0];
	code = tach_event_encode(SLOTS, &how, &events[0], err);
	CHECK(code == 0, "%s", err->text);
	for (int i = 0; i < n; i++)
		events[1 + i] = tach_expansion_encoded(x)[i];
	return tach_schedule_split(events, n + 1, 1, &opt, s, err);
}

/*
 * Returns the value for TURNS turns, or NaN with the reason in err if it cannot be counted
 * here.
 */
static int with_slots; /* how many values were measured with slots */

static double measure(const char *name, int *passes, uint32_t *flags, struct tach_error *err)
{
	uint64_t n[TACH_FORMULA_OPERANDS_MAX] = {0};
	struct tach_expansion *x = NULL;
	struct tach_schedule s = {.size = sizeof s};
	static struct pass pass;
	double value = NAN;
	int code = tach_derived_expand(presets, pmu, name, &x, err);

	/* Metrics of vendors may need values that no core counter has. */
	CHECK(code == 0 || strstr(err->text, "cannot be computed"), "%s: %d, %s", name, code,
	      err->text);
	if (!code) {
		code = split(x, &s, &pass.slots, err);
		/* Some presets have more events than one call can split. */
		CHECK(code == 0 || code == TACH_ERR_TOOMANY, "%s: %s", name, err->text);
		with_slots += pass.slots;
	}
	for (int g = 0; !code && g < s.ngroups; g++) {
		code = fill(&pass, x, &s, g);
		if (!code)
			code = count(&pass, n, err);
	}
	if (!code) {
		*passes = s.ngroups;
		*flags = 0;
		value = tach_formula_eval(tach_expansion_formula(x), n, 0, flags);
	}
	tach_expansion_free(x);
	err->code = code;
	return value;
}

static double known(const char *name)
{
	struct tach_error err = TACH_ERROR_INIT;
	uint32_t flags;
	int passes;
	double value = measure(name, &passes, &flags, &err);

	printf("# %s %g %s\n", name, value, err.code ? err.text : "");
	return value;
}

static void every_preset_opens(void)
{
	int opened = 0, refused = 0, more = 0, n = tach_derived_count(presets, pmu);

	for (int i = 0; i < n; i++) {
		struct tach_derived_info info = {.size = sizeof info};
		struct tach_error err = TACH_ERROR_INIT;
		uint32_t flags = 0;
		int passes = 0;
		double value;

		tach_derived_at(presets, pmu, i, &info);
		value = measure(info.name, &passes, &flags, &err);
		if (err.code) {
			if (!refused++)
				printf("# the first one refused is %s: %s\n", info.name,
				       err.text);
			continue;
		}
		CHECK(isfinite(value) || flags & TACH_FLAG_DIVZERO, "%s: %g, flags %" PRIx32,
		      info.name, value, flags);
		opened++;
		more += passes > 1;
	}
	printf("# %d opened, %d of them in passes, %d refused; %d asked for slots beside\n",
	       opened, more, refused, with_slots);
	/* Linux shows that name if the processor has PERF_METRICS. */
	CHECK(access("/sys/bus/event_source/devices/cpu/events/topdown-retiring", F_OK) != 0 ||
		      with_slots > 0,
	      "%d with slots beside", with_slots);
	/* QEMU's arm64 PMU has few events; its x86 one counts every code. */
	CHECK(machine_is_arm64() ? opened >= 3 : opened > 50 && refused < opened,
	      "%d opened, %d refused", opened, refused);
}

static void the_loop_comes_back(void)
{
	double instructions, cycles, branches;

	if (!machine_is_exact())
		SKIP("instruction counts are not exact on this machine");
	instructions = known("PAPI_TOT_INS");
	cycles = known("PAPI_TOT_CYC");
	CHECK(instructions == (double)MACHINE_LOOP_INSTRUCTIONS * TURNS, "%g instructions",
	      instructions);
	CHECK(fabs(known("ipc") - instructions / cycles) < 0.01, "%g cycles", cycles);
	if (machine_is_arm64())
		return; /* QEMU's PMU counts no branches there */
	branches = known("PAPI_BR_INS");
	CHECK(branches == TURNS, "%g branches", branches);
}

int main(void)
{
	struct tach_derived_options opt = {.size = sizeof opt, .flags = TACH_DERIVED_PRESETS};

	if (!machine_is_guest() || !machine_has_pmu() || tach_pmu_host(&pmu, 1, NULL) < 1) {
		puts("not a guest with a PMU");
		return 77;
	}
	if (tach_derived_create(&opt, &presets, NULL))
		return 1;
	CASE(every_preset_opens);
	CASE(the_loop_comes_back);
	tach_derived_free(presets);
	return check_done();
}
