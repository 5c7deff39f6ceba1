/* SPDX-License-Identifier: BSD-2-Clause */
/* What a snapshot has of executors, who runs on them, and who has to wait. */
#include "inspect/kit.h"

#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "actor/kit.h"

enum { SLEEPERS = 16, MOST = SLEEPERS + 4 };

static struct node nodes[MOST];
static size_t n_nodes;
static sem_t open;	/* each turn that hangs takes one */
static int hung_on;	/* thread of the last turn that hangs */
static char said[1024]; /* what a turn has found */

static int setup(void **state)
{
	n_nodes = 0;
	hung_on = 0;
	said[0] = '\0';
	return sem_init(&open, 0, 0);
}

static int teardown(void **state)
{
	return sem_destroy(&open);
}

static struct node *node(struct weir_executor *executor, const char *name,
			 size_t n_ins, size_t n_outs)
{
	node_init(&nodes[n_nodes], executor, name, n_ins, n_outs);
	return &nodes[n_nodes++];
}

/* A turn that does not return until the test lets it. */
static void hang(struct node *self)
{
	__atomic_store_n(&hung_on, (int)syscall(SYS_gettid), __ATOMIC_RELAXED);
	while (sem_wait(&open) < 0)
		;
}

/* All turns may go on, all actors end, and the executor has none. */
static void end(struct weir_executor *executor)
{
	size_t i;

	for (i = 0; i < n_nodes; i++)
		node_stop(&nodes[i]);
	for (i = 0; i < MOST; i++)
		assert_int_equal(sem_post(&open), 0);
	while (weir_executor_alive(executor) > 0)
		(void)sched_yield();
}

/* The snapshot in which so many threads are busy and actors are due, and the
 * others wait. */
static struct weir_snapshot *taken_when(struct weir_executor *executor,
					uint32_t busy, uint32_t queued)
{
	const struct weir_seen_executor *seen;
	struct weir_snapshot *snapshot;

	for (;;) {
		snapshot = taken(executor);
		seen = &snapshot->executors[0];
		if (snapshot->settled && seen->stands && seen->busy == busy &&
		    seen->queued == queued)
			return snapshot;
		weir_snapshot_free(snapshot);
		(void)sched_yield();
	}
}

static void assert_why(const struct weir_snapshot *snapshot,
		       const struct node *of, const char *expected)
{
	size_t actor = of ? weir_snapshot_find(snapshot, &of->actor)
			  : WEIR_NOWHERE;
	char text[2048];

	(void)weir_snapshot_why_text(snapshot, actor, text, sizeof(text));
	assert_string_equal(text, expected);
}

/* --- Turns that do not return --------------------------------------------- */

static struct weir_executor *looked_at;

static void look(struct node *self)
{
	struct weir_snapshot *snapshot = taken(looked_at);

	(void)weir_snapshot_why_text(snapshot, WEIR_NOWHERE, said,
				     sizeof(said));
	weir_snapshot_free(snapshot);
}

static void a_turn_that_does_not_return_is_blamed(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct node *source = node(executor, "source", 0, 1);
	struct node *map = node(executor, "map", 1, 1);
	struct node *slow = node(executor, "slow", 1, 0);
	char expected[128];

	node_link(source, 0, map, 0);
	node_link(map, 0, slow, 0);
	node_start(source);
	node_start(map);
	weir_sim_run(sim);
	/* no other thread can look at a simulator's turn */
	looked_at = executor;
	slow->before = look;
	node_start(slow);
	(void)weir_sim_run_until(sim, WEIR_FOREVER, 1);
	(void)snprintf(expected, sizeof(expected),
		       "2 held up by: slow is in a turn that does not return, "
		       "on thread %d\n",
		       (int)syscall(SYS_gettid));
	assert_string_equal(said, expected);
	slow->before = NULL;
	node_stop(source);
	node_stop(map);
	node_stop(slow);
	weir_sim_run(sim);
	sim_free(sim);
}

static void on_threads_a_turn_that_does_not_return_is_blamed(void **state)
{
	const struct weir_threads_options two = {.workers = 2};
	struct weir_executor *executor;
	struct weir_snapshot *snapshot;
	struct weir_threads *threads;
	struct node *source, *map, *slow;
	char expected[256];

	assert_int_equal(weir_threads_new(&threads, &two), 0);
	executor = weir_threads_executor(threads);
	source = node(executor, "source", 0, 1);
	map = node(executor, "map", 1, 1);
	slow = node(executor, "slow", 1, 0);
	slow->before = hang;
	node_link(source, 0, map, 0);
	node_link(map, 0, slow, 0);
	node_start(slow);
	node_start(map);
	node_start(source);
	snapshot = taken_when(executor, 1, 0);
	(void)snprintf(expected, sizeof(expected),
		       "source waits for room in map\n"
		       "map waits for room in slow\n"
		       "slow is in a turn that does not return, on thread "
		       "%d\n",
		       __atomic_load_n(&hung_on, __ATOMIC_RELAXED));
	assert_why(snapshot, source, expected);
	(void)snprintf(expected, sizeof(expected),
		       "2 held up by: slow is in a turn that does not return, "
		       "on thread %d\n",
		       __atomic_load_n(&hung_on, __ATOMIC_RELAXED));
	assert_why(snapshot, NULL, expected);
	weir_snapshot_free(snapshot);
	end(executor);
	assert_int_equal(weir_threads_free(threads), 0);
}

/* --- No thread is free ---------------------------------------------------- */

static void one_that_has_all_threads_is_blamed(void **state)
{
	const struct weir_threads_options one = {.workers = 1};
	struct weir_executor *executor;
	struct weir_snapshot *snapshot;
	struct weir_threads *threads;
	struct node *greedy, *due = NULL;
	char expected[256];
	size_t i;

	assert_int_equal(weir_threads_new(&threads, &one), 0);
	executor = weir_threads_executor(threads);
	greedy = node(executor, "greedy", 1, 0);
	greedy->before = hang;
	node_start(greedy);
	node_put(greedy, 0);
	weir_snapshot_free(taken_when(executor, 1, 0));
	for (i = 0; i < 3; i++) {
		due = node(executor, "due", 1, 0);
		node_start(due);
		node_put(due, 0);
	}
	snapshot = taken_when(executor, 1, 3);
	(void)snprintf(expected, sizeof(expected),
		       "3 held up by: greedy is in a turn that does not "
		       "return, on thread %d\n",
		       __atomic_load_n(&hung_on, __ATOMIC_RELAXED));
	assert_why(snapshot, NULL, expected);
	(void)snprintf(expected, sizeof(expected),
		       "due is due, but its thread runs greedy\n"
		       "greedy is in a turn that does not return, on thread "
		       "%d\n",
		       __atomic_load_n(&hung_on, __ATOMIC_RELAXED));
	assert_why(snapshot, due, expected);
	weir_snapshot_free(snapshot);
	end(executor);
	assert_int_equal(weir_threads_free(threads), 0);
}

/* The other worker is free, but not for it. */
static void an_actor_that_is_bound_waits_for_its_thread_alone(void **state)
{
	const struct weir_threads_options two = {.workers = 2};
	struct weir_executor *bound;
	struct weir_snapshot *snapshot;
	struct weir_threads *threads;
	struct node *greedy, *due;
	char expected[256];

	assert_int_equal(weir_threads_new(&threads, &two), 0);
	bound = weir_threads_worker(threads, 1);
	greedy = node(bound, "greedy", 1, 0);
	due = node(bound, "due", 1, 0);
	greedy->before = hang;
	node_start(greedy);
	node_put(greedy, 0);
	weir_snapshot_free(taken_when(bound, 1, 0));
	node_start(due);
	snapshot = taken_when(bound, 1, 1);
	(void)snprintf(expected, sizeof(expected),
		       "due is due, but its thread runs greedy\n"
		       "greedy is in a turn that does not return, on thread "
		       "%d\n",
		       __atomic_load_n(&hung_on, __ATOMIC_RELAXED));
	assert_why(snapshot, due, expected);
	weir_snapshot_free(snapshot);
	end(bound);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void a_blocking_executor_without_a_thread_left_is_told(void **state)
{
	struct weir_blocking *blocking;
	struct weir_executor *executor;
	struct weir_snapshot *snapshot;
	struct node *due = NULL;
	char expected[512], root[256];
	size_t i, sleeper;

	assert_int_equal(weir_blocking_new(&blocking, NULL), 0);
	executor = weir_blocking_executor(blocking);
	for (i = 0; i < SLEEPERS; i++) {
		due = node(executor, "sleeper", 1, 0);
		due->before = hang;
		node_start(due);
		node_put(due, 0);
	}
	weir_snapshot_free(taken_when(executor, SLEEPERS, 0));
	for (i = 0; i < 3; i++) {
		due = node(executor, "due", 1, 0);
		node_start(due);
		node_put(due, 0);
	}
	snapshot = taken_when(executor, SLEEPERS, 3);
	assert_int_equal(snapshot->executors[0].kind, WEIR_EXECUTOR_BLOCKING);
	assert_int_equal(snapshot->executors[0].threads_max, SLEEPERS);
	assert_int_equal(snapshot->executors[0].n_threads, SLEEPERS);
	sleeper = snapshot->actors[weir_snapshot_find(snapshot, &due->actor)]
			  .holder;
	assert_string_equal(snapshot->actors[sleeper].name, "sleeper");
	i = snapshot->actors[sleeper].thread;
	(void)snprintf(root, sizeof(root),
		       "sleeper is in a turn that does not return, on thread "
		       "%d; 3 more are due, and all 16 threads of weir-block "
		       "run sleeper, sleeper, sleeper, sleeper and 12 more\n",
		       snapshot->threads[i].id);
	(void)snprintf(expected, sizeof(expected), "3 held up by: %s", root);
	assert_why(snapshot, NULL, expected);
	(void)snprintf(expected, sizeof(expected),
		       "due is due, but all 16 threads of weir-block run "
		       "sleeper, sleeper, sleeper, sleeper and 12 more\n%s",
		       root);
	assert_why(snapshot, due, expected);
	weir_snapshot_free(snapshot);
	end(executor);
	assert_int_equal(weir_blocking_free(blocking), 0);
}

/* --- Loops ---------------------------------------------------------------- */

static void *look_from_outside(void *context)
{
	struct weir_executor *executor = context;
	struct weir_snapshot *snapshot;

	/* a thread cannot fail a test */
	assert(weir_snapshot_new(&snapshot, &executor, 1, 1) == 0);
	(void)weir_snapshot_why_text(snapshot, 0, said, sizeof(said));
	weir_snapshot_free(snapshot);
	return NULL;
}

static void a_loop_that_nobody_runs_is_told(void **state)
{
	struct weir_executor *executor;
	struct weir_snapshot *snapshot;
	struct weir_loop *loop;
	pthread_t other;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	executor = weir_loop_executor(loop);
	node_start(node(executor, "due", 1, 0));
	assert_int_equal(
		pthread_create(&other, NULL, look_from_outside, executor), 0);
	assert_int_equal(pthread_join(other, NULL), 0);
	assert_string_equal(said, "due is due, but nobody runs its loop\n");
	/* who runs it looks meanwhile, and runs it then */
	snapshot = taken(executor);
	assert_why(snapshot, &nodes[0], "due is about to run\n");
	weir_snapshot_free(snapshot);
	node_stop(&nodes[0]);
	while (weir_executor_alive(executor) > 0)
		assert_true(weir_loop_run(loop, 1) >= 0);
	assert_int_equal(weir_loop_free(loop), 0);
}

static void a_turn_of_a_loop_is_seen(void **state)
{
	struct weir_executor *executor;
	struct weir_snapshot *snapshot;
	struct weir_loop *loop;
	char expected[128];

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	looked_at = executor = weir_loop_executor(loop);
	node(executor, "looks", 1, 0)->before = look;
	node_start(&nodes[0]);
	node_start(node(executor, "behind", 1, 0));
	node_put(&nodes[0], 0);
	assert_int_equal(weir_loop_run(loop, 1), 1);
	(void)snprintf(expected, sizeof(expected),
		       "1 held up by: looks is in a turn that does not return, "
		       "on thread %d\n",
		       (int)syscall(SYS_gettid));
	assert_string_equal(said, expected);
	snapshot = taken(executor);
	assert_int_equal(snapshot->n_threads, 0);
	assert_int_equal(snapshot->executors[0].slices, 1);
	assert_int_equal(snapshot->executors[0].queued, 2);
	weir_snapshot_free(snapshot);
	nodes[0].before = NULL;
	node_stop(&nodes[0]);
	node_stop(&nodes[1]);
	while (weir_executor_alive(executor) > 0)
		assert_true(weir_loop_run(loop, 1) >= 0);
	assert_int_equal(weir_loop_free(loop), 0);
}

/* --- Counts --------------------------------------------------------------- */

static void timers_and_watches_are_counted(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	const struct weir_seen_executor *seen;
	struct weir_snapshot *snapshot;
	size_t i;

	for (i = 0; i < 3; i++) {
		node_waits(node(executor, "waits", 0, 0));
		node_start(&nodes[i]);
	}
	(void)weir_sim_run_until(sim, 7, UINT64_MAX);
	snapshot = taken(executor);
	seen = &snapshot->executors[0];
	assert_int_equal(snapshot->n_executors, 1);
	assert_int_equal(seen->kind, WEIR_EXECUTOR_SIM);
	assert_int_equal(seen->now_ns, 7);
	assert_int_equal(seen->timers, 3);
	assert_int_equal(seen->watches, 0);
	weir_snapshot_free(snapshot);
	node_stop(&nodes[0]);
	(void)weir_sim_run_until(sim, 8, UINT64_MAX);
	snapshot = taken(executor);
	assert_int_equal(snapshot->executors[0].timers, 2);
	weir_snapshot_free(snapshot);
	node_stop(&nodes[1]);
	node_stop(&nodes[2]);
	weir_sim_run(sim);
	snapshot = taken(executor);
	assert_int_equal(snapshot->executors[0].timers, 0);
	weir_snapshot_free(snapshot);
	sim_free(sim);
}

static void workers_that_sleep_are_counted(void **state)
{
	const struct weir_threads_options two = {.workers = 2, .name = "pool"};
	const struct weir_seen_executor *seen;
	struct weir_executor *executors[3];
	struct weir_snapshot *snapshot;
	struct weir_threads *threads;

	assert_int_equal(weir_threads_new(&threads, &two), 0);
	executors[0] = weir_threads_worker(threads, 1);
	executors[1] = weir_threads_executor(threads);
	executors[2] = weir_threads_worker(threads, 0);
	snapshot = taken(executors[1]);
	assert_int_equal(snapshot->n_threads, 0);
	weir_snapshot_free(snapshot);
	node_start(node(executors[1], "idle", 1, 0));
	for (;;) {
		snapshot = taken_when(executors[1], 0, 0);
		if (snapshot->executors[0].parked == 2)
			break;
		weir_snapshot_free(snapshot);
		(void)sched_yield();
	}
	assert_int_equal(snapshot->n_threads, 2);
	assert_int_equal(snapshot->executors[0].threads_max, 2);
	assert_string_equal(snapshot->executors[0].name, "pool");
	assert_int_equal(snapshot->threads[0].actor, WEIR_NOWHERE);
	weir_snapshot_free(snapshot);
	/* a pool and its workers are one executor */
	assert_int_equal(weir_snapshot_new(&snapshot, executors, 3, 0), 0);
	assert_int_equal(snapshot->n_executors, 1);
	assert_int_equal(snapshot->n_actors, 1);
	seen = &snapshot->executors[0];
	assert_ptr_equal(seen->executor, executors[1]);
	assert_int_equal(snapshot->actors[0].home, 0);
	weir_snapshot_free(snapshot);
	end(executors[1]);
	assert_int_equal(weir_threads_free(threads), 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	static const struct CMUnitTest tests[] = {
		TEST(a_turn_that_does_not_return_is_blamed),
		TEST(on_threads_a_turn_that_does_not_return_is_blamed),
		TEST(one_that_has_all_threads_is_blamed),
		TEST(an_actor_that_is_bound_waits_for_its_thread_alone),
		TEST(a_blocking_executor_without_a_thread_left_is_told),
		TEST(a_loop_that_nobody_runs_is_told),
		TEST(a_turn_of_a_loop_is_seen),
		TEST(timers_and_watches_are_counted),
		TEST(workers_that_sleep_are_counted),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
