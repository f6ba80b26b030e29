/* SPDX-License-Identifier: MIT */
/* A thread's memory for frames, and its stack. */
#include <errno.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include "compat/functions/frames.h"

__thread struct functions_thread functions_own;

static pthread_key_t key;
static int has_key;

extern void *__libc_stack_end __attribute__((weak)); /* set by glibc's ld.so */

void functions_begin_thread(void)
{
	int saved = errno;
	void *frames;

	functions_own.busy = 1;
	frames = mmap(NULL, SIZE, PROT_READ | PROT_WRITE,
		      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (frames != MAP_FAILED) {
		functions_own.last = (struct frame *)frames + 1;
		functions_own.first = functions_own.last + FRAMES;
		*functions_own.first =
			(struct frame){.sp = UINTPTR_MAX, .function = &functions_none};
		functions_own.outer = (uint32_t *)(functions_own.first + 1);
		/* A thread's own variables are above its stack. */
		functions_own.high = (uintptr_t)&functions_own;
		if (syscall(SYS_gettid) == getpid())
			functions_own.high = &__libc_stack_end ? (uintptr_t)__libc_stack_end
							       : getauxval(AT_RANDOM);
		functions_own.low = functions_own.high & ~(uintptr_t)(PAGE - 1);
		if (has_key)
			pthread_setspecific(key, functions_own.first);
		functions_own.top = functions_own.first;
		functions_own.busy = 0;
	}
	errno = saved;
}

/* EFAULT: not readable. The kernel copies the mask before it checks `how` (kernel/signal.c). */
static int is_readable(uintptr_t at)
{
	return syscall(SYS_rt_sigprocmask, -1, (void *)at, NULL, 8) == 0 || errno != EFAULT;
}

int functions_is_own_stack(uintptr_t sp)
{
	int saved = errno, is = sp < functions_own.high && functions_own.high - sp < UINT32_MAX;

	while (is && functions_own.low > sp) {
		is = is_readable(functions_own.low - PAGE);
		if (is)
			functions_own.low -= PAGE;
	}
	errno = saved;
	return is;
}

/* Frees the frames of a thread that ends. */
static void end_thread(void *first)
{
	functions_close_all();
	functions_own.busy = 1;
	functions_own.top = NULL;
	munmap((struct frame *)first - FRAMES - 1, SIZE);
}

void functions_prepare_threads(void)
{
	has_key = pthread_key_create(&key, end_thread) == 0;
}
