/* SPDX-License-Identifier: BSD-2-Clause */
/* How the workers of a pool wait for descriptors: one of them, when it is idle,
 * in the kernel. */
#include "support.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <unistd.h>

#include <weir/threads.h>

#include "executor/fake.h"
#include "executor/worker.h"

static struct weir_threads *pool;
static struct weir_executor *executor;
static struct fake_memory memory;

/* Calls of epoll_wait() by the library that may wait, how many of them wait
 * without end now, and the calls that only look, as a busy worker does; atomic.
 */
static uint32_t waits, endless, looks;

int __real_epoll_wait(int fd, struct epoll_event *events, int n, int ms);
int __wrap_epoll_wait(int fd, struct epoll_event *events, int n, int ms);

int __wrap_epoll_wait(int fd, struct epoll_event *events, int n, int ms)
{
	int rc;

	ck_pr_inc_32(ms == 0 ? &looks : &waits);
	if (ms < 0)
		ck_pr_inc_32(&endless);
	rc = __real_epoll_wait(fd, events, n, ms);
	if (ms < 0)
		ck_pr_dec_32(&endless);
	return rc;
}

static void start_with(const struct weir_threads_options *with)
{
	struct weir_threads_options options = *with;

	options.executor.allocator = &memory.allocator;
	fake_memory_init(&memory);
	assert_int_equal(weir_threads_new(&pool, &options), 0);
	executor = weir_threads_executor(pool);
}

static void start(uint32_t workers)
{
	start_with(&(struct weir_threads_options){.workers = workers});
}

static void finish(void)
{
	assert_int_equal(weir_threads_free(pool), 0);
	assert_int_equal(memory.blocks, 0);
}

/* A pipe that is watched once at a time. */
struct source {
	struct weir_watch watch;
	int ends[2];
	uint32_t fired;		/* atomic, a futex */
	bool on_worker;		/* where it fired last */
	struct fake_task *then; /* submitted when it fires */
};

static void source_fire(struct weir_watch *watch, short events)
{
	struct source *self = weir_container_of(watch, struct source, watch);
	char byte;

	assert_int_equal(events, POLLIN);
	assert_int_equal(read(self->ends[0], &byte, 1), 1);
	self->on_worker = weir__worker_self(pool) != NULL;
	if (self->then)
		fake_submit(executor, self->then);
	fake_raise(&self->fired);
}

static void source_init(struct source *self)
{
	*self = (struct source){.watch.fire = source_fire,
				.watch.events = POLLIN};
	assert_int_equal(pipe(self->ends), 0);
	self->watch.fd = self->ends[0];
}

static void source_fini(struct source *self)
{
	close(self->ends[0]);
	close(self->ends[1]);
}

static int arm(struct source *self)
{
	return executor->ops->watch_arm(executor, &self->watch);
}

static void come(struct source *self)
{
	assert_int_equal(write(self->ends[1], "x", 1), 1);
}

static void all_parked(uint32_t workers)
{
	while (weir__park_idle(&pool->park) != workers)
		sched_yield();
}

/* Nobody wakes before something comes: the monitor alone sleeps for a time. */
static void all_sleep_without_end(uint32_t workers)
{
	while (weir__park_idle(&pool->park) != workers ||
	       ck_pr_load_32(&endless) != 1 ||
	       (workers > 1 && ck_pr_load_32(&pool->park.monitor)))
		sched_yield();
}

static void a_pool_without_descriptors_has_no_poller(void **state)
{
	start(2);
	assert_false(executor->ops->watch_cancel(
		executor, &(struct weir_watch){.fd = 0}));
	assert_null(pool->poller);
	finish();
}

static void a_watch_fires_on_a_worker_that_was_idle(void **state)
{
	struct source source;
	uint32_t workers, i, n = (uint32_t)test_count(2000);

	for (workers = 1; workers <= 3; workers++) {
		start(workers);
		source_init(&source);
		for (i = 1; i <= n; i++) {
			if (i % 3 == 0)
				come(&source);
			assert_int_equal(arm(&source), 0);
			if (i % 7 == 0)
				all_parked(workers);
			if (i % 3)
				come(&source);
			fake_wait(&source.fired, i);
			assert_true(source.on_worker);
		}
		assert_false(
			executor->ops->watch_cancel(executor, &source.watch));
		source_fini(&source);
		finish();
	}
}

static void count_run(struct fake_task *fake)
{
	fake_raise((uint32_t *)&fake->left);
}

/* Who polls is roused for tasks, who sleeps is not forgotten. */
static void tasks_come_to_who_polls(void **state)
{
	struct fake_task task = {.run = count_run};
	uint32_t *ran = (uint32_t *)&task.left;
	struct source source;
	uint32_t workers, i, n = (uint32_t)test_count(2000);

	for (workers = 1; workers <= 3; workers++) {
		start(workers);
		source_init(&source);
		ck_pr_store_32(ran, 0);
		assert_int_equal(arm(&source), 0);
		for (i = 1; i <= n; i++) {
			if (i % 5 == 0)
				all_parked(workers);
			fake_submit(i % 2 ? executor
					  : weir_threads_worker(pool,
								i % workers),
				    &task);
			fake_wait(ran, i);
		}
		come(&source);
		fake_wait(&source.fired, 1);
		source_fini(&source);
		finish();
	}
}

/* What is watched costs nothing while nothing comes. */
static void an_idle_pool_with_descriptors_has_no_wake_ups(void **state)
{
	struct fake_task task = {.run = count_run};
	struct source source;
	uint32_t workers;

	for (workers = 1; workers <= 3; workers++) {
		start(workers);
		source_init(&source);
		assert_int_equal(arm(&source), 0);
		all_sleep_without_end(workers);
		fake_submit(executor, &task);
		fake_wait((uint32_t *)&task.left, workers);
		all_sleep_without_end(workers);
		come(&source);
		fake_wait(&source.fired, 1);
		all_sleep_without_end(workers);
		source_fini(&source);
		finish();
	}
}

/* One worker, each time asleep before the next: so the calls can be counted. */
static void an_event_costs_one_wait_and_a_task_one_rouse(void **state)
{
	struct fake_task task = {.run = count_run};
	struct weir_threads_counters before, after;
	uint32_t *ran = (uint32_t *)&task.left, i, waited, looked;
	struct source source;

	start(1);
	source_init(&source);
	source.watch.edges = true;
	assert_int_equal(arm(&source), 0);
	all_sleep_without_end(1);
	waited = ck_pr_load_32(&waits);
	looked = ck_pr_load_32(&looks);
	weir_threads_counters(pool, &before);
	for (i = 1; i <= 50; i++) {
		come(&source);
		fake_wait(&source.fired, i);
		all_sleep_without_end(1);
	}
	weir_threads_counters(pool, &after);
	assert_int_equal(ck_pr_load_32(&waits) - waited, 50);
	/* to wait; and fake_raise() */
	looked = ck_pr_load_32(&looks) - looked;
	assert_int_equal(after.kernel_calls - before.kernel_calls,
			 100 + looked);
	looked = ck_pr_load_32(&looks);
	assert_int_equal(after.wakes, before.wakes);
	for (i = 1; i <= 50; i++) {
		fake_submit(executor, &task);
		fake_wait(ran, i);
		all_sleep_without_end(1);
	}
	/* to wait, and to read the eventfd; and fake_raise() */
	weir_threads_counters(pool, &before);
	assert_int_equal(ck_pr_load_32(&waits) - waited, 100);
	looked = ck_pr_load_32(&looks) - looked;
	assert_int_equal(before.kernel_calls - after.kernel_calls,
			 150 + looked);
	assert_int_equal(before.wakes - after.wakes, 50);
	/* its memory is not ours while it may fire */
	while (!executor->ops->watch_cancel(executor, &source.watch))
		sched_yield();
	source_fini(&source);
	finish();
}

/* Nobody waits in the kernel before there is something to wait for. */
static void the_first_watch_wakes_a_worker_that_sleeps(void **state)
{
	struct fake_task task;
	struct source source;
	uint32_t workers;

	for (workers = 1; workers <= 3; workers++) {
		start(workers);
		source_init(&source);
		task = (struct fake_task){.run = count_run};
		fake_submit(executor, &task);
		fake_wait((uint32_t *)&task.left, 1);
		all_parked(workers);
		assert_int_equal(arm(&source), 0);
		come(&source);
		fake_wait(&source.fired, 1);
		source_fini(&source);
		finish();
	}
}

static struct source *awaited;

static void run_until_it_fires(struct fake_task *fake)
{
	fake_raise((uint32_t *)&fake->left);
	fake_wait(&awaited->fired, 1);
}

/* It has polled itself, and nobody else does: the monitor looks. */
static void a_worker_that_is_busy_for_long_keeps_no_event(void **state)
{
	struct fake_task task;
	struct source first, second;
	uint32_t i, n = (uint32_t)test_count(100);

	start(2);
	for (i = 0; i < n; i++) {
		source_init(&first);
		source_init(&second);
		task = (struct fake_task){.run = run_until_it_fires};
		first.then = &task;
		awaited = &second;
		assert_int_equal(arm(&first), 0);
		assert_int_equal(arm(&second), 0);
		if (i % 2)
			all_parked(2);
		come(&first);
		fake_wait((uint32_t *)&task.left, 1);
		come(&second);
		fake_wait(&second.fired, 1);
		fake_wait(&first.fired, 1);
		all_parked(2);
		source_fini(&first);
		source_fini(&second);
	}
	finish();
}

static void arm_and_wait(struct fake_task *fake)
{
	assert_int_equal(arm(awaited), 0);
	come(awaited);
	fake_wait(&awaited->fired, 1);
	fake_raise((uint32_t *)&fake->left);
}

/* When it became busy there was nothing to look for. */
static void a_busy_worker_that_watches_first_keeps_no_event(void **state)
{
	struct fake_task task;
	struct source source;
	uint32_t i, n = (uint32_t)test_count(100);

	for (i = 0; i < n; i++) {
		start(2);
		source_init(&source);
		awaited = &source;
		task = (struct fake_task){.run = count_run};
		fake_submit(executor, &task);
		fake_wait((uint32_t *)&task.left, 1);
		all_parked(2);
		task = (struct fake_task){.run = arm_and_wait};
		fake_submit(executor, &task);
		fake_wait((uint32_t *)&task.left, 1);
		source_fini(&source);
		finish();
	}
}

/* One that always has tasks looks between them. */
static void run_again(struct fake_task *fake)
{
	if (ck_pr_load_32(&awaited->fired) < 2)
		fake_submit(executor, fake);
	else
		fake_raise((uint32_t *)&fake->left);
}

static void a_worker_that_is_always_busy_polls(void **state)
{
	static const uint64_t steals[] = {0, UINT64_C(3600000000000),
					  WEIR_FOREVER};
	struct weir_threads_options options = {.workers = 1};
	struct fake_task task;
	struct source source;
	size_t i;

	for (i = 0; i < sizeof(steals) / sizeof(*steals); i++) {
		options.steal_ns = steals[i];
		start_with(&options);
		source_init(&source);
		awaited = &source;
		task = (struct fake_task){.run = run_again};
		fake_submit(executor, &task);
		assert_int_equal(arm(&source), 0);
		come(&source);
		fake_wait(&source.fired, 1);
		assert_int_equal(arm(&source), 0);
		come(&source);
		fake_wait((uint32_t *)&task.left, 1);
		source_fini(&source);
		finish();
	}
}

static void what_is_missing_refuses_the_watch_and_can_be_tried_again(
	void **state)
{
	struct rlimit limit, none;
	struct source source;
	uint32_t fail = 0, refused = 0;
	int n_free, rc;

	start(1);
	source_init(&source);
	do {
		memory.fail = fail++;
		rc = arm(&source);
		assert_true(rc == 0 || rc == -ENOMEM);
	} while (rc < 0);
	memory.fail = UINT32_MAX;
	assert_true(fail > 1);
	come(&source);
	fake_wait(&source.fired, 1);
	finish();

	start(1);
	ck_pr_store_32(&source.fired, 0);
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &limit), 0);
	none = limit;
	n_free = dup(0);
	assert_true(n_free >= 0);
	close(n_free);
	for (none.rlim_cur = (rlim_t)n_free;; none.rlim_cur++, refused++) {
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
		rc = arm(&source);
		assert_int_equal(setrlimit(RLIMIT_NOFILE, &limit), 0);
		if (rc == 0)
			break;
		assert_int_equal(rc, -EMFILE);
		assert_null(pool->poller);
	}
	assert_int_equal(refused, 3);
	come(&source);
	fake_wait(&source.fired, 1);
	source_fini(&source);
	finish();
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_pool_without_descriptors_has_no_poller),
		cmocka_unit_test(a_watch_fires_on_a_worker_that_was_idle),
		cmocka_unit_test(tasks_come_to_who_polls),
		cmocka_unit_test(an_idle_pool_with_descriptors_has_no_wake_ups),
		cmocka_unit_test(an_event_costs_one_wait_and_a_task_one_rouse),
		cmocka_unit_test(the_first_watch_wakes_a_worker_that_sleeps),
		cmocka_unit_test(a_worker_that_is_busy_for_long_keeps_no_event),
		cmocka_unit_test(
			a_busy_worker_that_watches_first_keeps_no_event),
		cmocka_unit_test(a_worker_that_is_always_busy_polls),
		cmocka_unit_test(
			what_is_missing_refuses_the_watch_and_can_be_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
