/* SPDX-License-Identifier: BSD-2-Clause */
#include "support.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <weir/threads.h>

#include "base/futex.h"
#include "executor/fake.h"
#include "executor/worker.h"

#define N_TASKS 1000

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
#define SANITIZED true
#else
#define SANITIZED false
#endif

/* Opened once; who waits for it sleeps until then. */
struct latch {
	uint32_t open;
};

static void latch_open(struct latch *latch)
{
	ck_pr_fence_release();
	ck_pr_store_32(&latch->open, 1);
	weir__futex_wake(&latch->open, INT32_MAX);
}

static void latch_wait(struct latch *latch)
{
	while (!ck_pr_load_32(&latch->open))
		weir__futex_wait(&latch->open, 0, WEIR_FOREVER);
	ck_pr_fence_acquire();
}

/* A task that opens a latch when it runs, and notes where that was. */
struct signal {
	struct fake_task fake;
	struct latch ran;
	uint32_t worker;
	struct latch *until; /* waits for this first, unless NULL */
};

static uint32_t this_worker(void)
{
	const struct weir__worker *worker = weir__thread.worker_state;

	return worker ? worker->index : UINT32_MAX;
}

static void signal_run(struct fake_task *fake)
{
	struct signal *self = weir_container_of(fake, struct signal, fake);

	if (self->until)
		latch_wait(self->until);
	self->worker = this_worker();
	latch_open(&self->ran);
}

static void signal_init(struct signal *self, struct latch *until)
{
	*self = (struct signal){.fake.run = signal_run, .until = until};
}

static struct fake_memory memory;

static struct weir_threads *make(uint32_t workers)
{
	const struct weir_threads_options options = {
		.executor.allocator = &memory.allocator,
		.workers = workers,
	};
	struct weir_threads *threads;

	fake_memory_init(&memory);
	assert_int_equal(weir_threads_new(&threads, &options), 0);
	return threads;
}

static void end(struct weir_threads *threads)
{
	assert_int_equal(weir_threads_free(threads), 0);
	assert_int_equal(memory.blocks, 0);
}

static struct weir_threads_counters counters_of(struct weir_threads *threads)
{
	struct weir_threads_counters counters;

	weir_threads_counters(threads, &counters);
	return counters;
}

static void wait_parked(struct weir_threads *threads)
{
	while (counters_of(threads).parked < weir_threads_workers(threads))
		sched_yield();
}

static void run_one(struct weir_executor *executor)
{
	struct signal one;

	signal_init(&one, NULL);
	assert_int_equal(fake_submit(executor, &one.fake), 0);
	latch_wait(&one.ran);
}

static void options_that_make_no_sense_are_refused(void **state)
{
	const char *backwards[] = {"1-0"}, *nowhere[] = {"8191"};
	const struct weir_threads_options bad[] = {
		{.workers = WEIR_WORKERS_MAX + 1},
		{.workers = 1, .cpus = backwards},
		{.workers = 1, .cpus = nowhere},
		{.executor.budget_turns = WEIR_BUDGET_MAX + 1},
		{.reserved = {0, 0, 0, 1}},
	};
	struct weir_threads *threads;
	size_t i;

	assert_int_equal(weir_threads_new(NULL, NULL), -EINVAL);
	for (i = 0; i < sizeof(bad) / sizeof(bad[0]); i++) {
		threads = (void *)&threads;
		assert_int_equal(weir_threads_new(&threads, &bad[i]), -EINVAL);
		assert_null(threads);
	}
}

static void a_pool_without_memory_is_refused_and_leaks_nothing(void **state)
{
	const char *cpus[] = {NULL, NULL};
	const struct weir_threads_options options = {
		.executor.allocator = &memory.allocator,
		.workers = 2,
		.cpus = cpus,
	};
	struct weir_threads *threads;
	uint32_t fail = 0;
	int rc;

	fake_memory_init(&memory);
	do {
		memory.fail = fail++;
		rc = weir_threads_new(&threads, &options);
		if (rc < 0) {
			assert_int_equal(rc, -ENOMEM);
			assert_null(threads);
			assert_int_equal(memory.blocks, 0);
		}
	} while (rc < 0);
	assert_true(fail > 2);
	end(threads);
}

static void there_are_as_many_workers_as_asked_for(void **state)
{
	struct weir_threads *threads = make(3);

	assert_int_equal(weir_threads_workers(threads), 3);
	assert_non_null(weir_threads_worker(threads, 2));
	assert_null(weir_threads_worker(threads, 3));
	end(threads);

	threads = make(0);
	assert_int_equal(weir_threads_workers(threads), weir__cpus_default());
	end(threads);
}

static void a_pool_that_was_never_used_has_no_threads(void **state)
{
	struct weir_threads *threads = make(2);

	assert_int_equal(threads->started, 0);
	assert_int_equal(counters_of(threads).parked, 0);
	end(threads);
	assert_int_equal(weir_threads_free(NULL), 0);
}

static void every_task_from_outside_runs_once(void **state)
{
	static struct signal tasks[N_TASKS];
	struct weir_threads *threads = make(2);
	struct weir_executor *executor = weir_threads_executor(threads);
	int i;

	for (i = 0; i < N_TASKS; i++) {
		signal_init(&tasks[i], NULL);
		assert_int_equal(fake_submit(executor, &tasks[i].fake), 0);
	}
	for (i = 0; i < N_TASKS; i++)
		latch_wait(&tasks[i].ran);
	wait_parked(threads);
	for (i = 0; i < N_TASKS; i++)
		assert_int_equal(tasks[i].fake.runs, 1);
	assert_int_equal(counters_of(threads).slices, N_TASKS);
	end(threads);
}

struct again {
	struct fake_task fake;
	struct latch done;
};

static void again_run(struct fake_task *fake)
{
	struct again *self = weir_container_of(fake, struct again, fake);

	if (--fake->left)
		fake_submit(fake->executor, fake);
	else
		latch_open(&self->done);
}

static void a_task_may_submit_itself_again(void **state)
{
	struct weir_threads *threads = make(2);
	struct again task = {.fake = {.run = again_run, .left = N_TASKS}};

	assert_int_equal(
		fake_submit(weir_threads_executor(threads), &task.fake), 0);
	latch_wait(&task.done);
	end(threads);
	assert_int_equal(task.fake.runs, N_TASKS);
}

/* Submits many in one slice, more than the ring holds. */
struct flood {
	struct fake_task fake;
	struct fake_task each[3 * WEIR__RING_SIZE];
	uint32_t order[3 * WEIR__RING_SIZE];
	uint32_t n;
	struct latch done;
};

static struct flood flood;

static void flood_each(struct fake_task *fake)
{
	flood.order[flood.n++] = (uint32_t)(fake - flood.each);
	if (flood.n == 3 * WEIR__RING_SIZE)
		latch_open(&flood.done);
}

static void flood_run(struct fake_task *fake)
{
	uint32_t i;

	for (i = 0; i < 3 * WEIR__RING_SIZE; i++) {
		flood.each[i].run = flood_each;
		fake_submit(fake->executor, &flood.each[i]);
	}
}

static void one_worker_runs_any_number_of_tasks_in_order(void **state)
{
	struct weir_threads *threads = make(1);
	uint32_t i;

	flood = (struct flood){.fake.run = flood_run};
	assert_int_equal(
		fake_submit(weir_threads_executor(threads), &flood.fake), 0);
	latch_wait(&flood.done);
	for (i = 0; i < 3 * WEIR__RING_SIZE; i++)
		assert_int_equal(flood.order[i], i);
	end(threads);
}

static void a_workers_tasks_run_on_that_worker_only(void **state)
{
	enum { N = 4 };
	struct weir_threads *threads = make(N);
	struct signal tasks[N];
	uint32_t i, round;

	for (round = 0; round < 100; round++) {
		for (i = 0; i < N; i++) {
			signal_init(&tasks[i], NULL);
			fake_submit(weir_threads_worker(threads, i),
				    &tasks[i].fake);
		}
		for (i = 0; i < N; i++) {
			latch_wait(&tasks[i].ran);
			assert_int_equal(tasks[i].worker, i);
		}
	}
	end(threads);
}

/* Fills both queues of its worker, and sees in which order they are emptied. */
struct mixed {
	struct fake_task fake;
	struct weir_executor *other;
	struct fake_task each[8]; /* the even ones are the worker's own */
	char order[9];
	uint32_t n;
	struct latch done;
};

static struct mixed mixed;

static void mixed_each(struct fake_task *fake)
{
	mixed.order[mixed.n++] = (fake - mixed.each) % 2 ? 'p' : 'w';
	if (mixed.n == 8)
		latch_open(&mixed.done);
}

static void mixed_run(struct fake_task *fake)
{
	int i;

	for (i = 0; i < 8; i++) {
		mixed.each[i].run = mixed_each;
		fake_submit(i % 2 ? fake->executor : mixed.other,
			    &mixed.each[i]);
	}
}

static void a_workers_tasks_and_the_pools_take_turns(void **state)
{
	struct weir_threads *threads = make(1);

	mixed = (struct mixed){.fake.run = mixed_run,
			       .other = weir_threads_worker(threads, 0)};
	fake_submit(weir_threads_executor(threads), &mixed.fake);
	latch_wait(&mixed.done);
	assert_true(strcmp(mixed.order, "pwpwpwpw") == 0 ||
		    strcmp(mixed.order, "wpwpwpwp") == 0);
	end(threads);
}

static void idle_workers_sleep_until_work_comes(void **state)
{
	struct weir_threads *threads = make(3), *other = make(2);
	struct weir_threads_counters before, after;

	run_one(weir_threads_executor(threads));
	wait_parked(threads);
	before = counters_of(threads);
	/* Whatever happens elsewhere. */
	run_one(weir_threads_executor(other));
	wait_parked(other);
	after = counters_of(threads);
	assert_int_equal(after.parked, 3);
	assert_int_equal(after.wakes, before.wakes);
	assert_int_equal(after.parks, before.parks);
	assert_int_equal(weir_threads_free(other), 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void a_task_from_outside_wakes_no_more_than_one_worker(void **state)
{
	struct weir_threads *threads = make(4);
	struct weir_threads_counters before, after;
	int i;

	run_one(weir_threads_executor(threads));
	for (i = 0; i < 100; i++) {
		wait_parked(threads);
		before = counters_of(threads);
		run_one(weir_threads_executor(threads));
		wait_parked(threads);
		/* None at all if one was about to sleep, and saw the task. */
		after = counters_of(threads);
		assert_in_range(after.wakes - before.wakes, 0, 1);
	}
	assert_true(after.wakes > 0);
	end(threads);
}

/* Submits a task to its own worker, and waits for it: a very long turn. */
struct blocker {
	struct fake_task fake;
	struct signal behind;
	struct latch done;
};

static void blocker_run(struct fake_task *fake)
{
	struct blocker *self = weir_container_of(fake, struct blocker, fake);

	fake_submit(fake->executor, &self->behind.fake);
	latch_wait(&self->behind.ran);
	latch_open(&self->done);
}

static void what_waits_behind_a_long_turn_is_stolen(void **state)
{
	struct weir_threads *threads = make(2);
	struct blocker blocker;
	int i;

	for (i = 0; i < 20; i++) {
		blocker = (struct blocker){.fake.run = blocker_run};
		signal_init(&blocker.behind, NULL);
		fake_submit(weir_threads_executor(threads), &blocker.fake);
		latch_wait(&blocker.done);
		if (i % 2) /* from spinning and from parked workers */
			wait_parked(threads);
	}
	wait_parked(threads);
	/* More, if a worker was held up before it began with one. */
	assert_true(counters_of(threads).steals >= 20);
	end(threads);
}

static void what_came_with_a_long_turn_is_stolen(void **state)
{
	struct weir_threads *threads = make(2);
	struct weir_executor *executor = weir_threads_executor(threads);
	struct signal waits, behind;
	int i;

	for (i = 0; i < 20; i++) {
		signal_init(&behind, NULL);
		signal_init(&waits, &behind.ran);
		fake_submit(executor, &waits.fake);
		fake_submit(executor, &behind.fake);
		latch_wait(&waits.ran);
	}
	end(threads);
}

/* Submits a task to its own worker, and waits for something else. */
struct holder {
	struct fake_task fake;
	struct signal behind;
	struct latch submitted, until;
};

static void holder_run(struct fake_task *fake)
{
	struct holder *self = weir_container_of(fake, struct holder, fake);

	fake_submit(fake->executor, &self->behind.fake);
	latch_open(&self->submitted);
	latch_wait(&self->until);
}

static void nothing_is_stolen_where_that_is_switched_off(void **state)
{
	const struct weir_threads_options options = {
		.workers = 2,
		.steal_ns = WEIR_FOREVER,
	};
	struct weir_threads *threads;
	struct holder holder = {.fake.run = holder_run};
	uint64_t parks;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	signal_init(&holder.behind, NULL);
	fake_submit(weir_threads_executor(threads), &holder.fake);
	latch_wait(&holder.submitted);
	/* The other one wakes, looks, and sleeps again. */
	parks = counters_of(threads).parks;
	run_one(weir_threads_executor(threads));
	while (counters_of(threads).parks == parks)
		sched_yield();
	assert_int_equal(holder.behind.fake.runs, 0);
	latch_open(&holder.until);
	latch_wait(&holder.behind.ran);
	assert_int_equal(counters_of(threads).steals, 0);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void a_workers_own_tasks_are_never_stolen(void **state)
{
	struct weir_threads *threads = make(2);
	struct weir_executor *worker = weir_threads_worker(threads, 0);
	struct latch until = {0};
	struct signal waits, behind, pool;

	signal_init(&waits, &until);
	signal_init(&behind, NULL);
	signal_init(&pool, NULL);
	fake_submit(worker, &waits.fake);
	fake_submit(worker, &behind.fake);
	/* The other worker is there, and has looked. */
	fake_submit(weir_threads_worker(threads, 1), &pool.fake);
	latch_wait(&pool.ran);
	while (counters_of(threads).parked < 1)
		sched_yield();
	assert_int_equal(behind.fake.runs, 0);
	latch_open(&until);
	latch_wait(&behind.ran);
	assert_int_equal(behind.worker, 0);
	assert_int_equal(counters_of(threads).steals, 0);
	end(threads);
}

static void a_pool_with_actors_alive_is_busy(void **state)
{
	struct weir_threads *threads = make(1);
	struct weir_executor *executor = weir_threads_executor(threads);

	fake_alive(executor, true);
	assert_int_equal(weir_threads_free(threads), -EBUSY);
	assert_int_equal(weir_executor_alive(weir_threads_worker(threads, 0)),
			 1);
	run_one(executor); /* it goes on */
	fake_alive(executor, false);
	end(threads);
}

struct suicide {
	struct signal signal; /* first */
	struct weir_timer timer;
	struct weir_threads *threads;
	int rc;
};

static void suicide_run(struct fake_task *fake)
{
	struct suicide *self = (struct suicide *)fake;

	self->rc = weir_threads_free(self->threads);
	latch_open(&self->signal.ran);
}

static void suicide_fire(struct weir_timer *timer)
{
	struct suicide *self = weir_container_of(timer, struct suicide, timer);

	suicide_run(&self->signal.fake);
}

static void a_pool_cannot_be_freed_by_its_own_threads(void **state)
{
	struct weir_threads *threads = make(1);
	struct weir_executor *executor = weir_threads_executor(threads);
	struct suicide suicide = {
		.signal.fake.run = suicide_run,
		.timer.fire = suicide_fire,
		.threads = threads,
	};

	fake_submit(executor, &suicide.signal.fake);
	latch_wait(&suicide.signal.ran);
	assert_int_equal(suicide.rc, -EDEADLK);

	suicide.signal.ran.open = 0;
	assert_int_equal(weir_timer_arm(executor, &suicide.timer, 0), 0);
	latch_wait(&suicide.signal.ran);
	assert_int_equal(suicide.rc, -EDEADLK);
	end(threads);
}

struct alarm {
	struct weir_timer timer;
	struct weir_executor *executor;
	struct signal task;
};

static void alarm_fire(struct weir_timer *timer)
{
	struct alarm *self = weir_container_of(timer, struct alarm, timer);

	fake_submit(self->executor, &self->task.fake);
}

static void timers_work_on_the_pool_and_on_its_workers(void **state)
{
	struct weir_threads *threads = make(2);
	struct weir_executor *executors[] = {
		weir_threads_executor(threads),
		weir_threads_worker(threads, 1),
	};
	struct alarm alarm;
	struct weir_timer never = {.fire = alarm_fire};
	size_t i;

	for (i = 0; i < 2; i++) {
		alarm = (struct alarm){
			.timer.fire = alarm_fire,
			.executor = executors[i],
		};
		signal_init(&alarm.task, NULL);
		assert_int_equal(
			weir_timer_arm(executors[i], &alarm.timer,
				       weir_executor_now(executors[i]) + 1),
			0);
		latch_wait(&alarm.task.ran);
		assert_int_equal(weir_timer_arm(executors[i], &never,
						WEIR_FOREVER - 1),
				 0);
		assert_true(weir_timer_cancel(executors[i], &never));
		assert_false(weir_timer_cancel(executors[i], &never));
	}
	assert_int_equal(alarm.task.worker, 1);
	end(threads);
}

/* Each thing once; not how often, which is up to the threads. */
static void sleeping_and_timers_are_counted_as_kernel_calls(void **state)
{
	struct weir_threads *threads = make(1);
	struct weir_executor *executor = weir_threads_executor(threads);
	const struct weir__costs *worker = &threads->workers[0].costs;
	const struct weir__costs *service = &threads->service.costs;
	struct alarm alarm = {
		.timer.fire = alarm_fire,
		.executor = executor,
	};

	run_one(executor);
	while (ck_pr_load_64(&worker->kernel_calls) == 0) /* it goes to sleep */
		sched_yield();
	assert_int_equal(ck_pr_load_64(&worker->locks), 0);
	signal_init(&alarm.task, NULL);
	assert_int_equal(weir_timer_arm(executor, &alarm.timer, 0), 0);
	latch_wait(&alarm.task.ran);
	assert_true(ck_pr_load_64(&service->kernel_calls) > 0);
	assert_true(ck_pr_load_64(&service->locks) > 0);
	assert_true(counters_of(threads).kernel_calls >=
		    ck_pr_load_64(&worker->kernel_calls));
	assert_true(counters_of(threads).locks > 0);
	end(threads);
}

struct about {
	struct signal signal; /* first */
	char name[16];
	sigset_t blocked;
	cpu_set_t cpus;
};

static void about_run(struct fake_task *fake)
{
	struct about *self = (struct about *)fake;

	pthread_getname_np(pthread_self(), self->name, sizeof(self->name));
	pthread_sigmask(SIG_SETMASK, NULL, &self->blocked);
	pthread_getaffinity_np(pthread_self(), sizeof(self->cpus), &self->cpus);
	latch_open(&self->signal.ran);
}

static struct about ask(struct weir_executor *executor)
{
	struct about about = {.signal.fake.run = about_run};

	assert_int_equal(fake_submit(executor, &about.signal.fake), 0);
	latch_wait(&about.signal.ran);
	return about;
}

static void workers_have_names_and_block_signals(void **state)
{
	const struct weir_threads_options options = {
		.workers = 2,
		.name = "a-name-that-is-cut",
	};
	struct weir_threads *threads = make(1);
	struct about about = ask(weir_threads_executor(threads));

	assert_string_equal(about.name, "weir-0");
	assert_true(sigismember(&about.blocked, SIGTERM));
	end(threads);

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	about = ask(weir_threads_worker(threads, 1));
	assert_string_equal(about.name, "a-name-that-i-1");
	assert_int_equal(weir_threads_free(threads), 0);
}

static void workers_are_bound_to_their_cpus(void **state)
{
	cpu_set_t allowed;
	char list[16];
	const char *cpus[] = {NULL, list};
	const struct weir_threads_options options = {
		.workers = 2,
		.cpus = cpus,
	};
	struct weir_threads *threads;
	struct about about;
	int last = CPU_SETSIZE - 1;

	assert_int_equal(sched_getaffinity(0, sizeof(allowed), &allowed), 0);
	while (!CPU_ISSET(last, &allowed))
		last--;
	(void)snprintf(list, sizeof(list), "%d", last);
	assert_int_equal(weir_threads_new(&threads, &options), 0);
	about = ask(weir_threads_worker(threads, 0));
	assert_true(CPU_EQUAL(&about.cpus, &allowed));
	about = ask(weir_threads_worker(threads, 1));
	assert_int_equal(CPU_COUNT(&about.cpus), 1);
	assert_true(CPU_ISSET(last, &about.cpus));
	assert_int_equal(weir_threads_free(threads), 0);
}

/* The exit status of a child that calls this. */
static int in_child(int (*check)(struct weir_threads *),
		    struct weir_threads *threads)
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(check(threads));
	assert_true(pid > 0);
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	return WEXITSTATUS(status);
}

static int refused_in_child(struct weir_threads *threads)
{
	struct weir_executor *executor = weir_threads_executor(threads);
	struct weir_timer timer = {.fire = alarm_fire};
	struct signal task;

	signal_init(&task, NULL);
	if (fake_submit(executor, &task.fake) != -ECHILD)
		return 1;
	if (fake_submit(weir_threads_worker(threads, 0), &task.fake) != -ECHILD)
		return 2;
	if (weir_timer_arm(executor, &timer, 0) != -ECHILD)
		return 3;
	if (weir_threads_free(threads) != 0)
		return 4;
	return memory.blocks == 0 ? 0 : 5;
}

static void a_child_cannot_use_the_parents_threads(void **state)
{
	struct weir_threads *threads = make(2);

	run_one(weir_threads_executor(threads));
	fake_alive(weir_threads_executor(threads), true);
	assert_int_equal(in_child(refused_in_child, threads), 0);
	fake_alive(weir_threads_executor(threads), false);
	run_one(weir_threads_executor(threads));
	end(threads);
}

static int works_in_child(struct weir_threads *threads)
{
	struct signal task;

	signal_init(&task, NULL);
	if (fake_submit(weir_threads_executor(threads), &task.fake) != 0)
		return 1;
	latch_wait(&task.ran);
	return weir_threads_free(threads);
}

static void a_child_can_use_a_pool_that_has_not_started(void **state)
{
	struct weir_threads *threads = make(2);

	assert_int_equal(in_child(works_in_child, threads), 0);
	run_one(weir_threads_executor(threads));
	end(threads);
}

/*
 * No thread can be made but, maybe, on the stacks of those that ended before.
 * A sanitizer does not survive that.
 */
static int makes_threads_later(struct weir_threads *threads)
{
	uint32_t last = weir_threads_workers(threads) - 1;
	struct rlimit kept, none;
	struct signal some, more;
	int rc, last_rc;

	signal_init(&some, NULL);
	signal_init(&more, NULL);
	getrlimit(RLIMIT_AS, &kept);
	none = (struct rlimit){.rlim_cur = 1, .rlim_max = kept.rlim_max};
	setrlimit(RLIMIT_AS, &none);
	rc = fake_submit(weir_threads_executor(threads), &some.fake);
	last_rc = fake_submit(weir_threads_worker(threads, last), &more.fake);
	setrlimit(RLIMIT_AS, &kept);
	if (rc == 0)
		latch_wait(&some.ran);
	else if (rc != -EAGAIN && rc != -ENOMEM)
		return 1;
	if (last_rc != -EAGAIN && last_rc != -ENOMEM)
		return 2;
	if (fake_submit(weir_threads_worker(threads, last), &more.fake) != 0)
		return 3;
	latch_wait(&more.ran);
	if (more.worker != last)
		return 4;
	return weir_threads_free(threads) == 0 ? 0 : 5;
}

static void threads_that_cannot_be_made_are_tried_again(void **state)
{
	struct weir_threads *threads;

	if (SANITIZED)
		skip();
	threads = make(40);
	assert_int_equal(in_child(makes_threads_later, threads), 0);
	end(threads);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(options_that_make_no_sense_are_refused),
		cmocka_unit_test(
			a_pool_without_memory_is_refused_and_leaks_nothing),
		cmocka_unit_test(there_are_as_many_workers_as_asked_for),
		cmocka_unit_test(a_pool_that_was_never_used_has_no_threads),
		cmocka_unit_test(every_task_from_outside_runs_once),
		cmocka_unit_test(a_task_may_submit_itself_again),
		cmocka_unit_test(one_worker_runs_any_number_of_tasks_in_order),
		cmocka_unit_test(a_workers_tasks_run_on_that_worker_only),
		cmocka_unit_test(a_workers_tasks_and_the_pools_take_turns),
		cmocka_unit_test(idle_workers_sleep_until_work_comes),
		cmocka_unit_test(
			a_task_from_outside_wakes_no_more_than_one_worker),
		cmocka_unit_test(what_waits_behind_a_long_turn_is_stolen),
		cmocka_unit_test(what_came_with_a_long_turn_is_stolen),
		cmocka_unit_test(nothing_is_stolen_where_that_is_switched_off),
		cmocka_unit_test(a_workers_own_tasks_are_never_stolen),
		cmocka_unit_test(a_pool_with_actors_alive_is_busy),
		cmocka_unit_test(a_pool_cannot_be_freed_by_its_own_threads),
		cmocka_unit_test(timers_work_on_the_pool_and_on_its_workers),
		cmocka_unit_test(
			sleeping_and_timers_are_counted_as_kernel_calls),
		cmocka_unit_test(workers_have_names_and_block_signals),
		cmocka_unit_test(workers_are_bound_to_their_cpus),
		cmocka_unit_test(a_child_cannot_use_the_parents_threads),
		cmocka_unit_test(a_child_can_use_a_pool_that_has_not_started),
		cmocka_unit_test(threads_that_cannot_be_made_are_tried_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
