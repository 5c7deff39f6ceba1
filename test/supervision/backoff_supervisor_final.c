/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-off supervisor: final items, and its own restarts. Rule numbers like
 * B8.12 are those of docs/conformance/supervision.md.
 */
#include "supervision/backoff_kit.h"

/* --- A boss who restarts it, whatever the failure ------------------------- */

static int restart_all(struct weir_actor *supervisor,
		       const struct weir_failure *failure, void *context)
{
	return WEIR_DIRECTIVE_RESTART;
}

struct boss {
	struct weir_actor actor;
	struct fate fate;
};

static inline int boss_turn(struct weir_actor *actor)
{
	return 0;
}
WEIR_TURN(boss_turn)

static void boss_stopped(struct weir_actor *actor, struct weir_error *error)
{
	fate_stopped(&weir_container_of(actor, struct boss, actor)->fate,
		     error);
}

static void boss_released(struct weir_actor *actor)
{
	fate_released(&weir_container_of(actor, struct boss, actor)->fate);
}

static const struct weir_strategy boss_strategy = {.decide = restart_all};
static const struct weir_lifecycle boss_life = {.strategy = &boss_strategy};
static const struct weir_actor_ops boss_ops = {
	.name = "boss",
	.turns = boss_turn_n,
	.stopped = boss_stopped,
	.released = boss_released,
	.lifecycle = &boss_life,
};

static void begin_with_boss(struct backoff_world *world, struct boss *boss,
			    uint64_t seed)
{
	struct weir_actor_id ref;

	memset(boss, 0, sizeof(*boss));
	backoff_world_begin(world, seed);
	assert_int_equal(weir_actor_init(&boss->actor, &boss_ops,
					 world->base.executor),
			 0);
	assert_int_equal(weir_system_spawn(world->base.system,
					   WEIR_ACTOR_ID_NONE, &boss->actor,
					   NULL, &ref),
			 0);
	supervisor_spawn(world, ref);
	world_settle(&world->base);
}

/* --- B8.12: the final item ------------------------------------------------ */

static void b8_12_after_the_final_item_the_childs_end_is_the_end(void **state)
{
	struct backoff_world world;

	for_each_seed(seed, 20) {
		backoff_begin(&world, seed);
		assert_int_equal(backoff_put(&world, TAKE), 0);
		assert_int_equal(backoff_put(&world, LAST), 0);
		world_settle(&world.base);
		assert_int_equal(ledger_delivered(&world.base.ledger), 2);
		assert_true(over(&world));
		assert_int_equal(world.fate.code, 0);
		assert_int_equal(world.made, 1);
		backoff_end(&world);
	}
}

static void b8_12_a_final_item_without_a_child_ends_at_once(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	stop_child(&world);
	assert_int_equal(backoff_put(&world, LAST), 1);
	assert_int_equal(world.dead, 1);
	world_settle(&world.base);
	assert_true(over(&world));
	assert_int_equal(world.made, 1);
	backoff_end(&world);
}

static void b8_12_it_ends_whatever_the_sender_is_told(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.absent_code = -EHOSTDOWN;
	backoff_start(&world);
	stop_child(&world);
	assert_int_equal(backoff_put(&world, LAST), -EHOSTDOWN);
	world_settle(&world.base);
	assert_true(over(&world));
	backoff_end(&world);
}

static void b8_12_a_final_item_that_is_not_taken_is_not_final(void **state)
{
	struct backoff_world world;
	int i;

	backoff_begin(&world, 1);
	for (i = 0; i < CAPACITY; i++)
		assert_int_equal(backoff_put(&world, TAKE), 0);
	assert_int_equal(backoff_put(&world, LAST), -EAGAIN);
	world_settle(&world.base);
	assert_int_equal(next_delay(&world), 3 * SECOND);
	assert_false(over(&world));
	backoff_end(&world);
}

static void b8_12_finish_waits_for_the_child(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	assert_int_equal(weir_backoff_supervisor_end(&world.supervisor), 0);
	assert_int_equal(weir_backoff_supervisor_end(&world.supervisor), 0);
	world_advance(&world.base, DAY);
	assert_false(over(&world));
	backoff_tell(&world, TAKE);
	assert_int_equal(backoff_put(&world, FAIL), 0);
	world_settle(&world.base);
	/* An ordinary restart is no end. */
	assert_int_equal(world.started, 2);
	backoff_tell(&world, FINISH);
	assert_true(over(&world));
	assert_int_equal(world.fate.code, 0);
	backoff_end(&world);
}

static void b8_12_finish_during_a_delay_ends_at_once(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	stop_child(&world);
	assert_int_equal(weir_backoff_supervisor_end(&world.supervisor), 0);
	world_settle(&world.base);
	assert_true(over(&world));
	assert_int_equal(world.made, 1);
	backoff_end(&world);
}

static void b8_12_an_end_that_was_asked_for_is_a_good_one(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.strategy = &stops;
	backoff_start(&world);
	assert_int_equal(weir_backoff_supervisor_end(&world.supervisor), 0);
	backoff_tell(&world, FAIL);
	assert_true(over(&world));
	assert_int_equal(world.fate.code, 0);
	backoff_end(&world);
}

static void b8_12_finish_while_a_child_is_made_is_at_once(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	stop_child(&world);
	world.finishes = true;
	(void)wait_for_child(&world);
	assert_true(over(&world));
	assert_int_equal(world.made, 2);
	assert_int_equal(world.released, 2);
	backoff_end(&world);
}

/* As another thread that has put it and not come back yet. */
static void final_item_under_way(struct backoff_world *world, bool is)
{
	world->supervisor.finals = is;
	weir_actor_signal(&world->supervisor.actor);
	world_settle(&world->base);
}

static void b8_12_while_a_final_item_is_put_the_end_is_not_decided(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	final_item_under_way(&world, true);
	stop_child(&world);
	world_advance(&world.base, DAY);
	assert_int_equal(backoff_count(&world), 0);
	assert_int_equal(world.made, 1);
	/* The child has not taken it. */
	final_item_under_way(&world, false);
	assert_int_equal(backoff_count(&world), 1);
	weir_actor_signal(&world.supervisor.actor);
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	assert_int_equal(backoff_count(&world), 1);
	backoff_end(&world);
}

static void b8_12_nor_is_another_child_made_by_a_restart(void **state)
{
	struct boss boss;
	struct backoff_world world;

	begin_with_boss(&world, &boss, 1);
	final_item_under_way(&world, true);
	assert_int_equal(weir_system_kill(world.base.system, world.ref), 0);
	world_advance(&world.base, DAY);
	assert_false(has_child(&world));
	assert_int_equal(world.made, 1);
	final_item_under_way(&world, false);
	assert_int_equal(world.made, 2);
	assert_true(has_child(&world));
	assert_int_equal(backoff_count(&world), 0);
	backoff_end(&world);
}

/* --- The supervisor is supervised ----------------------------------------- */

static void its_own_restart_begins_anew_with_a_new_child(void **state)
{
	struct boss boss;
	struct backoff_world world;

	for_each_seed(seed, 20) {
		begin_with_boss(&world, &boss, seed);
		(void)next_delay(&world);
		(void)next_delay(&world);
		assert_int_equal(backoff_count(&world), 2);
		backoff_tell(&world,
			     FATAL); /* is escalated, the boss restarts */
		assert_int_equal(
			weir_system_restarts(world.base.system, world.ref), 1);
		assert_int_equal(backoff_count(&world), 0);
		assert_int_equal(world.made, 4);
		assert_int_equal(world.released, 3);
		assert_true(has_child(&world));
		assert_int_equal(next_delay(&world), 3 * SECOND);
		backoff_end(&world);
	}
}

static void its_own_restart_ends_a_delay(void **state)
{
	struct boss boss;
	struct backoff_world world;

	for_each_seed(seed, 20) {
		begin_with_boss(&world, &boss, seed);
		stop_child(&world);
		assert_int_equal(weir_system_kill(world.base.system, world.ref),
				 0);
		world_settle(&world.base);
		assert_int_equal(world.made, 2);
		assert_true(has_child(&world));
		world_advance(&world.base, DAY);
		assert_int_equal(world.made, 2);
		backoff_end(&world);
	}
}

static void its_own_restart_does_not_undo_finish(void **state)
{
	struct boss boss;
	struct backoff_world world;

	begin_with_boss(&world, &boss, 1);
	assert_int_equal(weir_backoff_supervisor_end(&world.supervisor), 0);
	world_settle(&world.base);
	backoff_tell(&world, FATAL);
	assert_true(over(&world));
	assert_int_equal(world.made, 1);
	backoff_end(&world);
}

/* As it would when it finishes. */
static void a_permanent_supervisor_that_gives_up_is_restarted(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.restart = WEIR_RESTART_PERMANENT;
	world.options.max_retries = 1;
	world.options.strategy = &stops;
	backoff_start(&world);
	backoff_tell(&world, FAIL);
	(void)wait_for_child(&world);
	backoff_tell(&world, FAIL);
	assert_false(over(&world));
	assert_int_equal(weir_system_restarts(world.base.system, world.ref), 1);
	assert_int_equal(world.made, 3);
	assert_int_equal(backoff_count(&world), 0);
	backoff_end(&world);
}

static void a_permanent_supervisor_that_is_finished_begins_anew(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.restart = WEIR_RESTART_PERMANENT;
	backoff_start(&world);
	assert_int_equal(backoff_put(&world, LAST), 0);
	world_settle(&world.base);
	assert_int_equal(weir_system_restarts(world.base.system, world.ref), 1);
	assert_int_equal(world.made, 2);
	assert_int_equal(next_delay(&world), 3 * SECOND);
	backoff_end(&world);
}

static void other_children_of_it_are_none_of_its_business(void **state)
{
	struct weir_actor_id other;
	struct child *more;
	struct backoff_world world;

	begin_on_failure(&world, 1, NULL);
	more = child_new(&world);
	assert_int_equal(weir_system_spawn(world.base.system, world.ref,
					   &more->actor, NULL, &other),
			 0);
	world_settle(&world.base);
	/* It fails, and is restarted as by default. */
	world.what[ITEMS] = FAIL;
	assert_int_equal(weir_in_put(&more->in,
				     ledger_make(&world.base.ledger, ITEMS)),
			 0);
	world_settle(&world.base);
	assert_int_equal(weir_system_restarts(world.base.system, other), 1);
	assert_int_equal(weir_system_stop_actor(world.base.system, other), 0);
	world_settle(&world.base);
	assert_int_equal(backoff_count(&world), 0);
	assert_true(has_child(&world));
	backoff_tell(&world, FAIL);
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	backoff_end(&world);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(
			b8_12_after_the_final_item_the_childs_end_is_the_end),
		cmocka_unit_test(
			b8_12_a_final_item_without_a_child_ends_at_once),
		cmocka_unit_test(b8_12_it_ends_whatever_the_sender_is_told),
		cmocka_unit_test(
			b8_12_a_final_item_that_is_not_taken_is_not_final),
		cmocka_unit_test(b8_12_finish_waits_for_the_child),
		cmocka_unit_test(b8_12_finish_during_a_delay_ends_at_once),
		cmocka_unit_test(b8_12_an_end_that_was_asked_for_is_a_good_one),
		cmocka_unit_test(b8_12_finish_while_a_child_is_made_is_at_once),
		cmocka_unit_test(
			b8_12_while_a_final_item_is_put_the_end_is_not_decided),
		cmocka_unit_test(b8_12_nor_is_another_child_made_by_a_restart),
		cmocka_unit_test(its_own_restart_begins_anew_with_a_new_child),
		cmocka_unit_test(its_own_restart_ends_a_delay),
		cmocka_unit_test(its_own_restart_does_not_undo_finish),
		cmocka_unit_test(
			a_permanent_supervisor_that_gives_up_is_restarted),
		cmocka_unit_test(
			a_permanent_supervisor_that_is_finished_begins_anew),
		cmocka_unit_test(other_children_of_it_are_none_of_its_business),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
