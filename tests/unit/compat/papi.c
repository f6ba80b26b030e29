/* SPDX-License-Identifier: MIT */
/* PAPI's functions as programs call them, with events that every kernel has. */
#include <papi.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include "tests/check.h"

enum { PAGES = 64, TOUCHES = 32 };

static int set;
static long long value[4];

static int begin(void)
{
	const PAPI_component_info_t *info;

	setenv("TACH_PMU", "skl", 1);
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
		return 0;
	info = PAPI_get_component_info(0);
	set = PAPI_NULL;
	return info && !info->disabled && PAPI_create_eventset(&set) == PAPI_OK;
}

static void end(void)
{
	int state;

	if (PAPI_state(set, &state) == PAPI_OK && state & PAPI_RUNNING)
		PAPI_stop(set, NULL);
	PAPI_cleanup_eventset(set);
	PAPI_destroy_eventset(&set);
	PAPI_shutdown();
}

/* Causes at least PAGES page faults. ThreadSanitizer, which keeps pages of its own for all that
 * it sees, would cause more, so it does not see this. */
__attribute__((no_sanitize("thread"))) static void touch(void)
{
	volatile char *pages =
		(volatile char *)syscall(SYS_mmap, NULL, PAGES * 4096, PROT_READ | PROT_WRITE,
					 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	for (int i = 0; i < PAGES; i++)
		pages[i * 4096] = 1;
	syscall(SYS_munmap, pages, PAGES * 4096);
}

static int with_faults(void)
{
	return begin() && PAPI_add_named_event(set, "perf::PAGE-FAULTS") == PAPI_OK;
}

static void counts_between_start_and_stop(void)
{
	long long again;

	if (!with_faults())
		SKIP("no event opens");
	touch();
	CHECK(PAPI_start(set) == PAPI_OK);
	touch();
	CHECK(PAPI_read(set, value) == PAPI_OK && value[0] >= PAGES && value[0] < 2 * PAGES);
	touch();
	CHECK(PAPI_stop(set, value) == PAPI_OK && value[0] >= 2 * PAGES &&
	      value[0] < 3 * PAGES);
	touch();
	CHECK(PAPI_read(set, &again) == PAPI_OK && again == value[0]);
	CHECK(PAPI_start(set) == PAPI_OK && PAPI_stop(set, value) == PAPI_OK &&
	      value[0] < PAGES);
	end();
}

static void accumulates_and_resets(void)
{
	if (!with_faults())
		SKIP("no event opens");
	CHECK(PAPI_start(set) == PAPI_OK);
	touch();
	value[0] = 1000000;
	CHECK(PAPI_accum(set, value) == PAPI_OK && value[0] >= 1000000 + PAGES);
	CHECK(PAPI_read(set, value) == PAPI_OK && value[0] < PAGES);
	touch();
	CHECK(PAPI_reset(set) == PAPI_OK && PAPI_read(set, value) == PAPI_OK &&
	      value[0] < PAGES);
	CHECK(PAPI_stop(set, value) == PAPI_OK && value[0] < PAGES);
	CHECK(PAPI_reset(set) == PAPI_OK && PAPI_read(set, value) == PAPI_OK && value[0] == 0);
	end();
}

static void events_come_and_go(void)
{
	int codes[4], n = 4, state;

	if (!with_faults())
		SKIP("no event opens");
	CHECK(PAPI_add_named_event(set, "perf::TASK-CLOCK") == PAPI_OK &&
	      PAPI_num_events(set) == 2);
	CHECK(PAPI_add_named_event(set, "perf::TASK-CLOCK") == PAPI_ECNFLCT);
	CHECK(PAPI_remove_named_event(set, "perf::PAGE-FAULTS") == PAPI_OK);
	CHECK(PAPI_list_events(set, codes, &n) == PAPI_OK && n == 1);
	CHECK(PAPI_start(set) == PAPI_OK && PAPI_state(set, &state) == PAPI_OK &&
	      state == PAPI_RUNNING);
	touch();
	CHECK(PAPI_stop(set, value) == PAPI_OK && value[0] > 0);
	CHECK(PAPI_destroy_eventset(&set) == PAPI_EINVAL &&
	      PAPI_cleanup_eventset(set) == PAPI_OK);
	CHECK(PAPI_get_eventset_component(set) == PAPI_ENOCMP);
	CHECK(PAPI_destroy_eventset(&set) == PAPI_OK && set == PAPI_NULL);
	PAPI_shutdown();
}

static void wrong_calls_get_papis_codes(void)
{
	int none = PAPI_NULL, code;

	CHECK(PAPI_create_eventset(&none) == PAPI_ENOINIT &&
	      PAPI_library_init(1) == PAPI_EINVAL);
	if (!with_faults())
		SKIP("no event opens");
	CHECK(PAPI_start(99) == PAPI_ENOEVST && PAPI_stop(set, value) == PAPI_ENOTRUN);
	CHECK(PAPI_read(set, NULL) == PAPI_EINVAL && PAPI_create_eventset(&set) == PAPI_EINVAL);
	CHECK(PAPI_start(set) == PAPI_OK && PAPI_start(set) == PAPI_EISRUN);
	CHECK(PAPI_add_event(set, PAPI_TOT_INS) == PAPI_EISRUN);
	CHECK(PAPI_cleanup_eventset(set) == PAPI_EISRUN &&
	      PAPI_write(set, value) == PAPI_ENOSUPP);
	CHECK(PAPI_stop(set, NULL) == PAPI_OK);
	CHECK(PAPI_event_name_to_code("perf::NO-SUCH", &code) == PAPI_ENOEVNT);
	CHECK(PAPI_query_event(PAPI_PRESET_MASK | 500) == PAPI_ENOTPRESET);
	CHECK(strcmp(PAPI_strerror(PAPI_ENOEVST), "No such EventSet available") == 0);
	CHECK(!PAPI_strerror(1) && !PAPI_strerror(-PAPI_NUM_ERRORS));
	end();
}

static void *in_a_thread(void *failed)
{
	int own = PAPI_NULL;
	long long faults = 0;
	unsigned long tids[8];
	int n = 8;

	*(int *)failed =
		!(PAPI_register_thread() == PAPI_OK && PAPI_create_eventset(&own) == PAPI_OK &&
		  PAPI_add_named_event(own, "perf::PAGE-FAULTS") == PAPI_OK &&
		  PAPI_start(own) == PAPI_OK);
	for (int i = 0; i < TOUCHES; i++)
		touch();
	*(int *)failed |= PAPI_stop(own, &faults) != PAPI_OK || faults < TOUCHES * PAGES ||
			  faults >= (TOUCHES + 1) * PAGES;
	*(int *)failed |= PAPI_list_threads(tids, &n) != PAPI_OK || n != 2 ||
			  PAPI_thread_id() != (unsigned long)pthread_self();
	*(int *)failed |=
		PAPI_unregister_thread() != PAPI_OK || PAPI_start(own) != PAPI_ENOEVST;
	return NULL;
}

static void threads_count_for_themselves(void)
{
	pthread_t thread;
	int failed = 1;

	if (!with_faults())
		SKIP("no event opens");
	CHECK(PAPI_thread_init((unsigned long (*)(void))(void *)pthread_self) == PAPI_OK);
	CHECK(PAPI_set_thr_specific(PAPI_USR1_TLS, &failed) == PAPI_OK &&
	      PAPI_start(set) == PAPI_OK);
	pthread_create(&thread, NULL, in_a_thread, &failed);
	pthread_join(thread, NULL);
	/* The start of a thread takes some faults, many under ThreadSanitizer. */
	CHECK(!failed && PAPI_stop(set, value) == PAPI_OK && value[0] < TOUCHES * PAGES);
	end();
}

static void attached_sets_count_others(void)
{
	int to[2], from[2], pid;
	char byte = 0;

	if (!with_faults())
		SKIP("no event opens");
	CHECK(pipe(to) == 0 && pipe(from) == 0);
	pid = fork();
	if (pid == 0) {
		close(to[1]);
		while (read(to[0], &byte, 1) == 1) {
			touch();
			if (write(from[1], &byte, 1) != 1)
				break;
		}
		_exit(0);
	}
	if (PAPI_attach(set, (unsigned long)pid) == PAPI_OK) {
		CHECK(PAPI_attach(set, (unsigned long)pid) == PAPI_EINVAL &&
		      PAPI_start(set) == PAPI_OK);
		CHECK(write(to[1], &byte, 1) == 1 && read(from[0], &byte, 1) == 1);
		CHECK(PAPI_stop(set, value) == PAPI_OK && value[0] >= PAGES);
		CHECK(PAPI_detach(set) == PAPI_OK && PAPI_detach(set) == PAPI_EINVAL);
	}
	close(to[1]);
	waitpid(pid, NULL, 0);
	close(to[0]), close(from[0]), close(from[1]);
	end();
}

static void multiplexed_sets_count(void)
{
	if (!with_faults())
		SKIP("no event opens");
	CHECK(PAPI_get_multiplex(set) == 0 && PAPI_set_multiplex(set) == PAPI_OK);
	CHECK(PAPI_get_multiplex(set) == 1 && PAPI_set_multiplex(set) == PAPI_EINVAL);
	CHECK(PAPI_start(set) == PAPI_OK);
	touch();
	CHECK(PAPI_stop(set, value) == PAPI_OK && value[0] >= PAGES && value[0] < 2 * PAGES);
	end();
}

/*
 * As with Debian's library: a set that gets a component again has none of its earlier
 * properties.
 */
static void emptied_sets_begin_anew(void)
{
	if (!with_faults())
		SKIP("no event opens");
	CHECK(PAPI_set_multiplex(set) == PAPI_OK && PAPI_cleanup_eventset(set) == PAPI_OK);
	CHECK(PAPI_get_multiplex(set) == 1);
	CHECK(PAPI_assign_eventset_component(set, 0) == PAPI_OK &&
	      PAPI_get_multiplex(set) == 0);
	CHECK(PAPI_set_multiplex(set) == PAPI_OK && PAPI_cleanup_eventset(set) == PAPI_OK);
	CHECK(PAPI_add_named_event(set, "perf::PAGE-FAULTS") == PAPI_OK);
	CHECK(PAPI_get_multiplex(set) == 0 && PAPI_start(set) == PAPI_OK);
	touch();
	CHECK(PAPI_stop(set, value) == PAPI_OK && value[0] >= PAGES && value[0] < 2 * PAGES);
	end();
}

static int overflows;
static void count_overflow(int which, void *address, long long vector, void *context)
{
	overflows += which == set && address && vector == 1 && context;
}

static int set_option(int option, int inherit)
{
	PAPI_option_t o;

	memset(&o, 0, sizeof o);
	o.inherit.eventset = set;
	o.inherit.inherit = inherit;
	return PAPI_set_opt(option, &o);
}

/* Answers of Debian's library for sets of other components. */
static void options_depend_on_the_component(void)
{
	static const struct {
		const char *component;
		int range, detach, inherit, no_event;
	} answers[] = {
		{"perf_event", PAPI_ENOSUPP, PAPI_EINVAL, PAPI_OK, PAPI_EINVAL},
		{"perf_event_uncore", PAPI_ENOSUPP, PAPI_EINVAL, PAPI_OK, 0},
		{"sde", PAPI_OK, PAPI_ECMP, PAPI_ECMP, PAPI_EINVAL},
		{"sysdetect", PAPI_ECMP, PAPI_ECMP, PAPI_ECMP, PAPI_ENOEVNT},
	};
	PAPI_option_t o;

	for (int i = 0; i < 4; i++) {
		if (!begin())
			SKIP("no event opens");
		PAPI_assign_eventset_component(set,
					       PAPI_get_component_index(answers[i].component));
		CHECK(set_option(PAPI_DATA_ADDRESS, 0) == answers[i].range);
		CHECK(PAPI_detach(set) == answers[i].detach);
		CHECK(set_option(PAPI_INHERIT, 0) == answers[i].inherit);
		CHECK(!answers[i].no_event ||
		      PAPI_overflow(set, PAPI_NULL, -1, 0, count_overflow) ==
			      answers[i].no_event);
		CHECK(PAPI_set_multiplex(set) == PAPI_OK);
		end();
	}
	if (!with_faults())
		SKIP("no event opens");
	memset(&o, 0, sizeof o);
	o.granularity.eventset = set;
	o.granularity.granularity = PAPI_GRN_THR;
	CHECK(PAPI_start(set) == PAPI_OK && PAPI_set_opt(PAPI_GRANUL, &o) == PAPI_OK);
	end();
}

static void children_begin_anew(void)
{
	int pid, status = 1;

	if (!with_faults())
		SKIP("no event opens");
	CHECK(PAPI_start(set) == PAPI_OK);
	pid = fork();
	if (pid == 0) {
		int own = PAPI_NULL, failed;

		failed = PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
			 PAPI_create_eventset(&own) != PAPI_OK ||
			 PAPI_add_named_event(own, "perf::PAGE-FAULTS") != PAPI_OK ||
			 PAPI_start(own) != PAPI_OK;
		touch();
		failed |= PAPI_stop(own, value) != PAPI_OK || value[0] < PAGES;
		_exit(failed);
	}
	CHECK(waitpid(pid, &status, 0) == pid && status == 0);
	touch();
	CHECK(PAPI_stop(set, value) == PAPI_OK && value[0] >= PAGES);
	end();
}

static void presets_have_natives(void)
{
	PAPI_event_info_t info;
	char name[PAPI_MAX_STR_LEN];
	int code = 0, n = 0;

	if (!begin())
		SKIP("no event opens");
	CHECK(PAPI_event_name_to_code("PAPI_TOT_INS", &code) == PAPI_OK &&
	      code == PAPI_TOT_INS);
	CHECK(PAPI_get_event_info(PAPI_TOT_INS, &info) == PAPI_OK && info.count == 1);
	CHECK(strcmp(info.derived, "NOT_DERIVED") == 0);
	CHECK(PAPI_event_code_to_name((int)info.code[0], name) == PAPI_OK &&
	      strstr(name, "INST"));
	CHECK(PAPI_get_event_info(PAPI_BR_PRC, &info) == PAPI_OK && info.count == 2);
	CHECK(strcmp(info.derived, "DERIVED_SUB") == 0);
	code = PAPI_NATIVE_MASK;
	CHECK(PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, 0) == PAPI_OK);
	do
		n++;
	while (PAPI_enum_cmp_event(&code, PAPI_ENUM_EVENTS, 0) == PAPI_OK);
	CHECK(n > 150, "%d", n);
	end();
}

/* The answers of Debian's libpapi, in the order of the calls. Each child begins without a use
 * of rocm_smi. */
static int answers_after(int use)
{
	int code = PAPI_NATIVE_MASK, rocm = PAPI_get_component_index("rocm_smi");
	const PAPI_component_info_t *info = PAPI_get_component_info(rocm);
	int sysdetect = PAPI_get_component_index("sysdetect");

	if (info->disabled != PAPI_EDELAY_INIT)
		return 1;
	switch (use) {
	case 0:
		if (PAPI_event_name_to_code("NO_SUCH", &code) != PAPI_ENOSUPP)
			return 2;
		break;
	case 1:
		if (PAPI_event_name_to_code("rocm_smi:::NO_SUCH", &code) != PAPI_ENOSUPP)
			return 3;
		break;
	case 2:
		if (PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, rocm) != PAPI_EINVAL)
			return 4;
	}
	if (info->disabled != PAPI_ENOSUPP ||
	    PAPI_enum_cmp_event(&code, PAPI_ENUM_FIRST, rocm) != PAPI_ENOCMP ||
	    PAPI_event_name_to_code("rocm_smi:::NO_SUCH", &code) != PAPI_ENOEVNT ||
	    PAPI_event_name_to_code("sysdetect:::NO_SUCH", &code) != PAPI_ECMP ||
	    PAPI_event_name_to_code("perf_event:::NO_SUCH", &code) != PAPI_ENOEVNT)
		return 5;
	for (int again = 0; again < 2; again++) {
		if (PAPI_event_name_to_code("NO_SUCH", &code) != PAPI_ECMP)
			return 6;
		PAPI_shutdown();
		if (again && PAPI_disable_component(sysdetect) != PAPI_OK)
			return 7;
		if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT)
			return 8;
	}
	return PAPI_event_name_to_code("NO_SUCH", &code) != PAPI_ENOEVNT;
}

static void unknown_names_get_the_last_components_answer(void)
{
	if (!begin())
		SKIP("no event opens");
	for (int use = 0; use < 3; use++) {
		int pid = fork(), status = 1;

		if (pid == 0)
			_exit(answers_after(use));
		CHECK(waitpid(pid, &status, 0) == pid && status == 0, "use %d: %#x", use,
		      (unsigned)status);
	}
	end();
}

static void a_users_file_defines_events(void)
{
	char path[] = "/tmp/tach-papi.XXXXXX";
	const char text[] = "CPU,skl\nEVENT,MINE,DERIVED_POSTFIX,N0|2|*|N1|+|,perf::PAGE-"
			    "FAULTS,perf::CPU-MIGRATIONS\n";
	PAPI_event_info_t info;
	int fd = mkstemp(path), code = 0;

	CHECK(fd >= 0 && write(fd, text, sizeof text - 1) == sizeof text - 1);
	close(fd);
	setenv("PAPI_USER_EVENTS_FILE", path, 1);
	if (!begin())
		SKIP("no event opens");
	unlink(path);
	CHECK(PAPI_event_name_to_code("MINE", &code) == PAPI_OK && code == PAPI_UE_MASK);
	CHECK(PAPI_get_event_info(code, &info) == PAPI_OK && info.count == 2);
	CHECK(PAPI_add_event(set, code) == PAPI_OK && PAPI_start(set) == PAPI_OK);
	touch();
	CHECK(PAPI_stop(set, value) == PAPI_OK && value[0] >= 2 * PAGES &&
	      value[0] < 4 * PAGES);
	unsetenv("PAPI_USER_EVENTS_FILE");
	end();
}

static void overflow_calls_the_handler(void)
{
	volatile double x = 1;

	if (!begin() || PAPI_add_named_event(set, "perf::TASK-CLOCK") != PAPI_OK)
		SKIP("no event opens");
	overflows = 0;
	if (PAPI_overflow(set, PAPI_NULL, 100000, 0, count_overflow) != PAPI_ENOEVNT)
		CHECK(0);
	CHECK(PAPI_overflow(set, PAPI_NULL, -1, 0, count_overflow) == PAPI_EINVAL);
	CHECK(PAPI_overflow(set, PAPI_NATIVE_MASK, 0, 0, count_overflow) != PAPI_OK);
	{
		int code;

		PAPI_event_name_to_code("perf::TASK-CLOCK", &code);
		CHECK(PAPI_overflow(set, code, 0, 0, count_overflow) == PAPI_EINVAL);
		if (PAPI_overflow(set, code, 100000, 0, count_overflow) != PAPI_OK)
			SKIP("sampling event cannot be opened");
		CHECK(PAPI_start(set) == PAPI_OK);
		while (PAPI_read(set, value) == PAPI_OK && value[0] < 20000000)
			x = x * 1.0000001;
		CHECK(PAPI_stop(set, value) == PAPI_OK && overflows > 0);
		CHECK(PAPI_overflow(set, code, 0, 0, NULL) == PAPI_OK);
	}
	end();
}

int main(void)
{
	CASE(wrong_calls_get_papis_codes);
	CASE(unknown_names_get_the_last_components_answer);
	CASE(counts_between_start_and_stop);
	CASE(accumulates_and_resets);
	CASE(events_come_and_go);
	CASE(threads_count_for_themselves);
	CASE(attached_sets_count_others);
	CASE(multiplexed_sets_count);
	CASE(emptied_sets_begin_anew);
	CASE(children_begin_anew);
	CASE(presets_have_natives);
	CASE(a_users_file_defines_events);
	CASE(overflow_calls_the_handler);
	CASE(options_depend_on_the_component);
	return check_done();
}
