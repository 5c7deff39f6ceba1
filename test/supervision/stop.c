/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stops by weir_system_stop_actor() and by verdict: their order, and that they
 * are for good (B5, E8). Rule numbers like B5 are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/kit.h"

static const struct weir_backoff one_second = {
	.min_ns = SECOND,
	.max_ns = SECOND,
};
static const struct weir_strategy slow = {BY_CODE, .backoff = &one_second};

/* Also E8: what is left is told of, and dropped. */
static void b5_1_a_stop_overtakes_what_is_queued(struct world *world)
{
	add(world, NULL, "a");
	give(world, "a", 1);
	assert_int_equal(put(world, "a", 2, 4), 0);
	stop(world, "a");
	run(world);
	assert_told(world, "a",
		    "a1.pre_start a1.1 a1.post_stop a1.dead2 a1.dead3 "
		    "a1.dead4");
	assert_int_equal(ledger_dropped(&world->ledger), 3);
	assert_int_equal(weir_system_dead_letter_count(world->system), 3);
	assert_int_equal(put(world, "a", 5, 5), -ESRCH);
}

static void b5_1_a_stop_lets_the_turn_under_way_end(struct world *world)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .stop = "a"},
	};
	static const struct role roles[] = {{"a", .peeks = true}};

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "a");
	feed(world, "a", 1, 3);
	assert_told(world, "a", "a1.pre_start a1.1 a1.2 a1.post_stop a1.dead3");
	assert_int_equal(world->ledger.delivered[2 - 1], 1);
}

/* By weir_actor_stop(): the same, but it is not asked. Its children are. */
static void b5_1_an_actor_can_be_stopped_by_its_address(struct world *world)
{
	static const struct role roles[] = {
		{"a", USUAL | HOOK(STOPPING),
		 .restart = WEIR_RESTART_PERMANENT},
		{"b", USUAL | HOOK(STOPPING)},
	};
	static const struct step steps[] = {
		{"a", STOPPING, .rc = 1},
		{"b", STOPPING, .rc = 1},
		{"b", TURN, .item = 9, .finish = true},
	};

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "a");
	add(world, "a", "b");
	run(world);
	assert_int_equal(put(world, "a", 1, 1), 0);
	weir_actor_stop(&member(world, "a")->actor);
	run(world);
	assert_told(world, "b", "b1.pre_start b1.stopping");
	give(world, "b", 9);
	assert_told(world, "a", "a1.pre_start a1.post_stop a1.dead1");
	assert_int_equal(member(world, "a")->fate.code, -ECANCELED);
}

static void b5_1_one_that_waits_for_a_verdict_stops_at_once(struct world *world)
{
	static const struct step steps[] = {{"a", TURN, .fail = RESTART}};

	world->top = &slow;
	SCRIPT(world, steps);
	add(world, NULL, "a");
	assert_int_equal(put(world, "a", 1, 2), 0);
	run_until(world, 500 * MS);
	stop(world, "a");
	run_until(world, 500 * MS);
	assert_false(alive(world, "a"));
	run(world);
	assert_told(world, "a", "a1.pre_start a1.1 a1.post_stop a1.dead2");
}

static void b5_2_children_end_before_their_parents(struct world *world)
{
	static const char *const pairs[][2] = {
		{"b1.post_stop", "a1.post_stop"},
		{"c1.post_stop", "a1.post_stop"},
		{"d1.post_stop", "b1.post_stop"},
		{"e1.post_stop", "b1.post_stop"},
		{"f1.post_stop", "e1.post_stop"},
	};
	size_t i;

	add(world, NULL, "a");
	add(world, "a", "b");
	add(world, "a", "c");
	add(world, "b", "d");
	add(world, "b", "e");
	add(world, "e", "f");
	add(world, NULL, "other");
	run(world);
	stop(world, "a");
	run(world);
	for (i = 0; i < LENGTH(pairs); i++)
		assert_true(before(world, pairs[i][0], pairs[i][1]));
	assert_true(alive(world, "other"));
}

static void b5_2_a_stopping_actor_runs_nothing_and_hears_nothing(
	struct world *world)
{
	static const struct role roles[] = {
		{"a", .hooks = USUAL | HOOK(TERMINATED)},
		{"b", .hooks = USUAL | HOOK(STOPPING)},
	};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .watch = "b"},
		{"b", STOPPING, .rc = 1},
		{"b", TURN, .item = 2, .finish = true},
	};

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "a");
	add(world, "a", "b");
	give(world, "a", 1);
	stop(world, "a");
	run(world);
	assert_told(world, "b", "b1.pre_start b1.stopping");
	give(world, "a", 3);
	weir_actor_signal(&member(world, "a")->actor);
	run(world);
	assert_told(world, "a", "a1.pre_start a1.1");
	give(world, "b", 2);
	assert_told(world, "a", "a1.pre_start a1.1 a1.post_stop a1.dead3");
}

static void b5_2_the_parent_is_told_and_then_who_watches(struct world *world)
{
	static const struct role roles[] = {
		{"a", .hooks = USUAL | HOOK(TERMINATED) | HOOK(CHILD_ENDED)},
	};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .watch = "b"},
		{"a", CHILD_ENDED, .spawn = "b"},
	};

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "a");
	add(world, "a", "b");
	give(world, "a", 1);
	assert_int_equal(put(world, "b", 2, 2), 0);
	stop(world, "b");
	run(world);
	assert_told(world, "a",
		    "a1.pre_start a1.1 a1.child_ended a1.terminated");
	assert_true(before(world, "b1.post_stop", "b1.dead2"));
	assert_true(before(world, "b1.dead2", "a1.child_ended"));
	/* the name was free by then */
	assert_int_equal(member(world, "a")->rc, 0);
	assert_true(alive(world, "b"));
}

static void b5_3_a_post_stop_that_fails_is_told_and_no_more(struct world *world)
{
	static const struct step steps[] = {
		{"b", POST_STOP, .rc = RESTART},
		{"c", POST_STOP, .fail = RESTART},
	};

	SCRIPT(world, steps);
	add(world, NULL, "a");
	add(world, "a", "b");
	add(world, "a", "c");
	run(world);
	stop(world, "a");
	run(world);
	assert_int_equal(times(world, "hook(b)"), 1);
	assert_int_equal(times(world, "restart(b)"), 0);
	assert_false(alive(world, "a"));
	assert_int_equal(member(world, "b")->fate.code, -ECANCELED);
	assert_int_equal(member(world, "c")->fate.code, -ECANCELED);
}

/* It fails before, while or after it is told to stop. */
static void b5_3_no_verdict_revives_one_that_stops(struct world *world)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"b", TURN, .item = 2, .fail = RESUME},
		{"boss", TURN, .item = 3, .stop = "a"},
	};

	SCRIPT(world, steps);
	add(world, NULL, "boss");
	add(world, "boss", "a");
	add(world, "a", "b");
	assert_int_equal(put(world, "a", 1, 1), 0);
	assert_int_equal(put(world, "b", 2, 2), 0);
	give(world, "boss", 3);
	assert_false(alive(world, "a"));
	assert_false(alive(world, "b"));
	assert_true(alive(world, "boss"));
	assert_int_equal(weir_system_children(world->system, ref(world, "boss"),
					      NULL, 0),
			 0);
}

static void b5_4_who_has_finished_is_not_asked_to_stop(struct world *world)
{
	static const struct role roles[] = {{"a", USUAL | HOOK(STOPPING)}};
	static const struct step steps[] = {
		{"a", TURN, .stop = "a", .finish = true},
		{"a", STOPPING, .rc = 1},
	};

	ROLES(world, roles);
	SCRIPT(world, steps);
	add(world, NULL, "a");
	run(world);
	give(world, "a", 1);
	assert_told(world, "a", "a1.pre_start a1.1 a1.post_stop");
	assert_int_equal(member(world, "a")->fate.code, 0);
}

static void b5_2_children_are_their_parents_to_stop(struct world *world)
{
	add(world, NULL, "a");
	add(world, "a", "b");
	run(world);
	assert_int_equal(weir_actor_stop_children(&member(world, "a")->actor),
			 -EPERM);
	assert_int_equal(weir_actor_stop_children(NULL), -EINVAL);
	run(world);
	assert_true(alive(world, "b"));
}

static void b5_4_a_stop_is_idempotent(struct world *world)
{
	size_t i;

	add(world, NULL, "a");
	add(world, "a", "b");
	run(world);
	for (i = 0; i < 3; i++)
		stop(world, "a");
	(void)weir_sim_step(world->sim);
	(void)weir_system_stop_actor(world->system, ref(world, "a"));
	run(world);
	assert_told(world, "a", "a1.pre_start a1.post_stop");
	assert_told(world, "b", "b1.pre_start b1.post_stop");
	assert_int_equal(weir_system_stop_actor(world->system, ref(world, "a")),
			 -ESRCH);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b5_1_a_stop_overtakes_what_is_queued),
		RULE(b5_1_a_stop_lets_the_turn_under_way_end),
		RULE(b5_1_an_actor_can_be_stopped_by_its_address),
		RULE(b5_1_one_that_waits_for_a_verdict_stops_at_once),
		RULE(b5_2_children_end_before_their_parents),
		RULE(b5_2_a_stopping_actor_runs_nothing_and_hears_nothing),
		RULE(b5_2_the_parent_is_told_and_then_who_watches),
		RULE(b5_3_a_post_stop_that_fails_is_told_and_no_more),
		RULE(b5_3_no_verdict_revives_one_that_stops),
		RULE(b5_4_who_has_finished_is_not_asked_to_stop),
		RULE(b5_2_children_are_their_parents_to_stop),
		RULE(b5_4_a_stop_is_idempotent),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
