/*
 * Searches for processes that have regions. Any of them may be malicious, and any user may
 * start many. So all looks together have one limit of processor time, and each process gets at
 * most a quarter of it. A short look does not count: otherwise thousands of ordinary processes
 * would use up the limit.
 */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include "core/snapshot/snapshot.h"
#include "tools/tach/top.h"

void top_command(int process, char *to, size_t size)
{
	char path[64];
	FILE *from;

	snprintf(to, size, "?");
	snprintf(path, sizeof path, "/proc/%d/comm", process);
	from = fopen(path, "re");
	if (!from)
		return;
	if (fgets(to, (int)size, from))
		to[strcspn(to, "\n")] = '\0';
	fclose(from);
}

#define LIMIT 1.0   /* s, of all processes */
#define FREE  0.002 /* s, of each process */
enum { SHARE = 4 };

/*
 * Counts the regions and threads of a process; -1 regions: counting takes longer than its
 * share. Returns 0 if it has no regions or cannot be read.
 */
static int has_regions(int process, double *left, int *regions, unsigned long long *threads)
{
	struct tach_counts counts = {.size = sizeof counts};
	struct tach_snapshot *s;
	double share = FREE + *left / SHARE, cpu = share;
	int code;

	if (process == getpid())
		return 0;
	code = tach__snapshot_take_within(process, &cpu, &s, NULL);
	if (share - cpu > FREE)
		*left -= share - cpu - FREE;
	if (*left < 0)
		*left = 0;
	*regions = -1;
	*threads = 0;
	if (code)
		return code == TACH_ERR_TOOMANY;
	tach_snapshot_counts(s, &counts);
	*regions = tach_snapshot_nregions(s);
	*threads = counts.threads;
	tach_snapshot_free(s);
	return 1;
}

static void show_process(int process, int regions, unsigned long long threads)
{
	char command[64];

	top_command(process, command, sizeof command);
	if (regions < 0) {
		fprintf(stderr, "%8d  %-32s takes too long to count its regions\n", process,
			command);
		return;
	}
	fprintf(stderr, "%8d  %-32s %8d regions %6llu threads\n", process, command, regions,
		threads);
}

int top_find(void)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	unsigned long long threads = 0, first_threads = 0;
	int found = 0, first = 0, first_regions = 0, regions = 0;
	double left = LIMIT;

	while (folder && (entry = readdir(folder)) != NULL) {
		int process = atoi(entry->d_name);

		if (process <= 0 || !has_regions(process, &left, &regions, &threads))
			continue;
		if (++found == 1) {
			first = process;
			first_regions = regions;
			first_threads = threads;
			continue;
		}
		if (found == 2) {
			fputs("tach top: several processes have regions; name one:\n", stderr);
			show_process(first, first_regions, first_threads);
		}
		show_process(process, regions, threads);
	}
	if (folder)
		closedir(folder);
	if (!found)
		fputs("tach top: no process that you may read has regions: "
		      "TACH_ENABLE=1 or TACH_OUTPUT switches them on as a program starts\n",
		      stderr);
	return found == 1 ? first : 0;
}
