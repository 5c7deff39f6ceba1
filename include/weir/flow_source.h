/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where flows begin. Sources put out plain values unless weir_flow_items() says
 * what they are; no function: the flow fails with -EINVAL. A drained run ends
 * its sources, well.
 */
#ifndef WEIR_FLOW_SOURCE_H
#define WEIR_FLOW_SOURCE_H

#include <weir/flow.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- What is known -------------------------------------------------------- */

/*
 * The items of an array, which is borrowed as long as the flow runs. Those that
 * a run does not put out are not dropped: they stay whose they were. -EINVAL:
 * null, unless `n` is 0.
 *
 * Emits: each item. Completes: behind the last. Cancels: nothing is above it.
 * Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_array(void *const *items, size_t n);

/*
 * The whole numbers from `first` to `last`, both included, as (void
 * *)(intptr_t). None if last < first.
 *
 * Emits: the next number. Completes: behind the last. Cancels: nothing is above
 * it. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_range(int64_t first, int64_t last);

/*
 * One item, in each run.
 *
 * Emits: the item. Completes: behind it. Cancels: nothing is above it. Holds:
 * nothing.
 */
WEIR_API struct weir_flow *weir_flow_single(void *item);

/*
 * No items.
 *
 * Emits: nothing. Completes: at once, without demand. Cancels: nothing is above
 * it. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_empty(void);

/*
 * A stream that fails with `code`, a negative errno, and `message`, which is
 * borrowed for ever. -EINVAL: code >= 0.
 *
 * Emits: nothing. Completes: never; it fails at once, without demand. Cancels:
 * nothing is above it. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_fail(int code, const char *message);

/*
 * Nothing, and no end.
 *
 * Emits: nothing. Completes: never. Cancels: nothing is above it. Holds:
 * nothing.
 */
WEIR_API struct weir_flow *weir_flow_never(void);

/* --- What is made --------------------------------------------------------- */

/*
 * What `next` makes of a state, which begins as `first` in each run and is a
 * plain value: 1 and *item; 0, there are none left; a negative errno fails the
 * stream. Called once for each item that is asked for.
 *
 * Emits: what `next` makes. Completes: when it says so. Cancels: nothing is
 * above it. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_unfold(
	void *first, int (*next)(void **state, void **item, void *context),
	void *context);

/* What weir_flow_resource() is made of; all are needed. They may block if the
 * executor lets them. */
struct weir_flow_resource_functions {
	/* A run, or a restart, begins: 0 and *resource, or a negative errno. It
	 * is called when the first item is asked for. */
	int (*open)(void **resource, void *context);
	/* 1 and *item; 0, there are none left; a negative errno, which is
	 * decided upon as of weir_flow_supervise(): WEIR_DIRECTIVE_RESUME reads
	 * again,
	 * WEIR_DIRECTIVE_RESTART closes and opens. */
	int (*read)(void *resource, void **item, void *context);
	/* Once for each `open`: at the end, an error, a cancel. */
	void (*close)(void *resource, void *context);
};

/*
 * What is read out of something that must be closed. `functions` is copied.
 *
 * Emits: what `read` has got. Completes: when it says so. Cancels: nothing is
 * above it. Holds: the resource.
 */
WEIR_API struct weir_flow *weir_flow_resource(
	const struct weir_flow_resource_functions *functions, void *context);

/*
 * `item` every `every_ns`, first after `first_ns`; what falls due while nobody
 * asks is left out but for one. -EINVAL: `every_ns` is 0. The items are not
 * dropped: each is the same one.
 *
 * Emits: `item`, when it is due and asked for. Completes: never. Cancels:
 * nothing is above it. Holds: nothing.
 */
WEIR_API struct weir_flow *weir_flow_tick(uint64_t first_ns, uint64_t every_ns,
					  void *item);

/* --- What others offer ---------------------------------------------------- */

/* A bounded queue that any thread puts items into, and one run takes from. */
struct weir_flow_queue;

/* What a full queue does with an item. */
enum weir_flow_overflow {
	WEIR_FLOW_REJECT,    /* it stays the caller's: -EAGAIN */
	WEIR_FLOW_DROP_NEW,  /* it is dropped: -ENOBUFS */
	WEIR_FLOW_DROP_HEAD, /* the oldest is dropped for it: 1 */
	WEIR_FLOW_FAIL,	     /* the stream fails with -EOVERFLOW, behind what is
				queued; the item stays the caller's */
};

/*
 * A queue for up to `capacity` items, a power of two, which are `items`
 * (borrowed; NULL: plain values). -EINVAL: null, a bad capacity or overflow.
 * -ENOMEM. Then *queue is NULL.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_queue_new(
	struct weir_flow_queue **queue, size_t capacity,
	enum weir_flow_overflow overflow, const struct weir_items *items);

/*
 * Gives it up: it is closed, and goes when no flow and no run has it either.
 * NULL is fine. Not together with another call.
 */
WEIR_API void weir_flow_queue_free(struct weir_flow_queue *queue);

/*
 * Offers an item. 0: it is queued. 1: queued, and another was dropped for it.
 * -EAGAIN, -ENOBUFS, -EOVERFLOW: it is full, see above. -EPIPE: it is closed,
 * or its run is over; the item stays the caller's. -EINVAL: null. Any thread; a
 * short lock.
 */
WEIR_API WEIR_MUST_CHECK int weir_flow_queue_offer(
	struct weir_flow_queue *queue, void *item);

/*
 * No more items: the stream ends behind what is queued, well or with `error`
 * (borrowed). -EALREADY: it is closed. -EINVAL: null. Any thread.
 */
WEIR_API int weir_flow_queue_end(struct weir_flow_queue *queue,
				 struct weir_error *error);

/*
 * What is offered to `queue`. It runs once: -EALREADY from then on. -EINVAL:
 * null.
 *
 * Emits: each item that is queued. Completes: when the queue is closed and
 * empty. Cancels: nothing is above it; the queue is closed and what it has is
 * dropped. Holds: the queue's capacity.
 */
WEIR_API struct weir_flow *weir_flow_from_queue(struct weir_flow_queue *queue);

#ifdef __cplusplus
}
#endif

#endif
