/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * How long a stop waits, for every kind of actor. Each is asked to stop, says
 * that it will end by itself, and does not. There is one default; the values of
 * `shutdown_ns` mean the same everywhere.
 */
#include "kit/world.h"

#include <errno.h>

#include <weir/backoff_supervisor.h>
#include <weir/process_manager.h>
#include <weir/supervisor.h>
#include <weir/worker_pool.h>

#define MS UINT64_C(1000000)
#define SECOND (1000 * MS)
#define HOUR (3600 * SECOND)
#define ACTORS 4

struct shutdown {
	struct world base;
	struct weir_actor actors[ACTORS]; /* to be set up */
	uint32_t asked, released;
	/* kinds that need more */
	struct weir_supervisor supervisor;
	struct weir_child_spec child;
	struct weir_process_manager manager;
	struct weir_command command;
	uint32_t replies;
	enum weir_outcome outcome;
	uint64_t replied_ns;
	struct weir_pools *pools;
	struct weir_backoff_supervisor backoff;
};

static struct shutdown the_test;

/* --- Who says that it ends by itself, and does not ------------------------ */

static int says_so(struct weir_actor *actor)
{
	(void)actor;
	the_test.asked++;
	return 1;
}

static void slow_released(struct weir_actor *actor)
{
	(void)actor;
	the_test.released++;
}

/* Told, it ends after all. */
static int slow_told(struct weir_actor *actor)
{
	return weir_actor_end(actor);
}

static uint32_t no_turns(struct weir_actor *actor, uint32_t n)
{
	(void)actor;
	return n;
}

static const struct weir_lifecycle slow_life = {.stopping = says_so};
static const struct weir_actor_ops slow_ops = {
	.name = "slow",
	.turns = no_turns,
	.signalled = slow_told,
	.released = slow_released,
	.lifecycle = &slow_life,
};

static const struct weir_actor_ops prompt_ops = {
	.name = "prompt",
	.released = slow_released,
};

static struct weir_actor *actor_init(struct shutdown *test, size_t i,
				     const struct weir_actor_ops *ops)
{
	assert_int_equal(
		weir_actor_init(&test->actors[i], ops, test->base.executor), 0);
	return &test->actors[i];
}

static struct weir_actor_id spawn(struct shutdown *test,
				  struct weir_actor_id parent,
				  struct weir_actor *actor,
				  uint64_t shutdown_ns)
{
	const struct weir_spawn_options options = {.shutdown_ns = shutdown_ns};
	struct weir_actor_id id;

	assert_int_equal(weir_system_spawn(test->base.system, parent, actor,
					   shutdown_ns ? &options : NULL, &id),
			 0);
	return id;
}

/* --- Kinds ---------------------------------------------------------------- */

static void an_actor(struct shutdown *test, uint64_t shutdown_ns)
{
	(void)spawn(test, WEIR_ACTOR_ID_NONE, actor_init(test, 0, &slow_ops),
		    shutdown_ns);
}

static void a_child_of_a_supervisor(struct shutdown *test, uint64_t shutdown_ns)
{
	test->child = (struct weir_child_spec){
		.actor = actor_init(test, 0, &slow_ops),
		.options.shutdown_ns = shutdown_ns,
	};
	assert_int_equal(weir_supervisor_init(&test->supervisor,
					      test->base.executor, NULL,
					      &test->child, 1),
			 0);
	(void)spawn(test, WEIR_ACTOR_ID_NONE, &test->supervisor.actor, 0);
}

static int make_slow(struct weir_actor **child, struct weir_in **input,
		     void *context)
{
	(void)input;
	*child = actor_init(context, 0, &slow_ops);
	return 0;
}

static void a_child_of_a_backoff_supervisor(struct shutdown *test,
					    uint64_t shutdown_ns)
{
	const struct weir_backoff_supervisor_options options = {
		.make = make_slow,
		.context = test,
		.child.shutdown_ns = shutdown_ns,
		.backoff = {.min_ns = MS, .max_ns = MS},
	};

	assert_int_equal(weir_backoff_supervisor_init(
				 &test->backoff, test->base.executor, &options),
			 0);
	(void)spawn(test, WEIR_ACTOR_ID_NONE, &test->backoff.actor, 0);
}

static int make_worker(void *job, struct weir_actor **worker, void *context)
{
	(void)job;
	*worker = actor_init(context, 0, &slow_ops);
	return 0;
}

static void a_worker(struct shutdown *test, uint64_t shutdown_ns)
{
	const struct weir_pool_options options = {
		.name = "a",
		.limit = 1,
		.make = make_worker,
		.context = test,
		.shutdown_ns = shutdown_ns,
	};

	assert_int_equal(weir_pools_new(&test->pools, test->base.system, NULL),
			 0);
	assert_int_equal(weir_pool_start(test->pools, &options), 0);
	assert_int_equal(weir_pool_run(test->pools, "a", NULL, NULL), 0);
}

static void replied(struct weir_command *command, enum weir_outcome outcome,
		    struct weir_error *error)
{
	(void)command;
	(void)error;
	the_test.replies++;
	the_test.outcome = outcome;
	the_test.replied_ns = world_now(&the_test.base);
}

/* A manager with one process; what these are spawned with. */
static void manage(struct shutdown *test, uint64_t timeout_ns,
		   uint64_t process_ns, uint64_t manager_ns)
{
	const struct weir_process_manager_options options = {
		.process = &slow_ops,
		.process_size = sizeof(struct weir_process),
		.max = 1,
		.buffer = 1,
		.timeout_ns = timeout_ns,
		.shutdown_ns = process_ns,
	};

	assert_int_equal(weir_process_manager_init(
				 &test->manager, test->base.executor, &options),
			 0);
	(void)spawn(test, WEIR_ACTOR_ID_NONE, &test->manager.actor, manager_ns);
	test->command.reply = replied;
	assert_int_equal(
		weir_process_manager_offer(&test->manager, &test->command), 0);
}

static void a_manager(struct shutdown *test, uint64_t shutdown_ns)
{
	manage(test, 0, HOUR, shutdown_ns);
}

static const struct {
	void (*open)(struct shutdown *test, uint64_t shutdown_ns);
	uint32_t asked; /* by a stop in time */
} kinds[] = {
	{an_actor, 1},
	{a_child_of_a_supervisor, 1},
	{a_child_of_a_backoff_supervisor, 1},
	{a_worker, 1},
	{a_manager, 0}, /* its process runs on, and is not asked */
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

/* --- The world ------------------------------------------------------------ */

static struct shutdown *shutdown_open(uint64_t seed)
{
	memset(&the_test, 0, sizeof(the_test));
	world_init(&the_test.base, seed, 0);
	world_system(&the_test.base, NULL);
	return &the_test;
}

static bool is_over(const struct shutdown *test)
{
	return weir_completion_done(weir_system_terminated(test->base.system));
}

/* The system stops, and has not ended 1 ns before `ns`, and has then. */
static void ends_at(struct shutdown *test, uint64_t ns)
{
	world_settle(&test->base);
	weir_system_stop(test->base.system);
	if (ns > 0) {
		world_advance(&test->base, ns - 1);
		assert_false(is_over(test));
		world_advance(&test->base, 1);
	}
	world_settle(&test->base);
	assert_true(is_over(test));
}

static void shutdown_close(struct shutdown *test)
{
	assert_int_equal(weir_pools_free(test->pools), 0);
	world_fini(&test->base);
}

/* --- Tests ---------------------------------------------------------------- */

static void by_default_every_kind_has_5_seconds(void **state)
{
	size_t i;

	(void)state;
	for_each_seed(seed, 20) {
		for (i = 0; i < KINDS; i++) {
			kinds[i].open(shutdown_open(seed),
				      WEIR_SHUTDOWN_DEFAULT);
			ends_at(&the_test, 5 * SECOND);
			assert_int_equal(the_test.asked, kinds[i].asked);
			shutdown_close(&the_test);
		}
	}
	assert_int_equal(WEIR_SHUTDOWN_DEFAULT_NS, 5 * SECOND);
}

static void every_kind_has_the_time_that_it_was_given(void **state)
{
	size_t i;

	(void)state;
	for_each_seed(seed, 20) {
		for (i = 0; i < KINDS; i++) {
			kinds[i].open(shutdown_open(seed), 90 * SECOND);
			ends_at(&the_test, 90 * SECOND);
			shutdown_close(&the_test);
		}
	}
}

static void a_brutal_stop_waits_for_no_kind(void **state)
{
	size_t i;

	(void)state;
	for_each_seed(seed, 20) {
		for (i = 0; i < KINDS; i++) {
			kinds[i].open(shutdown_open(seed),
				      WEIR_SHUTDOWN_BRUTAL);
			ends_at(&the_test, 0);
			assert_int_equal(the_test.asked, 0);
			shutdown_close(&the_test);
		}
	}
}

static void stopped(struct weir_ending *ending)
{
	(void)ending;
}

static void for_ever_is_for_ever_for_every_kind(void **state)
{
	struct weir_ending ending = {.done = stopped};
	size_t i;

	(void)state;
	for (i = 0; i < KINDS; i++) {
		kinds[i].open(shutdown_open(1), WEIR_FOREVER);
		world_settle(&the_test.base);
		weir_system_stop(the_test.base.system);
		world_advance(&the_test.base, 10000 * HOUR);
		assert_false(is_over(&the_test));
		assert_int_equal(
			weir_executor_stop_async(the_test.base.executor,
						 &ending, WEIR_FOREVER),
			0);
		world_settle(&the_test.base);
		assert_true(is_over(&the_test));
		shutdown_close(&the_test);
	}
}

/* Nobody above the slow one has a limit: 7 s and not 5. */
static void children_are_waited_for_without_limit(void **state)
{
	struct weir_actor_id parent;
	struct shutdown *test;

	(void)state;
	for_each_seed(seed, 20) {
		test = shutdown_open(seed);
		parent = spawn(test, WEIR_ACTOR_ID_NONE,
			       actor_init(test, 0, &prompt_ops), 0);
		parent = spawn(test, parent, actor_init(test, 1, &prompt_ops),
			       0);
		(void)spawn(test, parent, actor_init(test, 2, &slow_ops),
			    7 * SECOND);
		(void)spawn(test, parent, actor_init(test, 3, &slow_ops), 0);
		ends_at(test, 7 * SECOND);
		assert_int_equal(test->released, 4);
		shutdown_close(test);
	}
}

/* A parent that is waited for has not asked its children yet. */
static void a_default_is_for_the_actor_and_not_for_its_children(void **state)
{
	struct weir_actor_id parent;
	struct shutdown *test;

	(void)state;
	for_each_seed(seed, 20) {
		test = shutdown_open(seed);
		parent = spawn(test, WEIR_ACTOR_ID_NONE,
			       actor_init(test, 0, &slow_ops), 0);
		(void)spawn(test, parent, actor_init(test, 1, &slow_ops), 0);
		world_settle(&test->base);
		weir_system_stop(test->base.system);
		world_advance(&test->base, 3 * SECOND);
		assert_int_equal(test->asked, 1);
		weir_actor_signal(&test->actors[0]);
		ends_at(test, 5 * SECOND);
		assert_int_equal(world_now(&test->base), 8 * SECOND);
		assert_int_equal(test->asked, 2);
		shutdown_close(test);
	}
}

/* Past it the actor is killed with all below it, whatever time these have. */
static void past_its_default_an_actor_takes_its_children_along(void **state)
{
	struct weir_actor_id parent;
	struct shutdown *test;

	(void)state;
	for_each_seed(seed, 20) {
		test = shutdown_open(seed);
		parent = spawn(test, WEIR_ACTOR_ID_NONE,
			       actor_init(test, 0, &slow_ops), 0);
		(void)spawn(test, parent, actor_init(test, 1, &slow_ops), HOUR);
		ends_at(test, 5 * SECOND);
		assert_int_equal(test->asked, 1);
		shutdown_close(test);
	}
}

/* Its time is up, it is asked, and has the default for that. */
static void a_process_has_the_default_when_its_time_is_up(void **state)
{
	struct shutdown *test;

	(void)state;
	for_each_seed(seed, 20) {
		test = shutdown_open(seed);
		manage(test, SECOND, WEIR_SHUTDOWN_DEFAULT,
		       WEIR_SHUTDOWN_DEFAULT);
		world_advance(&test->base, HOUR);
		assert_int_equal(test->asked, 1);
		assert_int_equal(test->replies, 1);
		assert_int_equal(test->outcome, WEIR_OUTCOME_TIMED_OUT);
		assert_int_equal(test->replied_ns, 6 * SECOND);
		ends_at(test, 0);
		shutdown_close(test);
	}
}

/* What a manager with NULL options and a process for ever did not do. */
static void a_manager_does_not_keep_the_system_from_ending(void **state)
{
	struct shutdown *test = shutdown_open(1);

	(void)state;
	manage(test, 0, WEIR_SHUTDOWN_DEFAULT, WEIR_SHUTDOWN_DEFAULT);
	world_settle(&test->base);
	assert_int_equal(weir_system_end_wait(test->base.system, WEIR_FOREVER),
			 0);
	assert_int_equal(world_now(&test->base), 5 * SECOND);
	assert_int_equal(test->outcome, WEIR_OUTCOME_KILLED);
	shutdown_close(test);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_default_every_kind_has_5_seconds),
		cmocka_unit_test(every_kind_has_the_time_that_it_was_given),
		cmocka_unit_test(a_brutal_stop_waits_for_no_kind),
		cmocka_unit_test(for_ever_is_for_ever_for_every_kind),
		cmocka_unit_test(children_are_waited_for_without_limit),
		cmocka_unit_test(
			a_default_is_for_the_actor_and_not_for_its_children),
		cmocka_unit_test(
			past_its_default_an_actor_takes_its_children_along),
		cmocka_unit_test(a_process_has_the_default_when_its_time_is_up),
		cmocka_unit_test(
			a_manager_does_not_keep_the_system_from_ending),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
