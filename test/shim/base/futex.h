/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stands in front of lib/base/futex.h in the shim builds. Under
 * ThreadSanitizer the real system calls run; in the model a wait is a step of
 * the explorer, which blocks the fiber and finds the wake-up that is lost.
 */
#ifndef WEIR_SHIM_BASE_FUTEX_H
#define WEIR_SHIM_BASE_FUTEX_H

#if defined(WEIR_SHIM_MODEL)

/* As lib/base/futex.h does, for the results. */
#include <errno.h>
#include <stdint.h>

#include "../explorer_ops.h"

static inline int weir__futex_wait_at(const uint32_t *word, uint32_t expected,
				      uint64_t timeout_ns,
				      struct explorer_site *site)
{
	return explorer_op_futex_wait(word, expected, timeout_ns, site);
}

static inline void weir__futex_wake_at(uint32_t *word, int n,
				       struct explorer_site *site)
{
	explorer_op_futex_wake(word, n, site);
}

#define weir__futex_wait(word, expected, timeout_ns) \
	weir__futex_wait_at((word), (expected), (timeout_ns), \
			    EXPLORER_SITE("futex_wait"))
#define weir__futex_wake(word, n) \
	weir__futex_wake_at((word), (n), EXPLORER_SITE("futex_wake"))

#else

#include "../../../lib/base/futex.h"

#endif

#endif
