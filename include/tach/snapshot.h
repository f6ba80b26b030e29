/* SPDX-License-Identifier: MIT */
/* Snapshots: the sums of all regions at one moment, taken here or read back from a report. */
#ifndef TACH_SNAPSHOT_H
#define TACH_SNAPSHOT_H

#include <tach/set.h>

/*
 * A snapshot: the sums of every region over all threads, those that ended included, at one
 * moment. Taken from any thread at any time; no measuring thread waits for it or is slowed
 * beyond the cache misses of being looked at. Each slot is seen whole; slots are not seen at
 * the same instant. Immutable; belongs to the caller.
 */
struct tach_snapshot;

struct tach_region_info {
	uint32_t size;			    /* sizeof this struct: see tach/base.h */
	const char *name, *file, *function; /* owned by the snapshot; "" where not known */
	uint32_t line;
	int fenced;
	/* All that were begun and are over: calls + skipped + excluded + lost. */
	uint64_t entries;
	uint64_t calls;	    /* measured and completed; 0: its values mean nothing */
	uint64_t outermost; /* of those, not inside the same region */
	uint64_t skipped;   /* not measured: sparse mode */
	uint64_t excluded;  /* not measured: warm-up */
	uint64_t nested;    /* regions completed inside */
	uint64_t
		provenance[6]; /* calls that had flag 1 << n of tach/flags.h; the rest: exact */
	uint32_t threads;      /* that entered it */
	uint64_t lost;	       /* never stopped: left by longjmp, open as their thread ended */
	/* Where rows are divided (tach_regions_options.by): the region's name without what
	 * `name` tells of task, tag (hexadecimal, or "other") and thread ("NAME NUMBER"). "":
	 * not divided by that. */
	const char *of, *task, *tag, *thread;
	/* 1: an entry ended while a region was open that began inside it, and the region's self
	 * values are not what it does apart from others. tach-threads(7), OVERLAPPING REGIONS.
	 */
	uint32_t overlapping;
	/*
	 * The region around it, as tach_snapshot_region numbers them, or -1: none, or not
	 * known. Each thread tells of its first entry; if they differ, it is -1. Never in a
	 * circle.
	 */
	int parent;
};

enum tach_part {
	TACH_PART_INCLUSIVE, /* with nested regions; of a recursion the outermost level only */
	TACH_PART_SELF,	     /* without nested regions */
};

/* One quantity of one region. Sparse mode and turns: scaled up to all entries. */
struct tach_value {
	double value; /* raw less overhead, and interrupts if TACH_FLAG_CORRECTED; at least 0 */
	double raw;   /* as counted */
	double overhead; /* what the edges added: calls times the least an empty region shows */
	/* How far off that may be; of a sample too, 95 times in 100. TACH_FLAG_UNBOUNDED: that
	 * is not known, and this is the value. */
	double error;
	uint32_t flags; /* tach/flags.h; TACH_FLAG_SMALL: the value is not above the error */
	/* Where sets take turns: in how many of a million of the region's entries it was
	 * counted; the value is scaled up to all. 0: in all. */
	uint32_t share;
};

#define TACH_QUANTITY_TIME 0 /* number of the quantity that every set has: nanoseconds */

TACH_BEGIN_DECLS

/*
 * Takes memory from the kernel, not from malloc: a handler of a deadly signal may take a last
 * snapshot and write it with tach_report_fd, but as text; not free it. TACH_ERR_STATE: regions
 * were never configured, or the handler interrupted its own thread's tach_snapshot_take.
 */
/* MT-Safe | AS-Safe | AC-Unsafe mem | allocates */
TACH_API int tach_snapshot_take(struct tach_snapshot **out,
				struct tach_error *err) TACH_MUST_USE;
/*
 * The same of another process, read from its memory: nothing runs in it for that, and none of
 * its threads waits. It takes the rights that ptrace(2) takes: the same user, and what Yama
 * says. A thread that ends meanwhile is looked for again; one of many that keep doing so may be
 * missing, and is then in tach_counts.stale. TACH_ERR_NOTFOUND: there is no libtach in it;
 * TACH_ERR_NOTSUPP: of another version; TACH_ERR_STATE: no region was entered, or it ended
 * meanwhile; -ESRCH; TACH_ERR_PERMISSION: err says what would help.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_snapshot_take_process(int process, struct tach_snapshot **out,
					struct tach_error *err) TACH_MUST_USE;
/* NULL is fine. Not for signal handlers. */
/* MT-Safe race:snapshot | AS-Unsafe heap lock | AC-Unsafe mem lock | no allocation */
TACH_API void tach_snapshot_free(struct tach_snapshot *snapshot);

/* Regions that were entered, by descending inclusive time. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_nregions(const struct tach_snapshot *snapshot) TACH_NONNULL(1);
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_region(const struct tach_snapshot *snapshot, int region,
				  struct tach_region_info *info);

/* Quantities: TACH_QUANTITY_TIME, then the members of the set; then its metrics. */
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
/* raw: from the raw sums; error: how far the operands' errors could move it. NaN:
 * TACH_FLAG_DIVZERO.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_derived(const struct tach_snapshot *snapshot, int region, int metric,
				   enum tach_part part, struct tach_value *value);
/*
 * The value that the fraction p (0 .. 1) of a region's calls does not exceed: inclusive, less
 * what measuring it cost, as in the sums; interrupts stay in. It lies in one of the buckets
 * below, and is at most 1/8 off; 0 and 1 give the least and the greatest value. NaN without
 * histograms.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API double tach_snapshot_quantile(const struct tach_snapshot *snapshot, int region,
				       int quantity, double p) TACH_NONNULL(1);

/*
 * The histogram behind it: at most `max` of the buckets that have a count, by ascending value.
 * The result is how many there are, 0 without histograms, or TACH_ERR_INVAL.
 */
struct tach_bucket {
	/* The least and the greatest value that belong to it; the first bucket begins with the
	 * least value of all, and the last ends with the greatest. */
	double low, high;
	uint64_t count; /* at most 2^32 - 1: there it stays */
};
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_buckets(const struct tach_snapshot *snapshot, int region,
				   int quantity, struct tach_bucket *buckets, int max);

/*
 * The worst entries of a region, the worst first, where they were kept (tach_regions_options):
 * complete, as far as they were measured. TACH_ERR_INVAL: there is none of that number.
 */
struct tach_worst {
	uint32_t size;		 /* sizeof this struct: see tach/base.h */
	uint32_t flags;		 /* how its values were obtained: tach/flags.h */
	double at;		 /* as it began, in seconds since 1970 (UTC) */
	uint64_t tag;		 /* tach_tag, as it ended */
	int thread;		 /* the kernel's number */
	const char *thread_name; /* as the thread ended, or as it began while it lives */
	const char *parent;	 /* the region around, or "" */
};
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_worst(const struct tach_snapshot *snapshot, int region, int number,
				 struct tach_worst *out);
/* What it counted, with nested regions, less what measuring it cost. NaN: nothing. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API double tach_snapshot_worst_value(const struct tach_snapshot *snapshot, int region,
					  int number, int quantity) TACH_NONNULL(1);
/* The quantity that they are the worst by; -1: none were kept. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_worst_by(const struct tach_snapshot *snapshot) TACH_NONNULL(1);

/* What is missing and why, in one sentence, or "": no counters, threads that could not open. */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API const char *tach_snapshot_missing(const struct tach_snapshot *snapshot)
	TACH_NONNULL(1);

struct tach_counts {
	uint32_t size;	   /* sizeof this struct: see tach/base.h */
	uint64_t threads;  /* that measured something */
	uint64_t refused;  /* stops on another thread, without a start, or after the set changed
			    */
	uint64_t lost;	   /* entries that found no place: ending thread, out of memory */
	uint64_t stale;	   /* slots of which only an older copy was to be had */
	uint32_t unopened; /* threads whose counters did not open: they have the clock alone */
	uint32_t reports;  /* 1, or how many tach_snapshot_merge added up */
	double clock_hz;   /* of the region clock */
	/* Measured by tach run, but in no row: processes that left no report, and threads that
	 * are in no report. Why is in tach_snapshot_missing. */
	uint64_t missing_processes, missing_threads;
};
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_counts(const struct tach_snapshot *snapshot,
				  struct tach_counts *counts);

/*
 * ---- snapshots of other processes ----
 *
 * Not for signal handlers; any thread.
 */

/*
 * Reads a report in JSON back: schema version 1, as tach-report(5) describes it.
 * TACH_ERR_SYNTAX, with line and column in err: not JSON, or not such a report;
 * TACH_ERR_NOTSUPP: of another version. The text may go afterwards.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_snapshot_load(const char *json, size_t length, struct tach_snapshot **out,
				struct tach_error *err) TACH_MUST_USE;
/*
 * Adds up regions of the same name, file and line, and makes metrics anew of the sums. What
 * only some of them counted is TACH_FLAG_LOST where it is missing. The list's snapshots stay
 * the caller's and may go afterwards. TACH_ERR_TOOMANY: more than 193 quantities together.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_snapshot_merge(const struct tach_snapshot *const *list, int n,
				 struct tach_snapshot **out,
				 struct tach_error *err) TACH_MUST_USE;

/*
 * What was counted between two snapshots of one process: `newer` less `older`, metrics made
 * anew of the differences. Regions without a call in between have calls 0. If sums began anew
 * in between, as regions were configured, this is all of `newer`. Estimates (sparse mode,
 * turns) are made anew of what was sampled in between; of saved reports that is not known, and
 * their error stays that of `newer`. Both stay the caller's and may go.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_snapshot_since(const struct tach_snapshot *newer,
				 const struct tach_snapshot *older, struct tach_snapshot **out,
				 struct tach_error *err) TACH_MUST_USE;

TACH_END_DECLS
#endif
