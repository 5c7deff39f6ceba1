/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Foreign threads submit to a loop that sleeps whenever it can: a submission
 * that is forgotten hangs the test.
 */
#include "support.h"

#include <poll.h>
#include <pthread.h>

#include <weir/loop.h>

#include "base/clock.h"
#include "base/futex.h"
#include "executor/fake.h"

#define THREADS 3

static struct weir_loop *loop;
static struct weir_executor *executor;

struct submitter {
	struct fake_task fake;
	struct weir_timer timer;
	pthread_t thread;
	uint64_t rounds;
	uint32_t ran; /* atomic, slept on: runs so far */
};

static void run(struct fake_task *fake)
{
	struct submitter *self =
		weir_container_of(fake, struct submitter, fake);

	/* Plain, while the submitter waits: the inbox orders it. */
	self->rounds--;
	ck_pr_fence_release();
	ck_pr_inc_32(&self->ran);
	weir__futex_wake(&self->ran, 1);
}

static void fire(struct weir_timer *timer)
{
	struct submitter *self =
		weir_container_of(timer, struct submitter, timer);

	run(&self->fake);
}

static void wait_ran(struct submitter *self, uint32_t value)
{
	while (ck_pr_load_32(&self->ran) != value)
		weir__futex_wait(&self->ran, value - 1, UINT64_MAX);
	ck_pr_fence_acquire();
}

static void *submit_again_and_again(void *argument)
{
	struct submitter *self = argument;
	uint32_t ran = 0;

	while (self->rounds) {
		fake_submit(executor, &self->fake);
		wait_ran(self, ++ran);
	}
	return NULL;
}

static void *arm_again_and_again(void *argument)
{
	struct submitter *self = argument;
	uint32_t ran = 0;

	while (self->rounds) {
		weir_timer_arm(executor, &self->timer,
			       weir_executor_now(executor) +
				       self->rounds % 8 * 1000);
		wait_ran(self, ++ran);
	}
	return NULL;
}

static void start(struct submitter *submitters, void *(*main)(void *),
		  uint64_t rounds)
{
	int i;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	executor = weir_loop_executor(loop);
	for (i = 0; i < THREADS; i++) {
		submitters[i] = (struct submitter){
			.fake.run = run,
			.timer.fire = fire,
			.rounds = rounds,
		};
		pthread_create(&submitters[i].thread, NULL, main,
			       &submitters[i]);
	}
}

static void end(struct submitter *submitters)
{
	int i;

	for (i = 0; i < THREADS; i++)
		pthread_join(submitters[i].thread, NULL);
	assert_int_equal(weir_loop_free(loop), 0);
}

static void no_submission_is_forgotten_by_a_wait(void **state)
{
	const uint64_t rounds = test_count(50000);
	struct submitter submitters[THREADS];
	uint64_t ran = 0;

	start(submitters, submit_again_and_again, rounds);
	while (ran < THREADS * rounds)
		ran += (uint64_t)weir_loop_wait(loop, 100, WEIR_FOREVER);
	end(submitters);
}

/* By a program's own poll, and small budgets that leave work over. */
static void no_submission_is_forgotten_by_the_descriptor(void **state)
{
	const uint64_t rounds = test_count(50000);
	struct submitter submitters[THREADS];
	uint64_t ran = 0;

	start(submitters, submit_again_and_again, rounds);
	while (ran < THREADS * rounds) {
		struct pollfd fd = {.fd = weir_loop_fd(loop), .events = POLLIN};

		assert_int_equal(poll(&fd, 1, -1), 1);
		ran += (uint64_t)weir_loop_run(loop, 1);
	}
	end(submitters);
}

static void no_timer_is_forgotten(void **state)
{
	const uint64_t rounds = test_count(20000);
	struct submitter submitters[THREADS];
	uint64_t left;
	int i;

	start(submitters, arm_again_and_again, rounds);
	do {
		weir_loop_wait(loop, 1, WEIR_FOREVER);
		for (left = 0, i = 0; i < THREADS; i++)
			left += rounds - ck_pr_load_32(&submitters[i].ran);
	} while (left);
	end(submitters);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_submission_is_forgotten_by_a_wait),
		cmocka_unit_test(no_submission_is_forgotten_by_the_descriptor),
		cmocka_unit_test(no_timer_is_forgotten),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
