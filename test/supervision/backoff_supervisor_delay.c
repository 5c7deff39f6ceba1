/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-off supervisor: how long it waits, to the nanosecond, and what
 * options are refused. Rule numbers like B8.1 are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/backoff_kit.h"

/* --- B8.1, B8.2: how long ------------------------------------------------- */

static void b8_1_the_delay_doubles_up_to_its_cap(void **state)
{
	static const uint64_t seconds[] = {3, 6, 12, 24, 30, 30, 30};
	struct backoff_world world;
	size_t i;

	backoff_begin(&world, 1);
	for (i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		assert_int_equal(backoff_count(&world), i);
		assert_int_equal(next_delay(&world), seconds[i] * SECOND);
	}
	backoff_end(&world);
}

static void b8_1_there_is_no_child_a_nanosecond_before(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	stop_child(&world);
	world_advance(&world.base, 3 * SECOND - 1);
	assert_int_equal(world.made, 1);
	assert_false(has_child(&world));
	world_advance(&world.base, 1);
	assert_int_equal(world.made, 2);
	assert_true(has_child(&world));
	backoff_end(&world);
}

static void b8_2_jitter_comes_after_the_cap_and_only_lengthens(void **state)
{
	static const uint64_t seconds[] = {3, 6, 12, 24, 30, 30};
	uint64_t delay, least;
	uint32_t longer = 0, past_cap = 0;
	struct backoff_world world;
	size_t i;

	for_each_seed(seed, 20) {
		backoff_world_begin(&world, seed);
		world.options.backoff.random_factor = 0.2;
		backoff_start(&world);
		for (i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
			delay = next_delay(&world);
			least = seconds[i] * SECOND;
			assert_in_range(delay, least, least + least / 5 - 1);
			longer += delay > least;
			past_cap += delay > 30 * SECOND;
		}
		backoff_end(&world);
	}
	assert_true(longer > 100 || test_seed_only());
	assert_true(past_cap > 30 || test_seed_only());
}

static void b8_2_the_seed_of_the_system_repeats_the_jitter(void **state)
{
	uint64_t delays[3];
	struct backoff_world world;
	size_t i;

	for (i = 0; i < 3; i++) {
		backoff_world_init(&world, 1, 0);
		assert_int_equal(backoff_system(&world, i < 2 ? 7 : 8), 0);
		world.options.backoff.random_factor = 1;
		backoff_start(&world);
		delays[i] = next_delay(&world);
		backoff_end(&world);
	}
	assert_int_equal(delays[0], delays[1]);
	assert_int_not_equal(delays[0], delays[2]);
}

/* The delay after so many others. */
static uint64_t delay_after(uint32_t k, uint64_t min_ns, uint64_t max_ns)
{
	struct backoff_world world;
	uint64_t delay;

	backoff_world_begin(&world, 1);
	world.options.backoff =
		(struct weir_backoff){.min_ns = min_ns, .max_ns = max_ns};
	backoff_start(&world);
	while (k--)
		(void)next_delay(&world);
	delay = next_delay(&world);
	backoff_end(&world);
	return delay;
}

static void b8_2_delays_of_the_table(void **state)
{
	assert_int_equal(delay_after(0, 5 * MINUTE, 7 * MINUTE), 5 * MINUTE);
	assert_int_equal(delay_after(2, 5 * SECOND, 7 * SECOND), 7 * SECOND);
	assert_int_equal(delay_after(2, 5 * SECOND, 7 * DAY), 20 * SECOND);
	assert_int_equal(delay_after(29, 5 * MINUTE, 10 * MINUTE), 10 * MINUTE);
	assert_int_equal(delay_after(3, 10000 * DAY, 10000 * DAY), 10000 * DAY);
	assert_int_equal(delay_after(100, 1, 1), 1);
}

/* --- B8.3: what is refused ------------------------------------------------ */

static void refused(struct backoff_world *world)
{
	struct weir_backoff_supervisor before;

	memset(&world->supervisor, 0x5a, sizeof(before));
	before = world->supervisor;
	assert_int_equal(weir_backoff_supervisor_init(&world->supervisor,
						      world->base.executor,
						      &world->options),
			 -EINVAL);
	assert_memory_equal(&world->supervisor, &before, sizeof(before));
}

/* With one thing changed. */
#define REFUSED(world, field, value) \
	do { \
		struct weir_backoff_supervisor_options right = \
			(world)->options; \
		(world)->options.field = (value); \
		refused(world); \
		(world)->options = right; \
	} while (0)

static void b8_3_times_and_factor_are_checked(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	REFUSED(&world, backoff.min_ns, 0);
	REFUSED(&world, backoff.max_ns, 3 * SECOND - 1);
	REFUSED(&world, backoff.random_factor, -0.001);
	REFUSED(&world, backoff.random_factor, 1.001);
	REFUSED(&world, backoff.reset_ns, 3 * SECOND - 1);
	REFUSED(&world, backoff.reset_ns, 30 * SECOND + 1);
	REFUSED(&world, backoff.law, WEIR_BACKOFF_LINEAR);
	backoff_close(&world);
}

static void b8_3_the_edges_are_allowed(void **state)
{
	static const uint64_t resets[] = {0, 3 * SECOND, 30 * SECOND,
					  WEIR_FOREVER};
	struct backoff_world world;
	size_t i;

	for (i = 0; i < 4; i++) {
		backoff_world_begin(&world, 1);
		world.options.backoff.random_factor = i & 1;
		world.options.backoff.reset_ns = resets[i];
		backoff_start(&world);
		backoff_end(&world);
	}
}

static void options_that_make_no_sense_are_refused(void **state)
{
	const struct weir_strategy bad = {.scope = (enum weir_scope)3};
	char name[WEIR_NAME_MAX + 2] = {0};
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	memset(name, 'x', WEIR_NAME_MAX + 1);
	REFUSED(&world, make, NULL);
	REFUSED(&world, mode, (enum weir_backoff_mode)2);
	REFUSED(&world, absent_code, 1);
	REFUSED(&world, strategy, &bad);
	REFUSED(&world, child.restart, WEIR_RESTART_PERMANENT);
	REFUSED(&world, child.restart, WEIR_RESTART_TEMPORARY);
	REFUSED(&world, child.name, "");
	REFUSED(&world, child.name, "a/b");
	REFUSED(&world, child.name, "$1");
	REFUSED(&world, child.name, name);
	assert_int_equal(weir_backoff_supervisor_init(NULL, world.base.executor,
						      &world.options),
			 -EINVAL);
	assert_int_equal(weir_backoff_supervisor_init(&world.supervisor, NULL,
						      &world.options),
			 -EINVAL);
	assert_int_equal(weir_backoff_supervisor_init(
				 &world.supervisor, world.base.executor, NULL),
			 -EINVAL);
	backoff_close(&world);
}

static int submit_nothing(struct weir_executor *executor,
			  struct weir_task *task)
{
	return -ESHUTDOWN;
}

static uint64_t never(struct weir_executor *executor)
{
	return 0;
}

static void an_executor_without_timers_is_refused(void **state)
{
	static const struct weir_executor_ops ops = {.submit = submit_nothing,
						     .now = never};
	struct weir_backoff_supervisor before;
	struct weir_executor executor;
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	assert_int_equal(weir_executor_init(&executor, &ops, NULL), 0);
	memset(&world.supervisor, 0x5a, sizeof(before));
	before = world.supervisor;
	assert_int_equal(weir_backoff_supervisor_init(
				 &world.supervisor, &executor, &world.options),
			 -ENOTSUP);
	assert_memory_equal(&world.supervisor, &before, sizeof(before));
	assert_int_equal(weir_executor_fini(&executor), 0);
	backoff_close(&world);
}

static void nobody_can_be_asked_of_nothing(void **state)
{
	assert_int_equal(weir_backoff_supervisor_put(NULL, NULL), -EINVAL);
	assert_int_equal(weir_backoff_supervisor_put_up(NULL, NULL), -EINVAL);
	assert_int_equal(weir_backoff_supervisor_end(NULL), -EINVAL);
	assert_int_equal(weir_backoff_supervisor_reset(NULL), -EINVAL);
}

static void a_supervisor_that_is_never_spawned_can_be_stopped(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	assert_int_equal(weir_backoff_supervisor_init(&world.supervisor,
						      world.base.executor,
						      &world.options),
			 0);
	assert_int_equal(backoff_put(&world, TAKE), -EAGAIN);
	weir_actor_stop(&world.supervisor.actor);
	fate_check(&world.fate, -ECANCELED);
	assert_int_equal(world.made, 0);
	backoff_close(&world);
}

/* --- B8.9: no second count ------------------------------------------------ */

static void b8_9_on_failure_a_strategy_with_limits_is_refused(void **state)
{
	const struct weir_limit limit = {.max = 2, .within_ns = SECOND};
	const struct weir_backoff backoff = {.min_ns = 1, .max_ns = 1};
	const struct weir_strategy each = {.each = &limit};
	const struct weir_strategy all = {.all = &limit};
	const struct weir_strategy waits = {.backoff = &backoff};
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.mode = WEIR_BACKOFF_ON_FAILURE;
	REFUSED(&world, strategy, &each);
	REFUSED(&world, strategy, &all);
	REFUSED(&world, strategy, &waits);
	backoff_close(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b8_1_the_delay_doubles_up_to_its_cap),
		cmocka_unit_test(b8_1_there_is_no_child_a_nanosecond_before),
		cmocka_unit_test(
			b8_2_jitter_comes_after_the_cap_and_only_lengthens),
		cmocka_unit_test(
			b8_2_the_seed_of_the_system_repeats_the_jitter),
		cmocka_unit_test(b8_2_delays_of_the_table),
		cmocka_unit_test(b8_3_times_and_factor_are_checked),
		cmocka_unit_test(b8_3_the_edges_are_allowed),
		cmocka_unit_test(options_that_make_no_sense_are_refused),
		cmocka_unit_test(an_executor_without_timers_is_refused),
		cmocka_unit_test(nobody_can_be_asked_of_nothing),
		cmocka_unit_test(
			a_supervisor_that_is_never_spawned_can_be_stopped),
		cmocka_unit_test(
			b8_9_on_failure_a_strategy_with_limits_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
