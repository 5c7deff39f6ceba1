/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The back-off supervisor: what is put, the child's slow death, races, starts
 * that fail, memory. Rule numbers like B8.10 are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/backoff_kit.h"

/* --- B8.10: what is put --------------------------------------------------- */

static void b8_10_items_go_to_the_child(void **state)
{
	struct backoff_world world;
	int i;

	for_each_seed(seed, 20) {
		backoff_begin(&world, seed);
		for (i = 0; i < 10; i++)
			backoff_tell(&world, TAKE);
		(void)next_delay(&world);
		for (i = 0; i < 10; i++)
			backoff_tell(&world, TAKE);
		assert_int_equal(ledger_delivered(&world.base.ledger), 20);
		assert_int_equal(world.dead, 0);
		backoff_end(&world);
	}
}

static void b8_10_a_full_child_leaves_the_item_to_the_sender(void **state)
{
	struct backoff_world world;
	int i;

	backoff_begin(&world, 1);
	for (i = 0; i < CAPACITY; i++)
		assert_int_equal(backoff_put(&world, TAKE), 0);
	assert_int_equal(backoff_put(&world, TAKE), -EAGAIN);
	world_settle(&world.base);
	assert_int_equal(ledger_delivered(&world.base.ledger), CAPACITY);
	backoff_end(&world);
}

static void b8_10_before_its_start_it_says_try_again(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	supervisor_spawn(&world, WEIR_ACTOR_ID_NONE);
	assert_int_equal(backoff_put(&world, TAKE), -EAGAIN);
	assert_int_equal(backoff_put(&world, LAST), -EAGAIN);
	world_settle(&world.base);
	backoff_tell(&world, TAKE);
	/* That was not final. */
	assert_int_equal(next_delay(&world), 3 * SECOND);
	backoff_end(&world);
}

static void b8_10_after_its_end_it_says_so(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	assert_int_equal(weir_system_stop_actor(world.base.system, world.ref),
			 0);
	world_settle(&world.base);
	assert_true(over(&world));
	assert_false(has_child(&world));
	assert_int_equal(backoff_put(&world, TAKE), -EPIPE);
	assert_int_equal(weir_backoff_supervisor_end(&world.supervisor), 0);
	world_settle(&world.base);
	backoff_end(&world);
}

static void b8_10_without_a_child_items_are_dead_letters(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	stop_child(&world);
	assert_int_equal(backoff_put(&world, TAKE), 1);
	assert_int_equal(backoff_put(&world, TAKE), 1);
	assert_int_equal(world.dead, 2);
	assert_int_equal(weir_system_dead_letter_count(world.base.system), 2);
	assert_int_equal(ledger_dropped(&world.base.ledger), 2);
	backoff_end(&world);
}

static void b8_10_without_a_child_a_code_can_be_the_answer(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.absent_code = -EHOSTDOWN;
	backoff_start(&world);
	backoff_tell(&world, TAKE);
	stop_child(&world);
	assert_int_equal(backoff_put(&world, TAKE), -EHOSTDOWN);
	assert_int_equal(world.dead, 0);
	(void)wait_for_child(&world);
	backoff_tell(&world, TAKE);
	backoff_end(&world);
}

static void b8_10_without_a_child_a_function_can_be_asked(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.absent_code = -EHOSTDOWN; /* the function is asked */
	world.options.absent = on_absent;
	backoff_start(&world);
	backoff_tell(&world, TAKE);
	assert_int_equal(world.asked, 0);
	stop_child(&world);
	assert_int_equal(backoff_put(&world, TAKE), 0);
	world.answer = -EBUSY;
	assert_int_equal(backoff_put(&world, TAKE), -EBUSY);
	assert_int_equal(world.asked, 2);
	assert_int_equal(ledger_delivered(&world.base.ledger), 2);
	backoff_end(&world);
}

static void b8_10_a_child_without_an_input_gets_nothing(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.no_input = true;
	backoff_start(&world);
	assert_true(has_child(&world));
	assert_int_equal(backoff_put(&world, TAKE), 1);
	backoff_end(&world);
}

/* A parent with an in-port; the supervisor is its child. */
static void b8_10_what_the_child_puts_up_goes_to_the_parent(void **state)
{
	struct backoff_world world;
	struct sink parent;
	struct weir_actor_id ref;

	backoff_world_begin(&world, 1);
	sink_init(&parent, world.base.executor, &world.base.ledger, 4);
	assert_int_equal(weir_system_spawn(world.base.system,
					   WEIR_ACTOR_ID_NONE, &parent.actor,
					   NULL, &ref),
			 0);
	world.options.up = &parent.in;
	supervisor_spawn(&world, ref);
	world_settle(&world.base);
	assert_int_equal(
		weir_backoff_supervisor_put_up(&world.supervisor,
					       ledger_make(&world.base.ledger,
							   ++world.items)),
		0);
	world_settle(&world.base);
	assert_int_equal(parent.seen, 1);
	backoff_end(&world);
	fate_check(&parent.fate, -ECANCELED);
}

static void b8_10_there_may_be_nobody_above(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	assert_int_equal(weir_backoff_supervisor_put_up(&world.supervisor,
							NULL),
			 -ENOTSUP);
	backoff_end(&world);
}

/* --- B8.11: the slow death ------------------------------------------------ */

static void b8_11_a_child_that_is_dying_is_the_child_still(void **state)
{
	struct weir_actor_id before;
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.slow = true;
	world.options.child.shutdown_ns = WEIR_FOREVER;
	backoff_start(&world);
	before = child(&world);
	assert_int_equal(weir_system_stop_actor(world.base.system, before), 0);
	world_advance(&world.base, 10 * SECOND);
	assert_true(weir_actor_id_equal(child(&world), before));
	assert_int_equal(backoff_count(&world), 0);
	assert_int_equal(world.made, 1);
	backoff_tell(&world, FINISH);
	assert_false(has_child(&world));
	assert_int_equal(backoff_count(&world), 1);
	/* The delay begins with its end. */
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	backoff_end(&world);
}

static void b8_11_the_time_to_die_can_be_bounded(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.slow = true;
	world.options.child.shutdown_ns = 5 * SECOND;
	backoff_start(&world);
	assert_int_equal(
		weir_system_stop_actor(world.base.system, child(&world)), 0);
	world_advance(&world.base, 5 * SECOND - 1);
	assert_true(has_child(&world));
	world_advance(&world.base, 1);
	assert_false(has_child(&world));
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	backoff_end(&world);
}

static void b8_11_a_child_that_fails_while_it_dies_is_not_restarted(
	void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.slow = true;
	backoff_start(&world);
	assert_int_equal(
		weir_system_stop_actor(world.base.system, child(&world)), 0);
	world_settle(&world.base);
	backoff_tell(&world, FAIL);
	assert_false(has_child(&world));
	assert_int_equal(world.started, 1);
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	backoff_end(&world);
}

/* --- B8.13: races --------------------------------------------------------- */

static void b8_13_a_pending_delay_is_harmless_after_a_stop(void **state)
{
	struct backoff_world world;

	for_each_seed(seed, 20) {
		backoff_begin(&world, seed);
		stop_child(&world);
		world_advance(&world.base, seed % 2 ? 3 * SECOND - 1 : SECOND);
		assert_int_equal(weir_system_stop_actor(world.base.system,
							world.ref),
				 0);
		weir_sim_run(world.base.sim);
		assert_true(over(&world));
		assert_int_equal(world.made, 1);
		backoff_end(&world);
	}
}

/* Anything at any time. */
static void do_something(struct backoff_world *world)
{
	switch (weir_sim_random(world->base.sim, 12)) {
	case 0:
		(void)weir_system_stop_actor(world->base.system, child(world));
		break;
	case 1:
		(void)weir_system_poison(world->base.system, child(world));
		break;
	case 2:
		(void)weir_system_kill(world->base.system, child(world));
		break;
	case 3:
		(void)backoff_put(world, FAIL);
		break;
	case 4:
		(void)backoff_put(world, FINISH);
		break;
	case 5:
		world_advance(&world->base,
			      weir_sim_random(world->base.sim, 10) * SECOND);
		break;
	case 6:
		world->fails = (uint32_t)weir_sim_random(world->base.sim, 3);
		world->code = -EIO;
		break;
	case 7:
		world_settle(&world->base);
		break;
	default:
		(void)backoff_put(world, TAKE);
	}
}

static void last_thing(struct backoff_world *world)
{
	switch (weir_sim_random(world->base.sim, 4)) {
	case 0:
		(void)weir_system_stop_actor(world->base.system, world->ref);
		break;
	case 1:
		(void)weir_backoff_supervisor_end(&world->supervisor);
		break;
	case 2:
		(void)backoff_put(world, LAST);
		break;
	default:
		weir_system_stop(world->base.system);
	}
}

static void b8_13_whatever_happens_when_there_is_one_child_at_most(void **state)
{
	uint64_t steps, i;
	struct backoff_world world;

	for_each_seed(seed, test_count(2000)) {
		backoff_world_begin(&world, seed);
		world.options.mode = seed % 4 ? WEIR_BACKOFF_ON_STOP
					      : WEIR_BACKOFF_ON_FAILURE;
		world.options.backoff.random_factor = 0.5;
		world.options.strategy = seed % 3 ? NULL : &stops;
		world.slow = seed % 5 == 0;
		world.options.child.shutdown_ns = 2 * SECOND;
		supervisor_spawn(&world, WEIR_ACTOR_ID_NONE);
		steps = weir_sim_random(world.base.sim, 40);
		for (i = 0; i < steps; i++) {
			do_something(&world);
			if (weir_sim_random(world.base.sim, 2))
				(void)weir_sim_step(world.base.sim);
		}
		last_thing(&world);
		for (i = weir_sim_random(world.base.sim, 4); i > 0; i--)
			do_something(&world);
		backoff_end(&world);
	}
}

/* A final item and the child's end at the same time: one of two outcomes. */
static void b8_12_b8_13_a_final_item_meets_the_childs_end(void **state)
{
	uint64_t i;
	struct backoff_world world;
	int rc;

	for_each_seed(seed, test_count(500)) {
		backoff_begin(&world, seed);
		(void)weir_system_stop_actor(world.base.system, child(&world));
		for (i = seed % 7; i > 0; i--)
			(void)weir_sim_step(world.base.sim);
		rc = backoff_put(&world, LAST);
		assert_true(rc == 0 || rc == 1);
		world_settle(&world.base);
		assert_true(over(&world));
		assert_true(world.made <= 2);
		backoff_end(&world);
	}
}

/* --- Failed starts -------------------------------------------------------- */

static void a_child_that_cannot_be_made_is_tried_again_later(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.fails = 2;
	world.code = -ENETDOWN;
	backoff_start(&world);
	assert_false(has_child(&world));
	assert_int_equal(backoff_count(&world), 1);
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	assert_int_equal(wait_for_child(&world), 6 * SECOND);
	assert_true(has_child(&world));
	assert_int_equal(backoff_count(&world), 2);
	world_advance(&world.base, 3 * SECOND);
	assert_int_equal(backoff_count(&world), 0);
	backoff_end(&world);
}

static void on_failure_too_a_child_that_cannot_be_made_is_tried_again(
	void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.mode = WEIR_BACKOFF_ON_FAILURE;
	world.fails = 1;
	world.code = 1; /* no meaning: as -EINVAL */
	backoff_start(&world);
	assert_false(over(&world));
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	backoff_tell(&world, FINISH);
	assert_true(over(&world));
	backoff_end(&world);
}

static void a_factory_that_makes_nothing_has_failed(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.max_retries = 0;
	world.fails = 1;
	world.code = 0;
	backoff_start(&world);
	assert_true(over(&world));
	assert_int_equal(world.fate.code, -EINVAL);
	backoff_end(&world);
}

static void an_input_of_somebody_elses_is_refused(void **state)
{
	struct backoff_world world;
	struct sink other;

	backoff_world_begin(&world, 1);
	sink_init(&other, world.base.executor, &world.base.ledger, 1);
	world.foreign = &other.in;
	backoff_start(&world);
	assert_false(has_child(&world));
	assert_int_equal(world.released, 1);
	world.foreign = NULL;
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	backoff_tell(&world, TAKE);
	weir_actor_stop(&other.actor);
	backoff_end(&world);
}

static void failed_starts_count_against_the_retries(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.options.max_retries = 1;
	world.fails = 5;
	world.code = -ENETDOWN;
	backoff_start(&world);
	world_advance(&world.base, 3 * SECOND);
	assert_true(over(&world));
	assert_int_equal(world.fate.code, -ENETDOWN);
	assert_int_equal(world.made, 2);
	backoff_end(&world);
}

static void a_child_that_cannot_be_spawned_is_let_go(void **state)
{
	struct backoff_world world;

	backoff_world_begin(&world, 1);
	world.bad_from = 2; /* it has been started already */
	backoff_start(&world);
	stop_child(&world);
	assert_int_equal(wait_for_child(&world), 3 * SECOND);
	assert_int_equal(world.alive, 0);
	assert_int_equal(world.released, 2);
	assert_int_equal(wait_for_child(&world), 6 * SECOND);
	backoff_end(&world);
}

static void on_drained(struct weir_ending *drain)
{
	assert_int_equal(drain->actors_left, 0);
}

static void when_the_executor_drains_it_ends(void **state)
{
	struct weir_ending drain = {.done = on_drained};
	struct backoff_world world;

	for_each_seed(seed, 20) {
		backoff_begin(&world, seed);
		if (seed % 2)
			stop_child(&world);
		else
			assert_int_equal(backoff_put(&world, TAKE), 0);
		assert_int_equal(weir_executor_end_async(world.base.executor,
							 &drain, WEIR_FOREVER),
				 0);
		weir_sim_run(world.base.sim);
		assert_true(over(&world));
		assert_int_equal(world.made, 1);
		backoff_end(&world);
	}
}

static void a_factory_can_say_never_again(void **state)
{
	struct backoff_world world;

	backoff_begin(&world, 1);
	world.fails = 1;
	world.code = -ESHUTDOWN;
	stop_child(&world);
	world_advance(&world.base, 3 * SECOND);
	assert_true(over(&world));
	assert_int_equal(world.fate.code, -ESHUTDOWN);
	assert_int_equal(world.made, 2);
	backoff_end(&world);
}

/* --- Memory --------------------------------------------------------------- */

/* What there is memory for is done, and nothing is lost. */
static void lean_times(size_t fail, size_t *calls)
{
	struct backoff_world world;
	uint64_t i;
	bool began = false;

	backoff_world_init(&world, 1, fail);
	if (world.base.executor && backoff_system(&world, 1) == 0 &&
	    weir_backoff_supervisor_init(&world.supervisor, world.base.executor,
					 &world.options) == 0) {
		began = true;
		weir_actor_ref(&world.supervisor.actor);
		if (weir_system_spawn(world.base.system, WEIR_ACTOR_ID_NONE,
				      &world.supervisor.actor, NULL,
				      &world.ref) != 0)
			weir_actor_stop(&world.supervisor.actor);
		for (i = 0; i < 6; i++) {
			world_settle(&world.base);
			(void)backoff_put(&world, i % 3 ? TAKE : FINISH);
			world_advance(&world.base, 10 * SECOND);
		}
		/* It is not stuck. */
		assert_true(over(&world) || has_child(&world));
	}
	*calls = world.base.heap.calls;
	/* The end of a world needs no memory. */
	if (began)
		backoff_end(&world);
	else
		backoff_close(&world);
}

static void whatever_memory_is_missing_nothing_is_lost(void **state)
{
	size_t calls, most, fail;

	lean_times(0, &most);
	for (fail = 1; fail <= most; fail++)
		lean_times(fail, &calls);
	assert_true(most > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(b8_10_items_go_to_the_child),
		cmocka_unit_test(
			b8_10_a_full_child_leaves_the_item_to_the_sender),
		cmocka_unit_test(b8_10_before_its_start_it_says_try_again),
		cmocka_unit_test(b8_10_after_its_end_it_says_so),
		cmocka_unit_test(b8_10_without_a_child_items_are_dead_letters),
		cmocka_unit_test(
			b8_10_without_a_child_a_code_can_be_the_answer),
		cmocka_unit_test(b8_10_without_a_child_a_function_can_be_asked),
		cmocka_unit_test(b8_10_a_child_without_an_input_gets_nothing),
		cmocka_unit_test(
			b8_10_what_the_child_puts_up_goes_to_the_parent),
		cmocka_unit_test(b8_10_there_may_be_nobody_above),
		cmocka_unit_test(
			b8_11_a_child_that_is_dying_is_the_child_still),
		cmocka_unit_test(b8_11_the_time_to_die_can_be_bounded),
		cmocka_unit_test(
			b8_11_a_child_that_fails_while_it_dies_is_not_restarted),
		cmocka_unit_test(
			b8_13_a_pending_delay_is_harmless_after_a_stop),
		cmocka_unit_test(
			b8_13_whatever_happens_when_there_is_one_child_at_most),
		cmocka_unit_test(b8_12_b8_13_a_final_item_meets_the_childs_end),
		cmocka_unit_test(
			a_child_that_cannot_be_made_is_tried_again_later),
		cmocka_unit_test(
			on_failure_too_a_child_that_cannot_be_made_is_tried_again),
		cmocka_unit_test(a_factory_that_makes_nothing_has_failed),
		cmocka_unit_test(an_input_of_somebody_elses_is_refused),
		cmocka_unit_test(failed_starts_count_against_the_retries),
		cmocka_unit_test(a_child_that_cannot_be_spawned_is_let_go),
		cmocka_unit_test(when_the_executor_drains_it_ends),
		cmocka_unit_test(a_factory_can_say_never_again),
		cmocka_unit_test(whatever_memory_is_missing_nothing_is_lost),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
