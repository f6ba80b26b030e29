/* SPDX-License-Identifier: MIT */
/*
 * The calls of Caliper's and TAU's measurement services, in their order and with their
 * arguments: prints one line for each call with its answer. For counts it prints only whether
 * they are plausible.
 */
#include <papi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { MANY = 32 };

#define SAY(call) printf("%s = %d\n", #call, (call))

static unsigned long self(void)
{
	return (unsigned long)pthread_self();
}

static void touch(void)
{
	char *p = mmap(NULL, 100 * 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
		       -1, 0);

	for (int i = 0; i < 100; i++)
		((volatile char *)p)[i * 4096] = 1;
	munmap(p, 100 * 4096);
}

/* ---- Caliper: groups events by component, reads and resets at each snapshot ---- */

static int codes[2];

static int caliper_events(void)
{
	static char *const names[] = {"perf::PAGE-FAULTS", "perf::CONTEXT-SWITCHES"};
	const PAPI_component_info_t *component;
	PAPI_event_info_t info;

	SAY(PAPI_query_named_event("perf::NO-SUCH"));
	for (int i = 0; i < 2; i++) {
		SAY(PAPI_query_named_event(names[i]));
		SAY(PAPI_event_name_to_code(names[i], &codes[i]));
		memset(&info, 0, sizeof info);
		SAY(PAPI_get_event_info(codes[i], &info));
		printf("%s, type %d\n", info.symbol, info.data_type);
		SAY(PAPI_get_event_component(codes[i]));
	}
	component = PAPI_get_component_info(0);
	printf("%s\n", component->name);
	return component->disabled;
}

static void caliper_snapshot(int set, const char *when)
{
	long long values[MANY] = {0};
	int state = PAPI_NULL;

	touch();
	SAY(PAPI_read(set, values));
	SAY(PAPI_reset(set));
	SAY(PAPI_num_events(set));
	SAY(PAPI_state(set, &state));
	printf("%s: state %d, faults %s\n", when, state,
	       values[0] >= 100 && values[0] < 300 ? "as made" : "wrong");
}

static void *caliper_thread(void *multiplexed)
{
	long long values[MANY];
	int set = PAPI_NULL, state = PAPI_NULL;

	SAY(PAPI_create_eventset(&set));
	if (multiplexed) {
		SAY(PAPI_assign_eventset_component(set, 0));
		SAY(PAPI_set_multiplex(set));
	}
	SAY(PAPI_add_events(set, codes, 2));
	SAY(PAPI_start(set));
	caliper_snapshot(set, "first");
	caliper_snapshot(set, "second");
	SAY(PAPI_state(set, &state));
	if (state & PAPI_RUNNING)
		SAY(PAPI_stop(set, values));
	SAY(PAPI_cleanup_eventset(set));
	SAY(PAPI_destroy_eventset(&set));
	SAY(PAPI_state(set, &state));
	return NULL;
}

static void caliper(int multiplexed)
{
	pthread_t one;

	SAY(PAPI_is_initialized());
	SAY(PAPI_library_init(PAPI_VER_CURRENT));
	if (multiplexed)
		SAY(PAPI_multiplex_init());
	SAY(PAPI_thread_init(self));
	SAY(PAPI_is_initialized());
	if (caliper_events())
		return;
	caliper_thread(multiplexed ? &codes : NULL);
	pthread_create(&one, NULL, caliper_thread, multiplexed ? &codes : NULL);
	pthread_join(one, NULL);
	printf("%s\n", PAPI_strerror(PAPI_ECNFLCT));
	PAPI_shutdown();
	SAY(PAPI_is_initialized());
}

/* ---- TAU: a set for each component of each thread, attached sets for the whole machine ----
 */

static int sampled;
static void tau_handler(int set, void *address, long long vector, void *context)
{
	(void)set;
	sampled += address && vector && context;
}

static void tau_thread_set(int event)
{
	long long values[MANY] = {0};
	int set = PAPI_NULL, known[2] = {event, PAPI_NULL}, n = 2;
	void *kept = NULL;

	SAY(PAPI_create_eventset(&set));
	SAY(PAPI_assign_eventset_component(set, PAPI_COMPONENT_INDEX(event)));
	SAY(PAPI_assign_eventset_component(set, PAPI_COMPONENT_INDEX(event)));
	SAY(PAPI_add_event(set, event));
	SAY(PAPI_add_event(set, event));
	SAY(PAPI_add_named_event(set, "perf::CPU-MIGRATIONS"));
	SAY(PAPI_add_named_event(set, "rapl:::PACKAGE_ENERGY:PACKAGE0"));
	SAY(PAPI_list_events(set, known, &n));
	SAY(PAPI_set_thr_specific(PAPI_TLS_USR1, &set));
	SAY(PAPI_start(set));
	touch();
	SAY(PAPI_read(set, values));
	printf("faults %s\n", values[0] >= 100 && values[0] < 300 ? "as made" : "wrong");
	SAY(PAPI_reset(set));
	touch();
	SAY(PAPI_accum(set, values));
	printf("faults %s\n", values[0] >= 200 && values[0] < 600 ? "as made" : "wrong");
	SAY(PAPI_get_thr_specific(PAPI_TLS_USR1, &kept));
	printf("data %s\n", kept == &set ? "kept" : "lost");
	SAY(PAPI_stop(set, values));
	SAY(PAPI_cleanup_eventset(set));
	SAY(PAPI_destroy_eventset(&set));
}

static void tau_sampling(void)
{
	long long values[MANY];
	int set = PAPI_NULL, event = 0;

	SAY(PAPI_event_name_to_code("perf::PAGE-FAULTS", &event));
	SAY(PAPI_create_eventset(&set));
	SAY(PAPI_add_event(set, event));
	SAY(PAPI_overflow(set, event, 10000, 0, tau_handler));
	SAY(PAPI_start(set));
	SAY(PAPI_stop(set, values));
	SAY(PAPI_overflow(set, event, 0, 0, tau_handler));
	SAY(PAPI_cleanup_eventset(set));
	SAY(PAPI_destroy_eventset(&set));
}

/* Energy counters: TAU looks for the component by its name, and attaches a set to a processor.
 */
static void tau_machine(void)
{
	PAPI_cpu_option_t cpu;
	int n = PAPI_num_components(), set = PAPI_NULL, code = PAPI_NATIVE_MASK, found = 0;
	char name[PAPI_MAX_STR_LEN];

	for (int i = 0; i < n; i++) {
		const PAPI_component_info_t *c = PAPI_get_component_info(i);

		found += strstr(c->name, "rapl") != NULL;
		if (strcmp(c->name, "perf_event") == 0 &&
		    PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, i) == PAPI_OK) {
			SAY(PAPI_event_code_to_name(code, name));
			SAY(PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, i));
		}
	}
	printf("energy components: %d\n", found);
	SAY(PAPI_create_eventset(&set));
	SAY(PAPI_assign_eventset_component(set, 0));
	SAY(PAPI_set_granularity(PAPI_GRN_SYS));
	cpu.eventset = set;
	cpu.cpu_num = 0;
	SAY(PAPI_set_opt(PAPI_CPU_ATTACH, (PAPI_option_t *)&cpu));
	SAY(PAPI_set_multiplex(set));
	SAY(PAPI_cleanup_eventset(set));
	SAY(PAPI_destroy_eventset(&set));
	SAY(PAPI_set_granularity(PAPI_GRN_THR));
}

static void *tau_thread(void *event)
{
	long long before = PAPI_get_real_usec(), nsec = PAPI_get_real_nsec(),
		  virtual = PAPI_get_virt_usec();

	SAY(PAPI_register_thread());
	tau_thread_set(*(int *)event);
	printf("time %s\n", PAPI_get_real_usec() >= before && PAPI_get_real_nsec() > nsec &&
					    PAPI_get_virt_usec() >= virtual
				    ? "goes on"
				    : "stands");
	SAY(PAPI_unregister_thread());
	return NULL;
}

static void tau(void)
{
	pthread_t one;
	int code = 0, none = 0;

	SAY(PAPI_library_init(PAPI_VER_CURRENT));
	SAY(PAPI_thread_init(self));
	SAY(PAPI_set_domain(PAPI_DOM_USER | PAPI_DOM_KERNEL));
	SAY(PAPI_event_name_to_code("perf::PAGE-FAULTS", &code));
	SAY(PAPI_query_event(code));
	SAY(PAPI_event_name_to_code("NO_SUCH", &none));
	SAY(PAPI_lock(PAPI_LOCK_USR1));
	SAY(PAPI_unlock(PAPI_LOCK_USR1));
	tau_thread_set(code);
	pthread_create(&one, NULL, tau_thread, &code);
	pthread_join(one, NULL);
	tau_sampling();
	tau_machine();
	for (int e = 0; e > -PAPI_NUM_ERRORS; e--)
		printf("%s\n", PAPI_strerror(e));
	PAPI_shutdown();
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	if (argc < 2)
		return 2;
	if (strcmp(argv[1], "caliper") == 0)
		caliper(0);
	else if (strcmp(argv[1], "multiplexed") == 0)
		caliper(1);
	else
		tau();
	return 0;
}
