/* SPDX-License-Identifier: MIT */
/*
 * The counters themselves, without regions: one reader for the thread, two reads around the
 * measured code, and metrics from the differences. Without a PMU, software events are used
 * instead.
 *
 *     cc -O2 reader.c $(pkg-config --cflags --libs tach) && ./a.out
 */
#include <stdio.h>
#include <tach.h>

enum { STEPS = 100000 };

static volatile double sum;

static void harmonic(void)
{
	for (int i = 1; i <= STEPS; i++)
		sum = sum + 1.0 / i;
}

/* Uses the first of these that the machine can count. */
static const struct {
	const char *events, *metrics;
} wanted[] = {
	{"instructions, cycles",
	 "per step = instructions / 100000; ipc = instructions / cycles"},
	{"task-clock, page-faults", "ns per step = task-clock / 100000"},
};

static struct tach_reader *open_reader(struct tach_set **set)
{
	struct tach_error err = TACH_ERROR_INIT;
	struct tach_reader *reader;

	for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
		struct tach_set_options opt = TACH_SET_OPTIONS_INIT;

		opt.events = wanted[i].events;
		opt.metrics = wanted[i].metrics;
		if (tach_set_create(&opt, set, &err) == 0) {
			if (tach_reader_open(*set, &reader, &err) == 0)
				return reader;
			tach_set_free(*set);
		}
		printf("not %s: %s\n", opt.events, err.text);
	}
	return NULL;
}

static void show(const struct tach_reader *reader, const uint64_t *value, uint32_t flags)
{
	const struct tach_set *set = tach_reader_set(reader);

	for (int i = 0; i < tach_set_count(set); i++) {
		uint32_t own = tach_reader_flags(reader, (unsigned)i, flags);

		printf("  %-13s %12llu +-%llu  %s%s\n", tach_set_name(set, i),
		       (unsigned long long)value[i],
		       (unsigned long long)tach_reader_error(reader, (unsigned)i),
		       tach_set_qualified(set, i),
		       own & TACH_FLAG_SYSCALL ? ", by read(2)" : "");
	}
}

static void show_metrics(const struct tach_set *set, const uint64_t *value)
{
	for (int m = 0; m < tach_set_nmetrics(set); m++)
		printf("  %-13s %12.4g\n", tach_set_metric_name(set, m),
		       tach_set_eval(set, m, value, NULL, 0, NULL));
}

static void measure(struct tach_reader *reader)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	uint32_t flags;

	tach_reader_begin(reader, &mark);
	harmonic();
	flags = tach_reader_end(reader, &mark, delta);
	printf("%d steps:\n", STEPS);
	show(reader, delta, flags);
	show_metrics(tach_reader_set(reader), delta);
}

/* This code is so short that its neighbours could leak into the measurement. */
static void measure_addition(struct tach_reader *reader)
{
	uint64_t delta[TACH_COUNTERS_MAX];
	struct tach_mark mark;
	uint32_t flags;

	tach_reader_begin_fenced(reader, &mark);
	sum = sum + 1;
	flags = tach_reader_end_fenced(reader, &mark, delta);
	printf("one addition, with what the two reads take:\n");
	show(reader, delta, flags);
	/* Reading only the first member costs less. */
	tach_reader_begin_fenced_n(reader, &mark, 1);
	sum = sum + 1;
	(void)tach_reader_end_fenced_n(reader, &mark, delta, 1);
	printf("  %-13s %12llu  alone\n", tach_set_name(tach_reader_set(reader), 0),
	       (unsigned long long)delta[0]);
}

static void show_totals(struct tach_reader *reader)
{
	uint64_t value[TACH_COUNTERS_MAX], first;
	uint32_t flags = tach_reader_read(reader, value);

	printf("since the reader was opened:\n");
	show(reader, value, flags);
	if (!(tach_reader_read_one(reader, 0, &first) & TACH_FLAG_LOST))
		printf("  %-13s %12llu  a moment later\n",
		       tach_set_name(tach_reader_set(reader), 0), (unsigned long long)first);
}

int main(void)
{
	struct tach_set *set;
	struct tach_reader *reader = open_reader(&set);

	if (!reader)
		return 1;
	if (tach_reader_missing(reader)[0])
		printf("not read in user space: %s\n", tach_reader_missing(reader));
	measure(reader);
	measure_addition(reader);
	show_totals(reader);
	tach_reader_close(reader);
	tach_set_free(set);
	return 0;
}
