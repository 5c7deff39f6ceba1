/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers over out-ports and subscribers over in-ports. Either is attached
 * to a port of an actor and lives beside it; both on one actor make it a
 * processor. The actor's turns do not know the difference: an out-port is
 * unblocked when its subscribers have requested something, an in-port when
 * something has come.
 *
 * Where two of these meet in weir_subscribe(), their ports are joined by a link
 * (out.h), whose free room is the demand: then no request is sent and no signal
 * is called for any item.
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

/* The last subscriber's leaving does not end the out-port: others may come. */
#define WEIR_STAY 1u

/* 0 is the default of each. */
struct weir_reactive_out_options {
	/*
	 * Turns may run ahead of delivery by that many items, a power of two;
	 * 64. Not used where weir_out_fan() has said so, or on a link.
	 */
	size_t capacity;
	uint32_t flags; /* WEIR_STAY */
};

/* Private: a port that takes no part in firing and attends to another one. */
struct weir__attendant {
	struct weir_port port;
	const struct weir__port_ops *ops;
};

/* `publisher` is public, the rest private. */
struct weir_reactive_out {
	struct weir_publisher publisher;
	struct weir__attendant attendant;
	struct weir_out *out;
	struct weir__seat *mail;   /* new subscribers; any thread, atomically */
	struct weir__seat *offers; /* links not answered yet; the owner's */
	struct weir_error *error;  /* how the stream has ended */
	uint32_t capacity;
	bool own_ring; /* the out-port's ring is ours: one subscriber */
};

/*
 * Makes a publisher of an out-port that has no link yet. `reactive` lives as
 * long as the port's actor; `options` is copied and may be NULL.
 *
 * The publisher takes one subscriber; if the out-port has a fan (weir_out_fan),
 * as many as like, at any time: with WEIR_BROADCAST all get the items that are
 * put from then on and the slowest sets the pace, ahead of which others may be
 * by the fan's capacity; with WEIR_BALANCE each item goes to one of them. Others are rejected: -EISCONN, there is one already;
 * -ENOTSUP, items that can be dropped and not shared; -ENOMEM. After the end of
 * the stream everyone gets that end at once (3.14).
 *
 * Signals are sent by the actor's slice, between its turns, on whatever thread
 * runs it. The first signal of a subscriber comes when the actor has been
 * started. When no subscriber is left, that is told as of links:
 * weir_actor_ops.cancelled, unless WEIR_STAY.
 *
 * Who subscribes, or has another thread do so, holds a reference of the actor,
 * or sets it up. An actor puts its last item and finishes (WEIR_FINISH) in one
 * turn: a turn that only finds that there are no more waits for demand, and an
 * end needs none (1.5).
 *
 * A subscriber that is broken is reported by weir_executor_options.broken.
 *
 * -EINVAL: null, a port that was never set up, a bad capacity, unknown flags.
 * -EBUSY: the out-port has a link or a publisher. -EPIPE: it has ended. -EPERM.
 * Then nothing has changed. Owner.
 */
WEIR_API int weir_reactive_out_init(
	struct weir_reactive_out *reactive, struct weir_out *out,
	const struct weir_reactive_out_options *options);

/* --- Subscriber over an in-port ------------------------------------------- */

/* 0 or NULL is the default of each. */
struct weir_reactive_in_options {
	/*
	 * Requested and not taken by a turn are at most that many, up to the
	 * in-port's capacity, which it is by default. The in-port's burst, if
	 * that is more.
	 */
	size_t prefetch;
	/*
	 * That many are requested at once, when there is room for them; half of
	 * the prefetch. Up to `prefetch`; less where a burst needs it.
	 */
	size_t refill;
	/*
	 * Instead of the two: what to request when `remaining` were requested
	 * and not taken yet; request.h has the usual answers. More than there
	 * is room for in the in-port is cut down to that; with a burst, less
	 * than that may leave a turn waiting. Called by the owner
	 * when the actor starts, after each run of turns and after handlers;
	 * what it answers before there is a subscription is requested when it
	 * comes, in one call (A2.1, A2.2 of the Akka ActorSubscriber).
	 */
	int64_t (*demand)(void *context, int64_t remaining);
	void *context; /* passed to it */
};

/* `subscriber` is public, the rest private. */
struct weir_reactive_in {
	struct weir_subscriber subscriber;
	struct weir__attendant attendant;
	struct weir_in *in;
	const struct weir_items *takes;
	struct weir_reactive_in_options options;
	/* any thread, atomically */
	struct weir_subscription *subscription;
	int64_t requested;
	uint32_t ended; /* the last signal has come */
	/* the owner's */
	uint32_t head;	   /* tokens taken from the in-port, as it counts */
	int64_t remaining; /* asked for and not taken */
	int64_t unsent;	   /* of those, not requested yet */
	bool draining;
	/* the publisher's, which sends one signal after another */
	int64_t received;
	const struct weir_items *items;
};

/*
 * Makes a subscriber of an in-port that has no producer yet; weir_in_put() and
 * weir_link() do not work with it from then on (-EISCONN). `reactive` lives as
 * long as the port's actor; `options` is copied and may be NULL.
 *
 * It subscribes once; who lets it subscribe holds a reference of the actor, or
 * sets it up. Requests are sent by the actor's slice. The end of the
 * stream is told as of links: weir_actor_ops.ended. weir_in_cancel() and the
 * actor's end cancel the subscription. A publisher that sends more than was
 * requested (1.1) is cancelled, and the stream ends with -EOVERFLOW.
 *
 * With default options, and a publisher from weir_reactive_out_init() that can,
 * it gets a link.
 *
 * -EINVAL: null, a port that was never set up, prefetch above the capacity,
 * refill above prefetch, or either and `demand`. -EBUSY: it has a producer, a
 * subscriber, or merges. -EPIPE: it has ended. -EPERM. Then nothing has
 * changed. Owner.
 */
WEIR_API int weir_reactive_in_init(
	struct weir_reactive_in *reactive, struct weir_in *in,
	const struct weir_reactive_in_options *options);

/*
 * Requests `n` more beside what the options say, which may be nothing
 * (weir_demand_zero). 0, also when cancelled or ended, where it does nothing.
 * -EINVAL: null, n <= 0. -ENOBUFS: the in-port has no room for that many beside
 * what was requested before. -EPERM. Owner.
 */
WEIR_API int weir_reactive_in_request(struct weir_reactive_in *reactive,
				      int64_t n);

#ifdef __cplusplus
}
#endif

#endif
