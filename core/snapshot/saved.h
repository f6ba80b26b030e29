/* SPDX-License-Identifier: MIT */
/* Saved snapshots: plain data, read from a report or merged of others. */
#ifndef TACH_CORE_SNAPSHOT_SAVED_H
#define TACH_CORE_SNAPSHOT_SAVED_H

#include <tach/report.h>
#include "core/base/arena.h"

struct tach__saved_metric {
	const char *name;
	const char *text; /* over N0 = the quantity after time, ...; NULL: not known */
	struct tach_formula *formula;
};

struct tach__saved_buckets {
	int count;
	struct tach_bucket *at;
};

struct tach__saved_region {
	struct tach_region_info info;
	struct tach_value *value[2];	       /* per part: quantities, then metrics */
	struct tach__saved_buckets *histogram; /* per quantity */
};

struct tach__saved {
	struct tach__arena arena; /* of all that is below, but for formulas */
	int nquantities, nmetrics, nregions;
	const char **quantity;
	struct tach__saved_metric *metric;
	struct tach__saved_region *region;
};

enum {
	TACH__SAVED_QUANTITIES_MAX = 1 + TACH_FORMULA_OPERANDS_MAX,
	TACH__SAVED_METRICS_MAX = 1024, /* each is looked for by name among the others */
};

/* A snapshot around nothing saved yet; NULL: out of memory. */
struct tach_snapshot *tach__saved_new(void);
void tach__saved_free(struct tach__saved *saved); /* NULL is fine */
/* Arrays for as many as nquantities, nmetrics and nregions say; 0 or TACH_ERR_NOMEM. */
int tach__saved_allocate(struct tach__saved *saved);
int tach__saved_allocate_region(struct tach__saved *saved, int region);
/* Compiles the metrics' texts. */
int tach__saved_compile(struct tach__saved *saved, struct tach_error *err);
/* What a metric is now that its operands are there. */
void tach__saved_derive(struct tach__saved *saved, int region, int metric, enum tach_part part);

int tach__saved_value(const struct tach__saved *saved, int region, int number,
		      enum tach_part part, struct tach_value *value);
double tach__saved_quantile(const struct tach__saved *saved, int region, int quantity,
			    double p);
int tach__saved_buckets(const struct tach__saved *saved, int region, int quantity,
			struct tach_bucket *out, int max);

#endif
