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

#include <weir/flow.h>
#include <weir/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Publishers and subscribers --------------------------------------------- */

/*
 * What `publisher` (borrowed) sends; each run subscribes to it, with a subscriber
 * of its own, when it is first asked for items. Requested and not taken are
 * `prefetch` items at most (0: 16), and `refill` are requested at once (0: half
 * of that); 1 and 1 is lock step. The items are what weir_flow_items() says,
 * plain values without: if the subscription says otherwise, the flow fails with
 * -EINVAL. A publisher that sends more than was requested is cancelled, and the
 * flow fails with -EOVERFLOW. The run is over when the publisher has let go of
 * the subscriber. Fails: -EINVAL, null, a refill above the prefetch.
 *
 * Emits: each item. Completes: when the publisher does. Cancels: the
 * subscription, when downstream does. Holds: `prefetch` items.
 */
WEIR_API struct weir_flow *weir_flow_from_publisher(
	struct weir_publisher *publisher, size_t prefetch, size_t refill);

/*
 * Sends the items to `subscriber`, which is held from weir_flow_start() until
 * the last signal: as a publisher over an out-port does (reactive.h), over a
 * link if it is one over an in-port. How the flow ends is told it, and -ECANCELED
 * when the run is cancelled. When it cancels, or is broken (which the executor
 * reports), the flow ends well. A subscriber that subscribes once lets it run
 * once. Not inside of another flow: -ENOTSUP.
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
 * A publisher of what comes out of `flow`, which it takes over, also on failure.
 * A run on `executor` starts with each subscriber, who is rejected with the code
 * if it cannot start: as -EALREADY by a flow that runs once. `options` is copied
 * and may be NULL; its `done` is called when such a run is over, with no result.
 * -EINVAL: null, bad options, or what weir_flow_check() says. -ENOMEM. Then
 * *publisher is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_publisher_new(
	struct weir_flow_publisher **publisher, struct weir_flow *flow,
	struct weir_executor *executor,
	const struct weir_flow_run_options *options);

/* To be handed to weir_subscribe(), until it is freed. */
WEIR_API struct weir_publisher *weir_flow_publisher_publisher(
	struct weir_flow_publisher *publisher);

/*
 * Gives it up: nobody subscribes any more, but its runs go on; the flow goes
 * when the last of them is over. NULL is fine. Any thread.
 */
WEIR_API void weir_flow_publisher_free(struct weir_flow_publisher *publisher);

#ifdef __cplusplus
}
#endif

#endif
