/* SPDX-License-Identifier: MIT */
/*
 * The member of a set that counts interrupts: its origin, the members it corrects, and the
 * message if it is missing. tests/unit/region/interrupts.c tests its counts.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <tach.h>
#include <tach/arch.h>
#include "core/os/sys.h"
#include "core/set/set.h"
#include "tests/child.h"

#define NO_EVENT                                                                               \
	"interrupts: not counted, the tables have no event for them on this PMU; name one "    \
	"yourself: interrupts=EVENT"
#define OF_NOTHING                                                                             \
	"interrupts: subtracted from nothing, because no member counts retired instructions "  \
	"at user "                                                                             \
	"level only"
#define NO_X86                                                                                 \
	"interrupts: not subtracted, because they add no instruction on this architecture"

static struct tach_error err;
static struct tach_set_member given[1];
static int ngiven;

/*
 * Checks the number of the interrupts member, the corrected members, the number of members, and
 * the message.
 */
static void has(int pmu, const char *events, uint32_t flags, int member, uint32_t corrected,
		int count, const char *missing)
{
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	opt.pmu = pmu;
	opt.events = events;
	opt.flags = flags;
	opt.attrs = given;
	opt.nattrs = ngiven;
	memset(&err, 0, sizeof err);
	CHECK(tach_set_create(&opt, &set, &err) == 0, "%d %s: %s", pmu, events, err.text);
	if (!set)
		return;
	CHECK(set->interrupts == member && set->corrected == corrected && set->count == count,
	      "%d %s: member %d of %d, %#x", pmu, events, set->interrupts, set->count,
	      set->corrected);
	CHECK(strcmp(set->missing, missing) == 0, "%d %s: '%s'", pmu, events, set->missing);
	/* Flags that request only this member are not in the set's flags. */
	CHECK((set->flags & ~(uint32_t)TACH__SET_WITH_INTERRUPTS) ==
			      (flags & ~(uint32_t)TACH__SET_WITH_INTERRUPTS) &&
		      set->nmetrics == 0,
	      "%d %s: %#x", pmu, events, set->flags);
	tach_set_free(set);
}

/* ---- sets planned for named machines, without calls to the kernel ---- */

static long no_kernel(long number, long a, long b, long c, long d, long e, long f)
{
	/* The kernel is asked only if PMUs may be unable to separate levels. */
	CHECK(number != SYS_perf_event_open || TACH_ARCH_UNDIVIDED);
	return tach__sys_real(number, a, b, c, d, e, f);
}

static void interrupts_are_one_more_member(void)
{
	struct tach_pmu_info first = {.size = sizeof first};
	int skl = tach_pmu_find("skl"), icl = tach_pmu_find("icl");

	tach__sys = no_kernel;
	has(skl, "instructions", TACH_SET_INTERRUPTS, 1, 0, 2, "");
	has(skl, "instructions", TACH_SET_CORRECT, 1, 1, 2, "");
	has(skl, "instructions", 0, -1, 0, 1, "");
	has(skl, NULL, TACH_SET_INTERRUPTS, 0, 0, 1, "");
	has(skl, "instructions,interrupts", 0, -1, 0, 2, "");
	/* The set already counts interrupts, by name or by event. */
	has(skl, "interrupts,instructions", TACH_SET_CORRECT, 0, 2, 2, "");
	has(skl, "instructions,x=HW_INTERRUPTS:RECEIVED", TACH_SET_CORRECT, 1, 1, 2, "");
	has(icl, "interrupts=r01cb,instructions", TACH_SET_CORRECT, 0, 2, 2, "");
	has(icl, "instructions", TACH_SET_CORRECT, -1, 0, 1, NO_EVENT);
	has(skl, "cycles", TACH_SET_CORRECT, 1, 0, 2, OF_NOTHING);
	/* If interrupts are counted at another level, those of this level are unknown. */
	has(icl, "interrupts=r01cb:u:k,instructions", TACH_SET_CORRECT, 0, 0, 2, OF_NOTHING);
	has(icl, "interrupts=r01cb:k,instructions:k", TACH_SET_CORRECT, 0, 0, 2, OF_NOTHING);
	/* The first PMU in the list, which is not an x86 PMU. */
	CHECK(tach_pmu_describe(0, &first) == 0 && strcmp(first.arch, "arm64") == 0, "%s",
	      first.arch);
	has(0, "instructions", TACH_SET_CORRECT, 1, 0, 2, NO_X86);
	tach__sys = tach__sys_real;
}

/* The added member is the last one; older data after it are ignored. */
static void after_a_merged_member(void)
{
	static const char text[] = "EVENT,my_sum,DERIVED_ADD,cycles,INSTRUCTION_RETIRED\n";
	struct tach_set_options opt = TACH_SET_OPTIONS_INIT;
	struct tach_set *set = NULL;

	CHECK(tach_derived_load_text(tach_derived_default(), "text", text, sizeof text - 1,
				     NULL) == 1);
	opt.events = "interrupts,x=INSTRUCTION_RETIRED,my_sum";
	opt.flags = TACH_SET_CORRECT;
	opt.pmu = tach_pmu_find("skl");
	CHECK(tach_set_create(&opt, &set, &err) == 0 && set->count == 3 && set->corrected == 2,
	      "%s", err.text);
	tach_set_free(set);
}

/* A caller's attrs: those that count retired instructions at user level only are corrected. */
static void of_attrs(void)
{
	static const struct {
		struct perf_event_attr attr;
		uint32_t corrected;
	} cases[] = {
		{{.type = PERF_TYPE_RAW, .config = 0xc0, .exclude_kernel = 1}, 1},
		{{.type = PERF_TYPE_RAW, .config = 0xc0}, 0},
		{{.type = PERF_TYPE_RAW,
		  .config = 0xc0,
		  .exclude_user = 1,
		  .exclude_kernel = 1},
		 0},
		{{.type = PERF_TYPE_RAW, .config = 0x3c, .exclude_kernel = 1}, 0},
		{{.type = PERF_TYPE_HW_CACHE, .config = 0xc0, .exclude_kernel = 1}, 0},
		{{.type = PERF_TYPE_RAW, .config = 0xc0, .config1 = 1, .exclude_kernel = 1}, 0},
		{{.type = PERF_TYPE_RAW, .config = 0xc0, .config2 = 1, .exclude_kernel = 1}, 0},
		{{.type = PERF_TYPE_HARDWARE,
		  .config = PERF_COUNT_HW_INSTRUCTIONS,
		  .exclude_kernel = 1},
		 1},
		/* For one core type: its number is in the upper half. */
		{{.type = PERF_TYPE_HARDWARE,
		  .config = 10ull << 32 | PERF_COUNT_HW_INSTRUCTIONS,
		  .exclude_kernel = 1},
		 1},
		{{.type = PERF_TYPE_HARDWARE,
		  .config = PERF_COUNT_HW_CPU_CYCLES,
		  .exclude_kernel = 1},
		 0},
		{{.type = PERF_TYPE_SOFTWARE,
		  .config = PERF_COUNT_HW_INSTRUCTIONS,
		  .exclude_kernel = 1},
		 0},
		{{.type = PERF_TYPE_HARDWARE, .config = PERF_COUNT_HW_INSTRUCTIONS}, 0},
	};

	ngiven = 1;
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct perf_event_attr attr = cases[i].attr;

		attr.size = sizeof attr;
		given[0] = (struct tach_set_member){"mine", &attr};
		has(tach_pmu_find("skl"), NULL, TACH_SET_CORRECT, 1, cases[i].corrected, 2,
		    cases[i].corrected ? "" : OF_NOTHING);
	}
	ngiven = 0;
}

/* The set uses all general and fixed counters; requested events stay. */
static void without_room(void)
{
	char events[400] = "x=page-faults";

	for (int i = 1; i < TACH_COUNTERS_MAX; i++)
		sprintf(events + strlen(events), ",x%d=page-faults", i);
	has(tach_pmu_find("skl"), events, TACH_SET_INTERRUPTS | TACH_SET_MULTIPLEX, -1, 0,
	    TACH_COUNTERS_MAX, TACH__NO_ROOM_FOR_INTERRUPTS);
	*strrchr(events, ',') = '\0';
	has(tach_pmu_find("skl"), events, TACH_SET_INTERRUPTS, TACH_COUNTERS_MAX - 1, 0,
	    TACH_COUNTERS_MAX, "");
	/* If the set already counts interrupts, no other counter is needed. */
	memcpy(events, "interrupts", strlen("interrupts"));
	memmove(events + strlen("interrupts"), strchr(events, ','),
		strlen(strchr(events, ',')) + 1);
	strcat(events, ",y=page-faults");
	has(tach_pmu_find("skl"), events, TACH_SET_INTERRUPTS, 0, 0, TACH_COUNTERS_MAX, "");
}

/* ---- on this machine, if its kernel counts them ---- */

static int answer;

static long kernel(long number, long a, long b, long c, long d, long e, long f)
{
	const struct perf_event_attr *attr = (const struct perf_event_attr *)a;

	if (number == SYS_close && a == 1000)
		return 0;
	if (number != SYS_perf_event_open)
		return tach__sys_real(number, a, b, c, d, e, f);
	return attr->type == PERF_TYPE_RAW && answer ? answer : 1000;
}

static void on_this_machine(void)
{
	setenv("TACH_PMU", "skl", 1);
	tach__sys = kernel;
	answer = 0;
	has(-1, "instructions", TACH_SET_CORRECT, 1, 1, 2, "");
	answer = -ENOENT;
	has(-1, "instructions", TACH_SET_CORRECT, -1, 0, 1,
	    "interrupts: this machine's PMU cannot count that");
	/* An event that is requested by name is not tried. */
	has(-1, "interrupts,instructions", TACH_SET_CORRECT, 0, 2, 2, "");
	tach__sys = tach__sys_real;
}

static void on_an_unknown_machine(void)
{
#if defined(__x86_64__) || defined(__i386__)
	uint32_t corrected = 1;
	const char *missing = "";
#else
	uint32_t corrected = 0;
	const char *missing = NO_X86;
#endif

	setenv("TACH_PMU", "nosuch", 1);
	has(-1, "instructions", TACH_SET_CORRECT, -1, 0, 1, NO_EVENT);
	has(-1, "instructions,interrupts=r01cb", TACH_SET_CORRECT, 1, corrected, 2, missing);
	/* Instruction events of other machines prove nothing about this one. */
	has(-1, "r0008,r00c0,interrupts=r01cb", TACH_SET_CORRECT, 2, 0, 3,
	    corrected ? OF_NOTHING : NO_X86);
}

/* The instruction event belongs to the planned machine, not to this one. */
static void for_another_machine(void)
{
	setenv("TACH_PMU", "arm_n1", 1);
	has(tach_pmu_find("skl"), "r00c0,r0008", TACH_SET_CORRECT, 2, 1, 3, "");
}

/* ---- interrupts by a definition of the user ---- */

static void defined(const char *definition, int member, int count, const char *missing)
{
	char text[200];

	snprintf(text, sizeof text, "CPU,skl\nEVENT,interrupts,%s\n", definition);
	CHECK(tach_derived_load_text(tach_derived_default(), "text", text, strlen(text),
				     NULL) == 1);
	has(tach_pmu_find("skl"), "instructions", TACH_SET_CORRECT, member, member > 0, count,
	    missing);
}

static void by_definition(void)
{
	static const char several[] = "interrupts: not counted, the user's own definition of "
				      "them takes several events";

	defined("NOT_DERIVED,r01cb", 1, 2, "");
	/* The definition may name an event of the kernel. */
	defined("NOT_DERIVED,page-faults", 1, 2, "");
	/* Members that were not requested are removed again. */
	defined("DERIVED_ADD,r01cb,branches", -1, 1, several);
	defined("DERIVED_INFIX,2*r01cb", -1, 1, several);
	defined("NOT_DERIVED,bogus", -1, 1, NO_EVENT);
	defined("NOT_DERIVED,r01cb:cpu=1", -1, 1,
		"interrupts: not counted, cpu= has no meaning for a thread that counts itself");
}

static void in_children(void)
{
	in_child(on_this_machine);
	in_child(on_an_unknown_machine);
	in_child(for_another_machine);
	in_child(by_definition);
}

int main(void)
{
	setenv("XDG_CONFIG_HOME", "/nonexistent", 1);
	unsetenv("TACH_DERIVED");
	unsetenv("TACH_EMULATE");
	CASE(in_children); /* runs before this machine is identified */
	setenv("TACH_PMU", "skl", 1);
	CASE(interrupts_are_one_more_member);
	CASE(after_a_merged_member);
	CASE(of_attrs);
	CASE(without_room);
	return check_done();
}
