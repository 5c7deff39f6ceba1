/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Fan-in makes one flow of several, fan-out makes several flows of one. An
 * operator with several inputs takes over all of them, also when it fails. An
 * input that has a boundary upstream (such as weir_flow_async()) is an actor of
 * its own, with room for WEIR_FLOW_BATCH items in its link, and so runs ahead.
 * Other inputs are fused with the operator, and run when they are asked. Where
 * an operator fails because an input does, weir_flow_delay_errors() (flow.h)
 * lets the others go on.
 *
 * Where an operator passes items through, all its inputs must have the same
 * weir_flow_items(): else a run fails with -EINVAL, and weir_flow_check() says
 * which input has which.
 */
#ifndef WEIR_FLOW_FAN_H
#define WEIR_FLOW_FAN_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Several flows made one ----------------------------------------------- */

/*
 * Merges the items of all flows as they come; the items of each flow stay in
 * order. The operator takes from one flow after the other in turn, as many
 * items as there are. It fails as soon as one flow fails. -EINVAL: no flows.
 *
 * Emits: an item of any flow. Completes: when all have. Cancels: all of them,
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_merge(struct weir_flow *const *flows,
					   size_t n);

/*
 * As weir_flow_merge(), but completes with the first flow that completes.
 *
 * Emits: an item of any flow. Completes: when one has. Cancels: the others when
 * one has completed; all when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_merge_eager(struct weir_flow *const *flows,
						 size_t n);

/*
 * As weir_flow_merge(), but asks the flows in their order each time: the second
 * if the first has no item, and so on.
 *
 * Emits: an item of the first flow that has one. Completes: when all have.
 * Cancels: all of them, when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_merge_preferred(
	struct weir_flow *const *flows, size_t n);

/*
 * As weir_flow_merge(), but of flows that all have items each gets its share:
 * up to weights[i] items are taken of flow `i`, then it is the next one's turn.
 * (Pekko: mergePrioritized, with turns in place of chance.) A flow that has no
 * item is passed over. `weights` has a number above 0 for each flow, and is
 * borrowed as long as the flow. -EINVAL: null, no flows, a weight of 0.
 *
 * Emits: an item of any flow. Completes: when all have. Cancels: all of them,
 * when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_merge_prioritized(
	struct weir_flow *const *flows, size_t n, const uint32_t *weights);

/*
 * Merges flows whose items are in order: the items are in order, too. (Pekko:
 * mergeSorted.) `compare` returns a number below 0 if `a` comes before `b`,
 * above 0 if behind; of items that are equal that of an earlier flow comes
 * first. The operator waits for each flow that has not ended and has no item,
 * and compares each item it emits with the first items of all flows. An error
 * of a flow comes behind the items of that flow. -EINVAL: no flows, no
 * function.
 *
 * Emits: the least item, when all flows have one or have completed. Completes:
 * when all have. Cancels: all of them, when downstream does or one fails.
 * Holds: up to WEIR_FLOW_BATCH items of each flow, no more than were asked for.
 */
WEIR_API struct weir_flow *weir_flow_merge_sorted(
	struct weir_flow *const *flows, size_t n,
	int (*compare)(void *a, void *b, void *context), void *context);

/*
 * Merges flows whose items together are numbered 0, 1, 2 and so on: as
 * weir_flow_partition() has split a flow up, or a balance behind
 * weir_flow_index(). (Pekko: mergeSequence.) `sequence` returns the number of an
 * item, and is called once for each. The numbers of each flow must rise. An
 * item goes out as soon as it is the first of any flow and its number is next;
 * the operator waits for no other flow then.
 *
 * A number that no flow can have any more, because each has a higher one first
 * or has completed, fails the stream with -ENODATA; a number below the next
 * one, because it came twice or out of order, with -EEXIST. Both are said when
 * they are found, behind the items before. An error of a flow comes behind the
 * items that were taken of that flow, as of weir_flow_merge_sorted(); Pekko's
 * overtakes them. -EINVAL: no flows, no function.
 *
 * Emits: the item that is next, when any flow has it. Completes: when all have.
 * Cancels: all of them, when downstream does or one fails. Holds: up to
 * WEIR_FLOW_BATCH items of each flow, no more than were asked for.
 */
WEIR_API struct weir_flow *weir_flow_merge_sequence(
	struct weir_flow *const *flows, size_t n,
	uint64_t (*sequence)(void *item, void *context), void *context);

/*
 * Passes `segment` items of the first flow, then as many of the next, and so
 * on in circles. (Pekko: interleave.) The operator waits for the flow whose
 * turn it is; flows that have completed have no turn. It fails as soon as one
 * flow fails. -EINVAL: no flows; `segment` is 0 or above WEIR_CAPACITY_MAX.
 *
 * Emits: an item of the flow whose turn it is. Completes: when all have.
 * Cancels: all of them, when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_interleave(struct weir_flow *const *flows,
						size_t n, size_t segment);

/*
 * Combines the first items of all flows, then the second items, and so on.
 * `combine` makes *result of the `n` items, which are its own then, and returns
 * 0; or it returns a negative errno, and the items are dropped.
 * weir_flow_items() says what results are. An error of a flow comes behind the
 * items of that flow. -EINVAL: no flows.
 *
 * Emits: what `combine` has made. Completes: when one flow has, and its items
 * are combined. Cancels: the other flows when it completes; all when downstream
 * does. Holds: up to WEIR_FLOW_BATCH items of each flow, no more than were
 * asked for; those left at the end are dropped.
 */
WEIR_API struct weir_flow *weir_flow_zip(struct weir_flow *const *flows,
					 size_t n,
					 int (*combine)(void *const *items,
							size_t n, void **result,
							void *context),
					 void *context);

/*
 * As weir_flow_zip(), but up to the end of the longest flow: in place of the
 * items of flow `i`, when it has completed, `combine` gets padding[i], which is
 * not its own. (Pekko: zipAll.) `padding` is borrowed as long as the flow.
 * -EINVAL: null, no flows.
 *
 * Emits: what `combine` has made. Completes: when all flows have, and their
 * items are combined. Cancels: all, when downstream does or one fails. Holds:
 * up to WEIR_FLOW_BATCH items of each flow, no more than were asked for.
 */
WEIR_API struct weir_flow *weir_flow_zip_all(
	struct weir_flow *const *flows, size_t n, void *const *padding,
	int (*combine)(void *const *items, size_t n, void **result,
		       void *context),
	void *context);

/*
 * Passes the items of one flow after the other. All flows are opened at once:
 * later flows that are actors of their own run ahead into their links; later
 * flows that are fused are not asked before their turn. A flow that is to begin
 * in its turn is made so by weir_flow_lazy(). -EINVAL: no flows.
 *
 * Emits: the items of the first flow, then those of the next. Completes: when
 * the last has. Cancels: all that are left, when downstream does or one fails.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_concat(struct weir_flow *const *flows,
					    size_t n);

/*
 * Passes the items of `first`, then those of `flow`: weir_flow_concat() of the
 * two.
 *
 * Emits: the items of `first`, then those of the flow. Completes: when the flow
 * has. Cancels: both, when downstream does or one fails. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_prepend(struct weir_flow *flow,
					     struct weir_flow *first);

/*
 * Goes on with `other` if `flow` completes without an item. Both are opened at
 * once, as by weir_flow_concat().
 *
 * Emits: the items of the flow, or of `other`. Completes: when the flow that it
 * takes from has. Cancels: `other` with the first item of the flow; both when
 * downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_or_else(struct weir_flow *flow,
					     struct weir_flow *other);

/*
 * Drops the items of `flow`, and goes on with `next` when it has completed, as
 * Reactor's then. Both are opened at once, as by weir_flow_concat(); their
 * items need not be of one kind.
 *
 * Emits: the items of `next`. Completes: when `next` has. Cancels: both, when
 * downstream does or `flow` fails. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_then(struct weir_flow *flow,
					  struct weir_flow *next);

/* --- One flow made several ------------------------------------------------ */

/*
 * These calls take over `flow` and make `n` outlets of it: flows that are
 * composed further, and freed, each by itself.
 *
 * 1. A run must have all outlets of a fan: they come together again by fan-in,
 *    or each ends in a sink, and weir_flow_all() makes one flow of the sinks.
 *    If an outlet is missing, the run fails with -EINVAL before anything
 *    starts; weir_flow_check() names the fan.
 * 2. Everything upstream of the outlets is one actor of its own, with a link to
 *    each outlet. weir_flow_supervise() and weir_flow_items() behind an outlet
 *    do not apply to it.
 * 3. An outlet inside of a nested flow fails with -ENOTSUP.
 *
 * They return 0, or the error of the failed flows that all outlets are then:
 * -EINVAL: null, no outlets, bad options, or something in `reserved`. -ENOMEM.
 * The error of weir_flow_check() for `flow`.
 */

/* 0 or NULL is the default of each. */
struct weir_flow_fan_options {
	/* Items between the flow and each outlet, a power of two; 0:
	 * WEIR_FLOW_BATCH. */
	size_t capacity;
	/* Where the flow runs; NULL: where the run was started. */
	struct weir_executor *executor;
	/*
	 * Of a broadcast: whether an outlet gets an item: 1, 0 or a negative
	 * errno. An item that no outlet gets is dropped. Called by the flow's
	 * actor.
	 */
	int (*select)(void *item, size_t outlet, void *context);
	void *context;
	bool eager; /* the first outlet that is cancelled ends all outlets */
	/*
	 * Of a balance: no item is given out before each outlet has been asked
	 * for an item, or is cancelled. A `capacity` of 1 counts as 2.
	 */
	bool wait_for_all;
	/*
	 * Of a balance: the order in which outlets with equal room get items is
	 * drawn from this seed, once for a run. 0: the order of the outlets.
	 */
	uint64_t shuffle;
	/*
	 * Of a partition: as many items wait in the link to an outlet that is
	 * not asked, so that they do not hold up the other outlets. At most
	 * WEIR_CAPACITY_MAX less `capacity`. If the outlet is cancelled, they
	 * are dropped.
	 */
	size_t queue;
	uint64_t reserved[4]; /* zero */
};

/*
 * Sends each item to all outlets, or to those that `select` selects; the item
 * is shared by items->share. If items can be dropped but not shared, a run
 * fails with -ENOTSUP. The slowest outlet sets the pace: outlets that come
 * together again must be asked together (a weir_flow_concat() of two outlets
 * waits for ever if there are more items than the links hold).
 *
 * Emits: an item when all outlets have room. Completes: when upstream does.
 * Cancels: when all outlets are cancelled, or one with `eager`. Holds:
 * `capacity` items for each outlet.
 */
WEIR_API int weir_flow_broadcast(struct weir_flow *flow, size_t n,
				 struct weir_flow **outlets,
				 const struct weir_flow_fan_options *options);

/*
 * Sends each item to one outlet: the one with the most room (of its link, or of
 * the demand set by weir_flow_limit_rate()); of equals the first. The demand of
 * an outlet that is cancelled is not passed upstream.
 *
 * Emits: an item when any outlet has room. Completes: when upstream does.
 * Cancels: when all outlets are cancelled, or one with `eager`. Holds:
 * `capacity` items for each outlet.
 */
WEIR_API int weir_flow_balance(struct weir_flow *flow, size_t n,
			       struct weir_flow **outlets,
			       const struct weir_flow_fan_options *options);

/*
 * Sends each item to the outlet that `choose` chooses. `choose` returns 0 with
 * the outlet in *outlet (-ERANGE if that is not less than `n`); 1, and the item
 * is dropped; or a negative errno. An item for an outlet that is cancelled is
 * dropped. An item whose outlet is full holds up the items behind it.
 *
 * Emits: an item when the chosen outlet has room. Completes: when upstream
 * does. Cancels: when all outlets are cancelled, or one with `eager`. Holds:
 * `capacity` items for each outlet, and WEIR_FLOW_BATCH.
 */
WEIR_API int weir_flow_partition(struct weir_flow *flow, size_t n,
				 int (*choose)(void *item, size_t *outlet,
					       void *context),
				 void *context, struct weir_flow **outlets,
				 const struct weir_flow_fan_options *options);

/*
 * Sends each item also through a flow beside this one, as Pekko's alsoTo.
 * `make` is called once, in this call: it composes upon `upstream`, which it
 * owns, and returns the flow beside, whose own items are dropped. Items are
 * shared, and `capacity` of them may wait for each of the two, as for outlets
 * (0: WEIR_FLOW_BATCH); the slower one sets the pace. If the flow beside ends
 * well, it gets no more items; if it fails, so does the operator. An error of
 * upstream reaches both. All runs where any other operator would in its place.
 * -EINVAL: null, or a bad `capacity`.
 *
 * Emits: an item when both have room. Completes: when upstream and the flow
 * beside have. Cancels: both, when downstream does or the flow beside fails.
 * Holds: `capacity` items for each of the two.
 */
WEIR_API struct weir_flow *weir_flow_also_to(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context, size_t capacity);

/*
 * As weir_flow_also_to(), but the flow beside, the tap, does not slow this flow
 * down: it does not get an item for which it has no room, as in Pekko's
 * wireTap. If the tap fails, it gets no more items, and nobody hears of the
 * error: weir_flow_peek() in the tap does. The end waits for the tap, which may
 * take the items that it has to their end; Pekko's does so behind the end. A
 * tap that may get stuck needs a timeout of its own, which ends it alone, or a
 * run of its own: see weir_hub_options.idle (flow_hub.h), WEIR_HUB_IDLE_GO_ON.
 *
 * Emits: an item when downstream has room. Completes: when upstream and the tap
 * have. Cancels: both, when downstream does. Holds: `capacity` items for each
 * of the two.
 */
WEIR_API struct weir_flow *weir_flow_wire_tap(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context, size_t capacity);

/*
 * Runs several flows as one, each to its end, and drops the items that they
 * emit. It fails as soon as one flow fails; if the error comes through a fan,
 * all flows downstream of that fan get it, behind their items. -EINVAL: no
 * flows.
 *
 * Emits: nothing. Completes: when all have. Cancels: all of them, when
 * downstream does, and the others when one has failed. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_all(struct weir_flow *const *flows,
					 size_t n);

#ifdef __cplusplus
}
#endif

#endif
