/* SPDX-License-Identifier: MIT */
/* Snapshots of all regions, and their reports. */
#ifndef TACH_REPORT_H
#define TACH_REPORT_H

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
};

enum tach_part {
	TACH_PART_INCLUSIVE, /* with nested regions; of a recursion the outermost level only */
	TACH_PART_SELF,	     /* without nested regions */
};

/* One quantity of one region. Sparse mode: scaled up to all entries. */
struct tach_value {
	double value; /* raw less overhead, and interrupts if TACH_FLAG_CORRECTED; at least 0 */
	double raw;   /* as counted */
	double overhead; /* what the edges added: calls times the least an empty region shows */
	double error;	 /* how far off that may be; sparse: of the sample too, 95 % */
	uint32_t flags;	 /* tach/flags.h; TACH_FLAG_SMALL: the value is not above the error */
	uint32_t reserved; /* 0 */
};

#define TACH_QUANTITY_TIME 0 /* number of the quantity that every set has: nanoseconds */

TACH_BEGIN_DECLS

/*
 * Takes memory from the kernel, not from malloc: a handler of a deadly signal may take a last
 * snapshot and write it with tach_report_fd as TACH_FORMAT_JSON; not free it. TACH_ERR_STATE:
 * regions were never configured, or the handler interrupted its own thread's
 * tach_snapshot_take.
 */
/* MT-Safe | AS-Safe | AC-Unsafe mem | allocates */
TACH_API int tach_snapshot_take(struct tach_snapshot **out,
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
 * The value that the fraction p (0 .. 1) of a region's calls does not exceed, at most 1/16 off;
 * inclusive, less what measuring it cost, as in the sums; interrupts stay in. NaN without
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
	double low, high; /* the least and the greatest value that belong to it */
	uint64_t count;
};
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API int tach_snapshot_buckets(const struct tach_snapshot *snapshot, int region,
				   int quantity, struct tach_bucket *buckets, int max);

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
 * the caller's and may go afterwards. TACH_ERR_TOOMANY: more than 65 quantities together.
 */
/* MT-Safe env | AS-Unsafe heap lock | AC-Unsafe mem lock fd | allocates */
TACH_API int tach_snapshot_merge(const struct tach_snapshot *const *list, int n,
				 struct tach_snapshot **out,
				 struct tach_error *err) TACH_MUST_USE;

/* ---- reports ---- */

enum tach_format {
	TACH_FORMAT_TEXT, /* a table for a person */
	TACH_FORMAT_JSON, /* one object; "tach": 1 is the schema's version; see tach-report(5)
			   */
	TACH_FORMAT_CSV,  /* RFC 4180, a line per region, part and quantity */
	TACH_FORMAT_PROMETHEUS, /* Prometheus' text format 0.0.4 */
	TACH_FORMAT_HTML,	/* one page that needs nothing else */
};

struct tach_report_options {
	uint32_t size; /* sizeof this struct: see tach/base.h */
	enum tach_format format;
	int color; /* text: ANSI colours */
	int width; /* text: columns to fit into, the rest goes on below; 0 = 100 */
	int ascii; /* text: nothing but ASCII, "+-" for the sign, "?" in names */
};

/* Takes the next piece of the report. A negative result ends it and is handed on. */
typedef int (*tach_sink)(void *context, const char *text, size_t length);

/*
 * Writes a report piece by piece; opt NULL: plain text. The library itself prints nothing.
 * TACH_ERR_NOMEM: there was no memory for a part of it, which is left out.
 * TACH_FORMAT_JSON of a snapshot that was taken allocates nothing by malloc: async-signal-safe
 * if sink is.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_report_write(const struct tach_snapshot *snapshot,
			       const struct tach_report_options *opt, tach_sink sink,
			       void *context, struct tach_error *err);
/*
 * The same to a descriptor; opt NULL: text, and if fd is a terminal in colour (not with
 * NO_COLOR or TERM=dumb), as wide as that or COLUMNS say, and in ASCII where the locale is not
 * UTF-8.
 */
/* MT-Safe env locale | AS-Unsafe heap | AC-Unsafe mem | allocates */
TACH_API int tach_report_fd(const struct tach_snapshot *snapshot,
			    const struct tach_report_options *opt, int fd,
			    struct tach_error *err);
/*
 * The same to a file, which has its old content or the whole report at any time, whatever ends
 * the process: a temporary file beside it takes its place. Symbolic links are followed; the
 * mode stays. A pipe or device is written as it is, and not waited for where it has no reader.
 * Where the folder takes no file, or the file is a mount point, it is written in place. opt
 * NULL: the format is what the name's suffix says. Not on the disk for sure when it returns (no
 * fsync). -errno where the file cannot be written. MT-safe, not for signal handlers, allocates.
 */
/* MT-Safe | AS-Unsafe heap | AC-Unsafe mem fd | allocates */
TACH_API int tach_report_file(const struct tach_snapshot *snapshot,
			      const struct tach_report_options *opt, const char *file,
			      struct tach_error *err);
/* The format that a file name's suffix asks for (.txt .json .csv .prom .html); text when it
 * says nothing.
 */
/* MT-Safe | AS-Safe | AC-Safe | no allocation */
TACH_API enum tach_format tach_report_format(const char *file);

TACH_END_DECLS
#endif
