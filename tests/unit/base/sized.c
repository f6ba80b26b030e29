/* SPDX-License-Identifier: MIT */
/*
 * Every struct that crosses the API and begins with its size is treated as tach/base.h says,
 * for every version of the struct that a caller may have. The struct is at the end of a page
 * and the next page is inaccessible: access beyond its size is fatal.
 */
#include <glob.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>
#include <tach.h>
#include <tach/dispatch.h>
#include "core/base/error.h"
#include "core/base/sized.h"
#include "tests/check.h"

#define TAIL 16u /* how much longer the struct of a newer version is in this test */

static char *at_end;
static struct tach_error err = TACH_ERROR_INIT;
static struct tach_bench *bench;
static struct tach_snapshot *snapshot;
static int skl, itanium2;

static void body(void *context, uint64_t n)
{
	(void)context;
	for (; n; n--)
		__asm__ volatile("" : "+r"(n));
}

static int sink(void *context, const char *text, size_t length)
{
	(void)context, (void)text, (void)length;
	return 0;
}

/* ---- one call for each struct, with this struct as the variable part ---- */

static int bench_options(void *s)
{
	struct tach_bench *b = NULL;
	int rc = tach_bench_run("b", body, NULL, s, &b, &err);

	tach_bench_free(b);
	return rc;
}

static int derived_options(void *s)
{
	struct tach_derived *d = NULL;
	int rc = tach_derived_create(s, &d, &err);

	tach_derived_free(d);
	return rc;
}

static int compute(void *in)
{
	static struct tach_dispatch_out out = {.size = sizeof out};

	return tach_dispatch_compute(in, &out, &err);
}

static int dispatch_x86(void *s)
{
	struct tach_dispatch in = {sizeof in, skl, TACH_PRIVILEGE_USER, 0, 0, 0, NULL, {0},
				   s,	      NULL};

	return compute(&in);
}

static int dispatch_ia64(void *s)
{
	struct tach_dispatch in = {sizeof in, itanium2, TACH_PRIVILEGE_USER, 0, 0, 0, NULL, {0},
				   NULL,      s};

	return compute(&in);
}

static int dispatch_out(void *s)
{
	struct tach_dispatch in = {
		.size = sizeof in, .pmu = skl, .privilege = TACH_PRIVILEGE_USER};

	return tach_dispatch_compute(&in, s, &err);
}

static int change_rule(void *s)
{
	static const double one[] = {1};
	struct tach_change_result is = {.size = sizeof is};

	return tach_change_judge(one, 1, one, 1, s, &is, &err);
}

static int change_result(void *s)
{
	static const double one[] = {1};
	struct tach_change_rule rule = {.size = sizeof rule};

	return tach_change_judge(one, 1, one, 1, &rule, s, &err);
}

static int doctor_options(void *s)
{
	static struct tach_examination x = {.size = sizeof x};

	return tach_doctor_examine(s, &x, &err);
}

static int examination(void *s)
{
	return tach_doctor_examine(NULL, s, &err);
}

static int encode_options(void *s)
{
	struct tach_event e = {.size = sizeof e};

	return tach_event_encode("skl::INST_RETIRED", s, &e, &err);
}

static int event_out(void *s)
{
	return tach_event_encode("skl::INST_RETIRED", NULL, s, &err);
}

static int event_attr(void *s)
{
	struct perf_event_attr attr = {.size = sizeof attr};

	return tach_event_attr(s, &attr);
}

static int event_dispatched(void *s)
{
	struct tach_dispatch_event e;

	return tach_dispatch_from_event(s, &e);
}

static int event_scheduled(void *s)
{
	struct tach_schedule_options opt = {.size = sizeof opt, .pmu = skl};
	struct tach_schedule plan = {.size = sizeof plan};

	return tach_schedule_split(s, 1, 0, &opt, &plan, &err);
}

static int schedule_options(void *s)
{
	struct tach_schedule plan = {.size = sizeof plan};

	return tach_schedule_split(NULL, 0, 0, s, &plan, &err);
}

static int schedule(void *s)
{
	struct tach_schedule_options opt = {.size = sizeof opt, .pmu = skl};

	return tach_schedule_split(NULL, 0, 0, &opt, s, &err);
}

static int formula_options(void *s)
{
	struct tach_formula *f = NULL;
	int rc = tach_formula_compile("1 + 1", s, &f, &err);

	tach_formula_free(f);
	return rc;
}

static int set_options(void *s)
{
	struct tach_set *set = NULL;
	int rc = tach_set_create(s, &set, &err);

	tach_set_free(set);
	return rc;
}

/* The struct was accepted if the error says that there are no events. */
static int uncore_options(void *s)
{
	struct tach_uncore *u;
	int rc = tach_uncore_open(s, &u, &err);

	return rc == TACH_ERR_INVAL && strcmp(err.text, "no events") == 0 ? 0 : rc;
}

static int regions_options(void *s)
{
	return tach_regions_configure(s, &err);
}

static int report_options(void *s)
{
	return tach_report_write(snapshot, s, sink, NULL, &err);
}

static int bench_quantity(void *s)
{
	return tach_bench_value(bench, 0, s);
}

static int counts(void *s)
{
	return tach_snapshot_counts(snapshot, s);
}

static int region_info(void *s)
{
	return tach_snapshot_region(snapshot, 0, s);
}

static int worst(void *s)
{
	return tach_snapshot_worst(snapshot, 0, 0, s);
}

static int derived_found(void *s)
{
	return tach_derived_find(tach_derived_default(), skl, "PAPI_TOT_INS", s);
}

static int derived_at(void *s)
{
	return tach_derived_at(tach_derived_default(), skl, 0, s);
}

static int pmu_info(void *s)
{
	return tach_pmu_describe(skl, s);
}

static int event_info(void *s)
{
	return tach_pmu_event(skl, 0, s);
}

static int umask_info(void *s)
{
	for (int e = 0;; e++) {
		int rc = tach_pmu_umask(skl, e, 0, s);
		struct tach_event_info info = {.size = sizeof info};

		if (rc == 0 || tach_pmu_event(skl, e, &info) || info.numasks)
			return rc;
	}
}

/* ---- the structs, and the content of those that the library reads ---- */

static struct tach_event encoded = {.size = sizeof encoded};

#define IN(type, call, ...)                                                                    \
	{                                                                                      \
		TACH__STRUCT(type), call, 1, &(struct type)                                    \
		{                                                                              \
			.size = sizeof(struct type), __VA_ARGS__                               \
		}                                                                              \
	}
#define OUT(type, call)                                                                        \
	{                                                                                      \
		TACH__STRUCT(type), call, 0, NULL                                              \
	}

static struct entry {
	const char *name;
	size_t first, known, align;
	int (*call)(void *);
	int in;
	const void *content;
} entries[] = {
	IN(tach_bench_options, bench_options, .events = "", .samples = 5, .iterations = 10),
	OUT(tach_bench_quantity, bench_quantity),
	IN(tach_change_rule, change_rule, .bound = 0.5),
	OUT(tach_change_result, change_result),
	OUT(tach_counts, counts),
	OUT(tach_derived_info, derived_found),
	OUT(tach_derived_info, derived_at),
	IN(tach_derived_options, derived_options, .flags = TACH_DERIVED_PRESETS),
	IN(tach_dispatch, compute, .privilege = TACH_PRIVILEGE_USER),
	IN(tach_dispatch_ia64, dispatch_ia64, .fine_32 = 1),
	OUT(tach_dispatch_out, dispatch_out),
	IN(tach_dispatch_x86, dispatch_x86, .pebs = 0),
	IN(tach_doctor_options, doctor_options, .root = NULL),
	IN(tach_encode_options, encode_options, .privilege = TACH_PRIVILEGE_USER, .pmu = -1,
	   .any_pmu = 1),
	OUT(tach_event, event_out),
	{TACH__STRUCT(tach_event), event_attr, 1, &encoded},
	{TACH__STRUCT(tach_event), event_dispatched, 1, &encoded},
	{TACH__STRUCT(tach_event), event_scheduled, 1, &encoded},
	OUT(tach_event_info, event_info),
	OUT(tach_examination, examination),
	IN(tach_formula_options, formula_options, .noperands = -1),
	OUT(tach_pmu_info, pmu_info),
	OUT(tach_region_info, region_info),
	IN(tach_regions_options, regions_options, .events = ""),
	IN(tach_report_options, report_options, .format = TACH_FORMAT_JSON),
	OUT(tach_schedule, schedule),
	IN(tach_schedule_options, schedule_options, .pmu = 0),
	IN(tach_set_options, set_options, .events = "task-clock", .pmu = -1),
	OUT(tach_umask_info, umask_info),
	IN(tach_uncore_options, uncore_options, .events = ""),
	OUT(tach_worst, worst),
};
enum { NENTRIES = sizeof entries / sizeof *entries };

/* Places a struct of `bytes` bytes at the end of the page; its size field is `size`. */
static char *place(const struct entry *e, uint32_t size, size_t bytes, int tail)
{
	char *at = at_end - bytes;

	memset(at - 64, 0x5a, 64);
	memset(at, e->in ? 0 : 0x5a, bytes);
	if (e->in)
		memcpy(at, e->content, bytes < e->known ? bytes : e->known);
	if (bytes > e->known)
		memset(at + e->known, tail, bytes - e->known);
	memcpy(at, &size, sizeof size);
	return at;
}

static int kept(const char *at, uint32_t size)
{
	int before = 1;

	for (int i = -64; i < 0; i++)
		before &= at[i] == 0x5a;
	return before && memcmp(at, &size, sizeof size) == 0;
}

static void right_sizes(void)
{
	for (int i = 0; i < NENTRIES; i++) {
		const struct entry *e = &entries[i];
		const uint32_t sizes[] = {(uint32_t)e->known, 0};

		CHECK(e->first <= e->known, "%s: %zu bytes at first, %zu now", e->name,
		      e->first, e->known);
		for (int k = 0; k < 2; k++) {
			char *at = place(e, sizes[k], k ? e->first : e->known, 0);

			CHECK(e->call(at) == 0, "%s, size %u: %s", e->name, sizes[k], err.text);
			CHECK(kept(at, sizes[k]), "%s, size %u", e->name, sizes[k]);
		}
	}
}

/* An earlier version's struct lacks at most the last 8 bytes. */
static void structs_of_earlier_versions_are_accepted(void)
{
	for (int i = 0; i < NENTRIES; i++) {
		const struct entry *e = &entries[i];
		uint32_t size = (uint32_t)e->known - (e->known % 8 ? 4 : 8);
		char *at = place(e, size, size, 0);

		CHECK(e->call(at) == 0, "%s: %s", e->name, err.text);
		CHECK(kept(at, size), "%s", e->name);
	}
}

static void structs_of_later_versions_are_accepted(void)
{
	static const char zero[TAIL];

	for (int i = 0; i < NENTRIES; i++) {
		const struct entry *e = &entries[i];
		uint32_t size = (uint32_t)e->known + TAIL;
		char *at = place(e, size, size, e->in ? 0 : 0x5a);

		CHECK(e->call(at) == 0, "%s: %s", e->name, err.text);
		CHECK(kept(at, size), "%s", e->name);
		CHECK(e->in || memcmp(at + e->known, zero, TAIL) == 0, "%s", e->name);
	}
}

static void longer_with_something_in_it(void)
{
	for (int i = 0; i < NENTRIES; i++) {
		const struct entry *e = &entries[i];
		uint32_t size = (uint32_t)e->known + TAIL;
		char *at = place(e, size, size, 0), want[32];

		if (!e->in)
			continue;
		at_end[-1] = 1;
		err = (struct tach_error)TACH_ERROR_INIT;
		CHECK(e->call(at) == TACH_ERR_INVAL, "%s", e->name);
		snprintf(want, sizeof want, "byte %u", size - 1);
		CHECK(!err.code || (strstr(err.text, e->name) && strstr(err.text, want)),
		      "%s: %s", e->name, err.text);
		CHECK(err.code || e->call == event_attr || e->call == event_dispatched, "%s",
		      e->name);
		CHECK(err.line == 0 && err.column == 0, "%s has a place", err.text);
	}
}

static void absurd_sizes_are_refused(void)
{
	static const uint32_t sizes[] = {1, 3, 7, 65540, 0x5a5a5a58, 0xfffffffc, 0xffffffff};

	for (int i = 0; i < NENTRIES; i++)
		for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
			const struct entry *e = &entries[i];
			char *at = place(e, sizes[k], e->known, 0);

			CHECK(e->call(at) == TACH_ERR_INVAL, "%s, size %u", e->name, sizes[k]);
			CHECK(kept(at, sizes[k]), "%s, size %u", e->name, sizes[k]);
			CHECK(err.line == 0 && err.column == 0, "%s has a place", err.text);
		}
}

/* Otherwise the library would use half of a pointer. */
static void sizes_inside_a_member_are_refused(void)
{
	int tried = 0;

	for (int i = 0; i < NENTRIES; i++) {
		const struct entry *e = &entries[i];
		uint32_t size = (uint32_t)(e->known - e->align / 2);
		char *at = place(e, size, e->known, 0);

		tried += e->align == 8;
		CHECK(e->call(at) == TACH_ERR_INVAL, "%s, size %u", e->name, size);
		CHECK(kept(at, size), "%s, size %u", e->name, size);
	}
	CHECK(tried > 10, "%d structs with pointers", tried);
}

static void null_pointer_is_refused(void)
{
	err = (struct tach_error)TACH_ERROR_INIT;
	CHECK(tach__sized(NULL, "tach_worst", 8, 16, 8, &err) == 0);
	CHECK(err.code == TACH_ERR_INVAL && err.line == 0 && err.column == 0 &&
		      strcmp(err.text, "struct tach_worst: a NULL pointer") == 0,
	      "%s", err.text);
}

/*
 * The library's copy has the library's size, for any size of the caller's, and zeros in the
 * rest.
 */
static void copies_have_the_library_size(void)
{
	uint32_t theirs[6] = {sizeof theirs, 1, 2, 3}, own[4], large = 65536;

	memset(own, 0x5a, sizeof own);
	CHECK(tach__resized_in(theirs, own, "s", 8, sizeof own, 8, &err) == own, "%s",
	      err.text);
	CHECK(own[0] == sizeof own && own[1] == 1 && own[2] == 2 && own[3] == 3);
	theirs[0] = 8;
	CHECK(tach__resized_in(theirs, own, "s", 8, sizeof own, 8, &err) == own, "%s",
	      err.text);
	CHECK(own[0] == sizeof own && own[1] == 1 && own[2] == 0 && own[3] == 0);
	memset(own, 0x5a, sizeof own);
	CHECK(tach__resized_out(theirs, own, "s", 8, sizeof own, 8, &err) == own);
	for (int i = 0; i < 4; i++)
		CHECK(own[i] == 0, "%d: %#x", i, own[i]);
	CHECK(tach__sized(&large, "s", 8, 16, 8, &err) == 65536);
}

/* In struct tach_error only the text is shorter; a size of 0 is not changed. */
static void errors(void)
{
	static const uint32_t sizes[] = {272, 0, 272 + TAIL, 24, 20, 0xffffffff};

	for (size_t k = 0; k < sizeof sizes / sizeof *sizes; k++) {
		size_t bytes = sizes[k] && sizes[k] < 1000 ? sizes[k] : 272;
		char *at = at_end - bytes;
		struct tach_error *theirs = (void *)at;

		memset(at, 0, bytes);
		theirs->size = sizes[k];
		CHECK(tach__error(theirs, TACH_ERR_STATE, 1, 2, "%s", "abcdefghijkl") ==
		      TACH_ERR_STATE);
		CHECK(theirs->size == sizes[k] && theirs->code == TACH_ERR_STATE);
		CHECK(strcmp(theirs->text, bytes == 24	 ? "abcdefg"
					   : bytes == 20 ? "abc"
							 : "abcdefghijkl") == 0,
		      "size %u: %s", sizes[k], theirs->text);
	}
}

/* ---- no other struct begins with its size ---- */

/*
 * Structs without a size: those that tach/base.h names, parts of other structs, and structs of
 * inline functions.
 */
static const char fixed[] =
	" tach_value tach_bucket tach_register tach_set_member"
	" tach_dispatch_event tach_dispatch_ear tach_dispatch_btb tach_dispatch_opcode"
	" tach_dispatch_range tach_dispatch_ranges tach_ranges_used tach_finding"
	" tach_way tach_reader tach_mark tach_site tach_region_mark tach_task tach_team "
	"tach_help"
	" tach_bench_case"
	" tach_bench_axis tach_bench_counter tach__bench_at tach__bench_main tach__expected "
	"tach__no_jump ";
/* The library fills these structs in its own memory. */
static const char given[] = " tach_diagnostic tach_error ";

static int is_in(const char *list, const char *name)
{
	char padded[80];

	snprintf(padded, sizeof padded, " %s ", name);
	return strstr(list, padded) != NULL;
}

static int tested(const char *name)
{
	for (int i = 0; i < NENTRIES; i++)
		if (strcmp(entries[i].name, name) == 0)
			return 1;
	return is_in(given, name);
}

static int look_through(const char *file)
{
	FILE *f = fopen(file, "r");
	char line[200], next[200], name[64];
	int n = 0;

	CHECK(f != NULL, "%s", file);
	while (f && fgets(line, sizeof line, f)) {
		if (sscanf(line, "struct %63[a-z0-9_] {", name) != 1 || !strchr(line, '{'))
			continue;
		n++;
		CHECK(fgets(next, sizeof next, f) != NULL);
		CHECK(strstr(next, "uint32_t size;") ? tested(name) : is_in(fixed, name),
		      "struct %s", name);
	}
	if (f)
		fclose(f);
	return n;
}

static void all_of_them(void)
{
	glob_t found;
	int n = 0;

	CHECK(glob("include/tach/*.h", 0, NULL, &found) == 0);
	for (size_t i = 0; i < found.gl_pathc; i++)
		n += look_through(found.gl_pathv[i]);
	globfree(&found);
	CHECK(n > 40, "%d structs", n);
}

static void prepare(void)
{
	struct tach_bench_options opt = {
		.size = sizeof opt, .events = "", .samples = 5, .iterations = 10};
	struct tach_regions_options regions = {
		.size = sizeof regions, .events = "", .worst = "1"};
	size_t page = (size_t)sysconf(_SC_PAGESIZE), room = 8 * page;
	char *at = mmap(NULL, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS,
			-1, 0);

	mprotect(at + room, page, PROT_NONE);
	at_end = at + room;
	skl = tach_pmu_find("skl");
	itanium2 = tach_pmu_find("itanium2");
	if (tach_bench_run("b", body, NULL, &opt, &bench, &err) ||
	    tach_regions_configure(&regions, &err) ||
	    tach_event_encode("skl::INST_RETIRED", NULL, &encoded, &err))
		printf("# %s\n", err.text);
	TACH_START(region);
	TACH_STOP(region);
	if (tach_snapshot_take(&snapshot, &err))
		printf("# %s\n", err.text);
	for (int i = 0; i < NENTRIES; i++)
		if (entries[i].call == compute)
			((struct tach_dispatch *)(uintptr_t)entries[i].content)->pmu = skl;
}

/* A size of 0 means the present size until this version is released. */
static void first_sizes(void)
{
#define FIRST(type)                                                                            \
	{                                                                                      \
#type, TACH__FIRST_##type, sizeof(struct type)                                 \
	}
	static const struct {
		const char *name;
		size_t first, now;
	} all[] = {
		FIRST(tach_bench_options),
		FIRST(tach_bench_quantity),
		FIRST(tach_change_rule),
		FIRST(tach_change_result),
		FIRST(tach_derived_info),
		FIRST(tach_derived_options),
		FIRST(tach_dispatch),
		FIRST(tach_dispatch_ia64),
		FIRST(tach_dispatch_out),
		FIRST(tach_dispatch_x86),
		FIRST(tach_doctor_options),
		FIRST(tach_encode_options),
		FIRST(tach_error),
		FIRST(tach_event),
		FIRST(tach_event_info),
		FIRST(tach_examination),
		FIRST(tach_formula_options),
		FIRST(tach_pmu_info),
		FIRST(tach_region_info),
		FIRST(tach_regions_options),
		FIRST(tach_report_options),
		FIRST(tach_schedule),
		FIRST(tach_schedule_options),
		FIRST(tach_set_options),
		FIRST(tach_umask_info),
		FIRST(tach_uncore_options),
		FIRST(tach_worst),
	};
#undef FIRST

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		CHECK(all[i].first == all[i].now, "%s: %zu, not %zu", all[i].name, all[i].first,
		      all[i].now);
}

/* Structs of the present size need no copy; a size of 0 needs one if the struct has grown. */
static void has_our_size(void)
{
	const uint32_t none = 0, first = 16, now = 24;

	CHECK(tach__has_our_size(&now, first, now) && tach__has_our_size(&none, now, now));
	CHECK(!tach__has_our_size(&first, first, now));
	CHECK(!tach__has_our_size(&none, first, now));
	CHECK(!tach__has_our_size(NULL, first, now));
}

int main(void)
{
	prepare();
	CASE(right_sizes);
	CASE(structs_of_earlier_versions_are_accepted);
	CASE(structs_of_later_versions_are_accepted);
	CASE(longer_with_something_in_it);
	CASE(absurd_sizes_are_refused);
	CASE(sizes_inside_a_member_are_refused);
	CASE(null_pointer_is_refused);
	CASE(copies_have_the_library_size);
	CASE(errors);
	CASE(all_of_them);
	CASE(first_sizes);
	CASE(has_our_size);
	tach_snapshot_free(snapshot);
	tach_bench_free(bench);
	return check_done();
}
