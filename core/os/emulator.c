/* SPDX-License-Identifier: MIT */
#include <string.h>
#include "core/os/emulator.h"
#include "core/os/environment.h"
#include "core/os/sys.h"

static struct tach__emulator_answer ask(void)
{
	volatile struct tach__emulator_answer answer = {0, 0, 0};

	tach__sys(TACH__EMULATOR_CALL, (long)&answer, sizeof answer, 0, 0, 0, 0);
	return (struct tach__emulator_answer){answer.version, answer.counts, answer.flags};
}

const uint64_t *tach__emulated_counts(void)
{
	static int known; /* 1: not emulated; 2: emulated */
	struct tach__emulator_answer answer = {0, 0, 0};
	int is = __atomic_load_n(&known, __ATOMIC_RELAXED);

	if (is == 1 || (!is && !tach__environment("TACH_EMULATE"))) {
		__atomic_store_n(&known, 1, __ATOMIC_RELAXED);
		return NULL;
	}
	answer = ask();
	is = answer.version == TACH__EMULATOR_VERSION;
	__atomic_store_n(&known, 1 + is, __ATOMIC_RELAXED);
	return is ? (const uint64_t *)(uintptr_t)answer.counts : NULL;
}

/* PERF_TYPE_HW_CACHE: cache | operation << 8 | result << 16 (perf_event_open(2)). */
enum {
	L1D_LOADS = PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_READ << 8,
	L1D_STORES = PERF_COUNT_HW_CACHE_L1D | PERF_COUNT_HW_CACHE_OP_WRITE << 8
};

int tach__emulated_event(const struct perf_event_attr *attr, const char **why)
{
	/* On hybrids the upper half selects the PMU. */
	uint64_t config = attr->config & 0xffffffff;
	int is = -1;

	*why = "the emulator counts instructions, branches, L1-dcache-loads and "
	       "L1-dcache-stores, and nothing else";
	if (attr->type == PERF_TYPE_HARDWARE && config == PERF_COUNT_HW_INSTRUCTIONS)
		is = TACH__EMULATED_INSTRUCTIONS;
	if (attr->type == PERF_TYPE_HARDWARE && config == PERF_COUNT_HW_BRANCH_INSTRUCTIONS)
		is = TACH__EMULATED_BRANCHES;
	if (attr->type == PERF_TYPE_HW_CACHE && config == L1D_LOADS)
		is = TACH__EMULATED_LOADS;
	if (attr->type == PERF_TYPE_HW_CACHE && config == L1D_STORES)
		is = TACH__EMULATED_STORES;
	if (is >= 0 && (attr->exclude_user || !attr->exclude_kernel)) {
		*why = "the emulator counts at user level only";
		return -1;
	}
	if (is >= TACH__EMULATED_LOADS && !(ask().flags & TACH__EMULATOR_MEMORY)) {
		*why = "loads and stores are counted where --events or TACH_EVENTS of tach "
		       "run --emulate names them";
		return -1;
	}
	return is;
}

/*
 * The plugin adds a block's instructions when the block begins. So the loads are a block of
 * their own, between two jumps to the next instruction: everything before them is counted, and
 * nothing after them.
 */
void tach__emulated_read(const uint64_t *counts, uint64_t *to)
{
	uint64_t instructions = 0, branches = 0, loads = 0, stores = 0;

#if defined(__x86_64__)
	__asm__ volatile("jmp 1f\n1:\tmov 0(%4), %0\n\tmov 8(%4), %1\n\tmov 16(%4), %2\n\t"
			 "mov 24(%4), %3\n\tjmp 2f\n2:"
			 : "=&r"(instructions), "=&r"(branches), "=&r"(loads), "=&r"(stores)
			 : "r"(counts)
			 : "memory");
#elif defined(__aarch64__)
	__asm__ volatile("b 1f\n1:\tldp %0, %1, [%4]\n\tldp %2, %3, [%4, 16]\n\tb 2f\n2:"
			 : "=&r"(instructions), "=&r"(branches), "=&r"(loads), "=&r"(stores)
			 : "r"(counts)
			 : "memory");
#else
	(void)counts;
#endif
	to[TACH__EMULATED_INSTRUCTIONS] = instructions;
	to[TACH__EMULATED_BRANCHES] = branches;
	to[TACH__EMULATED_LOADS] = loads;
	to[TACH__EMULATED_STORES] = stores;
}
