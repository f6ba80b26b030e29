/* SPDX-License-Identifier: MIT */
/* What becomes of results: judged, fitted; and the machine. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/bench/bench.h"
#include "core/bench/context.h"
#include "tests/check.h"
#include "tests/root.h"

static struct tach_bench made(double *x, uint32_t n, struct tach__bench_series *s)
{
	*s = (struct tach__bench_series){
		.name = (char *)(uintptr_t) "time", .sample = x, .samples = n};
	return (struct tach_bench){.confidence = 0.95, .nseries = 1, .series = s};
}

static void judged(void)
{
	double x[] = {104, 101, 107, 102, 108, 100, 106, 103}, y[8];
	struct tach__bench_series s[2];
	struct tach_bench a = made(x, 8, &s[0]), b = made(y, 8, &s[1]);
	double change, detects;

	for (int i = 0; i < 8; i++)
		y[i] = x[i] * 1.2;
	CHECK(tach_bench_judge(&a, &b, 0, 0.05, 0.01, &change, &detects) == TACH_BENCH_WORSE);
	CHECK(fabs(change - 0.2) < 0.02 && detects > 0.05 && detects < 0.2, "%g %g", change,
	      detects);
	CHECK(tach_bench_judge(&b, &a, 0, 0.05, 0.01, &change, NULL) == TACH_BENCH_BETTER);
	CHECK(tach_bench_judge(&a, &b, 0, 0.25, 0.01, NULL, NULL) == TACH_BENCH_SAME);
	CHECK(tach_bench_judge(&a, &a, 0, 0, 0.01, NULL, NULL) == TACH_BENCH_SAME);
	/* As many comparisons as eight samples cannot carry. */
	CHECK(tach_bench_judge(&a, &b, 0, 0.05, 1e-6, NULL, &detects) == TACH_BENCH_SAME);
	CHECK(isinf(detects), "%g", detects);
	CHECK(tach_bench_judge(&a, &b, 1, 0.05, 0.01, NULL, NULL) == TACH_ERR_INVAL);
	CHECK(tach_bench_judge(&a, &b, 0, -1, 0.01, NULL, NULL) == TACH_ERR_INVAL);
	CHECK(tach_bench_judge(&a, &b, 0, 0, 1, NULL, NULL) == TACH_ERR_INVAL);
	CHECK(tach_bench_judge(NULL, &b, 0, 0, 0.01, NULL, NULL) == TACH_ERR_INVAL);
}

static double law(int which, double n)
{
	const double is[] = {1, log2(n), n, n * log2(n), n * n, n * n * n};

	return is[which];
}

static void fitted(void)
{
	static const char *const names[] = {"O(1)",	  "O(log n)", "O(n)",
					    "O(n log n)", "O(n^2)",   "O(n^3)"};
	double n[8], t[8], c, e;

	for (int which = 0; which < 6; which++) {
		const char *best;

		for (int i = 0; i < 8; i++) {
			n[i] = (double)(16 << i);
			/* 1 % to and fro */
			t[i] = 3 * law(which, n[i]) * (i % 2 ? 1.01 : 0.99);
		}
		best = tach_bench_fit(n, t, 8, &c, &e);
		CHECK(best && strcmp(best, names[which]) == 0, "%s, not %s", best,
		      names[which]);
		CHECK(fabs(c / 3 - 1) < 0.02 && e > 0.005 && e < 0.03, "%s %g %g", best, c, e);
	}
	CHECK(!tach_bench_fit(n, t, 2, &c, &e) && isnan(c) && isnan(e));
}

static int append(void *context, const char *text, size_t length)
{
	strncat(context, text, length);
	return 0;
}

static void machines(void)
{
	char root[] = "/tmp/tach-machine.XXXXXX", text[1024] = "", command[64];
	struct tach__machine m;
	struct tach__out out;

	CHECK(mkdtemp(root) != NULL);
	root_put(root, "/proc/cpuinfo",
		 "processor : 0\nmodel name\t: A\x1b[31m CPU\ncpu MHz\t\t: 2400.5\n");
	root_put(root, "/proc/loadavg", "0.00 0.00 0.00 1/2 3\n");
	tach__out_open(&out, append, text);
	tach__machine_look(&m, root);
	tach__machine_text(&out, &m);
	tach__out_flush(&out);
	CHECK(strstr(text, "CPU, 2400 MHz, load 0.00\n") && !strchr(text, '\x1b') &&
		      !strstr(text, "warning"),
	      "%s", text);
	root_put(root, "/proc/loadavg", "900.5 0.00 0.00 1/2 3\n");
	root_put(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor", "powersave\n");
	*text = '\0';
	tach__machine_look(&m, root);
	tach__out_open(&out, append, text);
	tach__machine_text(&out, &m);
	tach__out_flush(&out);
	CHECK(strstr(text, "governor powersave)") && strstr(text, "is busy (load 900.50") &&
		      !strstr(text, "turbo"),
	      "%s", text);
	root_put(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_min_freq", "800000\n");
	root_put(root, "/sys/devices/system/cpu/cpu0/cpufreq/scaling_max_freq", "4700000\n");
	root_put(root, "/sys/devices/system/cpu/intel_pstate/no_turbo", "1\n");
	root_put(root, "/sys/devices/system/cpu/cpufreq/boost", "1\n");
	*text = '\0';
	tach__machine_look(&m, root);
	tach__out_open(&out, append, text);
	tach__machine_text(&out, &m);
	tach__out_flush(&out);
	CHECK(strstr(text, "powersave, 800 to 4700 MHz") && strstr(text, "turbo is on"), "%s",
	      text);
	snprintf(command, sizeof command, "rm -r %s", root);
	CHECK(system(command) == 0);
}

int main(void)
{
	CASE(judged);
	CASE(fitted);
	CASE(machines);
	return check_done();
}
