/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Several flows made one, and one made several. What takes several flows takes
 * over all of them, also when it fails. Inputs that have boundaries above are
 * actors of their own, with room for WEIR_FLOW_BATCH items between, and so run
 * ahead; others are fused, and run when they are asked.
 *
 * Where items pass through, all inputs must have the same weir_flow_items(); a
 * run of a flow where they differ fails with -EINVAL.
 */
#ifndef WEIR_FLOW_FAN_H
#define WEIR_FLOW_FAN_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Several flows made one ----------------------------------------------- */

/*
 * The items of all flows, in the order of each, as they come: from one after
 * the other in turn, as many as there are. Fails as the first one does;
 * -EINVAL: no flows.
 *
 * Emits: an item of any. Completes: when all have. Cancels: all of them, when
 * downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_merge(struct weir_flow *const *flows,
					   size_t n);

/*
 * The same, which is over with the first flow that is.
 *
 * Emits: an item of any. Completes: when one has. Cancels: the others when one
 * has completed; all when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_merge_eager(struct weir_flow *const *flows,
						 size_t n);

/*
 * A merge that asks earlier flows first each time: the second when the first
 * has nothing, and so on.
 *
 * Emits: an item of the first that has one. Completes: when all have. Cancels:
 * all of them, when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_merge_preferred(
	struct weir_flow *const *flows, size_t n);

/*
 * The first items of all flows together, then the second ones: `combine` makes
 * *result of the `n` items, which are its own then, and returns 0; or it
 * returns a negative errno, and they are dropped. What comes out are plain
 * values, or what weir_flow_items() says. The error of a flow comes behind its
 * items; -EINVAL: no flows.
 *
 * Emits: what `combine` has made. Completes: when one flow has and its items
 * are combined. Cancels: the others then; all when downstream does. Holds: up
 * to WEIR_FLOW_BATCH items of each flow, no more than were asked for; dropped
 * at the end.
 */
WEIR_API struct weir_flow *weir_flow_zip(struct weir_flow *const *flows,
					 size_t n,
					 int (*combine)(void *const *items,
							size_t n, void **result,
							void *context),
					 void *context);

/*
 * One flow after the other. Later ones are opened with the first: those that
 * are actors of their own run ahead into their links, those that are fused are
 * not asked before their time. -EINVAL: no flows.
 *
 * Emits: the items of the first flow, then those of the next. Completes: when
 * the last has. Cancels: all that are left, when downstream does or one fails.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_concat(struct weir_flow *const *flows,
					    size_t n);

/*
 * What `first` puts out comes before the flow; as weir_flow_concat() of the
 * two.
 *
 * Emits: the items of `first`, then those of the flow. Completes: when the flow
 * has. Cancels: both, when downstream does or one fails. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_prepend(struct weir_flow *flow,
					     struct weir_flow *first);

/*
 * `other` instead of a flow that completes with no items; opened as those of
 * weir_flow_concat().
 *
 * Emits: the items of the flow, or of `other`. Completes: when that has whose
 * items they are. Cancels: `other` with the first item of the flow; both when
 * downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_or_else(struct weir_flow *flow,
					     struct weir_flow *other);

/* --- One flow made several ------------------------------------------------ */

/*
 * These take over `flow` and make `n` outlets of it: flows that are composed
 * further, and freed, each by itself. A run must have all of them: they come
 * together again by fan-in, or each ends in a sink, and weir_flow_all() makes
 * one flow of those. A run in which one is missing fails with -EINVAL before
 * anything starts; weir_flow_check() says of which fan. What is above an outlet
 * is an actor of its own, made once, with a link to each outlet; what is said
 * behind an outlet, by weir_flow_supervise() or weir_flow_items(), does not
 * hold for it. An outlet inside of a nested flow fails with -ENOTSUP.
 *
 * They return 0, or why all outlets are failed flows: -EINVAL: null, no
 * outlets, bad options; -ENOMEM; what weir_flow_check() says of `flow`.
 */

/* 0 or NULL is the default of each. */
struct weir_flow_fan_options {
	/* Items between the flow and each outlet, a power of two; 0:
	 * WEIR_FLOW_BATCH. */
	size_t capacity;
	/* Where the flow runs; NULL: where the run was started. */
	struct weir_executor *executor;
	/*
	 * Of a broadcast: whether an outlet gets an item, 1 or 0, or a negative
	 * errno. An item that none gets is dropped. By the flow's actor.
	 */
	int (*select)(void *item, size_t outlet, void *context);
	void *context;
	bool eager; /* the first outlet that is cancelled ends all */
	/*
	 * Of a balance: nothing is dealt before all outlets have been asked for
	 * something, or are cancelled. Then `capacity` is at least 2.
	 */
	bool wait_for_all;
	/*
	 * Of a balance: outlets with as much room get items in an order that is
	 * drawn from this seed, once for a run; 0: in their own.
	 */
	uint64_t shuffle;
	/*
	 * Of a partition: so many items, up to WEIR_CAPACITY_MAX less
	 * `capacity`, wait in the link to an outlet for which there is no
	 * demand, so that they do not hold up the others. When it is cancelled
	 * they are dropped.
	 */
	size_t queue;
	uint64_t reserved[2]; /* zero */
};

/*
 * Each item to all outlets, or those that are selected: shared by items->share.
 * A run of items that can be dropped and not shared fails with -ENOTSUP. It
 * moves at the slowest: outlets that come together again must be asked together
 * (a weir_flow_concat() of two waits for ever, with more items than links
 * hold).
 *
 * Emits: an item when all outlets have room. Completes: when upstream does.
 * Cancels: when all outlets are cancelled, or one with `eager`. Holds:
 * `capacity` items for each outlet.
 */
WEIR_API int weir_flow_broadcast(struct weir_flow *flow, size_t n,
				 struct weir_flow **outlets,
				 const struct weir_flow_fan_options *options);

/*
 * Each item to one outlet: that which has most room, as its link has that or as
 * was asked by weir_flow_limit_rate(); the first of those that have as much.
 * What was asked for at an outlet that is cancelled is not asked for upstream.
 *
 * Emits: an item when any outlet has room. Completes: when upstream does.
 * Cancels: when all outlets are cancelled, or one with `eager`. Holds:
 * `capacity` items for each outlet.
 */
WEIR_API int weir_flow_balance(struct weir_flow *flow, size_t n,
			       struct weir_flow **outlets,
			       const struct weir_flow_fan_options *options);

/*
 * Each item to the outlet that `choose` says: 0 and *outlet, less than `n`,
 * anything else fails with -ERANGE; 1: none, the item is dropped; or a negative
 * errno. An item for an outlet that is cancelled is dropped; one whose outlet
 * is full holds up those behind it.
 *
 * Emits: an item when the outlet chosen has room. Completes: when upstream
 * does. Cancels: when all outlets are cancelled, or one with `eager`. Holds:
 * `capacity` items for each outlet, and WEIR_FLOW_BATCH.
 */
WEIR_API int weir_flow_partition(struct weir_flow *flow, size_t n,
				 int (*choose)(void *item, size_t *outlet,
					       void *context),
				 void *context, struct weir_flow **outlets,
				 const struct weir_flow_fan_options *options);

/*
 * Several flows that run as one, each to its end: what comes out of them is
 * dropped. Fails as the first one does; where that is the error of a fan, all
 * that are below it hear of it, behind their items. -EINVAL: no flows.
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
