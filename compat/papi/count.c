/* SPDX-License-Identifier: MIT */
/* Start, read, accumulate, reset and stop event sets. */
#include <string.h>
#include "compat/papi/state.h"

static int is_running(const struct pp_set *set)
{
	return set->state & PAPI_RUNNING;
}

/* ---- values of events ---- */

static long long value_of(const struct pp_event *e, const uint64_t *raw)
{
	uint64_t sum = raw[e->term[0]], n[TACH_FORMULA_OPERANDS_MAX];
	double value;

	switch (e->kind) {
	case PP_PLAIN:
		break;
	case PP_SUM:
		for (int i = 1; i < e->nterms; i++)
			sum += raw[e->term[i]];
		break;
	case PP_DIFFERENCE:
		for (int i = 1; i < e->nterms; i++)
			sum -= raw[e->term[i]];
		break;
	case PP_SHARE:
		return pp_topdown_value(e, raw);
	case PP_FORMULA:
		for (int i = 0; i < e->nterms; i++)
			n[i] = raw[e->term[i]];
		value = tach_formula_eval(e->formula, n, 0, NULL);
		/* A division by 0 gives NaN, which becomes 0. */
		return value > -0x1p63 && value < 0x1p63 ? (long long)value : 0;
	}
	return (long long)sum;
}

void pp_values(const struct pp_set *set, const uint64_t *raw, long long *values)
{
	for (int i = 0; i < set->nevents; i++)
		values[i] = value_of(&set->event[i], raw);
}

static int read_now(struct pp_set *set, long long *values)
{
	uint64_t raw[PP_EVENTS];
	int code = pp_raw(set, raw);

	if (code == PAPI_OK)
		pp_values(set, raw, values);
	return code;
}

/* ---- the fast paths ---- */

/* Returns 1 if the set runs in this thread and its events are the members of its reader. */
static inline int is_short(const struct pp_set *set)
{
	return set && set->reading == pp_self;
}

TACH_COLD int pp_read_long(struct pp_set *set, long long *values)
{
	int code;

	if (set->component < 0)
		return pp_return(PAPI_ENOCMP);
	if (!values)
		return pp_return(PAPI_EINVAL);
	if (is_running(set)) {
		code = read_now(set, values);
		return pp_return(code);
	}
	if (set->nevents)
		memcpy(values, set->stopped, (size_t)set->nevents * sizeof(*values));
	return PAPI_OK;
}

/*
 * Straight code for the usual numbers of events. Reads use the header's inline code, whose slow
 * path ends the function. After the slow path of tach_reader_read_n the set would be used
 * again, so each read would have to save registers.
 */
#define READ_INTO(array, n)                                                                    \
	(tach__read_one(reader, array, 0) && ((n) < 2 || tach__read_one(reader, array, 1)) &&  \
	 ((n) < 3 || tach__read_one(reader, array, 2)) &&                                      \
	 ((n) < 4 || tach__read_one(reader, array, 3)))
#define READ_SHORT(n)                                                                          \
	static uint32_t totals_##n(struct tach_reader *reader, uint64_t *value)                \
	{                                                                                      \
		return tach_reader_read_n(reader, value, n);                                   \
	}                                                                                      \
	static uint32_t since_##n(struct tach_reader *reader, uint64_t *value)                 \
	{                                                                                      \
		uint64_t now[n];                                                               \
                                                                                               \
		if (TACH_UNLIKELY(!READ_INTO(now, n)))                                         \
			return since_any(reader, value);                                       \
		_Pragma("GCC unroll 4") for (int i = 0; i < (n); i++) value[i] =               \
			now[i] - value[i];                                                     \
		return 0;                                                                      \
	}                                                                                      \
	static int read_##n(struct pp_set *set, long long *values)                             \
	{                                                                                      \
		const struct tach_reader *reader = set->reader;                                \
		uint64_t *value = (uint64_t *)values;                                          \
                                                                                               \
		if (TACH_UNLIKELY(set->reading != pp_self || !value) ||                        \
		    TACH_UNLIKELY(!READ_INTO(value, n)))                                       \
			return pp_read_long(set, values);                                      \
		_Pragma("GCC unroll 4") for (int i = 0; i < (n); i++) value[i] -=              \
			set->base[i];                                                          \
		return PAPI_OK;                                                                \
	}

static uint32_t totals_any(struct tach_reader *reader, uint64_t *value)
{
	return tach_reader_read(reader, value);
}

static uint32_t since_any(struct tach_reader *reader, uint64_t *value)
{
	uint64_t now[TACH_COUNTERS_MAX];
	uint32_t flags = tach_reader_read(reader, now);

	for (uint32_t i = 0; i < reader->count; i++)
		value[i] = now[i] - value[i];
	return flags;
}
READ_SHORT(1)
READ_SHORT(2)
READ_SHORT(3)
READ_SHORT(4)

static int read_any(struct pp_set *set, long long *values)
{
	uint64_t *value = (uint64_t *)values;

	if (TACH_UNLIKELY(set->reading != pp_self || !value) ||
	    TACH_UNLIKELY(tach_reader_read(set->reader, value) & TACH_FLAG_LOST))
		return pp_read_long(set, values);
	for (int i = 0; i < set->nevents; i++)
		value[i] -= set->base[i];
	return PAPI_OK;
}

void pp_choose_read(struct pp_set *set)
{
	static const struct {
		int (*read)(struct pp_set *, long long *);
		uint32_t (*totals)(struct tach_reader *, uint64_t *);
		uint32_t (*since)(struct tach_reader *, uint64_t *);
	} by_number[] = {{read_any, totals_any, since_any},
			 {read_1, totals_1, since_1},
			 {read_2, totals_2, since_2},
			 {read_3, totals_3, since_3},
			 {read_4, totals_4, since_4}};
	int members = set->nmembers < 5 ? set->nmembers : 0;

	set->read = by_number[set->nevents < 5 ? set->nevents : 0].read;
	set->totals = by_number[members].totals;
	set->since = by_number[members].since;
}

int PAPI_read(int EventSet, long long *values)
{
	struct pp_set *set = pp_set_of(EventSet);

	return TACH_LIKELY(set != NULL) ? set->read(set, values) : pp_return(PAPI_ENOEVST);
}

int PAPI_read_ts(int EventSet, long long *values, long long *cyc)
{
	struct pp_set *set = pp_set_of(EventSet);
	int code = set ? set->read(set, values) : pp_return(PAPI_ENOEVST);

	if (code == PAPI_OK)
		*cyc = PAPI_get_real_cyc();
	return code;
}

static TACH_COLD int start_long(struct pp_set *set)
{
	int code;

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (set->component < 0)
		return pp_return(PAPI_ENOCMP);
	if (set->master->running[set->component] || is_running(set))
		return pp_return(PAPI_EISRUN);
	if (set->nevents < 1)
		return pp_return(PAPI_EINVAL);
	code = pp_begin(set);
	if (code != PAPI_OK)
		return pp_return(code);
	set->state = (set->state & ~PAPI_STOPPED) | PAPI_RUNNING;
	if (!(set->state & (PAPI_ATTACHED | PAPI_CPU_ATTACHED)))
		set->master->running[set->component] = set;
	if (set->state & PAPI_OVERFLOWING) {
		code = pp_sampling_start(set);
		if (code != PAPI_OK) {
			PAPI_stop(set->number, NULL);
			return pp_return(code);
		}
	}
	set->reading = set->plain && set->reader ? set->opener : NULL;
	return PAPI_OK;
}

int PAPI_start(int EventSet)
{
	struct pp_set *set = pp_set_of(EventSet);

	if (TACH_UNLIKELY(!set || set->ready != pp_self || set->state != PAPI_STOPPED ||
			  pp_self->running[PP_CORE]))
		return start_long(set);
	set->state = PAPI_RUNNING;
	pp_self->running[PP_CORE] = set;
	set->reading = set->plain ? pp_self : NULL;
	/*
	 * The start of a set is what its counters had counted since they were opened. A mark
	 * would do for a few reads; but a mark is good only until the kernel moves the thread
	 * or the counters, and each read after that would be a slow one.
	 */
	if (TACH_LIKELY(!(set->totals(set->reader, set->base) & TACH_FLAG_LOST)))
		return PAPI_OK;
	set->state = PAPI_STOPPED;
	set->reading = NULL;
	set->ready->running[PP_CORE] = NULL;
	return start_long(set);
}

static TACH_COLD int stop_long(struct pp_set *set, long long *values)
{
	int code;

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (set->component < 0)
		return pp_return(PAPI_ENOCMP);
	if (!is_running(set))
		return pp_return(PAPI_ENOTRUN);
	code = read_now(set, set->stopped);
	if (code == PAPI_OK)
		code = pp_end(set);
	if (code != PAPI_OK)
		return pp_return(code);
	if (set->state & PAPI_OVERFLOWING)
		pp_sampling_stop(set);
	if (values)
		memcpy(values, set->stopped, (size_t)set->nevents * sizeof(*values));
	set->state = (set->state & ~PAPI_RUNNING) | PAPI_STOPPED;
	set->reading = NULL;
	if (set->master->running[set->component] == set)
		set->master->running[set->component] = NULL;
	return PAPI_OK;
}

int PAPI_stop(int EventSet, long long *values)
{
	struct pp_set *set = pp_set_of(EventSet);
	int i = 0;

	if (TACH_UNLIKELY(!is_short(set) || set->state != PAPI_RUNNING ||
			  set->read(set, set->stopped) != PAPI_OK))
		return stop_long(set, values);
	if (values)
		do
			values[i] = set->stopped[i];
		while (++i < set->nevents);
	set->state = PAPI_STOPPED;
	set->reading->running[PP_CORE] = NULL;
	set->reading = NULL;
	return PAPI_OK;
}

int PAPI_reset(int EventSet)
{
	struct pp_set *set = pp_set_of(EventSet);

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (set->component < 0)
		return pp_return(PAPI_ENOCMP);
	if (is_running(set))
		return pp_return(set->reader && set->opener != pp_self ? PAPI_ECLOST
								       : pp_begin(set));
	if (set->nevents)
		memset(set->stopped, 0, (size_t)set->nevents * sizeof(*set->stopped));
	return PAPI_OK;
}

int PAPI_accum(int EventSet, long long *values)
{
	struct pp_set *set = pp_set_of(EventSet);
	int code = PAPI_OK;

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (set->component < 0)
		return pp_return(PAPI_ENOCMP);
	if (!values)
		return pp_return(PAPI_EINVAL);
	if (is_short(set) && set->read(set, set->stopped) == PAPI_OK) {
		/* The next sum begins where this one ends, so no event between them is lost. */
		for (int i = 0; i < set->nevents; i++) {
			values[i] += set->stopped[i];
			set->base[i] += (uint64_t)set->stopped[i];
		}
		return PAPI_OK;
	}
	if (is_running(set))
		code = read_now(set, set->stopped);
	if (code != PAPI_OK)
		return pp_return(code);
	for (int i = 0; i < set->nevents; i++)
		values[i] += set->stopped[i];
	return PAPI_reset(EventSet);
}

/* As with PAPI, counters of a running set cannot be written. If the set is stopped, nothing
 * would read the values. */
int PAPI_write(int EventSet, long long *values)
{
	struct pp_set *set = pp_set_of(EventSet);

	if (!set)
		return pp_return(PAPI_ENOEVST);
	if (set->component < 0)
		return pp_return(PAPI_ENOCMP);
	if (!values)
		return pp_return(PAPI_EINVAL);
	return is_running(set) ? PAPI_ENOSUPP : PAPI_OK;
}
