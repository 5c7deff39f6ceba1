/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Hubs: what the flows of some runs put in is taken by the flows of other runs.
 * Each of them comes when it is started, and leaves when it ends, also while
 * the others run, on any executor. A hub is one bounded buffer; a subscriber is
 * a place in it.
 */
#ifndef WEIR_FLOW_HUB_H
#define WEIR_FLOW_HUB_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_hub;

/* A replay of all items. */
#define WEIR_HUB_ALL SIZE_MAX

/* What becomes of a hub without subscribers. */
enum weir_hub_idle {
	/* No items are taken until there is a subscriber (Pekko's
	 * BroadcastHub; RxJava's autoConnect). */
	WEIR_HUB_IDLE_WAIT,
	/* Items are taken, and dropped unless they are kept for a replay. */
	WEIR_HUB_IDLE_GO_ON,
	/* When the last subscriber leaves, the hub ends well, and so do the
	 * flows into it (RxJava's refCount, without a second connection). */
	WEIR_HUB_IDLE_END,
};

/* 0 or NULL is the default of each. */
struct weir_hub_options {
	/* The most items that slow subscribers have yet to take, besides those
	 * that are kept for a replay; 0: WEIR_FLOW_BATCH. */
	size_t capacity;
	/* The most of these that are of one run into the hub; 0: no limit. */
	size_t per_producer;
	/* No items are taken before as many subscribers are there at once
	 * (Pekko: startAfterNrOfConsumers). */
	size_t connect_after;
	enum weir_hub_idle idle;
	/*
	 * The hub stays when a flow into it ends, well or not, until
	 * weir_hub_end() (Pekko's MergeHub). False: the hub ends as the first
	 * flow into it that ends (Pekko's BroadcastHub).
	 */
	bool stays;
	/*
	 * A subscriber is given the last items first that came before it: at
	 * most `replay` items, for which there is memory from the start, or
	 * with WEIR_HUB_ALL any number. Of these only what is not older than
	 * `within_ns` (0: any age), by the clocks of the executors, when the
	 * subscriber comes; and no more than weigh `max_weight` together (0:
	 * any weight). `weigh` is called once for each item, on the thread of
	 * its flow.
	 */
	size_t replay;
	uint64_t within_ns;
	uint64_t max_weight;
	uint64_t (*weigh)(void *item, void *context);
	/*
	 * If not NULL, each item goes to one subscriber (Pekko's PartitionHub):
	 * of `n`, in the order in which they came, to that in *chosen. Returns
	 * 0; 1, and the item is dropped; or a negative errno, with which the
	 * flow into the hub fails (-ERANGE if *chosen is not less than `n`). It
	 * is called on the thread of that flow; once more if a subscriber has
	 * come or left meanwhile, and not if there is none. Not with a replay.
	 */
	int (*choose)(void *item, size_t n, size_t *chosen, void *context);
	void *context;	      /* of both functions */
	uint64_t reserved[4]; /* zero */
};

/*
 * A new hub in *hub. `items` (NULL: plain values) and `allocator` (NULL: the
 * default one) are borrowed until it is freed; `options` are copied and may be
 * NULL. -EINVAL: null, bad options: a capacity, `per_producer` or `replay`
 * above WEIR_CAPACITY_MAX, a weight without `weigh`, `choose` with a replay, or
 * something in `reserved`. -ENOTSUP: a replay of items that can be dropped but
 * not shared. -ENOMEM. Then *hub is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_hub_new(
	struct weir_hub **hub, const struct weir_items *items,
	const struct weir_hub_options *options,
	const struct weir_allocator *allocator);

/*
 * Drops the items that are kept, and frees the hub. 0, also for NULL. -EBUSY: a
 * run uses the hub; then nothing has changed. A flow of the hub that does not
 * run may still be freed, but not started.
 */
WEIR_API WEIR_MUST_CHECK int weir_hub_free(struct weir_hub *hub);

/*
 * Ends the hub with `error` (borrowed) or well (NULL). The flows into it end in
 * the same way. Subscribers get the items that are in the hub, and then the
 * end; so do those that come later, of which each gets the replay. -EALREADY:
 * the hub has ended. -EINVAL: null. Any thread.
 */
WEIR_API int weir_hub_end(struct weir_hub *hub, struct weir_error *error);

/* The number of subscribers now, a snapshot. 0 for NULL. Any thread. */
WEIR_API size_t weir_hub_subscribers(struct weir_hub *hub);

/*
 * Puts the items into `hub` (borrowed); any number of runs may do so at a time.
 * Unless the hub stays, it ends as this flow ends: with -ECANCELED when the run
 * is cancelled. If others end the hub, the flow ends in the same way. Items
 * that nobody has subscribed to are dropped, unless they are kept. The flow's
 * items must be those of the hub, and none of the flows above may put items
 * into the same hub: else starting fails with -EINVAL. A run fails with -ENOMEM
 * if the hub keeps all items and has no memory for more. Fails: -EINVAL, no
 * hub.
 *
 * Emits: nothing. Completes: when upstream does. Cancels: when the hub has
 * ended, or downstream cancels. Holds: nothing; the hub its capacity.
 */
WEIR_API struct weir_flow *weir_flow_into_hub(struct weir_flow *flow,
					      struct weir_hub *hub);

/*
 * Emits the items that come into `hub` (borrowed) from when the run first asks
 * for items, behind the replay. Each run is a subscriber. The slowest
 * subscriber sets the pace; a weir_flow_buffer() upon this flow that drops lets
 * one fall behind alone. Items are shared by items->share; if items can be
 * dropped but not shared, a second subscriber fails with -ENOTSUP. Fails:
 * -EINVAL, no hub.
 *
 * Emits: each item. Completes: when the hub has ended and all its items are
 * emitted, also without demand. Cancels: it has no upstream; the subscriber
 * leaves. Holds: nothing; the hub its capacity.
 */
WEIR_API struct weir_flow *weir_flow_from_hub(struct weir_hub *hub);

/* --- A flow that is shared ------------------------------------------------ */

/* A flow that runs once for all of its subscribers, while there are any (RxJava
 * and Reactor: share(), which is publish().refCount(); with options also
 * refCount(n) and refCount(n, timeout)). */
struct weir_flow_share;

/* 0 or NULL is the default of each. */
struct weir_flow_share_options {
	/* Of the hub that each run has: how far slow subscribers may fall
	 * behind, and what late ones are given. Each run is started when
	 * `connect_after` (0: 1) subscribers are there at once. `idle` and
	 * `stays` are 0. */
	struct weir_hub_options hub;
	/* Of each run; its `done` gets no result. */
	struct weir_flow_run_options run;
	/* How long a run stays that has no subscriber left, by the clock of its
	 * executor; it takes no items meanwhile. */
	uint64_t linger_ns;
	uint64_t reserved[4]; /* zero */
};

/*
 * A new share in *share, of the items that `flow` emits. It takes `flow` over,
 * also on failure.
 *
 * 1. The first subscriber (weir_flow_from_share()), or with `connect_after` the
 *    one with which there are as many, starts a run of `flow` on `executor`.
 *    Those that come meanwhile take part in this run.
 * 2. When the last of them has left, the run is cancelled, `linger_ns` later if
 *    nobody comes meanwhile. It may be over a little later than theirs:
 *    options->run.done tells.
 * 3. Who comes when the run is cancelled, or has ended, counts for another one,
 *    with fresh state, which does not wait until the one before is over.
 *
 * `executor` lives as long as subscribers come. `options` are copied and may be
 * NULL. -EINVAL: null, bad options, or the error of weir_flow_check().
 * -ENOTSUP: as weir_hub_new(), or `linger_ns` on an executor without timers.
 * -ENOMEM. Then *share is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_share_new(
	struct weir_flow_share **share, struct weir_flow *flow,
	struct weir_executor *executor,
	const struct weir_flow_share_options *options);

/* Gives the caller's reference back; flows that were made of the share keep it.
 * NULL is fine. Any thread. */
WEIR_API void weir_flow_share_free(struct weir_flow_share *share);

/*
 * Emits what the run of the share emits, from when this flow is first asked for
 * items, behind a replay. Each run of it is a subscriber, as of
 * weir_flow_from_hub(), on any executor. If the run of the share cannot start,
 * all who have subscribed to it get the error: -EALREADY, if its flow can run
 * only once; -ESHUTDOWN, if its executor has ended. Fails: -EINVAL, no share.
 * As a nested flow would, the flow of the share counts together with the
 * operators downstream, for WEIR_FLOW_DEPTH_MAX.
 *
 * Emits: each item. Completes: when the run of the share has, and all its items
 * are emitted. Cancels: it has no upstream; the subscriber leaves. Holds:
 * nothing; the hub of the run its capacity.
 */
WEIR_API struct weir_flow *weir_flow_from_share(struct weir_flow_share *share);

#ifdef __cplusplus
}
#endif

#endif
