/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that change how fast items come and go: buffers, groups, rates,
 * delays and timeouts. Times are nanoseconds on the executor's clock. A flow
 * that needs a timer fails with -ENOTSUP on an executor without timers.
 */
#ifndef WEIR_FLOW_RATE_H
#define WEIR_FLOW_RATE_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Buffers -------------------------------------------------------------- */

/*
 * Keeps up to `n` items that downstream has not asked for yet. With
 * WEIR_OVERFLOW_BACK_PRESSURE a full buffer asks upstream for no more items.
 * With every other strategy the buffer always asks for more, and `strategy`
 * says what a full one does with the next item. When a buffer fails, by
 * WEIR_OVERFLOW_FAIL, with -EOVERFLOW, the items in it are dropped. Items that
 * a full buffer drops are passed to items->drop of its input only, once each:
 * count them there. -EINVAL: n is 0 or above WEIR_CAPACITY_MAX, no such
 * strategy.
 *
 * Emits: the oldest item, when asked for. Completes: when upstream has, and the
 * buffer is empty. Cancels: when the buffer fails, or when downstream does.
 * Holds: `n` items.
 */
WEIR_API struct weir_flow *weir_flow_buffer(struct weir_flow *flow, size_t n,
					    enum weir_overflow strategy);

/* The functions of weir_flow_conflate() and weir_flow_batch(). */
struct weir_flow_conflate_functions {
	/* Makes an accumulator of the first item that waits, in place: 0 or a
	 * negative errno. NULL: the accumulator is the item itself, and has its
	 * kind; else weir_flow_items() says what it is. */
	int (*seed)(void **item, void *context);
	/* Adds `item` to the accumulator *all: 0, and the item is the
	 * function's; or a negative errno. */
	int (*add)(void **all, void *item, void *context);
};

/*
 * Makes one item of all items that come while downstream asks for none. The
 * operator always asks upstream for more. `functions` is copied. -EINVAL: null,
 * or no `add`.
 *
 * Emits: one item, made of those that have come since the last one, when asked
 * for. Completes: when upstream has, and no item waits. Cancels: when
 * downstream does. Holds: one item.
 */
WEIR_API struct weir_flow *weir_flow_conflate(
	struct weir_flow *flow,
	const struct weir_flow_conflate_functions *functions, void *context);

/*
 * As weir_flow_conflate(), but of at most `max` items: then the operator asks
 * upstream for no more, as Pekko's batch. -EINVAL: null, no `add`, or `max` is
 * 0.
 *
 * Emits: one item, made of those that have come since the last one, when asked
 * for. Completes: when upstream has, and no item waits. Cancels: when
 * downstream does. Holds: one item.
 */
WEIR_API struct weir_flow *weir_flow_batch(
	struct weir_flow *flow, uint64_t max,
	const struct weir_flow_conflate_functions *functions, void *context);

/*
 * As weir_flow_batch(), but the items that one is made of weigh at most `max`,
 * as Pekko's batchWeighted. `weigh` is called once for each item. An item with
 * which they would weigh more waits, and begins the next one; an item that
 * alone weighs more than `max` is not joined with others. -EINVAL: null, no
 * `add`, or `max` is 0.
 *
 * Emits: one item, made of those that have come since the last one, when asked
 * for. Completes: when upstream has, and no item waits. Cancels: when
 * downstream does. Holds: one item, and the next one.
 */
WEIR_API struct weir_flow *weir_flow_batch_weighted(
	struct weir_flow *flow, uint64_t max,
	uint64_t (*weigh)(void *item, void *context),
	const struct weir_flow_conflate_functions *functions, void *context);

/* --- Demand --------------------------------------------------------------- */

/*
 * Sets how upstream is asked for items: for `max` items when downstream first
 * asks; then, as soon as so many were taken that `min` or fewer are still to
 * come, for as many as make `max` again. So upstream is never more than `max`
 * items ahead of the items taken. Downstream (as in weir_flow_for_each_n())
 * gets the items in batches of max - min, and one batch of the rest where `max`
 * is no multiple of that:
 *
 *	max 1000, min 500	0 to 499, 500 to 999, ...
 *	max 100, min 80		0 to 19, 20 to 39, ...
 *	max 100, min 20		0 to 79, 80 to 99, 100 to 179, ...
 *	max 1, min 0		0, 1, 2, ...
 *
 * One pull never gets items of two batches. A batch takes several pulls if it
 * has more than WEIR_FLOW_BATCH items, or if its items do not come together: a
 * pull does not wait for the rest. An item counts as taken when downstream
 * pulls behind it.
 *
 * Upstream runs as an actor of its own, with a link between, as before
 * weir_flow_async(). Some flows have a link or a subscription already. If one
 * of these comes right before this call, `max` and `min` replace its own
 * capacity or prefetch: outlets, weir_flow_async(), a connection of a graph
 * with capacity, weir_flow_from_out() (which may also be ahead by its port's
 * burst less one), and weir_flow_from_publisher() (which requests exactly these
 * numbers).
 *
 * In a flow inside of another one no upstream but a publisher runs ahead;
 * batches are cut all the same. Fails: -EINVAL, `max` is 0 or above
 * WEIR_CAPACITY_MAX, or `min` is not less than `max`. A run fails with -EINVAL
 * if `max` and the queue of a partition together are above WEIR_CAPACITY_MAX.
 *
 * Emits: each item, when asked for. Completes: when upstream has, and all items
 * are taken. Cancels: when downstream does. Holds: `max` items.
 */
WEIR_API struct weir_flow *weir_flow_limit_rate(struct weir_flow *flow,
						size_t max, size_t min);

/* --- Groups --------------------------------------------------------------- */

/*
 * Makes groups of `n` items. Each group is a struct weir_flow_list
 * (flow_sink.h), which is the receiver's. If upstream fails, a group that is
 * not full is dropped. -EINVAL: n is 0 or above WEIR_CAPACITY_MAX.
 *
 * Emits: a group when it has `n` items, and at the end the group of the items
 * that are left. Completes: when upstream does. Cancels: when downstream does.
 * Holds: `n` items.
 */
WEIR_API struct weir_flow *weir_flow_grouped(struct weir_flow *flow, size_t n);

/*
 * As weir_flow_grouped(), and a group is also emitted when its time has come:
 * `within_ns` after the last group was emitted, or was due but empty. An empty
 * group is not emitted. A group that is emitted because it is full begins the
 * time anew. -EINVAL: `within_ns` is 0, or `n` as above.
 *
 * Emits: a group when it has `n` items, or its time has come. Completes: when
 * upstream does. Cancels: when downstream does. Holds: `n` items.
 */
WEIR_API struct weir_flow *weir_flow_grouped_within(struct weir_flow *flow,
						    size_t n,
						    uint64_t within_ns);

/*
 * As weir_flow_grouped_within(), and a group is also emitted as soon as the
 * weights of its items add up to `weight` or more. `weigh` is called once for
 * each item. `within_ns` may be 0: no time limit. -EINVAL: null, `weight` is 0,
 * or `n` as above.
 *
 * Emits: a group when it has the weight or `n` items, or when its time has
 * come. Completes: when upstream does. Cancels: when downstream does. Holds:
 * `n` items.
 */
WEIR_API struct weir_flow *weir_flow_grouped_weighted(
	struct weir_flow *flow, uint64_t weight,
	uint64_t (*weigh)(void *item, void *context), void *context, size_t n,
	uint64_t within_ns);

/*
 * As weir_flow_grouped_weighted(), but no group weighs more than `weight`: an
 * item with which it would begins the next group. An item that alone weighs
 * more is a group of its own.
 *
 * Emits: a group when it has the weight or `n` items, when its time has come,
 * or when the next item would make it too heavy. Completes: when upstream does.
 * Cancels: when downstream does. Holds: `n` items, and the next one.
 */
WEIR_API struct weir_flow *weir_flow_grouped_up_to(
	struct weir_flow *flow, uint64_t weight,
	uint64_t (*weigh)(void *item, void *context), void *context, size_t n,
	uint64_t within_ns);

/*
 * Makes groups of `n` items that begin `step` items apart, as Pekko's sliding.
 * If `step` is less than `n`, an item comes in several groups, and is shared by
 * items->share; if items can be dropped but not shared, a run fails with
 * -ENOTSUP. If `step` is more than `n`, the items between two groups are
 * dropped. The last group may have fewer items, one of which is in no other
 * group. If upstream fails, a group that is not full is dropped. -EINVAL: `n`
 * or `step` is 0 or above WEIR_CAPACITY_MAX.
 *
 * Emits: a group when it has `n` items, and at the end the group of the items
 * that are left. Completes: when upstream does. Cancels: when downstream does.
 * Holds: `n` items.
 */
WEIR_API struct weir_flow *weir_flow_sliding(struct weir_flow *flow, size_t n,
					     size_t step);

/* --- Rates and times ------------------------------------------------------ */

enum weir_flow_throttle_mode {
	WEIR_FLOW_THROTTLE_SHAPE, /* items wait */
	/* if an item would wait, the stream fails with -EBUSY */
	WEIR_FLOW_THROTTLE_ENFORCE,
};

/* No burst: unused rate is not saved up, and the bucket is empty at first. */
#define WEIR_FLOW_NO_BURST UINT64_MAX

/* `n` and `per_ns` are needed; 0 or NULL is the default of each other field. */
struct weir_flow_rate {
	uint64_t n; /* so much (items, if there is no `cost`) */
	uint64_t per_ns;
	/* How much passes at once after a pause, or WEIR_FLOW_NO_BURST; default
	 * `n`. */
	uint64_t burst;
	enum weir_flow_throttle_mode how;
	/* The cost of the item, asked once, or a negative errno; default 1. */
	int64_t (*cost)(void *item, void *context);
	void *context;
};

/*
 * Passes at most `rate->n` in `rate->per_ns`, by a bucket of tokens: it fills
 * at that rate up to `burst`, and is full at first. An item that costs more
 * than `burst` waits until the bucket is full, and the rest of its cost is
 * owed. With WEIR_FLOW_NO_BURST each item, also the first, waits for as long as
 * its cost takes to fill, counted from when the item is taken. `rate` is
 * copied. -EINVAL: null, n or per_ns is 0, or WEIR_FLOW_NO_BURST with
 * WEIR_FLOW_THROTTLE_ENFORCE.
 *
 * Emits: an item when the bucket has its cost. Completes: when upstream does.
 * Cancels: when the stream fails here, or when downstream does. Holds: one
 * item.
 */
WEIR_API struct weir_flow *weir_flow_throttle(
	struct weir_flow *flow, const struct weir_flow_rate *rate);

/*
 * Delays each item by `delay_ns`; up to `n` items wait at a time. An error from
 * upstream is not delayed: the items that wait are dropped. -EINVAL: n is 0 or
 * above WEIR_CAPACITY_MAX.
 *
 * Emits: an item when its time has come. Completes: when upstream has, and no
 * item waits. Cancels: when downstream does. Holds: `n` items.
 */
WEIR_API struct weir_flow *weir_flow_delay(struct weir_flow *flow,
					   uint64_t delay_ns, size_t n);

/* `n` is needed; 0 or NULL is the default of each other field. */
struct weir_flow_delay_options {
	uint64_t delay_ns; /* of each item; 0, if there is `delay` */
	/* The time of the item, asked once; or a negative errno: that is the
	 * failure of the item, see weir_flow_supervise(). What waits stays,
	 * whatever the decision but WEIR_DIRECTIVE_STOP. */
	int64_t (*delay)(void *item, void *context);
	void *context;
	size_t n;		     /* items that wait at a time */
	enum weir_overflow overflow; /* what happens when so many wait */
	/* With back-pressure: when so many wait, and another one comes, the
	 * first goes before its time. (Pekko: emitEarly.) */
	bool emit_early;
	uint64_t reserved[4]; /* zero */
};

/*
 * As weir_flow_delay(), with a time for each item, or with another overflow
 * than back-pressure. The time begins when the item is taken. No item overtakes
 * another: one whose time is shorter waits for those before it. (Pekko: delay,
 * delayWith.)
 *
 * With another overflow than WEIR_OVERFLOW_BACK_PRESSURE upstream is an actor
 * of its own, which is always asked for more, as with buffers; items that are
 * due, and that downstream has not asked for, count as waiting, but for the
 * first. WEIR_OVERFLOW_FAIL drops those that wait. `options` is copied.
 * -EINVAL: null, n is 0 or above WEIR_CAPACITY_MAX, two delays, no such
 * overflow, emit_early without back-pressure, or something in `reserved`.
 *
 * Emits: an item when its time has come. Completes: when upstream has, and no
 * item waits. Cancels: when it fails, or when downstream does. Holds: `n`
 * items, and, if it may drop some, one that downstream has not asked for.
 */
WEIR_API struct weir_flow *weir_flow_delay_with(
	struct weir_flow *flow, const struct weir_flow_delay_options *options);

/*
 * Fails with -ETIMEDOUT when `timeout_ns` passes without an item: between two
 * items, from the start to the first item, and from the last item to the end.
 *
 * Emits: each item. Completes: when upstream does. Cancels: when it fails, or
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_idle_timeout(struct weir_flow *flow,
						  uint64_t timeout_ns);

/*
 * Fails with -ETIMEDOUT when upstream has not completed `timeout_ns` after the
 * start.
 *
 * Emits: each item. Completes: when upstream does. Cancels: when it fails, or
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_completion_timeout(struct weir_flow *flow,
							uint64_t timeout_ns);

/*
 * Fails with -ETIMEDOUT when the first item has not come `timeout_ns` after the
 * start.
 *
 * Emits: each item. Completes: when upstream does. Cancels: when it fails, or
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_initial_timeout(struct weir_flow *flow,
						     uint64_t timeout_ns);

/*
 * Fails with -ETIMEDOUT when downstream asks for no item for `timeout_ns`:
 * after the start, or after it was given as many as it had asked for. Room in
 * what is right downstream, a link or a buffer, is asked for. (Pekko:
 * backpressureTimeout.)
 *
 * Emits: each item. Completes: when upstream does. Cancels: when it fails, or
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_backpressure_timeout(
	struct weir_flow *flow, uint64_t timeout_ns);

/* --- Some items, by when they come ---------------------------------------- */

/*
 * The operators of this part always ask upstream for more, and drop the items
 * that they do not emit. If an item is emitted that downstream has not asked
 * for yet, it waits, until the next one takes its place and it is dropped. As
 * with buffers, upstream is an actor of its own.
 */

/*
 * Emits an item when no other one has come for `quiet_ns`. (RxJava: debounce.)
 * An error from upstream is not delayed: the item that waits is dropped.
 * -EINVAL: `quiet_ns` is 0.
 *
 * Emits: an item when `quiet_ns` have passed since it came, and when upstream
 * completes. Completes: when upstream does. Cancels: when downstream does.
 * Holds: one item, and one that downstream has not asked for.
 */
WEIR_API struct weir_flow *weir_flow_debounce(struct weir_flow *flow,
					      uint64_t quiet_ns);

/*
 * Emits the newest item in steps of `every_ns` from the start, if an item has
 * come since the step before. The item that waits for its step when upstream
 * completes is emitted with `emit_last`, else dropped; it is also dropped if
 * upstream fails. (RxJava: sample.) -EINVAL: `every_ns` is 0.
 *
 * Emits: the newest item, every `every_ns`. Completes: when upstream does.
 * Cancels: when downstream does. Holds: one item, and one that downstream has
 * not asked for.
 */
WEIR_API struct weir_flow *weir_flow_sample(struct weir_flow *flow,
					    uint64_t every_ns, bool emit_last);

/*
 * Passes an item, and then none for `within_ns`. (RxJava: throttleFirst.)
 * -EINVAL: `within_ns` is 0.
 *
 * Emits: an item when none has been emitted for `within_ns`. Completes: when
 * upstream does. Cancels: when downstream does. Holds: one item that downstream
 * has not asked for.
 */
WEIR_API struct weir_flow *weir_flow_throttle_first(struct weir_flow *flow,
						    uint64_t within_ns);

/*
 * Passes an item, and then the newest of those that come within `within_ns`
 * when these have passed, and so on. The item that waits for the end of its
 * window when upstream completes is emitted with `emit_last`, else dropped; it
 * is also dropped if upstream fails. (RxJava: throttleLatest.) -EINVAL:
 * `within_ns` is 0.
 *
 * Emits: an item when none has been emitted for `within_ns`, else the newest
 * when these have passed. Completes: when upstream does. Cancels: when
 * downstream does. Holds: one item, and one that downstream has not asked for.
 */
WEIR_API struct weir_flow *weir_flow_throttle_latest(struct weir_flow *flow,
						     uint64_t within_ns,
						     bool emit_last);

/* --- Until and from a time ------------------------------------------------ */

/*
 * Takes the items that come within `within_ns` from the start, and completes
 * then, also if nobody asks. (Pekko: takeWithin.)
 *
 * Emits: each item until then. Completes: when upstream does, or `within_ns`
 * after the start. Cancels: `within_ns` after the start, or when downstream
 * does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_take_within(struct weir_flow *flow,
						 uint64_t within_ns);

/*
 * Drops the items that are taken within `within_ns` from the start. Items are
 * taken as downstream asks. (Pekko: dropWithin.)
 *
 * Emits: each item after that. Completes: when upstream does. Cancels: when
 * downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_drop_within(struct weir_flow *flow,
						 uint64_t within_ns);

/*
 * Asks for no item before `delay_ns` have passed since the start. An end or
 * error without items before it is not delayed. (Pekko: initialDelay.) Upstream
 * begins with the run all the same; behind a weir_flow_lazy() (flow_source.h)
 * it begins after the delay. (RxJava: delaySubscription.)
 *
 * Emits: each item, from then on. Completes: when upstream does. Cancels: when
 * downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_initial_delay(struct weir_flow *flow,
						   uint64_t delay_ns);

/* --- While none come ------------------------------------------------------ */

/*
 * Emits an item of yours when no other one was emitted for `idle_ns`, so that
 * who waits downstream knows that the stream lives. make() makes *item, of the
 * same items as the flow's, and returns 0, or a negative errno. An item that is
 * due while downstream asks for none is made when it asks. (Pekko: keepAlive.)
 * -EINVAL: null, or `idle_ns` is 0.
 *
 * Emits: each item, and what make() has made. Completes: when upstream does.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_keep_alive(
	struct weir_flow *flow, uint64_t idle_ns,
	int (*make)(void **item, void *context), void *context);

/*
 * Makes items of the last one while downstream asks and no newer one is there.
 * make() makes the i-th *item of `last`, counted from 0, of the same items as
 * the flow's: 1; 0: there are no more of this one; or a negative errno. `last`
 * stays the operator's: it is shared by items->share; if items can be dropped
 * but not shared, a run fails with -ENOTSUP. (Pekko: extrapolate, without
 * `initial`.) What is downstream should ask in its own time: a flow that is
 * always asked makes items as fast as it can. -EINVAL: null.
 *
 * Emits: each item, and what make() has made of it. Completes: when upstream
 * does. Cancels: when downstream does. Holds: the last item, shared.
 */
WEIR_API struct weir_flow *weir_flow_extrapolate(
	struct weir_flow *flow,
	int (*make)(void *last, uint64_t i, void **item, void *context),
	void *context);

#ifdef __cplusplus
}
#endif

#endif
