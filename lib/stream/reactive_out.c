/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Publishers over out-ports. Whoever subscribes pushes a seat into the mail and
 * signals the actor; all else is done by its owner, so the signals of each
 * subscriber come one after another (1.3). A subscriber is a sink of the
 * out-port, whose room is its demand; handing out is calling on_next.
 *
 * `request` adds demand and unblocks the out-port by rule 2 of the firing
 * protocol (gate.c), `cancel` sets a bit and signals: neither waits for
 * anything, calls anybody, or recurses (3.3 to 3.5).
 *
 * The mail is closed when the stream ends: who subscribes later is rejected by
 * the thread that does, with the same end.
 */
#include <weir/reactive.h>

#include <assert.h>
#include <errno.h>

#include <ck_pr.h>

#include "base/demand.h"
#include "base/fence.h"
#include "base/memory.h"
#include "executor/registry.h"
#include "stream/reactive.h"

#define CAPACITY 64u

_Static_assert(offsetof(struct weir__attendant, ops) ==
		       offsetof(struct weir__other_port, ops),
	       "a struct weir__attendant is a struct weir__other_port");

/* In reactive->mail when the stream has ended. */
static struct weir__seat closed;

static struct weir_error not_positive = {
	.code = -EINVAL,
	.origin = "weir",
	.message = "3.9: non-positive subscription request",
};

static struct weir_error null_item = {
	.code = -EINVAL,
	.origin = "weir",
	.message = "2.13: a null item cannot be sent to a subscriber",
};

static struct weir_actor *actor_of(const struct weir_reactive_out *reactive)
{
	return reactive->out->port.actor;
}

static uint32_t state_of(const struct weir__seat *seat)
{
	/* relaxed: what a bit stands for is in the bit */
	return ck_pr_load_32(&seat->state);
}

/* --- Seats ---------------------------------------------------------------- */

static struct weir__seat *seat_of(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct weir__seat, subscription);
}

/* The first request, or a link, lets the source of a relay begin. */
static void want(struct weir_reactive_out *reactive)
{
	if (!reactive->source || ck_pr_load_32(&reactive->wanted))
		return;
	ck_pr_store_32(&reactive->wanted, 1);
	/* store -> load, rule 2; pairs with the fence of the arming */
	weir__fence_full();
	weir__port_unblock(&reactive->source->port);
}

static void request(struct weir_subscription *subscription, int64_t n)
{
	struct weir__seat *seat = seat_of(subscription);

	if (state_of(seat) & (WEIR__SEAT_GONE | WEIR__SEAT_OVER))
		return;
	if (n <= 0) {
		ck_pr_or_32(&seat->state, WEIR__SEAT_BAD);
		weir__actor_signal(actor_of(seat->reactive),
				   WEIR__SIGNAL_PORTS);
		return;
	}
	weir__demand_add(&seat->granted, n);
	/* swap -> load, rule 2; pairs with the fence of the arming */
	ck_pr_fence_atomic_load();
	weir__port_unblock(&seat->reactive->out->port);
	want(seat->reactive);
}

static void cancel(struct weir_subscription *subscription)
{
	struct weir__seat *seat = seat_of(subscription);

	if (state_of(seat) & (WEIR__SEAT_CANCELLED | WEIR__SEAT_OVER))
		return;
	ck_pr_or_32(&seat->state, WEIR__SEAT_CANCELLED);
	weir__actor_signal(actor_of(seat->reactive), WEIR__SIGNAL_PORTS);
}

static void seat_released(struct weir_subscription *subscription)
{
	struct weir__seat *seat = seat_of(subscription);
	struct weir_actor *actor = actor_of(seat->reactive);

	weir__free(actor->executor->options.allocator, seat, sizeof(*seat));
	weir_actor_unref(actor);
}

static const struct weir_subscription_ops seat_ops = {
	.request = request,
	.cancel = cancel,
	.released = seat_released,
};

bool weir__subscription_drains(const struct weir_subscription *subscription,
			       const struct weir_executor *executor)
{
	const struct weir__seat *seat =
		(const struct weir__seat *)(const void *)subscription;

	_Static_assert(offsetof(struct weir__seat, subscription) == 0,
		       "a seat begins with its subscription");
	return subscription->ops == &seat_ops &&
	       actor_of(seat->reactive)->executor == executor;
}

/* NULL: no memory. Any thread that holds a reference of the actor. */
static struct weir__seat *seat_new(struct weir_reactive_out *reactive,
				   struct weir_subscriber *subscriber)
{
	struct weir_actor *actor = actor_of(reactive);
	struct weir__seat *seat =
		weir__alloc(actor->executor->options.allocator, sizeof(*seat));

	if (!seat)
		return NULL;
	(void)weir_subscription_init(&seat->subscription, &seat_ops,
				     reactive->out->items);
	weir_actor_ref(actor);
	seat->reactive = reactive;
	seat->subscriber = weir_subscriber_ref(subscriber);
	return seat;
}

/* The publisher's last touch of a seat, after the last signal. */
static void let_go(struct weir__seat *seat)
{
	struct weir_subscriber *subscriber = seat->subscriber;
	struct weir_actor *self;

	assert(subscriber);
	ck_pr_or_32(&seat->state, WEIR__SEAT_OVER);
	seat->subscriber = NULL;
	self = weir__step_out();
	weir_subscriber_unref(subscriber);
	weir_subscription_unref(&seat->subscription);
	weir__step_in(self);
}

/* A signal was refused (2.13): `rc` is what the subscriber returned. */
static void broken(struct weir_reactive_out *reactive,
		   struct weir_subscriber *subscriber, int rc)
{
	const struct weir_executor_options *options =
		&actor_of(reactive)->executor->options;

	if (options->broken)
		options->broken(subscriber, rc, options->context);
}

/* on_error, or on_complete if there is none, unless it does not want any. */
static void send_end(struct weir__seat *seat, struct weir_error *error)
{
	struct weir_subscriber *subscriber = seat->subscriber;
	uint32_t state = state_of(seat);
	struct weir_actor *self;
	int rc;

	if (state & (WEIR__SEAT_CANCELLED | WEIR__SEAT_BROKEN))
		return;
	if (state & WEIR__SEAT_BAD)
		error = &not_positive;
	else if (state & WEIR__SEAT_NULL)
		error = &null_item;
	/* before the signal: it counts as cancelled from then on (1.6) */
	ck_pr_or_32(&seat->state, WEIR__SEAT_OVER);
	self = weir__step_out();
	rc = error ? subscriber->ops->on_error(subscriber, error)
		   : subscriber->ops->on_complete(subscriber);
	if (rc != 0)
		broken(seat->reactive, subscriber, rc);
	weir__step_in(self);
}

/* --- As sinks of the out-port --------------------------------------------- */

static struct weir__seat *seat_at(struct weir__sink *sink)
{
	return weir_container_of(sink, struct weir__seat, sink);
}

static uint32_t seat_room(struct weir__sink *sink)
{
	struct weir__seat *seat = seat_at(sink);
	int64_t left = weir__demand_left(&seat->granted, seat->used);

	assert(left >= 0);
	return left < UINT32_MAX ? (uint32_t)left : UINT32_MAX;
}

/* One by one; the number taken. */
static uint32_t send_each(struct weir__seat *seat,
			  const struct weir__slot *slots, uint32_t n, int *rc)
{
	struct weir_subscriber *subscriber = seat->subscriber;
	uint32_t i;

	for (i = 0; i < n; i++) {
		/* 1.8: before each, it may come from inside on_next */
		if (state_of(seat) & WEIR__SEAT_GONE)
			break;
		*rc = subscriber->ops->on_next(subscriber, slots[i].item);
		if (WEIR_UNLIKELY(*rc != 0))
			break;
	}
	return i;
}

/* All at once; the number taken. */
static uint32_t send_all(struct weir__seat *seat,
			 const struct weir__slot *slots, uint32_t n, int *rc)
{
	struct weir_subscriber *subscriber = seat->subscriber;
	size_t taken = 0;

	_Static_assert(sizeof(struct weir__slot) == sizeof(void *),
		       "slots are an array of items");
	if (state_of(seat) & WEIR__SEAT_GONE)
		return 0;
	*rc = subscriber->ops->on_next_n(
		subscriber, (void *const *)(const void *)slots, n, &taken);
	return *rc == 0 || taken > n ? n : (uint32_t)taken;
}

/* How many of the items come before one that cannot be sent. */
static uint32_t up_to_null(const struct weir__slot *slots, uint32_t n)
{
	uint32_t i;

	for (i = 0; i < n && slots[i].item; i++)
		;
	return i;
}

static void drop(struct weir__seat *seat, const struct weir__slot *slots,
		 uint32_t n)
{
	const struct weir_items *items = seat->subscription.items;
	uint32_t i;

	for (i = 0; items && items->drop && i < n; i++)
		items->drop(slots[i].item, items->context);
	if (n)
		weir__registry_dropped(actor_of(seat->reactive)->executor, n);
}

static void seat_give(struct weir__sink *sink, const struct weir__slot *slots,
		      uint32_t n)
{
	struct weir__seat *seat = seat_at(sink);
	uint32_t good = up_to_null(slots, n), taken;
	struct weir_actor *self = weir__step_out();
	int rc = 0;

	assert(n <= seat_room(sink));
	if (good > 1 && seat->subscriber->ops->on_next_n)
		taken = send_all(seat, slots, good, &rc);
	else
		taken = send_each(seat, slots, good, &rc);
	if (WEIR_UNLIKELY(rc != 0))
		broken(seat->reactive, seat->subscriber, rc);
	weir__step_in(self);
	seat->used += n;
	if (WEIR_LIKELY(taken == n && rc == 0))
		return;
	drop(seat, slots + taken, n - taken);
	if (rc != 0)
		ck_pr_or_32(&seat->state, WEIR__SEAT_BROKEN);
	else if (taken == good && good < n)
		ck_pr_or_32(&seat->state, WEIR__SEAT_NULL);
	/* The set of sinks changes between runs only. */
	weir__actor_signal(actor_of(seat->reactive), WEIR__SIGNAL_PORTS);
}

static bool seat_gone(struct weir__sink *sink)
{
	return state_of(seat_at(sink)) & WEIR__SEAT_GONE;
}

static void seat_end(struct weir__sink *sink, struct weir_error *error)
{
	send_end(seat_at(sink), error);
	let_go(seat_at(sink));
}

static void seat_left(struct weir__sink *sink)
{
	seat_end(sink, NULL);
}

static const struct weir__sink_ops sink_ops = {
	.room = seat_room,
	.give = seat_give,
	.gone = seat_gone,
	.left = seat_left,
	.end = seat_end,
};

/* --- Subscribing ---------------------------------------------------------- */

/* 1.9: on_subscribe with a subscription that does nothing, and the end. */
static void reject(struct weir_reactive_out *reactive,
		   struct weir_subscriber *subscriber, struct weir_error *error)
{
	struct weir_actor *self = weir__step_out();
	int rc = weir_subscriber_reject(subscriber, error);

	if (rc != 0)
		broken(reactive, subscriber, rc);
	weir__step_in(self);
}

static void reject_seat(struct weir__seat *seat, struct weir_error *error)
{
	reject(seat->reactive, seat->subscriber, error);
	let_go(seat);
}

/* The out-port's ring is the user's: as many subscribers as like. */
static bool takes_many(const struct weir_reactive_out *reactive)
{
	return reactive->out->fan && !reactive->own_ring;
}

/* Why there is no room for one more subscriber, or 0. Owner. */
static int check_room(const struct weir_reactive_out *reactive)
{
	const struct weir_out *out = reactive->out;
	bool others = weir__out_sinks(out) || reactive->offers;

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
	if (out->fan)
		return 0;
	rc = weir__out_ring(out, WEIR_BROADCAST, reactive->capacity);
	reactive->own_ring = rc == 0;
	return rc;
}

/* True: it has a link, or an answer to its offer will come. Owner. */
static bool offer(struct weir__seat *seat)
{
	struct weir_reactive_out *reactive = seat->reactive;
	struct weir_reactive_in *in =
		weir__reactive_in_of(seat->subscriber, reactive->out);

	if (!in)
		return false;
	if (!weir__reactive_in_offer(in, seat)) { /* 2.5 */
		weir__out_leave(reactive->out);
		let_go(seat);
		return true;
	}
	seat->in = in->in;
	seat->next = reactive->offers;
	reactive->offers = seat;
	return true;
}

/* It sits on the out-port: on_subscribe, and items from now on. */
static void serve(struct weir__seat *seat)
{
	struct weir_reactive_out *reactive = seat->reactive;
	struct weir_subscriber *subscriber = seat->subscriber;
	struct weir_actor *self = weir__step_out();
	int rc;

	rc = subscriber->ops->on_subscribe(subscriber, &seat->subscription);
	if (rc != 0)
		broken(reactive, subscriber, rc);
	weir__step_in(self);
	if (rc == 0) {
		seat->sink.ops = &sink_ops;
		weir__out_add(reactive->out, &seat->sink);
	} else {
		weir__out_leave(reactive->out);
		let_go(seat);
	}
}

/* Whether a subscriber is served through an actor between. */
static bool relays(const struct weir_reactive_out *reactive)
{
	const struct weir_out *out = reactive->out;

	return out->port.burst > 1 ||
	       (takes_many(reactive) && out->fan->way == WEIR_BROADCAST);
}

static void admit(struct weir__seat *seat)
{
	struct weir_reactive_out *reactive = seat->reactive;
	bool relayed = relays(reactive);
	int rc = check_room(reactive);

	assert(weir__owned(actor_of(reactive)));
	assert(seat->subscriber);
	if (rc == 0 && offer(seat))
		return;
	if (rc == 0)
		rc = relayed ? weir__relay(reactive->out, seat->subscriber)
			     : weir__reactive_out_ring(reactive);
	if (rc < 0)
		reject_seat(seat, weir_error_of(rc));
	else if (relayed)
		let_go(seat); /* the relay has taken it over */
	else
		serve(seat);
}

/* In the order in which they came. */
static struct weir__seat *reversed(struct weir__seat *list)
{
	struct weir__seat *first = NULL, *next;

	for (; list; list = next) {
		next = list->next;
		list->next = first;
		first = list;
	}
	return first;
}

/* An in-port's owner has answered. */
static void answered(struct weir__seat *seat, uint32_t answer)
{
	struct weir_reactive_out *reactive = seat->reactive;

	assert(seat->in && weir__owned(actor_of(reactive)));
	if (answer == WEIR__ACCEPTED &&
	    weir__link_out(reactive->out, seat->in) == 0)
		want(reactive);
	else
		weir__out_leave(reactive->out);
	let_go(seat);
}

static void read_answers(struct weir_reactive_out *reactive)
{
	struct weir__seat **link = &reactive->offers, *seat;
	uint32_t answer;

	while ((seat = *link)) {
		/* relaxed: either half touches nothing of the other's */
		answer = ck_pr_load_32(&seat->offer);
		assert(seat->reactive == reactive);
		if (answer == WEIR__OFFERED) {
			link = &seat->next;
			continue;
		}
		*link = seat->next;
		answered(seat, answer);
	}
}

static struct weir_reactive_out *reactive_of(struct weir_port *port)
{
	return weir_container_of(port, struct weir_reactive_out,
				 attendant.port);
}

static void read_mail(struct weir_reactive_out *reactive)
{
	struct weir__seat *seat, *next;

	seat = ck_pr_fas_ptr(&reactive->mail, NULL);
	/* acquire: the seats; pairs with the release in post() */
	ck_pr_fence_acquire();
	assert(seat != &closed);
	for (seat = reversed(seat); seat; seat = next) {
		next = seat->next;
		assert(seat->reactive == reactive);
		admit(seat);
	}
}

static int out_signalled(struct weir_port *port)
{
	struct weir_reactive_out *reactive = reactive_of(port);
	const struct weir__seat *mail = ck_pr_load_ptr(&reactive->mail);

	if (mail == &closed)
		return 0;
	if (reactive->offers)
		read_answers(reactive);
	if (mail)
		read_mail(reactive);
	return reactive->offers ? 0 : weir__out_left(reactive->out);
}

/* The stream has ended before the link was made, or half of it has been. */
static void withdraw(struct weir__seat *seat, struct weir_error *error)
{
	assert(seat->in);
	(void)weir__in_end(seat->in, error);
	let_go(seat);
}

static void close_mail(struct weir_reactive_out *reactive,
		       struct weir_error *error)
{
	struct weir__seat *seat, *next;

	if (ck_pr_load_ptr(&reactive->mail) == &closed)
		return;
	reactive->error = weir_error_ref(error);
	/* release: the error, for who finds the mail closed; acquire: the
	 * seats; pairs with both in post() */
	ck_pr_fence_release();
	seat = ck_pr_fas_ptr(&reactive->mail, &closed);
	ck_pr_fence_acquire();
	assert(seat != &closed);
	for (; seat; seat = next) {
		next = seat->next;
		reject_seat(seat, error);
	}
	for (seat = reactive->offers; seat; seat = next) {
		next = seat->next;
		withdraw(seat, error);
	}
	reactive->offers = NULL;
}

static void out_other_ended(struct weir_port *port, struct weir_port *other,
			    struct weir_error *error)
{
	struct weir_reactive_out *reactive = reactive_of(port);

	if (other == &reactive->out->port)
		close_mail(reactive, error);
}

static void out_close(struct weir_port *port, struct weir_error *error)
{
	close_mail(reactive_of(port), error);
}

static void out_fini(struct weir_port *port)
{
	weir_error_unref(reactive_of(port)->error);
}

static uint32_t none_certain(struct weir_port *port)
{
	(void)port;
	return 0;
}

static const struct weir__port_ops attendant_ops = {
	.certain = none_certain,
	.signalled = out_signalled,
	.other_ended = out_other_ended,
	.close = out_close,
	.fini = out_fini,
};

/* False: the mail is closed. Any thread; linearises at the swap. */
static bool post(struct weir__seat *seat)
{
	struct weir__seat **mail = &seat->reactive->mail;
	struct weir__seat *head = ck_pr_load_ptr(mail);

	do {
		if (head == &closed) {
			/* acquire: the error; pairs with the release in
			 * close_mail() */
			ck_pr_fence_acquire();
			return false;
		}
		seat->next = head;
		/* release: the seat; pairs with the acquire of who takes the
		 * mail */
		ck_pr_fence_release();
	} while (!ck_pr_cas_ptr_value(mail, head, seat, &head));
	return true;
}

/* Both ends are the caller's, who has not started them, mostly. */
static bool link_now(struct weir_reactive_out *reactive,
		     struct weir_subscriber *subscriber)
{
	struct weir_reactive_in *in =
		weir__reactive_in_of(subscriber, reactive->out);

	/* who is in the mail came first */
	return in && weir__owned(actor_of(reactive)) &&
	       weir__owned(in->in->port.actor) &&
	       !ck_pr_load_ptr(&reactive->mail) && check_room(reactive) == 0 &&
	       weir__reactive_in_link(in, reactive->out) == 0;
}

void weir__reactive_out_subscribe(struct weir_reactive_out *reactive,
				  struct weir_subscriber *subscriber)
{
	struct weir__seat *seat = seat_new(reactive, subscriber);

	if (!seat)
		reject(reactive, subscriber, weir_error_of(-ENOMEM));
	else if (post(seat))
		weir__actor_signal(actor_of(reactive), WEIR__SIGNAL_PORTS);
	else
		reject_seat(seat, reactive->error);
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

	if (options->flags & ~WEIR_STAY || capacity > WEIR_CAPACITY_MAX ||
	    (capacity & (capacity - 1)))
		return -EINVAL;
	return 0;
}

int weir_reactive_out_init(struct weir_reactive_out *reactive,
			   struct weir_out *out,
			   const struct weir_reactive_out_options *options)
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
	if (out->out_flags & WEIR__OUT_OVER)
		return -EPIPE;
	if (weir__out_sinks(out) || (out->out_flags & WEIR__OUT_PUBLISHES))
		return -EBUSY;
	*reactive = (struct weir_reactive_out){
		.publisher.ops = &publisher_ops,
		.attendant.ops = &attendant_ops,
		.out = out,
		.capacity = options->capacity ? (uint32_t)options->capacity
					      : CAPACITY,
	};
	weir__port_init(&reactive->attendant.port, out->port.actor,
			WEIR__PORT_ATTENDANT);
	out->out_flags |= WEIR__OUT_PUBLISHES;
	if (options->flags & WEIR_STAY)
		out->out_flags |= WEIR__OUT_STAYS;
	return 0;
}
