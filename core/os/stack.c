/* SPDX-License-Identifier: MIT */
/* A stack of the library's own. */
#include <errno.h>
#include <sys/mman.h>
#include <tach/error.h>
#include "core/os/memory.h"
#include "core/os/stack.h"

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define SANITIZED
#endif
#elif defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED
#endif

#if !defined(SANITIZED) && !defined(TACH_HELGRIND) &&                                          \
	(defined(__x86_64__) || defined(__aarch64__) ||                                        \
	 (defined(__riscv) && __riscv_xlen == 64))

enum { SIZE = 65536 };

/* f(arg) with the stack pointer at `top`, a multiple of 16. */
__attribute__((visibility("hidden"))) int tach__call_on(int (*f)(void *), void *arg, void *top);

/* The frame pointer keeps the old stack and shows it to unwinders. */
#if defined(__x86_64__)
__asm__(".pushsection .text.tach__call_on,\"ax\",@progbits\n"
	".globl tach__call_on\n"
	".hidden tach__call_on\n"
	".type tach__call_on,@function\n"
	"tach__call_on:\n"
	"	.cfi_startproc\n"
	"	endbr64\n"
	"	pushq %rbp\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset %rbp,-16\n"
	"	movq %rsp,%rbp\n"
	"	.cfi_def_cfa_register %rbp\n"
	"	movq %rdx,%rsp\n"
	"	movq %rdi,%rax\n"
	"	movq %rsi,%rdi\n"
	"	call *%rax\n"
	"	movq %rbp,%rsp\n"
	"	popq %rbp\n"
	"	.cfi_def_cfa %rsp,8\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size tach__call_on,.-tach__call_on\n"
	".popsection\n");
#elif defined(__riscv)
__asm__(".pushsection .text.tach__call_on,\"ax\",@progbits\n"
	".globl tach__call_on\n"
	".hidden tach__call_on\n"
	".type tach__call_on,@function\n"
	".balign 4\n"
	"tach__call_on:\n"
	"	.cfi_startproc\n"
	"	addi sp,sp,-16\n"
	"	.cfi_def_cfa_offset 16\n"
	"	sd ra,8(sp)\n"
	"	sd s0,0(sp)\n"
	"	.cfi_offset ra,-8\n"
	"	.cfi_offset s0,-16\n"
	"	addi s0,sp,16\n"
	"	.cfi_def_cfa s0,0\n"
	"	mv sp,a2\n"
	"	mv a3,a0\n"
	"	mv a0,a1\n"
	"	jalr a3\n"
	"	addi sp,s0,-16\n"
	"	.cfi_def_cfa sp,16\n"
	"	ld ra,8(sp)\n"
	"	ld s0,0(sp)\n"
	"	.cfi_restore ra\n"
	"	.cfi_restore s0\n"
	"	addi sp,sp,16\n"
	"	.cfi_def_cfa_offset 0\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size tach__call_on,.-tach__call_on\n"
	".popsection\n");
#else
/* hint 25 and 29 are PACIASP, which is a landing pad for branches too, and AUTIASP. */
__asm__(".pushsection .text.tach__call_on,\"ax\",%progbits\n"
	".globl tach__call_on\n"
	".hidden tach__call_on\n"
	".type tach__call_on,%function\n"
	".balign 4\n"
	"tach__call_on:\n"
	"	.cfi_startproc\n"
	"	hint 25\n"
	"	.cfi_negate_ra_state\n"
	"	stp x29,x30,[sp,-16]!\n"
	"	.cfi_def_cfa_offset 16\n"
	"	.cfi_offset 29,-16\n"
	"	.cfi_offset 30,-8\n"
	"	mov x29,sp\n"
	"	.cfi_def_cfa_register 29\n"
	"	mov sp,x2\n"
	"	mov x3,x0\n"
	"	mov x0,x1\n"
	"	blr x3\n"
	"	mov sp,x29\n"
	"	ldp x29,x30,[sp],16\n"
	"	.cfi_def_cfa 31,0\n"
	"	.cfi_restore 29\n"
	"	.cfi_restore 30\n"
	"	hint 29\n"
	"	.cfi_negate_ra_state\n"
	"	ret\n"
	"	.cfi_endproc\n"
	".size tach__call_on,.-tach__call_on\n"
	".popsection\n");
#endif

int tach__on_own_stack(int (*f)(void *), void *arg)
{
	size_t guard = tach__pages_round(1), size = guard + tach__pages_round(SIZE);
	char *base = tach__pages(size);
	int result, saved = errno;

	if (!base)
		return TACH_ERR_NOMEM;
	/* If there are too many mappings this fails; then the stack has no guard page. */
	mprotect(base, guard, PROT_NONE);
	errno = saved;
	result = tach__call_on(f, arg, base + size);
	tach__pages_free(base, size);
	return result;
}

#else

int tach__on_own_stack(int (*f)(void *), void *arg)
{
	return f(arg);
}

#endif
