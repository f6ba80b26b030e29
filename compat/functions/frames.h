/* SPDX-License-Identifier: MIT */
/* The open functions of a thread. */
#ifndef COMPAT_FUNCTIONS_FRAMES_H
#define COMPAT_FUNCTIONS_FRAMES_H

#include "compat/functions/functions.h"

enum {
	FRAMES = 32768,
	NEAR = 64 * 1024, /* a callee this far down is on the same stack */
	PAGE = 4096,	  /* the smallest page size */
	PROLOGUE = 256,	  /* a function calls its hook within this distance */
};

struct frame {
	uintptr_t sp;	/* of the hook */
	uintptr_t at;	/* the function */
	uintptr_t body; /* the function that contains the code: `at`, or the one it is inlined
			   in */
	uint32_t other; /* 1: on another stack than the thread's own */
	/* With its caller. While its region begins, it is functions_none: calibration calls
	 * the hooks without a caller. */
	struct function *function;
	struct tach_region_mark mark;
};

/* Two more frames: one below all functions, and one for functions that are too deep. Then comes
 * `outer`. */
#define SIZE ((FRAMES + 2) * sizeof(struct frame) + FUNCTIONS_MOST * sizeof(uint32_t))

struct functions_thread {
	struct frame *top; /* the innermost; NULL: not ready, or busy */
	/* first: the frame before the outermost function; last: the last frame that fits */
	struct frame *first, *last;
	/* By number of the function: the frame of its last call that was not a recursion, as an
	 * index from `last`. It may have ended. */
	uint32_t *outer;
	uintptr_t low, high; /* the known part of the thread's own stack */
	unsigned deep;	     /* open functions without a frame */
	int busy;	     /* hooks do nothing */
	struct frame *held;  /* `top`, while busy */
};
extern __thread struct functions_thread functions_own;

/* thread.c: prepares the calling thread. `top` stays NULL if there is no memory. */
void functions_begin_thread(void);
/* Returns 1 if all memory from sp to the top of the thread's own stack is readable. */
int functions_is_own_stack(uintptr_t sp);
void functions_prepare_threads(void);

/* hooks.c: ends all regions of the calling thread. */
void functions_close_all(void);

#endif
