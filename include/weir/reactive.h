/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers over out-ports and subscribers over in-ports. Either is attached
 * to a port of an actor and lives beside it; both on one actor make it a
 * processor. The actor's turns do not know the difference: an out-port is
 * unblocked when its subscribers have requested something, an in-port when
 * something has come.
 *
 * Where two of these meet in weir_publisher_subscribe(), their ports are joined
 * by a link (out.h), whose free room is the demand: then no request is sent and
 * no signal is called for any item.
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
#define WEIR_REACTIVE_STAY 1u

/* 0 is the default of each. */
struct weir_reactive_out_options {
	/*
	 * Turns may put that many items, a power of two, before they are sent;
	 * 64. Never more than were requested. Not used on a link, nor where
	 * weir_out_fan() has said how many.
	 */
	size_t capacity;
	uint32_t flags; /* WEIR_REACTIVE_STAY */
	/*
	 * If nobody has subscribed so long after the actor's start, or after
	 * the publisher was made in a running one, it is as if the last
	 * subscriber had left, also with WEIR_REACTIVE_STAY; who comes later
	 * gets -ETIMEDOUT. 0: no timeout. Where there is no memory for a timer
	 * the actor fails with -ENOMEM.
	 */
	uint64_t timeout_ns;
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
	bool late;     /* nobody subscribed in time */
	/* Holds a reference of the actor while it is armed. */
	struct weir_timer timer;
	uint64_t timeout_ns; /* 0: none, or no more */
	uint64_t late_at_ns; /* 0: not begun */
	/* Of an actor between: who waits until something is wanted here. */
	struct weir_out *source;
	uint32_t wanted; /* any thread */
};

/*
 * Makes a publisher of an out-port that has no link yet. `reactive` lives as
 * long as the port's actor; `options` is copied and may be NULL.
 *
 * The publisher takes one subscriber. If the out-port has a fan (weir_out_fan),
 * it takes as many as like, at any time. With WEIR_FAN_BROADCAST all get the
 * items that are put from then on; the slowest sets the pace, and others may be
 * ahead of it by the fan's capacity. With WEIR_FAN_BALANCE each item goes to
 * one of them.
 *
 * Others are rejected: -EISCONN, there is one already; -ENOTSUP, items that can
 * be dropped and not shared; -ENOMEM; -ESHUTDOWN, an actor between is needed
 * and the executor drains. After the end of the stream everyone gets that end
 * at once (3.14).
 *
 * Signals are sent between turns, by the slice of the actor or of an actor
 * between, on whatever thread runs it; so those of one subscriber come one
 * after another, and several subscribers of a broadcast may get theirs at once.
 * The first signal comes when the actor has been started.
 *
 * When no subscriber is left, that is told as of links, by
 * weir_actor_ops.cancelled, and the stream is over: who comes later gets
 * -ECANCELED. Not with WEIR_REACTIVE_STAY.
 *
 * An item that is NULL cannot be sent by on_next: the subscriber's stream ends
 * with -EINVAL. Over a link it can.
 *
 * Who subscribes, or has another thread do so, holds a reference of the actor,
 * or sets it up; others subscribe when all but the start is done. An actor puts
 * its last item and finishes (WEIR_TURN_END) in one turn: a turn that only
 * finds that there are no more waits for demand, and an end needs none (1.5).
 *
 * A subscriber that is broken is reported by weir_executor_options.broken.
 *
 * -EINVAL: null, a port that was never set up, a bad capacity, unknown flags.
 * -EBUSY: the out-port has a link or a publisher. -EPIPE: it has ended. -EPERM.
 * -ENOTSUP: a timeout, and the executor has no timers. Then nothing has
 * changed. Owner.
 */
WEIR_API int weir_reactive_out_init(
	struct weir_reactive_out *reactive, struct weir_out *out,
	const struct weir_reactive_out_options *options);

/*
 * Whether the publisher's stream is over because nobody has subscribed in time:
 * what weir_actor_ops.cancelled may ask. False for NULL. Owner.
 */
WEIR_API bool weir_reactive_out_late(const struct weir_reactive_out *reactive);

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
	 * Instead of the two: how many to request now, as `remaining` were
	 * requested and not taken by a turn yet; request.h has the usual
	 * answers. An answer is cut down to what the in-port has room for. With
	 * a burst, a smaller one may leave a turn waiting. Asked by the owner
	 * when the actor starts, after each run of turns and after handlers.
	 * What it answers before there is a subscription is requested when
	 * that comes, in one call.
	 */
	int64_t (*demand)(int64_t remaining, void *context);
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
 * weir_out_link() do not work with it from then on (-EISCONN). `reactive` lives
 * as long as the port's actor; `options` is copied and may be NULL.
 *
 * It subscribes once; who lets it subscribe holds a reference of the actor, or
 * sets it up. Requests are sent by the actor's slice. The end of the stream is
 * told as of links, by weir_actor_ops.ended. weir_in_cancel() and the actor's
 * end cancel the subscription.
 *
 * A publisher that sends more than was requested (1.1) is cancelled, and the
 * stream ends with -EOVERFLOW. So is one whose items are other than those that
 * the in-port names, if it names any: -EINVAL.
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
 * (weir_demand_zero). 0; on a link, after a cancel and after the end it does
 * nothing. -EINVAL: null, n <= 0. -ENOBUFS: the in-port has no room for that
 * many beside what was requested before. -EPERM. Owner.
 */
WEIR_API int weir_reactive_in_request(struct weir_reactive_in *reactive,
				      int64_t n);

#ifdef __cplusplus
}
#endif

#endif
