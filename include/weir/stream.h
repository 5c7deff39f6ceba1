/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Reactive Streams 1.0.4 in C: a publisher sends its subscriber no more items
 * than the subscriber has requested. Each of the three is a small struct with
 * a table of functions, to be embedded in a struct of yours; reactive.h makes
 * a publisher of any out-port and a subscriber of any in-port.
 *
 *	subscriber                        publisher
 *	    weir_publisher_subscribe()  ------------->
 *	                      <-------------  on_subscribe(subscription)
 *	    request(n)        ------------->
 *	                      <-------------  on_next(item), up to n times
 *	                      <-------------  on_complete() or on_error(error)
 *
 * Rule numbers below are those of the specification. What holds for all:
 *
 * - The signals on_* of one subscriber come one after another, on any threads,
 *   each happening before the next (1.3). on_subscribe is the first, on_error
 *   or on_complete the last (1.7, 1.9); they need no demand (1.5).
 * - `request` and `cancel` return at once, may be called by any thread that
 *   holds a reference of the subscription, also inside a signal (3.2, 3.4,
 *   3.5), and do nothing after cancel and after the last signal (1.6, 3.6,
 *   3.7). Signals that are under way may still come after cancel (2.8).
 * - An item belongs to the stream until on_next has returned 0, and to the
 *   subscriber from then on, also when it has cancelled. What a stream's items
 *   are stands in its subscription.
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

/* What the implementer of a publisher provides. */
struct weir_subscription_ops {
	/*
	 * `n` items more (3.8); INT64_MAX and above in sum means without bound
	 * (3.17). n <= 0 ends the stream with on_error(-EINVAL) (3.9). Any
	 * thread, also inside a signal; must not block; may send signals before
	 * it returns, but never from within one (3.3).
	 */
	void (*request)(struct weir_subscription *subscription, int64_t n);
	/*
	 * No more signals soon (3.12), and the publisher lets go of the
	 * subscriber (3.13). Any thread, also inside a signal; must not block.
	 */
	void (*cancel)(struct weir_subscription *subscription);
	/*
	 * The last reference is gone: its memory may be freed. Once, on any
	 * thread. NULL: nothing to do.
	 */
	void (*released)(struct weir_subscription *subscription);
};

/*
 * One subscriber at one publisher. Who embeds it holds the first reference and
 * gives it up after the last signal. All fields but `refs` (private) are
 * read-only.
 */
struct weir_subscription {
	const struct weir_subscription_ops *ops;
	const struct weir_items *items; /* NULL: plain values */
	uint32_t refs;
};

/*
 * Sets up a subscription with one reference. `ops` and `items` are borrowed
 * until it is released. -EINVAL: null, no request or no cancel.
 */
WEIR_API int weir_subscription_init(struct weir_subscription *subscription,
				    const struct weir_subscription_ops *ops,
				    const struct weir_items *items);

/*
 * Who keeps a subscription beyond on_subscribe holds a reference. It stays
 * valid then, also when it is cancelled or the stream has ended. ref returns
 * its argument; unref may call `released`, and never cancels; NULL is fine.
 * Any thread that holds one, or is in on_subscribe.
 */
WEIR_API struct weir_subscription *weir_subscription_ref(
	struct weir_subscription *subscription);
WEIR_API void weir_subscription_unref(struct weir_subscription *subscription);

/* As the functions of the table say; NULL is fine and does nothing. */
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
 * What the implementer of a subscriber provides. The signals must not block.
 * They return 0, or -EINVAL for a null argument, with no effect (2.13; to be
 * looked at before all else). Any other result says that the subscriber is
 * broken: the publisher cancels its subscription, sends no more, and reports
 * it where it reports failures.
 */
struct weir_subscriber_ops {
	/*
	 * `subscription` is borrowed: ref it to keep it. It may be used at
	 * once. A subscriber that has one already cancels the new one (2.5).
	 */
	int (*on_subscribe)(struct weir_subscriber *subscriber,
			    struct weir_subscription *subscription);
	/* One item; on any result but 0 it stays the publisher's. */
	int (*on_next)(struct weir_subscriber *subscriber, void *item);
	/*
	 * Several at once, in their order, each against demand. `items` is
	 * borrowed for the call. *taken is 0 before; with a result other than
	 * 0 it says how many of them, from the first, are the subscriber's.
	 * NULL: they come one by one.
	 */
	int (*on_next_n)(struct weir_subscriber *subscriber, void *const *items,
			 size_t n, size_t *taken);
	/*
	 * The stream has failed, or has ended well. The last signal; neither
	 * `request` nor `cancel` is called from here on (2.3), and a reference
	 * of the subscription is given up now (2.4), as with a cancel: it keeps
	 * the publisher there. `error` is borrowed; who passes it on passes the
	 * same one (4.2).
	 */
	int (*on_error)(struct weir_subscriber *subscriber,
			struct weir_error *error);
	int (*on_complete)(struct weir_subscriber *subscriber);
	/*
	 * The first publisher holds the subscriber now: the counterpart of
	 * `released`, for one that must keep something else alive meanwhile.
	 * Inside weir_subscriber_ref(). NULL: nothing to do.
	 */
	void (*held)(struct weir_subscriber *subscriber);
	/*
	 * No publisher holds the subscriber any more: its memory may be reused
	 * or freed. After the last signal and never inside one, on any thread,
	 * once for a subscriber that subscribes once. NULL: nothing to do.
	 */
	void (*released)(struct weir_subscriber *subscriber);
};

/* All fields but `refs` (private) are read-only. */
struct weir_subscriber {
	const struct weir_subscriber_ops *ops;
	uint32_t refs; /* publishers that hold it */
};

/*
 * Sets up a subscriber that nobody holds yet. `ops` is borrowed until it is
 * released. -EINVAL: null, or one of the four signals is missing.
 */
WEIR_API int weir_subscriber_init(struct weir_subscriber *subscriber,
				  const struct weir_subscriber_ops *ops);

/*
 * For who implements a publisher: it holds a reference of each subscriber from
 * subscribe until it has sent the last signal or seen the cancel, and drops it
 * after its last touch. ref returns its argument; they may call `held` and
 * `released`; NULL is fine. Any thread that holds one, or is in subscribe.
 */
WEIR_API struct weir_subscriber *weir_subscriber_ref(
	struct weir_subscriber *subscriber);
WEIR_API void weir_subscriber_unref(struct weir_subscriber *subscriber);

/*
 * For who implements a publisher and cannot or will not serve a subscriber
 * (1.9): sends on_subscribe with a subscription that does nothing, and then
 * on_error, or on_complete with an `error` (borrowed) of NULL; not if it
 * cancels in on_subscribe, as one that has another subscription does. Needs no
 * memory. 0, or what the subscriber returned. -EINVAL: null, or a subscriber
 * that was never set up. The caller holds a reference of the subscriber, or is
 * in `subscribe`.
 */
WEIR_API int weir_subscriber_reject(struct weir_subscriber *subscriber,
				    struct weir_error *error);

/* --- Publisher ------------------------------------------------------------ */

struct weir_publisher_ops {
	/*
	 * Takes the subscriber on, or rejects it: all that goes wrong is told
	 * by on_subscribe and then on_error (1.9), now or later, from any
	 * thread. 0; -EINVAL for null, with no effect. May be called by any
	 * thread that keeps the publisher alive, as often as one likes, each
	 * time with another subscriber (1.10).
	 */
	int (*subscribe)(struct weir_publisher *publisher,
			 struct weir_subscriber *subscriber);
};

/* Read-only. How long it lives is its implementer's to say. */
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
 * A stage that is both (4.1). Its implementer embeds the two wherever it likes;
 * this pair says that they belong together.
 */
struct weir_processor {
	struct weir_subscriber *subscriber;
	struct weir_publisher *publisher;
};

#ifdef __cplusplus
}
#endif

#endif
