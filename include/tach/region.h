/* SPDX-License-Identifier: MIT */
/*
 * Named regions of code: TACH_START / TACH_STOP / TACH_SCOPE, and begin/end as functions.
 *
 *	TACH_START(parse);
 *	... the code to measure ...
 *	TACH_STOP(parse);
 *
 * An edge is a test and a call, less than 100 bytes for both, and makes no system call where
 * the counters can be read in user space. Regions nest and recurse; every thread has sums of
 * its own. What is counted is decided at run time (tach_regions_configure, or TACH_ENABLE=1
 * with TACH_EVENTS, TACH_METRICS, TACH_REGIONS, TACH_OUTPUT in the environment). Until then an
 * edge costs one load and one predicted branch. With -DTACH_DISABLE the macros compile to
 * nothing.
 */
#ifndef TACH_REGION_H
#define TACH_REGION_H

#include <tach/reader.h>

struct tach_region_mark;

/*
 * A place in the program. Static storage of the caller; the first entry registers it and copies
 * the strings, so the library that holds it may be unloaded.
 */
struct tach_site {
	/* Constant: what START calls unless the site is switched off. */
	void (*begin)(struct tach_site *site, struct tach_region_mark *mark) TACH_NOTHROW;
	uint64_t id;	 /* TACH_SITE_NEW, TACH_SITE_OFF, or the number of its slot */
	uint32_t line;	 /* 0: unknown */
	uint32_t fenced; /* the mode in which it is measured; one per site */
	const char *name, *file, *function;
};
#define TACH_SITE_OFF 0u /* switched off: START returns after one load and one branch */
#define TACH_SITE_NEW 0xffffffffu /* never entered: START takes the cold exit */
/* fenced: a constant, 0 or 1, or TACH_SITE_FLAT. */
#define TACH_SITE_INIT(name, fenced, function)                                                 \
	{                                                                                      \
		(fenced) == TACH_SITE_FLAT ? tach__region_begin_flat                           \
		: (fenced)		   ? tach__region_begin_fenced                         \
					   : tach__region_begin,                                               \
			TACH_SITE_NEW, __LINE__, fenced, name, __FILE__, function              \
	}
#define TACH_SITE_FLAT 16u

/* An open region. On the caller's stack, or wherever the caller of tach_region_begin likes. */
struct tach_region_mark {
	void (*end)(struct tach_region_mark *mark) TACH_NOTHROW; /* NULL: nothing to stop */
	/* The library's: which opening of which thread, the sums, what was there before. */
	uint64_t state;
	void *part;
	uint64_t pairs[2];
	struct tach_mark counters;
};

TACH_BEGIN_DECLS

/* The edges themselves, once for the whole program. */
TACH_API void tach__region_begin(struct tach_site *site,
				 struct tach_region_mark *mark) TACH_NOTHROW;
TACH_API void tach__region_begin_fenced(struct tach_site *site,
					struct tach_region_mark *mark) TACH_NOTHROW;
TACH_API void tach__region_begin_flat(struct tach_site *site,
				      struct tach_region_mark *mark) TACH_NOTHROW;

/* A START_NAMED: the site is its gate, and mark->part the name. */
TACH_API void tach__region_begin_named(struct tach_site *site,
				       struct tach_region_mark *mark) TACH_NOTHROW;

/*
 * What is inline of an edge: a test and a call through a pointer, no PLT entry and no thread
 * pointer. These instructions are all that a region's own measurement does not share with the
 * library's calibration, so their number must not depend on the compiler: the test is opaque,
 * or compilers would merge it with others, and there is no path but the straight one.
 * docs/limits.md lists the compiler flags that change it all the same.
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

/* Whether the name of a START_NAMED is to be made. */
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
 * The mark is the caller's: it may lie in an object, and must stay in place until the end.
 * Begin and end belong on the same thread: an end on another one (coroutines, tasks), without a
 * begin, or a second one is refused and counted, and harms nothing. Async-signal-safe, begin
 * too: the first entry of a thread opens its counters with all signals blocked and without
 * malloc.
 *
 * Regions may overlap: A begins, B begins, A ends, B ends. tach-threads(7) says what their
 * values mean.
 *
 * A handler that begins a region and returns without its end may have interrupted a START or
 * STOP, which does not see it. Regions that begin next then count in the self of the one that
 * was stopped; it is found out at the thread's next slow path or by a snapshot, which both flag
 * as incomplete those whose self is off. What was begun is counted or lost.
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
/* Bytes of a struct tach_region_mark, as tach_mark_size tells a struct tach_mark's. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API size_t tach_region_mark_size(void);
/*
 * What an open region of the calling thread has counted so far, for bindings that show it entry
 * by entry: values[0] is time, in ticks of the region clock (tach_counts.clock_hz), then the
 * set's members, as many as quantities of a snapshot; of them the first n are written. What is
 * nested is in it, and what measuring takes, this call too. *flags: tach/flags.h, of the
 * hardware members. *generation: another number after the set has changed. Returns how many
 * there are; TACH_ERR_STATE: the region is not open, not measured, or another thread's.
 */
/* MT-Safe race:mark | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_region_read(const struct tach_region_mark *mark, uint64_t *values, int n,
			      uint32_t *flags, uint32_t *generation) TACH_NONNULL(1, 2, 4, 5);

/*
 * A site by name, made when it does not exist; the library's for ever. NULL: more than
 * TACH_SITES_MAX sites; a begin with that measures nothing. Takes a lock: keep the result. Any
 * thread; not in a signal handler.
 */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe lock | allocates */
TACH_API struct tach_site *tach_site_get(const char *name) TACH_NONNULL(1) TACH_MUST_USE;
#define TACH_SITES_MAX 30000
/* The most names that TACH_START_NAMED tells apart; entries beyond are in this region. */
#define TACH_NAMES_MAX	 2000
#define TACH_NAMES_OTHER "(other names)"

/* ---- What is counted ---- */

/* What is NULL or 0 here the environment decides, where the variable of that name is set. */
struct tach_regions_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	/*
	 * The set to count. The library owns it from success on and frees it when the last
	 * thread and snapshot let go; giving it again is TACH_ERR_INVAL. NULL: made of events
	 * and metrics.
	 */
	struct tach_set *set;
	/* As in struct tach_set_options. Both NULL: cycles, instructions, branch and cache
	 * misses with ipc and misses per 1000 instructions, as many of them as there are
	 * counters for now; where the machine has no counters, the clock alone, as with "" as
	 * events. Software events are counted when named. */
	const char *events, *metrics;
	/* Globs separated by commas, "!" before one excludes: "parse*,!parse_header". NULL:
	 * all. Longer than 1,023 bytes: TACH_ERR_TOOMANY.
	 */
	const char *only;
	uint32_t sparse; /* measure one entry in `sparse` on average, at random; 0, 1: all */
	uint32_t warmup; /* leave out the first entries of a region in each thread */
	uint32_t histograms; /* 1: keep a histogram per region and quantity */
	/* TACH_SET_INTERRUPTS or TACH_SET_CORRECT (tach/set.h), where the library makes the
	 * set; one that is given has flags of its own. */
	uint32_t interrupts;
	/* Keep each region's worst entries: "8", at most 64, those that took most time, or
	 * "8:cycles". tach_snapshot_worst. "0": none, whatever the environment says. */
	const char *worst;
	/*
	 * For more events than can be counted at once: sets of them take turns in each thread,
	 * for so many of its outermost entries on average, in its order and of random lengths;
	 * a snapshot shows all of them, each as if it had been counted in every entry, with the
	 * error of the sample that it is (95 %). 0: no turns. Not together with sparse, warmup,
	 * histograms, interrupts and worst: TACH_ERR_INVAL.
	 */
	uint32_t turns;
	uint32_t reserved; /* 0 */
	/*
	 * Rows of a region divided by what its entries were for: "tag" (tach_tag, as the entry
	 * began), "task" (tach/task.h, the task that ran), "thread"; commas between them. "tag"
	 * and "thread" tell 64 apart, "tag:100" 100, at most 1000, "task" 62; what comes later
	 * is in one row more of each, "other", and the report says so. "": not divided.
	 */
	const char *by;
};

/*
 * Switches regions on, or to another set. Threads follow at their next START outside any
 * region; sums then start from zero. NULL: from the environment as at start-up. TACH_ERR_STATE:
 * the calling thread is inside a region. Any thread, not in signal handlers.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_regions_configure(const struct tach_regions_options *opt,
				    struct tach_error *err);
/* Switches all regions off: sites go back to one load and one branch. Sums stay readable. */
/* MT-Safe | AS-Unsafe lock | AC-Unsafe lock | no allocation */
TACH_API void tach_regions_disable(void);
/*
 * A word of the caller's for what the calling thread works on: a request's number, a hash.
 * Worst entries have the one that was set last as they ended. Two instructions or so; where
 * rows are divided by tag (options.by), more, and memory for the rows of one that is new.
 */
/* MT-Safe | AS-Safe | AC-Safe | allocates */
TACH_API void tach_tag(uint64_t tag);
/* 1 when regions are switched on. */
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
 * A jump over a START into its scope would end a region that never began, by a pointer that is
 * whatever lay on the stack. Clang refuses such jumps for the sake of the cleanup attribute;
 * gcc does for an array type of variable length, and both for a C++ constructor. No code.
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
 * What compilers say of a START without a block, of a second one and of a STOP without one are
 * messages about the first names below, so these are the messages. C refuses a declaration that
 * is all there is behind if, else or a label, and quotes its first word; in C++ it is a block,
 * whose names the next declaration does not see.
 */
#ifdef __cplusplus
/* With the line, so that of two STARTs the mark is found fault with. */
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
/* -ftrivial-auto-var-init would fill the mark in the enclosing region. */
#if __has_attribute(uninitialized)
#define TACH__UNINITIALIZED __attribute__((uninitialized))
#else
#define TACH__UNINITIALIZED
#endif
/* Of a name in quotes the preprocessor complains first about this, and quotes it. */
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
 * From here to TACH_STOP(name) in the same scope, or to wherever that scope is left before: by
 * return, break, goto, a C++ exception (in C with -fexceptions). An entry left by longjmp is
 * lost, which its thread finds out at a later START. Edges as the processor likes: unfenced.
 *
 * Compilers refuse a goto or a case that jumps over the START into its scope: give the region a
 * block of its own.
 */
#define TACH_START(name)	TACH__START(name, TACH__NAME(name, 0))
/* Both edges wait for what came before and hold back what comes after (LFENCE, ISB). */
#define TACH_START_FENCED(name) TACH__START(name, TACH__NAME(name, 1))
/*
 * For a region that lies in no other and has none in it: five sixths of the instructions
 * (bench/budgets.tsv). With one in it, and wherever
 * entries go to more than sums (worst entries, histograms, traces, rows by tag or task,
 * samples, turns) it is a region as any other: as exact, and as dear; and for good, in that
 * thread, once it was entered inside another one, which shows some 13 instructions of that
 * first time.
 */
#define TACH_START_FLAT(name)                                                                  \
	TACH__START(name, TACH__UNQUOTED(TACH_START_takes_a_name_without_quotes_##name,        \
					 TACH_SITE_FLAT))
#define TACH_STOP(name)                                                                        \
	tach__region_stop(TACH__UNQUOTED(TACH_STOP_takes_a_name_without_quotes_##name,         \
					 &TACH__MARK(name)))
/* From here to the end of the enclosing block, however it is left. */
#define TACH_SCOPE(name)	TACH__START(name, TACH__NAME(name, 0))
#define TACH_SCOPE_FENCED(name) TACH__START(name, TACH__NAME(name, 1))
#define TACH_SCOPE_FLAT(name)                                                                  \
	TACH__START(name, TACH__UNQUOTED(TACH_START_takes_a_name_without_quotes_##name,        \
					 TACH_SITE_FLAT))

/*
 * The same, of a region whose name is known at run time: a string, which is copied at its first
 * use and found again by what it says, without a lock. Where regions are switched off the
 * expression is evaluated once at most. TACH_STOP_NAMED() ends that of its block; the names in
 * compilers' messages are as for a region NAMED. Looking it up is no part of the region, but of
 * the one around; bench/budgets.tsv has what it takes. A name is for ever: numbers of requests
 * belong into tach_tag. At most TACH_NAMES_MAX of them.
 */
#define TACH_START_NAMED(expression) TACH__START_NAMED(NAMED, expression)
#define TACH_STOP_NAMED()	     tach__region_stop(&TACH__MARK(NAMED))
#define TACH_SCOPE_NAMED(expression) TACH__SCOPE_NAMED(expression, __LINE__)

#define TACH__SITE_GATE 4u /* in `fenced`: no region of its own */
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
