/* Looks for processes that have regions. */
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
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

/* Counts its regions and threads. Returns 0 if it has no regions or cannot be read. */
static int has_regions(int process, int *regions, unsigned long long *threads)
{
	struct tach_counts counts = {.size = sizeof counts};
	struct tach_snapshot *s;

	if (process == getpid() || tach_snapshot_take_process(process, &s, NULL) != 0)
		return 0;
	tach_snapshot_counts(s, &counts);
	*regions = tach_snapshot_nregions(s);
	*threads = counts.threads;
	tach_snapshot_free(s);
	return 1;
}

static void show(int process, int regions, unsigned long long threads)
{
	char command[64];

	top_command(process, command, sizeof command);
	fprintf(stderr, "%8d  %-32s %8d regions %6llu threads\n", process, command, regions,
		threads);
}

int top_find(void)
{
	DIR *folder = opendir("/proc");
	struct dirent *entry;
	unsigned long long threads = 0, first_threads = 0;
	int found = 0, first = 0, first_regions = 0, regions = 0;

	while (folder && (entry = readdir(folder)) != NULL) {
		int process = atoi(entry->d_name);

		if (process <= 0 || !has_regions(process, &regions, &threads))
			continue;
		if (++found == 1) {
			first = process;
			first_regions = regions;
			first_threads = threads;
			continue;
		}
		if (found == 2) {
			fputs("tach top: several processes have regions; name one:\n", stderr);
			show(first, first_regions, first_threads);
		}
		show(process, regions, threads);
	}
	if (folder)
		closedir(folder);
	if (!found)
		fputs("tach top: no process that you may read has regions: "
		      "TACH_ENABLE=1 or TACH_OUTPUT switches them on as a program starts\n",
		      stderr);
	return found == 1 ? first : 0;
}
