/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows: pipelines composed of sources, operators and sinks by plain calls.
 *
 *	struct weir_flow_fold_functions adding = {.fold = add};
 *
 *	flow = weir_flow_range(1, 100);
 *	flow = weir_flow_map(flow, square, NULL);
 *	flow = weir_flow_fold(flow, &adding, NULL);
 *	rc = weir_flow_run(flow, executor, &sum);
 *	weir_flow_free(flow);
 *
 * A flow is a blueprint. It runs as often as you like, each time with fresh
 * state, and several runs may be under way at once; a source that can run only
 * once says so in its contract. A run borrows the flow: free the flow when no
 * run is left.
 *
 * An operator takes over the flow that it is given, also when the operator
 * fails, and never returns NULL. An error while composing (no memory, a null
 * argument, a flow that another operator has taken over: -EBUSY, and that flow
 * stays the other's) makes a failed flow. Every operator on a failed flow
 * returns that failed flow, and the run reports its error.
 *
 * A chain of flows, from a source to the end, has at most WEIR_FLOW_DEPTH_MAX
 * operators: else -E2BIG. Flows that functions of yours make inside an operator
 * count together with the operators around them. Any number of flows may stand
 * side by side: give them all to one weir_flow_merge() or weir_flow_concat(),
 * instead of one after the other to the result of the last.
 *
 * A sink is an operator too: it takes all items and emits one result, or none.
 * A run takes the items that the last operator emits; the result of the run is
 * the last of them.
 *
 * Neighbouring operators are fused: they run as one actor, and nothing is
 * queued, scheduled or allocated between them. Each operator works on up to
 * WEIR_FLOW_BATCH items at once, as long as a batch takes no longer than
 * publish_ns (executor.h); where turns may block it works on one item at a
 * time. weir_flow_async() cuts a flow into two actors with a link between them.
 *
 * Functions of yours are called by the thread that runs the actor, never two
 * functions of one actor at once. They must not block unless their contract
 * says so. If a function returns a negative errno, it has failed: see
 * weir_flow_supervise(). All headers flow_*.h belong here: sources, operators,
 * fan-in and fan-out, errors, rate and time, sinks.
 *
 * Compose a flow on one thread at a time.
 */
#ifndef WEIR_FLOW_H
#define WEIR_FLOW_H

#include <stdbool.h>

#include <weir/completion.h>
#include <weir/error.h>
#include <weir/executor.h>
#include <weir/items.h>
#include <weir/supervision.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_flow;
struct weir_flow_run;

/* The most items that an operator works on at once. */
#define WEIR_FLOW_BATCH 256u

/*
 * The most operators on any way from a source to the end of a flow. Calls are
 * nested that deep while a flow is made, run and freed. This takes up to 96 KiB
 * of the stack (measured: x86-64, optimized), and no more.
 */
#define WEIR_FLOW_DEPTH_MAX 256u

/* --- Blueprints ----------------------------------------------------------- */

/*
 * Frees the flow and all flows that it took over. NULL is fine. Do not free a
 * flow while it runs, nor one that was taken over.
 */
WEIR_API void weir_flow_free(struct weir_flow *flow);

/*
 * 0, or the error with which composing the flow has failed: weir_flow_start()
 * and weir_flow_run() return the same. *origin and *message (either pointer may
 * be NULL) then tell where and why in words, and stay valid as long as the
 * flow. -EINVAL also, beside NULL, for a flow that cannot run:
 *
 * - An outlet of a fan (flow_fan.h) has not been composed into the flow;
 *   *origin names the fan.
 * - The items of an operator do not fit: see weir_flow_items(); *origin names
 *   the operator, *message is valid until the next such call of this thread.
 */
WEIR_API int weir_flow_check(const struct weir_flow *flow, const char **origin,
			     const char **message);

/*
 * Names the last operator: errors that begin there have `name` as their origin.
 * `name` is borrowed for ever. Returns `flow`.
 */
WEIR_API struct weir_flow *weir_flow_name(struct weir_flow *flow,
					  const char *name);

/*
 * Says what the items are that the last operator emits: how they are dropped
 * and shared. `items` is borrowed as long as the flow exists; NULL: plain
 * values. Returns `flow`.
 *
 * 1. A source emits plain values unless this call says otherwise.
 * 2. Where a function makes items of those that come in, only you know what it
 *    makes. If these are plain values, so are the new ones unless this call
 *    says otherwise. If they are not, this call or weir_flow_same_items() must
 *    say it: until then the flow cannot run, and weir_flow_check() names the
 *    operator. This holds for weir_flow_map(), _map_n(), _index(),
 *    _filter_map(), _map_concat(), _stateful_map(), _map_parallel(),
 *    _map_parallel_partitioned(), _fold(), _fold_n(), _scan(), _zip(),
 *    _zip_all(), _combine_latest(), _with_latest_from(), _join(),
 *    _group_join(), _operator(), _dematerialize(), and _conflate(), _batch(),
 *    _batch_weighted() with a `seed`.
 * 3. Where a function makes flows, these emit what the contract of the operator
 *    says.
 * 4. What any other operator emits is known, mostly the items that it takes. It
 *    cannot be said to emit others. Where it has several inputs, these must
 *    have the same items; weir_flow_empty(), _fail() and _never() go with all.
 */
WEIR_API struct weir_flow *weir_flow_items(struct weir_flow *flow,
					   const struct weir_items *items);

/*
 * Says that the last operator emits items like those that it takes, as a
 * weir_flow_map() does that changes them in place; with several inputs, like
 * those of the first. Says nothing of a source. Returns `flow`.
 */
WEIR_API struct weir_flow *weir_flow_same_items(struct weir_flow *flow);

/*
 * Decides what happens when a function of yours fails on an item.
 * WEIR_DIRECTIVE_STOP: the stream fails with the error; this is also the
 * default, and what WEIR_DIRECTIVE_ESCALATE does. WEIR_DIRECTIVE_RESUME: the
 * item is dropped and the operator goes on. WEIR_DIRECTIVE_RESTART: the same,
 * and the operator's state is made anew. The decision holds for all operators
 * of `flow` for which none was made before. `decide` gets the error (borrowed);
 * the actor concerned calls it. Returns `flow`. Without a function it returns a
 * failed flow: -EINVAL, and `flow` is freed; or -EBUSY, if another operator has
 * taken over `flow`, which then stays as it is.
 */
WEIR_API struct weir_flow *weir_flow_supervise(
	struct weir_flow *flow,
	enum weir_directive (*decide)(struct weir_error *error, void *context),
	void *context);

/*
 * Delays the errors of the parts of the last operator, as RxJava's
 * mergeDelayError and its like: a part that fails has ended, the others go on,
 * and the stream fails where it would complete, behind all items, with the
 * first error that has come.
 *
 * 1. Parts are the flows that the operator takes from, and the flows that its
 *    `make` makes. The operator's contract says what the end of one does.
 * 2. A failure of `make` on an item (see weir_flow_supervise()) ends upstream;
 *    the flows that were made go on.
 * 3. What else fails in the operator itself ends the stream at once, with that
 *    error: another function, no memory, a made flow that cannot run there.
 * 4. A cancel from downstream is not delayed, nor is weir_flow_run_stop(). The
 *    errors that have come are lost then.
 *
 * `failed`, which may be NULL, is told of each of these errors when it comes;
 * of one that comes in two parts, as that of a fan, twice. It gets the error
 * borrowed; the actor concerned calls it.
 *
 * Can be said of weir_flow_merge(), _merge_preferred(), _merge_prioritized(),
 * _merge_sorted(), _interleave(), _zip(), _zip_all(), _concat(), _prepend(),
 * _all(), _combine_latest(), _with_latest_from(), _flat_map(),
 * _flat_map_ordered(), _switch_map(), _group_by(), _split_when(),
 * _split_after(), _window(), _window_by(); call it right behind them. Returns
 * `flow`. For any other operator it returns a failed flow: -EINVAL, and `flow`
 * is freed; or -EBUSY, if another operator has taken over `flow`, which then
 * stays as it is.
 */
WEIR_API struct weir_flow *weir_flow_delay_errors(
	struct weir_flow *flow,
	void (*failed)(struct weir_error *error, void *context), void *context);

/*
 * Everything upstream of this call runs as an actor of its own, joined by a
 * link that holds up to `capacity` items, a power of two. `executor` is where
 * that actor runs; NULL: on the executor of the actor downstream. In a flow
 * inside of another one (as of weir_flow_flat_map()) the call does nothing if
 * `executor` is NULL. Fails: -EINVAL, a bad capacity.
 *
 * Emits: each item. Completes: when upstream does and all are taken. Cancels:
 * when downstream does. Holds: `capacity` items.
 */
WEIR_API struct weir_flow *weir_flow_async(struct weir_flow *flow,
					   size_t capacity,
					   struct weir_executor *executor);

/* --- Runs ----------------------------------------------------------------- */

/* 0 or NULL is the default of each. */
struct weir_flow_run_options {
	/*
	 * The run is over: all its actors have ended and their memory is given
	 * back. If the run has ended well, `error` is NULL and `result` is the
	 * last item that was emitted, which is yours now, or NULL. If it has
	 * failed, `error` (borrowed) tells why.
	 *
	 * Called once, on the executor that the run was started on, wherever
	 * its actors were: inside a run of a loop or simulator, on a thread of
	 * a pool. (An executor of your own that refuses the task: on any
	 * thread.) Must not block. It may give the handle back, free the flow
	 * if no other run has it, and start the next run. Executors can be
	 * freed when it has returned.
	 */
	void (*done)(struct weir_error *error, void *result, void *context);
	void *context;
	/*
	 * If not 0, no operators are fused: each is an actor of its own, and
	 * the link between two of them holds that many items (a power of two).
	 */
	size_t unfused;
	uint64_t reserved[4]; /* zero */
};

/*
 * Starts a run of the flow on `executor`, and returns at once. *run, if `run`
 * is not NULL, gets a handle, which the caller frees. `options` is copied and
 * may be NULL.
 *
 * -EINVAL: null, bad options, or something in `reserved`. The error of
 * weir_flow_check(), which has it in words. -EALREADY: a source can run only
 * once, and has run. -ENOTSUP: the flow needs timers or watches, and the
 * executor has none. -ESHUTDOWN, -ENOMEM, or what the executor's submit
 * reports. Then *run is NULL, nothing runs, and `done` is not called. Any
 * thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_start(
	struct weir_flow *flow, struct weir_executor *executor,
	const struct weir_flow_run_options *options,
	struct weir_flow_run **run);

/*
 * Runs the flow to its end. 0, or the error of weir_flow_start(), or the code
 * of the error that the flow has failed with. *result, if `result` is not NULL,
 * is the last item that was emitted, which is the caller's, or NULL.
 *
 * On the thread that owns a loop or a simulator, the call runs that loop or
 * simulator meanwhile. -EDEADLK, with nothing started: the calling thread is
 * one of the executor's. -EDEADLK, with the run cancelled: the flow runs on a
 * simulator, which has nothing left to do, and the flow has not ended. Any
 * thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_run(struct weir_flow *flow,
					   struct weir_executor *executor,
					   void **result);

/*
 * A completion that is complete when the run is over. It completes just before
 * `done`, on the same thread: all actors of the run have been released or are
 * leaving, so its executors may be freed (freeing them waits for a `done` that
 * has not returned). NULL if `run` is NULL. Any thread; the completion lives as
 * long as the handle.
 */
WEIR_API struct weir_completion *weir_flow_run_over(struct weir_flow_run *run);

/*
 * Waits until the run is over: 0. -ETIMEDOUT, -EDEADLK as
 * weir_completion_wait(). -EINVAL: null. The first call that returns 0 hands
 * out the result: *result (`result` may be NULL) is the result, which is the
 * caller's, and *error (`error` may be NULL) is one reference of the error or
 * NULL. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_run_wait(struct weir_flow_run *run,
						uint64_t timeout_ns,
						void **result,
						struct weir_error **error);

/*
 * The sources end now, and the items that are under way flow through. So do the
 * items that a queue, a publisher or an out-port has given already; the queue
 * is closed, the publisher or out-port is cancelled. NULL is fine; nothing
 * happens if the run is over. Any thread that holds the handle.
 */
WEIR_API void weir_flow_run_end(struct weir_flow_run *run);

/*
 * Everything ends now: items under way are dropped, and the run is over with
 * `error` (borrowed; NULL stands for -ECANCELED). The first cancel counts. NULL
 * is fine. Any thread that holds the handle.
 */
WEIR_API void weir_flow_run_stop(struct weir_flow_run *run,
				 struct weir_error *error);

/*
 * Gives the handle back. A run that is not over goes on, and its result is
 * dropped. NULL is fine. No other call on the handle may be under way.
 */
WEIR_API void weir_flow_run_free(struct weir_flow_run *run);

#ifdef __cplusplus
}
#endif

#endif
