/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/blocking.h>

#include "base/clock.h"
#include "executor/fake.h"

static struct fake_memory memory;
static struct weir_blocking *blocking;
static struct weir_executor *executor;

/* A count that threads raise and wait for. */
static uint32_t done, gate;

static void start_with(struct weir_blocking_options options)
{
	options.executor.allocator = &memory.allocator;
	assert_int_equal(weir_blocking_new(&blocking, &options), 0);
	executor = weir_blocking_executor(blocking);
	ck_pr_store_32(&done, 0);
	ck_pr_store_32(&gate, 0);
}

static int setup(void **state)
{
	fake_memory_init(&memory);
	return 0;
}

static int teardown(void **state)
{
	assert_int_equal(weir_blocking_free(blocking), 0);
	blocking = NULL;
	assert_int_equal(memory.blocks, 0);
	return 0;
}

static void run_done(struct fake_task *fake)
{
	fake_raise(&done);
}

/* Blocks until the gate is open. */
static void run_blocked(struct fake_task *fake)
{
	fake_raise(&done);
	fake_wait(&gate, 1);
}

static void arguments_are_checked(void **state)
{
	struct weir_blocking_options options = {.threads_max = 1025};
	struct weir_blocking *other;

	start_with((struct weir_blocking_options){0});
	assert_int_equal(weir_blocking_new(NULL, NULL), -EINVAL);
	other = blocking;
	assert_int_equal(weir_blocking_new(&other, &options), -EINVAL);
	assert_null(other);
	options.threads_max = 1;
	options.reserved[3] = 1;
	assert_int_equal(weir_blocking_new(&other, &options), -EINVAL);
	options.reserved[3] = 0;
	options.executor.budget_turns = WEIR_BUDGET_MAX + 1;
	assert_int_equal(weir_blocking_new(&other, &options), -EINVAL);
	assert_int_equal(weir_blocking_new(&other, NULL), 0);
	assert_int_equal(weir_blocking_free(other), 0);
	assert_int_equal(weir_blocking_free(NULL), 0);
}

static void no_memory_leaves_nothing_behind(void **state)
{
	const struct weir_blocking_options options = {
		.executor.allocator = &memory.allocator};
	uint32_t fail = 0;
	int rc;

	do {
		memory.fail = fail++;
		rc = weir_blocking_new(&blocking, &options);
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_null(blocking);
			assert_int_equal(memory.blocks, 0);
		}
	} while (rc < 0);
	assert_int_equal(fail, 3);
	memory.fail = UINT32_MAX;
}

static void no_thread_starts_before_it_is_used(void **state)
{
	struct fake_task fake = {.run = run_done};

	start_with((struct weir_blocking_options){0});
	assert_int_equal(weir_blocking_threads(blocking), 0);
	assert_int_equal(fake_submit(executor, &fake), 0);
	fake_wait(&done, 1);
	assert_int_equal(weir_blocking_threads(blocking), 1);
}

static void each_blocked_turn_has_a_thread_up_to_the_maximum(void **state)
{
	struct fake_task fakes[5];
	int i;

	start_with((struct weir_blocking_options){.threads_max = 3});
	for (i = 0; i < 5; i++) {
		fakes[i] = (struct fake_task){.run = run_blocked};
		assert_int_equal(fake_submit(executor, &fakes[i]), 0);
	}
	fake_wait(&done, 3);
	assert_int_equal(weir_blocking_threads(blocking), 3);
	assert_int_equal(fakes[3].runs + fakes[4].runs, 0);
	fake_raise(&gate);
	fake_wait(&done, 5);
	assert_int_equal(weir_blocking_threads(blocking), 3);
}

/* In the order of submission, on the only thread. */
static struct fake_task *order[8];

static void run_in_order(struct fake_task *fake)
{
	fake_wait(&gate, 1);
	order[ck_pr_load_32(&done)] = fake;
	fake_raise(&done);
}

static void one_thread_runs_first_come_first_served(void **state)
{
	struct fake_task fakes[8];
	int i;

	start_with((struct weir_blocking_options){.threads_max = 1});
	for (i = 0; i < 8; i++) {
		fakes[i] = (struct fake_task){.run = run_in_order};
		assert_int_equal(fake_submit(executor, &fakes[i]), 0);
	}
	fake_raise(&gate);
	fake_wait(&done, 8);
	for (i = 0; i < 8; i++)
		assert_ptr_equal(order[i], &fakes[i]);
}

static void run_again(struct fake_task *fake)
{
	if (fake->left--)
		fake_submit(executor, fake);
	else
		fake_raise(&done);
}

static void task_submitted_again_stays_on_its_thread(void **state)
{
	struct fake_task fake = {.run = run_again, .left = 1000};

	start_with((struct weir_blocking_options){0});
	fake_submit(executor, &fake);
	fake_wait(&done, 1);
	assert_int_equal(fake.runs, 1001);
	assert_int_equal(weir_blocking_threads(blocking), 1);
}

static struct fake_task other_task = {.run = run_done};

/* Blocks until another task, which it submits, has run. */
static void run_waits_for_another(struct fake_task *fake)
{
	fake_submit(executor, &other_task);
	fake_wait(&done, 1);
	fake_raise(&done);
}

static void turn_may_wait_for_a_task_it_submits(void **state)
{
	struct fake_task fake = {.run = run_waits_for_another};

	start_with((struct weir_blocking_options){0});
	fake_submit(executor, &fake);
	fake_wait(&done, 2);
	assert_int_equal(weir_blocking_threads(blocking), 2);
}

static void idle_thread_is_used_again(void **state)
{
	struct fake_task fake = {.run = run_done};
	uint32_t i;

	start_with((struct weir_blocking_options){.threads_max = 2});
	for (i = 1; i <= 100; i++) {
		fake_submit(executor, &fake);
		fake_wait(&done, i);
	}
	assert_true(weir_blocking_threads(blocking) <= 2);
}

static void idle_threads_end(void **state)
{
	struct fake_task fakes[4];
	int i;

	start_with((struct weir_blocking_options){.idle_ns = 1});
	for (i = 0; i < 4; i++) {
		fakes[i] = (struct fake_task){.run = run_blocked};
		fake_submit(executor, &fakes[i]);
	}
	fake_wait(&done, 4);
	assert_int_equal(weir_blocking_threads(blocking), 4);
	fake_raise(&gate);
	while (weir_blocking_threads(blocking))
		sched_yield();
	/* And start again. */
	fakes[0].run = run_done;
	fake_submit(executor, &fakes[0]);
	fake_wait(&done, 5);
}

static void alive_executor_is_not_freed(void **state)
{
	struct fake_task fake = {.run = run_done};

	start_with((struct weir_blocking_options){0});
	fake_alive(executor, true);
	assert_int_equal(weir_blocking_free(blocking), -EBUSY);
	fake_submit(executor, &fake);
	fake_wait(&done, 1);
	fake_alive(executor, false);
}

static int freed;

static void run_free(struct fake_task *fake)
{
	freed = weir_blocking_free(blocking);
	fake_raise(&done);
}

static void fire_free(struct weir_timer *timer)
{
	freed = weir_blocking_free(blocking);
	fake_raise(&done);
}

static void own_threads_cannot_free_it(void **state)
{
	struct fake_task fake = {.run = run_free};
	struct weir_timer timer = {.fire = fire_free};

	start_with((struct weir_blocking_options){0});
	fake_submit(executor, &fake);
	fake_wait(&done, 1);
	assert_int_equal(freed, -EDEADLK);
	freed = 0;
	assert_int_equal(weir_timer_arm(executor, &timer, 0), 0);
	fake_wait(&done, 2);
	assert_int_equal(freed, -EDEADLK);
}

static sigset_t mask;
static char name[16];

static void run_looks_around(struct fake_task *fake)
{
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	/* Named by its maker, perhaps after it has started. */
	do {
		pthread_getname_np(pthread_self(), name, sizeof(name));
	} while (strncmp(name, "files", 5) != 0);
	fake_raise(&done);
}

static void threads_have_a_name_and_get_no_signals(void **state)
{
	struct fake_task fake = {.run = run_looks_around};

	start_with((struct weir_blocking_options){
		.name = "files-and-other-things"});
	fake_submit(executor, &fake);
	fake_wait(&done, 1);
	assert_string_equal(name, "files-and-other");
	assert_true(sigismember(&mask, SIGINT));
	assert_true(sigismember(&mask, SIGTERM));
	pthread_sigmask(SIG_SETMASK, NULL, &mask);
	assert_false(sigismember(&mask, SIGINT));
}

static void fire_done(struct weir_timer *timer)
{
	fake_raise(&done);
}

static void watch_done(struct weir_watch *watch, short events)
{
	fake_raise(&done);
}

static void timers_and_watches_fire(void **state)
{
	struct weir_timer timer = {.fire = fire_done}, late = {fire_done};
	struct weir_watch watch = {.fire = watch_done, .events = POLLIN};
	uint64_t now_ns;
	int fds[2];

	start_with((struct weir_blocking_options){0});
	/* Without a thread that could know of it. */
	assert_false(weir_timer_cancel(executor, &timer));
	assert_false(executor->ops->watch_cancel(executor, &watch));
	now_ns = weir_executor_now(executor);
	assert_int_equal(weir_timer_arm(executor, &late,
					now_ns + 3600 * WEIR__SECOND),
			 0);
	assert_int_equal(weir_timer_arm(executor, &timer, now_ns + 1000000), 0);
	fake_wait(&done, 1);
	assert_true(weir_executor_now(executor) >= now_ns + 1000000);
	assert_int_equal(pipe(fds), 0);
	watch.fd = fds[0];
	assert_int_equal(executor->ops->watch_arm(executor, &watch), 0);
	assert_int_equal(write(fds[1], "x", 1), 1);
	fake_wait(&done, 2);
	assert_true(weir_timer_cancel(executor, &late));
	assert_int_equal(weir_blocking_threads(blocking), 0);
	close(fds[0]);
	close(fds[1]);
}

/*
 * No thread can be had: in a child whose limit of processes is one. Not as
 * root, who has none.
 */
static void submit_without_threads(void)
{
	const struct rlimit none = {1, 1};
	struct fake_task fake = {.run = run_done};
	struct weir_timer timer = {.fire = fire_done};
	int fd = dup(0);

	start_with((struct weir_blocking_options){0});
	if (setrlimit(RLIMIT_NPROC, &none) < 0 || setuid(65534) < 0)
		_exit(2);
	if (fake_submit(executor, &fake) != -EAGAIN ||
	    weir_blocking_threads(blocking) != 0 ||
	    weir_timer_arm(executor, &timer, 0) != -EAGAIN || dup(0) != fd + 1)
		_exit(1);
	_exit(weir_blocking_free(blocking) == 0 && fake.runs == 0 ? 0 : 1);
}

/* One thread, which is busy, and no other can be had. */
static void submit_with_one_thread(void)
{
	const struct rlimit none = {1, 1};
	struct fake_task busy = {.run = run_blocked}, fake = {.run = run_done};

	start_with((struct weir_blocking_options){0});
	fake_submit(executor, &busy);
	fake_wait(&done, 1);
	if (setrlimit(RLIMIT_NPROC, &none) < 0 || setuid(65534) < 0)
		_exit(2);
	if (fake_submit(executor, &fake) != 0 ||
	    weir_blocking_threads(blocking) != 1)
		_exit(1);
	fake_raise(&gate);
	fake_wait(&done, 2);
	_exit(weir_blocking_free(blocking) == 0 ? 0 : 1);
}

static int status_of(pid_t child)
{
	int status;

	assert_true(child > 0);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static void submission_without_any_thread_fails(void **state)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		submit_without_threads();
	status = status_of(child);
	if (status == 2)
		skip();
	assert_int_equal(status, 0);
}

static void submission_waits_for_the_thread_there_is(void **state)
{
	pid_t child = fork();
	int status;

	if (child == 0)
		submit_with_one_thread();
	status = status_of(child);
	if (status == 2)
		skip();
	assert_int_equal(status, 0);
}

static void use_in_child(void)
{
	struct fake_task fake = {.run = run_done};
	struct weir_timer timer = {.fire = fire_done};
	struct weir_watch watch = {.fire = watch_done, .fd = 0};

	if (fake_submit(executor, &fake) != -ECHILD ||
	    weir_timer_arm(executor, &timer, 0) != -ECHILD ||
	    weir_timer_cancel(executor, &timer) ||
	    executor->ops->watch_arm(executor, &watch) != -ECHILD ||
	    executor->ops->watch_cancel(executor, &watch))
		_exit(1);
	_exit(weir_blocking_free(blocking) == 0 && memory.blocks == 0 ? 0 : 3);
}

static void child_cannot_use_it_but_free_it(void **state)
{
	struct fake_task fake = {.run = run_done};
	struct weir_timer timer = {.fire = fire_done};
	pid_t child;

	start_with((struct weir_blocking_options){0});
	fake_submit(executor, &fake);
	weir_timer_arm(executor, &timer, 0);
	fake_wait(&done, 2);
	child = fork();
	if (child == 0)
		use_in_child();
	assert_int_equal(status_of(child), 0);
	fake_submit(executor, &fake);
	fake_wait(&done, 3);
}

#define test(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	static const struct CMUnitTest tests[] = {
		test(arguments_are_checked),
		test(no_memory_leaves_nothing_behind),
		test(no_thread_starts_before_it_is_used),
		test(each_blocked_turn_has_a_thread_up_to_the_maximum),
		test(one_thread_runs_first_come_first_served),
		test(task_submitted_again_stays_on_its_thread),
		test(turn_may_wait_for_a_task_it_submits),
		test(idle_thread_is_used_again),
		test(idle_threads_end),
		test(alive_executor_is_not_freed),
		test(own_threads_cannot_free_it),
		test(threads_have_a_name_and_get_no_signals),
		test(timers_and_watches_fire),
		test(submission_without_any_thread_fails),
		test(submission_waits_for_the_thread_there_is),
		test(child_cannot_use_it_but_free_it),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
