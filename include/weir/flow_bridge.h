/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows joined to what is not a flow: publishers and subscribers (stream.h),
 * ports of actors of yours, and channels that threads take from.
 *
 * What is joined by a link or as a subscription is joined when a run starts. If
 * that start fails afterwards, it is as if the run had been cancelled at once.
 */
#ifndef WEIR_FLOW_BRIDGE_H
#define WEIR_FLOW_BRIDGE_H

#include <weir/channel.h>
#include <weir/flow.h>
#include <weir/in.h>
#include <weir/out.h>
#include <weir/semaphore.h>
#include <weir/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Publishers and subscribers ------------------------------------------- */

/*
 * What `publisher` (borrowed) sends; each run subscribes to it, with a
 * subscriber of its own, when it is first asked for items. Requested and not
 * taken are `prefetch` items at most (0: 16), and `refill` are requested at
 * once (0: half of that); 1 and 1 is lock step; but see weir_flow_limit_rate().
 * The items are what weir_flow_items() says, plain values without: if the
 * subscription says otherwise, the flow fails with -EINVAL. A publisher that
 * sends more than was requested is cancelled, and the flow fails with
 * -EOVERFLOW. The run is over when the publisher has let go of the subscriber.
 * Fails: -EINVAL, null, a refill above the prefetch.
 *
 * Emits: each item. Completes: when the publisher does. Cancels: the
 * subscription, when downstream does. Holds: `prefetch` items.
 */
WEIR_API struct weir_flow *weir_flow_from_publisher(
	struct weir_publisher *publisher, size_t prefetch, size_t refill);

/*
 * Sends the items to `subscriber`, which is held from weir_flow_start() until
 * the last signal: as a publisher over an out-port does (reactive.h), over a
 * link if it is one over an in-port. How the flow ends is told it, and
 * -ECANCELED when the run is cancelled. When it cancels, or is broken (which
 * the executor reports), the flow ends well. The run is over when the
 * subscriber has given the subscription up, or, over a link, as that of
 * weir_flow_into_in(). One that subscribes once lets the flow run once. Not
 * inside of another flow: -ENOTSUP. Fails: -EINVAL, null.
 *
 * Emits: nothing. Completes: when upstream does and the subscriber has been
 * told. Cancels: when the subscriber or downstream does. Holds: WEIR_FLOW_BATCH
 * items, no more than were requested.
 */
WEIR_API struct weir_flow *weir_flow_into(struct weir_flow *flow,
					  struct weir_subscriber *subscriber);

/* A publisher each of whose subscribers gets a run of a flow for itself. */
struct weir_flow_publisher;

/*
 * A publisher of what comes out of `flow`, which it takes over, also on
 * failure. A run on `executor` starts with each subscriber, who is rejected
 * with the code if it cannot start: as -EALREADY by a flow that runs once.
 * `options` is copied and may be NULL; its `done` is called when such a run is
 * over, with no result. -EINVAL: null, bad options, or what weir_flow_check()
 * says. -ENOMEM. Then *publisher is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_publisher_new(
	struct weir_flow_publisher **publisher, struct weir_flow *flow,
	struct weir_executor *executor,
	const struct weir_flow_run_options *options);

/*
 * To be handed to weir_publisher_subscribe(), until it is freed. NULL of NULL.
 * Any thread.
 */
WEIR_API struct weir_publisher *weir_flow_publisher_base(
	struct weir_flow_publisher *publisher);

/*
 * Gives it up: nobody subscribes any more, but its runs go on; the flow goes
 * when the last of them is over. NULL is fine. Any thread.
 */
WEIR_API void weir_flow_publisher_free(struct weir_flow_publisher *publisher);

/* --- Actors --------------------------------------------------------------- */

/*
 * What an actor of yours puts into `out`, which is initialized before, over a
 * link that holds up to `capacity` items, a power of two. It runs once
 * (-EALREADY), and is to be started by who owns the actor, see weir_out_link():
 * before that starts, or in a turn or handler of its. A drain of the run takes
 * what has been put, and cancels the out-port. Not inside of another flow:
 * -ENOTSUP. Fails: -EINVAL, null, a bad capacity; the start what
 * weir_out_link() reports.
 *
 * Emits: each item. Completes: when the out-port ends. Cancels: the out-port,
 * when downstream does. Holds: `capacity` items.
 */
WEIR_API struct weir_flow *weir_flow_from_out(struct weir_out *out,
					      size_t capacity);

/*
 * Sends the items over a link into the in-port `in` of an actor of yours, and
 * then how the flow ends: -ECANCELED when the run is cancelled. When the
 * in-port is cancelled, as by the end of its actor, the flow ends well. The run
 * is over when the actor has taken all of it, or the run is cancelled: what is
 * in the in-port then is the actor's, which need not take it. Runs once, is
 * started, and fails as weir_flow_from_out().
 *
 * Emits: nothing. Completes: when upstream does. Cancels: when the in-port or
 * downstream does. Holds: nothing; the in-port its capacity.
 */
WEIR_API struct weir_flow *weir_flow_into_in(struct weir_flow *flow,
					     struct weir_in *in);

/*
 * Lets as many items pass as there are permits of `semaphore` (borrowed): each
 * takes one, which whoever is done with the item releases. No permit is kept
 * while there is no item. Fails: -EINVAL, no semaphore.
 *
 * Emits: each item, when it has a permit. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_acquire(struct weir_flow *flow,
					     struct weir_semaphore *semaphore);

/*
 * As weir_flow_into_in(), but the actor acknowledges what it gets: `init`, if
 * not NULL, comes first, and each item when something before it has been
 * acknowledged by weir_semaphore_release(acks, 1). `acks` (borrowed) begins
 * with as many permits as items may come unasked for, 0 where there is `init`.
 * That is one of the flow's items, which it takes over when it starts. The end
 * comes when all that was sent, `init` too, has been acknowledged; an error at
 * once.
 *
 * Emits: nothing. Completes: when upstream has, and all is acknowledged.
 * Cancels: when the in-port, and so its actor, or downstream does. Holds:
 * nothing; the in-port its capacity.
 */
WEIR_API struct weir_flow *weir_flow_to_actor(struct weir_flow *flow,
					      struct weir_in *in,
					      struct weir_semaphore *acks,
					      void *init);

/* --- Channels ------------------------------------------------------------- */

/*
 * What is put into `channel` (borrowed), which others may take from as well.
 * The items are the channel's if weir_flow_items() says nothing. Fails:
 * -EINVAL, no channel.
 *
 * Emits: each item. Completes: when the channel has ended and is empty, also
 * while nobody asks. Cancels: nothing is above it. Holds: one item. As long as
 * it runs, weir_channel_free() is refused.
 */
WEIR_API struct weir_flow *weir_flow_from_channel(struct weir_channel *channel);

/*
 * Puts the items into `channel` (borrowed), for threads to take: with a
 * deadline, or with a callback. Ends the channel as the flow ends, with
 * -ECANCELED when the run is cancelled. When the channel has been ended by
 * another, the flow ends so too. The items must be the channel's: -EINVAL from
 * the start. Fails: -EINVAL, no channel.
 *
 * Emits: nothing. Completes: when upstream does and all items are in. Cancels:
 * when the channel has ended, or downstream cancels. Holds: one item, or what
 * others have taken the room of.
 */
WEIR_API struct weir_flow *weir_flow_into_channel(struct weir_flow *flow,
						  struct weir_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
