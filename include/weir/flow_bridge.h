/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bridges between flows and the rest of a program: publishers and subscribers
 * (stream.h), ports of your own actors, and channels that threads take from.
 *
 * Links and subscriptions are made when a run starts. If the start fails after
 * that, their other ends see a run that was cancelled at once.
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
 * Emits the items of `publisher` (borrowed).
 *
 * 1. Each run subscribes, with a subscriber of its own, when it is first asked
 *    for items.
 * 2. At most `prefetch` items (0: 16) are requested and not taken yet, and
 *    `refill` items (0: half of the prefetch) are requested in one call; 1 and
 *    1 is lock step. weir_flow_limit_rate() right behind this call replaces
 *    both.
 * 3. The items are what weir_flow_items() says; without it, plain values. If
 *    the subscription says otherwise, the flow fails with -EINVAL.
 * 4. A publisher that sends more than was requested is cancelled, and the flow
 *    fails with -EOVERFLOW.
 * 5. The run is over when the publisher has released the subscriber.
 *
 * Fails: -EINVAL, null, or a refill above the prefetch.
 *
 * Emits: each item. Completes: when the publisher does. Cancels: the
 * subscription, when downstream does. Holds: `prefetch` items.
 */
WEIR_API struct weir_flow *weir_flow_from_publisher(
	struct weir_publisher *publisher, size_t prefetch, size_t refill);

/*
 * Sends the items to `subscriber`, as a publisher over an out-port does
 * (reactive.h); a subscriber over an in-port gets a link.
 *
 * 1. The flow holds a reference of the subscriber from weir_flow_start() until
 *    the last signal.
 * 2. The subscriber is told how the flow ends; -ECANCELED when the run is
 *    cancelled.
 * 3. When the subscriber cancels, or is broken (which the executor reports),
 *    the flow ends well.
 * 4. The run is over when the subscriber has given the subscription back, or,
 *    over a link, as for weir_flow_into_in().
 * 5. A subscriber that can subscribe only once lets the flow run only once.
 *
 * Not inside of another flow: -ENOTSUP. Fails: -EINVAL, null.
 *
 * Emits: nothing. Completes: when upstream does and the subscriber has been
 * told. Cancels: when the subscriber or downstream does. Holds: WEIR_FLOW_BATCH
 * items, no more than were requested.
 */
WEIR_API struct weir_flow *weir_flow_into(struct weir_flow *flow,
					  struct weir_subscriber *subscriber);

/* A publisher that starts a run of a flow for each subscriber. */
struct weir_flow_publisher;

/*
 * A new publisher in *publisher, of the items that `flow` emits. It takes
 * `flow` over, also on failure. For each subscriber a run is started on
 * `executor`. If the run cannot start, the subscriber is rejected with the
 * error code, such as -EALREADY of a flow that runs only once. `options` is
 * copied and may be NULL; its `done` is called when a run is over, with no
 * result. -EINVAL: null, bad options, or the error of weir_flow_check().
 * -ENOMEM. Then *publisher is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_publisher_new(
	struct weir_flow_publisher **publisher, struct weir_flow *flow,
	struct weir_executor *executor,
	const struct weir_flow_run_options *options);

/* The publisher to hand to weir_publisher_subscribe(); valid until it is freed.
 * NULL if `publisher` is NULL. Any thread. */
WEIR_API struct weir_publisher *weir_flow_publisher_base(
	struct weir_flow_publisher *publisher);

/*
 * Frees the publisher: no subscriber may subscribe any more. Its runs go on,
 * and the flow is freed when the last of them is over. NULL is fine. Any
 * thread.
 */
WEIR_API void weir_flow_publisher_free(struct weir_flow_publisher *publisher);

/* --- Actors --------------------------------------------------------------- */

/*
 * Emits the items that an actor of yours puts into `out`, over a link that
 * holds up to `capacity` items, a power of two. `out` has been set up before.
 *
 * 1. The flow runs once: -EALREADY after that.
 * 2. The run must be started by the owner of the actor, as for weir_out_link():
 *    before the actor starts, or in a turn or handler of the actor.
 * 3. When the run is drained, it takes the items that have been put, and
 *    cancels the out-port.
 *
 * Not inside of another flow: -ENOTSUP. Fails: -EINVAL, null, a bad capacity.
 * The start also fails with the errors of weir_out_link().
 *
 * Emits: each item. Completes: when the out-port ends. Cancels: the out-port,
 * when downstream does. Holds: `capacity` items.
 */
WEIR_API struct weir_flow *weir_flow_from_out(struct weir_out *out,
					      size_t capacity);

/*
 * Sends the items over a link into `in`, an in-port of an actor of yours, and
 * behind them the end of the flow: -ECANCELED when the run is cancelled. When
 * the in-port is cancelled (also by the end of its actor), the flow ends well.
 * The run is over when the actor has taken all items, or when the run is
 * cancelled; the actor need not take the items that are in the in-port then.
 * For running once, starting and failing, the rules of weir_flow_from_out()
 * hold.
 *
 * Emits: nothing. Completes: when upstream does. Cancels: when the in-port or
 * downstream does. Holds: nothing; the in-port its capacity.
 */
WEIR_API struct weir_flow *weir_flow_into_in(struct weir_flow *flow,
					     struct weir_in *in);

/*
 * Passes an item for each permit of `semaphore` (borrowed): each item takes one
 * permit, and the code that is done with the item releases the permit. The
 * operator keeps no permit while it has no item. Fails: -EINVAL, no semaphore.
 *
 * Emits: each item, when it has a permit. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_acquire(struct weir_flow *flow,
					     struct weir_semaphore *semaphore);

/*
 * As weir_flow_into_in(), but the actor acknowledges each item by
 * weir_semaphore_release(acks, 1).
 *
 * 1. `init`, if not NULL, is sent first. It is one of the flow's items, and the
 *    flow takes it over when it starts.
 * 2. Each item is sent when something before it has been acknowledged. `acks`
 *    (borrowed) begins with as many permits as items may come unasked for: 0 if
 *    there is an `init`.
 * 3. The end is sent when everything before it (`init`, too) has been
 *    acknowledged; an error is sent at once.
 *
 * Emits: nothing. Completes: when upstream has, and all is acknowledged.
 * Cancels: when the in-port is cancelled (also by the end of its actor), or
 * when downstream cancels. Holds: nothing; the in-port its capacity.
 */
WEIR_API struct weir_flow *weir_flow_to_actor(struct weir_flow *flow,
					      struct weir_in *in,
					      struct weir_semaphore *acks,
					      void *init);

/* --- Channels ------------------------------------------------------------- */

/*
 * Emits the items that it takes from `channel` (borrowed); others may take from
 * it as well. The items are what the channel says. Fails: -EINVAL, no channel.
 *
 * Emits: each item. Completes: when the channel has ended and is empty, also
 * without demand. Cancels: it has no upstream. Holds: one item. During the run
 * weir_channel_free() is refused.
 */
WEIR_API struct weir_flow *weir_flow_from_channel(struct weir_channel *channel);

/*
 * Puts the items into `channel` (borrowed), from which threads take them with a
 * deadline or with a callback. The channel ends as the flow ends: with
 * -ECANCELED when the run is cancelled. If others end the channel, the flow
 * ends in the same way. The flow's items must be those of the channel: else
 * starting fails with -EINVAL. Fails: -EINVAL, no channel.
 *
 * Emits: nothing. Completes: when upstream does and all items are in. Cancels:
 * when the channel has ended, or downstream cancels. Holds: one item; more if
 * others have filled the room meant for them.
 */
WEIR_API struct weir_flow *weir_flow_into_channel(struct weir_flow *flow,
						  struct weir_channel *channel);

#ifdef __cplusplus
}
#endif

#endif
