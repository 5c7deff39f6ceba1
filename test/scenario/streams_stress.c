/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Streams over ports between threads: subscribers whose subscriptions are used
 * by several threads at once, and links that are made while either side stops.
 * Every item is accounted for, signals come one after another and never beyond
 * demand, and who is released is released once and last: the memory of
 * subscribers and of publishers by hand is freed there.
 */
#include "stream/ends.h"

#include <pthread.h>
#include <sched.h>

#include "base/futex.h"

#define MANY (INT64_C(1) << 62)

static uint64_t draw(uint64_t *random)
{
	*random ^= *random << 13;
	*random ^= *random >> 7;
	*random ^= *random << 17;
	return *random >> 8;
}

static void announce(uint32_t *word)
{
	/* release: the results; pairs with the acquire in await() */
	ck_pr_fence_release();
	ck_pr_store_32(word, 1);
	weir__futex_wake(word, 1);
}

static void await(uint32_t *word)
{
	while (!ck_pr_load_32(word))
		(void)weir__futex_wait(word, 0, UINT64_MAX);
	ck_pr_fence_acquire();
}

/* So long that two threads meet at any of their steps. */
static void dawdle(uint64_t *random)
{
	uint64_t n = draw(random) % 4 ? draw(random) % 200
				      : draw(random) % 4000;

	while (n--)
		ck_pr_stall();
}

static struct weir_threads *pool_new(void)
{
	/* take from others at once: more crossings than by default */
	struct weir_threads_options options = {.workers = 2, .steal_ns = 1};
	struct weir_threads *pool;

	assert_int_equal(weir_threads_new(&pool, &options), 0);
	return pool;
}

/* All of its actors have been released, the last perhaps just now. */
static void pool_free(struct weir_threads *pool)
{
	assert_int_equal(weir_threads_free(pool), 0);
}

/* --- Actors that tell when they are released ------------------------------ */

struct flagged_source {
	struct source source; /* first */
	struct weir_reactive_out reactive;
	uint32_t done;
};

static void source_done(struct weir_actor *actor)
{
	struct flagged_source *self =
		weir_container_of(actor, struct flagged_source, source.actor);

	source_released(actor);
	announce(&self->done);
}

static const struct weir_actor_ops flagged_source_ops = {
	.turns = source_turns,
	.stopped = source_stopped,
	.released = source_done,
};

static void flagged_source_init(struct flagged_source *self,
				struct weir_executor *executor,
				struct ledger *ledger, size_t n, uint32_t burst,
				size_t fan)
{
	self->done = 0;
	source_init(&self->source, executor, ledger, 1, n);
	self->source.actor.ops = &flagged_source_ops;
	/* more than it needs: those by hand get an actor between */
	assert_int_equal(weir_port_set_burst(&self->source.out.port, burst), 0);
	if (fan)
		assert_int_equal(weir_out_fan(&self->source.out,
					      WEIR_FAN_BROADCAST, fan),
				 0);
	assert_int_equal(weir_reactive_out_init(&self->reactive,
						&self->source.out, NULL),
			 0);
}

struct flagged_sink {
	struct sink sink; /* first */
	struct weir_reactive_in reactive;
	uint32_t done;
};

static void sink_done(struct weir_actor *actor)
{
	struct flagged_sink *self =
		weir_container_of(actor, struct flagged_sink, sink.actor);

	sink_released(actor);
	announce(&self->done);
}

static const struct weir_actor_ops flagged_sink_ops = {
	.turns = sink_turns,
	.ended = sink_ended,
	.stopped = sink_stopped,
	.released = sink_done,
};

static void flagged_sink_init(struct flagged_sink *self,
			      struct weir_executor *executor,
			      struct ledger *ledger, size_t capacity,
			      size_t prefetch)
{
	struct weir_reactive_in_options options = {.prefetch = prefetch};

	self->done = 0;
	sink_init(&self->sink, executor, ledger, capacity);
	self->sink.actor.ops = &flagged_sink_ops;
	self->sink.ordered = true;
	assert_int_equal(weir_reactive_in_init(&self->reactive, &self->sink.in,
					       &options),
			 0);
}

/* --- Subscribers that others' threads use --------------------------------- */

/* What is left of a rider, which is freed when it is released. */
struct ride {
	struct ledger *ledger;
	struct weir_subscription *subscription; /* atomically */
	uint32_t holders;			/* references taken for them */
	int64_t requested;			/* any thread, before it is */
	uint32_t inside, subscribed, seen, ended, released;
	size_t last, leave_at;
};

struct rider {
	struct weir_subscriber subscriber;
	struct ride *ride;
};

static struct ride *ride_of(struct weir_subscriber *subscriber)
{
	return weir_container_of(subscriber, struct rider, subscriber)->ride;
}

static struct ride *ride_enter(struct weir_subscriber *subscriber)
{
	struct ride *ride = ride_of(subscriber);

	assert_int_equal(ck_pr_faa_32(&ride->inside, 1), 0);
	assert_int_equal(ride->ended, 0);
	assert_int_equal(ck_pr_load_32(&ride->released), 0);
	return ride;
}

static int ride_leave(struct ride *ride)
{
	assert_int_equal(ck_pr_faa_32(&ride->inside, (uint32_t)-1), 1);
	return 0;
}

/* Counted before, as the items may come before it returns. */
static void ride_request(struct ride *ride,
			 struct weir_subscription *subscription, int64_t n)
{
	if (n == MANY)
		ck_pr_or_64((uint64_t *)&ride->requested, MANY);
	else if (n > 0)
		ck_pr_add_64((uint64_t *)&ride->requested, (uint64_t)n);
	weir_subscription_request(subscription, n == MANY ? INT64_MAX : n);
}

static int ride_on_subscribe(struct weir_subscriber *subscriber,
			     struct weir_subscription *subscription)
{
	struct ride *ride = ride_enter(subscriber);
	uint32_t i;

	assert_int_equal(ride->subscribed++, 0);
	for (i = 0; i < ride->holders; i++)
		weir_subscription_ref(subscription);
	if (ride->requested)
		weir_subscription_request(subscription, INT64_MAX);
	/* release: pairs with the acquire in board() */
	ck_pr_fence_release();
	ck_pr_store_ptr(&ride->subscription, subscription);
	return ride_leave(ride);
}

static int ride_on_next(struct weir_subscriber *subscriber, void *item)
{
	struct ride *ride = ride_enter(subscriber);
	size_t i = ledger_deliver(ride->ledger, item);

	assert_int_equal(ride->subscribed, 1);
	assert_true((int64_t)ride->seen <
		    (int64_t)ck_pr_load_64((uint64_t *)&ride->requested));
	if (ride->last)
		assert_int_equal(i, ride->last + 1);
	ride->last = i;
	if (++ride->seen == ride->leave_at)
		weir_subscription_cancel(ride->subscription);
	return ride_leave(ride);
}

static int ride_on_error(struct weir_subscriber *subscriber,
			 struct weir_error *error)
{
	struct ride *ride = ride_enter(subscriber);

	assert_non_null(error);
	ride->ended++;
	return ride_leave(ride);
}

static int ride_on_complete(struct weir_subscriber *subscriber)
{
	struct ride *ride = ride_enter(subscriber);

	ride->ended++;
	return ride_leave(ride);
}

static void ride_released(struct weir_subscriber *subscriber)
{
	struct rider *rider =
		weir_container_of(subscriber, struct rider, subscriber);
	struct ride *ride = rider->ride;

	assert_int_equal(ride->inside, 0);
	assert_int_equal(ride->subscribed, 1);
	assert_int_equal(ck_pr_load_32(&ride->released), 0);
	free(rider);
	announce(&ride->released);
}

static const struct weir_subscriber_ops rider_ops = {
	.on_subscribe = ride_on_subscribe,
	.on_next = ride_on_next,
	.on_error = ride_on_error,
	.on_complete = ride_on_complete,
	.released = ride_released,
};

static void ride_begin(struct ride *ride, struct weir_publisher *publisher)
{
	struct rider *rider = malloc(sizeof(*rider));

	assert_non_null(rider);
	rider->ride = ride;
	assert_int_equal(weir_subscriber_init(&rider->subscriber, &rider_ops),
			 0);
	assert_int_equal(
		weir_publisher_subscribe(publisher, &rider->subscriber), 0);
}

/* --- Request, cancel, items, the end and another subscriber --------------- */

#define RIDES 2
#define THREADS 3

struct meddler {
	struct ride *ride;
	struct flagged_source *from; /* subscribes first, if set */
	uint64_t random;
	pthread_t thread;
};

static struct weir_subscription *board(struct ride *ride)
{
	struct weir_subscription *subscription;

	while (!(subscription = ck_pr_load_ptr(&ride->subscription)))
		sched_yield();
	ck_pr_fence_acquire();
	return subscription;
}

/* The last thing it does ends the ride, now or when all has come. */
static void *meddle(void *context)
{
	struct meddler *self = context;
	struct weir_subscription *subscription;
	uint64_t n;

	if (self->from) {
		dawdle(&self->random);
		ride_begin(self->ride, &self->from->reactive.publisher);
		weir_actor_unref(&self->from->source.actor);
	}
	subscription = board(self->ride);
	for (n = draw(&self->random) % 40; n; n--) {
		ride_request(self->ride, subscription,
			     1 + (int64_t)(draw(&self->random) % 3));
		if (draw(&self->random) % 8 == 0)
			dawdle(&self->random);
	}
	switch (draw(&self->random) % 4) {
	case 0:
		weir_subscription_cancel(subscription);
		break;
	case 1:
		ride_request(self->ride, subscription, -1);
		break;
	default:
		ride_request(self->ride, subscription, MANY);
		break;
	}
	weir_subscription_unref(subscription);
	return NULL;
}

static void race(struct weir_executor *executor, uint64_t seed,
		 uint32_t n_threads)
{
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, started;
	struct flagged_source source;
	struct meddler meddlers[THREADS];
	struct ride rides[RIDES] = {{0}};
	struct ledger ledger;
	uint32_t i;

	ledger_init(&ledger, 64);
	flagged_source_init(&source, executor, &ledger, 64,
			    draw(&random) % 3 ? 1 : 4,
			    draw(&random) % 2 ? 8 : 0);
	weir_actor_ref(&source.source.actor);
	started = draw(&random) % 2;
	if (started)
		assert_int_equal(weir_actor_start(&source.source.actor), 0);
	for (i = 0; i < n_threads; i++) {
		meddlers[i] = (struct meddler){
			.ride = &rides[i == 2],
			.from = i == 2 ? &source : NULL,
			.random = draw(&random) | 1,
		};
		meddlers[i].ride->ledger = &ledger;
		meddlers[i].ride->holders++;
		if (i == 2)
			weir_actor_ref(&source.source.actor);
	}
	for (i = 0; i < n_threads; i++)
		pthread_create(&meddlers[i].thread, NULL, meddle, &meddlers[i]);
	ride_begin(&rides[0], &source.reactive.publisher);
	if (!started)
		assert_int_equal(weir_actor_start(&source.source.actor), 0);
	weir_actor_unref(&source.source.actor);
	for (i = 0; i < n_threads; i++)
		pthread_join(meddlers[i].thread, NULL);
	await(&source.done);
	await(&rides[0].released);
	if (n_threads > 2)
		await(&rides[1].released);
	ledger_check(&ledger);
	ledger_fini(&ledger);
}

static void two_threads_request_and_cancel_what_comes(void **state)
{
	struct weir_threads *pool = pool_new();

	for_each_seed(seed, test_count(5000))
		race(weir_threads_executor(pool), seed, 2);
	pool_free(pool);
}

static void a_third_one_subscribes_meanwhile(void **state)
{
	struct weir_threads *pool = pool_new();

	for_each_seed(seed, test_count(5000))
		race(weir_threads_executor(pool), seed, 3);
	pool_free(pool);
}

/* --- Coming and going while items flow ------------------------------------ */

#define JOINERS 2
#define RIDES_EACH 400

struct joiner {
	struct flagged_source *source;
	struct ride *rides;
	uint64_t random;
	pthread_t thread;
};

/* Some leave inside a signal, some from here, and some stay. */
static void *join_and_leave(void *context)
{
	struct joiner *self = context;
	size_t i;

	for (i = 0; i < RIDES_EACH; i++) {
		struct ride *ride = &self->rides[i];
		struct weir_subscription *subscription;

		ride->ledger = self->source->source.ledger;
		ride->holders = 1;
		ride->requested = MANY;
		if (draw(&self->random) % 2)
			ride->leave_at = 1 + draw(&self->random) % 20;
		ride_begin(ride, &self->source->reactive.publisher);
		if (i % 8)
			continue;
		subscription = board(ride);
		dawdle(&self->random);
		if (draw(&self->random) % 2)
			weir_subscription_cancel(subscription);
	}
	for (i = 0; i < RIDES_EACH; i++) {
		struct weir_subscription *subscription = board(&self->rides[i]);

		weir_subscription_cancel(subscription);
		weir_subscription_unref(subscription);
	}
	weir_actor_unref(&self->source->source.actor);
	return NULL;
}

static void a_crowd(uint64_t seed, size_t n)
{
	struct weir_threads *pool = pool_new();
	struct ride *rides =
		calloc((size_t)JOINERS * RIDES_EACH, sizeof(*rides));
	struct flagged_source source;
	struct joiner joiners[JOINERS];
	struct ledger ledger;
	struct ride keeper = {.ledger = &ledger, .requested = MANY};
	size_t i;

	assert_non_null(rides);
	ledger_init(&ledger, n);
	flagged_source_init(&source, weir_threads_executor(pool), &ledger, n, 1,
			    (size_t)1 << seed % 7);
	ride_begin(&keeper, &source.reactive.publisher);
	for (i = 0; i < JOINERS; i++) {
		weir_actor_ref(&source.source.actor);
		joiners[i] = (struct joiner){
			.source = &source,
			.rides = rides + i * RIDES_EACH,
			.random = seed * 2 + i + 1,
		};
		pthread_create(&joiners[i].thread, NULL, join_and_leave,
			       &joiners[i]);
	}
	assert_int_equal(weir_actor_start(&source.source.actor), 0);
	for (i = 0; i < JOINERS; i++)
		pthread_join(joiners[i].thread, NULL);
	for (i = 0; i < (size_t)JOINERS * RIDES_EACH; i++)
		await(&rides[i].released);
	await(&keeper.released);
	assert_int_equal(keeper.seen, n);
	assert_int_equal(keeper.ended, 1);
	await(&source.done);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	free(rides);
	pool_free(pool);
}

static void many_come_and_go_and_who_stays_gets_all(void **state)
{
	for_each_seed(seed, test_count(30))
		a_crowd(seed, 20000);
}

/* --- Links that are made while either side stops -------------------------- */

struct stopper {
	struct weir_actor *actor; /* a reference */
	struct weir_publisher *publisher;
	struct weir_subscriber *subscriber;
	struct weir_actor *other; /* a reference: subscribed */
	bool stops;
	uint64_t random;
	pthread_t thread;
};

/* Subscribes, or stops, at any moment. */
static void *stop_some_time(void *context)
{
	struct stopper *self = context;

	dawdle(&self->random);
	if (self->publisher)
		assert_int_equal(weir_publisher_subscribe(self->publisher,
							  self->subscriber),
				 0);
	weir_actor_unref(self->other);
	if (self->stops)
		weir_actor_stop(self->actor);
	weir_actor_unref(self->actor);
	return NULL;
}

static void stopper_start(struct stopper *self, struct flagged_source *source,
			  struct flagged_sink *sink, uint64_t random)
{
	*self = (struct stopper){
		.actor = &source->source.actor,
		.random = random | 1,
	};
	if (sink) {
		self->publisher = &source->reactive.publisher;
		self->subscriber = &sink->reactive.subscriber;
		self->other = weir_actor_ref(&sink->sink.actor);
	}
	weir_actor_ref(self->actor);
}

/*
 * Two publishers and one subscriber, each with a thread that does something to
 * it: both threads may subscribe the same one, which takes the first (2.5).
 */
static void meet(struct weir_threads *pool, uint64_t seed)
{
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	struct flagged_source sources[2];
	struct flagged_sink sink;
	struct stopper stoppers[3];
	struct ledger ledger;
	size_t i, fan = draw(&random) % 2 ? 4 : 0;
	bool messages = draw(&random) % 3 == 0;

	ledger_init(&ledger, 100);
	flagged_sink_init(&sink, weir_threads_worker(pool, 0), &ledger, 8,
			  messages ? 5 : 0);
	for (i = 0; i < 2; i++) {
		flagged_source_init(&sources[i], weir_threads_worker(pool, 1),
				    &ledger, 50, draw(&random) % 3 ? 1 : 4,
				    fan);
		sources[i].source.next += 50 * i;
		sources[i].source.last += 50 * i;
		sink.sink.ordered = false;
		stopper_start(&stoppers[i], &sources[i],
			      i == 0 || draw(&random) % 2 ? &sink : NULL,
			      draw(&random));
		/* who has nobody would stay */
		stoppers[i].stops = i == 1 || draw(&random) % 2;
		weir_actor_start(&sources[i].source.actor);
	}
	stoppers[2] = (struct stopper){
		.actor = weir_actor_ref(&sink.sink.actor),
		.random = draw(&random) | 1,
		.stops = draw(&random) % 2,
	};
	weir_actor_start(&sink.sink.actor);
	for (i = 0; i < 3; i++)
		pthread_create(&stoppers[i].thread, NULL, stop_some_time,
			       &stoppers[i]);
	for (i = 0; i < 3; i++)
		pthread_join(stoppers[i].thread, NULL);
	for (i = 0; i < 2; i++)
		await(&sources[i].done);
	await(&sink.done);
	assert_true(sink.sink.ended <= 1);
	ledger_check(&ledger);
	ledger_fini(&ledger);
}

static void links_are_made_while_either_side_stops(void **state)
{
	struct weir_threads *pool = pool_new();

	for_each_seed(seed, test_count(6000))
		meet(pool, seed);
	pool_free(pool);
}

/* --- Publishers by hand, on threads of their own -------------------------- */

#define CAPACITY 8

struct pusher {
	struct weir_subscription subscription;
	struct weir_subscriber *subscriber; /* a reference */
	struct ledger *ledger;
	int64_t granted, sent; /* any thread */
	uint32_t cancels;
	uint32_t *released;
};

static struct pusher *pusher_of(struct weir_subscription *subscription)
{
	return weir_container_of(subscription, struct pusher, subscription);
}

static void pusher_request(struct weir_subscription *subscription, int64_t n)
{
	struct pusher *self = pusher_of(subscription);
	int64_t sent = (int64_t)ck_pr_load_64((uint64_t *)&self->sent);

	assert_true(n > 0);
	assert_true(self->granted + n - sent <= CAPACITY);
	ck_pr_fence_release();
	ck_pr_add_64((uint64_t *)&self->granted, (uint64_t)n);
}

static void pusher_cancel(struct weir_subscription *subscription)
{
	assert_int_equal(ck_pr_faa_32(&pusher_of(subscription)->cancels, 1), 0);
}

static void pusher_released(struct weir_subscription *subscription)
{
	struct pusher *self = pusher_of(subscription);
	uint32_t *released = self->released;

	assert_int_equal(ck_pr_load_32(released), 0);
	free(self);
	announce(released);
}

static const struct weir_subscription_ops pusher_ops = {
	.request = pusher_request,
	.cancel = pusher_cancel,
	.released = pusher_released,
};

static struct pusher *pusher_new(struct ledger *ledger,
				 struct flagged_sink *sink, uint32_t *released)
{
	struct pusher *self = calloc(1, sizeof(*self));

	assert_non_null(self);
	self->ledger = ledger;
	self->released = released;
	self->subscriber = weir_subscriber_ref(&sink->reactive.subscriber);
	assert_int_equal(weir_subscription_init(&self->subscription,
						&pusher_ops, &ledger->items),
			 0);
	return self;
}

static bool pusher_waits(struct pusher *self)
{
	while (!ck_pr_load_32(&self->cancels)) {
		if ((int64_t)ck_pr_load_64((uint64_t *)&self->granted) >
		    self->sent) {
			ck_pr_fence_acquire();
			return true;
		}
		sched_yield();
	}
	return false;
}

struct pushing {
	struct pusher *pusher;
	struct flagged_sink *sink;
	size_t first, last;
	uint64_t random;
	uint32_t released;
	pthread_t thread;
};

/* It may send one more when it is cancelled: that is dropped (2.8). */
static void *push(void *context)
{
	struct pushing *self = context;
	struct pusher *pusher = self->pusher;
	const struct weir_subscriber_ops *ops = pusher->subscriber->ops;
	size_t i;

	dawdle(&self->random);
	assert_int_equal(ops->on_subscribe(pusher->subscriber,
					   &pusher->subscription),
			 0);
	for (i = self->first; i <= self->last && pusher_waits(pusher); i++) {
		void *item = ledger_make(pusher->ledger, i);

		ck_pr_store_64((uint64_t *)&pusher->sent,
			       (uint64_t)pusher->sent + 1);
		assert_int_equal(ops->on_next(pusher->subscriber, item), 0);
	}
	if (ck_pr_load_32(&pusher->cancels))
		;
	else if (draw(&self->random) % 2)
		(void)ops->on_complete(pusher->subscriber);
	else
		(void)ops->on_error(pusher->subscriber, weir_error_of(-EIO));
	weir_subscriber_unref(pusher->subscriber);
	weir_subscription_unref(&pusher->subscription);
	weir_actor_unref(&self->sink->sink.actor);
	return NULL;
}

/* Two publish to one subscriber, which may be stopped: one is cancelled. */
static void be_pushed(struct weir_threads *pool, uint64_t seed)
{
	uint64_t random = seed * UINT64_C(0x9e3779b97f4a7c15) + 1, n;
	struct pushing pushing[2];
	struct flagged_sink sink;
	struct ledger ledger;
	size_t i;

	ledger_init(&ledger, 200);
	flagged_sink_init(&sink, weir_threads_executor(pool), &ledger, CAPACITY,
			  draw(&random) % (CAPACITY + 1));
	weir_actor_ref(&sink.sink.actor);
	sink.sink.ordered = false;
	for (i = 0; i < 2; i++) {
		weir_actor_ref(&sink.sink.actor);
		pushing[i] = (struct pushing){
			.sink = &sink,
			.first = 100 * i + 1,
			.last = 100 * i + 100,
			.random = draw(&random) | 1,
		};
		pushing[i].pusher =
			pusher_new(&ledger, &sink, &pushing[i].released);
	}
	assert_int_equal(weir_actor_start(&sink.sink.actor), 0);
	for (i = 0; i < 2; i++)
		pthread_create(&pushing[i].thread, NULL, push, &pushing[i]);
	for (n = draw(&random) % 8; n; n--)
		dawdle(&random);
	if (draw(&random) % 2)
		weir_actor_stop(&sink.sink.actor);
	weir_actor_unref(&sink.sink.actor);
	for (i = 0; i < 2; i++) {
		pthread_join(pushing[i].thread, NULL);
		await(&pushing[i].released);
	}
	await(&sink.done);
	ledger_check(&ledger);
	ledger_fini(&ledger);
}

static void publishers_by_hand_push_while_their_subscriber_stops(void **state)
{
	struct weir_threads *pool = pool_new();

	for_each_seed(seed, test_count(5000))
		be_pushed(pool, seed);
	pool_free(pool);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_threads_request_and_cancel_what_comes),
		cmocka_unit_test(a_third_one_subscribes_meanwhile),
		cmocka_unit_test(many_come_and_go_and_who_stays_gets_all),
		cmocka_unit_test(links_are_made_while_either_side_stops),
		cmocka_unit_test(
			publishers_by_hand_push_while_their_subscriber_stops),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
