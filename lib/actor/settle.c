/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a slice does beside running turns: it publishes what they did, and at
 * its end arms the ports it has to wait for. Rules 2 and 3 of gate.c.
 */
#include "actor/slice.h"

#include <assert.h>

#include <ck_pr.h>

#include "actor/gate.h"
#include "actor/link.h"
#include "actor/port.h"
#include "base/fence.h"

/*
 * Rule 3, step 1: blocks the ports that are not ready. A port that an earlier
 * arming has counted as blocked may be ready now, because its owner has made it
 * so (a link has left, the burst is smaller): takes each such port off the
 * count. Adds to *count how many more ports are blocked than before. True: some
 * ports were armed.
 */
static bool arm(struct weir_actor *actor, int32_t *count)
{
	struct weir_port *port;
	bool armed = false;

	for (port = actor->ports; port; port = port->next) {
		const struct weir__port_ops *ops = weir__port_ops(port);

		if (weir__port_off(port))
			continue;
		if (ops->arm)
			weir__actor_check_rc(actor, ops->arm(port));
		/* If it reads 1, an earlier arming has set it and the port is
		 * still counted: only the owner sets it. */
		if (ck_pr_load_32(&port->blocked)) {
			if (!(port->flags & WEIR__PORT_SHUT) &&
			    ck_pr_fas_32(&port->blocked, 0))
				--*count;
			continue;
		}
		if (!(port->flags & WEIR__PORT_SHUT))
			continue;
		assert(!weir__port_group(port) &&
		       !(port->flags & WEIR__PORT_AT_END));
		ck_pr_store_32(&port->blocked, 1);
		port->flags |= WEIR__PORT_ARMED;
		++*count;
		armed = true;
	}
	return armed;
}

/*
 * Rule 3, step 3: the second look takes ports that have become ready off
 * *count.
 */
static void look_again(struct weir_actor *actor, int32_t *count)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next) {
		uint8_t flags = port->flags;

		port->flags = flags &
			      (uint8_t) ~(WEIR__PORT_ARMED | WEIR__PORT_SHUT);
		if (!(flags & WEIR__PORT_ARMED))
			continue;
		if (!weir__port_turns(port) &&
		    !(port->flags & WEIR__PORT_AT_END))
			continue;
		/* Whichever thread reads 1 takes the port off the count (rule
		 * 2). If we do, the port is not added to the count. If another
		 * thread has, its decrement is on its way. */
		if (ck_pr_fas_32(&port->blocked, 0))
			--*count;
	}
}

/*
 * Publishes what the last run did. For links no fence comes between the index
 * and the look at the peer's `blocked` (rule 2): the actor owes it, and pays
 * when it arms. True: other ports have published and need the fence now.
 */
static inline bool publish(struct weir_actor *actor)
{
	struct weir_port *port, *peer;
	bool dirty = false;

	/* release: tokens before indices; pairs with the acquire in `available`
	 * of the port at the other end */
	ck_pr_fence_release();
	for (port = actor->ports; port; port = port->next) {
		const struct weir__port_ops *ops;

		if (WEIR_LIKELY(weir__link_publish(port, &peer))) {
			if (!peer)
				continue;
			weir__actor_set(actor, WEIR__ACTOR_OWES);
			weir__port_unblock(peer);
			continue;
		}
		ops = weir__port_ops(port);
		if (!ops->publish || !ops->publish(port))
			continue;
		port->flags |= WEIR__PORT_DIRTY;
		dirty = true;
	}
	return dirty;
}

/*
 * After the fence: unblocks the peers for which something was published, by
 * this slice or, if `owes`, by earlier ones.
 */
static void wake_peers(struct weir_actor *actor, bool owes)
{
	struct weir_port *port, *peer;

	for (port = actor->ports; port; port = port->next) {
		if (port->flags & WEIR__PORT_DIRTY) {
			port->flags &= (uint8_t)~WEIR__PORT_DIRTY;
			weir__port_ops(port)->wake(port);
		} else if (owes) {
			peer = weir__link_peer(port);
			if (peer)
				weir__port_unblock(peer);
		}
	}
}

void weir__slice_invalidate(struct weir_actor *actor, bool published)
{
	struct weir_port *port;

	for (port = actor->ports; port; port = port->next) {
		const struct weir__port_ops *ops;

		if (published && port->kind <= WEIR__PORT_OUT)
			continue;
		ops = weir__port_ops(port);
		if (ops->invalidate)
			ops->invalidate(port);
	}
}

void weir__slice_settle(struct weir_actor *actor, int32_t *count)
{
	bool armed = count && arm(actor, count);
	bool dirty = publish(actor);
	bool owes = count && (actor->flags & WEIR__ACTOR_OWES);

	if (!armed && !dirty && !owes)
		return;
	/* store -> load, twice. Our indices before the peers' `blocked`: pairs
	 * with the one fence of a peer that arms. Our `blocked` before the
	 * peers' indices: pairs with the fence of a peer that publishes */
	weir__fence_full();
	if (owes)
		weir__actor_clear(actor, WEIR__ACTOR_OWES);
	if (dirty || owes)
		wake_peers(actor, owes);
	if (armed)
		look_again(actor, count);
}

void weir__slice_pay(struct weir_actor *actor)
{
	if (!(actor->flags & WEIR__ACTOR_OWES))
		return;
	/* store -> load: as in weir__slice_settle() */
	weir__fence_full();
	weir__actor_clear(actor, WEIR__ACTOR_OWES);
	wake_peers(actor, true);
}
