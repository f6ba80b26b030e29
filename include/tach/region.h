/* SPDX-License-Identifier: MIT */
/*
 * Named regions of code: TACH_START / TACH_STOP / TACH_SCOPE, and begin/end as functions.
 *
 *	TACH_START(parse);
 *	... the code to measure ...
 *	TACH_STOP(parse);
 *
 * Both edges are inline and make no system call where the counters can be read in user space.
 * Regions nest and recurse; every thread has sums of its own. What is counted is decided at run
 * time (tach_regions_configure, or TACH_ENABLE=1 with TACH_EVENTS, TACH_METRICS, TACH_REGIONS,
 * TACH_OUTPUT in the environment). Until then an edge costs one load and one predicted branch.
 * With -DTACH_DISABLE the macros compile to nothing.
 */
#ifndef TACH_REGION_H
#define TACH_REGION_H

#include <tach/reader.h>

/*
 * A place in the program. Static storage of the caller; the first entry registers it and copies
 * the strings, so the library that holds it may be unloaded.
 */
struct tach_site {
	uint32_t id;	 /* TACH_SITE_NEW, TACH_SITE_OFF, or the number of its slot */
	uint32_t line;	 /* 0: unknown */
	uint32_t fenced; /* the mode in which it is measured; one per site */
	const char *name, *file, *function;
	void (*empty)(int mode); /* measures nothing: see tach__region_empty */
};
#define TACH_SITE_OFF 0u /* switched off: START returns after one load and one branch */
#define TACH_SITE_NEW 0xffffffffu /* never entered: START takes the cold exit */
#define TACH_SITE_INIT(name, fenced, function)                                                 \
	{                                                                                      \
		TACH_SITE_NEW, __LINE__, fenced, name, __FILE__, function, tach__region_empty  \
	}

/*
 * ---- What the inline edges need to know. Layout is ABI (tach__abi_1), contents are private.
 * ----
 */

#define TACH__SUMS	     (1 + TACH_COUNTERS_MAX) /* the clock, then the counters */
#define TACH__CHUNK_SLOTS    64u		     /* slots per chunk; chunks never move */
#define TACH__CHUNKS	     480u
#define TACH__EPOCH_BITS     20 /* low bits of an epoch: see struct tach_thread */
#define TACH__CEILING_OPEN   0xffffffffu
#define TACH__SLOT_NOTE	     1u /* every entry has to call tach__region_note */
#define TACH__SITE_EMPTY     1u /* ids 1..3 belong to tach__region_empty */
#define TACH__SITE_FENCED    2u
#define TACH__SITE_ENCLOSING 3u
#define TACH__SITE_FIRST     4u /* the first id for a site of the program */

/*
 * One region's sums in one thread. Only that thread writes it, between an odd and an even value
 * of seq, so that a snapshot by another thread sees it whole. The first four fields and `outer`
 * are the owner's alone.
 */
struct tach_slot {
	uint32_t seq;
	uint32_t ceiling;   /* nesting level from which an entry is an unusual one: 0 = slot not
			       ready or every entry is, level + 1 = entered at that level */
	uint32_t rest;	    /* ceiling while nobody is inside */
	uint32_t note;	    /* TACH__SLOT_NOTE */
	const void *outer;  /* the outermost open mark */
	uint64_t calls;	    /* completed entries */
	uint64_t outermost; /* of those, not inside the same region */
	uint64_t nested;    /* unfenced pairs completed inside outermost entries */
	uint64_t direct;    /* unfenced pairs completed one level below */

	/* Rarely written: */
	uint64_t nested_fenced, direct_fenced;
	uint64_t provenance[6]; /* entries that had flag 1 << n */
	uint64_t skipped;	/* entries not measured in sparse mode */
	uint64_t excluded;	/* entries not added: warm-up */
	uint64_t gap;		/* entries still to skip, or to warm up */
	uint32_t id;
	uint16_t calibrator, fenced;
	uint32_t *histograms;
	struct tach_sum {
		uint64_t inclusive, self;
	} sum[TACH__SUMS]; /* count + 1 of them exist; self->stride knows */
};

/*
 * A thread's half of the registry. It lies in a MADV_WIPEONFORK page: after any flavour of fork
 * the child sees zeros, so its next START takes the cold exit and no mark of the parent's
 * matches.
 */
struct tach_thread {
	uint32_t limit; /* ids below have a slot; 0 makes the next START take the cold exit */
	uint32_t open;	/* regions open now */
	/*
	 * Unique to this opening of this thread, in steps of 1 << TACH__EPOCH_BITS; the low
	 * bits count cold exits taken inside regions, so that STOP can take their cost out
	 * again. A mark with another epoch is no mark of this thread's.
	 */
	uint64_t epoch;
	struct tach_reader *reader;
	uint32_t count, stride; /* counters; bytes from slot to slot */
	uint64_t pairs;		/* completed: unfenced in bits 0-31, fenced in bits 32-63 */
	uint64_t children;	/* the same, one level below the innermost open region */
	void *record;
	uint64_t total[TACH__SUMS]; /* of all that completed, nested entries counted once */
	char *chunk[TACH__CHUNKS];
};
TACH_STATIC_ASSERT(sizeof(struct tach_thread) <= 4096, "one page, wiped on fork");

/* An open region. On the caller's stack, or wherever the caller of tach_region_begin likes. */
struct tach_region_mark {
	uint64_t epoch; /* 0: nothing to stop */
	struct tach_slot *slot;
	uint64_t pairs, children;
	uint32_t level;
	uint16_t outermost, fenced;
	uint64_t base[TACH__SUMS]; /* the thread's totals at the start */
	struct tach_mark counters;
};

TACH_BEGIN_DECLS

/* Initial-exec: two instructions, no __tls_get_addr; 8 bytes fit glibc's reserve for dlopen. */
extern __attribute__((tls_model("initial-exec")))
TACH_API __thread struct tach_thread *tach__self;

/* Out-of-line exits of the inline edges. */
TACH_API TACH_COLD void tach__region_begin_cold(struct tach_site *site,
						struct tach_region_mark *mark);
TACH_API TACH_COLD void tach__region_begin_unusual(struct tach_thread *self,
						   struct tach_slot *slot,
						   struct tach_site *site,
						   struct tach_region_mark *mark);
TACH_API TACH_COLD void tach__region_end_cold(struct tach_region_mark *mark, int fenced);
TACH_API TACH_COLD struct tach_slot *tach__region_overflow(struct tach_thread *self,
							   struct tach_slot *slot);
TACH_API TACH_COLD void tach__region_note(struct tach_thread *self, struct tach_slot *slot,
					  const struct tach_region_mark *mark, uint64_t *delta,
					  uint32_t flags);

/*
 * Relaxed: one writer per word. Atomic so that a snapshot may read it and a signal handler may
 * change it between any two instructions.
 */
#define TACH__GET(word)	       __atomic_load_n(&(word), __ATOMIC_RELAXED)
#define TACH__SET(word, value) __atomic_store_n(&(word), (value), __ATOMIC_RELAXED)
#define TACH__ADD(word, value) TACH__SET(word, TACH__GET(word) + (value))

/*
 * Between the odd sequence and the sums. ThreadSanitizer does not know fences and gcc warns of
 * them there; the full barrier it lets pass.
 */
#if defined(__SANITIZE_THREAD__)
#define TACH__FENCE(order) __sync_synchronize()
#else
#define TACH__FENCE(order) __atomic_thread_fence(order)
#endif

/* The second half of START: the slot is known and claimed. */
TACH_INLINE void tach__region_open(struct tach_thread *self, struct tach_slot *slot,
				   struct tach_region_mark *mark, uint32_t level, int outermost,
				   int fenced)
{
	uint32_t count = self->count;

	mark->slot = slot;
	mark->level = level;
	mark->outermost = (uint16_t)outermost;
	mark->fenced = (uint16_t)fenced;
	TACH__SET(self->open, level + 1);
	mark->children = TACH__GET(self->children);
	TACH__SET(self->children, 0);
	mark->epoch = TACH__GET(self->epoch);
	do {
		mark->pairs = TACH__GET(self->pairs);
		for (uint32_t i = 0; i <= count; i++)
			mark->base[i] = TACH__GET(self->total[i]);
		if (fenced)
			TACH_FENCE();
		mark->counters.clock = tach_clock();
		if (TACH_LIKELY(count))
			tach_begin(self->reader, &mark->counters);
		if (fenced)
			TACH_FENCE();
		/* A signal handler's regions in between would be taken for nested ones: again.
		 */
	} while (TACH_UNLIKELY(mark->pairs != TACH__GET(self->pairs)));
}

TACH_INLINE void tach__region_begin(struct tach_site *site, struct tach_region_mark *mark,
				    int fenced)
{
	uint32_t id = TACH__GET(site->id);
	struct tach_thread *self;
	struct tach_slot *slot;
	uint32_t level;

	mark->epoch = 0;
	if (TACH_LIKELY(id == TACH_SITE_OFF))
		return;
	self = tach__self;
	if (TACH_UNLIKELY(id >= TACH__GET(self->limit))) {
		tach__region_begin_cold(site, mark);
		return;
	}
	slot = (struct tach_slot *)(void *)(self->chunk[id / TACH__CHUNK_SLOTS] +
					    (size_t)(id % TACH__CHUNK_SLOTS) * self->stride);
	level = TACH__GET(self->open);
	if (TACH_UNLIKELY(level >= TACH__GET(slot->ceiling))) {
		tach__region_begin_unusual(self, slot, site, mark);
		return;
	}
	TACH__SET(slot->ceiling, level + 1);
	TACH__SET(slot->outer, (const void *)mark);
	tach__region_open(self, slot, mark, level, 1, fenced);
}

/*
 * Adds one entry to its slot. The stores between the odd and the even sequence pair with the
 * acquire fence of the snapshot's reader: odd becomes visible before the sums change (release
 * fence; compiler-only on x86, DMB ISHST's stronger sibling on arm64), even after they did.
 */
TACH_INLINE void tach__region_add(struct tach_thread *self, struct tach_region_mark *mark,
				  uint64_t *delta, uint32_t flags, int fenced)
{
	struct tach_slot *slot = mark->slot;
	uint32_t count = self->count, outermost = mark->outermost, seq;
	uint64_t nested = TACH__GET(self->pairs) - mark->pairs;
	uint64_t direct = TACH__GET(self->children);
	uint64_t one = fenced ? (uint64_t)1 << 32 : 1;
	uint64_t keep = -(uint64_t)outermost; /* all bits or none */

	if (outermost)
		TACH__SET(slot->ceiling, slot->rest);
	if (TACH__GET(self->open) > mark->level)
		TACH__SET(self->open, mark->level);
	seq = TACH__GET(slot->seq);
	if (TACH_UNLIKELY(seq & 1)) {
		/* A signal handler between the stores of the thread it interrupted. */
		slot = tach__region_overflow(self, slot);
		seq = TACH__GET(slot->seq);
	}
	TACH__SET(slot->seq, seq + 1);
	TACH__FENCE(__ATOMIC_RELEASE);
	if (TACH_UNLIKELY(flags | slot->note | (uint32_t)(nested >> 32)))
		tach__region_note(self, slot, mark, delta, flags);
	TACH__ADD(slot->calls, 1);
	TACH__ADD(slot->outermost, outermost);
	TACH__ADD(slot->direct, (uint32_t)direct);
	TACH__ADD(slot->nested, (uint32_t)nested & keep);
	for (uint32_t i = 0; i <= count; i++) {
		uint64_t base = mark->base[i], inner = TACH__GET(self->total[i]) - base;

		TACH__ADD(slot->sum[i].inclusive, delta[i] & keep);
		TACH__ADD(slot->sum[i].self, delta[i] - inner);
		TACH__SET(self->total[i], base + delta[i]);
	}
	__atomic_store_n(&slot->seq, seq + 2, __ATOMIC_RELEASE);
	TACH__ADD(self->pairs, one);
	TACH__SET(self->children, mark->children + one);
	mark->epoch = 0;
}

TACH_INLINE void tach__region_end(struct tach_region_mark *mark, int fenced)
{
	uint64_t delta[TACH__SUMS];
	struct tach_thread *self;
	uint32_t flags = 0;

	if (mark->epoch == 0)
		return;
	self = tach__self;
	if (TACH_UNLIKELY(TACH__GET(self->epoch) != mark->epoch)) {
		tach__region_end_cold(mark, fenced);
		return;
	}
	if (fenced)
		TACH_FENCE();
	delta[0] = tach_clock();
	if (TACH_LIKELY(self->count))
		flags = tach_end(self->reader, &mark->counters, delta + 1);
	if (fenced)
		TACH_FENCE();
	delta[0] -= mark->counters.clock;
	tach__region_add(self, mark, delta, flags, fenced);
}

/*
 * Calibration: the library calls this to learn what an empty region costs as the code at hand
 * was compiled, per thread and set. Modes: 0 an empty region inside another one, 1 one that is
 * fenced. Straight code: a loop's instructions would be taken for overhead.
 */
static __attribute__((noinline, unused)) void tach__region_empty(int mode)
{
	static struct tach_site site[3] = {
		{TACH__SITE_EMPTY, 0, 0, 0, 0, 0, 0},
		{TACH__SITE_FENCED, 0, 1, 0, 0, 0, 0},
		{TACH__SITE_ENCLOSING, 0, 0, 0, 0, 0, 0},
	};
	struct tach_region_mark outer, inner;

	if (mode) {
		tach__region_begin(&site[1], &inner, 1);
		tach__region_end(&inner, 1);
		return;
	}
	tach__region_begin(&site[2], &outer, 0);
	tach__region_begin(&site[0], &inner, 0);
	tach__region_end(&inner, 0);
	tach__region_end(&outer, 0);
}

/*
 * ---- Function form: for regions that span functions, and for other languages ----
 *
 * The mark is the caller's: it may lie in an object, and must stay in place until the end.
 * Begin and end belong on the same thread: an end on another one (coroutines, tasks), without a
 * begin, or a second one is refused and counted, and harms nothing. Async-signal-safe, begin
 * too: the first entry of a thread opens its counters with all signals blocked and without
 * malloc.
 */
#define TACH_REGION_MARK_INIT                                                                  \
	{                                                                                      \
		0                                                                              \
	}
TACH_API void tach_region_begin(struct tach_site *site, struct tach_region_mark *mark);
TACH_API void tach_region_end(struct tach_region_mark *mark);

/*
 * A site by name, made when it does not exist; the library's for ever. NULL: more than
 * TACH_SITES_MAX sites. Takes a lock: keep the result. Any thread; not in a signal handler.
 */
TACH_API struct tach_site *tach_site_get(const char *name);
#define TACH_SITES_MAX (TACH__CHUNKS * TACH__CHUNK_SLOTS - TACH__SITE_FIRST)

/* ---- What is counted ---- */

struct tach_regions_options {
	uint32_t size; /* sizeof(struct tach_regions_options), or 0 */
	/*
	 * The set to count. The library owns it from success on and frees it when the last
	 * thread and snapshot let go. NULL: made of events and metrics.
	 */
	struct tach_set *set;
	/* As in struct tach_set_options. Both NULL: cycles, instructions, branch and cache
	 * misses with ipc and misses per 1000 instructions; where the machine has no counters,
	 * software events. "" as events: the clock alone. */
	const char *events, *metrics;
	/* Globs separated by commas, "!" before one excludes: "parse*,!parse_header". NULL:
	 * all.
	 */
	const char *only;
	uint32_t sparse; /* measure one entry in `sparse` on average, at random; 0, 1: all */
	uint32_t warmup; /* leave out the first entries of a region in each thread */
	uint32_t histograms; /* 1: keep a histogram per region and quantity */
};

/*
 * Switches regions on, or to another set. Threads follow at their next START outside any
 * region; sums then start from zero. NULL: from the environment as at start-up. TACH_ERR_STATE:
 * the calling thread is inside a region. Any thread, not in signal handlers.
 */
TACH_API int tach_regions_configure(const struct tach_regions_options *opt,
				    struct tach_error *err);
/* Switches all regions off: sites go back to one load and one branch. Sums stay readable. */
TACH_API void tach_regions_disable(void);
/* 1 when regions are switched on. */
TACH_API int tach_regions_enabled(void);

TACH_END_DECLS

/* ---- The macros ---- */

#ifdef TACH_DISABLE

#define TACH_START(name)	((void)0)
#define TACH_START_FENCED(name) ((void)0)
#define TACH_STOP(name)		((void)0)
#define TACH_SCOPE(name)	((void)0)
#define TACH_SCOPE_FENCED(name) ((void)0)

#else

TACH_INLINE void tach__region_leave(struct tach_region_mark *mark)
{
	tach__region_end(mark, 0);
}

TACH_INLINE void tach__region_leave_fenced(struct tach_region_mark *mark)
{
	tach__region_end(mark, 1);
}

#define TACH__START(name, fenced, attribute)                                                   \
	static struct tach_site tach__site_##name = TACH_SITE_INIT(#name, fenced, __func__);   \
	const int tach__fenced_##name __attribute__((unused)) = fenced;                        \
	struct tach_region_mark tach__mark_##name attribute;                                   \
	tach__region_begin(&tach__site_##name, &tach__mark_##name, fenced)

/* From here to TACH_STOP(name) in the same scope. Edges as the processor likes: unfenced. */
#define TACH_START(name)	TACH__START(name, 0, )
/* Both edges wait for what came before and hold back what comes after (LFENCE, ISB). */
#define TACH_START_FENCED(name) TACH__START(name, 1, )
#define TACH_STOP(name)		tach__region_end(&tach__mark_##name, tach__fenced_##name)
/* From here to the end of the enclosing block, however it is left (C++ exceptions too). */
#define TACH_SCOPE(name)	TACH__START(name, 0, __attribute__((cleanup(tach__region_leave))))
#define TACH_SCOPE_FENCED(name)                                                                \
	TACH__START(name, 1, __attribute__((cleanup(tach__region_leave_fenced))))

#endif
#endif
