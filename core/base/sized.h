/* SPDX-License-Identifier: MIT */
/*
 * Structs that cross the API and begin with their size: this file implements the rules of
 * tach/base.h. A function that takes or fills such a struct calls these functions before it
 * reads the struct.
 */
#ifndef TACH_CORE_BASE_SIZED_H
#define TACH_CORE_BASE_SIZED_H

#include <string.h>
#include <tach/error.h>

/*
 * Bytes of each struct in version 0.2.0, which a size of 0 means. After that release, do not
 * change these numbers, even if a struct grows.
 */
enum {
	TACH__FIRST_tach_bench_options = 120,
	TACH__FIRST_tach_bench_quantity = 88,
	TACH__FIRST_tach_change_result = 48,
	TACH__FIRST_tach_change_rule = 24,
	TACH__FIRST_tach_counts = 56,
	TACH__FIRST_tach_derived_info = 136,
	TACH__FIRST_tach_derived_options = 48,
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
	TACH__FIRST_tach_formula_options = 64,
	TACH__FIRST_tach_pmu_info = 88,
	TACH__FIRST_tach_region_info = 192,
	TACH__FIRST_tach_regions_options = 80,
	TACH__FIRST_tach_report_options = 28,
	TACH__FIRST_tach_schedule = 396,
	TACH__FIRST_tach_schedule_options = 20,
	TACH__FIRST_tach_set_options = 48,
	TACH__FIRST_tach_umask_info = 80,
	TACH__FIRST_tach_uncore_options = 24,
	TACH__FIRST_tach_worst = 48,
};

/* The arguments of the functions below: name, first size, present size, alignment. */
#define TACH__STRUCT(type) #type, TACH__FIRST_##type, sizeof(struct type), _Alignof(struct type)

/* Returns the size of the caller's struct in bytes, or 0 with the fault in err. */
uint32_t tach__sized(const void *theirs, const char *name, size_t first, size_t known,
		     size_t align, struct tach_error *err);

/* The functions below call these for a struct of another size than ours. */
const void *tach__resized_in(const void *theirs, void *ours, const char *name, size_t first,
			     size_t known, size_t align, struct tach_error *err);
void *tach__resized_out(void *theirs, void *ours, const char *name, size_t first, size_t known,
			size_t align, struct tach_error *err);
void tach__resized_done(void *theirs, const void *filled, const char *name, size_t first,
			size_t known, size_t align);

/* Usually this costs one comparison: encoding an event makes three of these calls. */
static inline int tach__has_our_size(const void *theirs, size_t first, size_t known)
{
	uint32_t size;

	if (!theirs)
		return 0;
	memcpy(&size, theirs, sizeof size);
	return size == known || (size == 0 && first == known);
}

/*
 * Takes a struct that the caller filled: returns `theirs` if it has our size, else `ours`,
 * which gets the members that both know, and 0 for the others. NULL: TACH_ERR_INVAL, and
 * err has the reason.
 */
static inline const void *tach__sized_in(const void *theirs, void *ours, const char *name,
					 size_t first, size_t known, size_t align,
					 struct tach_error *err)
{
	return tach__has_our_size(theirs, first, known)
		       ? theirs
		       : tach__resized_in(theirs, ours, name, first, known, align, err);
}

/*
 * Returns a struct to fill: `theirs` if it has our size, else `ours`, cleared. If it is `ours`,
 * call tach__sized_done afterwards. NULL: TACH_ERR_INVAL, and err has the reason.
 */
static inline void *tach__sized_out(void *theirs, void *ours, const char *name, size_t first,
				    size_t known, size_t align, struct tach_error *err)
{
	return tach__has_our_size(theirs, first, known)
		       ? theirs
		       : tach__resized_out(theirs, ours, name, first, known, align, err);
}

/* Copies the filled struct to the caller's. Its size stays; members unknown to us become 0.
 */
static inline void tach__sized_done(void *theirs, const void *filled, const char *name,
				    size_t first, size_t known, size_t align)
{
	if (theirs != filled)
		tach__resized_done(theirs, filled, name, first, known, align);
}

#endif
