/* SPDX-License-Identifier: MIT */
/*
 * A plugin for QEMU's user mode (TCG). It counts the instructions of every thread of a program,
 * and
 * publishes the counts in the program's memory (core/os/emulator.h). `tach run --emulate`
 * starts QEMU with it.
 *
 *   memory=on   also counts loads and stores, as QEMU makes them: an access of 16 bytes is two,
 *               one of 32 is four, a string instruction is one per iteration, a locked
 *               instruction is one store
 *
 * Debian packages no header of QEMU's for plugins. The declarations here are the interface of
 * version 1 (QEMU 7.2, docs/devel/tcg-plugins.rst) without the parts that later versions
 * changed, so one object works with versions 1 to 4 (QEMU 10).
 */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include "core/os/emulator.h"

#define EXPORT __attribute__((visibility("default")))

/* ---- QEMU's interface ---- */

struct qemu_plugin_tb;	 /* a translated block */
struct qemu_plugin_insn; /* an instruction in a translation block */
typedef uint64_t plugin_id;
typedef void on_execution(unsigned vcpu, void *data);
typedef void on_access(unsigned vcpu, uint32_t access, uint64_t address, void *data);
struct plugin_info {
	const char *target;
	struct {
		int least, current;
	} version;
	bool system;
};
enum { NO_REGISTERS = 0, LOADS_AND_STORES = 3 };

size_t qemu_plugin_tb_n_insns(const struct qemu_plugin_tb *);
struct qemu_plugin_insn *qemu_plugin_tb_get_insn(const struct qemu_plugin_tb *, size_t);
size_t qemu_plugin_insn_size(const struct qemu_plugin_insn *);
uint64_t qemu_plugin_insn_vaddr(const struct qemu_plugin_insn *);
void *qemu_plugin_insn_haddr(const struct qemu_plugin_insn *);
bool qemu_plugin_mem_is_store(uint32_t access);
void qemu_plugin_register_vcpu_tb_trans_cb(plugin_id,
					   void (*)(plugin_id, struct qemu_plugin_tb *));
void qemu_plugin_register_vcpu_tb_exec_cb(struct qemu_plugin_tb *, on_execution *, int, void *);
void qemu_plugin_register_vcpu_insn_exec_cb(struct qemu_plugin_insn *, on_execution *, int,
					    void *);
void qemu_plugin_register_vcpu_mem_cb(struct qemu_plugin_insn *, on_access *, int, int, void *);
typedef void on_system_call(plugin_id, unsigned vcpu, int64_t number, uint64_t, uint64_t,
			    uint64_t, uint64_t, uint64_t, uint64_t, uint64_t, uint64_t);
void qemu_plugin_register_vcpu_syscall_cb(plugin_id, on_system_call *);
/*
 * QEMU has this function since interface version 2, so its presence shows the version before
 * QEMU asks for ours.
 */
__attribute__((weak)) void *qemu_plugin_scoreboard_new(size_t);

int qemu_plugin_install(plugin_id, const struct plugin_info *, int argc, char **argv);
EXPORT int qemu_plugin_version;
static __attribute__((constructor)) void choose_version(void)
{
	qemu_plugin_version = qemu_plugin_scoreboard_new ? 2 : 1;
}

/* ---- counts ---- */

/* Each thread has its own cache line, and writes only there. */
struct thread {
	uint64_t count[TACH__EMULATED_COUNTS];
	/* the last string instruction, and the count at that time */
	uint64_t string_at, string_then;
	uint64_t unused[2];
};
/*
 * vCPUs are numbered from 0, and numbers of ended threads are used again. This is the largest
 * number of threads that Linux has by default (pid_max; kernel.threads-max is higher).
 */
enum { THREADS = 1 << 16 };

static struct thread *threads;
static bool counts_memory, is_x86;
static int version;
static uint64_t guest_base; /* add this to an address of the program */

/* Instructions in the low half, branches in the high half. */
static void *packed(size_t instructions, size_t branches)
{
	return (void *)(uintptr_t)(instructions | (uint64_t)branches << 32);
}

static void add(unsigned vcpu, void *data)
{
	struct thread *t = &threads[vcpu % THREADS];

	t->count[TACH__EMULATED_INSTRUCTIONS] += (uintptr_t)data & 0xffffffff;
	t->count[TACH__EMULATED_BRANCHES] += (uintptr_t)data >> 32;
}

/*
 * QEMU executes a repeated string instruction once per iteration, and once more to find that
 * the count is zero. Processors retire the instruction once. If no other instruction was
 * counted in between, the same instruction continues.
 */
static void add_string(unsigned vcpu, void *data)
{
	struct thread *t = &threads[vcpu % THREADS];
	uint64_t *count = &t->count[TACH__EMULATED_INSTRUCTIONS];

	*count += t->string_at != (uintptr_t)data || t->string_then != *count;
	t->string_at = (uintptr_t)data;
	t->string_then = *count;
}

static void add_access(unsigned vcpu, uint32_t access, uint64_t address, void *data)
{
	(void)address, (void)data;
	threads[vcpu % THREADS]
		.count[qemu_plugin_mem_is_store(access) ? TACH__EMULATED_STORES
							: TACH__EMULATED_LOADS]++;
}

/* ---- what instructions are ---- */

/*
 * Skips legacy and REX prefixes (Intel SDM vol. 2, 2.1.1 and 2.2.1); *repeated: F2 or F3 was
 * one.
 */
static size_t opcode_at(const uint8_t *byte, size_t size, bool *repeated)
{
	static const uint8_t prefix[] = {0xf0, 0xf2, 0xf3, 0x2e, 0x36, 0x3e,
					 0x26, 0x64, 0x65, 0x66, 0x67};
	size_t i = 0;

	*repeated = false;
	for (; i < size && (memchr(prefix, byte[i], sizeof prefix) || byte[i] >> 4 == 4); i++)
		*repeated |= byte[i] == 0xf2 || byte[i] == 0xf3;
	return i;
}

/* MOVS, CMPS, STOS, LODS, SCAS, INS, OUTS with a repeat prefix. */
static bool is_string(const uint8_t *byte, size_t size)
{
	bool repeated;
	size_t i = opcode_at(byte, size, &repeated);
	uint8_t op = i < size ? byte[i] : 0;

	return repeated && ((op >= 0xa4 && op <= 0xa7) || (op >= 0xaa && op <= 0xaf) ||
			    (op >= 0x6c && op <= 0x6f));
}

/* Jumps, calls and returns, taken or not, but no system calls. */
static bool is_branch_x86(const uint8_t *byte, size_t size)
{
	bool repeated;
	size_t i = opcode_at(byte, size, &repeated);
	uint8_t op = i < size ? byte[i] : 0, next = i + 1 < size ? byte[i + 1] : 0;
	uint8_t extension = next >> 3 & 7;

	switch (op) {
	case 0x0f: /* Jcc with 32 bits */
		return next >> 4 == 8;
	case 0xff: /* indirect CALL and JMP, near and far */
		return extension >= 2 && extension <= 5;
	case 0xe0: /* LOOPNE, LOOPE, LOOP, JRCXZ */
	case 0xe1:
	case 0xe2:
	case 0xe3:
	case 0xe8: /* CALL, JMP */
	case 0xe9:
	case 0xeb:
	case 0xc2: /* RET */
	case 0xc3:
	case 0xca:
	case 0xcb:
		return true;
	}
	return op >> 4 == 7; /* Jcc with 8 bits */
}

/* Arm ARM (DDI 0487), C4.1: Branches, Exception Generating and System instructions. */
static bool is_branch_arm64(const uint8_t *byte, size_t size)
{
	uint32_t word;

	if (size != sizeof word)
		return false;
	memcpy(&word, byte, sizeof word);
	return (word & 0x7c000000) == 0x14000000 || /* B, BL */
	       (word & 0xff000000) == 0x54000000 || /* B.cond, BC.cond */
	       (word & 0x7c000000) == 0x34000000 || /* CBZ, CBNZ, TBZ, TBNZ */
	       (word & 0xfe000000) == 0xd6000000;   /* BR, BLR, RET, with and without keys */
}

static bool is_branch(const uint8_t *byte, size_t size)
{
	return is_x86 ? is_branch_x86(byte, size) : is_branch_arm64(byte, size);
}

/* ---- translation ---- */

/*
 * An x86 instruction has at most 15 bytes. If an instruction crosses into the next page and is
 * not the first of its block, QEMU before 8.2 shows it to plugins but then removes it and
 * begins the next block with it (target/i386/tcg/translate.c, i386_tr_translate_insn). QEMU
 * also drops the callbacks of a removed instruction, so the last instruction of a block counts
 * itself if QEMU may remove it.
 */
enum { PAGE = 4096, X86_LONGEST = 15 };
static bool may_be_dropped(uint64_t at, size_t i, size_t n)
{
	return is_x86 && version < 2 && i > 0 && i == n - 1 && at % PAGE + X86_LONGEST > PAGE;
}

/*
 * Returns 0 if the instruction counts itself, otherwise the number that the block adds for it.
 */
static bool in_block(struct qemu_plugin_insn *insn, size_t i, size_t n)
{
	uint64_t at = qemu_plugin_insn_vaddr(insn);
	size_t size = qemu_plugin_insn_size(insn);
	const uint8_t *byte = qemu_plugin_insn_haddr(insn);

	if (counts_memory)
		qemu_plugin_register_vcpu_mem_cb(insn, add_access, NO_REGISTERS,
						 LOADS_AND_STORES, NULL);
	if (is_x86 && is_string(byte, size)) {
		qemu_plugin_register_vcpu_insn_exec_cb(insn, add_string, NO_REGISTERS,
						       (void *)(uintptr_t)at);
		return false;
	}
	if (!may_be_dropped(at, i, n))
		return true;
	qemu_plugin_register_vcpu_insn_exec_cb(insn, add, NO_REGISTERS,
					       packed(1, is_branch(byte, size)));
	return false;
}

static void on_translated(plugin_id id, struct qemu_plugin_tb *block)
{
	size_t n = qemu_plugin_tb_n_insns(block), instructions = 0, branches = 0;

	(void)id;
	for (size_t i = 0; i < n; i++) {
		struct qemu_plugin_insn *insn = qemu_plugin_tb_get_insn(block, i);
		const uint8_t *byte = qemu_plugin_insn_haddr(insn);

		guest_base = (uintptr_t)byte - qemu_plugin_insn_vaddr(insn);
		if (!in_block(insn, i, n))
			continue;
		instructions++;
		branches += is_branch(byte, qemu_plugin_insn_size(insn));
	}
	/*
	 * Uses one callback per block. QEMU's inline addition uses one address for all threads,
	 * so it is not possible here.
	 */
	if (instructions)
		qemu_plugin_register_vcpu_tb_exec_cb(block, add, NO_REGISTERS,
						     packed(instructions, branches));
}

/* ---- the program's question ---- */

static void system_call(plugin_id id, unsigned vcpu, int64_t number, uint64_t a, uint64_t b,
			uint64_t c, uint64_t d, uint64_t e, uint64_t f, uint64_t g, uint64_t h)
{
	struct tach__emulator_answer *answer;

	(void)id, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h;
	if (number != TACH__EMULATOR_CALL || b != sizeof *answer)
		return;
	answer = (struct tach__emulator_answer *)(uintptr_t)(guest_base + a);
	answer->counts = (uintptr_t)threads[vcpu % THREADS].count - guest_base;
	answer->flags = counts_memory ? TACH__EMULATOR_MEMORY : 0;
	answer->version = TACH__EMULATOR_VERSION;
}

EXPORT int qemu_plugin_install(plugin_id id, const struct plugin_info *info, int argc,
			       char **argv)
{
	version = info->version.current;
	is_x86 = strcmp(info->target, "x86_64") == 0;
	if (info->system || (!is_x86 && strcmp(info->target, "aarch64") != 0)) {
		fprintf(stderr,
			"tach: the plugin is for QEMU's user mode, x86_64 and aarch64\n");
		return -1;
	}
	for (int i = 0; i < argc; i++)
		counts_memory |= strcmp(argv[i], "memory=on") == 0;
	/* Private memory, so that a forked child counts only itself. */
	threads = mmap(NULL, sizeof *threads * THREADS, PROT_READ | PROT_WRITE,
		       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	if (threads == MAP_FAILED) {
		fprintf(stderr, "tach: no memory for the emulator's counts\n");
		return -1;
	}
	qemu_plugin_register_vcpu_tb_trans_cb(id, on_translated);
	qemu_plugin_register_vcpu_syscall_cb(id, system_call);
	return 0;
}
