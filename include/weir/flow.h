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
 * state, several times at once too; a source that can run once only says so. A
 * run borrows it: free it when no run is left.
 *
 * An operator takes over the flow that it is put upon, also when it fails: it
 * never returns NULL. What goes wrong while composing (no memory, a null
 * argument, a flow that was taken over by another: -EBUSY, and it stays that
 * one's) makes a failed flow, and every operator upon that is the same failed
 * flow; the run reports it.
 *
 * Flows upon each other, those that functions of yours make inside counted with
 * those around them, are WEIR_FLOW_DEPTH_MAX at most: -E2BIG. Flows beside each
 * other may be as many as you like: give them to one weir_flow_merge() or
 * weir_flow_concat(), and not one after the other to the last.
 *
 * A sink is an operator too: it takes all items and puts out one result, or
 * none. A run takes what comes out of the end of a flow, and its result is the
 * last item.
 *
 * Neighbouring operators run as one actor, fused: nothing is queued, scheduled
 * or allocated between them, each works on up to WEIR_FLOW_BATCH items at once,
 * as long as these take no longer than a run (executor.h, publish_ns); one at a
 * time where turns may block.
 * weir_flow_async() cuts a flow in two actors with a link between.
 *
 * Functions of yours are called by the thread that runs the actor, never two of
 * one actor at once, and must not block unless they say so. A negative errno
 * that one returns is a failure, see weir_flow_supervise(). All flow_*.h belong
 * here: sources, operators, fan-in and fan-out, errors, rate and time, sinks.
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

/* Items that an operator sees at once, at most. */
#define WEIR_FLOW_BATCH 256u

/*
 * Flows upon each other, at most: each way from a source to the end of a flow.
 * So deep are calls nested while a flow is made, runs and is freed, which takes
 * up to 96 KiB of the stack (measured: x86-64, optimized), and no more.
 */
#define WEIR_FLOW_DEPTH_MAX 256u

/* --- Blueprints ----------------------------------------------------------- */

/*
 * Frees the flow and all that it took over. NULL is fine. Not while it runs,
 * and not one that was taken over.
 */
WEIR_API void weir_flow_free(struct weir_flow *flow);

/*
 * 0, or why the flow has failed while it was composed: what weir_flow_start()
 * and weir_flow_run() return for it. Then *origin and *message, which may be
 * NULL, tell where and why in words, as long as the flow is there. -EINVAL for
 * NULL, and for a flow that would not run: an outlet of a fan (flow_fan.h) is
 * missing in it yet, *origin says of which; or what comes to an operator are
 * other items than it takes, or than at its other inputs: *origin is the
 * operator, *message stays until the next such call of this thread.
 */
WEIR_API int weir_flow_check(const struct weir_flow *flow, const char **origin,
			     const char **message);

/*
 * Names the last operator: errors that begin there have it as their origin.
 * `name` is borrowed for ever. Returns `flow`.
 */
WEIR_API struct weir_flow *weir_flow_name(struct weir_flow *flow,
					  const char *name);

/*
 * Says what the items are that come out of the last operator: how they are
 * dropped and shared. It is needed behind a source, and where items become
 * something else: without it a source's items are plain values, and an operator
 * puts out what it takes, unless it says otherwise. Inputs that go together
 * have the same; weir_flow_empty(), _fail() and _never() go with all. `items`
 * is borrowed as long as the flow is there; NULL: plain values. Returns `flow`.
 */
WEIR_API struct weir_flow *weir_flow_items(struct weir_flow *flow,
					   const struct weir_items *items);

/*
 * What is done when a function that was given an item fails:
 * WEIR_DIRECTIVE_STOP, the stream fails with the error (so it is without this
 * call, and for WEIR_DIRECTIVE_ESCALATE); WEIR_DIRECTIVE_RESUME, the item is
 * dropped and the operator goes on; WEIR_DIRECTIVE_RESTART, the operator's
 * state is made anew as well. Holds for all operators of `flow` that have not
 * been told before. `decide` gets the error (borrowed); it is called by the
 * actor concerned. Returns `flow`, or a failed one: -EINVAL, no function, and
 * `flow` is freed; -EBUSY, the same with a flow that another has taken over,
 * which stays as it is.
 */
WEIR_API struct weir_flow *weir_flow_supervise(
	struct weir_flow *flow,
	enum weir_directive (*decide)(struct weir_error *error, void *context),
	void *context);

/*
 * What comes before runs as an actor of its own, joined by a link that holds
 * up to `capacity` items, a power of two. `executor` is where that actor runs;
 * NULL: where the one behind it does. In a flow inside of another one (as of
 * weir_flow_flat_map()) without `executor` it does nothing. Fails: -EINVAL, a
 * bad capacity.
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
	 * The run is over, all its actors have ended and their memory is given
	 * back: well (`error` NULL) with the last item that has come out as
	 * `result`, which is yours now, or NULL; or with `error` (borrowed).
	 * Once, on the executor that the run was started on, wherever its
	 * stages were: inside of a run of a loop or simulator, on a thread of a
	 * pool. (One of your own that refuses: on any thread.) Must not block;
	 * may give the handle back, free the flow if no other run has it, and
	 * start the next one. Executors are freed behind it.
	 */
	void (*done)(void *context, struct weir_error *error, void *result);
	void *context;
	/*
	 * Not 0: no operators are fused, each is an actor of its own, with that
	 * many items (a power of two) between two of them.
	 */
	size_t unfused;
	uint64_t reserved[4]; /* zero */
};

/*
 * Starts a run of the flow on `executor`, and returns at once. `run`, if not
 * NULL, gets a handle, to be freed. `options` is copied and may be NULL.
 * -EINVAL: null, bad options. What weir_flow_check() says, which has the words
 * for it. -EALREADY: a source can run once and has. -ENOTSUP: the executor
 * lacks timers or watches that the flow needs. -ESHUTDOWN, -ENOMEM, or what the
 * executor's submit reports. Then *run is NULL, nothing runs, and `done` is not
 * called. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_start(
	struct weir_flow *flow, struct weir_executor *executor,
	const struct weir_flow_run_options *options,
	struct weir_flow_run **run);

/*
 * Runs the flow to its end: 0, or what weir_flow_start() says, or the code of
 * the error it failed with. *result, if not NULL, is the last item that has
 * come out, which is the caller's, or NULL. -EDEADLK: on a thread of the
 * executor's, with nothing started. The thread that owns a loop or a simulator
 * runs that meanwhile; where a simulator has nothing left to do and the flow
 * runs on it and has not ended, the run is cancelled, and that is -EDEADLK too.
 * Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_run(struct weir_flow *flow,
					   struct weir_executor *executor,
					   void **result);

/*
 * Complete when the run is over, before `done` and where that is called: all
 * its actors have been released or are leaving, so that its executors may be
 * freed, which wait for a `done` that has not returned. NULL of NULL. Any
 * thread; the handle's.
 */
WEIR_API struct weir_completion *weir_flow_run_over(struct weir_flow_run *run);

/*
 * Waits until it is over: 0; -ETIMEDOUT, -EDEADLK as weir_completion_wait().
 * Then, once for all calls, *result (may be NULL) gets the result, which is the
 * caller's, and *error (may be NULL) one reference of the error or NULL.
 * -EINVAL: null. Any thread.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_run_wait(struct weir_flow_run *run,
						uint64_t timeout_ns,
						void **result,
						struct weir_error **error);

/*
 * The sources end now; what is under way flows through, with it what a queue, a
 * publisher or an out-port has given already: they are closed or cancelled.
 * NULL is fine; nothing happens when it is over. Any thread that holds the
 * handle.
 */
WEIR_API void weir_flow_run_end(struct weir_flow_run *run);

/*
 * Everything ends now, what is under way is dropped, and the run is over with
 * `error` (borrowed; NULL stands for -ECANCELED). NULL is fine. The first of
 * these counts. Any thread that holds the handle.
 */
WEIR_API void weir_flow_run_stop(struct weir_flow_run *run,
				 struct weir_error *error);

/*
 * Gives the handle back; the run goes on if it is not over, and drops its
 * result. NULL is fine. Not together with another call on it.
 */
WEIR_API void weir_flow_run_free(struct weir_flow_run *run);

#ifdef __cplusplus
}
#endif

#endif
