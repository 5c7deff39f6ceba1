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
static void b5_1_a_stop_overtakes_what_is_queued(struct play *play)
{
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_int_equal(put(play, "a", 2, 4), 0);
	stop(play, "a");
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.post_stop a1.dead2 a1.dead3 "
		    "a1.dead4");
	assert_int_equal(ledger_dropped(&play->base.ledger), 3);
	assert_int_equal(weir_system_dead_letter_count(play->base.system), 3);
	assert_int_equal(put(play, "a", 5, 5), -ESRCH);
}

static void b5_1_a_stop_lets_the_turn_under_way_end(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 2, .stop = "a"},
	};
	static const struct role roles[] = {{"a", .peeks = true}};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 3);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.post_stop a1.dead3");
	assert_int_equal(play->base.ledger.delivered[2 - 1], 1);
}

/* By weir_actor_stop(): the same, but it is not asked. Its children are. */
static void b5_1_an_actor_can_be_stopped_by_its_address(struct play *play)
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

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	run(play);
	assert_int_equal(put(play, "a", 1, 1), 0);
	weir_actor_stop(&member(play, "a")->actor);
	run(play);
	assert_told(play, "b", "b1.pre_start b1.stopping");
	give(play, "b", 9);
	assert_told(play, "a", "a1.pre_start a1.post_stop a1.dead1");
	assert_int_equal(member(play, "a")->fate.code, -ECANCELED);
}

static void b5_1_one_that_waits_for_a_verdict_stops_at_once(struct play *play)
{
	static const struct step steps[] = {{"a", TURN, .fail = RESTART}};

	play->top = &slow;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", 1, 2), 0);
	run_until(play, 500 * MS);
	stop(play, "a");
	run_until(play, 500 * MS);
	assert_false(alive(play, "a"));
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.post_stop a1.dead2");
}

static void b5_2_children_end_before_their_parents(struct play *play)
{
	static const char *const pairs[][2] = {
		{"b1.post_stop", "a1.post_stop"},
		{"c1.post_stop", "a1.post_stop"},
		{"d1.post_stop", "b1.post_stop"},
		{"e1.post_stop", "b1.post_stop"},
		{"f1.post_stop", "e1.post_stop"},
	};
	size_t i;

	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, "a", "c");
	add(play, "b", "d");
	add(play, "b", "e");
	add(play, "e", "f");
	add(play, NULL, "other");
	run(play);
	stop(play, "a");
	run(play);
	for (i = 0; i < LENGTH(pairs); i++)
		assert_true(before(play, pairs[i][0], pairs[i][1]));
	assert_true(alive(play, "other"));
}

static void b5_2_a_stopping_actor_runs_nothing_and_hears_nothing(
	struct play *play)
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

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	give(play, "a", 1);
	stop(play, "a");
	run(play);
	assert_told(play, "b", "b1.pre_start b1.stopping");
	give(play, "a", 3);
	weir_actor_signal(&member(play, "a")->actor);
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1");
	give(play, "b", 2);
	assert_told(play, "a", "a1.pre_start a1.1 a1.post_stop a1.dead3");
}

static void b5_2_the_parent_is_told_and_then_who_watches(struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = USUAL | HOOK(TERMINATED) | HOOK(CHILD_ENDED)},
	};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .watch = "b"},
		{"a", CHILD_ENDED, .spawn = "b"},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	give(play, "a", 1);
	assert_int_equal(put(play, "b", 2, 2), 0);
	stop(play, "b");
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.child_ended a1.terminated");
	assert_true(before(play, "b1.post_stop", "b1.dead2"));
	assert_true(before(play, "b1.dead2", "a1.child_ended"));
	/* the name was free by then */
	assert_int_equal(member(play, "a")->rc, 0);
	assert_true(alive(play, "b"));
}

static void b5_3_a_post_stop_that_fails_is_told_and_no_more(struct play *play)
{
	static const struct step steps[] = {
		{"b", POST_STOP, .rc = RESTART},
		{"c", POST_STOP, .fail = RESTART},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, "a", "c");
	run(play);
	stop(play, "a");
	run(play);
	assert_int_equal(times(play, "hook(b)"), 1);
	assert_int_equal(times(play, "restart(b)"), 0);
	assert_false(alive(play, "a"));
	assert_int_equal(member(play, "b")->fate.code, -ECANCELED);
	assert_int_equal(member(play, "c")->fate.code, -ECANCELED);
}

/* It fails before, while or after it is told to stop. */
static void b5_3_no_verdict_revives_one_that_stops(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"b", TURN, .item = 2, .fail = RESUME},
		{"boss", TURN, .item = 3, .stop = "a"},
	};

	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	add(play, "a", "b");
	assert_int_equal(put(play, "a", 1, 1), 0);
	assert_int_equal(put(play, "b", 2, 2), 0);
	give(play, "boss", 3);
	assert_false(alive(play, "a"));
	assert_false(alive(play, "b"));
	assert_true(alive(play, "boss"));
	assert_int_equal(weir_system_children(play->base.system,
					      ref(play, "boss"), NULL, 0),
			 0);
}

static void b5_4_who_has_finished_is_not_asked_to_stop(struct play *play)
{
	static const struct role roles[] = {{"a", USUAL | HOOK(STOPPING)}};
	static const struct step steps[] = {
		{"a", TURN, .stop = "a", .finish = true},
		{"a", STOPPING, .rc = 1},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	run(play);
	give(play, "a", 1);
	assert_told(play, "a", "a1.pre_start a1.1 a1.post_stop");
	assert_int_equal(member(play, "a")->fate.code, 0);
}

static void b5_2_children_are_their_parents_to_stop(struct play *play)
{
	add(play, NULL, "a");
	add(play, "a", "b");
	run(play);
	assert_int_equal(weir_actor_stop_children(&member(play, "a")->actor),
			 -EPERM);
	assert_int_equal(weir_actor_stop_children(NULL), -EINVAL);
	run(play);
	assert_true(alive(play, "b"));
}

static void b5_4_a_stop_is_idempotent(struct play *play)
{
	size_t i;

	add(play, NULL, "a");
	add(play, "a", "b");
	run(play);
	for (i = 0; i < 3; i++)
		stop(play, "a");
	(void)weir_sim_step(play->base.sim);
	(void)weir_system_stop_actor(play->base.system, ref(play, "a"));
	run(play);
	assert_told(play, "a", "a1.pre_start a1.post_stop");
	assert_told(play, "b", "b1.pre_start b1.post_stop");
	assert_int_equal(weir_system_stop_actor(play->base.system,
						ref(play, "a")),
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
