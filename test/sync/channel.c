/* SPDX-License-Identifier: BSD-2-Clause */
/* Channels: trying, waiting, callbacks and actors on both sides. */
#include "actor/kit.h"

#include <pthread.h>

#include <weir/channel.h>

enum { CAPACITY = 3, ITEMS = 64 };

/* When there are several producers, the items of the first two. */
enum { FIRST_LAST = 16, SECOND_LAST = 40 };

static struct weir_channel *channel;
static struct ledger ledger;
static uint32_t n_calls, depth, depth_max;

static int setup(void **state)
{
	n_calls = depth = depth_max = 0;
	ledger_init(&ledger, ITEMS);
	return weir_channel_new(&channel, CAPACITY, &ledger.items, NULL);
}

/* Nobody waits, nothing is reserved, and each item went somewhere once. */
static int teardown(void **state)
{
	assert_int_equal(weir_channel_free(channel), 0);
	ledger_check(&ledger);
	ledger_fini(&ledger);
	return 0;
}

static void put(size_t i)
{
	assert_int_equal(weir_channel_try_put(channel, ledger_make(&ledger, i)),
			 0);
}

/* Made, refused, and so still ours. */
static void put_refused(size_t i, int rc)
{
	void *item = ledger_make(&ledger, i);

	assert_int_equal(weir_channel_try_put(channel, item), rc);
	ledger_drop(item, &ledger);
}

static void take(size_t i)
{
	void *item = NULL;

	assert_int_equal(weir_channel_try_take(channel, &item), 0);
	assert_int_equal(ledger_deliver(&ledger, item), i);
}

static void take_refused(int rc)
{
	void *item = &ledger;

	assert_int_equal(weir_channel_try_take(channel, &item), rc);
	assert_ptr_equal(item, &ledger);
}

static void end(int code)
{
	assert_int_equal(weir_channel_end(channel,
					  code ? weir_error_of(code) : NULL),
			 0);
}

/* --- Requests ----------------------------------------------------------- */

struct putter {
	struct weir_put put;
	uint32_t calls, place;
	int status;
	size_t next, last; /* puts those in its callback */
};

static void putter_done(struct weir_put *request, int status)
{
	struct putter *self = weir_container_of(request, struct putter, put);

	if (++depth > depth_max)
		depth_max = depth;
	self->calls++;
	self->place = ++n_calls;
	self->status = status;
	if (status < 0)
		ledger_drop(request->item, &ledger);
	if (status == 0 && self->next < self->last) {
		request->item = ledger_make(&ledger, ++self->next);
		assert_int_equal(weir_channel_put_async(channel, request), 0);
	}
	depth--;
}

static void ask_put(struct putter *putter, size_t i)
{
	putter->put.done = putter_done;
	putter->put.item = ledger_make(&ledger, i);
	assert_int_equal(weir_channel_put_async(channel, &putter->put), 0);
}

struct taker {
	struct weir_take take;
	uint32_t calls;
	int status;
	size_t item;
	uint32_t again; /* takes so many more in its callback */
};

static void taker_done(struct weir_take *request, int status)
{
	struct taker *self = weir_container_of(request, struct taker, take);

	if (++depth > depth_max)
		depth_max = depth;
	self->calls++;
	self->status = status;
	if (status == 0)
		self->item = ledger_deliver(&ledger, request->item);
	if (status == 0 && self->again) {
		self->again--;
		assert_int_equal(weir_channel_take_async(channel, request), 0);
	}
	depth--;
}

static void ask_take(struct taker *taker)
{
	taker->take.done = taker_done;
	assert_int_equal(weir_channel_take_async(channel, &taker->take), 0);
}

/* --- Trying ------------------------------------------------------------- */

static void misuse_is_an_error_and_changes_nothing(void **state)
{
	struct weir_channel *other = channel;
	struct weir_put no_put = {.done = NULL};
	struct weir_take no_take = {.done = NULL};
	void *item;

	assert_int_equal(weir_channel_new(NULL, 1, NULL, NULL), -EINVAL);
	assert_int_equal(weir_channel_new(&other, 0, NULL, NULL), -EINVAL);
	assert_null(other);
	other = channel;
	assert_int_equal(weir_channel_new(&other, WEIR_CAPACITY_MAX + 1, NULL,
					  NULL),
			 -EINVAL);
	assert_null(other);
	assert_int_equal(weir_channel_free(NULL), 0);
	assert_int_equal(weir_channel_end(NULL, NULL), -EINVAL);
	assert_int_equal(weir_channel_try_put(NULL, NULL), -EINVAL);
	assert_int_equal(weir_channel_put_wait(NULL, NULL, 0), -EINVAL);
	assert_int_equal(weir_channel_try_take(NULL, &item), -EINVAL);
	assert_int_equal(weir_channel_try_take(channel, NULL), -EINVAL);
	assert_int_equal(weir_channel_take_wait(NULL, &item, 0), -EINVAL);
	assert_int_equal(weir_channel_take_wait(channel, NULL, 0), -EINVAL);
	assert_int_equal(weir_channel_put_async(NULL, &no_put), -EINVAL);
	assert_int_equal(weir_channel_put_async(channel, NULL), -EINVAL);
	assert_int_equal(weir_channel_put_async(channel, &no_put), -EINVAL);
	assert_int_equal(weir_channel_take_async(NULL, &no_take), -EINVAL);
	assert_int_equal(weir_channel_take_async(channel, NULL), -EINVAL);
	assert_int_equal(weir_channel_take_async(channel, &no_take), -EINVAL);
	assert_false(weir_channel_cancel_put(channel, NULL));
	assert_false(weir_channel_cancel_take(NULL, &no_take));
	assert_null(weir_channel_error(NULL));
	assert_int_equal(weir_channel_count(NULL), 0);
	assert_int_equal(weir_channel_count(channel), 0);
}

static void no_memory_leaves_nothing_behind(void **state)
{
	struct weir_channel *other;
	struct heap heap;
	size_t fail = 1;
	int rc;

	do {
		heap_init(&heap, fail++);
		other = channel;
		rc = weir_channel_new(&other, 1, NULL, &heap.allocator);
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_null(other);
			assert_int_equal(heap.live, 0);
		}
	} while (rc < 0);
	assert_int_equal(fail, 3);
	assert_int_equal(weir_channel_free(other), 0);
	assert_int_equal(heap.live, 0);
	assert_int_equal(heap.bytes, 0);
}

static void items_come_out_in_the_order_they_went_in(void **state)
{
	size_t in = 0, out = 0;

	/* around the ring, with any number of items in it */
	while (in < ITEMS) {
		while (in < ITEMS && in - out < CAPACITY)
			put(++in);
		take(++out);
		if (in & 1)
			take(++out);
	}
	while (out < in)
		take(++out);
	take_refused(-EAGAIN);
}

static void a_full_channel_refuses_and_the_item_stays_the_callers(void **state)
{
	put(1);
	put(2);
	put(3);
	put_refused(4, -EAGAIN);
	assert_int_equal(weir_channel_count(channel), CAPACITY);
	take(1);
	put(5);
	take(2);
	take(3);
	take(5);
}

static void what_is_left_is_dropped_with_the_channel(void **state)
{
	put(1);
	put(2);
	assert_int_equal(weir_channel_free(channel), 0);
	assert_int_equal(ledger_dropped(&ledger), 2);
	channel = NULL;
}

/* --- The end ------------------------------------------------------------ */

static void the_end_is_behind_the_items(void **state)
{
	put(1);
	put(2);
	end(0);
	put_refused(3, -EPIPE);
	take(1);
	take(2);
	take_refused(-EPIPE);
	assert_int_equal(weir_channel_end(channel, NULL), -EALREADY);
	assert_null(weir_channel_error(channel));
}

static void an_error_does_not_overtake_items_and_the_first_stays(void **state)
{
	put(1);
	end(-EIO);
	assert_int_equal(weir_channel_end(channel, weir_error_of(-ENOENT)),
			 -EALREADY);
	take(1);
	take_refused(-EPIPE);
	assert_int_equal(weir_channel_error(channel)->code, -EIO);
}

static void the_end_refuses_those_who_wait_to_put(void **state)
{
	struct putter putter = {.calls = 0};

	put(1);
	put(2);
	put(3);
	ask_put(&putter, 4);
	end(0);
	assert_int_equal(putter.calls, 1);
	assert_int_equal(putter.status, -EPIPE);
	take(1);
	take(2);
	take(3);
	take_refused(-EPIPE);
}

static void the_end_reaches_those_who_wait_to_take(void **state)
{
	struct taker takers[2] = {{.calls = 0}};

	ask_take(&takers[0]);
	ask_take(&takers[1]);
	put(1);
	end(0);
	assert_int_equal(takers[0].status, 0);
	assert_int_equal(takers[0].item, 1);
	assert_int_equal(takers[1].calls, 1);
	assert_int_equal(takers[1].status, -EPIPE);
}

static void requests_after_the_end_are_refused_without_a_callback(void **state)
{
	struct putter putter = {.put.done = putter_done};
	struct taker taker = {.take.done = taker_done};

	end(0);
	assert_int_equal(weir_channel_put_async(channel, &putter.put), -EPIPE);
	assert_int_equal(weir_channel_take_async(channel, &taker.take), -EPIPE);
	assert_int_equal(putter.calls + taker.calls, 0);
}

/* --- Waiting requests --------------------------------------------------- */

static void takers_are_served_in_order(void **state)
{
	struct taker takers[3] = {{.calls = 0}};
	size_t i;

	for (i = 0; i < 3; i++)
		ask_take(&takers[i]);
	take_refused(-EAGAIN);
	for (i = 0; i < 3; i++)
		put(i + 1);
	for (i = 0; i < 3; i++)
		assert_int_equal(takers[i].item, i + 1);
	assert_int_equal(weir_channel_count(channel), 0);
}

static void putters_are_served_in_order(void **state)
{
	struct putter putters[3] = {{.calls = 0}};
	size_t i;

	for (i = 1; i <= 3; i++)
		put(i);
	for (i = 0; i < 3; i++)
		ask_put(&putters[i], i + 4);
	put_refused(7, -EAGAIN);
	for (i = 1; i <= 6; i++)
		take(i);
	for (i = 0; i < 3; i++)
		assert_int_equal(putters[i].place, i + 1);
}

static void a_cancelled_put_keeps_its_item_and_loses_no_place(void **state)
{
	struct putter first = {.calls = 0}, second = {.calls = 0};
	size_t i;

	for (i = 1; i <= 3; i++)
		put(i);
	ask_put(&first, 4);
	ask_put(&second, 5);
	assert_true(weir_channel_cancel_put(channel, &first.put));
	ledger_drop(first.put.item, &ledger);
	take(1);
	assert_int_equal(first.calls, 0);
	assert_int_equal(second.calls, 1);
	assert_false(weir_channel_cancel_put(channel, &second.put));
	take(2);
	take(3);
	take(5);
}

static void a_cancelled_take_loses_no_item(void **state)
{
	struct taker first = {.calls = 0}, second = {.calls = 0};

	ask_take(&first);
	ask_take(&second);
	assert_true(weir_channel_cancel_take(channel, &first.take));
	put(1);
	assert_int_equal(first.calls, 0);
	assert_int_equal(second.item, 1);
	assert_false(weir_channel_cancel_take(channel, &second.take));
}

static void two_senders_lose_nothing_over_one_place(void **state)
{
	struct putter first = {.calls = 0}, second = {.calls = 0};

	put(1);
	put(2);
	ask_put(&first, 3);
	ask_put(&second, 4);
	assert_int_equal(first.calls, 1);
	assert_int_equal(second.calls, 0);
	take(1);
	assert_int_equal(second.calls, 1);
	take(2);
	take(3);
	take(4);
}

/* A producer and a consumer made of callbacks feed each other. */
static void callbacks_may_call_back_without_more_stack(void **state)
{
	struct taker taker = {.again = ITEMS - 1};
	struct putter putter = {.next = 1, .last = ITEMS};

	ask_take(&taker);
	ask_put(&putter, 1);
	assert_int_equal(taker.calls, ITEMS);
	assert_int_equal(taker.item, ITEMS);
	assert_int_equal(putter.calls, ITEMS);
	assert_int_equal(depth_max, 1);
}

static void one_with_waiters_cannot_be_freed(void **state)
{
	struct taker taker = {.calls = 0};

	ask_take(&taker);
	assert_int_equal(weir_channel_free(channel), -EBUSY);
	put(1);
	assert_int_equal(taker.item, 1);
}

/* --- Waiting threads ---------------------------------------------------- */

static void waits_time_out_at_once_and_change_nothing(void **state)
{
	void *item = NULL;
	size_t i;

	assert_int_equal(weir_channel_take_wait(channel, &item, 0), -ETIMEDOUT);
	assert_null(item);
	for (i = 1; i <= 3; i++)
		assert_int_equal(weir_channel_put_wait(
					 channel, ledger_make(&ledger, i), 0),
				 0);
	item = ledger_make(&ledger, 4);
	assert_int_equal(weir_channel_put_wait(channel, item, 0), -ETIMEDOUT);
	ledger_drop(item, &ledger);
	for (i = 1; i <= 3; i++) {
		assert_int_equal(weir_channel_take_wait(channel, &item, 0), 0);
		assert_int_equal(ledger_deliver(&ledger, item), i);
	}
	take_refused(-EAGAIN);
}

static void *taking_thread(void *arg)
{
	void *item;
	size_t i;

	for (i = 1; i <= ITEMS; i++) {
		assert(weir_channel_take_wait(channel, &item, WEIR_FOREVER) ==
		       0);
		assert(ledger_deliver(&ledger, item) == i);
	}
	assert(weir_channel_take_wait(channel, &item, WEIR_FOREVER) == -EPIPE);
	return NULL;
}

static void threads_hand_over_by_waiting(void **state)
{
	pthread_t thread;
	size_t i;

	assert_int_equal(pthread_create(&thread, NULL, taking_thread, NULL), 0);
	for (i = 1; i <= ITEMS; i++)
		assert_int_equal(weir_channel_put_wait(channel,
						       ledger_make(&ledger, i),
						       WEIR_FOREVER),
				 0);
	end(0);
	assert_int_equal(pthread_join(thread, NULL), 0);
}

/* --- Actors ------------------------------------------------------------- */

static struct weir_sim *sim;

static int sim_setup(void **state)
{
	setup(state);
	return weir_sim_new(&sim, 1, NULL);
}

static int sim_teardown(void **state)
{
	assert_int_equal(weir_sim_free(sim), 0);
	return teardown(state);
}

/* Takes up to `burst` items a turn. */
struct eater {
	struct weir_actor actor;
	struct weir_channel_in in;
	struct weir_permits tickets;
	uint32_t turns, ended, fewer;
	uint32_t burst;
	size_t last[3]; /* by producer */
	int end_code, wait_result;
	uint32_t calls_seen; /* of callbacks, when the turn had taken */
	struct fate fate;
};

/* What comes from one producer comes in its order. */
static void eater_check(struct eater *self, size_t item)
{
	size_t *last = &self->last[(item > FIRST_LAST) + (item > SECOND_LAST)];

	assert_true(item > *last);
	*last = item;
}

static int eater_turn(struct weir_actor *actor)
{
	struct eater *self = weir_container_of(actor, struct eater, actor);
	void *item;
	uint32_t i;

	self->turns++;
	assert_int_equal(weir_permits_use(&self->tickets, 1), 0);
	self->wait_result = weir_channel_take_wait(channel, &item, 0);
	for (i = 0; i < self->burst; i++) {
		int rc = weir_channel_in_take(&self->in, &item);

		if (rc == -EAGAIN) {
			self->fewer++;
			break;
		}
		assert_int_equal(rc, 0);
		eater_check(self, ledger_deliver(&ledger, item));
	}
	self->calls_seen = n_calls;
	return 0;
}
WEIR_TURN(eater_turn)

static void eater_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct eater, actor)->fate,
		     error);
}

static void eater_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct eater, actor)->fate);
}

static const struct weir_actor_ops eater_ops = {
	.name = "eater",
	.turns = eater_turn_n,
	.stopped = eater_stopped,
	.released = eater_released,
};

static int eater_ended(struct weir_channel_in *in, struct weir_error *error)
{
	struct eater *self = weir_container_of(in, struct eater, in);

	self->ended++;
	self->end_code = error ? error->code : 0;
	return weir_actor_end(&self->actor);
}

static void eater_init(struct eater *self, uint32_t burst, int64_t tickets)
{
	memset(self, 0, sizeof(*self));
	self->burst = burst;
	assert_int_equal(weir_actor_init(&self->actor, &eater_ops,
					 weir_sim_executor(sim)),
			 0);
	assert_int_equal(weir_channel_in_init(&self->in, &self->actor, channel),
			 0);
	assert_int_equal(
		weir_permits_init(&self->tickets, &self->actor, tickets), 0);
	assert_int_equal(weir_port_set_burst(&self->in.port, (uint16_t)burst),
			 0);
}

static void start(struct weir_actor *actor)
{
	assert_int_equal(weir_actor_start(actor), 0);
}

static void run(void)
{
	weir_sim_run(sim);
}

static void stop(struct weir_actor *actor)
{
	weir_actor_stop(actor);
	run();
}

static void ports_check_their_arguments(void **state)
{
	struct eater eater;
	struct weir_channel_in in;
	struct weir_channel_out out;
	void *item = NULL;

	eater_init(&eater, 1, 0);
	assert_int_equal(weir_channel_in_init(NULL, &eater.actor, channel),
			 -EINVAL);
	assert_int_equal(weir_channel_in_init(&in, NULL, channel), -EINVAL);
	assert_int_equal(weir_channel_in_init(&in, &eater.actor, NULL),
			 -EINVAL);
	assert_int_equal(weir_channel_out_init(NULL, &eater.actor, channel),
			 -EINVAL);
	assert_int_equal(weir_channel_out_init(&out, NULL, channel), -EINVAL);
	assert_int_equal(weir_channel_out_init(&out, &eater.actor, NULL),
			 -EINVAL);
	assert_int_equal(weir_channel_in_take(NULL, &item), -EINVAL);
	assert_int_equal(weir_channel_in_take(&eater.in, NULL), -EINVAL);
	assert_int_equal(weir_channel_in_take(&eater.in, &item), -EAGAIN);
	assert_int_equal(weir_channel_out_put(NULL, NULL), -EINVAL);
	start(&eater.actor);
	assert_int_equal(weir_channel_in_take(&eater.in, &item), -EPERM);
	assert_int_equal(weir_channel_in_init(&in, &eater.actor, channel),
			 -EPERM);
	stop(&eater.actor);
}

static void an_actor_takes_every_item_and_then_hears_of_the_end(void **state)
{
	struct eater eater;

	eater_init(&eater, 1, INT64_MAX);
	eater.in.ended = eater_ended;
	put(1);
	put(2);
	start(&eater.actor);
	run();
	assert_int_equal(eater.turns, 2);
	assert_int_equal(eater.wait_result, -EDEADLK);
	put(3);
	put(4);
	end(-EIO);
	run();
	assert_int_equal(eater.turns, 4);
	assert_int_equal(eater.last[0], 4);
	assert_int_equal(eater.ended, 1);
	assert_int_equal(eater.end_code, -EIO);
	fate_check(&eater.fate, 0);
}

static void the_end_finishes_an_actor_without_a_handler(void **state)
{
	struct eater eater;

	eater_init(&eater, 1, INT64_MAX);
	start(&eater.actor);
	run();
	end(-EIO);
	run();
	fate_check(&eater.fate, -EIO);
}

static void a_burst_comes_whole_and_the_last_one_with_what_is_left(void **state)
{
	struct eater eater;

	eater_init(&eater, 2, INT64_MAX);
	start(&eater.actor);
	put(1);
	run();
	assert_int_equal(eater.turns, 0);
	/* it waits for the second: nobody overtakes it */
	take_refused(-EAGAIN);
	put(2);
	put(3);
	run();
	assert_int_equal(eater.turns, 1);
	assert_int_equal(eater.fewer, 0);
	end(0);
	run();
	assert_int_equal(eater.turns, 2);
	assert_int_equal(eater.fewer, 1);
	fate_check(&eater.fate, 0);
}

static void a_burst_above_the_capacity_is_the_capacity(void **state)
{
	struct eater eater;

	eater_init(&eater, CAPACITY + 1, INT64_MAX);
	start(&eater.actor);
	put(1);
	put(2);
	run();
	assert_int_equal(eater.turns, 0);
	put(3);
	run();
	assert_int_equal(eater.turns, 1);
	assert_int_equal(eater.last[0], 3);
	stop(&eater.actor);
}

static void an_item_taken_by_an_actor_makes_room_for_who_waits(void **state)
{
	struct eater eater;
	struct putter putter = {.calls = 0};
	size_t i;

	for (i = 1; i <= CAPACITY; i++)
		put(i);
	ask_put(&putter, CAPACITY + 1);
	eater_init(&eater, 1, 1);
	start(&eater.actor);
	run();
	assert_int_equal(eater.turns, 1);
	assert_int_equal(putter.calls, 1);
	assert_int_equal(eater.calls_seen, 1);
	assert_int_equal(weir_channel_count(channel), CAPACITY);
	stop(&eater.actor);
}

static void an_item_reserved_for_a_stopped_actor_goes_to_others(void **state)
{
	struct eater eater;
	struct taker taker = {.calls = 0};

	eater_init(&eater, 1, 0);
	put(1);
	start(&eater.actor);
	run();
	ask_take(&taker);
	end(0);
	/* not drained, so not yet the end for those who wait */
	assert_int_equal(taker.calls, 0);
	take_refused(-EAGAIN);
	assert_int_equal(weir_channel_free(channel), -EBUSY);
	stop(&eater.actor);
	assert_int_equal(eater.turns, 0);
	assert_int_equal(taker.item, 1);
	take_refused(-EPIPE);
}

static void an_actor_that_waits_and_is_stopped_leaves_the_queue(void **state)
{
	struct eater eater;

	eater_init(&eater, 1, INT64_MAX);
	start(&eater.actor);
	run();
	assert_int_equal(weir_channel_free(channel), -EBUSY);
	stop(&eater.actor);
	put(1);
	take(1);
}

/* Puts items 1, 2, ... last; then ends the channel, if it is to. */
struct feeder {
	struct weir_actor actor;
	struct weir_channel_out out;
	size_t next, last;
	int status; /* of the last put */
	uint32_t ended;
	bool ends;
	struct fate fate;
};

static int feeder_turn(struct weir_actor *actor)
{
	struct feeder *self = weir_container_of(actor, struct feeder, actor);
	void *item = ledger_make(&ledger, ++self->next);

	self->status = weir_channel_out_put(&self->out, item);
	if (self->status < 0)
		ledger_drop(item, &ledger);
	if (self->next < self->last && self->status == 0)
		return 0;
	if (self->ends)
		assert_int_equal(weir_channel_end(channel, NULL), 0);
	return weir_actor_end(actor);
}
WEIR_TURN(feeder_turn)

static void feeder_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct feeder, actor)->fate,
		     error);
}

static void feeder_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct feeder, actor)->fate);
}

static const struct weir_actor_ops feeder_ops = {
	.name = "feeder",
	.turns = feeder_turn_n,
	.stopped = feeder_stopped,
	.released = feeder_released,
};

static int feeder_ended(struct weir_channel_out *out, struct weir_error *error)
{
	struct feeder *self = weir_container_of(out, struct feeder, out);

	self->ended++;
	return weir_actor_end(&self->actor);
}

static void feeder_init(struct feeder *self, size_t first, size_t last)
{
	memset(self, 0, sizeof(*self));
	self->next = first - 1;
	self->last = last;
	assert_int_equal(weir_actor_init(&self->actor, &feeder_ops,
					 weir_sim_executor(sim)),
			 0);
	assert_int_equal(
		weir_channel_out_init(&self->out, &self->actor, channel), 0);
}

static void an_actor_puts_while_there_is_room(void **state)
{
	struct feeder feeder;
	size_t i;

	feeder_init(&feeder, 1, ITEMS);
	start(&feeder.actor);
	run();
	assert_int_equal(feeder.next, CAPACITY);
	/* it waits: nobody overtakes it */
	for (i = 1; i <= ITEMS; i++) {
		take(i);
		run();
	}
	assert_int_equal(feeder.status, 0);
	fate_check(&feeder.fate, 0);
}

static void a_waiting_out_port_hears_of_the_end(void **state)
{
	struct feeder feeder;
	size_t i;

	feeder_init(&feeder, 1, ITEMS);
	feeder.out.ended = feeder_ended;
	start(&feeder.actor);
	run();
	end(0);
	run();
	assert_int_equal(feeder.ended, 1);
	fate_check(&feeder.fate, 0);
	for (i = 1; i <= CAPACITY; i++)
		take(i);
	take_refused(-EPIPE);
}

static int put_at_the_end(struct weir_actor *actor)
{
	end(0);
	return feeder_turn(actor);
}
WEIR_TURN(put_at_the_end)

static void room_reserved_before_the_end_is_none_after_it(void **state)
{
	struct feeder feeder;

	feeder_init(&feeder, 1, ITEMS);
	feeder.actor.turns = put_at_the_end_n;
	start(&feeder.actor);
	run();
	assert_int_equal(feeder.status, -EPIPE);
	assert_int_equal(weir_channel_count(channel), 0);
	fate_check(&feeder.fate, 0);
}

static void a_thread_that_waits_runs_its_simulator(void **state)
{
	struct feeder feeder;
	void *item;
	size_t i;

	feeder_init(&feeder, 1, ITEMS);
	feeder.ends = true;
	start(&feeder.actor);
	for (i = 1; i <= ITEMS; i++) {
		assert_int_equal(weir_channel_take_wait(channel, &item,
							WEIR_FOREVER),
				 0);
		assert_int_equal(ledger_deliver(&ledger, item), i);
	}
	assert_int_equal(weir_channel_take_wait(channel, &item, WEIR_FOREVER),
			 -EPIPE);
	fate_check(&feeder.fate, 0);
}

/* --- Any mixture -------------------------------------------------------- */

/* Two actors feed, two eat, callbacks do both; somebody may be stopped. */
static void mix(uint64_t seed)
{
	struct feeder feeders[2];
	struct eater eaters[2];
	struct putter putter = {.next = 1, .last = FIRST_LAST};
	struct taker taker = {.again = ITEMS};
	size_t i;

	assert_int_equal(weir_sim_new(&sim, seed, NULL), 0);
	n_calls = depth = depth_max = 0;
	ledger_init(&ledger, ITEMS);
	assert_int_equal(weir_channel_new(&channel, 1 + weir_sim_random(sim, 4),
					  &ledger.items, NULL),
			 0);
	feeder_init(&feeders[0], FIRST_LAST + 1, SECOND_LAST);
	feeder_init(&feeders[1], SECOND_LAST + 1, ITEMS);
	for (i = 0; i < 2; i++)
		start(&feeders[i].actor);
	for (i = 0; i < 2; i++) {
		eater_init(&eaters[i], 1 + (uint32_t)weir_sim_random(sim, 3),
			   INT64_MAX);
		start(&eaters[i].actor);
	}
	ask_put(&putter, 1);
	ask_take(&taker);
	for (i = weir_sim_random(sim, 60); i; i--)
		weir_sim_step(sim);
	if (weir_sim_random(sim, 2))
		weir_actor_stop(&eaters[0].actor);
	if (weir_sim_random(sim, 4) == 0)
		weir_actor_stop(&feeders[1].actor);
	run();
	end(0);
	run();
	assert_int_equal(taker.status, -EPIPE);
	assert_int_equal(weir_channel_count(channel), 0);
	assert_int_equal(feeders[0].fate.released + feeders[1].fate.released +
				 eaters[0].fate.released +
				 eaters[1].fate.released,
			 4);
	assert_int_equal(ledger_delivered(&ledger),
			 ledger_sum(ledger.made, ITEMS));
	assert_int_equal(ledger_dropped(&ledger), 0);
	teardown(NULL);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void every_item_is_delivered_once_in_any_mixture(void **state)
{
	for_each_seed(seed, test_count(10000))
		mix(seed);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define SIM_TEST(name) \
	cmocka_unit_test_setup_teardown(name, sim_setup, sim_teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(misuse_is_an_error_and_changes_nothing),
		TEST(no_memory_leaves_nothing_behind),
		TEST(items_come_out_in_the_order_they_went_in),
		TEST(a_full_channel_refuses_and_the_item_stays_the_callers),
		TEST(what_is_left_is_dropped_with_the_channel),
		TEST(the_end_is_behind_the_items),
		TEST(an_error_does_not_overtake_items_and_the_first_stays),
		TEST(the_end_refuses_those_who_wait_to_put),
		TEST(the_end_reaches_those_who_wait_to_take),
		TEST(requests_after_the_end_are_refused_without_a_callback),
		TEST(takers_are_served_in_order),
		TEST(putters_are_served_in_order),
		TEST(a_cancelled_put_keeps_its_item_and_loses_no_place),
		TEST(a_cancelled_take_loses_no_item),
		TEST(two_senders_lose_nothing_over_one_place),
		TEST(callbacks_may_call_back_without_more_stack),
		TEST(one_with_waiters_cannot_be_freed),
		TEST(waits_time_out_at_once_and_change_nothing),
		TEST(threads_hand_over_by_waiting),
		SIM_TEST(ports_check_their_arguments),
		SIM_TEST(an_actor_takes_every_item_and_then_hears_of_the_end),
		SIM_TEST(the_end_finishes_an_actor_without_a_handler),
		SIM_TEST(
			a_burst_comes_whole_and_the_last_one_with_what_is_left),
		SIM_TEST(a_burst_above_the_capacity_is_the_capacity),
		SIM_TEST(an_item_taken_by_an_actor_makes_room_for_who_waits),
		SIM_TEST(an_item_reserved_for_a_stopped_actor_goes_to_others),
		SIM_TEST(an_actor_that_waits_and_is_stopped_leaves_the_queue),
		SIM_TEST(an_actor_puts_while_there_is_room),
		SIM_TEST(a_waiting_out_port_hears_of_the_end),
		SIM_TEST(room_reserved_before_the_end_is_none_after_it),
		SIM_TEST(a_thread_that_waits_runs_its_simulator),
		cmocka_unit_test(every_item_is_delivered_once_in_any_mixture),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
