/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Private: what all ports are made of that wait in a queue until something is
 * granted to them: semaphore.h, channel.h. Invariants in lib/actor/grant.c.
 */
#ifndef WEIR_GRANT_H
#define WEIR_GRANT_H

#include <weir/port.h>
#include <weir/waiter.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir__grant_port {
	struct weir_port port;
	const struct weir__port_ops *ops;
	const struct weir__grantor *grantor;
	struct weir__claim claim;
	uint32_t state; /* any thread, atomically */
	/* the owner's */
	uint32_t held;	/* granted and not used */
	uint32_t asked; /* that many were asked for */
	bool last;	/* less than a burst, but no more will come */
};

#ifdef __cplusplus
}
#endif

#endif
