/* SPDX-License-Identifier: BSD-2-Clause */
/* The delay port: unblocked from a time on that its owner sets. */
#ifndef WEIR_DELAY_H
#define WEIR_DELAY_H

#include <weir/port.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_delay {
	struct weir_port port;
	struct {
		const struct weir__port_ops *ops;
		struct weir_timer timer;
		uint64_t at_ns;
		/* the owner's: how often, but for what it cancelled */
		uint32_t armed;
		uint32_t fired; /* atomic: how often; equal: none is armed */
	} WEIR_PRIVATE;
};

/*
 * Sets up a delay port of `actor`, blocked until it is set. -EINVAL: null.
 * -ENOTSUP: the executor has no timers. -EPERM. Owner.
 */
WEIR_API int weir_delay_init(struct weir_delay *delay,
			     struct weir_actor *actor);

/*
 * Blocks the port until the executor's clock shows `at_ns`; the port is
 * unblocked from then on. WEIR_FOREVER: the port stays blocked. Replaces the
 * time that was set before. A time in the past unblocks the port at once. After
 * each turn the port is tested again: so a turn that sets a new time runs once
 * for each time. -EINVAL: null. -EPERM. -ENOMEM. Owner.
 */
WEIR_API int weir_delay_until(struct weir_delay *delay, uint64_t at_ns);

/* As weir_delay_until, `delay_ns` from now. Owner. */
WEIR_API int weir_delay_for(struct weir_delay *delay, uint64_t delay_ns);

#ifdef __cplusplus
}
#endif

#endif
