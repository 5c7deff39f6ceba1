/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Ten million elements through a publisher, a processor and a subscriber: over
 * ports, where they meet as links and as request messages, and by hand at both
 * ends. All arrive once and in order, what is under way is never more than
 * there is room for, and when the subscriber leaves half-way the rest is
 * dropped, once.
 */
#include "stream/ends.h"

#include <sched.h>

#include "base/futex.h"

/* Sanitizers take ten times as long. */
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define N 1000000
#elif defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define N 1000000
#endif
#endif
#ifndef N
#define N 10000000
#endif

#define CAPACITY 256
#define WINDOW 100

/* What has become of elements 1, 2, ...; any thread. */
struct book {
	uint64_t taken; /* by the last one; all in order */
	uint64_t dropped, dropped_sum;
	uint64_t most; /* under way at once; the first one's */
};

static void book_drop(void *item, void *context)
{
	struct book *book = context;

	ck_pr_inc_64(&book->dropped);
	ck_pr_add_64(&book->dropped_sum, (uintptr_t)item);
}

static void book_take(struct book *book, const void *item)
{
	assert_int_equal((uintptr_t)item, book->taken + 1);
	ck_pr_store_64(&book->taken, (uintptr_t)item);
}

/* No order: room for another one was found after the take was published. */
static void book_make(struct book *book, uint64_t made)
{
	uint64_t under_way = made - ck_pr_load_64(&book->taken);

	if (under_way > book->most)
		book->most = under_way;
}

static uint64_t sum_to(uint64_t n)
{
	return n * (n + 1) / 2;
}

/* All that was made and not taken has been dropped, once. */
static void book_check(const struct book *book, uint64_t made, uint64_t room)
{
	assert_int_equal(book->dropped, made - book->taken);
	assert_int_equal(book->dropped_sum, sum_to(made) - sum_to(book->taken));
	assert_in_range(book->most, 1, room);
}

/* --- The three over ports ------------------------------------------------- */

struct maker {
	struct weir_actor actor;
	struct weir_out out;
	struct weir_reactive_out reactive;
	struct book *book;
	uint64_t made, n;
	uint32_t done;
};

struct passer {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_out out;
	struct weir_reactive_in reactive_in;
	struct weir_reactive_out reactive_out;
	uint32_t most; /* in the in-port at once */
	uint32_t done;
};

struct taking {
	struct weir_actor actor;
	struct weir_in in;
	struct weir_reactive_in reactive;
	struct book *book;
	uint64_t leave_at;
	uint32_t most;
	uint32_t done;
};

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

static inline int maker_turn(struct weir_actor *actor)
{
	struct maker *self = weir_container_of(actor, struct maker, actor);

	if (self->made == self->n)
		return WEIR_TURN_END;
	self->made++;
	book_make(self->book, self->made);
	return weir_out_put(&self->out, (void *)(uintptr_t)self->made);
}
WEIR_TURN(maker_turn)

static void note_count(uint32_t *most, const struct weir_in *in)
{
	uint32_t n = weir_in_count(in);

	if (n > *most)
		*most = n;
}

static inline int passer_turn(struct weir_actor *actor)
{
	struct passer *self = weir_container_of(actor, struct passer, actor);

	note_count(&self->most, &self->in);
	return weir_out_put(&self->out, weir_in_take(&self->in));
}
WEIR_TURN(passer_turn)

static inline int taking_turn(struct weir_actor *actor)
{
	struct taking *self = weir_container_of(actor, struct taking, actor);

	note_count(&self->most, &self->in);
	book_take(self->book, weir_in_take(&self->in));
	return self->book->taken == self->leave_at ? WEIR_TURN_END : 0;
}
WEIR_TURN(taking_turn)

static void maker_released(struct weir_actor *actor)
{
	announce(&weir_container_of(actor, struct maker, actor)->done);
}

static void passer_released(struct weir_actor *actor)
{
	announce(&weir_container_of(actor, struct passer, actor)->done);
}

static void taking_released(struct weir_actor *actor)
{
	announce(&weir_container_of(actor, struct taking, actor)->done);
}

static const struct weir_actor_ops maker_ops = {
	.turns = maker_turn_n,
	.released = maker_released,
};
static const struct weir_actor_ops passer_ops = {
	.turns = passer_turn_n,
	.released = passer_released,
};
static const struct weir_actor_ops taking_ops = {
	.turns = taking_turn_n,
	.released = taking_released,
};

static void maker_init(struct maker *self, struct weir_executor *executor,
		       const struct weir_items *items, uint64_t n)
{
	memset(self, 0, sizeof(*self));
	self->book = items->context;
	self->n = n;
	weir_actor_init(&self->actor, &maker_ops, executor);
	weir_out_init(&self->out, &self->actor, items);
	assert_int_equal(
		weir_reactive_out_init(&self->reactive, &self->out, NULL), 0);
}

static void passer_init(struct passer *self, struct weir_executor *executor,
			const struct weir_items *items, size_t prefetch)
{
	struct weir_reactive_in_options options = {.prefetch = prefetch};

	memset(self, 0, sizeof(*self));
	weir_actor_init(&self->actor, &passer_ops, executor);
	weir_in_init(&self->in, &self->actor, CAPACITY, items);
	weir_out_init(&self->out, &self->actor, items);
	assert_int_equal(weir_reactive_in_init(&self->reactive_in, &self->in,
					       &options),
			 0);
	assert_int_equal(weir_reactive_out_init(&self->reactive_out, &self->out,
						NULL),
			 0);
}

static void taking_init(struct taking *self, struct weir_executor *executor,
			const struct weir_items *items, size_t prefetch,
			uint64_t leave_at)
{
	struct weir_reactive_in_options options = {.prefetch = prefetch};

	memset(self, 0, sizeof(*self));
	self->book = items->context;
	self->leave_at = leave_at;
	weir_actor_init(&self->actor, &taking_ops, executor);
	weir_in_init(&self->in, &self->actor, CAPACITY, items);
	assert_int_equal(
		weir_reactive_in_init(&self->reactive, &self->in, &options), 0);
}

static struct weir_threads *pool_new(uint32_t workers)
{
	struct weir_threads_options options = {.workers = workers};
	struct weir_threads *pool;

	assert_int_equal(weir_threads_new(&pool, &options), 0);
	return pool;
}

static void pool_free(struct weir_threads *pool)
{
	while (weir_threads_free(pool) == -EBUSY)
		sched_yield(); /* the others are on their last steps */
}

/* `prefetch` 0: the defaults, which make links. */
static void over_ports(uint32_t workers, size_t prefetch, uint64_t n,
		       uint64_t leave_at)
{
	struct weir_threads *pool = pool_new(workers);
	struct weir_executor *executor = weir_threads_executor(pool);
	struct book book = {0};
	struct weir_items items = {.drop = book_drop, .context = &book};
	uint64_t room = prefetch ? prefetch : CAPACITY;
	struct maker maker;
	struct passer passer;
	struct taking taking;

	maker_init(&maker, executor, &items, n);
	passer_init(&passer, executor, &items, prefetch);
	taking_init(&taking, executor, &items, prefetch, leave_at);
	weir_publisher_subscribe(&maker.reactive.publisher,
				 &passer.reactive_in.subscriber);
	weir_publisher_subscribe(&passer.reactive_out.publisher,
				 &taking.reactive.subscriber);
	assert_int_equal(maker.out.putter.lane == NULL, prefetch != 0);
	assert_int_equal(weir_actor_start(&taking.actor), 0);
	assert_int_equal(weir_actor_start(&passer.actor), 0);
	assert_int_equal(weir_actor_start(&maker.actor), 0);
	await(&taking.done);
	await(&passer.done);
	await(&maker.done);
	pool_free(pool);
	assert_int_equal(book.taken, leave_at ? leave_at : n);
	assert_in_range(passer.most, 1, room);
	assert_in_range(taking.most, 1, room);
	book_check(&book, maker.made, 2 * room);
}

static void ten_million_over_links(void **state)
{
	over_ports(1, 0, test_count(N), 0);
	over_ports(2, 0, test_count(N), 0);
}

static void ten_million_by_requests(void **state)
{
	over_ports(1, WINDOW, test_count(N), 0);
	over_ports(2, WINDOW, test_count(N), 0);
	over_ports(2, 1, test_count(N / 10), 0);
}

static void who_leaves_half_way_has_the_rest_dropped_once(void **state)
{
	uint64_t n = test_count(N), workers;

	for (workers = 1; workers <= 2; workers++) {
		over_ports((uint32_t)workers, 0, n, n / 2 + 1);
		over_ports((uint32_t)workers, WINDOW, n, n / 2 + 1);
	}
}

/* --- By hand at both ends ------------------------------------------------- */

struct hand {
	struct weir_subscription subscription; /* that it gives */
	struct weir_subscriber subscriber;     /* that it is */
	struct weir_subscriber *to;	       /* a reference */
	struct weir_subscription *from;	       /* a reference */
	struct book *book;
	uint64_t made, n, granted, leave_at;
	bool sending, cancelled;
	uint32_t completes;
	uint32_t released;
};

static void hand_send(struct hand *self)
{
	void *item = (void *)(uintptr_t)++self->made;

	book_make(self->book, self->made);
	assert_int_equal(self->to->ops->on_next(self->to, item), 0);
}

/* Of a subscriber over ports, which calls it one after another. */
static void hand_request(struct weir_subscription *subscription, int64_t n)
{
	struct hand *self =
		weir_container_of(subscription, struct hand, subscription);

	assert_true(n > 0);
	assert_false(self->sending || self->cancelled);
	self->granted += (uint64_t)n;
	self->sending = true;
	while (self->made < self->granted && self->made < self->n)
		hand_send(self);
	self->sending = false;
	if (self->made == self->n) {
		self->to->ops->on_complete(self->to);
		weir_subscriber_unref(self->to);
	}
}

static void hand_cancel(struct weir_subscription *subscription)
{
	struct hand *self =
		weir_container_of(subscription, struct hand, subscription);

	assert_false(self->cancelled);
	self->cancelled = true;
	weir_subscriber_unref(self->to);
}

static int hand_on_subscribe(struct weir_subscriber *subscriber,
			     struct weir_subscription *subscription)
{
	struct hand *self =
		weir_container_of(subscriber, struct hand, subscriber);

	self->from = weir_subscription_ref(subscription);
	weir_subscription_request(subscription, WINDOW);
	return 0;
}

/* Half of the window is requested when half of it has come. */
static int hand_on_next(struct weir_subscriber *subscriber, void *item)
{
	struct hand *self =
		weir_container_of(subscriber, struct hand, subscriber);

	book_take(self->book, item);
	if (self->book->taken == self->leave_at)
		weir_subscription_cancel(self->from);
	else if (self->book->taken % (WINDOW / 2) == 0)
		weir_subscription_request(self->from, WINDOW / 2);
	return 0;
}

static int hand_on_error(struct weir_subscriber *subscriber,
			 struct weir_error *error)
{
	fail();
	return 0;
}

static int hand_on_complete(struct weir_subscriber *subscriber)
{
	weir_container_of(subscriber, struct hand, subscriber)->completes++;
	return 0;
}

static void hand_released(struct weir_subscriber *subscriber)
{
	announce(&weir_container_of(subscriber, struct hand, subscriber)
			  ->released);
}

static const struct weir_subscription_ops giving_ops = {
	.request = hand_request,
	.cancel = hand_cancel,
};
static const struct weir_subscriber_ops taking_hand_ops = {
	.on_subscribe = hand_on_subscribe,
	.on_next = hand_on_next,
	.on_error = hand_on_error,
	.on_complete = hand_on_complete,
	.released = hand_released,
};

static void by_hand(uint64_t n, uint64_t leave_at)
{
	struct weir_threads *pool = pool_new(1);
	struct book book = {0};
	struct weir_items items = {.drop = book_drop, .context = &book};
	struct hand hand = {.book = &book, .n = n, .leave_at = leave_at};
	struct passer passer;

	passer_init(&passer, weir_threads_executor(pool), &items, WINDOW);
	weir_subscriber_init(&hand.subscriber, &taking_hand_ops);
	weir_subscription_init(&hand.subscription, &giving_ops, &items);
	weir_publisher_subscribe(&passer.reactive_out.publisher,
				 &hand.subscriber);
	hand.to = weir_subscriber_ref(&passer.reactive_in.subscriber);
	assert_int_equal(
		hand.to->ops->on_subscribe(hand.to, &hand.subscription), 0);
	assert_int_equal(weir_actor_start(&passer.actor), 0);
	/* the actor holds on as long as the subscription is held */
	await(&hand.released);
	weir_subscription_unref(hand.from);
	await(&passer.done);
	pool_free(pool);
	assert_int_equal(book.taken, leave_at ? leave_at : n);
	assert_int_equal(hand.completes, leave_at == 0);
	assert_int_equal(hand.cancelled, leave_at != 0);
	assert_int_equal(hand.subscription.refs, 1);
	assert_in_range(passer.most, 1, WINDOW);
	book_check(&book, hand.made, 2 * WINDOW);
}

static void ten_million_by_hand_at_both_ends(void **state)
{
	by_hand(test_count(N), 0);
}

static void a_hand_that_cancels_half_way_has_the_rest_dropped(void **state)
{
	uint64_t n = test_count(N);

	by_hand(n, n / 2 + 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(ten_million_over_links),
		cmocka_unit_test(ten_million_by_requests),
		cmocka_unit_test(who_leaves_half_way_has_the_rest_dropped_once),
		cmocka_unit_test(ten_million_by_hand_at_both_ends),
		cmocka_unit_test(
			a_hand_that_cancels_half_way_has_the_rest_dropped),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
