/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Operators and sources of your own. Each run has its own state of an operator.
 * You write functions that the library calls when something has happened; these
 * functions act by the calls below.
 *
 *	 upstream    weir_operator_pull()     on_pull()    downstream
 *		   <----------------------- <------------
 *		   -----------------------> ------------>
 *			  on_push()      weir_operator_push()
 *
 * 1. When downstream wants an item, on_pull() is called once. From then on one
 *    push is allowed, from any function of the operator. After that push
 *    on_pull() is called again as soon as one more item is wanted.
 * 2. One pull is answered by one on_push(), or by on_end(). on_push() is called
 *    only while a push is allowed: while downstream wants nothing, nothing
 *    comes from upstream; unless the operator runs ahead (`ahead`).
 * 3. In one run, the functions of an operator are called one at a time, by the
 *    thread that runs its actor. They must not block. None is called inside
 *    another: if on_push() pushes, the next on_pull() comes when on_push() has
 *    returned. So the depth of the stack does not depend on the number of
 *    items.
 * 4. open() is called first. close() is called last, once for each open() that
 *    returned 0: when the operator has ended, has failed or was cancelled, or
 *    before a restart.
 * 5. on_timer(), on_ready() and on_wake() are called when downstream pulls. If
 *    an operator downstream does not pull because it waits for a time itself,
 *    they are called after that. Those of an operator that runs ahead do not
 *    wait for downstream.
 * 6. When several are due, each is called once, in this order: on_cancel() of
 *    one outlet of several, on_wake(), on_timer(), on_ready(), on_pull(),
 *    on_push(), on_end(); then again from the first. So on_end() comes behind the items, and a function that makes
 *    another one due may see others called before that.
 * 7. An operator with several inputs is called for each of them: on_push() and
 *    on_end() ask weir_operator_input() which one it is. It pulls each input by
 *    itself, and several at once if it likes. Of several inputs that have an
 *    item the one comes first that follows the one that gave the last item. One
 *    push is allowed at a time, whichever input the item is from.
 * 8. An operator with several outlets is called for each of them: on_pull() and
 *    on_cancel() ask weir_operator_outlet() which one it is. One push to an
 *    outlet is allowed from its on_pull() on, however many outlets want an item
 *    at once; on_push() is called while any of them does. The operator and what
 *    is fused with it upstream are an actor of their own, with a link to each
 *    outlet: an outlet wants items as long as its link has room.
 *
 * The calls below may be made in functions of `struct weir_operator_ops` only,
 * unless their contract says "any thread".
 */
#ifndef WEIR_FLOW_OPERATOR_H
#define WEIR_FLOW_OPERATOR_H

#include <weir/flow_fan.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An operator, in one run. */
struct weir_operator;

/*
 * What an operator does; all fields may be NULL or 0. A function returns 0 or a
 * negative errno. After a negative errno the stream fails, behind the items
 * pushed before, with an error that has the operator's name; unless the
 * operator had ended before.
 */
struct weir_operator_ops {
	/* The origin of errors that begin here, unless weir_flow_name() says
	 * otherwise; borrowed for ever. NULL: "operator", of several inputs
	 * "operator_inputs", with outlets "operator_outlets". */
	const char *name;
	/* Size of weir_operator_state() in bytes; all are zero before
	 * open(). */
	size_t state_size;
	/* If not 0, the `context` that is given with `ops` has that many bytes,
	 * and is copied: weir_operator_context() returns the copy, which lives
	 * as long as the flow and is not changed. 0: it is passed on as it
	 * is. */
	size_t context_size;
	/*
	 * Called when a run is made, by the thread that starts it, and when the
	 * operator restarts (WEIR_DIRECTIVE_RESTART). After an error close() is
	 * not called, and the run does not start, or fails.
	 */
	int (*open)(struct weir_operator *op);
	/* The last call: drop all items that the operator holds. It can neither
	 * push nor pull. */
	void (*close)(struct weir_operator *op);
	/* Downstream wants an item. NULL: the operator pulls one from each of
	 * its inputs that it has not pulled yet. */
	int (*on_pull)(struct weir_operator *op);
	/*
	 * The item that was pulled. 0: the item is the operator's. A negative
	 * errno: the operator has neither pushed, kept nor dropped the item;
	 * the library drops it, and weir_flow_supervise() decides. With
	 * WEIR_DIRECTIVE_RESUME the pull still stands, and the next item
	 * answers it. NULL: the operator pushes the item; of several outlets to
	 * the next one in turn that wants an item, and pulls again as long as
	 * any other does. Not for sources.
	 */
	int (*on_push)(struct weir_operator *op, void *item);
	/*
	 * Upstream has ended, well (NULL) or with `error` (borrowed): no more
	 * items will come. Of a source: the run is drained. The operator goes
	 * on until it calls weir_operator_end(). NULL: the operator ends, with
	 * `error`; of several inputs when one has failed, or all have ended.
	 * A restart makes it be called again for inputs that have ended.
	 */
	int (*on_end)(struct weir_operator *op, struct weir_error *error);
	/*
	 * Downstream has cancelled, and the operator has not ended yet; close()
	 * is called next. Of several outlets: this one is cancelled, and the
	 * operator goes on for the others, unless it ends; close() is called
	 * behind the on_cancel() of the last.
	 */
	void (*on_cancel)(struct weir_operator *op);
	/* The time of weir_operator_timer_at() has come. */
	int (*on_timer)(struct weir_operator *op);
	/* weir_operator_wake() was called, once or several times, since the
	 * last on_wake(). */
	int (*on_wake)(struct weir_operator *op);
	/*
	 * The descriptor of weir_operator_watch() is ready: `events` as poll(2)
	 * has them, with errors and hang-ups.
	 */
	int (*on_ready)(struct weir_operator *op, short events);
	/*
	 * The operator runs ahead: it gets the items that it has pulled also
	 * while downstream wants nothing, to keep the newest of them, or all,
	 * or a sum. It must have an on_push(), which keeps or drops an item
	 * that it may not push (weir_operator_wanted()). The operator and what
	 * is fused with it upstream are an actor of their own.
	 */
	bool ahead;
	/* The items that each input must emit: others that are not dropped
	 * alike are refused (weir_flow_check()). Borrowed as long as the flow
	 * exists. NULL: any. */
	const struct weir_items *takes;
};

/* --- Flows ---------------------------------------------------------------- */

/*
 * An operator of your own. `ops` is copied. `context` is what
 * weir_operator_context() returns, the same in all runs. weir_flow_items() says
 * what the operator emits. Fails: -EINVAL, no `ops`, a state that is too large,
 * `ahead` without an on_push(), or a context_size without a context.
 *
 * Emits: each item that `ops` pushes. Completes: when `ops` ends the operator;
 * without an on_end() also when upstream does. Cancels: when `ops` ends the
 * operator, or when downstream cancels. Holds: the items that `ops` keeps, and
 * one item; with `ahead` up to WEIR_FLOW_BATCH that downstream has asked for.
 */
WEIR_API struct weir_flow *weir_flow_operator(
	struct weir_flow *flow, const struct weir_operator_ops *ops,
	void *context);

/*
 * An operator of your own with `n` inputs: `flows`, in this order, counted from
 * 0. As weir_flow_operator(), for rule 7. Without functions it is a
 * weir_flow_merge(). As of a weir_flow_zip(), inputs need not have the same
 * items; weir_flow_same_items() says that it emits those of input 0. Fails:
 * also -EINVAL, no flows. (Pekko: a GraphStage of a FanInShape.)
 *
 * Emits: each item that `ops` pushes. Completes: when `ops` ends the operator;
 * without an on_end() also when all inputs have. Cancels: all inputs, when
 * `ops` ends the operator, or when downstream cancels; one by
 * weir_operator_cancel_input(). Holds: the items that `ops` keeps, and one
 * item; with `ahead` up to WEIR_FLOW_BATCH that downstream has asked for.
 */
WEIR_API struct weir_flow *weir_flow_operator_inputs(
	struct weir_flow *const *flows, size_t n,
	const struct weir_operator_ops *ops, void *context);

/*
 * A source of your own: as weir_flow_operator(), without an upstream. Fails:
 * -EINVAL, also if it has an on_push(), or none of on_pull(), on_timer(),
 * on_ready() and on_wake().
 *
 * Emits: each item that `ops` pushes. Completes: when `ops` ends the source;
 * without an on_end() also when the run is drained. Cancels: it has no
 * upstream. Holds: the items that `ops` keeps, and one item.
 */
WEIR_API struct weir_flow *weir_flow_operator_source(
	const struct weir_operator_ops *ops, void *context);

/*
 * An operator of your own with `n_flows` inputs, or none, and `n` outlets,
 * which this call stores in `outlets`; rules 7 and 8. (Pekko: a GraphStage of a
 * FanOutShape; several inputs, too: an AmorphousShape.) For the outlets the
 * rules of weir_flow_fan.h hold; `options` NULL: the default of each. Without
 * functions it is a weir_flow_balance(), of which each outlet gets an item in
 * turn. weir_flow_items() or weir_flow_same_items() of an outlet says what that
 * outlet emits. A function that fails ends all outlets: weir_flow_supervise()
 * does not reach it.
 *
 * 0, or the error of the failed flows that all outlets are then: -EINVAL, also
 * no outlets, options for other fans (`select`, `wait_for_all`, `shuffle`,
 * `queue`), without inputs an on_push() or none of the functions that
 * weir_flow_operator_source() needs. -ENOMEM. The error of weir_flow_check()
 * for one of `flows`.
 *
 * Emits: each item that `ops` pushes. Completes: an outlet when `ops` ends it;
 * all when `ops` ends the operator or the last outlet; without an on_end() also
 * when all inputs have. Cancels: all inputs, when the operator ends, when all
 * outlets are cancelled or ended, or one is cancelled with `eager`. Holds: the
 * items that `ops` keeps, and `capacity` items for each outlet.
 */
WEIR_API int weir_flow_operator_outlets(
	struct weir_flow *const *flows, size_t n_flows,
	const struct weir_operator_ops *ops, void *context, size_t n,
	struct weir_flow **outlets,
	const struct weir_flow_fan_options *options);

/*
 * For functions of yours that compose operators: a failed flow in the place of
 * one that was given bad arguments. weir_flow_check() says -EINVAL, `origin`,
 * which is borrowed for ever, and `message`, of which up to 103 bytes are
 * copied. Frees `flow`; if it has failed itself, returns it. Another error: of
 * no flow, or of one that another operator has taken over (-EBUSY), which stays
 * as it is.
 */
WEIR_API struct weir_flow *weir_flow_invalid(struct weir_flow *flow,
					     const char *origin,
					     const char *message);

/* --- Items ---------------------------------------------------------------- */

/* The input that on_push() or on_end() is called for, from 0 on; 0 in other
 * functions. */
WEIR_API size_t weir_operator_input(const struct weir_operator *op);

/*
 * Asks upstream, of several inputs input 0, for one item. 0. -EALREADY: an item
 * was asked for, and has not come yet. -EPIPE: on_end() was called, or the
 * operator has ended, or it is a source. -EINVAL: null. An error changes
 * nothing.
 */
WEIR_API int weir_operator_pull(struct weir_operator *op);

/*
 * As weir_operator_pull(), from an input. -EPIPE also if it was cancelled.
 * -EINVAL: also if there is no such input.
 */
WEIR_API int weir_operator_pull_input(struct weir_operator *op, size_t input);

/* The outlet that on_pull() or on_cancel() is called for, from 0 on; 0 in other
 * functions. */
WEIR_API size_t weir_operator_outlet(const struct weir_operator *op);

/*
 * Emits one item, of several outlets to outlet 0. 0: the item is the stream's.
 * -EAGAIN: downstream has not asked for an item. -EPIPE: the operator has
 * ended. -EINVAL: null. After an error the item is still the caller's.
 */
WEIR_API int weir_operator_push(struct weir_operator *op, void *item);

/*
 * As weir_operator_push(), to an outlet. -EPIPE also if it was cancelled or
 * ended. -EINVAL: also if there is no such outlet.
 */
WEIR_API int weir_operator_push_outlet(struct weir_operator *op, size_t outlet,
				       void *item);

/* Whether a push is allowed now: downstream, or outlet 0, wants an item. */
WEIR_API bool weir_operator_wanted(const struct weir_operator *op);

/* Whether a push to an outlet is allowed now. False also if there is no such
 * outlet, or it was cancelled or ended. (Pekko: isAvailable(), of an outlet.)
 */
WEIR_API bool weir_operator_wanted_outlet(const struct weir_operator *op,
					  size_t outlet);

/*
 * Whether `input` is known to have an item, so that a pull is answered
 * without waiting as soon as an item may come (rule 2). True: an item lies in
 * the link or buffer of the flow above, which is a boundary (weir_flow_async(),
 * weir_flow_buffer(), an outlet, an operator that runs ahead). False: none had
 * come when the operator's actor began to run, or nobody knows: other flows
 * make an item when they are pulled; or there is no such input, or it has
 * ended. (Pekko: isAvailable(), of an item that was not pulled.)
 */
WEIR_API bool weir_operator_available(const struct weir_operator *op,
				      size_t input);

/*
 * Whether `input` has ended, well or not, and its last item has come:
 * on_end() was called for it, or is due. False: no end has been seen. The
 * library sees one when it pulls the flow above, which it does at least once
 * each time that the operator's actor was woken. True also if it was cancelled,
 * of a source, and when the operator itself has ended. (Pekko: isClosed().)
 */
WEIR_API bool weir_operator_ended(const struct weir_operator *op, size_t input);

/* Drops an item that came from upstream (of several inputs, from input 0), or,
 * of a source, an item that it has made (of several outlets, for outlet 0). */
WEIR_API void weir_operator_drop(struct weir_operator *op, void *item);

/* Drops an item that came from `input`, which the operator has. */
WEIR_API void weir_operator_drop_input(struct weir_operator *op, size_t input,
				       void *item);

/* --- Ends ----------------------------------------------------------------- */

/*
 * Wants no more from an input, whose items that have not come are dropped;
 * on_end() is not called for it. The operator goes on, also without any input,
 * until it calls weir_operator_end(). 0. -EALREADY: on_end() was called for it,
 * it was cancelled, or the operator has ended. -EINVAL: null, or no such input.
 */
WEIR_API int weir_operator_cancel_input(struct weir_operator *op, size_t input);

/*
 * Ends the operator behind the items pushed, well (NULL) or with `error`
 * (borrowed), and cancels upstream; close() is called next. 0. -EALREADY: it
 * has ended. -EINVAL: null.
 */
WEIR_API int weir_operator_end(struct weir_operator *op,
			       struct weir_error *error);

/*
 * Ends an outlet behind the items pushed to it, well (NULL) or with `error`
 * (borrowed), and with the last outlet the operator. The items that are in its
 * link still reach it; on_pull() and on_cancel() are not called for it any more.
 * 0. -EALREADY: it was ended or cancelled, or the operator has ended. -EPERM:
 * in open(). -EINVAL: null, or no such outlet. An error changes nothing.
 */
WEIR_API int weir_operator_end_outlet(struct weir_operator *op, size_t outlet,
				      struct weir_error *error);

/*
 * As weir_operator_end(), with an error that has the operator's name as its
 * origin, a negative `code`, and a `message` that is borrowed for ever. 0.
 * -EALREADY: it has ended. -EINVAL: null, code >= 0.
 */
WEIR_API int weir_operator_fail(struct weir_operator *op, int code,
				const char *message);

/* --- Time, descriptors and other threads ---------------------------------- */

/* The executor's clock. */
WEIR_API uint64_t weir_operator_now(const struct weir_operator *op);

/*
 * Calls on_timer() once when the clock is at `at_ns`, which may be in the past;
 * WEIR_FOREVER: not at all. Replaces the time that was set before. If the
 * executor has no timers, the stream fails with -ENOTSUP; if there is no
 * memory, with -ENOMEM.
 */
WEIR_API void weir_operator_timer_at(struct weir_operator *op, uint64_t at_ns);

/*
 * Calls on_ready() once when `fd` is ready for one of `events`: POLLIN, POLLOUT
 * or both. Of level: also if it is ready already, or still. When on_ready() is
 * called nothing is watched any more; it reads or writes until -EAGAIN, and
 * watches again. Replaces what was watched before, of which nothing is heard
 * any more; a negative `fd`: nothing is watched. The descriptor is borrowed,
 * and does not block; it may be closed when it is not watched, also in close().
 * No two at a time may watch one descriptor. If the executor watches none, the
 * stream fails with -ENOTSUP; if this one cannot be watched, with -EPERM (a
 * regular file), -EBADF or another errno of epoll_ctl(2). 0. -EPIPE: the
 * operator has ended. -EINVAL: null, other events, or none. An error changes
 * nothing.
 */
WEIR_API int weir_operator_watch(struct weir_operator *op, int fd,
				 short events);

/*
 * Calls on_wake(), which sees everything that the caller has done before.
 * Several wakes may become one. Nothing happens when the operator has ended.
 * Any thread that holds it (weir_operator_hold()).
 */
WEIR_API void weir_operator_wake(struct weir_operator *op);

/*
 * Takes a hold for another thread: the operator and its state stay in memory,
 * and the run is not over, until all holds are given back. Called in a function
 * of the operator, or by any thread that holds it.
 */
WEIR_API void weir_operator_hold(struct weir_operator *op);

/*
 * Gives a hold back: the thread must not touch the operator after that. Any
 * thread; also in a function of the operator.
 */
WEIR_API void weir_operator_unhold(struct weir_operator *op);

/* --- What is its own ------------------------------------------------------ */

/*
 * The state of the operator. A restart makes it zero again. If another thread
 * touches it, you must synchronize. Any thread that holds it.
 */
WEIR_API void *weir_operator_state(struct weir_operator *op);

/*
 * The `context` that was given with `ops`, or the copy of it. Any thread that
 * holds the operator.
 */
WEIR_API void *weir_operator_context(const struct weir_operator *op);

/*
 * The allocator of the executor, for what the operator keeps. It lives as long
 * as the executor. Any thread that holds the operator.
 */
WEIR_API const struct weir_allocator *weir_operator_allocator(
	const struct weir_operator *op);

#ifdef __cplusplus
}
#endif

#endif
