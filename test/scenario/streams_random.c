/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Random trees of publishers and subscribers under the simulator: actors that
 * publish, subscribe or do both, beside takers and givers by hand, which
 * subscribe, request, cancel, fail, break, stop and run out of memory when the
 * seed says so, from outside and from inside signals. Whatever happens, every
 * item is accounted for, nobody gets more than was requested or anything after
 * the end, everybody is released once, and who waits for something that can
 * come gets it.
 */
#include "kit/world.h"
#include "stream/ends.h"
#include "support.h"

#define ITEMS 60
#define SOURCES 3
#define STAGES 3
#define SINKS 3
#define NODES (SOURCES + STAGES + SINKS)
#define PUBLISHERS (SOURCES + STAGES)
#define GIVERS 2
/* Those of the last line come at the end, one for each publisher. */
#define TAKERS (5 + PUBLISHERS)

/* An actor: makes items or takes them, and passes them on or keeps them. */
struct node {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct weir_reactive_in reactive_in;
	struct weir_reactive_out reactive_out;
	bool takes, puts;
	bool in_gone, out_gone, started;
	size_t next, end;     /* items it makes */
	size_t seen, fail_at; /* items, and the one it fails with */
	size_t last;	      /* item */
	size_t window;	      /* requested and not taken are at most that */
	bool fed;	      /* has subscribed to somebody */
	uint32_t ended, cancelled;
	struct weir_watermark watermark;
	struct fate fate;
};

/* A subscriber by hand, in all moods. */
struct guest {
	struct taker taker;
	struct node *publisher; /* NULL: has not subscribed yet */
	int64_t requested;
	bool inside, cancelled, bad, refused;
	size_t reports; /* that it is broken */
};

/* A publisher by hand of one subscription. */
struct host {
	struct giver giver;
	struct node *node; /* NULL: not yet */
	size_t first, last;
	bool sending, overdone, over; /* its subscriber is let go of */
};

struct forest {
	struct world base;
	struct node nodes[NODES];
	struct guest guests[TAKERS];
	struct host hosts[GIVERS];
	struct weir_ending drain;
	size_t drained; /* calls */
	bool ending;	/* a drain or abort has begun */
	bool disturbed; /* not everything has to go well */
	bool relays;	/* some publishers have them, which may hold items */
	bool gaps;	/* one that balances leaves some to others */
	bool calm;	/* the last phase: all let it go well */
};

static struct forest forest;

static uint64_t draw(uint64_t bound)
{
	return weir_sim_random(forest.base.sim, bound);
}

/* Sometimes, in worlds that are disturbed and not calm yet. */
static bool trouble(uint64_t one_in)
{
	return forest.disturbed && !forest.calm && draw(one_in) == 0;
}

static void subscribe_something(void);

static void check_order(size_t *last, size_t item)
{
	assert_true(item > *last);
	if (*last && !forest.gaps)
		assert_int_equal(item, *last + 1);
	*last = item;
}

/* --- Actors --------------------------------------------------------------- */

static struct node *node_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct node, actor);
}

static int node_pass(struct node *self, void *item)
{
	int rc;

	if (++self->seen == self->fail_at && !forest.calm) {
		ledger_drop(item, &forest.base.ledger);
		return -EIO;
	}
	if (!self->puts) {
		ledger_deliver(&forest.base.ledger, item);
		return 0;
	}
	rc = weir_out_put(&self->out, item);
	if (rc == 0)
		return 0;
	assert_true(self->out_gone);
	assert_int_equal(rc, -EPIPE);
	ledger_drop(item, &forest.base.ledger);
	return 0;
}

static int node_make(struct node *self)
{
	uint64_t n = 1 + draw(self->out.port.burst);
	int rc = 0;

	if (self->next == self->end)
		return WEIR_TURN_END;
	while (n-- && self->next != self->end && rc == 0)
		rc = node_pass(self,
			       ledger_make(&forest.base.ledger, ++self->next));
	return rc;
}

static inline int node_turn(struct weir_actor *actor)
{
	struct node *self = node_of(actor);
	void *item;

	if (!self->takes)
		return node_make(self);
	if (self->in_gone)
		return WEIR_TURN_END;
	item = weir_in_take(&self->in);
	check_order(&self->last, (size_t)item);
	return node_pass(self, item);
}
WEIR_TURN(node_turn)

static int node_ended(struct weir_actor *actor, struct weir_in *in,
		      struct weir_error *error)
{
	assert_int_equal(weir_in_count(in), 0);
	assert_int_equal(node_of(actor)->ended++, 0);
	node_of(actor)->in_gone = true;
	if (error)
		return weir_actor_fail(actor, weir_error_ref(error));
	return weir_actor_end(actor);
}

/* One whose last port has gone would never fire again. */
static int node_settle(struct node *self)
{
	if (self->in_gone && self->out_gone)
		return weir_actor_end(&self->actor);
	return 0;
}

/* Finishes, or goes on for nobody. */
static int node_cancelled(struct weir_actor *actor, struct weir_out *out)
{
	struct node *self = node_of(actor);

	assert_ptr_equal(out, &self->out);
	assert_int_equal(self->cancelled++, 0);
	self->out_gone = true;
	return draw(2) ? weir_actor_end(actor) : node_settle(self);
}

static int node_end_out(struct node *self)
{
	struct weir_error *error = draw(2) ? weir_error_of(-EPROTO) : NULL;
	int rc = weir_out_end(&self->out, error);

	/* or out of memory before it could be told */
	assert_int_equal(rc, self->out_gone || rc ? -EALREADY : 0);
	self->out_gone = true;
	return node_settle(self);
}

static int node_cancel_in(struct node *self)
{
	int rc = weir_in_cancel(&self->in);

	assert_int_equal(rc, self->in_gone ? -EALREADY : 0);
	self->in_gone = true;
	return node_settle(self);
}

/* What only the owner may do. */
static int node_signalled(struct weir_actor *actor)
{
	struct node *self = node_of(actor);

	if (self->takes && draw(2))
		(void)weir_reactive_in_request(&self->reactive_in,
					       (int64_t)draw(4));
	if (!forest.calm && draw(4) == 0)
		subscribe_something();
	if (!trouble(2))
		return 0;
	switch (draw(4)) {
	case 0:
		return self->puts ? node_end_out(self) : 0;
	case 1:
		return self->takes ? node_cancel_in(self) : 0;
	case 2:
		return weir_actor_end(actor);
	default:
		return -EBADMSG;
	}
}

static void node_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&node_of(actor)->fate, error);
}

static void node_released(struct weir_actor *actor)
{
	fate_released(&node_of(actor)->fate);
}

static const struct weir_actor_ops node_ops = {
	.turns = node_turn_n,
	.ended = node_ended,
	.cancelled = node_cancelled,
	.signalled = node_signalled,
	.stopped = node_stopped,
	.released = node_released,
};

/* Also more than a turn needs: those take one. */
static void set_burst(struct weir_port *port, size_t capacity)
{
	uint32_t most = capacity < 4 ? (uint32_t)capacity : 4;

	if (draw(3) == 0)
		assert_int_equal(
			weir_port_set_burst(port, 1 + (uint32_t)draw(most)), 0);
}

/* Requests whatever comes to its mind. */
static int64_t moody(int64_t remaining, void *context)
{
	(void)context;
	assert_true(remaining >= 0);
	return forest.calm ? INT64_MAX : (int64_t)draw(6) - 1;
}

static void choose_strategy(struct node *self,
			    struct weir_reactive_in_options *options)
{
	switch (draw(6)) {
	case 0:
		options->demand = weir_demand_one_by_one;
		break;
	case 1:
		assert_int_equal(weir_watermark_init(&self->watermark,
						     1 + (int64_t)draw(20), 0),
				 0);
		options->demand = weir_demand_watermark;
		options->context = &self->watermark;
		break;
	case 2:
		options->demand = moody;
		break;
	case 3:
		options->prefetch = 1 + draw(self->window);
		options->refill = draw(options->prefetch + 1);
		break;
	default:
		break;
	}
}

static void subscriber_init(struct node *self)
{
	struct weir_reactive_in_options options = {0};
	size_t capacity = (size_t)1 << draw(5);

	assert_int_equal(weir_in_init(&self->in, &self->actor, capacity,
				      draw(2) ? &forest.base.ledger.items
					      : NULL),
			 0);
	self->window = capacity;
	choose_strategy(self, &options);
	/* a strategy of one's own need not request enough for a burst */
	if (!options.demand)
		set_burst(&self->in.port, capacity);
	if (options.prefetch)
		self->window = options.prefetch > self->in.port.burst
				       ? options.prefetch
				       : self->in.port.burst;
	assert_int_equal(weir_reactive_in_init(&self->reactive_in, &self->in,
					       &options),
			 0);
}

static void publisher_init(struct node *self)
{
	struct weir_reactive_out_options options = {
		.capacity = (size_t)1 << draw(5),
		.flags = draw(2) ? WEIR_REACTIVE_STAY : 0,
	};
	enum weir_fan way = forest.relays && draw(3) ? WEIR_FAN_BROADCAST
						     : WEIR_FAN_BALANCE;
	size_t capacity = (size_t)1 << draw(5);

	assert_int_equal(weir_out_init(&self->out, &self->actor,
				       &forest.base.ledger.items),
			 0);
	if (forest.relays)
		set_burst(&self->out.port, capacity);
	if (draw(3)) {
		assert_int_equal(weir_out_fan(&self->out, way, capacity), 0);
		forest.gaps |= way == WEIR_FAN_BALANCE;
	}
	assert_int_equal(weir_reactive_out_init(&self->reactive_out, &self->out,
						&options),
			 0);
}

static void node_init(struct node *self, size_t i)
{
	self->takes = i >= SOURCES;
	self->puts = i < PUBLISHERS;
	self->in_gone = !self->takes;
	self->out_gone = !self->puts;
	assert_int_equal(weir_actor_init(&self->actor, &node_ops,
					 forest.base.executor),
			 0);
	weir_actor_ref(&self->actor); /* so that all may be done at any time */
	if (self->takes)
		subscriber_init(self);
	if (self->puts)
		publisher_init(self);
	self->next = i * ITEMS;
	self->end = self->next + ITEMS;
	if (trouble(6))
		self->fail_at = 1 + draw(ITEMS);
}

static void node_start(struct node *self)
{
	int rc;

	if (self->started || self->fate.stopped)
		return;
	rc = weir_actor_start(&self->actor);
	if (!forest.ending && !(rc == -ENOMEM && forest.base.heap.fail))
		assert_int_equal(rc, 0);
	self->started = rc == 0;
}

/* --- Subscribers by hand -------------------------------------------------- */

static struct guest *guest_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct guest, taker.subscriber);
}

static bool guest_over(const struct guest *self)
{
	return self->taker.completes || self->taker.errors || self->cancelled ||
	       self->refused;
}

/* Nothing else runs meanwhile: then it is to end at once (1.8). */
static struct guest *guest_enter(struct weir_subscriber *subscriber)
{
	struct guest *self = guest_of(subscriber);

	assert_non_null(self->publisher);
	assert_false(self->inside);
	assert_false(self->cancelled);
	assert_false(self->refused);
	self->inside = true;
	return self;
}

static void guest_request(struct guest *self, int64_t n)
{
	if (n > INT64_MAX - self->requested)
		self->requested = INT64_MAX;
	else if (n > 0)
		self->requested += n;
	else
		self->bad = true;
	weir_subscription_request(self->taker.subscription, n);
}

static void guest_cancel(struct guest *self)
{
	self->cancelled = true;
	weir_subscription_cancel(self->taker.subscription);
}

/* Anything a subscriber may do, inside signals and outside. */
static void guest_mood(struct guest *self)
{
	uint64_t n = draw(4);

	if (!self->taker.subscription)
		return;
	if (forest.calm)
		guest_request(self, INT64_MAX);
	else if (n)
		guest_request(self, draw(20) ? (int64_t)n : INT64_MAX);
	if (trouble(40))
		guest_cancel(self);
	if (trouble(40))
		guest_request(self, (int64_t)n - 3);
	if (!forest.calm && draw(40) == 0)
		subscribe_something();
}

/* Now and then it is broken, though it has nothing against it. */
static int guest_leave(struct guest *self, int rc)
{
	if (trouble(60))
		rc = -EIO;
	self->refused = rc != 0;
	self->inside = false;
	return rc;
}

static int guest_on_subscribe(struct weir_subscriber *subscriber,
			      struct weir_subscription *subscription)
{
	struct guest *self = guest_enter(subscriber);
	int rc = taker_on_subscribe(subscriber, subscription);

	guest_mood(self);
	return guest_leave(self, rc);
}

static void guest_take(struct guest *self, void *item)
{
	assert_false(self->bad);
	assert_true((int64_t)self->taker.seen < self->requested);
	check_order(&self->taker.last, (size_t)item);
	assert_int_equal(taker_on_next(&self->taker.subscriber, item), 0);
}

/* It is taken, or else still the publisher's. */
static int guest_on_next(struct weir_subscriber *subscriber, void *item)
{
	struct guest *self = guest_enter(subscriber);

	if (trouble(60)) {
		self->refused = true;
		self->inside = false;
		return -EIO;
	}
	guest_take(self, item);
	guest_mood(self);
	self->inside = false;
	return 0;
}

static int guest_on_next_n(struct weir_subscriber *subscriber,
			   void *const *items, size_t n, size_t *taken)
{
	struct guest *self = guest_enter(subscriber);
	size_t i, last = trouble(20) ? draw(n + 1) : n;

	assert_int_equal(*taken, 0);
	for (i = 0; i < last; i++)
		guest_take(self, items[i]);
	guest_mood(self);
	*taken = i;
	self->refused = i < n;
	self->inside = false;
	return i < n ? -EIO : 0;
}

static int guest_on_error(struct weir_subscriber *subscriber,
			  struct weir_error *error)
{
	struct guest *self = guest_enter(subscriber);

	return guest_leave(self, taker_on_error(subscriber, error));
}

static int guest_on_complete(struct weir_subscriber *subscriber)
{
	struct guest *self = guest_enter(subscriber);

	return guest_leave(self, taker_on_complete(subscriber));
}

static void guest_released(struct weir_subscriber *subscriber)
{
	assert_true(guest_over(guest_of(subscriber)));
	taker_released(subscriber);
}

static const struct weir_subscriber_ops guest_ops[] = {
	{
		.on_subscribe = guest_on_subscribe,
		.on_next = guest_on_next,
		.on_error = guest_on_error,
		.on_complete = guest_on_complete,
		.released = guest_released,
	},
	{
		.on_subscribe = guest_on_subscribe,
		.on_next = guest_on_next,
		.on_next_n = guest_on_next_n,
		.on_error = guest_on_error,
		.on_complete = guest_on_complete,
		.released = guest_released,
	},
};

static void guest_init(struct guest *self)
{
	taker_init(&self->taker, &forest.base.ledger, 0, 0);
	self->taker.ordered = false;
	assert_int_equal(weir_subscriber_init(&self->taker.subscriber,
					      &guest_ops[draw(2)]),
			 0);
}

static void guest_subscribe(struct guest *self, struct node *publisher)
{
	if (self->publisher)
		return;
	self->publisher = publisher;
	assert_int_equal(
		weir_publisher_subscribe(&publisher->reactive_out.publisher,
					 &self->taker.subscriber),
		0);
}

static void on_broken(struct weir_subscriber *subscriber, int code,
		      void *context)
{
	(void)context;
	assert_int_equal(code, -EIO);
	assert_true(guest_of(subscriber)->refused);
	guest_of(subscriber)->reports++;
}

/* From outside; lets go of the subscription when it needs it no more. */
static void guest_act(struct guest *self)
{
	guest_mood(self);
	if ((self->cancelled || self->requested == INT64_MAX) && draw(4) == 0) {
		weir_subscription_unref(self->taker.subscription);
		self->taker.subscription = NULL;
	}
}

static void guest_fini(struct guest *self)
{
	assert_int_equal(self->reports, self->refused);
	assert_int_equal(self->taker.subscribed, self->publisher != NULL);
	if (!self->publisher)
		return;
	/* the subscription is there, whatever has become of its actor */
	guest_request(self, 1);
	guest_request(self, 0);
	guest_cancel(self);
	taker_fini(&self->taker);
}

/* --- Publishers by hand --------------------------------------------------- */

static struct host *host_of(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct host, giver.subscription);
}

static void host_let_go(struct host *self)
{
	struct weir_subscriber *subscriber = self->giver.subscriber;

	if (self->over || self->sending)
		return;
	self->over = true;
	weir_subscriber_unref(subscriber);
}

static void host_end(struct host *self, int rc)
{
	const struct weir_subscriber_ops *ops = self->giver.subscriber->ops;

	assert_false(self->over);
	self->over = true; /* now: neither requests nor cancels from here on */
	if (rc == 0)
		rc = ops->on_complete(self->giver.subscriber);
	else
		rc = ops->on_error(self->giver.subscriber, weir_error_of(rc));
	assert_int_equal(rc, 0);
	weir_subscriber_unref(self->giver.subscriber);
}

/* Up to `n` of those that were requested, and the end behind the last one. */
static void host_send(struct host *self, size_t n)
{
	struct giver *giver = &self->giver;

	if (!self->node || self->over || self->overdone || self->sending)
		return;
	self->sending = true;
	while (n-- && giver->next < self->last && !giver->cancels &&
	       (int64_t)(giver->next - self->first) < giver->requested)
		assert_int_equal(giver_send(giver), 0);
	self->sending = false;
	if (giver->cancels)
		host_let_go(self);
	else if (giver->next == self->last)
		host_end(self, 0);
}

static void host_request(struct weir_subscription *subscription, int64_t n)
{
	struct host *self = host_of(subscription);
	struct giver *giver = &self->giver;

	assert_true(n > 0);
	assert_false(self->over);
	assert_int_equal(giver->cancels, 0);
	giver->requested += n;
	assert_true(giver->requested <=
		    (int64_t)(self->node->seen + self->node->window));
	host_send(self, forest.calm ? SIZE_MAX : draw(4));
}

static void host_cancel(struct weir_subscription *subscription)
{
	struct host *self = host_of(subscription);

	assert_false(self->over);
	assert_int_equal(self->giver.cancels++, 0);
	host_let_go(self);
}

static const struct weir_subscription_ops host_ops = {
	.request = host_request,
	.cancel = host_cancel,
	.released = giver_released,
};

static void host_begin(struct host *self, struct node *node)
{
	struct giver *giver = &self->giver;

	self->node = node;
	node->fed = true;
	giver_init(giver, &forest.base.ledger, &node->reactive_in.subscriber);
	giver->subscription.ops = &host_ops;
	giver->next = self->first;
	self->sending = true; /* no more signals inside this one */
	assert_int_equal(giver_begin(giver), 0);
	self->sending = false;
	if (giver->cancels)
		host_let_go(self);
}

/* More than was requested (1.1): is refused, and will be cancelled for that. */
static void host_overdo(struct host *self)
{
	struct giver *giver = &self->giver;

	self->sending = true;
	while (!self->overdone && giver->next < self->last && !giver->cancels)
		self->overdone = giver_send(giver) == -EOVERFLOW;
	self->sending = false;
	if (giver->cancels)
		host_let_go(self);
}

static void host_act(struct host *self)
{
	host_send(self, draw(8));
	if (!self->node || self->over || self->overdone || self->sending)
		return;
	if (trouble(20))
		host_end(self, draw(2) ? 0 : -EPROTO);
	else if (trouble(20))
		host_overdo(self);
}

static void host_fini(struct host *self)
{
	if (!self->node)
		return;
	assert_true(self->over);
	weir_subscription_unref(&self->giver.subscription);
	assert_int_equal(self->giver.released, 1);
}

/* --- A forest ------------------------------------------------------------- */

/* Stages subscribe to those before them, so what comes of it is a tree. */
static void subscribe_in(size_t i)
{
	struct node *self = &forest.nodes[i];
	size_t n = i < PUBLISHERS ? i : PUBLISHERS;

	if (draw(4) == 0) {
		struct host *host = &forest.hosts[draw(GIVERS)];

		if (!host->node)
			host_begin(host, self);
		return;
	}
	self->fed = true;
	assert_int_equal(weir_publisher_subscribe(
				 &forest.nodes[draw(n)].reactive_out.publisher,
				 &self->reactive_in.subscriber),
			 0);
}

static void subscribe_something(void)
{
	size_t i = draw(NODES - SOURCES + TAKERS - PUBLISHERS);

	if (i < NODES - SOURCES)
		subscribe_in(SOURCES + i);
	else
		guest_subscribe(&forest.guests[i - (NODES - SOURCES)],
				&forest.nodes[draw(PUBLISHERS)]);
}

static void drained(struct weir_ending *drain)
{
	assert_int_equal(drain->actors_left, 0);
	forest.drained++;
}

static void end_executor(void)
{
	struct weir_executor *executor = forest.base.executor;
	int rc;

	if (forest.ending)
		return;
	forest.drain.done = drained;
	forest.ending = true;
	if (draw(2))
		rc = weir_executor_end_async(executor, &forest.drain,
					     WEIR_FOREVER);
	else
		rc = weir_executor_stop_async(executor, &forest.drain,
					      WEIR_FOREVER);
	assert_int_equal(rc, 0);
}

static void disturb(struct node *node)
{
	switch (draw(5)) {
	case 0:
		weir_actor_stop(&node->actor);
		break;
	case 1:
		forest.base.heap.fail = forest.base.heap.calls + 1 + draw(6);
		break;
	case 2:
		if (draw(8) == 0)
			end_executor();
		break;
	default:
		weir_actor_suspend(&node->actor);
		break;
	}
}

static void act(void)
{
	struct node *node = &forest.nodes[draw(NODES)];

	switch (draw(8)) {
	case 0:
	case 1:
		subscribe_something();
		break;
	case 2:
		node_start(node);
		break;
	case 3:
		weir_actor_signal(&node->actor);
		break;
	case 4:
		host_act(&forest.hosts[draw(GIVERS)]);
		break;
	case 5:
		if (trouble(3))
			disturb(node);
		else
			weir_actor_resume(&node->actor);
		break;
	default:
		guest_act(&forest.guests[draw(TAKERS - PUBLISHERS)]);
		break;
	}
}

/* --- From its beginning to its end ---------------------------------------- */

static void forest_plant(uint64_t seed)
{
	const struct weir_executor_options options = {.broken = on_broken};
	size_t i;

	memset(&forest, 0, sizeof(forest));
	world_init_with(&forest.base, seed, (size_t)ITEMS * (SOURCES + GIVERS),
			options, 0);
	forest.disturbed = draw(2);
	forest.relays = draw(2);
	if (trouble(4))
		forest.base.ledger.share_fails = 1 + (uint32_t)draw(99);
	for (i = 0; i < NODES; i++)
		node_init(&forest.nodes[i], i);
	for (i = 0; i < TAKERS; i++)
		guest_init(&forest.guests[i]);
	for (i = 0; i < GIVERS; i++) {
		forest.hosts[i].first = (SOURCES + i) * ITEMS;
		forest.hosts[i].last = forest.hosts[i].first + ITEMS;
	}
}

static void steps(uint64_t n)
{
	while (n-- && weir_sim_step(forest.base.sim))
		;
}

/* Everybody gets somebody to wait for, and nobody who waits for nothing. */
static void join_all(void)
{
	struct node *node;
	size_t i;

	for (i = SOURCES; i < NODES; i++) {
		node = &forest.nodes[i];
		if (node->fed)
			continue;
		assert_int_equal(weir_publisher_subscribe(
					 &forest.nodes[draw(SOURCES)]
						  .reactive_out.publisher,
					 &node->reactive_in.subscriber),
				 0);
	}
	weir_sim_run(forest.base.sim);
	for (i = 0; i < PUBLISHERS; i++)
		guest_subscribe(&forest.guests[TAKERS - PUBLISHERS + i],
				&forest.nodes[i]);
}

/* Whatever is there still is to come to a good end by itself. */
static void forest_calm(void)
{
	struct node *node;
	size_t i;

	forest.calm = true;
	forest.base.heap.fail = 0;
	for (i = 0; i < NODES; i++) {
		node = &forest.nodes[i];
		node_start(node);
		if (!node->started)
			weir_actor_stop(&node->actor);
		weir_actor_resume(&node->actor);
	}
	weir_sim_run(forest.base.sim);
	join_all();
	for (i = 0; i < TAKERS; i++)
		if (forest.guests[i].taker.subscription)
			guest_request(&forest.guests[i], INT64_MAX);
	for (i = 0; i < GIVERS; i++)
		host_send(&forest.hosts[i], SIZE_MAX);
	for (i = 0; i < NODES; i++)
		weir_actor_signal(&forest.nodes[i].actor);
	weir_sim_run(forest.base.sim);
	/* A drain lets no relay start: some have nobody who takes. */
	for (i = 0; forest.ending && forest.relays && i < NODES; i++)
		weir_actor_stop(&forest.nodes[i].actor);
	weir_sim_run(forest.base.sim);
}

/* Of what can go wrong here, somebody is there already, or has left. */
static void check_end(int code)
{
	if (!forest.disturbed && code != -ECANCELED && code != 0)
		assert_int_equal(code, -EISCONN);
}

static void forest_check(void)
{
	size_t i;

	for (i = 0; i < NODES; i++) {
		assert_int_equal(forest.nodes[i].fate.stopped, 1);
		check_end(forest.nodes[i].fate.code);
	}
	for (i = 0; i < TAKERS; i++) {
		if (!forest.guests[i].publisher)
			continue;
		assert_true(guest_over(&forest.guests[i]));
		if (forest.guests[i].taker.error)
			check_end(forest.guests[i].taker.error->code);
	}
}

/* When all have been released, who may drop what came too late. */
static void check_items(void)
{
	size_t i, left = 0;

	ledger_check(&forest.base.ledger);
	for (i = 0; i < NODES; i++)
		left += forest.nodes[i].cancelled;
	if (!forest.disturbed && !forest.relays && !left)
		assert_int_equal(ledger_dropped(&forest.base.ledger), 0);
}

/* The actors and who has subscribed let go of each other in any order. */
static void forest_end(void)
{
	size_t i, first = draw(NODES + TAKERS), k;

	for (i = 0; i < NODES + TAKERS; i++) {
		k = (first + i) % (NODES + TAKERS);
		if (k < NODES)
			weir_actor_unref(&forest.nodes[k].actor);
		else
			guest_fini(&forest.guests[k - NODES]);
	}
	for (i = 0; i < GIVERS; i++)
		host_fini(&forest.hosts[i]);
	for (i = 0; i < NODES; i++)
		assert_int_equal(forest.nodes[i].fate.released, 1);
	check_items();
	assert_int_equal(weir_sim_run(forest.base.sim), 0);
	assert_int_equal(forest.drained, forest.ending);
	world_fini(&forest.base);
}

static void a_forest(uint64_t seed)
{
	uint64_t i;

	forest_plant(seed);
	for (i = draw(200); i; i--) {
		act();
		steps(draw(8));
	}
	forest_calm();
	forest_check();
	forest_end();
}

static void whatever_happens_the_rules_hold(void **state)
{
	for_each_seed(seed, test_count(test_soak() ? 200000 : 10000))
		a_forest(seed);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whatever_happens_the_rules_hold),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
