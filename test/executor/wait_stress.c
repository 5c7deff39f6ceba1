/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Threads hand each other permits and give up waiting at short timeouts: no
 * permit is lost or doubled, and no waker touches a stack frame that is gone.
 * One of the threads waits as the owner of a loop.
 */
#include "support.h"

#include <errno.h>
#include <pthread.h>

#include <weir/loop.h>

#include "base/lock.h"
#include "executor/fake.h"
#include "executor/wait.h"

#define THREADS 3

static struct weir__lock lock;
static struct weir__waiters waiting;
static uint64_t permits;
static uint64_t items; /* plain: whoever has the only permit writes it */

static void give(void)
{
	struct weir__waiter *waiter;

	weir__lock(&lock);
	waiter = weir__waiters_pop(&waiting);
	if (!waiter)
		permits++;
	weir__unlock(&lock);
	if (waiter)
		waiter->wake(waiter);
}

static bool take(uint64_t timeout_ns)
{
	struct weir__parked parked;
	bool listed;

	weir__parked_init(&parked);
	weir__lock(&lock);
	if (permits) {
		permits--;
		weir__unlock(&lock);
		return true;
	}
	weir__waiters_push(&waiting, &parked.waiter);
	weir__unlock(&lock);
	if (weir__wait(&parked, timeout_ns) == 0)
		return true;
	weir__lock(&lock);
	listed = weir__waiters_remove(&waiting, &parked.waiter);
	weir__unlock(&lock);
	if (!listed)
		weir__parked_settle(&parked);
	return !listed;
}

struct taker {
	pthread_t thread;
	uint64_t rounds;
	bool owner;
};

static void *take_and_give(void *argument)
{
	struct taker *self = argument;
	struct weir_loop *loop = NULL;
	uint64_t round = 0, taken = 0;

	if (self->owner)
		assert_int_equal(weir_loop_new(&loop, NULL), 0);
	for (; taken < self->rounds; round++) {
		if (!take(round % 4 ? round % 64 * 100 : WEIR_FOREVER))
			continue;
		items++;
		taken++;
		give();
	}
	assert_int_equal(weir_loop_free(loop), 0);
	return NULL;
}

static void hand_on(bool with_owner)
{
	const uint64_t rounds = test_count(30000);
	struct taker takers[THREADS];
	int i;

	items = 0;
	permits = 1;
	for (i = 0; i < THREADS; i++) {
		takers[i] = (struct taker){
			.rounds = rounds,
			.owner = with_owner && i == 0,
		};
		pthread_create(&takers[i].thread, NULL, take_and_give,
			       &takers[i]);
	}
	for (i = 0; i < THREADS; i++)
		pthread_join(takers[i].thread, NULL);
	assert_int_equal(items, THREADS * rounds);
	assert_int_equal(permits, 1);
	assert_true(weir__waiters_empty(&waiting));
}

static void one_permit_is_never_lost_or_doubled(void **state)
{
	hand_on(false);
}

static void owner_of_a_loop_is_woken_as_well(void **state)
{
	hand_on(true);
}

/* The loop goes right after the wait, while its waker may be at work. */
static void *give_when_waited_for(void *argument)
{
	uint64_t rounds = *(uint64_t *)argument;
	struct weir__waiter *waiter;

	while (rounds) {
		weir__lock(&lock);
		waiter = weir__waiters_pop(&waiting);
		weir__unlock(&lock);
		if (waiter) {
			waiter->wake(waiter);
			rounds--;
		}
	}
	return NULL;
}

static void loop_may_go_right_after_a_wait(void **state)
{
	const uint64_t rounds = test_count(5000);
	uint64_t rounds_of_giver = rounds, i;
	pthread_t thread;

	permits = 0;
	pthread_create(&thread, NULL, give_when_waited_for, &rounds_of_giver);
	for (i = 0; i < rounds; i++) {
		struct weir_loop *loop;

		assert_int_equal(weir_loop_new(&loop, NULL), 0);
		assert_true(take(WEIR_FOREVER));
		assert_int_equal(weir_loop_free(loop), 0);
	}
	pthread_join(thread, NULL);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_permit_is_never_lost_or_doubled),
		cmocka_unit_test(owner_of_a_loop_is_woken_as_well),
		cmocka_unit_test(loop_may_go_right_after_a_wait),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
