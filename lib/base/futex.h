/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Sleeping on a word, and waking the threads that sleep on it: the Linux futex,
 * private to the process. This is the only place where the library blocks a
 * thread on memory, so that the model build can put its own in front.
 *
 * A wait that returns says nothing about the word: the caller looks again. The
 * kernel compares the word and goes to sleep in one step, and both calls act as
 * full fences: so the comparison sees a store that came before the wake, or the
 * wake ends the sleep.
 */
#ifndef WEIR_BASE_FUTEX_H
#define WEIR_BASE_FUTEX_H

#include <errno.h>
#include <linux/futex.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "base/costs.h"

/*
 * Sleeps while *word is expected, at most timeout_ns; UINT64_MAX is for ever.
 * Returns 0 when woken, by a signal too, -EAGAIN when the word already
 * differed, -ETIMEDOUT when the time was up. errno is kept.
 */
static inline int weir__futex_wait(const uint32_t *word, uint32_t expected,
				   uint64_t timeout_ns)
{
	const struct timespec timeout = {
		.tv_sec = (time_t)(timeout_ns / 1000000000u),
		.tv_nsec = (long)(timeout_ns % 1000000000u),
	};
	int kept = errno;
	int rc = 0;

	weir__costs_kernel_call();
	if (syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, expected,
		    timeout_ns == UINT64_MAX ? NULL : &timeout, NULL, 0) < 0)
		rc = -errno;
	errno = kept;
	return rc == -EINTR ? 0 : rc;
}

/* Wakes at most n threads that sleep on the word. errno is kept. */
static inline void weir__futex_wake(uint32_t *word, int n)
{
	int kept = errno;

	weir__costs_kernel_call();
	(void)syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, n, NULL, NULL, 0);
	errno = kept;
}

#endif
