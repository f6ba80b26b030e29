/* SPDX-License-Identifier: MIT */
/* The memory in which processes leave their reports: tools/run/results.h. */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>
#include "tools/run/results.h"
#include "tools/tach/run.h"

/* Numbers that programs do not count on; each process drags a table of so many along. */
enum { HIGH = 1000 };

static int move_up(int fd)
{
	struct rlimit limit;
	int high = HIGH, up;

	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur / 2 < HIGH)
		high = (int)(limit.rlim_cur / 2);
	up = fcntl(fd, F_DUPFD, high);
	if (up < 0)
		return fd;
	close(fd);
	return up;
}

int run_results_open(void)
{
	struct sigaction ignored = {.sa_handler = SIG_IGN}, before;
	int fd = memfd_create("tach-run", 0), refused;
	char value[80];
	struct stat status;

	if (fd < 0)
		return -1;
	/* RLIMIT_FSIZE, which is not for memory that nobody has touched. */
	sigaction(SIGXFSZ, &ignored, &before);
	refused = ftruncate(fd, RUN_HEAD + (off_t)RUN_AREAS * RUN_AREA) ||
		  fstat(fd, &status) != 0;
	sigaction(SIGXFSZ, &before, NULL);
	if (refused) {
		close(fd);
		return -1;
	}
	fd = move_up(fd);
	snprintf(value, sizeof value, "%d %lu %d", fd, (unsigned long)status.st_ino,
		 (int)getpid());
	setenv(RUN_RESULTS, value, 1);
	return fd;
}

/* A process may have written anything there. */
static int collect_one(const struct run_area *area, const struct run_entry *e,
		       struct run_reports *reports, pid_t program,
		       int (*take)(void *, const char *, size_t), void *context)
{
	uint32_t state = __atomic_load_n(&e->state, __ATOMIC_ACQUIRE);
	uint32_t text = e->text, length = e->length;

	if (state == RUN_FREE)
		return 0;
	reports->began++;
	if (state == RUN_BEGAN) {
		reports->running += e->process != program && kill(e->process, 0) == 0;
		return 0;
	}
	if (text > RUN_AREA || length > RUN_AREA - text)
		return 0;
	reports->left++;
	reports->confined += state == RUN_CONFINED;
	reports->of_program |= e->process == program;
	return take(context, (const char *)area + text, length);
}

int run_results_collect(int fd, struct run_reports *reports, pid_t program,
			int (*take)(void *, const char *, size_t), void *context)
{
	uint32_t areas = 0;
	int code = 0;

	if (fd < 0 || pread(fd, &areas, sizeof areas, 0) != (ssize_t)sizeof areas)
		return 0;
	for (uint32_t n = 0; n < areas && n < RUN_AREAS && !code; n++) {
		const struct run_area *area = mmap(NULL, RUN_AREA, PROT_READ, MAP_SHARED, fd,
						   RUN_HEAD + (off_t)n * RUN_AREA);

		if (area == MAP_FAILED)
			return -1;
		for (int i = 0; i < RUN_ENTRIES && !code; i++)
			code = collect_one(area, &area->entry[i], reports, program, take,
					   context);
		munmap((void *)area, RUN_AREA);
	}
	return code;
}
