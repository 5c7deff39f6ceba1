/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <string.h>

#include <weir/loop.h>
#include <weir/sim.h>

#include "base/clock.h"
#include "base/futex.h"
#include "base/lock.h"
#include "executor/fake.h"
#include "executor/wait.h"

#define HOUR (3600 * WEIR__SECOND)

/* Something to wait for: `free` permits, and who waits for one. */
static struct weir__lock lock;
static struct weir__waiters waiting;
static uint32_t permits;

static int setup(void **state)
{
	memset(&waiting, 0, sizeof(waiting));
	permits = 0;
	return 0;
}

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

/* The use that wait.h shows. */
static int take(uint64_t timeout_ns)
{
	struct weir__parked parked;
	bool listed;
	int rc;

	weir__parked_init(&parked);
	weir__lock(&lock);
	if (permits) {
		permits--;
		weir__unlock(&lock);
		return 0;
	}
	weir__waiters_push(&waiting, &parked.waiter);
	weir__unlock(&lock);
	rc = weir__wait(&parked, timeout_ns);
	if (rc == 0)
		return 0;
	weir__lock(&lock);
	listed = weir__waiters_remove(&waiting, &parked.waiter);
	weir__unlock(&lock);
	if (listed)
		return rc;
	weir__parked_settle(&parked);
	return 0;
}

static void *giver(void *argument)
{
	give();
	return NULL;
}

static void *giver_when_waited_for(void *argument)
{
	bool waited_for;

	do {
		weir__lock(&lock);
		waited_for = !weir__waiters_empty(&waiting);
		weir__unlock(&lock);
	} while (!waited_for);
	give();
	return NULL;
}

static void list_is_first_come_first_served(void **state)
{
	struct weir__waiter a = {0}, b = {0}, c = {0};
	struct weir__waiters list = {0};

	assert_null(weir__waiters_pop(&list));
	weir__waiters_push(&list, &a);
	weir__waiters_push(&list, &b);
	weir__waiters_push(&list, &c);
	assert_true(weir__waiters_remove(&list, &b));
	assert_false(weir__waiters_remove(&list, &b));
	assert_ptr_equal(weir__waiters_pop(&list), &a);
	assert_false(weir__waiters_remove(&list, &a));
	assert_true(weir__waiters_remove(&list, &c));
	assert_true(weir__waiters_empty(&list));
	weir__waiters_push(&list, &a);
	assert_ptr_equal(weir__waiters_pop(&list), &a);
}

static void thread_sleeps_until_it_is_woken(void **state)
{
	pthread_t thread;

	pthread_create(&thread, NULL, giver_when_waited_for, NULL);
	assert_int_equal(take(WEIR_FOREVER), 0);
	pthread_join(thread, NULL);
	assert_int_equal(permits, 0);
}

static void wait_ends_at_its_time(void **state)
{
	uint64_t start_ns = weir__clock_ns();

	assert_int_equal(take(1000000), -ETIMEDOUT);
	assert_true(weir__clock_ns() - start_ns >= 1000000);
	assert_int_equal(take(0), -ETIMEDOUT);
	assert_true(weir__waiters_empty(&waiting));
}

/* A waker that has taken the waiter, but not called wake yet. */
static struct weir__waiter *taken;
static uint32_t taken_word;

static void *late_waker(void *argument)
{
	weir__lock(&lock);
	taken = weir__waiters_pop(&waiting);
	weir__unlock(&lock);
	ck_pr_fence_release();
	ck_pr_store_32(&taken_word, 1);
	weir__futex_wake(&taken_word, 1);
	taken->wake(taken);
	return NULL;
}

static void settle_waits_for_a_wake_under_way(void **state)
{
	struct weir__parked parked;
	pthread_t thread;

	taken_word = 0;
	weir__parked_init(&parked);
	weir__waiters_push(&waiting, &parked.waiter);
	pthread_create(&thread, NULL, late_waker, NULL);
	while (!ck_pr_load_32(&taken_word))
		weir__futex_wait(&taken_word, 0, UINT64_MAX);
	assert_false(weir__waiters_remove(&waiting, &parked.waiter));
	weir__parked_settle(&parked);
	assert_int_equal(parked.word, WEIR__PARKED_GONE);
	pthread_join(thread, NULL);
}

static void worker_and_turn_may_not_wait(void **state)
{
	struct weir_task task;

	weir__thread.worker = true;
	assert_int_equal(weir__wait_allowed(), -EDEADLK);
	assert_int_equal(take(WEIR_FOREVER), -EDEADLK);
	weir__thread.worker = false;
	weir__thread.task = &task;
	assert_int_equal(weir__wait_allowed(), -EDEADLK);
	assert_int_equal(take(WEIR_FOREVER), -EDEADLK);
	weir__thread.task = NULL;
	assert_int_equal(weir__wait_allowed(), 0);
	assert_true(weir__waiters_empty(&waiting));
}

/* The tasks of a loop or simulator, which the wait has to run. */

static int waited;

static void run_give(struct fake_task *fake)
{
	if (fake->left) {
		fake->left--;
		fake_submit(fake->executor, fake);
		return;
	}
	give();
}

static void run_take(struct fake_task *fake)
{
	waited = take(WEIR_FOREVER);
}

static void fire_give(struct weir_timer *timer)
{
	give();
}

static void fire_take(struct weir_timer *timer)
{
	waited = take(WEIR_FOREVER);
}

static void sim_is_run_by_a_wait(void **state)
{
	struct fake_task task = {.run = run_give, .left = 100};
	struct weir_timer timer = {.fire = fire_give};
	struct weir_executor *executor;
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	executor = weir_sim_executor(sim);
	fake_submit(executor, &task);
	assert_int_equal(take(WEIR_FOREVER), 0);
	assert_int_equal(task.runs, 101);
	weir_timer_arm(executor, &timer, 5 * HOUR);
	assert_int_equal(take(5 * HOUR - 1), -ETIMEDOUT);
	assert_true(weir_executor_now(executor) == 5 * HOUR - 1);
	assert_int_equal(take(1), 0);
	assert_true(weir_executor_now(executor) == 5 * HOUR);
	/* Nothing is left that could give. */
	assert_int_equal(take(WEIR_FOREVER), -EDEADLK);
	assert_true(weir__waiters_empty(&waiting));
	assert_int_equal(weir_sim_free(sim), 0);
}

static void busy_sim_does_not_time_out(void **state)
{
	struct fake_task task = {.run = run_give, .left = 1000};
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	fake_submit(weir_sim_executor(sim), &task);
	assert_int_equal(take(1), 0);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void turn_on_a_sim_may_not_wait(void **state)
{
	struct fake_task task = {.run = run_take};
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	fake_submit(weir_sim_executor(sim), &task);
	weir_sim_run(sim);
	assert_int_equal(waited, -EDEADLK);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void fire_on_a_sim_may_not_wait(void **state)
{
	struct weir_timer timer = {.fire = fire_take};
	struct weir_sim *sim;

	waited = 0;
	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	weir_timer_arm(weir_sim_executor(sim), &timer, 0);
	weir_sim_run(sim);
	assert_int_equal(waited, -EDEADLK);
	assert_int_equal(weir_sim_free(sim), 0);
}

static void loop_is_run_by_a_wait(void **state)
{
	struct fake_task task = {.run = run_give, .left = 100};
	struct weir_timer timer = {.fire = fire_give};
	struct weir_executor *executor;
	struct weir_loop *loop;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	executor = weir_loop_executor(loop);
	fake_submit(executor, &task);
	assert_int_equal(take(WEIR_FOREVER), 0);
	assert_int_equal(task.runs, 101);
	weir_timer_arm(executor, &timer, weir_executor_now(executor) + 100000);
	assert_int_equal(take(WEIR_FOREVER), 0);
	assert_int_equal(take(100000), -ETIMEDOUT);
	assert_int_equal(weir_loop_free(loop), 0);
}

static void busy_loop_times_out(void **state)
{
	struct fake_task task = {.run = run_give, .left = UINT64_MAX};
	struct weir_loop *loop;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	fake_submit(weir_loop_executor(loop), &task);
	assert_int_equal(take(100000), -ETIMEDOUT);
	assert_true(task.runs > 0);
	assert_int_equal(weir_loop_free(loop), 0);
}

static void fire_on_a_loop_may_not_wait(void **state)
{
	struct weir_timer timer = {.fire = fire_take};
	struct weir_loop *loop;

	waited = 0;
	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	weir_timer_arm(weir_loop_executor(loop), &timer, 0);
	assert_int_equal(weir_loop_run(loop, 1), 0);
	assert_int_equal(waited, -EDEADLK);
	assert_int_equal(weir_loop_free(loop), 0);
}

static void other_thread_wakes_the_owner_of_a_loop(void **state)
{
	struct weir_loop *loop;
	pthread_t thread;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	pthread_create(&thread, NULL, giver_when_waited_for, NULL);
	assert_int_equal(take(WEIR_FOREVER), 0);
	/* At once, whatever the waker still does. */
	assert_int_equal(weir_loop_free(loop), 0);
	pthread_join(thread, NULL);
}

static void *wait_without_loop(void *argument)
{
	waited = take(1000);
	return NULL;
}

static void only_its_owner_runs_a_loop(void **state)
{
	struct fake_task task = {.run = run_give};
	struct weir_loop *loop;
	pthread_t thread;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	fake_submit(weir_loop_executor(loop), &task);
	pthread_create(&thread, NULL, wait_without_loop, NULL);
	pthread_join(thread, NULL);
	assert_int_equal(waited, -ETIMEDOUT);
	assert_int_equal(weir_loop_run(loop, 1), 1);
	assert_int_equal(weir_loop_free(loop), 0);
	pthread_create(&thread, NULL, giver, NULL);
	pthread_join(thread, NULL);
	assert_int_equal(take(0), 0);
}

#define test(name) cmocka_unit_test_setup(name, setup)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(list_is_first_come_first_served),
		test(thread_sleeps_until_it_is_woken),
		test(wait_ends_at_its_time),
		test(settle_waits_for_a_wake_under_way),
		test(worker_and_turn_may_not_wait),
		test(sim_is_run_by_a_wait),
		test(busy_sim_does_not_time_out),
		test(turn_on_a_sim_may_not_wait),
		test(fire_on_a_sim_may_not_wait),
		test(loop_is_run_by_a_wait),
		test(busy_loop_times_out),
		test(fire_on_a_loop_may_not_wait),
		test(other_thread_wakes_the_owner_of_a_loop),
		test(only_its_owner_runs_a_loop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
