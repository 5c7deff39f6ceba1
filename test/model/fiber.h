/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fibers for the explorer: a stack pointer each, switched by hand in a few
 * instructions and without a system call (swapcontext makes two).
 *
 * A fiber is never torn down. Initialising it again throws away what it was
 * doing, which is how the explorer leaves an execution in the middle.
 */
#ifndef EXPLORER_FIBER_H
#define EXPLORER_FIBER_H

#include <stddef.h>

struct fiber {
	void *stack_pointer;
};

/* Makes the next switch to the fiber call entry(), which must not return. */
void fiber_init(struct fiber *fiber, void *stack, size_t stack_size,
		void (*entry)(void));

/* Saves the running fiber in *from and continues *to. */
void fiber_switch(struct fiber *from, struct fiber *to);

#endif
