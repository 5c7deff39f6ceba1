/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What a flow does about an error from upstream. Functions get the error
 * borrowed, for the call. The flows that they make are nested ones, see
 * flow_async.h, whose items must be the ones of the operator.
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
 * One last item in place of an error: `recover` sets *item and returns 1; or 0,
 * and the error stands; or a negative errno, which takes its place. -EINVAL:
 * null.
 *
 * Emits: each item, and at last the one for the error. Completes: when upstream
 * does, or that item is out. Cancels: when downstream does. Holds: that item.
 */
WEIR_API struct weir_flow *weir_flow_recover(
	struct weir_flow *flow,
	int (*recover)(struct weir_error *error, void **item, void *context),
	void *context);

/*
 * Another error in place of an error: `map` returns one reference of it, or
 * NULL, and it stays as it is. -EINVAL: null.
 *
 * Emits: each item. Completes: when upstream does. Cancels: when downstream
 * does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_map_error(
	struct weir_flow *flow,
	struct weir_error *(*map)(struct weir_error *error, void *context),
	void *context);

/*
 * The stream ends well in place of an error for which `applies` is true; NULL:
 * of any error.
 *
 * Emits: each item. Completes: when upstream does, or fails so. Cancels: when
 * downstream does. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_complete_on_error(
	struct weir_flow *flow,
	bool (*applies)(struct weir_error *error, void *context),
	void *context);

/*
 * Goes on with a flow that `make` makes, in place of an error; an error of that
 * flow stands. `make` may return NULL: then the error stands. -EINVAL: null.
 *
 * Emits: each item of upstream, then of the made flow. Completes: when that
 * which it takes from does. Cancels: the same, when downstream does. Holds:
 * one nested flow.
 */
WEIR_API struct weir_flow *weir_flow_resume_with(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_error *error, void *context),
	void *context);

/*
 * The same, and again when that flow fails, `n` times in all; the error after
 * those stands. 0: not once; negative: without end. A flow that cannot be made
 * (a failed one, no memory, other items) is no flow that fails: the stream
 * does, with that error. -EINVAL: null.
 *
 * Emits: each item of upstream, then of the made flows. Completes: when that
 * which it takes from does. Cancels: the same, when downstream does. Holds: one
 * nested flow.
 */
WEIR_API struct weir_flow *weir_flow_retry(
	struct weir_flow *flow, int64_t n,
	struct weir_flow *(*make)(struct weir_error *error, void *context),
	void *context);

/* 0 or NULL is the default of each. */
struct weir_flow_restart_options {
	/* How long to wait before a restart; NULL: not at all. Copied. */
	const struct weir_backoff *backoff;
	/* How many restarts within what time; the error (or the end) after
	 * those stands. NULL: no limit. Copied. */
	const struct weir_limit *limit;
	/* Whether an error is followed by a restart; NULL: each is. */
	bool (*restart_on)(struct weir_error *error, void *context);
	/* It begins again also when it has ended well. */
	bool when_ended;
	/* Of the random part of the back-off, together with the clock. */
	uint64_t seed;
	uint64_t reserved[3]; /* zero */
};

/*
 * A source: the items of a flow that `make` makes when the run begins, and
 * again whenever that has failed; see supervision.h for the laws of back-off.
 * A flow that cannot be made (NULL, a failed one, no memory) counts as one
 * that fails. A run that is drained makes no other. `options` is copied and
 * may be NULL; the executor needs timers for a back-off. -EINVAL: null, bad
 * options.
 *
 * Emits: each item of the made flows. Completes: when that which it takes from
 * does and is not to begin again. Cancels: the same, when downstream does, and
 * the wait for a restart. Holds: one nested flow.
 */
WEIR_API struct weir_flow *weir_flow_restart(
	struct weir_flow *(*make)(void *context), void *context,
	const struct weir_flow_restart_options *options);

/*
 * The same around operators, or a sink: `make` composes upon `upstream`, which
 * stands for what comes from above, and returns the flow. It takes `upstream`
 * over; one that it does not use it frees. The items of that flow are those that
 * come in, unless weir_flow_items() says otherwise behind this.
 *
 * When the made flow fails by itself, it is made again, with fresh state, and
 * goes on with the next item. It gets one item at a time, so what is lost, and
 * dropped, is the item that it failed on, and what it held back. With
 * `when_ended` so it is when it ends before upstream has; else that is the end.
 * Upstream's end and error go through the made flow, and whatever that ends with
 * then is final. If upstream ends during a back-off, so does this, at once. A
 * run that is drained goes on making others, for what is under way.
 *
 * -EINVAL: null, bad options.
 *
 * Emits: each item of the made flows. Completes: when the made flow does and is
 * not to begin again, or upstream during a back-off. Cancels: the made flow and
 * upstream, and the wait for a restart, when downstream does or none is to
 * begin again. Holds: one nested flow.
 */
WEIR_API struct weir_flow *weir_flow_restart_around(
	struct weir_flow *flow,
	struct weir_flow *(*make)(struct weir_flow *upstream, void *context),
	void *context, const struct weir_flow_restart_options *options);

#ifdef __cplusplus
}
#endif

#endif
