/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators about how fast items come and go: buffers, groups, rates, delays
 * and timeouts. Times are nanoseconds on the executor's clock; a run on an
 * executor without timers fails with -ENOTSUP where one is needed.
 */
#ifndef WEIR_FLOW_RATE_H
#define WEIR_FLOW_RATE_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Buffers -------------------------------------------------------------- */

/* What a full buffer does with the next item. */
enum weir_flow_buffer {
	WEIR_FLOW_BACK_PRESSURE, /* none is asked for */
	WEIR_FLOW_BUFFER_HEAD,	 /* the oldest one is dropped */
	WEIR_FLOW_BUFFER_TAIL,	 /* the youngest one is dropped */
	WEIR_FLOW_BUFFER_ALL,	 /* all that it holds are dropped */
	WEIR_FLOW_BUFFER_NEW,	 /* that item is dropped */
	WEIR_FLOW_BUFFER_FAIL,	 /* the stream fails with -EOVERFLOW */
};

/*
 * Up to `n` items that downstream has not asked for yet. But with
 * WEIR_FLOW_BACK_PRESSURE it always asks for more, and what that does when it
 * is full says `strategy`. With WEIR_FLOW_BUFFER_FAIL what it holds is dropped.
 * What it drops as it is full is told by items->drop of what comes in, once for
 * each item, and nowhere else: that is where to count them. -EINVAL: n is 0 or
 * above WEIR_CAPACITY_MAX, no such strategy.
 *
 * Emits: the oldest item, when asked for. Completes: when upstream has and it
 * holds none. Cancels: when it fails, or when downstream does. Holds: `n`
 * items.
 */
WEIR_API struct weir_flow *weir_flow_buffer(struct weir_flow *flow, size_t n,
					    enum weir_flow_buffer strategy);

/* What weir_flow_conflate() is made of. */
struct weir_flow_conflate_functions {
	/* What becomes of the first item that waits, in place: 0 or a negative
	 * errno. NULL: the item itself. */
	int (*seed)(void **item, void *context);
	/* Takes `item` into *all: 0, and the item is the function's; or a
	 * negative errno. */
	int (*add)(void **all, void *item, void *context);
};

/*
 * Items that come while downstream does not ask become one. It always asks for
 * more. `functions` is copied. -EINVAL: null, or no `add`.
 *
 * Emits: what has become of the items since the last, when asked for.
 * Completes: when upstream has and nothing waits. Cancels: when downstream
 * does. Holds: one item.
 */
WEIR_API struct weir_flow *weir_flow_conflate(
	struct weir_flow *flow,
	const struct weir_flow_conflate_functions *functions, void *context);

/* --- Demand --------------------------------------------------------------- */

/*
 * How items are asked for: `max` when downstream first asks, and again as soon
 * as so many were taken that `min` of them or less are to come, up to `max`. So
 * upstream is never more than `max` items ahead of what was taken, and what is
 * pulled next (as by weir_flow_for_each_n()) is cut in batches: of max - min
 * items each, and of what is left where `max` is no multiple of that.
 *
 *	max 1000, min 500	0 to 499, 500 to 999, ...
 *	max 100, min 80		0 to 19, 20 to 39, ...
 *	max 100, min 20		0 to 79, 80 to 99, 100 to 179, ...
 *	max 1, min 0		0, 1, 2, ...
 *
 * One pull never sees items of two batches. A batch takes several pulls where
 * it has more than WEIR_FLOW_BATCH items, or its items do not come together:
 * nobody waits for the rest. An item is taken when downstream pulls behind it.
 *
 * What comes before is an actor of its own with a link between, as before
 * weir_flow_async(). Some flows are told instead how they are asked, if they
 * come right before it; what they say themselves of how many does not hold
 * then: outlets, weir_flow_async(), a connection of a graph with capacity,
 * weir_flow_from_out() (it may be ahead by its port's burst less one besides),
 * and weir_flow_from_publisher(), of which just these numbers are requested.
 *
 * In a flow inside of another one nobody runs ahead, but a publisher; batches
 * are cut. Fails: -EINVAL, `max` is 0 or above WEIR_CAPACITY_MAX, `min` is not
 * less than `max`. A run fails with -EINVAL if `max` and the queue of a
 * partition together are above WEIR_CAPACITY_MAX.
 *
 * Emits: each item, when asked for. Completes: when upstream does and all are
 * taken. Cancels: when downstream does. Holds: `max` items.
 */
WEIR_API struct weir_flow *weir_flow_limit_rate(struct weir_flow *flow,
						size_t max, size_t min);

/* --- Groups --------------------------------------------------------------- */

/*
 * Groups of `n` items, each a struct weir_flow_list (flow_sink.h), which are
 * the receiver's. A group that is not full when upstream fails is dropped.
 * -EINVAL: n is 0 or above WEIR_CAPACITY_MAX.
 *
 * Emits: a group when it has `n` items, and what is left at the end. Completes:
 * when upstream does. Cancels: when downstream does. Holds: `n` items.
 */
WEIR_API struct weir_flow *weir_flow_grouped(struct weir_flow *flow, size_t n);

/*
 * The same, and a group goes out no later than `within_ns` after the last one
 * went, or was due and empty; there are no empty groups. A group that is full
 * begins the time anew. -EINVAL: `within_ns` is 0, or as above.
 *
 * Emits: a group when it has `n` items, or its time has come. Completes: when
 * upstream does. Cancels: when downstream does. Holds: `n` items.
 */
WEIR_API struct weir_flow *weir_flow_grouped_within(struct weir_flow *flow,
						    size_t n,
						    uint64_t within_ns);

/*
 * The same, and a group goes out as soon as its items weigh `weight` or more
 * together: what `weigh` says of each, once. `within_ns` may be 0: no time.
 * -EINVAL: null, `weight` is 0, or `n` as above.
 *
 * Emits: a group when it is heavy enough, has `n` items, or its time has come.
 * Completes: when upstream does. Cancels: when downstream does. Holds: `n`
 * items.
 */
WEIR_API struct weir_flow *weir_flow_grouped_weighted(
	struct weir_flow *flow, uint64_t weight,
	uint64_t (*weigh)(void *item, void *context), void *context, size_t n,
	uint64_t within_ns);

/*
 * The same, and no group weighs more than `weight`: an item that would make it
 * so begins the next one. One that alone weighs more goes alone.
 *
 * Emits: a group when it has the weight, `n` items, or its time has come, or
 * the next item is too heavy for it. Completes: when upstream does. Cancels:
 * when downstream does. Holds: `n` items, and the next one.
 */
WEIR_API struct weir_flow *weir_flow_grouped_up_to(
	struct weir_flow *flow, uint64_t weight,
	uint64_t (*weigh)(void *item, void *context), void *context, size_t n,
	uint64_t within_ns);

/* --- Rates and times ------------------------------------------------------ */

enum weir_flow_throttle_mode {
	WEIR_FLOW_THROTTLE_SHAPE, /* items wait */
	/* -EBUSY ends the stream when an item would have to wait */
	WEIR_FLOW_THROTTLE_ENFORCE,
};

/* A burst of none: nothing is saved up, and nothing is there at first. */
#define WEIR_FLOW_NO_BURST UINT64_MAX

/* 0 or NULL is the default of each but the first two. */
struct weir_flow_rate {
	uint64_t n; /* so much (items, if there is no `cost`) */
	uint64_t per_ns;
	/* So much at once after a pause, or WEIR_FLOW_NO_BURST; `n`. */
	uint64_t burst;
	enum weir_flow_throttle_mode how;
	/* What the item costs, asked once; 1. */
	uint64_t (*cost)(void *item, void *context);
	void *context;
};

/*
 * At most `rate->n` in `rate->per_ns`: a bucket of tokens that fills at that
 * rate up to `burst`, full at first. An item that costs more than `burst` waits
 * until the bucket is full, and owes the rest. With WEIR_FLOW_NO_BURST each
 * item, the first one too, waits as long as its cost takes, from when it is
 * taken. `rate` is copied. -EINVAL: null, n or per_ns is 0, or no burst where
 * that is enforced.
 *
 * Emits: an item when the bucket has its cost. Completes: when upstream does.
 * Cancels: when it fails, or when downstream does. Holds: one item.
 */
WEIR_API struct weir_flow *weir_flow_throttle(
	struct weir_flow *flow, const struct weir_flow_rate *rate);

/*
 * Each item `delay_ns` later, of which up to `n` wait. An error from upstream
 * is not delayed: what waits is dropped. -EINVAL: n is 0 or above
 * WEIR_CAPACITY_MAX.
 *
 * Emits: an item when its time has come. Completes: when upstream has and none
 * waits. Cancels: when downstream does. Holds: `n` items.
 */
WEIR_API struct weir_flow *weir_flow_delay(struct weir_flow *flow,
					   uint64_t delay_ns, size_t n);

/*
 * Fails with -ETIMEDOUT when so much time passes without an item: from one to
 * the next, from the start to the first, and from the last to the end.
 *
 * Emits: each item. Completes: when upstream does. Cancels: when it fails, or
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_idle_timeout(struct weir_flow *flow,
						  uint64_t timeout_ns);

/*
 * Fails with -ETIMEDOUT when upstream has not completed so long after the
 * start.
 *
 * Emits: each item. Completes: when upstream does. Cancels: when it fails, or
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_completion_timeout(struct weir_flow *flow,
							uint64_t timeout_ns);

/*
 * Fails with -ETIMEDOUT when the first item has not come so long after the
 * start.
 *
 * Emits: each item. Completes: when upstream does. Cancels: when it fails, or
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_initial_timeout(struct weir_flow *flow,
						     uint64_t timeout_ns);

#ifdef __cplusplus
}
#endif

#endif
