/* SPDX-License-Identifier: BSD-2-Clause */
/* One lane of an in-port: what its owner drops, and how its stream ends. */
#include "actor/in_lane.h"

#include <ck_pr.h>

#include "actor/in.h"
#include "actor/port.h"
#include "executor/registry.h"

bool weir__in_lane_holds(struct weir_in *in, struct weir__lane *lane)
{
	if (weir__in_is_put_lane(in, lane))
		return weir__mpsc_holds(&in->taker, lane);
	return weir__spsc_holds(&in->taker, lane);
}

/*
 * At the actor's end an item that was not taken is a dead letter, if the
 * actor's system has somebody who reads these.
 */
static void tell_dead(struct weir_in *in, void *item)
{
	struct weir_actor *actor = in->port.actor;

	if (actor->flags & WEIR__ACTOR_CHILD)
		weir__child_ops(actor)->dead_letter(actor, item);
}

static void drop_unread(struct weir_in *in, uint32_t index, bool dead)
{
	void *item = weir__taker_item(&in->taker, index);

	if (dead)
		tell_dead(in, item);
	weir__in_drop_token(in, item);
}

/*
 * Shuts the in-port's own lane, an mpsc lane, and drops the tokens that it
 * holds; returns how many. A token whose slot is reserved and not numbered
 * stays its producer's. The caller publishes the head.
 */
static uint64_t put_shut(struct weir_in *in, bool dead)
{
	struct weir__taker *taker = &in->taker;
	uint32_t n = weir__mpsc_shut(taker, &in->lane);
	uint64_t dropped = 0;

	for (; n; n--, taker->head++) {
		if (!weir__mpsc_claim(&in->lane, taker->mask, taker->head))
			continue;
		drop_unread(in, taker->head, dead);
		dropped++;
	}
	return dropped;
}

/* Drops the tokens that the put lane holds; returns how many. Owner. */
static uint64_t drain_put(struct weir_in *in, bool dead)
{
	uint64_t dropped = put_shut(in, dead);

	in->taker.limit = in->taker.head;
	(void)weir__in_store_head(in, &in->lane);
	return dropped;
}

/*
 * Drops the tokens that the current lane of a link holds; returns how many. By
 * the owner, or by whoever drops the last reference.
 */
static __attribute__((noinline)) uint64_t drain_link(struct weir_in *in,
						     struct weir__lane *lane,
						     bool dead)
{
	uint64_t dropped = 0;
	bool ended;

	while (WEIR_UNLIKELY(weir__in_lane_holds(in, lane))) {
		weir__in_lane_available(in, lane, &ended);
		for (; in->taker.head != in->taker.limit; dropped++)
			drop_unread(in, in->taker.head++, dead);
		/* release: done with the slots; the producer may go on until
		 * it learns of the cancel */
		ck_pr_fence_release();
		(void)weir__in_store_head(in, lane);
	}
	return dropped;
}

void weir__in_drain_lane(struct weir_in *in, bool dead)
{
	struct weir__lane *lane = weir__in_current(in);
	uint64_t dropped = weir__in_is_put_lane(in, lane)
				   ? drain_put(in, dead)
				   : drain_link(in, lane, dead);

	weir__in_none_peeked(in);
	if (dropped)
		weir__registry_dropped(in->port.actor->executor, dropped);
}

void weir__in_set_left_tail(struct weir_in *in, bool left)
{
	if (left == weir__in_left_tail(in))
		return;
	if (left)
		ck_pr_or_32(&in->lane.state, WEIR__IN_LEFT_TAIL);
	else
		ck_pr_and_32(&in->lane.state, ~(uint32_t)WEIR__IN_LEFT_TAIL);
}

uint32_t weir__in_at_end(struct weir_in *in, uint32_t n)
{
	if (n == 0 || weir__in_left_tail(in)) {
		in->port.flags |= WEIR__PORT_AT_END;
		return 0;
	}
	in->port.flags |= WEIR__PORT_PARTIAL;
	return in->port.burst;
}

void weir__in_unlink(struct weir__lane *lane)
{
	struct weir_out *out = lane->out;

	lane->out = NULL;
	if (out)
		weir_actor_unref(out->port.actor);
}
