/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Flows between a publisher and a subscriber are held to the rules of
 * processors, on all executors: the suite gets the subscriber that a run has
 * subscribed with.
 */
#include <pthread.h>

#include "flow/verify.h"

#define PREFETCH 16
#define ROOM 16 /* of in-port and out-port behind the flow */

struct maker {
	struct base base;
	const struct way *way;
	bool bare;
};

/*
 * A run of a flow needs its subscriber from the start, and the suite has it
 * later: behind the flow is an actor that passes items on. Such an actor has
 * room of its own; behind a `bare` flow is a subscriber that waits for the
 * suite's and becomes that, so that the flow has no more demand than it.
 */
struct passing {
	struct weir_publisher publisher; /* catches the flow's subscriber */
	struct weir_subscriber *subscriber;
	struct weir_publisher bare; /* of the suite's subscriber */
	struct weir_subscriber tail;
	pthread_mutex_t lock; /* signals to `real`, and what they need */
	struct weir_subscription *subscription;
	struct weir_subscriber *real; /* NULL: not yet, or not any more */
	struct weir_error *error;
	bool joined, ended;
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct weir_reactive_in reactive_in;
	struct weir_reactive_out reactive_out;
	struct weir_flow *flow;
	struct maker *maker;
	struct passing *next;
	uint32_t left; /* the actor or tail, the run, the suite; any thread */
};

static struct passing *passings;

static int catch_it(struct weir_publisher *publisher,
		    struct weir_subscriber *subscriber)
{
	/* the suite looks at it also when its run has let go */
	weir_container_of(publisher, struct passing, publisher)->subscriber =
		weir_subscriber_ref(subscriber);
	return 0;
}

static const struct weir_publisher_ops catcher = {.subscribe = catch_it};

static struct passing *passing_of(struct weir_actor *actor)
{
	return weir_container_of(actor, struct passing, actor);
}

static inline int passing_turn(struct weir_actor *actor)
{
	struct passing *self = passing_of(actor);

	return weir_out_put(&self->out, weir_in_take(&self->in));
}
WEIR_TURN(passing_turn)

static int passing_ended(struct weir_actor *actor, struct weir_in *in,
			 struct weir_error *error)
{
	return error ? weir_actor_fail(actor, weir_error_ref(error))
		     : weir_actor_end(actor);
}

static void leave(struct passing *self)
{
	/* Both ways, as the last one frees what the others have used. */
	ck_pr_fence_release();
	if (ck_pr_faa_32(&self->left, (uint32_t)-1) != 1)
		return;
	ck_pr_fence_acquire();
	weir_flow_free(self->flow);
	weir_error_unref(self->error);
	pthread_mutex_destroy(&self->lock);
	ck_pr_dec_32(&self->maker->base.alive);
	free(self);
}

static void passing_released(struct weir_actor *actor)
{
	leave(passing_of(actor));
}

static void over(struct weir_error *error, void *result, void *context)
{
	leave(context);
}

static const struct weir_actor_ops passing_ops = {
	.name = "passing",
	.turns = passing_turn_n,
	.ended = passing_ended,
	.released = passing_released,
};

/* --- A subscriber that becomes another one -------------------------------- */

static struct passing *passing_of_tail(struct weir_subscriber *tail)
{
	return weir_container_of(tail, struct passing, tail);
}

static int tail_on_subscribe(struct weir_subscriber *tail,
			     struct weir_subscription *subscription)
{
	struct passing *self = passing_of_tail(tail);

	pthread_mutex_lock(&self->lock);
	self->subscription = weir_subscription_ref(subscription);
	pthread_mutex_unlock(&self->lock);
	return 0;
}

static int tail_on_next(struct weir_subscriber *tail, void *item)
{
	struct passing *self = passing_of_tail(tail);
	int rc;

	pthread_mutex_lock(&self->lock);
	rc = self->real->ops->on_next(self->real, item);
	pthread_mutex_unlock(&self->lock);
	return rc;
}

/* The last signal; under the lock. */
static int pass_end(struct passing *self)
{
	return self->error ? self->real->ops->on_error(self->real, self->error)
			   : self->real->ops->on_complete(self->real);
}

static int tail_end(struct passing *self, struct weir_error *error)
{
	int rc;

	pthread_mutex_lock(&self->lock);
	self->ended = true;
	self->error = weir_error_ref(error);
	rc = self->real ? pass_end(self) : 0;
	pthread_mutex_unlock(&self->lock);
	return rc;
}

static int tail_on_error(struct weir_subscriber *tail, struct weir_error *error)
{
	return tail_end(passing_of_tail(tail), error);
}

static int tail_on_complete(struct weir_subscriber *tail)
{
	return tail_end(passing_of_tail(tail), NULL);
}

/* As long as somebody has it the run is not over; under the lock. */
static void drop_subscription(struct passing *self)
{
	weir_subscription_unref(self->subscription);
	self->subscription = NULL;
}

static void tail_released(struct weir_subscriber *tail)
{
	struct passing *self = passing_of_tail(tail);

	pthread_mutex_lock(&self->lock);
	weir_subscriber_unref(self->real);
	self->real = NULL;
	/* who comes late is to have it, and its end */
	if (self->joined)
		drop_subscription(self);
	pthread_mutex_unlock(&self->lock);
	leave(self);
}

static const struct weir_subscriber_ops tail_ops = {
	.on_subscribe = tail_on_subscribe,
	.on_next = tail_on_next,
	.on_error = tail_on_error,
	.on_complete = tail_on_complete,
	.released = tail_released,
};

/* The suite's subscriber has come; under the lock. */
static void join(struct passing *self, struct weir_subscriber *subscriber)
{
	int rc;

	self->joined = true;
	self->real = weir_subscriber_ref(subscriber);
	rc = subscriber->ops->on_subscribe(subscriber, self->subscription);
	if (rc == 0 && self->ended)
		(void)pass_end(self);
	if (rc != 0)
		weir_subscription_cancel(self->subscription);
	if (rc == 0 && !self->ended)
		return;
	self->real = NULL;
	weir_subscriber_unref(subscriber);
	drop_subscription(self);
}

static int bare_subscribe(struct weir_publisher *publisher,
			  struct weir_subscriber *subscriber)
{
	struct passing *self =
		weir_container_of(publisher, struct passing, bare);
	bool joins;

	if (!subscriber)
		return -EINVAL;
	pthread_mutex_lock(&self->lock);
	joins = !self->joined;
	if (joins)
		join(self, subscriber);
	pthread_mutex_unlock(&self->lock);
	if (!joins)
		(void)weir_subscriber_reject(subscriber,
					     weir_error_of(-EISCONN));
	return 0;
}

static const struct weir_publisher_ops bare_ops = {.subscribe = bare_subscribe};

/* --- The factory ---------------------------------------------------------- */

static struct maker *maker_of(struct weir_processor_factory *factory)
{
	return weir_container_of(factory, struct maker, base.processor);
}

static void set_up_actor(struct passing *self)
{
	const struct weir_items *items = &self->maker->base.goods.items;
	const struct weir_reactive_out_options room = {.capacity = ROOM};

	assert_int_equal(weir_actor_init(&self->actor, &passing_ops,
					 self->maker->base.place->executor),
			 0);
	assert_int_equal(weir_in_init(&self->in, &self->actor, ROOM, items), 0);
	assert_int_equal(weir_out_init(&self->out, &self->actor, items), 0);
	assert_int_equal(
		weir_reactive_in_init(&self->reactive_in, &self->in, NULL), 0);
	assert_int_equal(weir_reactive_out_init(&self->reactive_out, &self->out,
						&room),
			 0);
}

/* What is behind the flow. */
static struct weir_subscriber *set_up_end(struct passing *self)
{
	self->bare.ops = &bare_ops;
	if (!self->maker->bare) {
		set_up_actor(self);
		return &self->reactive_in.subscriber;
	}
	assert_int_equal(weir_subscriber_init(&self->tail, &tail_ops), 0);
	return &self->tail;
}

static void start(struct passing *self)
{
	struct weir_subscriber *end = set_up_end(self);
	struct maker *maker = self->maker;
	const struct weir_flow_run_options options = {
		.done = over,
		.context = self,
		.unfused = maker->way->unfused,
	};
	struct weir_flow *flow;

	flow = weir_flow_from_publisher(&self->publisher, PREFETCH, 0);
	flow = weir_flow_items(flow, &maker->base.goods.items);
	if (maker->base.processor.recovers)
		flow = weir_flow_complete_on_error(flow, NULL, NULL);
	flow = maker->way->put_upon(flow, &maker->base.goods.items);
	self->flow = weir_flow_into(flow, end);
	assert_int_equal(weir_flow_start(self->flow,
					 maker->base.place->executor, &options,
					 NULL),
			 0);
	if (maker->bare)
		return;
	weir_actor_ref(&self->actor);
	assert_int_equal(weir_actor_start(&self->actor), 0);
}

static struct weir_processor create(struct weir_processor_factory *factory)
{
	struct maker *maker = maker_of(factory);
	struct passing *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	self->maker = maker;
	self->publisher.ops = &catcher;
	self->left = 3;
	self->next = passings;
	passings = self;
	ck_pr_inc_32(&maker->base.alive);
	assert_int_equal(pthread_mutex_init(&self->lock, NULL), 0);
	start(self);
	assert_int_equal(weir_test_settle(&factory->env), 0);
	return (struct weir_processor){
		.subscriber = self->subscriber,
		.publisher = maker->bare ? &self->bare
					 : &self->reactive_out.publisher,
	};
}

static void release(struct weir_processor_factory *factory,
		    struct weir_processor processor)
{
	struct passing **link = &passings, *self;

	while ((*link)->subscriber != processor.subscriber)
		link = &(*link)->next;
	self = *link;
	*link = self->next;
	weir_subscriber_unref(self->subscriber);
	if (!self->maker->bare)
		weir_actor_unref(&self->actor);
	pthread_mutex_lock(&self->lock);
	drop_subscription(self);
	pthread_mutex_unlock(&self->lock);
	leave(self);
}

static void verify(struct place *place, const struct way *way, bool bare)
{
	struct maker maker = {
		.base.processor =
			{
				.create = create,
				.release = release,
				.max_items = LONG,
				.max_subscribers = 1,
				.recovers = way->effect == OVERTAKEN,
				.buffer = PREFETCH + way->holds + 2 * ROOM,
			},
		.way = way,
		.bare = bare,
	};

	verify_processor(&maker.base, place, way->name, 70);
}

static void verify_all(struct place *place)
{
	static size_t places;
	size_t i, number = places++;

	for (i = number % rows_step(); i < n_ways; i += rows_step())
		if (ways[i].effect != CHANGES)
			verify(place, &ways[i], false);
}

static void verify_bare(struct place *place)
{
	static size_t places;
	size_t i, number = places++;

	for (i = number % rows_step(); i < n_ways; i += rows_step())
		if (ways[i].effect != CHANGES)
			verify(place, &ways[i], true);
}

int main(void)
{
	static const struct suite suites[] = {
		{"flows_keep", verify_all, 2, 1},
		{"bare_flows_keep", verify_bare, 2, 1},
	};

	return verify_everywhere(suites, 2);
}
