/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A port of permits (DF4J: asynchronous semaphore). It is unblocked while it
 * has a permit (`burst` permits, if set). Any thread releases permits. Only the
 * owner uses them; it never waits, and may go into debt. Released permits repay
 * the debt first.
 */
#ifndef WEIR_PERMITS_H
#define WEIR_PERMITS_H

#include <weir/port.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_permits {
	struct weir_port port;
	struct {
		const struct weir__port_ops *ops;
		int64_t granted; /* any thread, atomically; cumulative */
		int64_t used;	 /* the owner's; cumulative */
	} WEIR_PRIVATE;
};

/*
 * Sets up a port of `actor` with `n` permits (may be negative).
 * -EINVAL: null. -EPERM. Owner.
 */
WEIR_API int weir_permits_init(struct weir_permits *permits,
			       struct weir_actor *actor, int64_t n);

/*
 * Adds `n` permits; saturates at INT64_MAX, which means unlimited for ever.
 * -EINVAL: null, n <= 0. Any thread that holds a reference. Lock-free.
 */
WEIR_API int weir_permits_release(struct weir_permits *permits, int64_t n);

/* Uses `n` permits. -EINVAL: null, n <= 0. -EPERM. Owner. */
WEIR_API int weir_permits_use(struct weir_permits *permits, int64_t n);

/* Sets the number of permits to `n`, whatever it was. -EINVAL, -EPERM.
 * Owner. */
WEIR_API int weir_permits_set(struct weir_permits *permits, int64_t n);

/* The number of permits now; negative is debt. Owner. */
WEIR_API int64_t weir_permits_count(const struct weir_permits *permits);

#ifdef __cplusplus
}
#endif

#endif
