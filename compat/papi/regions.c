/* SPDX-License-Identifier: MIT */
/*
 * Regions by name: begin and end. A thread appends a record for each entry to its own log,
 * without a lock. Costly work (times in nanoseconds, differences, text) waits for the output.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "compat/papi/regions.h"

struct pp_regions pp_regions;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static unsigned long kernel_tid(void)
{
	return (unsigned long)syscall(SYS_gettid);
}

static unsigned long process_id(void)
{
	return (unsigned long)getpid();
}

/* ---- the first call of the process ---- */

static int begin_library(void)
{
	const char *many = secure_getenv("PAPI_HL_THREAD_MULTIPLE");

	pp_regions.begun = 1;
	pp_regions.verbose = secure_getenv("PAPI_HL_VERBOSE") != NULL;
	if (PAPI_library_init(PAPI_VER_CURRENT) != PAPI_VER_CURRENT ||
	    PAPI_thread_init(!many || atoi(many) == 1 ? kernel_tid : process_id) != PAPI_OK) {
		pp_regions_say("Error: the library does not start.\n");
		return PAPI_EMISC;
	}
	if (pp_output_prepare(&pp_regions.folder) != PAPI_OK)
		return PAPI_EMISC;
	pp_regions.multiplexed =
		secure_getenv("PAPI_MULTIPLEX") && PAPI_multiplex_init() == PAPI_OK;
	pp_regions.clock_is_constant = pp_clock_is_constant();
	pp_regions.first_clock = tach_clock();
	pp_regions.first_ns = pp_regions_ns();
	atexit(PAPI_hl_print_output);
	return PAPI_OK;
}

/* Initialises the library and chooses the events, once. */
static int get_ready(const char *events)
{
	int code = PAPI_OK;

	if (__atomic_load_n(&pp_regions.state, __ATOMIC_ACQUIRE) == PP_REGIONS_READY)
		return PAPI_OK;
	pthread_mutex_lock(&lock);
	if (pp_regions.state == PP_REGIONS_BROKEN)
		code = PAPI_EMISC;
	if (pp_regions.state == PP_REGIONS_NEW) {
		if (!pp_regions.begun)
			code = begin_library();
		if (code == PAPI_OK)
			code = pp_choice_make(&pp_regions.choice, events);
		pp_regions.record_size =
			sizeof(struct pp_record) +
			(size_t)(pp_regions.choice.nevents + !pp_regions.clock_is_constant) *
				sizeof(long long);
		__atomic_store_n(&pp_regions.state,
				 code == PAPI_OK ? PP_REGIONS_READY : PP_REGIONS_BROKEN,
				 __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&lock);
	return code;
}

/* ---- a thread's log ---- */

static void close_sets(struct pp_log *log)
{
	for (int i = 0; i < pp_regions.choice.nsets; i++) {
		PAPI_stop(log->set[i], NULL);
		PAPI_cleanup_eventset(log->set[i]);
		PAPI_destroy_eventset(&log->set[i]);
	}
	log->only = NULL;
	log->running = 0;
	log->broken = 1;
}

/* After an error there is no output, as with PAPI. */
static int fail_region(struct pp_log *log, int code)
{
	if (log)
		close_sets(log);
	__atomic_store_n(&pp_regions.state, PP_REGIONS_BROKEN, __ATOMIC_RELEASE);
	return code;
}

static int is_broken(struct pp_log *log)
{
	if (__atomic_load_n(&pp_regions.state, __ATOMIC_ACQUIRE) != PP_REGIONS_BROKEN)
		return 0;
	if (log && !log->broken)
		close_sets(log);
	return 1;
}

static int make_log(struct pp_log **out)
{
	struct pp_log *log = calloc(1, sizeof *log);
	struct pp_thread *self;
	int code;

	if (!log)
		return PAPI_ENOMEM;
	for (int i = 0; i < PP_COMPONENTS; i++)
		log->set[i] = PAPI_NULL;
	code = pp_thread_get(&self);
	if (code == PAPI_OK)
		code = pp_choice_open(&pp_regions.choice, log);
	if (code != PAPI_OK) {
		close_sets(log);
		free(log);
		return code;
	}
	log->tid = self->tid;
	self->log = log;
	pthread_mutex_lock(&lock);
	log->next = pp_regions.logs;
	pp_regions.logs = log;
	pthread_mutex_unlock(&lock);
	*out = log;
	return PAPI_OK;
}

static inline struct pp_record *add_record(struct pp_log *log)
{
	struct pp_record *record;

	if (TACH_UNLIKELY((size_t)(log->end - log->free) < pp_regions.record_size) &&
	    !pp_log_add_block(log))
		return NULL;
	record = (struct pp_record *)(void *)log->free;
	log->free += pp_regions.record_size;
	return record;
}

static inline const char *find_name(struct pp_log *log, const char *text)
{
	unsigned slot = pp_name_slot(text);

	if (TACH_LIKELY(log->known[slot].given == text) &&
	    strcmp(log->known[slot].text, text) == 0)
		return log->known[slot].text;
	return pp_log_copy_name(log, text);
}

/* ---- edges ---- */

static inline void begin_clock(struct pp_record *record)
{
	record->clock = tach_clock();
	if (TACH_UNLIKELY(!pp_regions.clock_is_constant))
		record->value[pp_regions.choice.nevents] = pp_regions_ns();
}

/* Stores the time since the entry began in the record, which may be the entry's own. */
static inline void end_clock(struct pp_record *record, const struct pp_record *entry)
{
	const int n = pp_regions.choice.nevents;

	record->clock = tach_clock() - entry->clock;
	if (TACH_UNLIKELY(!pp_regions.clock_is_constant))
		record->value[n] = pp_regions_ns() - entry->value[n];
}

/* Writes the record of a new entry, except counts and times; NULL: no memory. */
static inline struct pp_record *open_entry(struct pp_log *log, const char *region)
{
	const char *name = find_name(log, region);
	struct pp_record *record = name ? add_record(log) : NULL;

	if (TACH_UNLIKELY(!record))
		return NULL;
	record->name = name;
	record->parent = log->open;
	record->reads = 0;
	record->id = log->opened++;
	log->open = record;
	return record;
}

static TACH_COLD int begin_long(const char *region)
{
	struct pp_log *log = pp_self->log;
	struct pp_record *record;
	int code;

	if (!region)
		return PAPI_EINVAL;
	PAPI_rate_stop();
	if (is_broken(log))
		return PAPI_EMISC;
	code = get_ready(NULL);
	if (code != PAPI_OK)
		return code;
	if (!log) {
		code = make_log(&log);
		if (code != PAPI_OK)
			return fail_region(NULL, code);
	}
	if (!log->running)
		code = pp_choice_start(&pp_regions.choice, log);
	if (code != PAPI_OK)
		return fail_region(log, code);
	record = open_entry(log, region);
	if (!record)
		return fail_region(log, PAPI_ENOMEM);
	code = pp_events_read(log, record->value);
	begin_clock(record);
	return code == PAPI_OK ? PAPI_OK : fail_region(log, code);
}

/* log->only is set if this thread has one set and no error has occurred. */
static inline int is_short(const struct pp_log *log)
{
	return log && log->only && log->only->reading == pp_self &&
	       pp_regions.state == PP_REGIONS_READY;
}

int PAPI_hl_region_begin(const char *region)
{
	struct pp_log *log = pp_self->log;
	struct pp_record *record;
	uint32_t lost;

	if (TACH_UNLIKELY(!region || !is_short(log)))
		return begin_long(region);
	record = open_entry(log, region);
	if (TACH_UNLIKELY(!record))
		return fail_region(log, PAPI_ENOMEM);
	lost = log->only->totals(log->only->reader, (uint64_t *)record->value);
	begin_clock(record);
	return TACH_LIKELY(!(lost & TACH_FLAG_LOST)) ? PAPI_OK : fail_region(log, PAPI_ECLOST);
}

static TACH_COLD int refuse_edge(const char *call, const char *region)
{
	struct pp_log *log = pp_self->log;

	if (!region)
		return PAPI_EINVAL;
	if (is_broken(log))
		return PAPI_EMISC;
	if (log && log->opened && !log->running)
		return PAPI_ENOTRUN;
	pp_regions_say("Warning: %s(\"%s\") has no matching region in this thread.\n", call,
		       region);
	return PAPI_EMISC;
}

int PAPI_hl_read(const char *region)
{
	struct pp_log *log = pp_self->log;
	struct pp_record *open, *record;
	int code;

	if (!region || is_broken(log) || !log || !log->opened || !log->running)
		return refuse_edge("PAPI_hl_read", region);
	open = log->open;
	if (!open || strcmp(open->name, region) != 0)
		return PAPI_OK; /* PAPI ignores this error too */
	record = add_record(log);
	if (!record)
		return fail_region(log, PAPI_ENOMEM);
	record->name = NULL;
	record->parent = open;
	record->reads = ++open->reads;
	code = pp_events_end(log, record, open);
	end_clock(record, open);
	return code == PAPI_OK ? PAPI_OK : fail_region(log, code);
}

static TACH_COLD int end_long(const char *region)
{
	struct pp_log *log = pp_self->log;
	struct pp_record *record;
	int code;

	if (!region || is_broken(log) || !log || !log->opened || !log->running)
		return refuse_edge("PAPI_hl_region_end", region);
	record = log->open;
	if (!record || strcmp(record->name, region) != 0) {
		refuse_edge("PAPI_hl_region_end", region);
		return fail_region(log, PAPI_EINVAL);
	}
	end_clock(record, record);
	code = pp_events_end(log, record, record);
	if (code != PAPI_OK)
		return fail_region(log, code);
	log->open = record->parent;
	log->closed++;
	return PAPI_OK;
}

int PAPI_hl_region_end(const char *region)
{
	struct pp_log *log = pp_self->log;
	struct pp_record *record;

	if (TACH_UNLIKELY(!region || !is_short(log)))
		return end_long(region);
	record = log->open;
	if (TACH_UNLIKELY(!record || strcmp(record->name, region) != 0))
		return end_long(region);
	end_clock(record, record);
	if (TACH_UNLIKELY(log->only->since(log->only->reader, (uint64_t *)record->value) &
			  TACH_FLAG_LOST))
		return fail_region(log, PAPI_ECLOST);
	log->open = record->parent;
	log->closed++;
	return PAPI_OK;
}

int PAPI_hl_stop(void)
{
	struct pp_log *log = pp_self->log;

	if (!log || !log->running)
		return PAPI_ENOEVNT;
	for (int i = 0; i < pp_regions.choice.nsets; i++) {
		int code = PAPI_stop(log->set[i], NULL);

		if (code != PAPI_OK)
			return code;
	}
	log->running = 0;
	return PAPI_OK;
}

int PAPI_hl_set_events(const char *events)
{
	return is_broken(pp_self->log) ? PAPI_EMISC : get_ready(events);
}

void PAPI_hl_print_output(void)
{
	pthread_mutex_lock(&lock);
	if (pp_regions.state == PP_REGIONS_READY && !pp_regions.written) {
		pp_regions.written = 1;
		pp_output_write();
	}
	pthread_mutex_unlock(&lock);
}

void pp_regions_hold(void)
{
	pthread_mutex_lock(&lock);
}

void pp_regions_release(void)
{
	pthread_mutex_unlock(&lock);
}

/*
 * A child reports only its own regions. The parent's records stay in memory, because copies of
 * them cost nothing, but no list contains them.
 */
void pp_regions_forked(void)
{
	struct pp_log *log = pp_self->log;

	pthread_mutex_unlock(&lock);
	pp_regions.logs = log;
	if (!log)
		return;
	log->next = NULL;
	log->running = log->opened = log->closed = 0;
	log->open = NULL;
	log->first = log->last = NULL;
	log->free = log->end = NULL;
}
