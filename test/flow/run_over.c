/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Where and when a run is over: on the executor that it was started on, whoever
 * lets go of it last, so that the owner of a loop who sleeps in poll() is woken
 * and is the one who is told.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>

#include "flow/kit.h"

/* In threads cmocka's assertions cannot be used: assert() ends the program. */

/* Much more than it takes; nobody waits for that long if all is well. */
#define LONG_MS 60000

/* --- Who was told --------------------------------------------------------- */

struct told {
	pthread_t thread;
	uint32_t times;
	int code;
	intptr_t result;
	void (*then)(struct told *told);
	struct weir_flow *flow;
	struct weir_flow_run *run;
	struct weir_executor *executor;
};

static void tell(struct weir_error *error, void *result, void *context)
{
	struct told *told = context;

	told->thread = pthread_self();
	told->code = error ? error->code : 0;
	told->result = (intptr_t)result;
	told->times++;
	if (told->then)
		told->then(told);
}

static void start(struct told *told, struct weir_flow *flow,
		  struct weir_executor *executor)
{
	struct weir_flow_run_options options = {.done = tell, .context = told};

	told->flow = flow;
	told->executor = executor;
	assert_int_equal(weir_flow_start(flow, executor, &options, &told->run),
			 0);
}

/* As in a program that has a loop of its own. */
static void poll_until_told(struct told *told, struct weir_loop *loop)
{
	struct pollfd fd = {.fd = weir_loop_fd(loop), .events = POLLIN};

	while (!told->times) {
		assert_int_equal(poll(&fd, 1, LONG_MS), 1);
		assert_true(weir_loop_run(loop, 64) >= 0);
	}
	assert_int_equal(told->times, 1);
	assert_true(pthread_equal(told->thread, pthread_self()));
}

/* Nothing is left for it that is not another thread's to do. */
static void run_to_rest(struct weir_loop *loop)
{
	struct pollfd fd = {.fd = weir_loop_fd(loop), .events = POLLIN};

	while (poll(&fd, 1, 0) == 1)
		assert_true(weir_loop_run(loop, 64) >= 0);
}

/* --- An island that is let go last ---------------------------------------- */

/* A source whose end takes until it is told to go. */
struct stuck {
	sem_t closing, go;
	intptr_t n;
};

static int open_stuck(void **resource, void *context)
{
	*resource = context;
	return 0;
}

static int read_stuck(void *resource, void **item, void *context)
{
	struct stuck *stuck = resource;

	*item = (void *)++stuck->n;
	return 1;
}

static void close_stuck(void *resource, void *context)
{
	struct stuck *stuck = resource;

	sem_post(&stuck->closing);
	while (sem_wait(&stuck->go) < 0)
		;
}

static const struct weir_flow_resource_functions stuck_source = {
	.open = open_stuck,
	.read = read_stuck,
	.close = close_stuck,
};

/* On a thread that may block; what is behind ends with the first item. */
static struct weir_flow *ends_late(struct stuck *stuck,
				   struct weir_blocking *blocking)
{
	struct weir_flow *flow = weir_flow_resource(&stuck_source, stuck);

	*stuck = (struct stuck){0};
	assert_int_equal(sem_init(&stuck->closing, 0, 0), 0);
	assert_int_equal(sem_init(&stuck->go, 0, 0), 0);
	flow = weir_flow_async(flow, 4, weir_blocking_executor(blocking));
	return weir_flow_take(flow, 1);
}

struct world {
	struct weir_loop *loop;
	struct weir_blocking *blocking;
	struct stuck stuck;
};

static void open_world(struct world *world)
{
	assert_int_equal(weir_loop_new(&world->loop, NULL), 0);
	assert_int_equal(weir_blocking_new(&world->blocking, NULL), 0);
}

static void close_world(struct world *world)
{
	assert_int_equal(weir_loop_free(world->loop), 0);
	assert_int_equal(weir_blocking_free(world->blocking), 0);
	sem_destroy(&world->stuck.closing);
	sem_destroy(&world->stuck.go);
}

/* All of the flow has ended but for the island that another thread is in. */
static void start_stuck(struct world *world, struct told *told)
{
	struct pollfd fd = {.fd = weir_loop_fd(world->loop), .events = POLLIN};

	start(told, ends_late(&world->stuck, world->blocking),
	      weir_loop_executor(world->loop));
	while (sem_trywait(&world->stuck.closing) < 0) {
		(void)poll(&fd, 1, 1);
		run_to_rest(world->loop);
	}
	run_to_rest(world->loop);
	assert_int_equal(told->times, 0);
}

static void who_lets_go_last_wakes_the_loop(void **state)
{
	struct told told = {0};
	struct world world;

	open_world(&world);
	start_stuck(&world, &told);
	assert_int_not_equal(
		weir_executor_alive(weir_loop_executor(world.loop)), 0);
	sem_post(&world.stuck.go);
	poll_until_told(&told, world.loop);
	assert_int_equal(told.result, 1);
	assert_true(weir_completion_done(weir_flow_run_over(told.run)));
	weir_flow_run_free(told.run);
	weir_flow_free(told.flow);
	close_world(&world);
}

struct ending {
	struct weir_ending drain;
	const struct told *told;
	uint32_t times, told_before;
};

static void drained(struct weir_ending *drain)
{
	struct ending *ending = weir_container_of(drain, struct ending, drain);

	ending->told_before = ending->told->times;
	__atomic_store_n(&ending->times, 1, __ATOMIC_RELEASE);
}

typedef int end_executor(struct weir_executor *executor,
			 struct weir_ending *drain, uint64_t deadline_ns);

static void an_end_waits_for_done(end_executor *end)
{
	struct told told = {0};
	struct ending ending = {.drain.done = drained, .told = &told};
	struct world world;

	open_world(&world);
	start_stuck(&world, &told);
	assert_int_equal(end(weir_loop_executor(world.loop), &ending.drain,
			     WEIR_FOREVER),
			 0);
	run_to_rest(world.loop);
	assert_int_equal(ending.times, 0);
	sem_post(&world.stuck.go);
	poll_until_told(&told, world.loop);
	while (!__atomic_load_n(&ending.times, __ATOMIC_ACQUIRE))
		;
	assert_int_equal(ending.told_before, 1);
	weir_flow_run_free(told.run);
	weir_flow_free(told.flow);
	close_world(&world);
}

static void a_drain_waits_for_done(void **state)
{
	an_end_waits_for_done(weir_executor_end_async);
}

static void an_abort_waits_for_done(void **state)
{
	an_end_waits_for_done(weir_executor_stop_async);
}

/* --- What may be done in it ----------------------------------------------- */

static void give_all_back(struct told *told)
{
	weir_flow_run_free(told->run);
	weir_flow_free(told->flow);
}

static void start_again(struct told *told)
{
	give_all_back(told);
	told->then = give_all_back;
	told->times = 0;
	start(told, weir_flow_first(weir_flow_range(7, 9)), told->executor);
}

static void done_may_give_all_back_and_start_the_next_run(void **state)
{
	struct told told = {.then = start_again};
	struct weir_loop *loop;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	start(&told, weir_flow_first(weir_flow_range(1, 3)),
	      weir_loop_executor(loop));
	poll_until_told(&told, loop);
	assert_int_equal(told.result, 7);
	assert_int_equal(weir_loop_free(loop), 0);
}

/* --- On other executors --------------------------------------------------- */

static int note_thread(void **item, void *context)
{
	*(pthread_t *)context = pthread_self();
	return 0;
}

/* One thread has all turns of `executor`, and is told. */
static void told_by_a_thread_of(struct weir_executor *executor)
{
	struct told told = {0};
	struct weir_flow *flow = weir_flow_range(1, 3);
	pthread_t thread;

	flow = weir_flow_map(flow, note_thread, &thread);
	start(&told, weir_flow_last(flow), executor);
	assert_int_equal(weir_flow_run_wait(told.run, WEIR_FOREVER, NULL, NULL),
			 0);
	while (weir_executor_alive(executor))
		;
	assert_int_equal(told.times, 1);
	assert_true(pthread_equal(told.thread, thread));
	weir_flow_run_free(told.run);
	weir_flow_free(told.flow);
}

static void a_pool_is_told_by_its_own_thread(void **state)
{
	struct weir_threads_options options = {.workers = 1};
	struct weir_threads *threads;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	told_by_a_thread_of(weir_threads_executor(threads));
	assert_int_equal(weir_threads_free(threads), 0);
}

static void a_blocking_executor_is_told_by_its_own_thread(void **state)
{
	struct weir_blocking_options options = {.threads_max = 1};
	struct weir_blocking *blocking;

	assert_int_equal(weir_blocking_new(&blocking, &options), 0);
	told_by_a_thread_of(weir_blocking_executor(blocking));
	assert_int_equal(weir_blocking_free(blocking), 0);
}

static void a_simulator_tells_in_its_run(void **state)
{
	struct told told = {0};
	struct weir_sim *sim;

	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	start(&told, weir_flow_last(weir_flow_range(1, 3)),
	      weir_sim_executor(sim));
	weir_flow_run_stop(told.run, NULL);
	assert_int_equal(told.times, 0);
	weir_sim_run(sim);
	assert_int_equal(told.times, 1);
	assert_int_equal(told.code, -ECANCELED);
	weir_flow_run_free(told.run);
	weir_flow_free(told.flow);
	assert_int_equal(weir_sim_free(sim), 0);
}

/* One that runs at once, until it takes no more. */
struct moody {
	struct weir_executor executor;
	bool refuses;
};

static int moody_submit(struct weir_executor *executor, struct weir_task *task)
{
	if (weir_container_of(executor, struct moody, executor)->refuses)
		return -EAGAIN;
	weir_task_run(task);
	return 0;
}

static uint64_t moody_now(struct weir_executor *executor)
{
	return 0;
}

static const struct weir_executor_ops moody_ops = {
	.submit = moody_submit,
	.now = moody_now,
};

static void over_on_a_moody_one(bool refuses)
{
	struct told told = {0};
	struct moody moody = {.refuses = false};
	struct world world;

	open_world(&world);
	assert_int_equal(weir_executor_init(&moody.executor, &moody_ops, NULL),
			 0);
	start(&told, ends_late(&world.stuck, world.blocking), &moody.executor);
	assert_int_equal(sem_wait(&world.stuck.closing), 0);
	moody.refuses = refuses;
	sem_post(&world.stuck.go);
	assert_int_equal(weir_flow_run_wait(told.run, WEIR_FOREVER, NULL, NULL),
			 0);
	weir_flow_run_free(told.run);
	assert_int_equal(weir_executor_fini(&moody.executor), 0);
	assert_int_equal(told.times, 1);
	weir_flow_free(told.flow);
	close_world(&world);
}

static void it_is_over_where_an_executor_runs_at_once(void **state)
{
	over_on_a_moody_one(false);
}

static void it_is_over_where_an_executor_refuses(void **state)
{
	over_on_a_moody_one(true);
}

/* --- Each island elsewhere ------------------------------------------------ */

enum { PLACES = 3 };

static int pass(void **item, void *context)
{
	return 0;
}

static int take(void *item, void *context)
{
	*(intptr_t *)context += (intptr_t)item;
	return 0;
}

/* Source, operator and sink on executors 0 to 2, and of those the run on 0. */
static struct weir_flow *scattered(struct weir_executor *const *where,
				   const size_t *at, intptr_t *sum)
{
	struct weir_flow *flow = weir_flow_range(1, 10);

	flow = weir_flow_async(flow, 2, where[at[0]]);
	flow = weir_flow_map(flow, pass, NULL);
	flow = weir_flow_async(flow, 2, where[at[1]]);
	flow = weir_flow_for_each(flow, take, sum);
	return weir_flow_async(flow, 1, where[at[2]]);
}

static void run_scattered(const size_t *at)
{
	struct weir_executor *where[PLACES];
	struct told told = {0};
	struct weir_threads *threads;
	struct world world = {0};
	intptr_t sum = 0;

	open_world(&world);
	assert_int_equal(weir_threads_new(&threads, NULL), 0);
	where[0] = weir_loop_executor(world.loop);
	where[1] = weir_blocking_executor(world.blocking);
	where[2] = weir_threads_executor(threads);
	start(&told, scattered(where, at, &sum), where[0]);
	poll_until_told(&told, world.loop);
	assert_int_equal(told.code, 0);
	assert_int_equal(sum, 55);
	weir_flow_run_free(told.run);
	weir_flow_free(told.flow);
	assert_int_equal(weir_threads_free(threads), 0);
	assert_int_equal(weir_loop_free(world.loop), 0);
	assert_int_equal(weir_blocking_free(world.blocking), 0);
}

static void poll_is_told_wherever_the_islands_are(void **state)
{
	uint64_t rounds = test_count(test_soak() ? 1000 : 20), i;
	size_t n, at[3];

	for (i = 0; i < rounds; i++)
		for (n = 0; n < PLACES * PLACES * PLACES; n++) {
			at[0] = n % PLACES;
			at[1] = n / PLACES % PLACES;
			at[2] = n / PLACES / PLACES;
			run_scattered(at);
		}
}

/* --- A thread with a simulator that has nothing to do --------------------- */

static int wait_a_little(void **item, void *context)
{
	struct stuck *stuck = context;

	sem_post(&stuck->closing);
	while (sem_wait(&stuck->go) < 0)
		;
	return 0;
}

static void *let_go(void *context)
{
	struct stuck *stuck = context;
	int i;

	for (i = 0; i < 20; i++) {
		while (sem_wait(&stuck->closing) < 0)
			;
		sem_post(&stuck->go);
	}
	return NULL;
}

static void an_idle_simulator_does_not_end_a_run_elsewhere(void **state)
{
	struct weir_flow *flow = weir_flow_range(1, 20);
	struct weir_blocking *blocking;
	struct weir_sim *sim;
	struct stuck stuck;
	pthread_t thread;
	void *n = NULL;

	assert_int_equal(sem_init(&stuck.closing, 0, 0), 0);
	assert_int_equal(sem_init(&stuck.go, 0, 0), 0);
	assert_int_equal(weir_sim_new(&sim, 1, NULL), 0);
	assert_int_equal(weir_blocking_new(&blocking, NULL), 0);
	assert_int_equal(pthread_create(&thread, NULL, let_go, &stuck), 0);
	flow = weir_flow_count(weir_flow_map(flow, wait_a_little, &stuck));
	assert_int_equal(
		weir_flow_run(flow, weir_blocking_executor(blocking), &n), 0);
	assert_int_equal((intptr_t)n, 20);
	weir_flow_free(flow);
	assert_int_equal(pthread_join(thread, NULL), 0);
	assert_int_equal(weir_blocking_free(blocking), 0);
	assert_int_equal(weir_sim_free(sim), 0);
	sem_destroy(&stuck.closing);
	sem_destroy(&stuck.go);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_lets_go_last_wakes_the_loop),
		cmocka_unit_test(a_drain_waits_for_done),
		cmocka_unit_test(an_abort_waits_for_done),
		cmocka_unit_test(done_may_give_all_back_and_start_the_next_run),
		cmocka_unit_test(a_pool_is_told_by_its_own_thread),
		cmocka_unit_test(a_blocking_executor_is_told_by_its_own_thread),
		cmocka_unit_test(a_simulator_tells_in_its_run),
		cmocka_unit_test(it_is_over_where_an_executor_runs_at_once),
		cmocka_unit_test(it_is_over_where_an_executor_refuses),
		cmocka_unit_test(poll_is_told_wherever_the_islands_are),
		cmocka_unit_test(
			an_idle_simulator_does_not_end_a_run_elsewhere),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
