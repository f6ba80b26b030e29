/* SPDX-License-Identifier: MIT */
/*
 * Structs that cross the API and begin with their size: the policy of tach/base.h, in one
 * place. A function that takes or fills one goes through here before it looks at it.
 */
#ifndef TACH_CORE_BASE_SIZED_H
#define TACH_CORE_BASE_SIZED_H

#include <tach/error.h>

/*
 * Bytes that each struct had in version 0.2.0: what a size of 0 stands for. Frozen: when a
 * struct grows, its line stays.
 */
enum {
	TACH__FIRST_tach_bench_options = 88,
	TACH__FIRST_tach_bench_quantity = 80,
	TACH__FIRST_tach_counts = 56,
	TACH__FIRST_tach_derived_info = 96,
	TACH__FIRST_tach_derived_options = 32,
	TACH__FIRST_tach_dispatch = 112,
	TACH__FIRST_tach_dispatch_ia64 = 368,
	TACH__FIRST_tach_dispatch_out = 4784,
	TACH__FIRST_tach_dispatch_x86 = 48,
	TACH__FIRST_tach_doctor_options = 16,
	TACH__FIRST_tach_encode_options = 48,
	TACH__FIRST_tach_error = 272,
	TACH__FIRST_tach_event = 656,
	TACH__FIRST_tach_event_info = 80,
	TACH__FIRST_tach_examination = 11952,
	TACH__FIRST_tach_formula_options = 56,
	TACH__FIRST_tach_pmu_info = 80,
	TACH__FIRST_tach_region_info = 152,
	TACH__FIRST_tach_regions_options = 56,
	TACH__FIRST_tach_report_options = 20,
	TACH__FIRST_tach_schedule = 140,
	TACH__FIRST_tach_schedule_options = 20,
	TACH__FIRST_tach_set_options = 48,
	TACH__FIRST_tach_umask_info = 80,
};

/* What the functions below want to know of a struct: its name, its first size, its size now. */
#define TACH__STRUCT(type) #type, TACH__FIRST_##type, sizeof(struct type)

/* How many bytes the caller's struct has; 0: err says what is wrong with it. */
uint32_t tach__sized(const void *theirs, const char *name, size_t first, size_t known,
		     struct tach_error *err);

/*
 * A struct that the caller filled: `theirs` itself where it has our size, else `ours`, which
 * receives what both know and 0 for the rest. NULL: TACH_ERR_INVAL, and err says why.
 */
const void *tach__sized_in(const void *theirs, void *ours, const char *name, size_t first,
			   size_t known, struct tach_error *err);

/*
 * A struct to be filled: `theirs` where it has our size, else `ours`, cleared. What is filled
 * beside its size then goes through tach__sized_done. NULL: TACH_ERR_INVAL, and err says why.
 */
void *tach__sized_out(void *theirs, void *ours, const char *name, size_t first, size_t known,
		      struct tach_error *err);
/* Hands on what was filled. theirs->size stays, and what we do not know of it becomes 0. */
void tach__sized_done(void *theirs, const void *filled, const char *name, size_t first,
		      size_t known);

#endif
