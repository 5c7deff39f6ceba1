/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers over out-ports and subscribers over in-ports. Each is attached to
 * a port of an actor and lives as long as the actor; an actor with both is a
 * processor. The turns of the actor need no change: an out-port is unblocked
 * when its subscribers have requested an item, an in-port when an item has
 * come.
 *
 * If such a publisher and such a subscriber meet in weir_publisher_subscribe(),
 * their ports are joined by a link (out.h), whose free room is the demand: no
 * request is sent and no signal is called for any item.
 */
#ifndef WEIR_REACTIVE_H
#define WEIR_REACTIVE_H

#include <stdbool.h>

#include <weir/in.h>
#include <weir/out.h>
#include <weir/stream.h>

#ifdef __cplusplus
extern "C" {
#endif

/* --- Publisher over an out-port ------------------------------------------- */

/* The out-port does not end when its last subscriber leaves: others may
 * come. */
#define WEIR_REACTIVE_STAY 1u

/* 0 is the default of each. */
struct weir_reactive_out_options {
	/*
	 * How many items turns may put before they are sent, a power of two;
	 * default 64. Turns never put more than were requested. Not used on a
	 * link, nor if weir_out_fan() has set a capacity.
	 */
	size_t capacity;
	uint32_t flags; /* WEIR_REACTIVE_STAY */
	/*
	 * How long the publisher waits for its first subscriber, counted from
	 * the actor's start, or from making the publisher if the actor runs
	 * already. After that it is as if the last subscriber had left, also
	 * with WEIR_REACTIVE_STAY, and later subscribers get -ETIMEDOUT. 0: no
	 * timeout. If there is no memory for the timer, the actor fails with
	 * -ENOMEM.
	 */
	uint64_t timeout_ns;
	uint64_t reserved[4]; /* zero */
};

/* Private: a port that takes no part in firing and adapts another one. */
struct weir__port_adapter {
	struct weir_port port;
	const struct weir__port_ops *ops;
};

struct weir_reactive_out {
	struct weir_publisher publisher;
	struct weir_out *out; /* read-only */
	struct {
		struct weir__port_adapter adapter;
		/* New subscribers; any thread, atomically. */
		struct weir__out_subscription *pending;
		/* Links not answered yet; the owner's. */
		struct weir__out_subscription *link_offers;
		struct weir_error *error; /* how the stream has ended */
		uint32_t capacity;
		bool own_ring; /* the out-port's ring is ours: one subscriber */
		bool late;     /* no subscriber has come in time */
		/* Holds a reference of the actor while it is armed. */
		struct weir_timer timer;
		uint64_t timeout_ns; /* 0: none, or no more */
		uint64_t late_at_ns; /* 0: not begun */
		/* Of an actor in between: the out-port that waits until items are
		 * wanted here. */
		struct weir_out *source;
		uint32_t wanted; /* any thread */
	} WEIR_PRIVATE;
};

/*
 * Makes a publisher of an out-port that has no link yet. `reactive` lives as
 * long as the port's actor; `options` is copied and may be NULL.
 *
 * 1. The publisher takes one subscriber. If the out-port has a fan
 *    (weir_out_fan()), it takes any number, at any time. With
 *    WEIR_FAN_BROADCAST each subscriber gets the items that are put after it
 *    has subscribed; the slowest sets the pace, and others may be ahead of it
 *    by the fan's capacity. With WEIR_FAN_BALANCE each item goes to one
 *    subscriber.
 *
 * 2. Other subscribers are rejected: -EISCONN, there is one already; -ENOTSUP,
 *    the items can be dropped and not shared; -ENOMEM; -ESHUTDOWN, the executor
 *    drains and an actor in between would be needed. After the end of the
 *    stream each new subscriber gets that end at once (3.14).
 *
 * 3. Signals are sent between turns, by the slice of the actor or of the actor
 *    in between, on the thread that runs the slice. So the signals of one
 *    subscriber come one after another; several subscribers of a broadcast may
 *    get theirs at once. The first signal comes when the actor has been
 *    started.
 *
 * 4. When no subscriber is left, the actor is told as for links, by
 *    weir_actor_ops.cancelled, and the stream is over: later subscribers get
 *    -ECANCELED. Not with WEIR_REACTIVE_STAY.
 *
 * 5. An item that is NULL (items.h) goes over links only: where it would be
 *    sent by on_next, the subscriber's stream ends with -EINVAL.
 *
 * 6. A thread that subscribes, or lets another thread subscribe, must hold a
 *    reference of the actor, or be the thread that sets it up. Before the
 *    start, other threads may subscribe when everything but the start is done.
 * 7. An actor should put its last item and end (WEIR_TURN_END) in one turn. A
 *    turn that only finds that there are no more items waits for demand; an end
 *    needs none (1.5).
 *
 * 8. A subscriber that is broken is reported by weir_executor_options.broken.
 *
 * -EINVAL: null, a port that was never set up, a bad capacity, unknown flags,
 * or something in `reserved`. -EBUSY: the out-port has a link or a publisher.
 * -EPIPE: it has ended. -EPERM. -ENOTSUP: a timeout, and the executor has no
 * timers. Then nothing has changed. Owner.
 */
WEIR_API int weir_reactive_out_init(
	struct weir_reactive_out *reactive, struct weir_out *out,
	const struct weir_reactive_out_options *options);

/*
 * Whether the stream is over because no subscriber has come in time. For
 * weir_actor_ops.cancelled. False for NULL. Owner.
 */
WEIR_API bool weir_reactive_out_late(const struct weir_reactive_out *reactive);

/* --- Subscriber over an in-port ------------------------------------------- */

/* 0 or NULL is the default of each. */
struct weir_reactive_in_options {
	/*
	 * The most items that are requested and not yet taken by a turn; at
	 * most the in-port's capacity, which is the default. If the in-port's
	 * burst is larger, the burst.
	 */
	size_t prefetch;
	/*
	 * How many items are requested at once, as soon as there is room for
	 * them; at most `prefetch`, default half of it. Less if a burst needs
	 * it.
	 */
	size_t refill;
	/*
	 * In place of `prefetch` and `refill`: returns how many items to
	 * request now, if `remaining` items are requested and not yet taken by
	 * a turn; request.h has the usual functions. The answer is cut down to
	 * the room of the in-port. With a burst, a smaller answer may leave a
	 * turn waiting. Called by the owner when the actor starts, after each
	 * run of turns and after handlers. Answers before there is a
	 * subscription are added up, and requested in one call when the
	 * subscription comes.
	 */
	int64_t (*demand)(int64_t remaining, void *context);
	void *context;	      /* passed to it */
	uint64_t reserved[4]; /* zero */
};

struct weir_reactive_in {
	struct weir_subscriber subscriber;
	struct weir_in *in; /* read-only */
	struct {
		struct weir__port_adapter adapter;
		const struct weir_items *takes;
		struct weir_reactive_in_options options;
		/* any thread, atomically */
		struct weir_subscription *subscription;
		int64_t requested;
		uint32_t ended; /* the last signal has come */
		/* the owner's */
		uint32_t head; /* tokens taken from the in-port, as it counts */
		int64_t remaining; /* asked for and not taken */
		int64_t unsent;	   /* of those, not requested yet */
		bool draining;
		bool stays;    /* may subscribe again when a stream completes */
		uint32_t over; /* that has happened; any thread, atomically */
		/* the publisher's, which sends one signal after another */
		int64_t received;
		const struct weir_items *items;
	} WEIR_PRIVATE;
};

/*
 * Makes a subscriber of an in-port that has no producer yet. From then on
 * weir_in_put() and weir_out_link() refuse the port (-EISCONN). `reactive`
 * lives as long as the port's actor; `options` is copied and may be NULL.
 *
 * The subscriber can subscribe once. The thread that lets it subscribe must
 * hold a reference of the actor, or set it up. Requests are sent by the actor's
 * slice. The actor is told of the end of the stream as for links, by
 * weir_actor_ops.ended. weir_in_cancel() and the end of the actor cancel the
 * subscription.
 *
 * A publisher that sends more than was requested (1.1) is cancelled, and the
 * stream ends with -EOVERFLOW. If the in-port names its items, a publisher of
 * other items is cancelled, and the stream ends with -EINVAL.
 *
 * With default options, and a publisher of weir_reactive_out_init() that can,
 * the two are joined by a link.
 *
 * -EINVAL: null, a port that was never set up, prefetch above the capacity,
 * refill above prefetch, either and `demand`, or something in `reserved`.
 * -EBUSY: it has a producer, a subscriber, or merges. -EPIPE: it has ended.
 * -EPERM. Then nothing has changed. Owner.
 */
WEIR_API int weir_reactive_in_init(
	struct weir_reactive_in *reactive, struct weir_in *in,
	const struct weir_reactive_in_options *options);

/*
 * Requests `n` items in addition to those that the options request (none, with
 * weir_demand_zero()). 0; on a link, after a cancel and after the end it does
 * nothing. -EINVAL: null, n <= 0. -ENOBUFS: the in-port has no room for `n`
 * more items than were requested before. -EPERM. Owner.
 */
WEIR_API int weir_reactive_in_request(struct weir_reactive_in *reactive,
				      int64_t n);

#ifdef __cplusplus
}
#endif

#endif
