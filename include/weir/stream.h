/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reactive Streams 1.0.4 in C: a publisher sends its subscriber no more items
 * than the subscriber has requested. Publisher, subscriber and subscription are
 * small structs, each with a table of functions, which you embed in a struct of
 * yours. reactive.h makes a publisher of any out-port and a subscriber of any
 * in-port.
 *
 *	subscriber                        publisher
 *	    weir_publisher_subscribe()  ------------->
 *	                      <-------------  on_subscribe(subscription)
 *	    request(n)        ------------->
 *	                      <-------------  on_next(item), up to n times
 *	                      <-------------  on_complete() or on_error(error)
 *
 * Numbers in parentheses are rules of the specification. For all three:
 *
 * - The signals on_* of one subscriber come one after another, on any threads,
 *   each happening before the next (1.3). on_subscribe is the first, on_error
 *   or on_complete the last (1.7, 1.9); they need no demand (1.5).
 * - `request` and `cancel` return at once, may be called by any thread that
 *   holds a reference of the subscription, also inside a signal (3.2, 3.4,
 *   3.5), and do nothing after cancel and after the last signal (1.6, 3.6,
 *   3.7). Signals that are under way may still come after cancel (2.8).
 * - An item belongs to the stream until on_next has returned 0, and to the
 *   subscriber from then on, also if the subscriber has cancelled. The
 *   subscription says what the items are.
 */
#ifndef WEIR_STREAM_H
#define WEIR_STREAM_H

#include <errno.h>

#include <weir/api.h>
#include <weir/error.h>
#include <weir/items.h>

#ifdef __cplusplus
extern "C" {
#endif

struct weir_publisher;
struct weir_subscriber;
struct weir_subscription;

/* --- Subscription --------------------------------------------------------- */

/* Functions that an implementation of a publisher provides. */
struct weir_subscription_ops {
	/*
	 * The subscriber wants `n` more items (3.8). A sum of INT64_MAX or more
	 * means without bound (3.17). n <= 0 ends the stream with
	 * on_error(-EINVAL) (3.9). Any thread, also inside a signal; must not
	 * block. It may send signals before it returns, but not if it is called
	 * inside a signal (3.3).
	 */
	void (*request)(struct weir_subscription *subscription, int64_t n);
	/*
	 * The subscriber wants no more signals: they stop soon (3.12), and the
	 * publisher drops its references of the subscriber (3.13). Any thread,
	 * also inside a signal; must not block.
	 */
	void (*cancel)(struct weir_subscription *subscription);
	/*
	 * The last reference is gone: the memory of the subscription may be
	 * freed. Once, on any thread. NULL: nothing to do.
	 */
	void (*released)(struct weir_subscription *subscription);
};

/*
 * The relation of one subscriber to one publisher. The publisher embeds it,
 * holds the first reference, and gives that up after the last signal. All
 * fields are read-only.
 */
struct weir_subscription {
	const struct weir_subscription_ops *ops;
	const struct weir_items *items; /* NULL: plain values */
	struct {
		uint32_t refs;
	} WEIR_PRIVATE;
};

/*
 * Sets up a subscription with one reference. `ops` and `items` are borrowed
 * until it is released. -EINVAL: null, no request or no cancel.
 */
WEIR_API int weir_subscription_init(struct weir_subscription *subscription,
				    const struct weir_subscription_ops *ops,
				    const struct weir_items *items);

/*
 * A subscriber that keeps a subscription beyond on_subscribe must hold a
 * reference. The subscription stays valid then, also if it is cancelled or the
 * stream has ended. ref returns its argument; unref may call `released`, and
 * never cancels; NULL is fine. Any thread that holds a reference, or is in
 * on_subscribe.
 */
WEIR_API struct weir_subscription *weir_subscription_ref(
	struct weir_subscription *subscription);
WEIR_API void weir_subscription_unref(struct weir_subscription *subscription);

/* Call the functions of the table. NULL is fine and does nothing. */
static inline void weir_subscription_request(
	struct weir_subscription *subscription, int64_t n)
{
	if (subscription)
		subscription->ops->request(subscription, n);
}

static inline void weir_subscription_cancel(
	struct weir_subscription *subscription)
{
	if (subscription)
		subscription->ops->cancel(subscription);
}

/* --- Subscriber ----------------------------------------------------------- */

/*
 * Functions that an implementation of a subscriber provides. The signals must
 * not block. A signal returns 0; or -EINVAL for a null argument, which it must
 * check first, with no effect (2.13). Any other result says that the subscriber
 * is broken: the publisher cancels the subscription, sends no more signals, and
 * reports the result where it reports failures.
 */
struct weir_subscriber_ops {
	/*
	 * `subscription` is borrowed: take a reference to keep it. It may be
	 * used at once. A subscriber that has a subscription already cancels
	 * the new one (2.5).
	 */
	int (*on_subscribe)(struct weir_subscriber *subscriber,
			    struct weir_subscription *subscription);
	/* One item. On any result but 0 the item stays the publisher's. */
	int (*on_next)(struct weir_subscriber *subscriber, void *item);
	/*
	 * Several items at once, in their order; each counts against the
	 * demand. `items` is borrowed for the call. *taken is 0 before the
	 * call. After a result other than 0 the first *taken items are the
	 * subscriber's. NULL: items come one by one.
	 */
	int (*on_next_n)(struct weir_subscriber *subscriber, void *const *items,
			 size_t n, size_t *taken);
	/*
	 * The stream has failed, or has ended well. This is the last signal.
	 * From here on the subscriber calls neither `request` nor `cancel`
	 * (2.3). It gives up its reference of the subscription now, as after a
	 * cancel (2.4), because the reference keeps the publisher's memory.
	 * `error` is borrowed; a processor passes the same error on (4.2).
	 */
	int (*on_error)(struct weir_subscriber *subscriber,
			struct weir_error *error);
	int (*on_complete)(struct weir_subscriber *subscriber);
	/*
	 * The first publisher holds the subscriber now. This is the counterpart
	 * of `released`, for a subscriber that must keep something else alive
	 * meanwhile. Called inside weir_subscriber_ref(). NULL: nothing to do.
	 */
	void (*held)(struct weir_subscriber *subscriber);
	/*
	 * No publisher holds the subscriber any more: its memory may be reused
	 * or freed. Called after the last signal, never inside a signal, on any
	 * thread; once, if the subscriber subscribes once. NULL: nothing to do.
	 */
	void (*released)(struct weir_subscriber *subscriber);
};

/* Read-only. */
struct weir_subscriber {
	const struct weir_subscriber_ops *ops;
	struct {
		uint32_t refs; /* publishers that hold it */
	} WEIR_PRIVATE;
};

/*
 * Sets up a subscriber that no publisher holds yet. `ops` is borrowed until the
 * subscriber is released. -EINVAL: null, or one of the four signals is missing.
 */
WEIR_API int weir_subscriber_init(struct weir_subscriber *subscriber,
				  const struct weir_subscriber_ops *ops);

/*
 * For implementations of publishers. A publisher holds a reference of each
 * subscriber, from subscribe until it has sent the last signal or seen the
 * cancel, and drops the reference after it has touched the subscriber for the
 * last time. ref returns its argument, and may call `held`; unref may call
 * `released`; NULL is fine. Any thread that holds a reference, or is in
 * subscribe.
 */
WEIR_API struct weir_subscriber *weir_subscriber_ref(
	struct weir_subscriber *subscriber);
WEIR_API void weir_subscriber_unref(struct weir_subscriber *subscriber);

/*
 * For implementations of publishers: rejects a subscriber (1.9). It sends
 * on_subscribe with a subscription that does nothing, and then on_error; or
 * on_complete, if `error` (borrowed) is NULL. If the subscriber cancels in
 * on_subscribe (because it has another subscription), no second signal is sent.
 * Needs no memory. 0, or the result of the signal. -EINVAL: null, or a
 * subscriber that was never set up. The caller holds a reference of the
 * subscriber, or is in `subscribe`.
 */
WEIR_API int weir_subscriber_reject(struct weir_subscriber *subscriber,
				    struct weir_error *error);

/* --- Publisher ------------------------------------------------------------ */

struct weir_publisher_ops {
	/*
	 * Accepts the subscriber, or rejects it: every failure is told by
	 * on_subscribe and then on_error (1.9), now or later, from any thread.
	 * 0; -EINVAL for null, with no effect. It may be called by any thread
	 * that keeps the publisher alive, any number of times, each time with
	 * another subscriber (1.10).
	 */
	int (*subscribe)(struct weir_publisher *publisher,
			 struct weir_subscriber *subscriber);
};

/* Read-only. The implementation says how long it lives. */
struct weir_publisher {
	const struct weir_publisher_ops *ops;
};

/*
 * As weir_publisher_ops.subscribe. -EINVAL: null, or one of the two was never
 * set up.
 */
WEIR_API int weir_publisher_subscribe(struct weir_publisher *publisher,
				      struct weir_subscriber *subscriber);

/* --- Processor ------------------------------------------------------------ */

/*
 * A subscriber and a publisher that belong together, as the two sides of one
 * stage (4.1). The implementation embeds the two wherever it likes.
 */
struct weir_processor {
	struct weir_subscriber *subscriber;
	struct weir_publisher *publisher;
};

#ifdef __cplusplus
}
#endif

#endif
