/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the two halves of reactive.h know of each other: how a publisher over an
 * out-port and a subscriber over an in-port become a link.
 *
 * If the caller of weir_publisher_subscribe() owns both actors, in a slice or
 * because they are new, the subscription is a weir_out_link(). New actors are
 * held meanwhile, as other threads may subscribe at the same time, or start or
 * stop them. Otherwise each owner makes its half:
 *
 * 1. The publisher's owner puts its *out_subscription* into
 *    reactive_in->subscription as an offer (marked in the lowest bit) and
 *    signals the subscriber's actor.
 * 2. The subscriber's owner answers in sub->link_offer and signals back:
 *
 *	OFFERED -> ACCEPTED  it has made the in-port's half
 *	OFFERED -> REFUSED   the subscriber has ended
 *
 * 3. If the offer was accepted the publisher's owner makes the out-port's half.
 *
 * A publisher that ends meanwhile need not know the answer: it ends the
 * in-port's lane, in the same way for half a link and for none.
 */
#ifndef WEIR_STREAM_REACTIVE_H
#define WEIR_STREAM_REACTIVE_H

#include <assert.h>

#include <ck_pr.h>

#include <weir/reactive.h>

#include "actor/gate.h"
#include "actor/in.h"
#include "actor/out.h"
#include "actor/port.h"

/* 1.1: a publisher has sent more than was requested. Static. */
extern struct weir_error weir__overflow;

/* sub->link_offer, atomic; the in-port's owner's. */
enum { WEIR__LINK_OFFERED, WEIR__LINK_ACCEPTED, WEIR__LINK_REFUSED };

/* sub->state, atomic; but OVER set by any thread. */
enum {
	WEIR__SUBSCRIPTION_CANCELLED = 1u << 0,
	WEIR__SUBSCRIPTION_BAD = 1u << 1,  /* request(n <= 0) */
	WEIR__SUBSCRIPTION_NULL = 1u << 2, /* a null item, by the owner */
	WEIR__SUBSCRIPTION_BROKEN =
		1u << 3, /* a signal was refused, by the owner */
	WEIR__SUBSCRIPTION_OVER =
		1u << 4, /* the last signal was sent, by the owner */
	WEIR__SUBSCRIPTION_GONE =
		WEIR__SUBSCRIPTION_CANCELLED | WEIR__SUBSCRIPTION_BAD |
		WEIR__SUBSCRIPTION_NULL | WEIR__SUBSCRIPTION_BROKEN,
};

/*
 * One subscriber of a publisher over an out-port. A subscription holds a
 * reference of the actor as long as it lives, since the subscriber may call
 * `request`.
 */
struct weir__out_subscription {
	struct weir_subscription subscription;
	struct weir__sink sink;
	struct weir_reactive_out *reactive;
	struct weir_subscriber *subscriber; /* a reference, the owner's */
	struct weir_in *in;		    /* offered a link */
	struct weir__out_subscription *next;
	int64_t granted; /* any thread */
	int64_t used;	 /* the owner's */
	uint32_t state;
	uint32_t link_offer;
};

/*
 * Makes one for a subscriber, of which it holds a reference. NULL: no memory.
 * Any thread that holds a reference of the actor.
 */
struct weir__out_subscription *weir__out_subscription_new(
	struct weir_reactive_out *reactive, struct weir_subscriber *subscriber);

/*
 * The first request, or a link, lets the source of a relay begin. Any thread.
 */
void weir__reactive_out_want(struct weir_reactive_out *reactive);

/* Makes the subscription a sink of the out-port. Owner. */
void weir__out_subscription_attach(struct weir__out_subscription *sub);

/* The publisher's last touch of a subscription, after the last signal. */
void weir__out_subscription_detach(struct weir__out_subscription *sub);

/* A signal was refused (2.13): `rc` is what the subscriber returned. */
void weir__broken(const struct weir_executor *executor,
		  struct weir_subscriber *subscriber, int rc);
void weir__reactive_out_broken(struct weir_reactive_out *reactive,
			       struct weir_subscriber *subscriber, int rc);

static inline uint32_t weir__out_subscription_state(
	const struct weir__out_subscription *sub)
{
	/* relaxed: the bits alone say what they stand for */
	return ck_pr_load_32(&sub->state);
}

/* How many of the items come before one that cannot be sent. */
static inline uint32_t weir__items_to_null(void *const *items, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && items[i]; i++)
		;
	return i;
}

/*
 * True: the subscription is that of weir_subscriber_reject(), and belongs to no
 * stream.
 */
bool weir__subscription_rejected(const struct weir_subscription *subscription);

/*
 * True: the subscription is one of a publisher of ours whose actor runs on this
 * executor, which drains.
 */
bool weir__subscription_drains(const struct weir_subscription *subscription,
			       const struct weir_executor *executor);

/*
 * The subscriber as one over an in-port that could have a link with `out`, or
 * NULL. Any thread.
 */
struct weir_reactive_in *weir__reactive_in_of(
	struct weir_subscriber *subscriber, const struct weir_out *out);

/*
 * The in-port gets a producer; the owner of both actors makes the link. 0, or
 * why there is none: -EALREADY, the subscriber has subscribed before.
 */
int weir__reactive_in_link(struct weir_reactive_in *reactive,
			   struct weir_out *out);

/*
 * As weir_subscriber_reject(); a broken subscriber is reported to `executor`.
 */
void weir__reject(const struct weir_executor *executor,
		  struct weir_subscriber *subscriber, struct weir_error *error);

/* Offers a link; false: the subscriber has subscribed before. */
bool weir__reactive_in_link_offer(struct weir_reactive_in *reactive,
				  struct weir__out_subscription *sub);

/*
 * As weir_publisher_subscribe(), but the owner makes the link, if one is made.
 */
void weir__reactive_out_subscribe(struct weir_reactive_out *reactive,
				  struct weir_subscriber *subscriber);

/* The ring in which items wait for on_next. 0 or -ENOMEM. Owner. */
int weir__reactive_out_ring(struct weir_reactive_out *reactive);

/*
 * Serves a subscriber through a relay, or rejects the subscriber; takes a
 * reference of it. -ENOMEM, or what weir_out_link() reports: neither was done.
 * Owner of `out`.
 */
int weir__relay(struct weir_out *out, struct weir_subscriber *subscriber);

/* As weir_reactive_out_init(), with a table of the functions below. */
int weir__reactive_out_init(struct weir_reactive_out *reactive,
			    struct weir_out *out,
			    const struct weir_reactive_out_options *options,
			    const struct weir__port_ops *ops);
/* `relay` is weir__relay(); NULL: the out-port, a relay's own, needs none. */
int weir__reactive_out_signalled(
	struct weir_port *port,
	int (*relay)(struct weir_out *out, struct weir_subscriber *subscriber));
void weir__reactive_out_other_ended(struct weir_port *port,
				    struct weir_port *other,
				    struct weir_error *error);
void weir__reactive_out_close(struct weir_port *port, struct weir_error *error);
void weir__reactive_out_fini(struct weir_port *port);

/*
 * User code of another actor is called between these two: it must not find
 * itself the owner of the actor whose slice calls it.
 */
static inline struct weir_actor *weir__step_out(void)
{
	struct weir_actor *actor = weir__actor_here();

	weir__thread.task = NULL;
	return actor;
}

static inline void weir__step_in(struct weir_actor *actor)
{
	assert(!weir__thread.task);
	weir__thread.task = actor ? &actor->task : NULL;
}

/* When a stream completes the subscriber can subscribe again, and the in-port
 * goes on. Owner, before start. */
void weir__reactive_in_stay(struct weir_reactive_in *reactive);
/* True: it has no publisher. Any thread; a hint, if others subscribe it. */
bool weir__reactive_in_alone(struct weir_reactive_in *reactive);

#endif
