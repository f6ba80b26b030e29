/* SPDX-License-Identifier: MIT */
/* Regions of known length: `turns` has 4001 instructions, 2000 of them branches; `nops` 3. */
#include <signal.h>
#include <string.h>
#include <tach.h>

#if defined(__x86_64__)
#define CODE __asm__ volatile("mov $2000, %%ecx\n1:\tdec %%ecx\n\tjnz 1b" ::: "ecx", "cc")
#else
#define CODE                                                                                   \
	__asm__ volatile("mov w16, #2000\n1:\tsubs w16, w16, #1\n\tb.ne 1b" ::: "w16", "cc")
#endif

/* with `ends` the program ends by SIGTERM. */
int main(int argc, char **argv)
{
	for (int i = 0; i < 3; i++) {
		TACH_START(around);
		TACH_START(turns);
		CODE;
		TACH_STOP(turns);
		TACH_START(nops);
		__asm__ volatile("nop\n\tnop\n\tnop");
		TACH_STOP(nops);
		TACH_STOP(around);
	}
	return argc > 1 && strcmp(argv[1], "ends") == 0 ? raise(SIGTERM) : 0;
}
