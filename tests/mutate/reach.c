/* SPDX-License-Identifier: MIT */
/*
 * Linked into a test. The instrumented library calls this function at each basic block
 * (tests/mutate/reach.py). It sets a byte for each place in the shared file TACH_REACH, so that
 * children, threads and processes ended by a signal also record their places.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#define SIZE (32UL << 20)

extern const char __executable_start[];
static unsigned char *seen;

__attribute__((constructor(101))) static void map(void)
{
	const char *path = getenv("TACH_REACH");
	int fd = path ? open(path, O_RDWR | O_CREAT | O_CLOEXEC, 0600) : -1;
	if (fd < 0)
		return;
	if (ftruncate(fd, SIZE) == 0) {
		void *at = mmap(NULL, SIZE, PROT_READ | PROT_WRITE, MAP_SHARED, fd, 0);
		seen = at == MAP_FAILED ? NULL : at;
	}
	close(fd);
}

void __sanitizer_cov_trace_pc(void);
void __sanitizer_cov_trace_pc(void)
{
	unsigned long at =
		(unsigned long)((const char *)__builtin_return_address(0) - __executable_start);
	if (seen && at < SIZE)
		seen[at] = 1;
}
