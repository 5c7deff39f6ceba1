/* SPDX-License-Identifier: BSD-2-Clause */
/* The delay port: unblocked from the time it is set to on. */
#ifndef WEIR_DELAY_H
#define WEIR_DELAY_H

#include <weir/port.h>

#ifdef __cplusplus
extern "C" {
#endif

/* All private. */
struct weir_delay {
	struct weir_port port;
	struct weir_timer timer;
	uint64_t at_ns;
	uint32_t armed; /* the owner's: how often, but for what it cancelled */
	uint32_t fired; /* atomic: how often; equal: none is armed */
};

/*
 * Sets up a delay port of `actor`, blocked until it is set. -EINVAL: null.
 * -ENOTSUP: the executor has no timers. -EPERM. Owner.
 */
WEIR_API int weir_delay_init(struct weir_delay *delay,
			     struct weir_actor *actor);

/*
 * Blocked until the executor's clock shows `at_ns`, unblocked from then on;
 * WEIR_FOREVER: blocked. Replaces what was set before. A time past unblocks
 * at once. One turn runs for each look at it, so a turn that sets it again
 * runs once a time. -EINVAL: null. -EPERM. -ENOMEM. Owner.
 */
WEIR_API int weir_delay_until(struct weir_delay *delay, uint64_t at_ns);

/* As weir_delay_until, `delay_ns` from now. Owner. */
WEIR_API int weir_delay_for(struct weir_delay *delay, uint64_t delay_ns);

#ifdef __cplusplus
}
#endif

#endif
