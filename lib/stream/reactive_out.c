/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers over out-ports. A thread that subscribes pushes a subscription
 * onto the list `pending` and signals the actor; the actor's owner does all
 * else, so the signals of each subscriber come one after another (1.3).
 *
 * The list is closed when the stream ends: the thread that subscribes later
 * rejects its subscriber, with the same end.
 */
#include <weir/reactive.h>

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "actor/actor.h"
#include "actor/firing.h"
#include "base/options.h"
#include "stream/reactive.h"

#define CAPACITY 64u

WEIR__CHECK_OTHER_PORT(struct weir__port_adapter);

/* In reactive->pending when the stream has ended. */
static struct weir__out_subscription closed;

static struct weir_actor *actor_of(const struct weir_reactive_out *reactive)
{
	return reactive->out->port.actor;
}

/* --- Subscribing ---------------------------------------------------------- */

/* 1.9: on_subscribe with a subscription that does nothing, and the end. */
void weir__reject(const struct weir_executor *executor,
		  struct weir_subscriber *subscriber, struct weir_error *error)
{
	struct weir_actor *self = weir__step_out();
	int rc;

	/* keeps the subscriber until weir__broken() has reported it */
	weir_subscriber_ref(subscriber);
	rc = weir_subscriber_reject(subscriber, error);
	if (rc != 0)
		weir__broken(executor, subscriber, rc);
	weir_subscriber_unref(subscriber);
	weir__step_in(self);
}

static void reject(struct weir_reactive_out *reactive,
		   struct weir_subscriber *subscriber, struct weir_error *error)
{
	weir__reject(actor_of(reactive)->executor, subscriber, error);
}

static void reject_subscription(struct weir__out_subscription *sub,
				struct weir_error *error)
{
	reject(sub->reactive, sub->subscriber, error);
	weir__out_subscription_detach(sub);
}

/*
 * True if the user has given the out-port a fan: then it takes any number of
 * subscribers.
 */
static bool takes_many(const struct weir_reactive_out *reactive)
{
	return reactive->out->fan && !reactive->own_ring;
}

/* Why there is no room for one more subscriber, or 0. Owner. */
static int check_room(const struct weir_reactive_out *reactive)
{
	const struct weir_out *out = reactive->out;
	bool others = weir__out_sinks(out) || reactive->link_offers;

	if (!others)
		return 0;
	if (!takes_many(reactive))
		return -EISCONN;
	return weir__out_shares(out) ? 0 : -ENOTSUP;
}

int weir__reactive_out_ring(struct weir_reactive_out *reactive)
{
	struct weir_out *out = reactive->out;
	int rc;

	assert(weir__owned(out->port.actor));
	assert(reactive->capacity &&
	       !(reactive->capacity & (reactive->capacity - 1)));
	if (out->fan)
		return 0;
	rc = weir__out_ring(out, WEIR_FAN_BROADCAST, reactive->capacity);
	reactive->own_ring = rc == 0;
	return rc;
}

/* True: the subscriber has a link, or will answer the offer of one. Owner. */
static bool offer_link(struct weir__out_subscription *sub)
{
	struct weir_reactive_out *reactive = sub->reactive;
	struct weir_reactive_in *in =
		weir__reactive_in_of(sub->subscriber, reactive->out);

	/* a subscription is offered one link, and answers once */
	assert(!sub->in);
	if (!in)
		return false;
	if (!weir__reactive_in_link_offer(in, sub)) { /* 2.5 */
		weir__out_leave(reactive->out);
		weir__out_subscription_detach(sub);
		return true;
	}
	sub->in = in->in;
	sub->next = reactive->link_offers;
	reactive->link_offers = sub;
	return true;
}

/* Calls on_subscribe and makes the subscription a sink of the out-port. */
static void serve(struct weir__out_subscription *sub)
{
	struct weir_reactive_out *reactive = sub->reactive;
	struct weir_subscriber *subscriber = sub->subscriber;
	struct weir_actor *self = weir__step_out();
	int rc;

	rc = subscriber->ops->on_subscribe(subscriber, &sub->subscription);
	if (rc != 0)
		weir__reactive_out_broken(reactive, subscriber, rc);
	weir__step_in(self);
	if (rc == 0) {
		weir__out_subscription_attach(sub);
	} else {
		weir__out_leave(reactive->out);
		weir__out_subscription_detach(sub);
	}
}

/* True if subscribers are served through a relay. */
static bool relays(const struct weir_reactive_out *reactive)
{
	const struct weir_out *out = reactive->out;

	return out->port.burst > 1 ||
	       (takes_many(reactive) && weir__out_broadcasts(out));
}

static void admit(struct weir__out_subscription *sub,
		  int (*relay)(struct weir_out *out,
			       struct weir_subscriber *subscriber))
{
	struct weir_reactive_out *reactive = sub->reactive;
	bool relayed = relays(reactive);
	int rc = check_room(reactive);

	assert(weir__owned(actor_of(reactive)));
	assert(sub->subscriber);
	if (rc == 0 && offer_link(sub))
		return;
	if (rc == 0)
		rc = relayed ? relay(reactive->out, sub->subscriber)
			     : weir__reactive_out_ring(reactive);
	if (rc < 0)
		reject_subscription(sub, weir_error_of(rc));
	else if (relayed)
		weir__out_subscription_detach(
			sub); /* the relay has taken it over */
	else
		serve(sub);
}

/* In the order in which they came. */
static struct weir__out_subscription *reversed(
	struct weir__out_subscription *list)
{
	struct weir__out_subscription *first = NULL, *next;

	for (; list; list = next) {
		next = list->next;
		list->next = first;
		first = list;
	}
	return first;
}

/* An in-port's owner has answered. */
static void answered(struct weir__out_subscription *sub, uint32_t answer)
{
	struct weir_reactive_out *reactive = sub->reactive;

	assert(sub->in && weir__owned(actor_of(reactive)));
	if (answer == WEIR__LINK_ACCEPTED &&
	    weir__link_out(reactive->out, sub->in) == 0)
		weir__reactive_out_want(reactive);
	else
		weir__out_leave(reactive->out);
	weir__out_subscription_detach(sub);
}

static void read_answers(struct weir_reactive_out *reactive)
{
	struct weir__out_subscription **link = &reactive->link_offers, *sub;
	uint32_t answer;

	while ((sub = *link)) {
		/* relaxed: either half touches nothing of the other's */
		answer = ck_pr_load_32(&sub->link_offer);
		assert(sub->reactive == reactive);
		if (answer == WEIR__LINK_OFFERED) {
			link = &sub->next;
			continue;
		}
		*link = sub->next;
		answered(sub, answer);
	}
}

static struct weir_reactive_out *reactive_of(struct weir_port *port)
{
	return weir_container_of(port, struct weir_reactive_out, adapter.port);
}

static void admit_pending(struct weir_reactive_out *reactive,
			  int (*relay)(struct weir_out *out,
				       struct weir_subscriber *subscriber))
{
	struct weir__out_subscription *sub, *next;

	sub = ck_pr_fas_ptr(&reactive->pending, NULL);
	/* acquire: the subscriptions; pairs with the release in post() */
	ck_pr_fence_acquire();
	assert(sub != &closed);
	for (sub = reversed(sub); sub; sub = next) {
		next = sub->next;
		assert(sub->reactive == reactive);
		admit(sub, relay);
	}
}

/* --- A timeout for the first of them -------------------------------------- */

static void out_fire(struct weir_timer *timer)
{
	struct weir_actor *actor = actor_of(
		weir_container_of(timer, struct weir_reactive_out, timer));

	weir__actor_signal(actor, WEIR__SIGNAL_PORTS);
	weir_actor_unref(actor);
}

static int arm(struct weir_reactive_out *reactive, uint64_t at_ns)
{
	struct weir_actor *actor = actor_of(reactive);
	int rc;

	/* late_at_ns == 0: no timer is armed */
	assert(!reactive->late_at_ns && at_ns > 0);
	weir_actor_ref(actor);
	rc = weir_timer_arm(actor->executor, &reactive->timer, at_ns);
	if (rc < 0)
		weir_actor_unref(actor);
	else
		reactive->late_at_ns = at_ns;
	return rc;
}

/* There is no time limit for the first subscriber any more. */
static void disarm(struct weir_reactive_out *reactive)
{
	struct weir_actor *actor = actor_of(reactive);

	if (reactive->late_at_ns &&
	    weir_timer_cancel(actor->executor, &reactive->timer))
		weir_actor_unref(actor);
	reactive->timeout_ns = 0;
	reactive->late_at_ns = 0;
}

/* --- The end -------------------------------------------------------------- */

/* The stream has ended before the link was made, or when half of it was. */
static void withdraw(struct weir__out_subscription *sub,
		     struct weir_error *error)
{
	assert(sub->in);
	(void)weir__in_end(sub->in, error);
	weir__out_subscription_detach(sub);
}

static void close_pending(struct weir_reactive_out *reactive,
			  struct weir_error *error)
{
	struct weir__out_subscription *sub, *next;

	if (ck_pr_load_ptr(&reactive->pending) == &closed)
		return;
	disarm(reactive);
	assert(!reactive->error);
	reactive->error = weir_error_ref(error);
	/* release: the error, for threads that find the list closed; acquire:
	 * the subscriptions; pairs with both in post() */
	ck_pr_fence_release();
	sub = ck_pr_fas_ptr(&reactive->pending, &closed);
	ck_pr_fence_acquire();
	assert(sub != &closed);
	for (; sub; sub = next) {
		next = sub->next;
		reject_subscription(sub, error);
	}
	for (sub = reactive->link_offers; sub; sub = next) {
		next = sub->next;
		withdraw(sub, error);
	}
	reactive->link_offers = NULL;
}

/* No subscriber has come in time: none may come any more. */
static int expire(struct weir_reactive_out *reactive)
{
	struct weir_out *out = reactive->out;

	assert(!reactive->late && !reactive->link_offers);
	reactive->late = true;
	close_pending(reactive, weir_error_of(-ETIMEDOUT));
	weir__out_set_stays(out, false);
	weir__out_leave(out);
	return weir__out_left(out);
}

/*
 * Looks whether the time for the first subscriber is over. The time begins with
 * the actor's first slice, which handles the signal that setting up has sent.
 * The clock decides; the timer only wakes. The pending ones have been admitted.
 */
static int look_at_clock(struct weir_reactive_out *reactive)
{
	struct weir_executor *executor = actor_of(reactive)->executor;
	uint64_t now;

	if (weir__out_sinks(reactive->out) || reactive->link_offers ||
	    weir__out_has_left(reactive->out)) {
		disarm(reactive);
		return 0;
	}
	now = weir_executor_now(executor);
	if (reactive->late_at_ns)
		return now < reactive->late_at_ns ? 0 : expire(reactive);
	if (reactive->timeout_ns >= WEIR_FOREVER - now)
		return 0;
	return arm(reactive, now + reactive->timeout_ns);
}

int weir__reactive_out_signalled(
	struct weir_port *port,
	int (*relay)(struct weir_out *out, struct weir_subscriber *subscriber))
{
	struct weir_reactive_out *reactive = reactive_of(port);
	const struct weir__out_subscription *pending =
		ck_pr_load_ptr(&reactive->pending);
	int rc = 0;

	if (pending == &closed)
		return 0;
	if (reactive->link_offers)
		read_answers(reactive);
	if (pending)
		admit_pending(reactive, relay);
	if (reactive->timeout_ns)
		rc = look_at_clock(reactive);
	if (rc != 0 || reactive->late || reactive->link_offers)
		return rc;
	return weir__out_left(reactive->out);
}

void weir__reactive_out_other_ended(struct weir_port *port,
				    struct weir_port *other,
				    struct weir_error *error)
{
	struct weir_reactive_out *reactive = reactive_of(port);

	if (other == &reactive->out->port)
		close_pending(reactive, error);
}

void weir__reactive_out_close(struct weir_port *port, struct weir_error *error)
{
	close_pending(reactive_of(port), error);
}

void weir__reactive_out_fini(struct weir_port *port)
{
	weir_error_unref(reactive_of(port)->error);
}

/* False: the list is closed. Any thread; linearises at the swap. */
static bool post(struct weir__out_subscription *sub)
{
	struct weir__out_subscription **pending = &sub->reactive->pending;
	struct weir__out_subscription *head = ck_pr_load_ptr(pending);

	do {
		if (head == &closed) {
			/* acquire: the error; pairs with the release in
			 * close_pending() */
			ck_pr_fence_acquire();
			return false;
		}
		sub->next = head;
		/* release: the subscription; pairs with the acquire of the
		 * owner that takes the list */
		ck_pr_fence_release();
	} while (!ck_pr_cas_ptr_value(pending, head, sub, &head));
	return true;
}

/* Both ends are held. */
static bool link_held(struct weir_reactive_out *reactive,
		      struct weir_reactive_in *in)
{
	/* pending subscriptions came first */
	if (ck_pr_load_ptr(&reactive->pending) || check_room(reactive) < 0 ||
	    weir__reactive_in_link(in, reactive->out) < 0)
		return false;
	disarm(reactive);
	return true;
}

/* The caller owns both ends, or they have not been started, mostly. */
static bool link_now(struct weir_reactive_out *reactive,
		     struct weir_subscriber *subscriber)
{
	struct weir_reactive_in *in =
		weir__reactive_in_of(subscriber, reactive->out);
	struct weir_actor *from = actor_of(reactive), *to;
	bool linked;

	if (!in)
		return false;
	to = in->in->port.actor;
	if (!weir__actors_hold(from, to))
		return false;
	linked = link_held(reactive, in);
	weir__actors_let_go(from, to);
	return linked;
}

void weir__reactive_out_subscribe(struct weir_reactive_out *reactive,
				  struct weir_subscriber *subscriber)
{
	struct weir__out_subscription *sub =
		weir__out_subscription_new(reactive, subscriber);

	if (!sub)
		reject(reactive, subscriber, weir_error_of(-ENOMEM));
	else if (post(sub))
		weir__actor_signal(actor_of(reactive), WEIR__SIGNAL_PORTS);
	else
		reject_subscription(sub, reactive->error);
}

static int subscribe(struct weir_publisher *publisher,
		     struct weir_subscriber *subscriber)
{
	struct weir_reactive_out *reactive;

	if (!publisher || !subscriber)
		return -EINVAL;
	reactive = weir_container_of(publisher, struct weir_reactive_out,
				     publisher);
	if (!link_now(reactive, subscriber))
		weir__reactive_out_subscribe(reactive, subscriber);
	return 0;
}

static const struct weir_publisher_ops publisher_ops = {
	.subscribe = subscribe,
};

/* --- Setting up ----------------------------------------------------------- */

static int check_options(const struct weir_reactive_out_options *options)
{
	size_t capacity = options->capacity;

	if (!weir__reserved_zero(options->reserved) ||
	    options->flags & ~WEIR_REACTIVE_STAY ||
	    capacity > WEIR_CAPACITY_MAX || (capacity & (capacity - 1)))
		return -EINVAL;
	return 0;
}

int weir__reactive_out_init(struct weir_reactive_out *reactive,
			    struct weir_out *out,
			    const struct weir_reactive_out_options *options,
			    const struct weir__port_ops *ops)
{
	static const struct weir_reactive_out_options none;
	int rc;

	if (!options)
		options = &none;
	if (!reactive || !out || !out->port.actor || check_options(options) < 0)
		return -EINVAL;
	rc = weir__port_check_owner(&out->port);
	if (rc < 0)
		return rc;
	if (weir__out_over(out))
		return -EPIPE;
	if (weir__out_sinks(out) || weir__out_publishes(out))
		return -EBUSY;
	if (options->timeout_ns && !out->port.actor->executor->ops->timer_arm)
		return -ENOTSUP;
	*reactive = (struct weir_reactive_out){
		.publisher.ops = &publisher_ops,
		.adapter.ops = ops,
		.out = out,
		.timer.fire = out_fire,
		.timeout_ns = options->timeout_ns,
		.capacity = options->capacity ? (uint32_t)options->capacity
					      : CAPACITY,
	};
	weir__port_init(&reactive->adapter.port, out->port.actor,
			WEIR__PORT_ADAPTER);
	weir__out_set_publisher(out);
	weir__out_set_stays(out, options->flags & WEIR_REACTIVE_STAY);
	if (options->timeout_ns)
		weir__actor_signal(out->port.actor, WEIR__SIGNAL_PORTS);
	return 0;
}

bool weir_reactive_out_late(const struct weir_reactive_out *reactive)
{
	return reactive && reactive->late;
}
