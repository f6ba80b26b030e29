/* SPDX-License-Identifier: MIT */
/*
 * faults PAGES [FIFO FIFO]: touches PAGES pages for the first time in each of three threads:
 * one that existed before, the main thread, and one that is started then, some pages at a time;
 * each page is a page fault. With FIFOs, it reports on the first one that it is ready, and
 * begins when it reads from the second.
 */
#include <fcntl.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, PIECE = 500 };

static long pages;
static int begin[2];

static void *touch(void *unused)
{
	volatile char *at = mmap(NULL, (size_t)pages * PAGE, PROT_READ | PROT_WRITE,
				 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	(void)unused;
	if (at == MAP_FAILED)
		exit(1);
	madvise((void *)at, (size_t)pages * PAGE, MADV_NOHUGEPAGE);
	for (long i = 0; i < pages; i++) {
		at[i * PAGE] = 1;
		if (i % PIECE == PIECE - 1)
			nanosleep(&(struct timespec){0, 10000000}, NULL);
	}
	return NULL;
}

static void *touch_later(void *unused)
{
	char c;

	(void)unused;
	if (read(begin[0], &c, 1) != 1)
		exit(1);
	return touch(NULL);
}

int main(int argc, char **argv)
{
	pthread_t before, after;
	char c;
	int fd;

	pages = argc > 1 ? atol(argv[1]) : 0;
	if (pages < 1 || pipe(begin) != 0 || pthread_create(&before, NULL, touch_later, NULL))
		return 2;
	if (argc > 3) {
		fd = open(argv[2], O_WRONLY);
		if (write(fd, "r", 1) != 1)
			return 2;
		close(fd);
		fd = open(argv[3], O_RDONLY);
		if (read(fd, &c, 1) != 1)
			return 2;
	}
	if (write(begin[1], "b", 1) != 1 || pthread_create(&after, NULL, touch, NULL))
		return 2;
	touch(NULL);
	pthread_join(before, NULL);
	pthread_join(after, NULL);
	return 0;
}
