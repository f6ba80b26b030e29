/* SPDX-License-Identifier: MIT */
/*
 * calls FIRST COUNT [once [counters]]: COUNT sequences of random calls of PAPI's functions,
 * from seed FIRST on; once: from one initialised library, which costs Debian's most of its
 * time; counters: on a Skylake's counters, otherwise on software events. Prints each call with
 * its answer, but no counts and no codes of natives: two libraries that answer alike print
 * alike.
 */
#include <papi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { SETS = 4, STEPS = 40 };

static uint64_t seed;
static int set[SETS];
static long long value[512];

static unsigned pick(unsigned n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (unsigned)(seed >> 33) % n;
}

static const char *const names[] = {
	"perf::PAGE-FAULTS",
	"perf::TASK-CLOCK",
	"perf::CPU-CLOCK",
	"perf::CONTEXT-SWITCHES",
	"perf::MINOR-FAULTS",
	"perf::NO-SUCH",
	"NO_SUCH_EVENT",
	"nopmu::PAGE-FAULTS",
	"PAPI_NO_SUCH",
	"perf_event:::perf::PAGE-FAULTS",
	"sde:::perf::PAGE-FAULTS",
	"",
};
enum { NAMES = sizeof names / sizeof *names };

/* In place of the first names, where the processor's counters are. */
static const char *const counters[] = {
	"INST_RETIRED:ANY_P", "BR_INST_RETIRED:ALL_BRANCHES",
	"PAPI_TOT_INS",	      "perf::INSTRUCTIONS",
	"perf::PAGE-FAULTS",
};
enum { COUNTERS = sizeof counters / sizeof *counters };
static int with_counters;

static const char *name_of(unsigned n)
{
	return with_counters && n < COUNTERS ? counters[n] : names[n];
}

static const char *a_name(void)
{
	return name_of(pick(NAMES));
}

/* Two of three events can be counted. */
static int an_event(void)
{
	static const int codes[] = {0,
				    PAPI_NULL,
				    1,
				    PAPI_PRESET_MASK | 120,
				    PAPI_PRESET_MASK | 500,
				    PAPI_NATIVE_MASK | 99999,
				    PAPI_UE_MASK | 3};
	int code;

	if (pick(3) == 0)
		return codes[pick(sizeof codes / sizeof *codes)];
	return PAPI_event_name_to_code(name_of(pick(COUNTERS)), &code) == PAPI_OK ? code : 0;
}

/* Number 5 is a component that only our library has. */
static int a_component(unsigned n, int below)
{
	int c = (int)pick(n) - below;

	return c == 5 ? 6 : c;
}

static int a_set(void)
{
	return pick(8) ? set[pick(SETS)] : (int[]){-5, 17, 63, 100000}[pick(4)];
}

static int an_option(PAPI_option_t *o)
{
	static const int options[] = {PAPI_DOMAIN,
				      PAPI_GRANUL,
				      PAPI_DEFDOM,
				      PAPI_DEFGRN,
				      PAPI_MULTIPLEX,
				      PAPI_INHERIT,
				      PAPI_DETACH,
				      PAPI_DEBUG,
				      PAPI_DEF_ITIMER_NS,
				      PAPI_DATA_ADDRESS,
				      PAPI_USER_EVENTS_FILE,
				      99,
				      0};
	int option = options[pick(sizeof options / sizeof *options)];

	memset(o, 0, sizeof *o);
	switch (option) {
	case PAPI_DEFDOM:
	case PAPI_DEFGRN:
		o->defdomain.def_cidx = a_component(7, 1);
		o->defdomain.domain = pick(4) ? PAPI_DOM_USER : (int)pick(20) - 2;
		break;
	case PAPI_DOMAIN:
	case PAPI_GRANUL:
		o->domain.eventset = a_set();
		o->domain.domain = pick(3) ? (int)pick(3) : (int)pick(20) - 2;
		if (option == PAPI_GRANUL && o->domain.domain == PAPI_GRN_SYS)
			o->domain.domain = PAPI_GRN_THR;
		break;
	case PAPI_DEBUG:
		o->debug.level = (int)pick(5) - 1;
		if (o->debug.level > 0)
			o->debug.level = 0;
		break;
	case PAPI_DEF_ITIMER_NS:
		o->itimer.ns = pick(2) ? -1 : 10000000;
		break;
	default:
		o->multiplex.eventset = a_set();
		o->multiplex.ns = pick(4) ? 1000000 : -1;
		if (option == PAPI_INHERIT)
			o->inherit.inherit = (int)pick(2);
	}
	return option;
}

static int names_of(int number)
{
	int codes[64], n = 64, code = PAPI_list_events(number, codes, &n);
	char name[PAPI_MAX_STR_LEN];

	for (int i = 0; code == PAPI_OK && i < n; i++)
		printf(" %s", PAPI_event_code_to_name(codes[i], name) == PAPI_OK ? name : "?");
	return code;
}

static void handler(int number, void *address, long long vector, void *context)
{
	(void)number, (void)address, (void)vector, (void)context;
}

#define DO(call) (printf("%s ", #call), fflush(stdout), call)

static int step(void)
{
	PAPI_option_t option;
	int state = -1, s = a_set(), *which = &set[pick(SETS)], event = an_event(), opt, code;
	long long *to = pick(12) ? value : NULL;

	printf("%d: ", s);
	switch (pick(31)) {
	case 0:
	case 1:
	case 2:
		return DO(PAPI_create_eventset(which));
	case 3:
	case 4:
	case 5:
		printf("%#x ",
		       event & PAPI_NATIVE_MASK && !(event & PAPI_PRESET_MASK) ? 0 : event);
		return DO(PAPI_add_event(s, event));
	case 6:
	case 7: {
		const char *name = a_name();

		printf("%s ", name);
		return DO(PAPI_add_named_event(s, name));
	}
	case 8:
	case 9: /* PAPI crashes on a set that never had an event */
		code = DO(PAPI_get_eventset_component(s));
		return code < 0 ? code : DO(PAPI_remove_event(s, event));
	case 10:
		code = DO(PAPI_get_eventset_component(s));
		return code < 0 ? code : DO(PAPI_remove_named_event(s, a_name()));
	case 11:
	case 12:
	case 13:
		return DO(PAPI_start(s));
	case 14:
	case 15:
	case 16:
		return DO(PAPI_stop(s, to));
	case 17:
		return DO(PAPI_read(s, to));
	case 18:
		return DO(PAPI_accum(s, to));
	case 19:
		return DO(PAPI_reset(s));
	case 20:
		return DO(PAPI_write(s, to));
	case 21:
		return DO(PAPI_cleanup_eventset(s));
	case 22:
		return DO(PAPI_destroy_eventset(which));
	case 23:
		code = DO(PAPI_state(s, &state));
		printf("state %#x ", state);
		return code;
	case 24:
		return DO(PAPI_num_events(s));
	case 25:
		return DO(names_of(s));
	case 26:
		opt = an_option(&option);
		printf("option %d %d %d ", opt, option.domain.eventset, option.domain.domain);
		return DO(PAPI_set_opt(opt, &option));
	case 27:
		return DO(PAPI_assign_eventset_component(s, a_component(8, 2)));
	case 28:
		return pick(2) ? DO(PAPI_get_eventset_component(s)) : DO(PAPI_get_multiplex(s));
	case 29:
		switch (pick(6)) {
		case 0:
			return DO(PAPI_query_event(event));
		case 1:
			return DO(PAPI_detach(s));
		case 2:
			return DO(PAPI_overflow(s, event, -1, 0, handler));
		case 3:
			return DO(PAPI_profil(NULL, 0, NULL, 0, s, event, 0, 0));
		case 4:
			return DO(PAPI_lock(16 + (int)pick(9)));
		}
		return DO(PAPI_set_thr_specific((int)pick(9) - 3, &state));
	}
	return DO(PAPI_read_ts(s, to, value));
}

static void sequence(uint64_t number)
{
	int state;

	seed = number * 0x9e3779b97f4a7c15u + 1;
	for (int i = 0; i < 8; i++)
		pick(2);
	for (int i = 0; i < SETS; i++)
		set[i] = PAPI_NULL;
	for (int i = 0; i < STEPS; i++)
		printf("= %d\n", step());
	for (int i = 0; i < SETS; i++) {
		if (PAPI_state(set[i], &state) == PAPI_OK && state & PAPI_RUNNING)
			PAPI_stop(set[i], NULL);
		PAPI_cleanup_eventset(set[i]);
		PAPI_destroy_eventset(&set[i]);
	}
	PAPI_set_domain(PAPI_DOM_USER);
	PAPI_set_granularity(PAPI_GRN_THR);
}

static int child(uint64_t number, int once)
{
	int before = PAPI_NULL;

	printf("== %llu\n", (unsigned long long)number);
	if (once) {
		sequence(number);
		return 0;
	}
	printf("create before = %d\n", PAPI_create_eventset(&before));
	printf("wrong version = %d\n", PAPI_library_init(PAPI_VER_CURRENT + 1));
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 1;
	sequence(number);
	PAPI_shutdown();
	return 0;
}

/* If the library crashes, only its sequence is lost. */
int main(int argc, char **argv)
{
	uint64_t first = argc > 1 ? strtoull(argv[1], NULL, 10) : 1;
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 100;

	int once = argc > 3;

	with_counters = argc > 4;
	if (once && PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 1;
	setvbuf(stdout, NULL, _IOLBF, 0);
	for (uint64_t i = 0; i < count; i++) {
		int status = 0, pid = fork();

		if (pid == 0) {
			int code = child(first + i, once);

			fflush(stdout);
			_exit(code);
		}
		waitpid(pid, &status, 0);
		if (status)
			printf("== status %#x\n", (unsigned)status);
	}
	return 0;
}
