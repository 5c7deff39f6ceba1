/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ports that wait in a queue until something is granted to them. What they wait
 * for (permits, items, room) is behind a table.
 */
#ifndef WEIR_SYNC_GRANT_H
#define WEIR_SYNC_GRANT_H

#include <weir/private.h>

#include "actor/port.h"

/* All run without a lock held, the first three on the owner's thread. */
struct weir__grantor {
	/*
	 * Grants `n` at once, if nobody waits and they are there: 0, -EAGAIN,
	 * or -EPIPE when none will ever be there again.
	 */
	int (*take)(struct weir__grant_port *port, uint32_t n);
	/* As `take` for claim.n, but instead of -EAGAIN the claim is queued. */
	int (*ask)(struct weir__grant_port *port);
	/* True: the claim was taken out of the queue and is not granted. */
	bool (*cancel)(struct weir__grant_port *port);
	/* Takes back `n` units that were granted and not used. Any thread. */
	void (*give)(struct weir__grant_port *port, uint32_t n);
};

/* The table of such a port; `signalled` is called once, when it has ended. */
#define WEIR__GRANT_OPS \
	.available = weir__grant_available, \
	.invalidate = weir__grant_invalidate, .arm = weir__grant_arm, \
	.close = weir__grant_close

/* What readers of another process's memory find of it. */
#define WEIR__GRANT_FIELDS \
	WEIR__FIELD(PORT_HELD, struct weir__grant_port, held), \
		WEIR__FIELD(PORT_CLAIMED, struct weir__grant_port, claim.n), \
		WEIR__FIELD(PORT_STATE, struct weir__grant_port, state), \
		WEIR__NUMBER(PORT_GRANTED, WEIR__GRANTED), \
		WEIR__FIELD(WAITER_NEXT, struct weir__waiter, next)
#define WEIR__GRANTED 2 /* in grant.c */

uint32_t weir__grant_available(struct weir_port *port);
void weir__grant_invalidate(struct weir_port *port);
int weir__grant_arm(struct weir_port *port);
void weir__grant_close(struct weir_port *port, struct weir_error *error);

/* As the public init functions. */
int weir__grant_init(struct weir__grant_port *self, struct weir_actor *actor,
		     const struct weir__port_ops *ops,
		     const struct weir__grantor *grantor);

/* Tells a look what the port holds. Any thread. */
void weir__grant_look(const struct weir_port *port, struct weir__look *look);

/* Uses `n` of those held: 0, -EINVAL, -EPERM, -EAGAIN: fewer. Owner. */
int weir__grant_use(struct weir__grant_port *self, int64_t n);

/*
 * True once, after `ask` has said that nothing will be granted any more. Owner.
 */
bool weir__grant_ended(struct weir__grant_port *self);

/* For tests: nothing is held and no claim is queued or under way. */
bool weir__grant_idle(const struct weir__grant_port *self);

#endif
