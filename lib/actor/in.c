/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The consumer's side of in-ports. How lanes work is described in lib/lane; an
 * in-port with several producers is in merge.c, the side of threads that put
 * without a link in put.c.
 */
#include "actor/in.h"

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include <weir/out.h>

#include "actor/ending.h"
#include "actor/firing.h"
#include "actor/gate.h"
#include "actor/in_lane.h"
#include "actor/merge.h"
#include "actor/port.h"
#include "actor/port_set.h"
#include "base/fence.h"
#include "executor/registry.h"

_Static_assert(sizeof(void *) != 8 || sizeof(struct weir_in) == 120,
	       "the layout of struct weir_in is ABI; with an actor 192 bytes");

int weir_in_init(struct weir_in *in, struct weir_actor *actor, size_t capacity,
		 const struct weir_items *items)
{
	int rc = weir__port_check_init(in, actor);

	if (rc < 0)
		return rc;
	if (capacity == 0 || capacity > WEIR_CAPACITY_MAX ||
	    (capacity & (capacity - 1)))
		return -EINVAL;
	memset(in, 0, sizeof(*in));
	in->items = items;
	rc = weir__mpsc_init(&in->lane, (uint32_t)capacity - 1,
			     actor->executor->options.allocator);
	if (rc < 0)
		return rc;
	weir__taker_init(&in->taker, &in->lane, (uint32_t)capacity - 1);
	weir__port_init(&in->port, actor, WEIR__PORT_IN);
	return 0;
}

/* --- Looking ------------------------------------------------------------- */

/* True if the last peek of the run was at the next token. */
static bool holds_peeked(const struct weir_in *in)
{
	return in->taker.peeked == (uint16_t)(in->taker.head ^ WEIR__PEEKED);
}

/*
 * Lets go of the lane's producer if that has ended the stream. The lane's
 * tokens stay. Owner.
 */
static void free_ended(struct weir__lane *lane)
{
	/* relaxed: the signal behind the end orders it, and only a reference
	 * count is touched */
	if (lane->out && weir__lane_ended(lane))
		weir__in_unlink(lane);
}

static int in_signalled(struct weir_port *port)
{
	struct weir_in *in = (struct weir_in *)port;
	struct weir__merge_lane *lane;

	/* relaxed: the signal behind it orders it */
	if (!weir__lane_has(&in->lane, WEIR__IN_FREES_ENDED))
		return 0;
	free_ended(&in->lane);
	for (lane = in->merge ? in->merge->lanes : NULL; lane;
	     lane = lane->next)
		free_ended(&lane->lane);
	return 0;
}

void weir__in_free_ended(struct weir_in *in)
{
	/* The release is in the signal; pairs with the acquire in
	 * weir__handle_signals(). */
	ck_pr_or_32(&in->lane.state, WEIR__IN_FREES_ENDED);
	weir__actor_signal(in->port.actor, WEIR__SIGNAL_PORTS);
}

static uint32_t in_available(struct weir_port *port)
{
	struct weir_in *in = (struct weir_in *)port;
	bool ended;
	uint32_t n = UINT32_MAX;

	/* A turn that has peeked may call weir_port_ready(), and go on then, in
	 * the lane that it has peeked at. So may a hook after a failure. */
	if (!holds_peeked(in))
		weir__in_none_peeked(in);
	else if (in->merge)
		return weir__in_lane_available(in, in->merge->current, &ended);
	if ((in->taker.flags & WEIR__IN_LINKED) && weir__in_look(in, &n))
		return n;
	/* outside a slice: no harm done */
	(void)weir__in_put_back(in);
	if (in->merge)
		return in->port.flags & WEIR__PORT_AT_END
			       ? 0
			       : weir__merge_available(in);
	n = weir__in_lane_available(in, &in->lane, &ended);
	if (WEIR_UNLIKELY(ended) && n < port->burst)
		return weir__in_at_end(in, n);
	return n;
}

/* --- Publishing and ending ----------------------------------------------- */

static bool in_publish(struct weir_port *port)
{
	struct weir_in *in = (struct weir_in *)port;
	struct weir__lane *lane = weir__in_current(in);

	if (WEIR_UNLIKELY(weir__in_put_back(in)))
		(void)weir_actor_fail_code(port->actor, -ENODATA);
	in->taker.limit = in->taker.head;
	/* If the turn has failed, the peek tells which token has. */
	if (!(port->actor->flags & WEIR__ACTOR_FAILED))
		weir__in_none_peeked(in);
	if (!weir__in_publish_head(in, lane))
		return false;
	if (in->merge)
		in->merge->served = true;
	/* A put lane's producers do not wait: nobody to wake. */
	return lane->out;
}

/* Takes the next token out of the current lane, and makes room for another. */
static void *take_next(struct weir_in *in)
{
	struct weir__lane *lane = weir__in_current(in);
	void *item;

	/* release: the turn is done with the slots that it has taken; pairs as
	 * the release below */
	ck_pr_fence_release();
	(void)weir__in_publish_head(in, lane);
	item = weir__taker_item(&in->taker, in->taker.head++);
	if (weir__in_overtaken(in))
		in->taker.limit = in->taker.head;
	/* release: done with the slot; pairs with the acquire of the producer
	 * that reads the head */
	ck_pr_fence_release();
	(void)weir__in_store_head(in, lane);
	if (lane->out) {
		/* store -> load, rule 2; pairs with the producer's arming */
		weir__fence_full();
		weir__port_unblock(&lane->out->port);
	}
	return item;
}

/* The turn has failed, and there is a token that it has left. */
static bool holds_failed(struct weir_in *in)
{
	(void)weir__in_put_back(in);
	return holds_peeked(in) &&
	       weir__in_lane_holds(in, weir__in_current(in));
}

void weir__in_drop_failed(struct weir_in *in)
{
	bool failed = holds_failed(in);

	/* A turn that has failed has not refused the last tokens. */
	weir__in_set_left_tail(in, false);
	weir__in_none_peeked(in);
	if (!failed)
		return;
	weir__in_drop_token(in, take_next(in));
	weir__registry_dropped(in->port.actor->executor, 1);
}

/* 0: the actor waits for what becomes of it, and here is the failed token. */
static int check_failed(struct weir_in *in)
{
	const uint32_t failed = WEIR__ACTOR_FAILED | WEIR__ACTOR_CLOSED;
	int rc = weir__port_check_owner(in ? &in->port : NULL);

	if (rc < 0)
		return rc;
	return (in->port.actor->flags & failed) == failed && holds_failed(in)
		       ? 0
		       : -ENODATA;
}

int weir_in_take_failed(struct weir_in *in, void **item)
{
	int rc = item ? check_failed(in) : -EINVAL;

	if (rc < 0)
		return rc;
	*item = take_next(in);
	return 0;
}

int weir_in_retry_failed(struct weir_in *in)
{
	int rc = check_failed(in);

	if (rc == 0)
		weir__in_none_peeked(in);
	return rc;
}

static void in_wake(struct weir_port *port)
{
	weir__port_unblock(
		&weir__in_current((struct weir_in *)port)->out->port);
}

/*
 * Tells the lane's producer that its tokens are not taken any more, and lets go
 * of the producer.
 */
static void cancel_lane(struct weir__lane *lane)
{
	if (!lane->out)
		return;
	/* The release is in the signal; pairs with the acquire in
	 * weir__handle_signals(). */
	if (weir__spsc_cancel(lane))
		weir__actor_signal(lane->out->port.actor, WEIR__SIGNAL_PORTS);
	weir__in_unlink(lane);
}

static void drain_all(struct weir_in *in, bool dead)
{
	struct weir__merge_lane *lane;

	(void)weir__in_put_back(in);
	if (!in->merge) {
		weir__in_drain_lane(in, dead);
		return;
	}
	weir__stash_drain(in, dead);
	for (lane = in->merge->lanes; lane; lane = lane->next) {
		weir__merge_switch(in, &lane->lane);
		weir__in_drain_lane(in, dead);
	}
	weir__merge_switch(in, &in->lane);
	weir__in_drain_lane(in, dead);
}

/* Lets no more tokens in, and drops those that are there. */
static void shut(struct weir_in *in, bool dead)
{
	struct weir__merge_lane *lane;

	cancel_lane(&in->lane);
	for (lane = in->merge ? in->merge->lanes : NULL; lane;
	     lane = lane->next)
		cancel_lane(&lane->lane);
	drain_all(in, dead);
}

static void in_close(struct weir_port *port, struct weir_error *error)
{
	(void)error;
	shut((struct weir_in *)port, true);
}

/* Ends the stream that weir_in_put() feeds. */
static void in_drain(struct weir_port *port)
{
	(void)weir_in_end((struct weir_in *)port, NULL);
}

static void in_fini(struct weir_port *port)
{
	struct weir_in *in = (struct weir_in *)port;

	drain_all(in, true);
	weir__mpsc_fini(&in->lane, in->taker.mask, weir__in_allocator(in));
	if (in->merge)
		weir__merge_fini(in);
}

struct weir_error *weir__in_ended(struct weir_port *port)
{
	struct weir_in *in = (struct weir_in *)port;
	struct weir_error *error = weir_error_ref(in->lane.error);

	assert(port->flags & WEIR__PORT_AT_END);
	port->flags &= (uint8_t)~WEIR__PORT_AT_END;
	weir__in_set_left_tail(in, false);
	ck_pr_or_32(&in->lane.state, WEIR__IN_TOLD_END);
	weir__port_switch_off(port, WEIR__PORT_ENDED);
	shut(in, false);
	weir__port_tell(port, error);
	return error;
}

void weir__in_end_unheard(struct weir_in *in)
{
	if (weir__lane_has(&in->lane, WEIR__IN_TOLD_END))
		ck_pr_or_32(&in->lane.state, WEIR__IN_TELL_END);
}

void weir__in_tell_end(struct weir_in *in)
{
	if (!weir__lane_has(&in->lane, WEIR__IN_TELL_END))
		return;
	ck_pr_and_32(&in->lane.state, ~(uint32_t)WEIR__IN_TELL_END);
	weir__actor_stream_ended(in->port.actor, in, in->lane.error);
}

int weir_in_cancel(struct weir_in *in)
{
	int rc = weir__port_check_owner(in ? &in->port : NULL);

	if (rc < 0)
		return rc;
	if (in->port.flags & WEIR__PORT_ENDED)
		return -EALREADY;
	weir__port_switch_off(&in->port, WEIR__PORT_ENDED);
	shut(in, false);
	weir__port_tell(&in->port, NULL);
	return 0;
}

/* --- Links ---------------------------------------------------------------- */

int weir__in_check_lane(const struct weir_in *in)
{
	if (in->port.flags & WEIR__PORT_ENDED)
		return -EPIPE;
	if (in->merge)
		return 0;
	if (weir__lane_ended(&in->lane))
		return -EPIPE;
	if (in->taker.flags & (WEIR__IN_LINKED | WEIR__IN_SUBSCRIBES))
		return -EISCONN;
	/* Tokens put before the start are the link's first ones. */
	if (weir__lane_used(&in->lane) && !weir__is_new(in->port.actor))
		return -EISCONN;
	return 0;
}

struct weir__lane *weir__in_lane(struct weir_in *in)
{
	return in->merge ? weir__merge_lane_new(in) : &in->lane;
}

void weir__in_linked(struct weir_in *in, struct weir__lane *lane,
		     struct weir_out *out)
{
	lane->out = out;
	if (in->merge) {
		weir__merge_add(in, lane);
		return;
	}
	in->taker.flags |= WEIR__IN_LINKED;
	weir__mpsc_become_spsc(lane, in->taker.mask, weir__in_allocator(in));
}

void weir__in_hold(struct weir_in *in)
{
	assert(!in->merge);
	weir__spsc_hold(&in->taker, &in->lane);
}

/* The lane's producer has more room. */
static void wake_producer(const struct weir__lane *lane)
{
	if (!lane->out)
		return;
	/* store -> load, rule 2; pairs with the producer's arming */
	weir__fence_full();
	weir__port_unblock(&lane->out->port);
}

void weir__in_grant(struct weir_in *in, uint32_t n)
{
	weir__spsc_grant(&in->lane, n);
	wake_producer(&in->lane);
}

void weir__in_let_go(struct weir_in *in)
{
	weir__spsc_let_go(&in->taker, &in->lane);
	wake_producer(&in->lane);
}

void weir__in_free_taken(struct weir_in *in)
{
	if (weir__in_overtaken(in))
		return;
	/* release: the turn is done with the slots that it has taken; pairs with
	 * the acquire of the producer that reads the head */
	ck_pr_fence_release();
	(void)weir__in_publish_head(in, &in->lane);
}

/* --- For supervision ------------------------------------------------------ */

/*
 * The consumer's position in a lane: the head word, but the private cursor in
 * the current lane.
 */
static uint32_t head_of(const struct weir_in *in, const struct weir__lane *lane)
{
	if (lane != weir__in_current(in))
		return weir__lane_head(lane);
	return weir__taker_at(&in->taker);
}

static uint32_t lane_queued(const struct weir_in *in,
			    const struct weir__lane *lane)
{
	return weir__index_diff(weir__lane_tail(lane), head_of(in, lane));
}

uint64_t weir__in_queued(const struct weir_in *in)
{
	const struct weir__merge_lane *lane;
	uint64_t n = lane_queued(in, &in->lane);

	for (lane = in->merge ? in->merge->lanes : NULL; lane;
	     lane = lane->next)
		n += lane_queued(in, &lane->lane);
	if (in->merge && in->merge->stash)
		n += lane_queued(in, &in->merge->stash->lane.lane);
	return n;
}

/*
 * True if the lane still holds the end of this producer's stream: the producer
 * is let go of when the end is taken.
 */
static bool holds_end(const struct weir__lane *lane,
		      const struct weir_actor *producer)
{
	return lane->out && lane->out->port.actor == producer &&
	       weir__lane_ended(lane);
}

bool weir__in_holds_from(const struct weir_in *in,
			 const struct weir_actor *producer)
{
	const struct weir__merge_lane *lane;

	if (holds_end(&in->lane, producer))
		return true;
	for (lane = in->merge ? in->merge->lanes : NULL; lane;
	     lane = lane->next)
		if (holds_end(&lane->lane, producer))
			return true;
	return false;
}

static void in_partial(struct weir_port *port)
{
	struct weir_in *in = (struct weir_in *)port;
	uint32_t head = weir__lane_head(weir__in_current(in));

	port->flags &= (uint8_t)~WEIR__PORT_PARTIAL;
	weir__in_set_left_tail(in, weir__index_diff(in->taker.head, head) == 0);
}

static void in_invalidate(struct weir_port *port)
{
	struct weir_in *in = (struct weir_in *)port;

	in->taker.limit = in->taker.head;
}

static bool in_burst_fits(const struct weir_port *port, uint32_t burst)
{
	const struct weir_in *in = (const struct weir_in *)port;
	const struct weir__lane *lane = NULL;

	if (burst > weir__in_capacity(in))
		return false;
	if (in->merge && in->merge->stash && burst > 1)
		return false;
	while ((lane = weir__in_next_lane(in, lane)))
		if (lane->out &&
		    !weir__bursts_fit(lane->out->port.burst, burst, in))
			return false;
	return true;
}

static bool in_links_once(const struct weir_port *port)
{
	/* says that it does not merge, too */
	return ((const struct weir_in *)port)->taker.flags & WEIR__IN_LINKED;
}

/* A lane that feeds the port comes in even if it is empty: its stream goes on. */
static WEIR__LOOKS void in_look(const struct weir_port *port,
				struct weir__look *look)
{
	const struct weir_in *in = (const struct weir_in *)port;
	const struct weir__merge *merge = in->merge;
	const struct weir__merge_lane *lane;
	bool linked = (in->taker.flags & WEIR__IN_LINKED) != 0;

	look->seen->one_link = merge;
	/* of a merge its own lane is there for puts, if anybody puts */
	if (linked || !merge || merge->rule == WEIR_MERGE_OPEN)
		look->link(look, &in->lane, weir__in_capacity(in));
	for (lane = merge ? weir__merge_load(&merge->lanes) : NULL; lane;
	     lane = weir__merge_load(&lane->next))
		look->link(look, &lane->lane, weir__in_capacity(in));
}

static const struct weir__layout_of layout = {
	.self = &layout,
	.fields =
		{
			WEIR__FIELD(IN_FLAGS, struct weir_in, taker.flags),
			WEIR__FIELD(IN_MASK, struct weir_in, taker.mask),
			WEIR__PLACE(IN_LANE, struct weir_in, lane),
			WEIR__FIELD(IN_MERGE, struct weir_in, merge),
			WEIR__FIELD(MERGE_RULE, struct weir__merge, rule),
			WEIR__FIELD(MERGE_LANES, struct weir__merge, lanes),
			WEIR__PLACE(MERGE_LANE, struct weir__merge_lane, lane),
			WEIR__FIELD(MERGE_NEXT, struct weir__merge_lane, next),
			WEIR__FIELD(LANE_WORDS, struct weir__lane, words),
			WEIR__PLACE(LANE_OWN, struct weir__lane, own),
			WEIR__FIELD(LANE_OUT, struct weir__lane, out),
			{0},
		},
};

static const struct weir__port_ops in_ops = {
	.takes = true,
	.awaits = WEIR_WAIT_INPUT,
	.look = in_look,
	.layout = &layout,
	.available = in_available,
	.ended = weir__in_ended,
	.partial = in_partial,
	.links_once = in_links_once,
	.burst_fits = in_burst_fits,
	.signalled = in_signalled,
	.invalidate = in_invalidate,
	.publish = in_publish,
	.wake = in_wake,
	.drain = in_drain,
	.close = in_close,
	.fini = in_fini,
};

/* Before the constructors of a program, which may start actors. */
static __attribute__((constructor(101))) void hand_over(void)
{
	weir__port_kinds[WEIR__PORT_IN] = &in_ops;
}
