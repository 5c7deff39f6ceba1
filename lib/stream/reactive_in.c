/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Subscribers over in-ports. A publisher's signals put tokens and the end into
 * the in-port, from whatever thread. Only the owner calls `request` and
 * `cancel`, so they come one after another (2.7). It requests when a run has
 * been published, as demand may have changed then.
 *
 * Publishers hold the subscriber, and the subscriber holds the actor as long as
 * they do.
 */
#include <weir/reactive.h>

#include <assert.h>
#include <errno.h>
#include <string.h>

#include <ck_pr.h>

#include "actor/firing.h"
#include "base/options.h"
#include "executor/registry.h"
#include "inspect/trace.h"
#include "stream/reactive.h"

/*
 * reactive->subscription is NULL, a subscription, an offer (which is one with
 * the lowest bit set), &linked or &stopped. It changes by swaps: NULL -> any of
 * these, by the thread that subscribes or offers; an offer -> linked, by the
 * owner; anything -> stopped, by the owner. If it stays: a subscription whose
 * stream is over -> NULL, by the owner.
 */
static struct weir_subscription linked, stopped;

struct weir_error weir__overflow = {
	.code = -EOVERFLOW,
	.origin = "weir",
	.message = "1.1: the publisher has sent more than was requested",
};

static struct weir_reactive_in *reactive_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct weir_reactive_in,
				 subscriber);
}

static struct weir_actor *actor_of(const struct weir_reactive_in *reactive)
{
	return reactive->in->port.actor;
}

static bool is_link_offer(const struct weir_subscription *subscription)
{
	return (uintptr_t)subscription & 1;
}

static struct weir__out_subscription *link_offer_of(
	struct weir_subscription *subscription)
{
	assert(is_link_offer(subscription));
	return weir_container_of((char *)subscription - 1,
				 struct weir__out_subscription, subscription);
}

/* True if the subscription is one of a publisher that is not linked. */
static bool is_foreign(const struct weir_subscription *subscription)
{
	return subscription && subscription != &linked &&
	       subscription != &stopped && !is_link_offer(subscription);
}

/* True if the subscription is a link, or an offer of one. */
static bool is_link(const struct weir_subscription *subscription)
{
	return subscription == &linked || is_link_offer(subscription);
}

/* NULL -> something; false: the subscriber has subscribed before. */
static bool claim(struct weir_reactive_in *reactive,
		  struct weir_subscription *subscription)
{
	/* release: the subscription, or offer; pairs with the acquire in
	 * in_look() */
	ck_pr_fence_release();
	if (!ck_pr_cas_ptr(&reactive->subscription, NULL, subscription))
		return false;
	/* acquire: what the publisher before has left; pairs with the release
	 * in renew() */
	ck_pr_fence_acquire();
	return true;
}

static struct weir_subscription *in_look(struct weir_reactive_in *reactive)
{
	struct weir_subscription *subscription =
		ck_pr_load_ptr(&reactive->subscription);

	/* acquire: the subscription; pairs with the release in claim() */
	ck_pr_fence_acquire();
	return subscription;
}

/* --- The publisher's signals ---------------------------------------------- */

static int on_subscribe(struct weir_subscriber *subscriber,
			struct weir_subscription *subscription)
{
	struct weir_reactive_in *reactive;
	int rc = 0;

	if (!subscription)
		return -EINVAL;
	reactive = reactive_of(subscriber);
	weir_subscription_ref(subscription);
	if (!claim(reactive, subscription)) {
		weir_subscription_cancel(subscription); /* 2.5 */
		weir_subscription_unref(subscription);
		return 0;
	}
	reactive->items = subscription->items;
	if (reactive->takes && reactive->takes != reactive->items &&
	    !weir__subscription_rejected(subscription)) {
		rc = -EINVAL;
		(void)weir__in_end(reactive->in, weir_error_of(rc));
	}
	weir__actor_signal(actor_of(reactive), WEIR__SIGNAL_PORTS);
	return rc;
}

static void in_drop(struct weir_reactive_in *reactive, void *item)
{
	if (reactive->items && reactive->items->drop)
		reactive->items->drop(item, reactive->items->context);
	weir__registry_dropped(actor_of(reactive)->executor, 1);
}

static int in_end(struct weir_reactive_in *reactive, struct weir_error *error)
{
	/* 2.8: of another publisher, whose subscription was cancelled (2.5) */
	if (is_link(in_look(reactive)))
		return 0;
	ck_pr_store_32(&reactive->ended, 1);
	(void)weir__in_end(reactive->in, error);
	return 0;
}

/* How many items are requested and not received. */
static int64_t expected(struct weir_reactive_in *reactive)
{
	/* No order: an item that was requested comes here through the
	 * publisher, which orders it behind the request. */
	return (int64_t)ck_pr_load_64((uint64_t *)&reactive->requested) -
	       reactive->received;
}

static int on_next(struct weir_subscriber *subscriber, void *item)
{
	struct weir_reactive_in *reactive = reactive_of(subscriber);
	int rc = -EOVERFLOW;

	if (!item)
		return -EINVAL;
	if (expected(reactive))
		rc = weir__in_put(reactive->in, &item, 1);
	else if (ck_pr_load_32(&reactive->ended) ||
		 in_look(reactive) == &stopped)
		rc = -EPIPE;
	if (WEIR_LIKELY(rc == 0)) {
		reactive->received++;
		return 0;
	}
	if (rc == -EPIPE) { /* 2.8: late */
		in_drop(reactive, item);
		return 0;
	}
	if (!is_link(in_look(reactive)))
		(void)weir__in_end(reactive->in, &weir__overflow);
	return -EOVERFLOW;
}

static int on_next_n(struct weir_subscriber *subscriber, void *const *items,
		     size_t n, size_t *taken)
{
	struct weir_reactive_in *reactive = reactive_of(subscriber);
	int64_t left;
	uint32_t good;
	int rc = 0;

	if (!items || !taken)
		return -EINVAL;
	left = expected(reactive);
	good = weir__items_to_null(
		items, (uint32_t)((int64_t)n < left ? (int64_t)n : left));
	if (good && weir__in_put(reactive->in, items, good) == 0) {
		reactive->received += good;
		*taken = good;
	}
	/* the items that are left are late, too many, or null */
	while (*taken < n && (rc = on_next(subscriber, items[*taken])) == 0)
		++*taken;
	return rc;
}

static int on_error(struct weir_subscriber *subscriber,
		    struct weir_error *error)
{
	return error ? in_end(reactive_of(subscriber), error) : -EINVAL;
}

static int on_complete(struct weir_subscriber *subscriber)
{
	struct weir_reactive_in *reactive = reactive_of(subscriber);

	if (!reactive->stays || !is_foreign(in_look(reactive)))
		return in_end(reactive, NULL);
	/* release: what was received; pairs with the acquire in renew() */
	ck_pr_fence_release();
	ck_pr_store_32(&reactive->over, 1);
	weir__actor_signal(actor_of(reactive), WEIR__SIGNAL_PORTS);
	return 0;
}

/*
 * Called by the thread that subscribes, which keeps the actor there until this
 * returns.
 */
static void held(struct weir_subscriber *subscriber)
{
	weir_actor_ref(actor_of(reactive_of(subscriber)));
}

static void in_released(struct weir_subscriber *subscriber)
{
	const struct weir_reactive_in *reactive = reactive_of(subscriber);

	/* a drain has perhaps waited for that, see end_foreign() */
	if (reactive->stays)
		weir__actor_signal(actor_of(reactive), WEIR__SIGNAL_PORTS);
	weir_actor_unref(actor_of(reactive));
}

static const struct weir_subscriber_ops subscriber_ops = {
	.on_subscribe = on_subscribe,
	.on_next = on_next,
	.on_next_n = on_next_n,
	.on_error = on_error,
	.on_complete = on_complete,
	.held = held,
	.released = in_released,
};

/* --- The owner's part ----------------------------------------------------- */

/*
 * The most items that are requested and not taken: at least a burst, as a turn
 * needs one.
 */
static int64_t prefetch(const struct weir_reactive_in *reactive)
{
	int64_t n = (int64_t)reactive->options.prefetch;
	int64_t burst = reactive->in->port.burst;

	assert(burst > 0 && n <= (int64_t)weir__in_capacity(reactive->in));
	if (!n)
		return (int64_t)weir__in_capacity(reactive->in);
	return n > burst ? n : burst;
}

/*
 * The least number of items that is requested at once. Not more than there is
 * room for beside tokens that are too few for a turn, or the actor would wait
 * for them for ever.
 */
static int64_t refill(const struct weir_reactive_in *reactive)
{
	int64_t most = prefetch(reactive) - reactive->in->port.burst + 1;
	int64_t n = (int64_t)reactive->options.refill;

	if (!n)
		n = (prefetch(reactive) + 1) / 2;
	return n < most ? n : most;
}

/* How many items are to be requested now, by the settings. */
static int64_t demand(const struct weir_reactive_in *reactive)
{
	const struct weir_reactive_in_options *options = &reactive->options;
	int64_t room = prefetch(reactive) - reactive->remaining;
	int64_t n = room < refill(reactive) ? 0 : room;

	if (options->demand)
		n = options->demand(reactive->remaining, options->context);
	return n < room ? n : room;
}

static struct weir_reactive_in *adapted(struct weir_port *port)
{
	return weir_container_of(port, struct weir_reactive_in, adapter.port);
}

/* Tokens that turns have taken since the last time. */
static int64_t taken(struct weir_reactive_in *reactive)
{
	uint32_t head = weir__in_ever_taken(reactive->in);
	uint32_t n = weir__index_diff(head, reactive->head);

	reactive->head = head;
	return n;
}

static bool in_publish(struct weir_port *port)
{
	struct weir_reactive_in *reactive = adapted(port);
	struct weir_subscription *subscription = in_look(reactive);
	int64_t n;

	if (subscription == &linked || subscription == &stopped ||
	    (port->actor->flags & WEIR__ACTOR_ENDING))
		return false;
	reactive->remaining -= taken(reactive);
	assert(reactive->remaining >= 0);
	n = demand(reactive);
	if (n > 0) {
		reactive->remaining += n;
		reactive->unsent += n;
	}
	assert(reactive->remaining <= (int64_t)weir__in_capacity(reactive->in));
	return reactive->unsent > 0 && is_foreign(subscription);
}

/*
 * Sends the request: for a subscriber this is how the peer, its publisher, is
 * woken.
 */
static void in_wake(struct weir_port *port)
{
	struct weir_reactive_in *reactive = adapted(port);
	struct weir_subscription *subscription = in_look(reactive);
	int64_t n = reactive->unsent;
	struct weir_actor *self;

	/* a request would come too late */
	if (!is_foreign(subscription) || weir__in_ending(reactive->in))
		return;
	assert(n > 0);
	reactive->unsent = 0;
	/* before an item can come, as the end may drop that */
	reactive->in->items = subscription->items;
	ck_pr_store_64((uint64_t *)&reactive->requested,
		       (uint64_t)(reactive->requested + n));
	weir__trace_request(port->actor, n);
	self = weir__step_out();
	weir_subscription_request(subscription, n);
	weir__step_in(self);
}

/* Answers an offer. The caller gives up the offer's reference. */
static void answer(struct weir__out_subscription *sub, uint32_t what)
{
	assert(what != WEIR__LINK_OFFERED);
	/* relaxed: either half touches nothing of the other's */
	ck_pr_store_32(&sub->link_offer, what);
	weir__actor_signal(sub->reactive->out->port.actor, WEIR__SIGNAL_PORTS);
}

/* Makes the in-port's half of a link, unless either side has ended. */
static void accept_link_offer(struct weir_reactive_in *reactive,
			      struct weir__out_subscription *sub)
{
	struct weir_in *in = reactive->in;
	bool accepted;

	assert(weir__owned(actor_of(reactive)));
	/* The burst may have been set since the link was offered. */
	if (!weir__bursts_fit(sub->reactive->out->port.burst, in->port.burst,
			      in))
		(void)weir__in_end(in, weir_error_of(-EINVAL));
	weir__in_subscribe(in, false);
	accepted = weir__in_check_lane(in) == 0;
	if (accepted)
		weir__link_in(sub->reactive->out, in);
	answer(sub, accepted ? WEIR__LINK_ACCEPTED : WEIR__LINK_REFUSED);
	ck_pr_store_ptr(&reactive->subscription, &linked);
	weir_subscription_unref(&sub->subscription);
}

/*
 * In a drain a stream that comes from elsewhere ends here; one from the same
 * executor ends by itself. A subscriber that a publisher holds has subscribed
 * and will be told of its publisher: it waits for that.
 */
static void end_foreign(struct weir_reactive_in *reactive)
{
	struct weir_subscription *subscription = in_look(reactive);

	if (subscription ? is_foreign(subscription) &&
				   !weir__subscription_drains(
					   subscription,
					   actor_of(reactive)->executor)
			 : !ck_pr_load_32(&reactive->subscriber.refs))
		(void)weir__in_end(reactive->in, NULL);
}

static void in_drain(struct weir_port *port)
{
	adapted(port)->draining = true;
	end_foreign(adapted(port));
}

/*
 * The stream is over, and the next one may begin: what was requested and not
 * received does not come any more.
 */
static void renew(struct weir_reactive_in *reactive)
{
	struct weir_subscription *subscription = in_look(reactive);
	struct weir_actor *self;
	int64_t lost;

	if (!is_foreign(subscription) || !ck_pr_load_32(&reactive->over))
		return;
	if (reactive->draining) {
		(void)weir__in_end(reactive->in, NULL);
		return;
	}
	/* acquire: pairs with the release in on_complete() */
	ck_pr_fence_acquire();
	lost = expected(reactive);
	reactive->remaining -= lost + reactive->unsent;
	reactive->unsent = 0;
	assert(reactive->remaining >= 0);
	ck_pr_store_64((uint64_t *)&reactive->requested,
		       (uint64_t)reactive->received);
	ck_pr_store_32(&reactive->over, 0);
	/* release: all that; pairs with the acquire in claim() */
	ck_pr_fence_release();
	ck_pr_store_ptr(&reactive->subscription, NULL);
	self = weir__step_out();
	weir_subscription_unref(subscription);
	weir__step_in(self);
}

static int in_signalled(struct weir_port *port)
{
	struct weir_reactive_in *reactive = adapted(port);
	struct weir_subscription *subscription = in_look(reactive);

	if (is_link_offer(subscription))
		accept_link_offer(reactive, link_offer_of(subscription));
	renew(reactive);
	if (reactive->draining)
		end_foreign(reactive);
	return 0;
}

/* The in-port has ended, or its actor: cancels, and lets go. */
static void stop(struct weir_reactive_in *reactive)
{
	struct weir_subscription *subscription;
	struct weir_actor *self;

	subscription = ck_pr_fas_ptr(&reactive->subscription, &stopped);
	/* acquire: as in in_look() */
	ck_pr_fence_acquire();
	self = weir__step_out();
	if (is_link_offer(subscription)) {
		answer(link_offer_of(subscription), WEIR__LINK_REFUSED);
		weir_subscription_unref(
			&link_offer_of(subscription)->subscription);
	} else if (is_foreign(subscription)) {
		/* 2.3: not after the last signal */
		if (!ck_pr_load_32(&reactive->ended) &&
		    !ck_pr_load_32(&reactive->over))
			weir_subscription_cancel(subscription);
		weir_subscription_unref(subscription);
	}
	weir__step_in(self);
}

static void in_other_ended(struct weir_port *port, struct weir_port *other,
			   struct weir_error *error)
{
	struct weir_reactive_in *reactive = adapted(port);

	(void)error;
	if (other == &reactive->in->port)
		stop(reactive);
}

static void in_close(struct weir_port *port, struct weir_error *error)
{
	(void)error;
	stop(adapted(port));
}

/* Without a link, which is seen itself. */
static WEIR__LOOKS void adapter_look(const struct weir_port *port,
				     struct weir__look *look)
{
	const struct weir_reactive_in *reactive = weir_container_of(
		port, const struct weir_reactive_in, adapter.port);
	struct weir_subscription *subscription =
		ck_pr_load_ptr(&reactive->subscription);
	const struct weir_seen_demand half = {
		.subscription = subscription,
		.requested = (int64_t)ck_pr_load_64(
			(const uint64_t *)&reactive->requested),
		.sent = reactive->received,
		.to_port = &reactive->in->port,
	};

	if (!subscription || is_foreign(subscription))
		look->demand(look, &half);
}

static const struct weir__port_ops adapter_ops = {
	.look = adapter_look,
	.publish = in_publish,
	.wake = in_wake,
	.signalled = in_signalled,
	.drain = in_drain,
	.other_ended = in_other_ended,
	.close = in_close,
};

/* --- For publishers of ours ----------------------------------------------- */

struct weir_reactive_in *weir__reactive_in_of(
	struct weir_subscriber *subscriber, const struct weir_out *out)
{
	struct weir_reactive_in *reactive;

	if (subscriber->ops != &subscriber_ops)
		return NULL;
	reactive = reactive_of(subscriber);
	if (reactive->options.prefetch || reactive->options.refill ||
	    reactive->options.demand)
		return NULL;
	/* These do not change any more. */
	if (reactive->takes && reactive->takes != out->items)
		return NULL;
	if (!weir__bursts_fit(out->port.burst, reactive->in->port.burst,
			      reactive->in))
		return NULL;
	return reactive;
}

int weir__reactive_in_link(struct weir_reactive_in *reactive,
			   struct weir_out *out)
{
	struct weir_in *in = reactive->in;
	int rc;

	assert(weir__owned(actor_of(reactive)));
	if (!claim(reactive, &linked))
		return -EALREADY;
	weir__in_subscribe(in, false);
	rc = weir_out_link(out, in);
	if (rc < 0) {
		weir__in_subscribe(in, true);
		ck_pr_store_ptr(&reactive->subscription, NULL);
	}
	return rc;
}

bool weir__reactive_in_link_offer(struct weir_reactive_in *reactive,
				  struct weir__out_subscription *sub)
{
	char *offer = (char *)&sub->subscription + 1;

	weir_subscription_ref(&sub->subscription);
	if (!claim(reactive, (struct weir_subscription *)(void *)offer)) {
		weir_subscription_unref(&sub->subscription);
		return false;
	}
	weir__actor_signal(actor_of(reactive), WEIR__SIGNAL_PORTS);
	return true;
}

/* --- Setting up ----------------------------------------------------------- */

static int check_options(const struct weir_reactive_in_options *options,
			 size_t capacity)
{
	size_t most = options->prefetch ? options->prefetch : capacity;

	if (!weir__reserved_zero(options->reserved) || most > capacity ||
	    options->refill > most ||
	    (options->demand && (options->prefetch || options->refill)))
		return -EINVAL;
	return 0;
}

static int check_in(const struct weir_in *in)
{
	int rc = weir__port_check_owner(&in->port);

	if (rc < 0)
		return rc;
	if (in->port.flags & WEIR__PORT_ENDED)
		return -EPIPE;
	if (weir__in_used(in))
		return -EBUSY;
	return 0;
}

int weir_reactive_in_init(struct weir_reactive_in *reactive, struct weir_in *in,
			  const struct weir_reactive_in_options *options)
{
	static const struct weir_reactive_in_options none;
	int rc;

	if (!options)
		options = &none;
	if (!reactive || !in || !in->port.actor ||
	    check_options(options, weir__in_capacity(in)) < 0)
		return -EINVAL;
	rc = check_in(in);
	if (rc < 0)
		return rc;
	*reactive = (struct weir_reactive_in){
		.in = in,
		.options = *options,
		.takes = in->items,
		.adapter.ops = &adapter_ops,
	};
	(void)weir_subscriber_init(&reactive->subscriber, &subscriber_ops);
	weir__port_init(&reactive->adapter.port, in->port.actor,
			WEIR__PORT_ADAPTER);
	weir__in_subscribe(in, true);
	return 0;
}

void weir__reactive_in_stay(struct weir_reactive_in *reactive)
{
	reactive->stays = true;
}

bool weir__reactive_in_alone(struct weir_reactive_in *reactive)
{
	return !ck_pr_load_ptr(&reactive->subscription);
}

/*
 * How many items are requested and not taken; those that the present turn has
 * taken do not count.
 */
static int64_t not_taken(const struct weir_reactive_in *reactive)
{
	const struct weir_in *in = reactive->in;
	uint32_t head = weir__in_cursor(in);

	return reactive->remaining - weir__index_diff(head, reactive->head);
}

int weir_reactive_in_request(struct weir_reactive_in *reactive, int64_t n)
{
	struct weir_subscription *subscription;
	int rc;

	if (!reactive || !reactive->in || n <= 0)
		return -EINVAL;
	rc = weir__port_check_owner(&reactive->in->port);
	if (rc < 0)
		return rc;
	subscription = in_look(reactive);
	if (subscription == &linked || subscription == &stopped)
		return 0;
	assert(not_taken(reactive) >= 0);
	if (n > prefetch(reactive) - not_taken(reactive))
		return -ENOBUFS;
	reactive->remaining += n;
	reactive->unsent += n;
	return 0;
}
