/* SPDX-License-Identifier: MIT */
/*
 * Named regions of code: TACH_START / TACH_STOP / TACH_SCOPE, and begin/end as functions.
 *
 *     TACH_START(parse); ... the code to measure ... TACH_STOP(parse);
 *
 * An edge is a test and a call, less than 100 bytes for both. It makes no system call where the
 * counters can be read in user space. Regions may nest and recurse. Every thread has its own
 * sums. Choose the events at run time: with tach_regions_configure, or with TACH_ENABLE=1 and
 * TACH_EVENTS, TACH_METRICS, TACH_REGIONS, TACH_OUTPUT in the environment. Until then, an edge
 * costs one load and one predicted branch. With -DTACH_DISABLE the macros compile to nothing.
 */
#ifndef TACH_REGION_H
#define TACH_REGION_H

#include <tach/reader.h>

struct tach_region_mark;

/* A place in the program, in static storage of the caller. The first entry registers it and
 * copies the strings, so the object that contains it may be unloaded. */
struct tach_site {
	/* The function that START calls unless the site is switched off. It never changes. */
	void (*begin)(struct tach_site *site, struct tach_region_mark *mark) TACH_NOTHROW;
	uint64_t id;	 /* TACH_SITE_NEW, TACH_SITE_OFF, or the number of its slot */
	uint32_t line;	 /* 0: unknown */
	uint32_t fenced; /* the mode of measurement; one per site */
	const char *name, *file, *function;
};
#define TACH_SITE_OFF 0u /* switched off: START returns after one load and one branch */
#define TACH_SITE_NEW 0xffffffffu /* never entered: START takes the slow path */
/* fenced: a constant, 0 or 1, or TACH_SITE_FLAT. */
#define TACH_SITE_INIT(name, fenced, function)                                                 \
	{                                                                                      \
		(fenced) == TACH_SITE_FLAT ? tach__region_begin_flat                           \
		: (fenced)		   ? tach__region_begin_fenced                         \
					   : tach__region_begin,                                               \
			TACH_SITE_NEW, __LINE__, fenced, name, __FILE__, function              \
	}
#define TACH_SITE_FLAT 16u

/* An open region. It is on the stack, or where the caller of tach_region_begin puts it. */
struct tach_region_mark {
	void (*end)(struct tach_region_mark *mark) TACH_NOTHROW; /* NULL: nothing to stop */
	/* Private to the library: the state of the thread before START, and the sums. */
	uint64_t state;
	void *part;
	uint64_t pairs[2];
	struct tach_mark counters;
};

TACH_BEGIN_DECLS

/* The functions of the edges, once per program. */
TACH_API void tach__region_begin(struct tach_site *site,
				 struct tach_region_mark *mark) TACH_NOTHROW;
TACH_API void tach__region_begin_fenced(struct tach_site *site,
					struct tach_region_mark *mark) TACH_NOTHROW;
TACH_API void tach__region_begin_flat(struct tach_site *site,
				      struct tach_region_mark *mark) TACH_NOTHROW;

/* Used by TACH_START_NAMED: `site` is its gate, and mark->part the name. */
TACH_API void tach__region_begin_named(struct tach_site *site,
				       struct tach_region_mark *mark) TACH_NOTHROW;

/*
 * The inline code of an edge: a test and a call through a pointer, without a PLT entry or
 * thread pointer. Calibration measures everything else of an edge, but not these instructions.
 * So their number must not depend on the compiler: the test is opaque, because compilers would
 * merge it with others, and there is only one straight path. docs/limits.md lists the compiler
 * flags that change it anyway.
 */
TACH_INLINE void tach__region_start(struct tach_site *site, struct tach_region_mark *mark)
{
	TACH__CLEAR(mark->end);
	TACH_UNLESS(site->id, off);
	site->begin(site, mark);
off:;
}

TACH_INLINE void tach__region_stop(struct tach_region_mark *mark)
{
	TACH_UNLESS(mark->end, off);
	mark->end(mark);
off:;
}

/* Returns 1 if TACH_START_NAMED must evaluate the name. */
TACH_INLINE int tach__region_wanted(const struct tach_site *gate, struct tach_region_mark *mark)
{
	mark->end = TACH__NULL;
	return __atomic_load_n(&gate->id, __ATOMIC_RELAXED) != TACH_SITE_OFF;
}

TACH_INLINE void tach__region_start_named(struct tach_site *gate, struct tach_region_mark *mark,
					  const char *name)
{
	__builtin_memcpy(&mark->part, &name, sizeof name);
	gate->begin(gate, mark);
}

/*
 * ---- Function form: for regions that span functions, and for other languages ----
 *
 * The caller owns the mark. It may be part of an object, and must not move until the end. Call
 * begin and end on the same thread. An end on another thread (coroutines, tasks), an end
 * without a begin, and a second end are refused and counted; they do no harm. Both are
 * async-signal-safe: the first entry of a thread opens its counters with all signals blocked
 * and without malloc.
 *
 * Regions may overlap: A begins, B begins, A ends, B ends. tach-threads(7) explains their
 * values.
 *
 * A handler may begin a region and return without ending it. If it interrupted a START or STOP,
 * that edge does not detect it. Regions that begin next then count in the self of the region
 * that was stopped. The thread's next slow path, or a snapshot, detects this and flags the
 * regions with a wrong self as incomplete. The entry that the handler began is counted or lost.
 */
#ifdef __cplusplus
#define TACH_REGION_MARK_INIT                                                                  \
	{                                                                                      \
	}
#else
#define TACH_REGION_MARK_INIT                                                                  \
	{                                                                                      \
		0                                                                              \
	}
#endif
/* MT-Safe race:mark | AS-Safe | AC-Safe | allocates */
TACH_API void tach_region_begin(struct tach_site *site, struct tach_region_mark *mark)
	TACH_NONNULL(2);
/* MT-Safe race:mark | AS-Safe | AC-Safe | allocates */
TACH_API void tach_region_end(struct tach_region_mark *mark) TACH_NONNULL(1);
/* Returns the size of struct tach_region_mark, as tach_mark_size does for struct tach_mark. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API size_t tach_region_mark_size(void);
/*
 * Reads the counts of an open region of the calling thread so far, for bindings that show each
 * entry. Writes the first n values. values[0] is time, in ticks of the region clock
 * (tach_counts.clock_hz). The set's members follow, one for each quantity of a snapshot. They
 * include nested regions and the cost of measuring, also of this call. *flags: tach/flags.h,
 * for the hardware members. *generation changes with the set. Returns the number of values.
 * TACH_ERR_STATE: the region is not open, is not measured, or belongs to another thread.
 */
/* MT-Safe race:mark | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_region_read(const struct tach_region_mark *mark, uint64_t *values, int n,
			      uint32_t *flags, uint32_t *generation) TACH_NONNULL(1, 2, 4, 5);

/*
 * Returns the site of that name, and creates it if it does not exist. The library owns it for
 * ever. Returns NULL if there are TACH_SITES_MAX sites; a begin with NULL measures nothing. It
 * takes a lock, so keep the result. Any thread may call it, but not a signal handler.
 */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe lock | allocates */
TACH_API struct tach_site *tach_site_get(const char *name) TACH_NONNULL(1) TACH_MUST_USE;
#define TACH_SITES_MAX 30000
/* Maximum number of names that TACH_START_NAMED tells apart. Entries with further names count
 * in the region TACH_NAMES_OTHER. */
#define TACH_NAMES_MAX	 2000
#define TACH_NAMES_OTHER "(other names)"

/* ---- Choosing the counters ---- */

/*
 * A field that is NULL or 0 is taken from the environment variable of that name, if it is set.
 */
struct tach_regions_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	/*
	 * The set to count. On success the library owns it, and frees it after the last thread
	 * and the last snapshot have released it. If you give a set again: TACH_ERR_INVAL.
	 * NULL: the library makes a set from events and metrics.
	 */
	struct tach_set *set;
	/*
	 * As in struct tach_set_options. Both NULL: cycles, instructions, branch and cache
	 * misses, with ipc and misses per 1000 instructions, up to the number of available
	 * counters. If the machine has no counters, only the clock; events "" also means only
	 * the clock. Software events are counted if you name them.
	 */
	const char *events, *metrics;
	/* Globs separated by commas. "!" before a glob excludes: "parse*,!parse_header". NULL:
	 * all regions. Longer than 1,023 bytes: TACH_ERR_TOOMANY. */
	const char *only;
	uint32_t sparse; /* measure one entry in `sparse` on average, at random; 0, 1: all */
	uint32_t warmup; /* leave out the first entries of a region in each thread */
	uint32_t histograms; /* 1: keep a histogram per region and quantity */
	/* TACH_SET_INTERRUPTS or TACH_SET_CORRECT (tach/set.h), if the library makes the set. A
	 * set that you give has its own flags. */
	uint32_t interrupts;
	/*
	 * Keep the worst entries of each region: "8" keeps the 8 with the most time, "8:cycles"
	 * those with the most cycles; at most 64. See tach_snapshot_worst. "0": keep none, even
	 * if the environment asks for them.
	 */
	const char *worst;
	/*
	 * For more events than the processor can count at once: the library divides them into
	 * sets, which take turns in each thread. A turn has this number of outermost entries on
	 * average; its length is random. A snapshot shows all events as if each had been
	 * counted in every entry, with the sampling error (95 %). 0: no turns. Together with
	 * sparse, warmup, histograms, interrupts or worst: TACH_ERR_INVAL.
	 */
	uint32_t turns;
	uint32_t reserved; /* 0 */
	/*
	 * Divides the rows of a region: "tag" (tach_tag, its value when the entry began),
	 * "task" (tach/task.h, the task that ran), "thread"; separate with commas. "tag" and
	 * "thread" give up to 64 rows each, "tag:100" up to 100 (at most 1000), "task" up to
	 * 62. All further values share the row "other", and the report says so. "": do not
	 * divide.
	 */
	const char *by;
};

/*
 * Switches regions on, or to another set. A thread switches at its next START outside any
 * region. Sums then start from zero. NULL: configures from the environment, as at start-up.
 * TACH_ERR_STATE: the calling thread is inside a region. Any thread, not in signal handlers.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_regions_configure(const struct tach_regions_options *opt,
				    struct tach_error *err);
/* Switches all regions off. An edge then costs one load and one branch. Sums stay readable. */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe lock | no allocation */
TACH_API void tach_regions_disable(void);
/*
 * Sets the tag of the calling thread's current work, such as a request's number or a hash. A
 * worst entry stores the tag that was set when the entry ended. This call takes about two
 * instructions. If rows are divided by tag (options.by), it takes more, and a new tag needs
 * memory.
 */
/* MT-Safe | AS-Safe | AC-Safe | allocates */
TACH_API void tach_tag(uint64_t tag);
/* Returns 1 if regions are switched on. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_regions_enabled(void);

TACH_END_DECLS

/* ---- The macros ---- */

#ifdef TACH_DISABLE

#define TACH_START(name)	     ((void)0)
#define TACH_START_FENCED(name)	     ((void)0)
#define TACH_START_FLAT(name)	     ((void)0)
#define TACH_STOP(name)		     ((void)0)
#define TACH_SCOPE(name)	     ((void)0)
#define TACH_SCOPE_FENCED(name)	     ((void)0)
#define TACH_SCOPE_FLAT(name)	     ((void)0)
#define TACH_START_NAMED(expression) (0 ? (void)(expression) : (void)0)
#define TACH_STOP_NAMED()	     ((void)0)
#define TACH_SCOPE_NAMED(expression) TACH_START_NAMED(expression)

#else

/*
 * A jump over a START into its scope would end a region that never began, through a pointer
 * with a random value. Clang refuses such jumps because of the cleanup attribute; gcc refuses
 * them for a variable length array, and both for a C++ constructor. This generates no code.
 */
#ifdef __cplusplus
struct tach__no_jump {
	__attribute__((always_inline, no_instrument_function)) tach__no_jump()
	{
	}
};
#define TACH__NO_JUMP(name)                                                                    \
	struct tach__no_jump TACH_START_of_##name##_needs_a_block_of_its_own                   \
		__attribute__((unused));
#elif defined(__clang__)
#define TACH__NO_JUMP(name)
#else
#define TACH__NO_JUMP(name)                                                                    \
	_Pragma("GCC diagnostic push") _Pragma(                                                \
		"GCC diagnostic ignored \"-Wvla\"") typedef char                               \
		TACH_START_of_##name##_needs_a_block_of_its_own[tach__site_##name.line]        \
		__attribute__((unused));                                                       \
	_Pragma("GCC diagnostic pop")
#endif

/*
 * Compilers report a START without a block, a second START and a STOP without START by quoting
 * the first names below. So these names are the messages. C refuses a declaration as the only
 * statement after if, else or a label, and quotes its first word. C++ accepts it as a block,
 * but the next declaration does not see the names in it.
 */
#ifdef __cplusplus
/* The name contains the line number, so that the compiler reports the mark of a second START
 * instead. */
#define TACH__BRACES(name, line)  TACH__BRACES_(name, line)
#define TACH__BRACES_(name, line) TACH_START_of_##name##_needs_braces_around_it_line_##line
#define TACH__START_FIRST(name)                                                                \
	enum { TACH__BRACES(name, __LINE__) };                                                 \
	struct tach_region_mark
#define TACH__START_FENCED(name, fenced)                                                       \
	((fenced) + TACH__CAST(int, TACH__BRACES(name, __LINE__)))
#else
typedef struct tach_region_mark TACH_START_needs_braces_around_it;
#define TACH__START_FIRST(name)		 TACH_START_needs_braces_around_it
#define TACH__START_FENCED(name, fenced) fenced
#endif
#define TACH__MARK(name) TACH_START_of_##name##_in_this_block
/* -ftrivial-auto-var-init would fill the mark inside the enclosing region. */
#if __has_attribute(uninitialized)
#define TACH__UNINITIALIZED __attribute__((uninitialized))
#else
#define TACH__UNINITIALIZED
#endif
/* If the region's name is in quotes, the preprocessor reports this name first, and quotes
 * it. */
#define TACH__UNQUOTED(checked, value) value
#define TACH__NAME(name, value)                                                                \
	TACH__UNQUOTED(TACH_START_takes_a_name_without_quotes_##name, value)

#define TACH__START(name, fenced)                                                              \
	TACH__START_FIRST(name)                                                                \
	TACH__MARK(name) TACH__UNINITIALIZED __attribute__((cleanup(tach__region_stop)));      \
	static struct tach_site tach__site_##name =                                            \
		TACH_SITE_INIT(#name, TACH__START_FENCED(name, fenced), __func__);             \
	TACH__NO_JUMP(name)                                                                    \
	tach__region_start(TACH_ADDRESS(tach__site_##name), &TACH__MARK(name))

/*
 * Measures from here to TACH_STOP(name) in the same scope, or until return, break, goto or a
 * C++ exception (in C with -fexceptions) leaves the scope. An entry left by longjmp is lost;
 * its thread detects this at a later START. The edges are not fenced, so the processor may
 * reorder instructions around them.
 *
 * Compilers refuse a goto or a case that jumps over the START into its scope. Give the region
 * its own block then.
 */
#define TACH_START(name)	TACH__START(name, TACH__NAME(name, 0))
/* Both edges wait for the instructions before them and hold back those after them (LFENCE,
 * ISB). */
#define TACH_START_FENCED(name) TACH__START(name, TACH__NAME(name, 1))
/*
 * For a region that is not nested and has no nested region: it takes five sixths of the
 * instructions (bench/budgets.tsv). An entry with a nested region has the accuracy and cost of
 * any other region. So has every entry if you request more than sums (worst entries,
 * histograms, traces, rows by tag or task, samples, turns). After an entry inside another
 * region, the region is a normal one in that thread; that entry counts about 13 instructions
 * too many.
 */
#define TACH_START_FLAT(name)                                                                  \
	TACH__START(name, TACH__UNQUOTED(TACH_START_takes_a_name_without_quotes_##name,        \
					 TACH_SITE_FLAT))
#define TACH_STOP(name)                                                                        \
	tach__region_stop(TACH__UNQUOTED(TACH_STOP_takes_a_name_without_quotes_##name,         \
					 &TACH__MARK(name)))
/* Measures from here to the end of the enclosing block, also if it is left earlier. */
#define TACH_SCOPE(name)	TACH__START(name, TACH__NAME(name, 0))
#define TACH_SCOPE_FENCED(name) TACH__START(name, TACH__NAME(name, 1))
#define TACH_SCOPE_FLAT(name)                                                                  \
	TACH__START(name, TACH__UNQUOTED(TACH_START_takes_a_name_without_quotes_##name,        \
					 TACH_SITE_FLAT))

/*
 * The same, for a region whose name is known at run time. The library copies the string at its
 * first use. Later it looks the text up without a lock. If regions are switched off, the
 * expression is evaluated at most once. TACH_STOP_NAMED() ends the region of its block.
 * Messages of compilers call the region NAMED. The lookup counts in the enclosing region, not
 * in this one; bench/budgets.tsv has its cost. Names are never freed: use tach_tag() for
 * request numbers. At most TACH_NAMES_MAX names.
 */
#define TACH_START_NAMED(expression) TACH__START_NAMED(NAMED, expression)
#define TACH_STOP_NAMED()	     tach__region_stop(&TACH__MARK(NAMED))
#define TACH_SCOPE_NAMED(expression) TACH__SCOPE_NAMED(expression, __LINE__)

#define TACH__SITE_GATE 4u /* in `fenced`: the site has no region, only named ones */
#define TACH__START_NAMED(name, expression)                                                    \
	TACH__START_FIRST(name)                                                                \
	TACH__MARK(name) TACH__UNINITIALIZED __attribute__((cleanup(tach__region_stop)));      \
	static struct tach_site tach__site_##name = {                                          \
		tach__region_begin_named,                                                      \
		TACH_SITE_NEW,                                                                 \
		__LINE__,                                                                      \
		TACH__START_FENCED(name, TACH__SITE_GATE),                                     \
		"TACH_START_NAMED",                                                            \
		__FILE__,                                                                      \
		__func__};                                                                     \
	TACH__NO_JUMP(name)                                                                    \
	(tach__region_wanted(&tach__site_##name, &TACH__MARK(name))                            \
		 ? tach__region_start_named(&tach__site_##name, &TACH__MARK(name), expression) \
		 : (void)0)
#define TACH__SCOPE_NAMED(expression, line)  TACH__SCOPE_NAMED_(expression, line)
#define TACH__SCOPE_NAMED_(expression, line) TACH__START_NAMED(NAMED_##line, expression)

#endif
#endif
