/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How a thread of the limits sleeps and is woken.
 *
 * Waiter: asleep = 1, full fence, look again, sleep while asleep is 1.
 * Publisher: publish, full fence, load asleep. One of the two sees the other,
 * so no wake is lost.
 */
#ifndef WEIR_BENCH_SLEEPER_H
#define WEIR_BENCH_SLEEPER_H

#include <ck_pr.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "support.h"

struct sleeper {
	_Alignas(BENCH_CACHELINE) uint32_t asleep;
};

/* After something was published, with a full fence behind it. */
static inline void sleeper_wake(struct sleeper *sleeper)
{
	if (ck_pr_load_32(&sleeper->asleep) == 0)
		return;
	ck_pr_store_32(&sleeper->asleep, 0);
	syscall(SYS_futex, &sleeper->asleep, FUTEX_WAKE_PRIVATE, 1, NULL, NULL,
		0);
}

/* Until there is something. */
static inline void sleeper_wait(struct sleeper *self,
				bool (*look)(void *argument), void *argument)
{
	for (;;) {
		ck_pr_store_32(&self->asleep, 1);
		/* pairs with the fence before sleeper_wake() */
		ck_pr_fence_store_load();
		if (look(argument))
			break;
		syscall(SYS_futex, &self->asleep, FUTEX_WAIT_PRIVATE, 1, NULL,
			NULL, 0);
	}
	ck_pr_store_32(&self->asleep, 0);
}

#endif
