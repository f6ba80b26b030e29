/* SPDX-License-Identifier: MIT */
/*
 * Compares encoding with libpfm-4 in one run: every event and umask of every core PMU that both
 * libraries know, as register words and as perf_event_attr with the full name. It takes the
 * fastest of several tries for each string, and prints median, 99th percentile and maximum over
 * the strings. Then fresh processes measure the time from main to the first code, the library's
 * memory, and the dynamic linker's time.
 *
 * The clock's own time is subtracted.
 *
 * 	encode OUR-LIBTACH.SO [LIBPFM4.SO [OUR-LIBPFM4.SO [EMPTY.SO]]]
 *
 * EMPTY.SO needs the same libraries as libtach but is empty: it shows the dynamic linker's time
 * for those libraries.
 */
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <tach.h>

enum { TRIES = 11, STARTS = 21, ROOM = 60000, STRING = 128 };

/* The used parts of libpfm-4's interface; these layouts are ABI. */
struct raw_arg {
	uint64_t *codes;
	char **fstr;
	size_t size;
	int count, idx;
};
struct perf_arg {
	struct perf_event_attr *attr;
	char **fstr;
	size_t size;
	int idx, cpu, flags, pad;
};
static struct pfm {
	int (*initialize)(void);
	int (*encode)(const char *, int, int, void *);
} pfm;

static char strings[ROOM][STRING];
static int nstrings;
static double best[ROOM];

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* ---- one call for both libraries ---- */

typedef int encode_fn(const char *string, int os);

static int encode_pfm(const char *string, int os)
{
	char *name = NULL;
	int rc;

	if (os == 0) {
		uint64_t codes[8];
		struct raw_arg arg = {.codes = codes, .size = sizeof arg, .count = 8};

		return pfm.encode(string, 9, 0, &arg);
	}
	struct perf_event_attr attr = {.size = sizeof attr};
	struct perf_arg arg = {.attr = &attr, .fstr = &name, .size = sizeof arg};

	rc = pfm.encode(string, 9, 2, &arg);
	free(name);
	return rc;
}

static int encode_tach(const char *string, int os)
{
	struct tach_encode_options opt = TACH_ENCODE_OPTIONS_INIT;
	struct tach_event event; /* the caller sets only `size` */
	int rc;

	event.size = sizeof event;
	opt.os = (enum tach_os)os;
	opt.flags = os == 0 ? TACH_ENCODE_NO_NAME : 0;
	opt.privilege = TACH_PRIVILEGE_USER | TACH_PRIVILEGE_KERNEL;
	rc = tach_event_encode(string, &opt, &event, NULL);
	if (rc || os == 0)
		return rc;
	struct perf_event_attr attr = {.size = sizeof attr};

	return tach_event_attr(&event, &attr);
}

static int load_pfm(const char *path)
{
	void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);

	if (!lib)
		return 0;
	*(void **)&pfm.initialize = dlsym(lib, "pfm_initialize");
	*(void **)&pfm.encode = dlsym(lib, "pfm_get_os_event_encoding");
	return pfm.initialize && pfm.encode && pfm.initialize() == 0;
}

/* ---- encoding ---- */

static void add(const char *string)
{
	if (nstrings < ROOM && strlen(string) < STRING && encode_pfm(string, 0) == 0 &&
	    encode_tach(string, 0) == 0)
		strcpy(strings[nstrings++], string);
}

static void collect(void)
{
	struct tach_pmu_info pmu = {.size = sizeof pmu};
	struct tach_event_info event = {.size = sizeof event};
	struct tach_umask_info umask = {.size = sizeof umask};
	char string[512];

	for (int p = 0; p < tach_pmu_count(); p++) {
		tach_pmu_describe(p, &pmu);
		for (int e = 0; e < pmu.nevents && pmu.libpfm4_id >= 0; e++) {
			tach_pmu_event(p, e, &event);
			snprintf(string, sizeof string, "%s::%s", pmu.name, event.name);
			add(string);
			for (int u = 0; u < event.numasks; u++) {
				tach_pmu_umask(p, e, u, &umask);
				snprintf(string, sizeof string, "%s::%s:%s", pmu.name,
					 event.name, umask.name);
				add(string);
			}
		}
	}
}

/* The cost of reading the clock, subtracted from everything. */
static double clock_cost(void)
{
	double least = 1e18;

	for (int i = 0; i < 10000; i++) {
		double start = now(), took = now() - start;

		least = took < least ? took : least;
	}
	return least;
}

static double measure(const char *label, encode_fn *encode, int os)
{
	double median, cost = clock_cost();

	for (int i = 0; i < nstrings; i++)
		best[i] = 1e18;
	for (int try = 0; try < TRIES; try++)
		for (int i = 0; i < nstrings; i++) {
			double start = now(), took;

			encode(strings[i], os);
			took = now() - start - cost;
			if (took < best[i])
				best[i] = took;
		}
	qsort(best, (size_t)nstrings, sizeof *best, by_value);
	median = best[nstrings / 2];
	printf("  %-32s median %6.0f ns   p99 %6.0f ns   worst %6.0f ns\n", label, median,
	       best[nstrings * 99 / 100], best[nstrings - 1]);
	return median;
}

/* ---- first code ---- */

enum kind { TACH, PFM, EMPTY };

/* In a child process: loads and initialises the library, and encodes one event. */
static double first_code(const char *path, enum kind kind)
{
	static const char string[] = "perf::PERF_COUNT_HW_INSTRUCTIONS";
	double took = -1, start;
	int pipes[2];
	pid_t child;

	if (pipe(pipes))
		return -1;
	child = fork();
	if (child == 0) {
		start = now();
		if (kind == EMPTY) {
			if (dlopen(path, RTLD_NOW | RTLD_LOCAL))
				took = now() - start;
		} else if (kind == PFM) {
			if (load_pfm(path) && encode_pfm(string, 2) == 0)
				took = now() - start;
		} else {
			void *lib = dlopen(path, RTLD_NOW | RTLD_LOCAL);
			struct tach_event event = {.size = sizeof event};
			__typeof__(tach_event_encode) *encode;

			*(void **)&encode = lib ? dlsym(lib, "tach_event_encode") : NULL;
			if (encode && encode(string, NULL, &event, NULL) == 0)
				took = now() - start;
		}
		_exit(write(pipes[1], &took, sizeof took) != sizeof took);
	}
	close(pipes[1]);
	if (child < 0 || read(pipes[0], &took, sizeof took) != sizeof took)
		took = -1;
	close(pipes[0]);
	if (child > 0)
		waitpid(child, NULL, 0);
	return took;
}

static double median_first(const char *label, const char *path, enum kind kind)
{
	double times[STARTS];

	for (int i = 0; i < STARTS; i++)
		times[i] = first_code(path, kind);
	qsort(times, STARTS, sizeof *times, by_value);
	printf("  %-32s median %6.0f us   best %6.0f us   worst %6.0f us\n", label,
	       times[STARTS / 2] / 1e3, times[0] / 1e3, times[STARTS - 1] / 1e3);
	return times[STARTS / 2];
}

/* ---- the file ---- */

static void file_figures(const char *label, const char *path)
{
	int fd = open(path, O_RDONLY);
	struct stat st;
	const Elf64_Ehdr *elf;
	long loaded = 0, relocations = 0;

	if (fd < 0 || fstat(fd, &st))
		return;
	elf = mmap(NULL, (size_t)st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	close(fd);
	if (elf == MAP_FAILED)
		return;
	for (int i = 0; i < elf->e_shnum; i++) {
		const Elf64_Shdr *s = (const void *)((const char *)elf + elf->e_shoff +
						     (size_t)i * sizeof *s);

		if (s->sh_flags & SHF_ALLOC)
			loaded += (long)s->sh_size;
		if (s->sh_type == SHT_RELA)
			relocations += (long)(s->sh_size / s->sh_entsize);
	}
	munmap((void *)(uintptr_t)elf, (size_t)st.st_size);
	printf("  %-32s %8ld bytes loaded   %6ld relocations\n", label, loaded, relocations);
}

int main(int argc, char **argv)
{
	const char *theirs = argc > 2 ? argv[2] : "/usr/lib/x86_64-linux-gnu/libpfm.so.4";
	double a, b;

	if (argc < 2) {
		fprintf(stderr, "usage: encode LIBTACH.SO [LIBPFM4.SO]\n");
		return 2;
	}
	setenv("LIBPFM_ENCODE_INACTIVE", "1", 1);
	/* Runs before this process loads a library: children must start from nothing. */
	printf("From nothing to the first code:\n");
	b = median_first("libpfm-4", theirs, PFM);
	a = median_first("libtach", argv[1], TACH);
	printf("  ratio %.1f\n", b / a);
	if (argc > 3) {
		a = median_first("libpfm.so.4 of ours", argv[3], PFM);
		printf("  ratio %.1f\n", b / a);
	}
	if (argc > 4)
		median_first("nothing, with libtach's needs", argv[4], EMPTY);
	if (!load_pfm(theirs)) {
		printf("%s: cannot be loaded; install libpfm4\n", theirs);
		return 77;
	}
	collect();
	printf("Encoding %d strings that both libraries know:\n", nstrings);
	a = measure("libtach, words", encode_tach, 0);
	b = measure("libpfm-4, words", encode_pfm, 0);
	printf("  ratio %.1f\n", b / a);
	a = measure("libtach, attr and full name", encode_tach, 2);
	b = measure("libpfm-4, attr and full name", encode_pfm, 2);
	printf("  ratio %.1f\n", b / a);
	printf("The shared objects:\n");
	file_figures("libtach", argv[1]);
	if (argc > 3)
		file_figures("libpfm.so.4 of ours", argv[3]);
	file_figures("libpfm-4", theirs);
	return 0;
}
