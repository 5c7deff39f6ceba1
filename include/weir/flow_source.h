/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where flows begin. Sources emit plain values unless weir_flow_items() says
 * what the items are. A source whose function is missing fails the flow with
 * -EINVAL. When a run is drained, its sources end well.
 */
#ifndef WEIR_FLOW_SOURCE_H
#define WEIR_FLOW_SOURCE_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- What is known -------------------------------------------------------- */

/*
 * The items of an array, which is borrowed as long as the flow runs. Items that
 * a run does not emit are not dropped: they stay with their owner. -EINVAL:
 * null, unless `n` is 0.
 *
 * Emits: each item. Completes: behind the last. Cancels: it has no upstream.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_array(void *const *items, size_t n);

/*
 * The whole numbers from `first` to `last`, both included, as (void
 * *)(intptr_t). None if last < first.
 *
 * Emits: the next number. Completes: behind the last. Cancels: it has no
 * upstream. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_range(int64_t first, int64_t last);

/*
 * One item, in each run.
 *
 * Emits: the item. Completes: behind the item. Cancels: it has no upstream.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_single(void *item);

/*
 * No items.
 *
 * Emits: nothing. Completes: at once, without demand. Cancels: it has no
 * upstream. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_empty(void);

/*
 * A stream that fails with `code`, a negative errno, and `message`, which is
 * borrowed for ever. -EINVAL: code >= 0.
 *
 * Emits: nothing. Completes: never; it fails at once, without demand. Cancels:
 * it has no upstream. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_fail(int code, const char *message);

/*
 * A stream that emits nothing and never ends.
 *
 * Emits: nothing. Completes: never. Cancels: it has no upstream. Holds:
 * nothing.
 */
WEIR_API struct weir_flow *weir_flow_never(void);

/* --- What is made --------------------------------------------------------- */

/*
 * Items that `next` makes of a state. The state is a plain value that begins as
 * `first` in each run. `next` returns 1 with an item in *item; 0, if there are
 * no more items; or a negative errno, which fails the stream. It is called once
 * for each item that is asked for.
 *
 * Emits: each item that `next` makes. Completes: when `next` returns 0.
 * Cancels: it has no upstream. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_unfold(
	void *first, int (*next)(void **state, void **item, void *context),
	void *context);

/* The functions of weir_flow_resource(); all are needed. They may block if
 * turns may block on the executor. */
struct weir_flow_resource_functions {
	/* A run, or a restart, begins: sets *resource and returns 0, or a
	 * negative errno. Called when the first item is asked for. */
	int (*open)(void **resource, void *context);
	/*
	 * 1 with an item in *item; 0, there are no more items; or a negative
	 * errno, for which weir_flow_supervise() decides: WEIR_DIRECTIVE_RESUME
	 * reads again, WEIR_DIRECTIVE_RESTART closes the resource and opens it
	 * again.
	 */
	int (*read)(void *resource, void **item, void *context);
	/* Once for each successful `open`: at the end, on an error, or on a
	 * cancel. */
	void (*close)(void *resource, void *context);
};

/*
 * Items that are read from a resource that must be closed, such as a file.
 * `functions` is copied.
 *
 * Emits: each item that `read` gets. Completes: when `read` returns 0. Cancels:
 * it has no upstream. Holds: the resource.
 */
WEIR_API struct weir_flow *weir_flow_resource(
	const struct weir_flow_resource_functions *functions, void *context);

/*
 * Emits `item` every `every_ns`, for the first time after `first_ns`. Of the
 * ticks that fall due while downstream asks for nothing, one is kept, and the
 * others are left out. -EINVAL: `every_ns` is 0. The item is never dropped,
 * because each tick emits the same one.
 *
 * Emits: `item`, when a tick is due and downstream has asked. Completes: never.
 * Cancels: it has no upstream. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_tick(uint64_t first_ns, uint64_t every_ns,
					  void *item);

/* --- What begins later ---------------------------------------------------- */

/*
 * A source: a flow that `make` makes for each run, when it is first asked: at
 * the start, or behind other flows of weir_flow_concat() and the like when it
 * is its turn. (RxJava: defer; Pekko: lazySource.) The made flow belongs to the
 * run. If it is NULL or has failed, the stream fails with the error of that. It
 * is a nested flow: an operator that needs an actor of its own fails with
 * -ENOTSUP. A drain of the run before that: no flow is made. -EINVAL: no
 * function.
 *
 * Emits: each item of the made flow. Completes: when the made flow does.
 * Cancels: the made flow, when downstream does. Holds: one nested flow.
 */
WEIR_API struct weir_flow *weir_flow_defer(
	struct weir_flow *(*make)(void *context), void *context);

/*
 * Begins the flow when it is first asked, as weir_flow_defer(): its sources are
 * opened then, and its timers start. (Pekko: concatLazy and the like, for any
 * operator.) Its operators run as those of a nested flow; a run of a flow with
 * an operator that needs an actor of its own fails with -ENOTSUP at its start.
 * A weir_flow_async() behind it asks at once.
 *
 * Emits: each item of the flow. Completes: when the flow does. Cancels: the
 * flow, when downstream does. Holds: one nested flow.
 */
WEIR_API struct weir_flow *weir_flow_lazy(struct weir_flow *flow);

/* --- What others offer ---------------------------------------------------- */

/* A bounded queue: any thread puts items in, and one run takes them out. */
struct weir_flow_queue;

/*
 * A new queue in *queue for up to `capacity` items, a power of two. `items`
 * (borrowed; NULL: plain values) says what the items are. -EINVAL: null, a bad
 * capacity or overflow. -ENOMEM. Then *queue is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_queue_new(
	struct weir_flow_queue **queue, size_t capacity,
	enum weir_overflow overflow, const struct weir_items *items);

/*
 * Closes the queue and gives the caller's reference up; the queue is freed when
 * no flow and no run has it either. NULL is fine. No other call on the queue
 * may be under way.
 */
WEIR_API void weir_flow_queue_free(struct weir_flow_queue *queue);

/*
 * Offers an item. 0: the item is queued. Where the queue is full, as it was
 * made with: WEIR_OVERFLOW_BACK_PRESSURE: -EAGAIN, the item stays the caller's.
 * WEIR_OVERFLOW_DROP_HEAD, _DROP_TAIL, _DROP_ALL: 1, the item is queued, and
 * the oldest, the youngest or all that were queued are dropped for it.
 * WEIR_OVERFLOW_DROP_NEW: -ENOBUFS, the item is dropped. WEIR_OVERFLOW_FAIL:
 * -EOVERFLOW, the stream fails with that behind what is queued, and the item
 * stays the caller's.
 *
 * -EPIPE: the queue is closed, or its run is over; the item stays the caller's.
 * -EINVAL: null. Any thread; a short lock.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_queue_offer(
	struct weir_flow_queue *queue, void *item);

/*
 * Closes the queue: it takes no more items, and the stream ends behind the
 * items that are queued, well (NULL) or with `error` (borrowed). -EALREADY: the
 * queue is closed. -EINVAL: null. Any thread.
 */
WEIR_API int weir_flow_queue_end(struct weir_flow_queue *queue,
				 struct weir_error *error);

/*
 * The items that are offered to `queue`. The flow runs once: starting it again
 * is -EALREADY. -EINVAL: null.
 *
 * Emits: each item that is queued. Completes: when the queue is closed and
 * empty. Cancels: it has no upstream; the queue is closed and its items are
 * dropped. Holds: the queue's capacity.
 */
WEIR_API struct weir_flow *weir_flow_from_queue(struct weir_flow_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
