/* SPDX-License-Identifier: MIT */
/*
 * Regions that overlap on one thread: by begin and end, in fibres, of one site, with tasks
 * inside. The simulated kernel counts scripted values, so each value is known. An entry's
 * inclusive value is its end minus its begin; the comment at each case gives its self value.
 */
#include <setjmp.h>
#include <ucontext.h>
#include "tests/unit/region/regions.h"

enum { SITES = 6 };

static struct tach_site *site[SITES];
static struct tach_region_mark mark[SITES];
static struct tach_task task[2];
static uint64_t inclusive[SITES]; /* expected values, computed by hand */
static int open_now[SITES];

static void work(uint64_t n)
{
	fake_count += n;
	for (int i = 0; i < SITES; i++)
		inclusive[i] += open_now[i] ? n : 0;
}

static void begin(void)
{
	struct tach_regions_options opt = {
		.size = sizeof opt, .set = fake_set(1), .worst = "0"};

	info.size = sizeof info;
	CHECK(tach_regions_configure(&opt, NULL) == 0);
	for (int i = 0; i < SITES; i++) {
		char name[2] = {(char)('A' + i), 0};

		site[i] = tach_site_get(name);
		inclusive[i] = 0;
		open_now[i] = 0;
	}
}

/* A capital letter begins a region, the small letter ends it; a digit is work. */
static void run(const char *shape)
{
	for (; *shape; shape++) {
		if (*shape >= 'A' && *shape < 'A' + SITES) {
			open_now[*shape - 'A'] = 1;
			tach_region_begin(site[*shape - 'A'], &mark[*shape - 'A']);
		} else if (*shape >= 'a' && *shape < 'a' + SITES) {
			tach_region_end(&mark[*shape - 'a']);
			open_now[*shape - 'a'] = 0;
		} else {
			work((uint64_t)(*shape - '0') * 1000);
		}
	}
}

static int overlaps(void)
{
	return info.overlapping != 0;
}

/* Returns the present value minus the overhead. */
static double took(void)
{
	return value.raw - value.overhead;
}

static double self_of(int r)
{
	struct tach_value v;

	tach_snapshot_value(shot, r, 1, TACH_PART_SELF, &v);
	return v.raw - v.overhead;
}

static void check(const char *shape, int times)
{
	static const char *const names[] = {"A", "B", "C", "D", "E", "F"};

	for (int i = 0; i < SITES; i++) {
		uint64_t calls = 0;

		for (const char *c = shape; *c; c++)
			calls += *c == 'A' + i;
		if (calls == 0)
			continue;
		CHECK(regions_look(names[i], 1), "%s", names[i]);
		CHECK(took() == (double)inclusive[i] && info.calls == calls * (uint64_t)times &&
			      info.lost == 0,
		      "%s: %s is %.0f, not %d, in %d calls", shape, names[i], took(),
		      (int)inclusive[i], (int)info.calls);
		CHECK(!(value.flags & TACH_FLAG_INCOMPLETE), "%s: %s: %#x", shape, names[i],
		      value.flags);
	}
}

static void all_overlap_shapes_are_exact(void)
{
	static const char *const all[] = {
		"A1B2a3b4",
		"A1B2C3c4a5b",
		"A1B2C3c4a5D6d7b8",
		"C1A2B3a4b5c",
		"A1B2C3a4b5c6",
		"A1B2C3b4a5c6",
		"A1B2C3b4c5a6",
		"A1B2C3D4E5a6c7e8b9d",
		"A1B2a3C4b5D6c7E8d9e",
		"E1A2B3F4f5a6C7b8c9e1",
		"F1A2B3C4b5D6a7c8d9f1A2a3",
	};

	for (unsigned i = 0; i < sizeof all / sizeof *all; i++) {
		begin();
		for (int n = 0; n < 10; n++)
			run(all[i]);
		check(all[i], 10);
	}
}

/*
 * The self value contains the counts while the region was the last one to begin; it is flagged.
 */
static void self_says_so(void)
{
	static const struct {
		const char *name;
		double self;
		int overlapping;
	} want[] = {
		{"E", 1000 + 5000, 1}, {"A", 2000, 1}, {"B", 3000 + 4000, 1}, {"F", 9000, 0}};

	begin();
	run("E1A2B3a4b5eF9f");
	CHECK(regions_look("E", 1));
	for (int r = 0, found = 0; r < tach_snapshot_nregions(shot); r++) {
		struct tach_value v;

		tach_snapshot_region(shot, r, &info);
		for (unsigned i = 0; i < sizeof want / sizeof *want; i++) {
			if (strcmp(info.name, want[i].name) != 0)
				continue;
			found++;
			tach_snapshot_value(shot, r, 1, TACH_PART_SELF, &v);
			CHECK(self_of(r) == want[i].self, "%s: %.0f", info.name, self_of(r));
			CHECK(overlaps() == want[i].overlapping &&
				      !!(v.flags & TACH_FLAG_INCOMPLETE) == want[i].overlapping,
			      "%s: %#x", info.name, v.flags);
			tach_snapshot_value(shot, r, 0, TACH_PART_SELF, &v);
			CHECK(!!(v.flags & TACH_FLAG_INCOMPLETE) == want[i].overlapping);
		}
		CHECK(r + 1 < tach_snapshot_nregions(shot) || found == 4, "%d", found);
	}
}

static char text[1048576];
static const char *report(const char *format)
{
	struct tach_report_options opt = {.size = sizeof opt};
	FILE *f = tmpfile();

	opt.format = tach_report_format(format);
	memset(text, 0, sizeof text);
	CHECK(f && tach_report_fd(shot, &opt, fileno(f), NULL) == 0);
	rewind(f);
	CHECK(fread(text, 1, sizeof text - 1, f) > 0);
	fclose(f);
	return text;
}

static void reports_say_so(void)
{
	struct tach_snapshot *loaded = NULL;
	struct tach_error err = TACH_ERROR_INIT;

	begin();
	run("A1B2a3bC4c");
	CHECK(regions_look("A", 1));
	CHECK(strstr(report("a.txt"), "overlapping"));
	CHECK(strstr(report("a.html"), "overlapping"));
	CHECK(strstr(report("a.json"), "\"overlapping\": 1"), "%s", text);
	/* A loaded report has the flag too. */
	CHECK(tach_snapshot_load(text, strlen(text), &loaded, &err) == 0, "%s", err.text);
	if (!loaded)
		return;
	tach_snapshot_free(shot);
	shot = loaded;
	CHECK(regions_find("A", 1) && overlaps() == 1);
	CHECK(regions_find("C", 1) && overlaps() == 0);
	CHECK(strstr(report("a.txt"), "overlapping"));
}

/* ---- entries of the same region ---- */

static void one_site(void)
{
	struct tach_region_mark entry[4];

	begin();
	for (int n = 0; n < 10; n++) {
		for (int i = 0; i < 4; i++) {
			tach_region_begin(site[0], &entry[i]);
			work(10);
		}
		tach_region_end(&entry[1]);
		work(100);
		tach_region_end(&entry[0]);
		work(1000);
		tach_region_end(&entry[3]);
		work(10000);
		tach_region_end(&entry[2]);
	}
	CHECK(regions_look("A", 1));
	/*
	 * The first entry, and the third, which continues after it, are outermost; the others
	 * are inside these.
	 */
	CHECK(info.calls == 40 && info.outermost == 20, "%d %d", (int)info.calls,
	      (int)info.outermost);
	CHECK(took() == 10 * (140 + 11120), "%.0f", took());
	for (int r = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.name, "A") == 0)
			CHECK(self_of(r) == 10 * 11140, "%.0f", self_of(r));
	}
}

/* ---- fibres ---- */

enum { FIBRES = 3, ROUNDS = 200, FIBRE_STACK = 65536 };
static ucontext_t scheduler, fibre[FIBRES];
static char stacks[FIBRES][FIBRE_STACK] __attribute__((aligned(64)));
static uint64_t fibre_took[FIBRES];
static int running[FIBRES];

static void fibre_work(uint64_t n)
{
	fake_count += n;
	for (int i = 0; i < FIBRES; i++)
		fibre_took[i] += running[i] > 0 ? n : 0;
}

#define FIBRE(n)                                                                               \
	static void fibre_##n(void)                                                            \
	{                                                                                      \
		for (int i = 0; i < ROUNDS; i++) {                                             \
			running[n] = 1;                                                        \
			TACH_START(fibre##n);                                                  \
			fibre_work(100 + n);                                                   \
			swapcontext(&fibre[n], &scheduler);                                    \
			fibre_work(1000 + n);                                                  \
			swapcontext(&fibre[n], &scheduler);                                    \
			TACH_STOP(fibre##n);                                                   \
			running[n] = 0;                                                        \
			fibre_work(10);                                                        \
			if (i % (n + 2) == 0)                                                  \
				swapcontext(&fibre[n], &scheduler);                            \
		}                                                                              \
		running[n] = -1;                                                               \
		swapcontext(&fibre[n], &scheduler);                                            \
	}
FIBRE(0)
FIBRE(1)
FIBRE(2)

static void fibres(void)
{
	static void (*const body[])(void) = {fibre_0, fibre_1, fibre_2};
	volatile int left = FIBRES;

#if defined(__SANITIZE_THREAD__) || defined(__SANITIZE_ADDRESS__)
	SKIP("the checker does not follow stacks that a program makes");
#endif
	begin();
	for (int i = 0; i < FIBRES; i++) {
		getcontext(&fibre[i]);
		fibre[i].uc_stack.ss_sp = stacks[i];
		fibre[i].uc_stack.ss_size = FIBRE_STACK;
		fibre[i].uc_link = &scheduler;
		makecontext(&fibre[i], body[i], 0);
	}
	for (volatile int turn = 0; left; turn++) {
		int i = turn % FIBRES;

		if (running[i] < 0)
			continue;
		swapcontext(&scheduler, &fibre[i]);
		left = left - (running[i] < 0);
	}
	for (int i = 0; i < FIBRES; i++) {
		char name[8];

		snprintf(name, sizeof name, "fibre%d", i);
		CHECK(regions_look(name, 1));
		CHECK(info.calls == ROUNDS && info.lost == 0 && overlaps() == 1);
		CHECK(took() == (double)fibre_took[i], "%s: %.0f, not %d", name, took(),
		      (int)fibre_took[i]);
	}
}

/* ---- tasks ---- */

static double task_took(int i, uint32_t flags)
{
	double took_by = 0;
	int got = tach_task_value(&task[i], 1, &took_by);

	CHECK(got >= 0 && ((uint32_t)got & ~TACH_FLAG_SYSCALL) == flags, "%d: %#x", i,
	      (unsigned)got);
	return took_by;
}

static void task_with_a_region_left_open(void)
{
	begin();
	tach_task_begin(&task[0], tach_site_get("one task"));
	fake_count += 1;
	tach_region_begin(site[0], &mark[0]);
	fake_count += 20;
	tach_task_suspend(&task[0]);
	fake_count += 300;
	tach_task_resume(&task[0]);
	fake_count += 4000;
	tach_region_end(&mark[0]);
	fake_count += 50000;
	tach_task_end(&task[0]);
	CHECK(task_took(0, 0) == 54021, "%.0f", task_took(0, 0));
	CHECK(regions_look("A", 1) && took() == 4320 && info.calls == 1, "%.0f", took());
	CHECK(regions_look("one task", 1) && took() == 54021 && info.calls == 1, "%.0f",
	      took());
}

static void tasks_of_one_site(void)
{
	struct tach_site *of = tach_site_get("tasks of one site");

	begin();
	tach_tag(7);
	task[0].tag = 100;
	task[1].tag = 200;
	tach_task_begin(&task[0], of);
	fake_count += 1;
	tach_task_begin(&task[1], of);
	fake_count += 20;
	tach_task_suspend(&task[0]);
	fake_count += 300;
	tach_task_suspend(&task[1]);
	fake_count += 4000;
	tach_task_resume(&task[1]);
	fake_count += 50000;
	tach_task_resume(&task[0]);
	fake_count += 600000;
	tach_task_suspend(&task[1]);
	fake_count += 7000000;
	tach_task_suspend(&task[0]);
	CHECK(task_took(0, 0) == 7600021, "%.0f", task_took(0, 0));
	CHECK(task_took(1, 0) == 650320, "%.0f", task_took(1, 0));
	tach_task_end(&task[0]);
	tach_task_end(&task[1]);
	CHECK(regions_look("tasks of one site", 1) && info.calls == 2 && info.lost == 0);
	CHECK(took() == 7600021 + 650320, "%.0f", took());
}

/* The tag is that of the running task; while both tasks wait, the earlier tag applies. */
static void tags_of_tasks(void)
{
	struct tach_regions_options opt = {.size = sizeof opt, .set = fake_set(1), .by = "tag"};
	struct tach_site *of = tach_site_get("T"), *within = tach_site_get("within");

	CHECK(tach_regions_configure(&opt, NULL) == 0);
	tach_tag(7);
	task[0].tag = 100;
	task[1].tag = 200;
	tach_task_begin(&task[0], of);
	tach_task_begin(&task[1], of);
	tach_task_suspend(&task[0]);
	tach_region_begin(within, &mark[0]);
	tach_region_end(&mark[0]);
	tach_task_suspend(&task[1]);
	tach_region_begin(within, &mark[0]);
	tach_region_end(&mark[0]);
	tach_task_end(&task[0]);
	tach_task_end(&task[1]);
	regions_look("T", 1);
	for (int r = 0, seven = 0, second = 0; r < tach_snapshot_nregions(shot); r++) {
		tach_snapshot_region(shot, r, &info);
		if (strcmp(info.of, "within") == 0) {
			seven += strcmp(info.tag, "7") == 0 || strcmp(info.tag, "0x7") == 0;
			second += strstr(info.tag, "c8") != NULL;
		}
		CHECK(r + 1 < tach_snapshot_nregions(shot) || (seven == 1 && second == 1),
		      "%d %d", seven, second);
	}
	tach_tag(0);
}

/* ---- regions that were left open, not only overlapped ---- */

static jmp_buf back;

static __attribute__((noinline)) void leave(void)
{
	char room[256];

	TACH_START(left);
	__asm__ volatile("" : : "r"(room) : "memory");
	longjmp(back, 1);
	TACH_STOP(left);
}

/*
 * A region that was left open is lost when the enclosing region ends; an overlapping region is
 * not.
 */
static void left_is_lost(void)
{
	begin();
	run("A1B2");
	if (setjmp(back) == 0)
		leave();
	run("a3");
	CHECK(regions_look("left", 1) && info.lost == 1 && info.calls == 0);
	run("4b");
	check("AB", 1);
	CHECK(regions_look("left", 1) && info.lost == 1);
}

/* ---- many ---- */

/* Each region begins before the previous one ends, so that a region is always open. */
static void long_chain_of_overlaps_is_exact(void)
{
	enum { LINKS = 10000 };

	begin();
	tach_region_begin(site[0], &mark[0]);
	for (int i = 1; i <= LINKS; i++) {
		tach_region_begin(site[i & 1], &mark[i & 1]);
		fake_count += 10;
		tach_region_end(&mark[!(i & 1)]);
		fake_count += 100;
	}
	tach_region_end(&mark[LINKS & 1]);
	for (int i = 0; i < 2; i++) {
		CHECK(regions_look(i ? "B" : "A", 1));
		CHECK(info.provenance[1] == 0 && !(value.flags & TACH_FLAG_INCOMPLETE), "%#x",
		      value.flags);
		CHECK(info.calls == LINKS / 2 + !i, "%d", (int)info.calls);
		/*
		 * The first region has no work before it; each region contains its own work and
		 * half of the next one's.
		 */
		CHECK(took() == (double)(info.calls * 120 - (i ? 0 : 120)), "%.0f", took());
	}
}

int main(void)
{
	CASE(all_overlap_shapes_are_exact);
	CASE(self_says_so);
	CASE(reports_say_so);
	CASE(one_site);
	CASE(fibres);
	CASE(task_with_a_region_left_open);
	CASE(tasks_of_one_site);
	CASE(tags_of_tasks);
	CASE(left_is_lost);
	CASE(long_chain_of_overlaps_is_exact);
	tach_snapshot_free(shot);
	return check_done();
}
