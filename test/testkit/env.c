/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The environments: a test comes to rest on every executor, and says so when it
 * never does.
 */
#include "actor/kit.h"

#include <weir/testkit.h>

#define ITEMS 1000

/* Fires once at its time. */
struct alarm {
	struct weir_timer timer;
	uint32_t fired;
};

static void alarm_fire(struct weir_timer *timer)
{
	weir_container_of(timer, struct alarm, timer)->fired++;
}

/* Items of a source have all reached their sink when it has come to rest. */
static void all_is_done(struct weir_executor *executor,
			const struct weir_test_env *env)
{
	struct pair pair;

	pair_init(&pair, executor, ITEMS, 16);
	pair_start(&pair);
	assert_int_equal(weir_test_settle(env), 0);
	assert_int_equal(pair.sink.fate.released, 1);
	assert_int_equal(pair.sink.seen, ITEMS);
	assert_int_equal(weir_executor_alive(executor), 0);
	pair_fini(&pair);
}

static void nothing_happens_outside_calls_if_there_is_no_environment(
	void **state)
{
	assert_int_equal(weir_test_settle(NULL), 0);
	assert_int_equal(weir_test_settle(&(struct weir_test_env){0}), 0);
	assert_int_equal(weir_test_advance(NULL, 1), -ENOTSUP);
	assert_int_equal(weir_test_advance(&(struct weir_test_env){0}, 1),
			 -ENOTSUP);
}

static void simulator_settles_without_time_passing(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct weir_test_env env = weir_test_env_sim(sim);
	struct alarm alarm = {.timer.fire = alarm_fire};

	assert_int_equal(weir_timer_arm(executor, &alarm.timer, 100), 0);
	all_is_done(executor, &env);
	assert_int_equal(weir_executor_now(executor), 0);
	assert_int_equal(alarm.fired, 0);
	sim_free(sim);
}

static void simulator_advances_its_clock(void **state)
{
	struct weir_sim *sim = sim_new(1);
	struct weir_executor *executor = weir_sim_executor(sim);
	struct weir_test_env env = weir_test_env_sim(sim);
	struct alarm alarm = {.timer.fire = alarm_fire};

	assert_int_equal(weir_timer_arm(executor, &alarm.timer, 100), 0);
	assert_int_equal(weir_test_advance(&env, 99), 0);
	assert_int_equal(alarm.fired, 0);
	assert_int_equal(weir_test_advance(&env, 1), 0);
	assert_int_equal(alarm.fired, 1);
	assert_int_equal(weir_executor_now(executor), 100);
	sim_free(sim);
}

static void loop_settles(void **state)
{
	struct weir_loop *loop;
	struct weir_test_env env;

	assert_int_equal(weir_loop_new(&loop, NULL), 0);
	env = weir_test_env_loop(loop);
	all_is_done(weir_loop_executor(loop), &env);
	assert_int_equal(weir_test_advance(&env, 1), -ENOTSUP);
	assert_int_equal(weir_loop_free(loop), 0);
}

static void threads_settle(void **state)
{
	/* Workers that sleep and wake often. */
	struct weir_threads_options options = {
		.workers = 3,
		.spin_ns = WEIR_NO_SPIN,
		.steal_ns = 1,
	};
	struct weir_threads *threads;
	struct weir_test_env env;
	uint64_t i;

	assert_int_equal(weir_threads_new(&threads, &options), 0);
	env = weir_test_env_threads(threads);
	assert_true(weir_threads_idle(threads)); /* none has been started */
	for (i = 0; i < test_count(5000); i++)
		all_is_done(weir_threads_executor(threads), &env);
	assert_int_equal(weir_threads_free(threads), 0);
}

/* Runs until it is told to stop. */
struct spinner {
	struct weir_actor actor;
	struct weir_permits always;
	uint32_t runs, stop, released;
};

static int spinner_turn(struct weir_actor *actor)
{
	struct spinner *self = weir_container_of(actor, struct spinner, actor);

	ck_pr_store_32(&self->runs, 1);
	return ck_pr_load_32(&self->stop) ? weir_actor_end(actor) : 0;
}
WEIR_TURN(spinner_turn)

static void spinner_released(struct weir_actor *actor)
{
	ck_pr_store_32(
		&weir_container_of(actor, struct spinner, actor)->released, 1);
}

static const struct weir_actor_ops spinner_ops = {
	.turns = spinner_turn_n,
	.released = spinner_released,
};

static void spinner_start(struct spinner *self, struct weir_executor *executor)
{
	assert_int_equal(weir_actor_init(&self->actor, &spinner_ops, executor),
			 0);
	assert_int_equal(
		weir_permits_init(&self->always, &self->actor, INT64_MAX), 0);
	assert_int_equal(weir_actor_start(&self->actor), 0);
}

static void threads_are_not_idle_while_an_actor_runs(void **state)
{
	struct spinner spinner = {0};
	struct weir_threads *threads;
	struct weir_test_env env;
	uint32_t i;

	assert_int_equal(weir_threads_new(&threads, NULL), 0);
	env = weir_test_env_threads(threads);
	spinner_start(&spinner, weir_threads_executor(threads));
	for (i = 0; i < 100000 || !ck_pr_load_32(&spinner.runs); i++)
		assert_false(weir_threads_idle(threads));
	ck_pr_store_32(&spinner.stop, 1);
	assert_int_equal(weir_test_settle(&env), 0);
	assert_true(weir_threads_idle(threads));
	assert_int_equal(ck_pr_load_32(&spinner.released), 1);
	assert_int_equal(weir_threads_free(threads), 0);
}

static void what_never_rests_is_reported(void **state)
{
	struct spinner spinner = {0};
	struct weir_sim *sim = sim_new(1);
	struct weir_test_env env = weir_test_env_sim(sim);

	spinner_start(&spinner, weir_sim_executor(sim));
	assert_int_equal(weir_test_settle(&env), -ETIMEDOUT);
	spinner.stop = 1;
	assert_int_equal(weir_test_settle(&env), 0);
	sim_free(sim);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			nothing_happens_outside_calls_if_there_is_no_environment),
		cmocka_unit_test(simulator_settles_without_time_passing),
		cmocka_unit_test(simulator_advances_its_clock),
		cmocka_unit_test(loop_settles),
		cmocka_unit_test(threads_settle),
		cmocka_unit_test(threads_are_not_idle_while_an_actor_runs),
		cmocka_unit_test(what_never_rests_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
