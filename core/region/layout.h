/* SPDX-License-Identifier: MIT */
/*
 * The layout that a reader in another process assumes for the registry, as one number. The
 * reader refuses another number. It contains the offsets of all members that the reader uses,
 * so it changes with them. If the meaning of a member changes, change TACH__LAYOUT_MEANING.
 */
#ifndef TACH_CORE_REGION_LAYOUT_H
#define TACH_CORE_REGION_LAYOUT_H

#include "core/region/region.h"
#include "core/set/set.h"

#define TACH__LAYOUT_MEANING 5

/* Adds a digit in base 31, as string hashes do. */
#define TACH__L(before, value)		((before)*31u + (uint32_t)(value))
#define TACH__L2(before, s, a, b)	TACH__L(TACH__L(before, offsetof(s, a)), offsetof(s, b))
#define TACH__L4(before, s, a, b, c, d) TACH__L2(TACH__L2(before, s, a, b), s, c, d)

#define TACH__LAYOUT_0 TACH__L(TACH__LAYOUT_MEANING, sizeof(void *))
#define TACH__LAYOUT_1                                                                         \
	TACH__L4(TACH__LAYOUT_0, struct tach__registry, threads, config, busy, page)
#define TACH__LAYOUT_2                                                                         \
	TACH__L4(TACH__LAYOUT_1, struct tach__registry, by_id, nsites, openings, folds)
#define TACH__LAYOUT_3                                                                         \
	TACH__L4(TACH__LAYOUT_2, struct tach__registry, refused, lost, unopened, open_error)
#define TACH__LAYOUT_4 TACH__L2(TACH__LAYOUT_3, struct tach__registry, generation, enabled)
#define TACH__LAYOUT_5 TACH__L2(TACH__LAYOUT_4, struct tach__process, alive, walks)
#define TACH__LAYOUT_6 TACH__L4(TACH__LAYOUT_5, struct tach__site, id, line, fenced, name)
#define TACH__LAYOUT_7                                                                         \
	TACH__L(TACH__L4(TACH__LAYOUT_6, struct tach__site, file, function, of, parts),        \
		offsetof(struct tach__site, parent))
#define TACH__LAYOUT_8                                                                         \
	TACH__L4(TACH__LAYOUT_7, struct tach__config, set, count, stride, histograms)
#define TACH__LAYOUT_9	TACH__L4(TACH__LAYOUT_8, struct tach__config, sparse, rows, ended, note)
#define TACH__LAYOUT_10 TACH__L4(TACH__LAYOUT_9, struct tach__rows, base, stride, count, limit)
#define TACH__LAYOUT_11                                                                        \
	TACH__L4(TACH__LAYOUT_10, struct tach__row, calls, provenance, histograms, cell)
#define TACH__LAYOUT_12 TACH__L(TACH__L(TACH__LAYOUT_11, sizeof(struct tach__cell)), TACH__SUMS)
#define TACH__LAYOUT_13 TACH__L4(TACH__LAYOUT_12, struct tach__thread, node, hot, config, count)
#define TACH__LAYOUT_14                                                                        \
	TACH__L4(TACH__LAYOUT_13, struct tach__thread, limit, folded, chunk, overflow)
#define TACH__LAYOUT_15                                                                        \
	TACH__L4(TACH__LAYOUT_14, struct tach__thread, stride, overflow_id, overhead, nchunks)
#define TACH__LAYOUT_16                                                                        \
	TACH__L(TACH__L(TACH__LAYOUT_15, sizeof(struct tach__thread)), TACH__TABLE_AT)
#define TACH__LAYOUT_17                                                                        \
	TACH__L4(TACH__LAYOUT_16, struct tach__slot, seq, sampling, histograms, fenced)
#define TACH__LAYOUT_18                                                                        \
	TACH__L(TACH__L4(TACH__LAYOUT_17, struct tach__slot, provenance, skipped, lost, word), \
		offsetof(struct tach__slot, flat))
#define TACH__LAYOUT_19 TACH__L2(TACH__LAYOUT_18, struct tach__part, calls, sum)
#define TACH__LAYOUT_20 TACH__L2(TACH__LAYOUT_19, struct tach__hot, state, count)
#define TACH__LAYOUT_21                                                                        \
	TACH__L4(TACH__LAYOUT_20, struct tach_set, count, nmetrics, interrupts, corrected)
#define TACH__LAYOUT_22 TACH__L2(TACH__LAYOUT_21, struct tach_set, member, metric)
#define TACH__LAYOUT_23                                                                        \
	TACH__L4(TACH__LAYOUT_22, struct tach__metric, name, node.level, formula, text)
#define TACH__LAYOUT_24                                                                        \
	TACH__L4(TACH__LAYOUT_23, struct tach__metric, node.unit, node.parent, node.threshold, \
		 node.description)
#define TACH__LAYOUT_25                                                                        \
	TACH__L(TACH__L2(TACH__LAYOUT_24, struct tach__member, kind, name),                    \
		sizeof(struct tach__metric))
#define TACH__LAYOUT_26                                                                        \
	TACH__L(TACH__L2(TACH__LAYOUT_25, struct tach__thread, inexact, steps),                \
		sizeof(struct tach__inexact))
#define TACH__LAYOUT_27                                                                        \
	TACH__L2(TACH__L4(TACH__LAYOUT_26, struct tach__thread, worst, tid, comm, hot),        \
		 struct tach__config, worst, worst_by)
#define TACH__LAYOUT_28 TACH__L4(TACH__LAYOUT_27, struct tach__worst, seq, n, most, word)
#define TACH__LAYOUT_29 TACH__L4(TACH__LAYOUT_28, struct tach__kept, key, parent, name, sum)
/* 0 is not used, because it means that there is no registry. */
#define TACH__REGISTRY_LAYOUT (TACH__LAYOUT_29 | 1u)

#endif
