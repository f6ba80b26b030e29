/* SPDX-License-Identifier: MIT */
/* Starts and ends the library, gives its user locks, and sets the state after a fork. */
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <unistd.h>
#include "compat/papi/state.h"

enum { NEVER = 1, ITIMER_NS = 10000000 };
/* The interface is that of PAPI 7.0; PAPI 7.2 has larger structs. */
enum { VERSION_7_1 = PAPI_VERSION_NUMBER(7, 1, 0, 0) };

struct pp_process pp_process = {.outcome = NEVER};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char locked[PP_LOCKS];

void pp_enter(void)
{
	pthread_mutex_lock(&lock);
}

void pp_leave(void)
{
	pthread_mutex_unlock(&lock);
}

static void hold_locks(void)
{
	pp_regions_hold();
	pthread_mutex_lock(&lock);
}

static void release_locks(void)
{
	pthread_mutex_unlock(&lock);
	pp_regions_release();
}

/* The counters belong to the parent. The child's sets are stopped, and the child may start
 * them. */
static void library_forked(void)
{
	pthread_mutex_unlock(&lock);
	pp_threads_forked();
	pp_sets_forked();
	pp_regions_forked();
}

static void watch_forks(void)
{
	pthread_atfork(hold_locks, release_locks, library_forked);
}

static void forget_all(void)
{
	pp_sets_free(NULL);
	pp_threads_end();
	pp_presets_forget();
	pp_natives_forget();
	pp_maps_forget();
}

static int begin_library(void)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	int code, native = PAPI_NATIVE_MASK;

	pthread_once(&once, watch_forks);
	memset(locked, 0, sizeof locked);
	pp_process.pid = getpid();
	pp_process.itimer_number = ITIMER_PROF;
	pp_process.itimer_signal = SIGPROF;
	pp_process.itimer_ns = ITIMER_NS;
	pp_components_begin();
	code = pp_threads_begin();
	if (code != PAPI_OK)
		return code;
	pp_presets_begin();
	/* Programs assume that the lowest native code exists. */
	if (!pp_component_disabled(PP_CORE))
		pp_native_next(&native, PAPI_ENUM_FIRST, PP_CORE);
	pp_process.level = PAPI_LOW_LEVEL_INITED;
	return PAPI_VER_CURRENT;
}

int PAPI_library_init(int version)
{
	static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER;
	int outcome;

	if (version != PAPI_VER_CURRENT && version != VERSION_7_1)
		return pp_return(PAPI_EINVAL);
	pthread_mutex_lock(&one);
	if (pp_process.outcome == NEVER || pp_process.pid != getpid()) {
		if (pp_process.outcome != NEVER)
			forget_all();
		pp_process.outcome = begin_library();
	}
	outcome = pp_process.outcome;
	pthread_mutex_unlock(&one);
	return outcome < PAPI_OK ? pp_return(outcome) : version;
}

void PAPI_shutdown(void)
{
	if (pp_process.outcome == NEVER)
		return;
	forget_all();
	pp_process.outcome = NEVER;
	pp_process.level = PAPI_NOT_INITED;
}

int PAPI_is_initialized(void)
{
	return pp_process.level;
}

int PAPI_set_debug(int level)
{
	PAPI_option_t option;

	memset(&option, 0, sizeof option);
	option.debug.level = level;
	option.debug.handler = pp_process.handler;
	return PAPI_set_opt(PAPI_DEBUG, &option);
}

int PAPI_lock(int number)
{
	if (number < 0 || number >= PP_LOCKS)
		return pp_return(PAPI_EINVAL);
	while (__atomic_test_and_set(&locked[number], __ATOMIC_ACQUIRE))
		sched_yield();
	return PAPI_OK;
}

int PAPI_unlock(int number)
{
	if (number < 0 || number >= PP_LOCKS)
		return pp_return(PAPI_EINVAL);
	__atomic_clear(&locked[number], __ATOMIC_RELEASE);
	return PAPI_OK;
}
