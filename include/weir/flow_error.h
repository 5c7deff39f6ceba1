/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators that handle an error from upstream. Their functions get the error
 * borrowed, for the call. The flows that these functions make are nested flows
 * (flow_async.h), and must emit the same items as the operator.
 *
 * For failures of single items there is weir_flow_supervise().
 */
#ifndef WEIR_FLOW_ERROR_H
#define WEIR_FLOW_ERROR_H

#include <weir/flow.h>
#include <weir/supervision.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * Emits one last item in place of an error. `recover` returns 1, and has set
 * *item; or 0, and the error stands; or a negative errno, which takes the place
 * of the error. -EINVAL: null.
 *
 * Emits: each item, and last the item for the error. Completes: when upstream
 * does, or behind the item for the error. Cancels: when downstream does. Holds:
 * the item for the error.
 */
WEIR_API struct weir_flow *weir_flow_recover(
	struct weir_flow *flow,
	int (*recover)(struct weir_error *error, void **item, void *context),
	void *context);

/*
 * Puts another error in place of an error. `map` returns one reference of the
 * new error; or NULL, and the old error stands. -EINVAL: null.
 *
 * Emits: each item. Completes: when upstream does. Cancels: when downstream
 * does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_map_error(
	struct weir_flow *flow,
	struct weir_error *(*map)(struct weir_error *error, void *context),
	void *context);

/*
 * The stream completes in place of an error for which `applies` returns true.
 * If `applies` is NULL, it does so for every error.
 *
 * Emits: each item. Completes: when upstream does, or fails with such an error.
 * Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_complete_on_error(
	struct weir_flow *flow,
	bool (*applies)(struct weir_error *error, void *context),
	void *context);

/*
 * Goes on with a flow that `make` makes, in place of an error. An error of the
 * made flow stands. If `make` returns NULL, the first error stands. -EINVAL:
 * null.
 *
 * Emits: each item of upstream, then of the made flow. Completes: when the flow
 * that it takes from does. Cancels: the flow that it takes from, when
 * downstream does. Holds: one nested flow.
 */
WEIR_API struct weir_flow *weir_flow_resume_with(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_error *error, void *context),
	void *context);

/*
 * As weir_flow_resume_with(), and makes another flow when the made flow fails,
 * `n` flows in all; the error of the last one stands. `n` 0: makes none. `n`
 * negative: no limit. If a flow cannot be made (`make` returns a failed flow,
 * no memory, other items), there is no retry: the stream fails with the error
 * of making it. -EINVAL: null.
 *
 * Emits: each item of upstream, then of the made flows. Completes: when the
 * flow that it takes from does. Cancels: the flow that it takes from, when
 * downstream does. Holds: one nested flow.
 */
WEIR_API struct weir_flow *weir_flow_retry(
	struct weir_flow *flow, int64_t n,
	struct weir_flow *(*make)(struct weir_error *error, void *context),
	void *context);

/* 0 or NULL is the default of each. */
struct weir_flow_restart_options {
	/* How long to wait before a restart; NULL: not at all. Copied. */
	const struct weir_backoff *backoff;
	/* How many restarts within what time; when that many were made, the
	 * next error (or end) stands. NULL: no limit. Copied. */
	const struct weir_limit *limit;
	/* Whether an error is followed by a restart; NULL: each is. */
	bool (*restart_on)(struct weir_error *error, void *context);
	/* Restart also when the made flow has completed. */
	bool when_ended;
	/* Seed of the random part of the back-off, together with the clock. */
	uint64_t seed;
	uint64_t reserved[4]; /* zero */
};

/*
 * A source: emits the items of a flow that `make` makes when the run begins,
 * and again whenever the made flow has failed; see supervision.h for the laws
 * of back-off. A flow that cannot be made (`make` returns NULL or a failed
 * flow, no memory) counts as a flow that fails; but one that does not fit here
 * (other items, an operator that needs an actor, too many flows upon each
 * other) fails the stream at once. When the run is drained, no other flow is
 * made. `options` is copied and may be NULL; a back-off needs an
 * executor with timers. -EINVAL: null, a bad back-off or limit, or something in
 * `reserved`.
 *
 * Emits: each item of the made flows. Completes: when the made flow does,
 * unless it is to be restarted. Cancels: the made flow, or the wait for a
 * restart, when downstream does. Holds: one nested flow.
 */
WEIR_API struct weir_flow *weir_flow_restart(
	struct weir_flow *(*make)(void *context), void *context,
	const struct weir_flow_restart_options *options);

/*
 * Restarts operators, or a sink. `make` composes them upon `upstream`, a flow
 * that stands for the items from upstream, and returns the result. `make` owns
 * `upstream`, and frees it if it does not use it. The made flow emits the same
 * kind of items as `flow`, unless weir_flow_items() behind this call says
 * otherwise.
 *
 * 1. When the made flow fails by itself, another one is made, with fresh state,
 *    and goes on with the next item. The made flow gets one item at a time; so
 *    the items lost (and dropped) are the one that it failed on, and those that
 *    it held.
 * 2. When the made flow ends before upstream has, another one is made if
 *    `when_ended` is set; else the stream ends.
 * 3. The end and the error of upstream go through the made flow, and the end of
 *    the made flow after that is final.
 * 4. If upstream ends during a back-off, the stream ends at once.
 * 5. A run that is drained still makes flows, for the items under way.
 * 6. A made flow that does not fit fails the stream, as for
 *    weir_flow_restart().
 *
 * -EINVAL: as above.
 *
 * Emits: each item of the made flows. Completes: when the made flow does,
 * unless it is to be restarted; or when upstream does during a back-off.
 * Cancels: the made flow, upstream and the wait for a restart, when downstream
 * does or when the last made flow has ended. Holds: one nested flow.
 */
WEIR_API struct weir_flow *weir_flow_restart_around(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context, const struct weir_flow_restart_options *options);

/* --- Signals as items ----------------------------------------------------- */

enum weir_flow_signal_kind {
	WEIR_FLOW_SIGNAL_NEXT,	   /* `item` comes */
	WEIR_FLOW_SIGNAL_COMPLETE, /* that was all */
	WEIR_FLOW_SIGNAL_FAIL,	   /* `error` ends the stream */
	WEIR_FLOW_SIGNAL_NONE,	   /* nothing: its item was taken out */
};

/* What a stream does, as an item. It owns `item`, and one reference of
 * `error`. */
struct weir_flow_signal {
	enum weir_flow_signal_kind kind;
	void *item;		  /* of WEIR_FLOW_SIGNAL_NEXT */
	struct weir_error *error; /* of WEIR_FLOW_SIGNAL_FAIL, else NULL */
	struct {
		const struct weir_items *items;
		const struct weir_allocator *allocator;
	} WEIR_PRIVATE;
};

/* Drops the item, if there is one, and the error, and frees the signal. NULL is
 * fine. */
WEIR_API void weir_flow_signal_free(struct weir_flow_signal *signal);

/* Takes the item of WEIR_FLOW_SIGNAL_NEXT out, which is the caller's then. */
static inline void *weir_flow_signal_take(struct weir_flow_signal *signal)
{
	signal->kind = WEIR_FLOW_SIGNAL_NONE;
	return signal->item;
}

/* How signals are dropped, for weir_flow_items() in flows of your own. They
 * cannot be shared. Lives for ever. */
WEIR_API const struct weir_items *weir_flow_signal_items(void);

/*
 * Makes items of what the stream does, as RxJava's materialize: each is a
 * struct weir_flow_signal, which is the receiver's. An error of upstream
 * becomes the last one. Each signal is allocated; without memory the stream
 * fails with -ENOMEM.
 *
 * Emits: a signal for each item, and one for the end. Completes: behind the
 * last signal. Cancels: when downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_materialize(struct weir_flow *flow);

/*
 * Does what signals say, as RxJava's dematerialize: emits their items, and ends
 * as the first one says that is about an end; it drops those behind that, and
 * ends with upstream if no signal says so. weir_flow_items() must say what the
 * items are; NULL: plain values. -EINVAL: no signals come to it.
 *
 * Emits: the item of each signal that has one. Completes: when a signal says
 * so, or upstream does. Cancels: when a signal says that it ends, or when
 * downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_dematerialize(struct weir_flow *flow);

#ifdef __cplusplus
}
#endif

#endif
