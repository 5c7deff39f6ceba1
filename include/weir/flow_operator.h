/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators and sources of your own, of which each run has its own state. You
 * write functions that the library calls when something has happened; they act
 * by the calls below.
 *
 *	 upstream    weir_operator_pull()     on_pull()    downstream
 *		   <----------------------- <------------
 *		   -----------------------> ------------>
 *			  on_push()      weir_operator_push()
 *
 * 1. Downstream wants an item: on_pull() is called once, and one push is right
 *    from then on, in whatever function comes. Behind that push it is called
 *    again, as soon as one more is wanted.
 * 2. One pull is answered by one on_push(), or by on_end(); it comes when a
 * push
 *    is right. While downstream wants nothing, nothing comes from upstream:
 *    weir_flow_buffer() and weir_flow_async() run ahead.
 * 3. The functions of one run's operator are called one at a time, by the
 * thread
 *    that runs its actor, and must not block. None is called from within a call
 *    of yours: a push in on_push() does not come back by on_pull() before
 *    on_push() has returned, so the stack is as deep for any number of items.
 * 4. open() is first; close() is last, once for each open() that went well:
 * when
 *    it has ended or failed, was cancelled, or before it begins anew.
 * 5. Timers and wakes are told when downstream looks: where an operator below
 *    does not, as it waits for a time itself, they are told after that.
 *
 * Calls are for the functions of `struct weir_operator_ops` only, but for those
 * that say "any thread".
 */
#ifndef WEIR_FLOW_OPERATOR_H
#define WEIR_FLOW_OPERATOR_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An operator of a run. */
struct weir_operator;

/*
 * What it does; all may be NULL or 0. A function returns 0 or a negative errno:
 * then the stream fails behind what was put out before, with an error that has
 * the operator's name, unless it was ended before.
 */
struct weir_operator_ops {
	/* The origin of errors that begin here, unless weir_flow_name() says
	 * otherwise; borrowed for ever. NULL: "operator". */
	const char *name;
	/* Bytes of weir_operator_state(), which are zero before open(). */
	size_t state_size;
	/*
	 * A run is being made, by the thread that starts it, or the operator
	 * begins anew (WEIR_DIRECTIVE_RESTART). With an error close() is not
	 * called, and the run cannot be made, or fails.
	 */
	int (*open)(struct weir_operator *op);
	/* The last call: drop what is kept. It can neither push nor pull. */
	void (*close)(struct weir_operator *op);
	/* Downstream wants an item. NULL: an operator pulls. */
	int (*on_pull)(struct weir_operator *op);
	/*
	 * The item that was pulled; it is the operator's with 0. A negative
	 * errno: the item is as it was, not pushed, kept or dropped; it is
	 * dropped then, and weir_flow_supervise() decides. With
	 * WEIR_DIRECTIVE_RESUME it is as if that item had not come, and the
	 * next one is waited for. NULL: it is pushed. Not for sources.
	 */
	int (*on_push)(struct weir_operator *op, void *item);
	/*
	 * No more will come: upstream has ended well (NULL), or with `error`
	 * (borrowed). Or, of a source: the run is drained. The operator goes on
	 * until weir_operator_end(). NULL: that, with `error`.
	 */
	int (*on_end)(struct weir_operator *op, struct weir_error *error);
	/* Nothing more is wanted, and it has not ended; close() is next. */
	void (*on_cancel)(struct weir_operator *op);
	/* The time of weir_operator_timer_at() has come. */
	int (*on_timer)(struct weir_operator *op);
	/* Once or more since then weir_operator_wake() was called. */
	int (*on_wake)(struct weir_operator *op);
};

/* --- Flows ---------------------------------------------------------------- */

/*
 * An operator of your own. `ops` is copied; `context` is for
 * weir_operator_context(), the same in all runs. What it puts out is what it
 * takes, unless weir_flow_items() says otherwise. Fails: -EINVAL, no `ops`, a
 * state that is too large.
 *
 * Emits: what `ops` pushes. Completes: when `ops` ends it; without an on_end()
 * when upstream does. Cancels: when `ops` ends it, or when downstream cancels.
 * Holds: what `ops` keeps, and one item.
 */
WEIR_API struct weir_flow *weir_flow_operator(
	struct weir_flow *flow, const struct weir_operator_ops *ops,
	void *context);

/*
 * A source of your own: as above, without an upstream. Fails: -EINVAL, also
 * with an on_push(), and without any of on_pull(), on_timer() and on_wake().
 *
 * Emits: what `ops` pushes. Completes: when `ops` ends it; without an on_end()
 * by a drain. Cancels: nothing is above it. Holds: what `ops` keeps, and one
 * item.
 */
WEIR_API struct weir_flow *weir_flow_operator_source(
	const struct weir_operator_ops *ops, void *context);

/* --- Items ---------------------------------------------------------------- */

/*
 * Asks upstream for one item. 0. -EALREADY: one was asked for, and has not
 * come. -EPIPE: on_end() was called, or the operator has ended, or it is a
 * source. -EINVAL: null. An error changes nothing.
 */
WEIR_API int weir_operator_pull(struct weir_operator *op);

/*
 * Puts out one item. 0: it is not the caller's any more. -EAGAIN: downstream
 * has not asked for it. -EPIPE: the operator has ended. -EINVAL: null. With an
 * error it is the caller's still.
 */
WEIR_API int weir_operator_push(struct weir_operator *op, void *item);

/* Whether a push is right. */
WEIR_API bool weir_operator_wanted(const struct weir_operator *op);

/* Drops one item that came from upstream; of a source, that it has made. */
WEIR_API void weir_operator_drop(struct weir_operator *op, void *item);

/* --- Ends ----------------------------------------------------------------- */

/*
 * Ends it behind what was pushed, well (NULL) or with `error` (borrowed), and
 * cancels what is above; close() is the next function. 0. -EALREADY: it has
 * ended. -EINVAL: null.
 */
WEIR_API int weir_operator_end(struct weir_operator *op,
			       struct weir_error *error);

/*
 * Ends it with an error of its name, a negative `code` and a `message` that is
 * borrowed for ever. 0. -EALREADY: it has ended. -EINVAL: null, code >= 0.
 */
WEIR_API int weir_operator_fail(struct weir_operator *op, int code,
				const char *message);

/* --- Time, and other threads ---------------------------------------------- */

/* The executor's clock. */
WEIR_API uint64_t weir_operator_now(const struct weir_operator *op);

/*
 * Calls on_timer() once when the clock is at `at_ns`, which may be past, in the
 * place of what was said before; WEIR_FOREVER: not at all. Where the executor
 * has no timers, the stream fails with -ENOTSUP, and without memory with
 * -ENOMEM.
 */
WEIR_API void weir_operator_timer_at(struct weir_operator *op, uint64_t at_ns);

/*
 * Calls on_wake(), which sees what the caller has done before; several calls
 * may become one. Nothing happens when the operator has ended. Any thread that
 * holds it.
 */
WEIR_API void weir_operator_wake(struct weir_operator *op);

/*
 * One more hold: the operator and its state stay in memory, and the run is not
 * over, until each is given back. For another thread, from within a function
 * of the operator's; any thread that holds it.
 */
WEIR_API void weir_operator_hold(struct weir_operator *op);

/*
 * One hold less: the last touch of the operator. Any thread; also within a
 * function of the operator's.
 */
WEIR_API void weir_operator_unhold(struct weir_operator *op);

/* --- What is its own ------------------------------------------------------ */

/*
 * Its state; what another thread touches there is for you to order. A restart
 * makes it zero again. Any thread that holds it.
 */
WEIR_API void *weir_operator_state(struct weir_operator *op);

/* As it was given with `ops`. Any thread that holds it. */
WEIR_API void *weir_operator_context(const struct weir_operator *op);

#ifdef __cplusplus
}
#endif

#endif
