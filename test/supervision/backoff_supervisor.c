/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-off supervisor: when it makes another child and how often. Virtual
 * times are exact. Rule numbers like B8.4 are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/backoff_kit.h"

/* --- B8.4: after each end ------------------------------------------------- */

static void b8_4_every_way_to_end_is_followed_by_a_delay(void **state)
{
	uint32_t way;
	struct backoff_world world;

	for (way = 0; way < 5; way++) {
		backoff_world_begin(&world, way + 1);
		world.options.strategy = &stops;
		backoff_start(&world);
		if (way == 0)
			backoff_tell(&world, FINISH);
		else if (way == 1)
			backoff_tell(&world, FAIL);
		else if (way == 2)
			(void)weir_system_stop_actor(world.base.system,
						     child(&world));
		else if (way == 3)
			(void)weir_system_poison(world.base.system,
						 child(&world));
		else
			(void)weir_system_kill(world.base.system,
					       child(&world));
		world_settle(&world.base);
		assert_false(has_child(&world));
		assert_int_equal(backoff_count(&world), 1);
		assert_int_equal(wait_for_child(&world), 3 * SECOND);
		assert_int_equal(world.made, 2);
		assert_int_equal(world.released, 1);
		backoff_end(&world);
	}
}

static void b8_4_a_start_that_fails_is_an_end(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.start_fails = true;
	backoff_start(&world);
	assert_false(has_child(&world));
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	world.start_fails = false;
	assert_int_equal(wait_for_child(&world), 6 * SECOND);
	assert_true(has_child(&world));
	assert_int_equal(backoff_count(&world), 2);
	backoff_end(&world);
}

static void b8_4_a_restart_is_at_once_and_not_counted(void **state)
{
	struct weir_actor_id before;
	struct backoff_world world;

	backoff_begin(&world, 1);
	before = child(&world);
	backoff_tell(&world, FAIL);
	assert_int_equal(world.made, 1);
	assert_int_equal(world.started, 2);
	assert_int_equal(backoff_count(&world), 0);
	assert_true(weir_actor_id_equal(child(&world), before));
	backoff_end(&world);
}

static void b8_4_a_limit_on_ordinary_restarts_ends_the_child(void **state)
{
	const struct weir_limit twice = {.max = 2};
	const struct weir_strategy strategy = {.each = &twice};
	struct backoff_world world;
	int i;

	backoff_world_begin(&world, 1);
	world.options.strategy = &strategy;
	backoff_start(&world);
	for (i = 0; i < 3; i++)
		backoff_tell(&world, FAIL);
	assert_int_equal(world.started, 3);
	assert_false(has_child(&world));
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	assert_int_equal(world.started, 4);
	backoff_end(&world);
}

/* --- B8.5: after failures only -------------------------------------------- */

static void b8_5_a_restart_becomes_a_stop_a_delay_and_a_new_child(void **state)
{
	static const uint64_t seconds[] = {3, 6, 12, 24, 30, 30};
	struct backoff_world world;
	size_t i;

	begin_on_failure(&world, 1, NULL);
	for (i = 0; i < sizeof(seconds) / sizeof(*seconds); i++) {
		backoff_tell(&world, FAIL);
		assert_false(has_child(&world));
		assert_int_equal(world.released, i + 1);
		assert_int_equal(backoff_count(&world), i + 1);
		assert_int_equal(wait_for_child(&world), seconds[i] * SECOND);
	}
	assert_int_equal(world.started, i + 1);
	backoff_end(&world);
}

static void b8_5_a_child_that_ends_by_itself_ends_the_supervisor(void **state)
{
	struct backoff_world world;

	begin_on_failure(&world, 1, NULL);
	backoff_tell(&world, FINISH);
	assert_true(over(&world));
	assert_int_equal(world.fate.code, 0);
	assert_int_equal(world.made, 1);
	backoff_end(&world);
}

static void b8_5_a_child_that_is_stopped_ends_the_supervisor(void **state)
{
	struct backoff_world world;

	begin_on_failure(&world, 1, NULL);
	assert_int_equal(
		weir_system_stop_actor(world.base.system, child(&world)), 0);
	world_settle(&world.base);
	assert_true(over(&world));
	backoff_end(&world);
}

static void b8_5_a_stop_ends_the_supervisor_with_the_childs_error(void **state)
{
	struct backoff_world world;

	begin_on_failure(&world, 1, &stops);
	backoff_tell(&world, FAIL);
	assert_true(over(&world));
	assert_int_equal(world.fate.code, -EIO);
	assert_int_equal(world.made, 1);
	backoff_end(&world);
}

static void b8_5_resume_is_unchanged(void **state)
{
	const struct weir_rule rule = {.directive = WEIR_DIRECTIVE_RESUME};
	const struct weir_strategy strategy = {.rules = &rule, .n_rules = 1};
	struct weir_actor_id before;
	struct backoff_world world;

	begin_on_failure(&world, 1, &strategy);
	before = child(&world);
	backoff_tell(&world, FAIL);
	backoff_tell(&world, TAKE);
	assert_true(weir_actor_id_equal(child(&world), before));
	assert_int_equal(world.started, 1);
	assert_int_equal(ledger_delivered(&world.base.ledger), 2);
	backoff_end(&world);
}

static void b8_5_escalate_is_unchanged(void **state)
{
	struct backoff_world world;

	begin_on_failure(&world, 1, NULL);
	/* /user escalates a fatal error: all of it ends. */
	backoff_tell(&world, FATAL);
	assert_true(over(&world));
	assert_int_equal(world.made, 1);
	backoff_end(&world);
}

static void b8_5_rules_that_do_not_match_leave_it_to_the_default(void **state)
{
	const struct weir_rule rule = {.code = -ENOENT,
				       .directive = WEIR_DIRECTIVE_STOP};
	const struct weir_strategy strategy = {.rules = &rule, .n_rules = 1};
	struct backoff_world world;

	/* The default decider restarts, elsewhere it would be escalated. */
	begin_on_failure(&world, 1, &strategy);
	backoff_tell(&world, FAIL);
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	backoff_end(&world);
	backoff_world_begin(&world, 1);
	world.options.strategy = &strategy;
	backoff_start(&world);
	backoff_tell(&world, FAIL);
	assert_int_equal(world.started, 2);
	assert_int_equal(world.made, 1);
	backoff_end(&world);
}

static int decide_by_code(struct weir_actor *supervisor,
			  const struct weir_failure *failure, void *context)
{
	uint32_t *asked = context;

	++*asked;
	return failure->error->code == -EIO ? WEIR_DIRECTIVE_RESTART : -EPROTO;
}

static void b8_5_a_decider_of_the_users_is_asked(void **state)
{
	uint32_t asked = 0;
	const struct weir_strategy strategy = {.decide = decide_by_code,
					       .context = &asked};
	struct backoff_world world;

	begin_on_failure(&world, 1, &strategy);
	backoff_tell(&world, FAIL);
	assert_int_equal(asked, 1);
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	/* It fails, so the supervisor does, and is restarted by /user. */
	backoff_tell(&world, FATAL);
	assert_int_equal(asked, 2);
	assert_int_equal(world.made, 3);
	assert_int_equal(backoff_count(&world), 0);
	backoff_end(&world);
}

/* --- B8.6: a new child ---------------------------------------------------- */

static void b8_6_the_new_child_has_a_new_reference_and_the_same_name(
	void **state)
{
	struct weir_actor_id before;
	struct backoff_world world;

	backoff_begin(&world, 1);
	before = child(&world);
	(void)next_delay(&world);
	assert_false(weir_actor_id_equal(child(&world), before));
	assert_false(weir_system_is_alive(world.base.system, before));
	assert_true(weir_actor_id_equal(
		weir_system_lookup(world.base.system, "/user/supervisor/child"),
		child(&world)));
	assert_true(weir_actor_id_equal(weir_system_parent(world.base.system,
							   child(&world)),
					world.ref));
	backoff_end(&world);
}

static void b8_6_a_name_of_the_users_is_kept_too(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.child.name = "client";
	backoff_start(&world);
	(void)next_delay(&world);
	assert_true(weir_actor_id_equal(
		weir_system_lookup(world.base.system,
				   "/user/supervisor/client"),
		child(&world)));
	backoff_end(&world);
}

static void b8_6_what_the_old_child_had_not_taken_is_dead_letters(void **state)
{
	struct backoff_world world;

	for_each_seed(seed, 20) {
		begin_on_failure(&world, seed, NULL);
		assert_int_equal(backoff_put(&world, FAIL), 0);
		assert_int_equal(backoff_put(&world, TAKE), 0);
		assert_int_equal(backoff_put(&world, TAKE), 0);
		world_settle(&world.base);
		assert_int_equal(world.dead, 2);
		assert_int_equal(
			weir_system_dead_letter_count(world.base.system), 2);
		(void)wait_for_child(&world);
		assert_int_equal(ledger_delivered(&world.base.ledger), 1);
		backoff_end(&world);
	}
}

/* --- B8.7: how often ------------------------------------------------------ */

static void b8_7_with_two_retries_the_third_end_is_the_last(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.max_retries = 2;
	world.options.strategy = &stops;
	backoff_start(&world);
	assert_int_equal(next_delay(&world), 3 * SECOND);
	assert_int_equal(next_delay(&world), 6 * SECOND);
	backoff_tell(&world, FAIL);
	assert_true(over(&world));
	/* Who watches learns of what the child ended. */
	assert_int_equal(world.fate.code, -EIO);
	assert_int_equal(world.made, 3);
	backoff_end(&world);
}

static void b8_7_on_failure_the_third_failure_is_the_last(void **state)
{
	struct backoff_world world;
	int i;

	backoff_world_begin(&world, 1);
	world.options.mode = WEIR_BACKOFF_ON_FAILURE;
	world.options.max_retries = 2;
	backoff_start(&world);
	for (i = 0; i < 2; i++) {
		backoff_tell(&world, FAIL);
		(void)wait_for_child(&world);
	}
	backoff_tell(&world, FAIL);
	assert_true(over(&world));
	assert_int_equal(world.made, 3);
	backoff_end(&world);
}

static void b8_7_without_retries_the_first_end_is_the_last(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.max_retries = 0;
	backoff_start(&world);
	backoff_tell(&world, FINISH);
	assert_true(over(&world));
	assert_int_equal(world.made, 1);
	backoff_end(&world);
}

static void b8_7_any_negative_number_is_no_limit(void **state)
{
	static const int32_t numbers[] = {-1, -2, INT32_MIN};
	struct backoff_world world;
	int i, j, mode;

	for (mode = 0; mode < 2; mode++) {
		for (i = 0; i < 3; i++) {
			backoff_world_begin(&world, 1);
			world.options.mode = (enum weir_backoff_mode)mode;
			world.options.max_retries = numbers[i];
			backoff_start(&world);
			for (j = 0; j < 50; j++) {
				backoff_tell(&world, mode ? FAIL : FINISH);
				(void)wait_for_child(&world);
			}
			assert_int_equal(backoff_count(&world), 50);
			backoff_end(&world);
		}
	}
}

static void b8_7_retries_count_from_the_last_reset(void **state)
{
	struct backoff_world world;
	int i;

	backoff_world_begin(&world, 1);
	world.options.max_retries = 1;
	backoff_start(&world);
	for (i = 0; i < 5; i++) {
		assert_int_equal(next_delay(&world), 3 * SECOND);
		world_advance(&world.base, 3 * SECOND);
	}
	(void)next_delay(&world);
	backoff_tell(&world, FINISH);
	assert_true(over(&world));
	backoff_end(&world);
}

/* --- B8.8: the count ------------------------------------------------------ */

static void b8_8_the_count_is_zero_again_after_min(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	(void)next_delay(&world);
	(void)next_delay(&world);
	assert_int_equal(backoff_count(&world), 2);
	world_advance(&world.base,
		      3 * SECOND - 1); /* E10: min is the default */
	assert_int_equal(backoff_count(&world), 2);
	world_advance(&world.base, 1);
	assert_int_equal(backoff_count(&world), 0);
	assert_int_equal(next_delay(&world), 3 * SECOND);
	backoff_end(&world);
}

static void e10_a_time_to_the_reset_can_be_given(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.backoff.reset_ns = 20 * SECOND;
	backoff_start(&world);
	(void)next_delay(&world);
	world_advance(&world.base, 20 * SECOND - 1);
	assert_int_equal(next_delay(&world), 6 * SECOND);
	world_advance(&world.base, 20 * SECOND);
	assert_int_equal(next_delay(&world), 3 * SECOND);
	backoff_end(&world);
}

static void b8_8_another_end_meanwhile_keeps_the_count(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	(void)next_delay(&world);
	world_advance(&world.base, 2 * SECOND);
	stop_child(&world);
	/* The reset of the start before would be due now. */
	world_advance(&world.base, SECOND);
	assert_int_equal(backoff_count(&world), 2);
	assert_int_equal(wait_for_child(&world), 5 * SECOND);
	world_advance(&world.base, 3 * SECOND - 1);
	assert_int_equal(backoff_count(&world), 2);
	backoff_end(&world);
}

static void b8_8_a_long_delay_is_no_time_without_failures(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	stop_child(&world);
	world_advance(&world.base, 3 * SECOND - 1);
	assert_int_equal(backoff_count(&world), 1);
	world_advance(&world.base, 1);
	assert_int_equal(backoff_count(&world), 1);
	backoff_end(&world);
}

static void b8_8_a_manual_reset_is_the_only_one(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.backoff.reset_ns = WEIR_FOREVER;
	backoff_start(&world);
	(void)next_delay(&world);
	(void)next_delay(&world);
	world_advance(&world.base, 10000 * DAY);
	assert_int_equal(backoff_count(&world), 2);
	assert_int_equal(weir_backoff_supervisor_reset(&world.supervisor), 0);
	assert_int_equal(backoff_count(&world), 0);
	assert_int_equal(next_delay(&world), 3 * SECOND);
	/* During a delay it does not change that delay. */
	stop_child(&world);
	assert_int_equal(weir_backoff_supervisor_reset(&world.supervisor), 0);
	assert_int_equal(wait_for_child(&world), 6 * SECOND);
	assert_int_equal(next_delay(&world), 3 * SECOND);
	backoff_end(&world);
}

static void b8_8_with_auto_reset_a_manual_one_is_refused(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	(void)next_delay(&world);
	assert_int_equal(weir_backoff_supervisor_reset(&world.supervisor),
			 -ENOTSUP);
	assert_int_equal(backoff_count(&world), 1);
	backoff_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b8_4_every_way_to_end_is_followed_by_a_delay),
		cmocka_unit_test(b8_4_a_start_that_fails_is_an_end),
		cmocka_unit_test(b8_4_a_restart_is_at_once_and_not_counted),
		cmocka_unit_test(
			b8_4_a_limit_on_ordinary_restarts_ends_the_child),
		cmocka_unit_test(
			b8_5_a_restart_becomes_a_stop_a_delay_and_a_new_child),
		cmocka_unit_test(
			b8_5_a_child_that_ends_by_itself_ends_the_supervisor),
		cmocka_unit_test(
			b8_5_a_child_that_is_stopped_ends_the_supervisor),
		cmocka_unit_test(
			b8_5_a_stop_ends_the_supervisor_with_the_childs_error),
		cmocka_unit_test(b8_5_resume_is_unchanged),
		cmocka_unit_test(b8_5_escalate_is_unchanged),
		cmocka_unit_test(
			b8_5_rules_that_do_not_match_leave_it_to_the_default),
		cmocka_unit_test(b8_5_a_decider_of_the_users_is_asked),
		cmocka_unit_test(
			b8_6_the_new_child_has_a_new_reference_and_the_same_name),
		cmocka_unit_test(b8_6_a_name_of_the_users_is_kept_too),
		cmocka_unit_test(
			b8_6_what_the_old_child_had_not_taken_is_dead_letters),
		cmocka_unit_test(
			b8_7_with_two_retries_the_third_end_is_the_last),
		cmocka_unit_test(b8_7_on_failure_the_third_failure_is_the_last),
		cmocka_unit_test(
			b8_7_without_retries_the_first_end_is_the_last),
		cmocka_unit_test(b8_7_any_negative_number_is_no_limit),
		cmocka_unit_test(b8_7_retries_count_from_the_last_reset),
		cmocka_unit_test(b8_8_the_count_is_zero_again_after_min),
		cmocka_unit_test(e10_a_time_to_the_reset_can_be_given),
		cmocka_unit_test(b8_8_another_end_meanwhile_keeps_the_count),
		cmocka_unit_test(b8_8_a_long_delay_is_no_time_without_failures),
		cmocka_unit_test(b8_8_a_manual_reset_is_the_only_one),
		cmocka_unit_test(b8_8_with_auto_reset_a_manual_one_is_refused),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
