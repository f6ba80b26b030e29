/* SPDX-License-Identifier: MIT */
/* Snapshots: the sums of all regions at one moment, taken here or read from a report. */
#ifndef TACH_SNAPSHOT_H
#define TACH_SNAPSHOT_H

#include <tach/set.h>

/*
 * A snapshot: the sums of each region at one moment, over all threads including those that have
 * ended. Any thread may take one at any time. Measuring threads do not wait for it; it costs
 * them only cache misses. Each slot is read consistently, but slots are read at different
 * instants. A snapshot is immutable, and the caller owns it.
 */
struct tach_snapshot;

struct tach_region_info {
	uint32_t size;			    /* sizeof this struct: see tach/base.h */
	const char *name, *file, *function; /* owned by the snapshot; "" if unknown */
	uint32_t line;
	int fenced;
	/* All entries that are over: calls + skipped + excluded + lost. */
	uint64_t entries;
	uint64_t calls;	    /* measured and completed; 0: the values have no meaning */
	uint64_t outermost; /* calls that were not inside the same region */
	uint64_t skipped;   /* not measured because of sparse mode */
	uint64_t excluded;  /* not measured because of warm-up */
	uint64_t nested;    /* regions completed inside */
	uint64_t
		/* calls with flag 1 << n of tach/flags.h; the others are exact */
		provenance[6];
	uint32_t threads; /* that entered it */
	/* entries that never stopped: left by longjmp, or open when the thread ended */
	uint64_t lost;
	/*
	 * If rows are divided (tach_regions_options.by): the name of the undivided region, and
	 * the row's task, tag (hexadecimal, or "other") and thread ("NAME NUMBER"). "": rows
	 * are not divided by this.
	 */
	const char *of, *task, *tag, *thread;
	/* 1: an entry ended before a region that began inside it, so the self values include
	 * work of other regions. See tach-threads(7), OVERLAPPING REGIONS. */
	uint32_t overlapping;
	/*
	 * The number of the enclosing region, for tach_snapshot_region. -1: none, or unknown.
	 * The first entry of each thread decides; if threads differ, it is -1. There are no
	 * cycles.
	 */
	int parent;
};

enum tach_part {
	TACH_PART_INCLUSIVE, /* with nested regions; only outermost entries of a recursion */
	TACH_PART_SELF,	     /* without nested regions */
};

/* One quantity of one region. In sparse mode and with turns it is scaled up to all entries. */
struct tach_value {
	/* raw minus overhead, and minus interrupts if TACH_FLAG_CORRECTED; at least 0 */
	double value;
	double raw;	 /* as counted */
	double overhead; /* cost of the edges: calls times the minimum of an empty region */
	/* The error of the value (samples: with a confidence of 95 %). TACH_FLAG_UNBOUNDED: the
	 * error is unknown, and this field equals `value`. */
	double error;
	/* tach/flags.h; TACH_FLAG_SMALL: the value is not larger than the error */
	uint32_t flags;
	/* If sets take turns, the value was counted in this number of entries per million, and
	 * is scaled up to all entries. 0: it was counted in all. */
	uint32_t share;
};

#define TACH_QUANTITY_TIME 0 /* number of the quantity that every set has: nanoseconds */

TACH_BEGIN_DECLS

/*
 * Gets memory from the kernel, not from malloc. So a handler of a deadly signal may take a last
 * snapshot and write it with tach_report_fd, but not as text. It must not free the snapshot.
 * TACH_ERR_STATE: regions were never configured, or the handler interrupted tach_snapshot_take
 * in its own thread.
 */
/* MT-Safe | AS-Safe | AC-Unsafe mem | allocates */
TACH_API int tach_snapshot_take(struct tach_snapshot **out,
				struct tach_error *err) TACH_MUST_USE;
/*
 * Takes a snapshot of another process, from its memory. No code runs in that process, and its
 * threads do not wait. You need the rights of ptrace(2): the same user, and Yama's permission.
 * If a thread ends during the read, its sums are searched again. If many threads end, sums may
 * be missing, which tach_counts.stale counts. TACH_ERR_NOTFOUND: the process has no libtach.
 * TACH_ERR_NOTSUPP: it has another version. TACH_ERR_STATE: it entered no region, or ended
 * during the read. -ESRCH. TACH_ERR_PERMISSION: err has the cure.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_snapshot_take_process(int process, struct tach_snapshot **out,
					struct tach_error *err) TACH_MUST_USE;
/* NULL is fine. Do not call it in signal handlers. */
/* MT-Safe race:snapshot | AS-Unsafe heap lock | AC-Unsafe mem lock | no allocation */
TACH_API void tach_snapshot_free(struct tach_snapshot *snapshot);

/* Number of regions that were entered. They are sorted by descending inclusive time. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_nregions(const struct tach_snapshot *snapshot) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_region(const struct tach_snapshot *snapshot, int region,
				  struct tach_region_info *info);

/* Quantities are TACH_QUANTITY_TIME and then the members of the set. Metrics have their own
 * numbers, from 0. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_nquantities(const struct tach_snapshot *snapshot) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_nmetrics(const struct tach_snapshot *snapshot) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_snapshot_quantity(const struct tach_snapshot *snapshot, int quantity)
	TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_snapshot_metric(const struct tach_snapshot *snapshot, int metric)
	TACH_NONNULL(1);

/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_value(const struct tach_snapshot *snapshot, int region, int quantity,
				 enum tach_part part, struct tach_value *value);
/* Computes a metric: `raw` from the raw sums, `error` from the operands' errors. If it divides
 * by zero: NaN and TACH_FLAG_DIVZERO. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_derived(const struct tach_snapshot *snapshot, int region, int metric,
				   enum tach_part part, struct tach_value *value);
/*
 * Returns the value that the fraction p (0 .. 1) of a region's calls does not exceed. It is
 * inclusive, and the cost of measuring is subtracted, but not interrupts. It comes from a
 * bucket of the histogram, so its error is at most 1/8. p = 0 and p = 1 give the minimum and
 * the maximum. NaN without histograms.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API double tach_snapshot_quantile(const struct tach_snapshot *snapshot, int region,
				       int quantity, double p) TACH_NONNULL(1);

/* The histogram of these values. Writes at most `max` buckets, by ascending value, without
 * empty ones. Returns the number of buckets, 0 without histograms, or TACH_ERR_INVAL. */
struct tach_bucket {
	/* Minimum and maximum value of the bucket. The first bucket begins with the minimum of
	 * all values, and the last ends with the maximum. */
	double low, high;
	uint64_t count; /* at most 2^32 - 1, where it stops */
};
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_buckets(const struct tach_snapshot *snapshot, int region,
				   int quantity, struct tach_bucket *buckets, int max);

/* One of the worst entries of a region. Number 0 is the worst. TACH_ERR_INVAL: no entry has
 * that number. Request them by tach_regions_options. */
struct tach_worst {
	uint32_t size;	/* sizeof this struct: see tach/base.h */
	uint32_t flags; /* how its values were obtained: tach/flags.h */
	double at;	/* its start, in seconds since 1970 (UTC) */
	uint64_t tag;	/* tach_tag at its end */
	int thread;	/* the kernel's number */
	/* the thread's name when it ended; if it still runs, its name when it began */
	const char *thread_name;
	const char *parent; /* the enclosing region, or "" */
};
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_worst(const struct tach_snapshot *snapshot, int region, int number,
				 struct tach_worst *out);
/* Returns the inclusive value of that entry, minus the cost of measuring. NaN: no value. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API double tach_snapshot_worst_value(const struct tach_snapshot *snapshot, int region,
					  int number, int quantity) TACH_NONNULL(1);
/* Returns the quantity by which entries are compared; -1: no entries were kept. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_worst_by(const struct tach_snapshot *snapshot) TACH_NONNULL(1);

/* Returns one sentence about missing data and the reason (no counters, threads that could not
 * open them), or "". */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_snapshot_missing(const struct tach_snapshot *snapshot)
	TACH_NONNULL(1);

struct tach_counts {
	uint32_t size;	   /* sizeof this struct: see tach/base.h */
	uint64_t threads;  /* threads that measured something */
	uint64_t refused;  /* stops refused: other thread, no start, or other set
			    */
	uint64_t lost;	   /* entries without a place: ending thread, out of memory */
	uint64_t stale;	   /* slots for which only an older copy was available */
	uint32_t unopened; /* threads whose counters did not open: they have only the clock */
	uint32_t reports;  /* 1, or the number of reports that tach_snapshot_merge added up */
	double clock_hz;   /* of the region clock */
	/* Processes and threads that tach run measured, but that are in no report.
	 * tach_snapshot_missing explains why. */
	uint64_t missing_processes, missing_threads;
};
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_counts(const struct tach_snapshot *snapshot,
				  struct tach_counts *counts);

/*
 * ---- snapshots of other processes ----
 *
 * For any thread, but not for signal handlers.
 */

/*
 * Reads a report in JSON: schema version 1, as in tach-report(5). TACH_ERR_SYNTAX, with line
 * and column in err: not JSON, or not such a report; TACH_ERR_NOTSUPP: another version. The
 * text may be freed afterwards.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_snapshot_load(const char *json, size_t length, struct tach_snapshot **out,
				struct tach_error *err) TACH_MUST_USE;
/*
 * Adds up regions of the same name, file and line, and computes metrics again from the sums. If
 * a snapshot did not count a quantity, the quantity is TACH_FLAG_LOST in its regions. The
 * caller still owns the list's snapshots, and may free them. TACH_ERR_TOOMANY: more than 193
 * quantities together.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_snapshot_merge(const struct tach_snapshot *const *list, int n,
				 struct tach_snapshot **out,
				 struct tach_error *err) TACH_MUST_USE;

/*
 * The counts between two snapshots of one process: `newer` minus `older`, with metrics computed
 * again. Regions without a call in between have calls 0. If sums restarted in between, because
 * regions were configured, the result is all of `newer`. Estimates (sparse mode, turns) are
 * computed again from the samples in between. Saved reports contain no samples, so the error is
 * the same as in `newer`. The caller still owns both, and may free them.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_snapshot_since(const struct tach_snapshot *newer,
				 const struct tach_snapshot *older, struct tach_snapshot **out,
				 struct tach_error *err) TACH_MUST_USE;

TACH_END_DECLS
#endif
