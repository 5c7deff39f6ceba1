/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fibers: the context switch and the first frame, for x86-64 and aarch64.
 *
 * Saved are the registers that a call preserves. The first frame holds zeros
 * for them and entry as the return address. Floating-point control words are
 * not switched: nothing here changes them.
 */
#include "fiber.h"

#include <stdint.h>
#include <string.h>

void fiber_switch_stacks(void **from, void *to);

#if defined(__x86_64__)

__asm__(".text\n"
	".globl fiber_switch_stacks\n"
	".hidden fiber_switch_stacks\n"
	".type fiber_switch_stacks, @function\n"
	"fiber_switch_stacks:\n"
	"	pushq %rbp\n"
	"	pushq %rbx\n"
	"	pushq %r12\n"
	"	pushq %r13\n"
	"	pushq %r14\n"
	"	pushq %r15\n"
	"	movq %rsp, (%rdi)\n"
	"	movq %rsi, %rsp\n"
	"	popq %r15\n"
	"	popq %r14\n"
	"	popq %r13\n"
	"	popq %r12\n"
	"	popq %rbx\n"
	"	popq %rbp\n"
	"	ret\n"
	".size fiber_switch_stacks, . - fiber_switch_stacks\n");

/* Six registers, entry, and the return address that entry never uses. */
enum { FRAME_WORDS = 8, FRAME_ENTRY = 6 };

#elif defined(__aarch64__)

__asm__(".text\n"
	".globl fiber_switch_stacks\n"
	".hidden fiber_switch_stacks\n"
	".type fiber_switch_stacks, %function\n"
	"fiber_switch_stacks:\n"
	"	sub sp, sp, #160\n"
	"	stp x19, x20, [sp, #0]\n"
	"	stp x21, x22, [sp, #16]\n"
	"	stp x23, x24, [sp, #32]\n"
	"	stp x25, x26, [sp, #48]\n"
	"	stp x27, x28, [sp, #64]\n"
	"	stp x29, x30, [sp, #80]\n"
	"	stp d8, d9, [sp, #96]\n"
	"	stp d10, d11, [sp, #112]\n"
	"	stp d12, d13, [sp, #128]\n"
	"	stp d14, d15, [sp, #144]\n"
	"	mov x9, sp\n"
	"	str x9, [x0]\n"
	"	mov sp, x1\n"
	"	ldp x19, x20, [sp, #0]\n"
	"	ldp x21, x22, [sp, #16]\n"
	"	ldp x23, x24, [sp, #32]\n"
	"	ldp x25, x26, [sp, #48]\n"
	"	ldp x27, x28, [sp, #64]\n"
	"	ldp x29, x30, [sp, #80]\n"
	"	ldp d8, d9, [sp, #96]\n"
	"	ldp d10, d11, [sp, #112]\n"
	"	ldp d12, d13, [sp, #128]\n"
	"	ldp d14, d15, [sp, #144]\n"
	"	add sp, sp, #160\n"
	"	ret\n"
	".size fiber_switch_stacks, . - fiber_switch_stacks\n");

/* x30 is the twelfth of twenty registers. */
enum { FRAME_WORDS = 20, FRAME_ENTRY = 11 };

#else
#error "the explorer knows x86-64 and aarch64"
#endif

void fiber_init(struct fiber *fiber, void *stack, size_t stack_size,
		void (*entry)(void))
{
	uintptr_t top = ((uintptr_t)stack + stack_size) & ~(uintptr_t)15;
	uintptr_t *frame = (uintptr_t *)top - FRAME_WORDS;

	memset(frame, 0, FRAME_WORDS * sizeof(*frame));
	frame[FRAME_ENTRY] = (uintptr_t)entry;
	fiber->stack_pointer = frame;
}

void fiber_switch(struct fiber *from, struct fiber *to)
{
	fiber_switch_stacks(&from->stack_pointer, to->stack_pointer);
}
