/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Children that stop and start one after the other (D1.4). Rule numbers like
 * D1.4 are those of docs/conformance/supervision.md.
 */
#include "supervision/kit.h"

/* --- D1.4: in order ------------------------------------------------------- */

static void d1_4_children_start_in_order_and_stop_in_reverse(struct play *play)
{
	static const struct role roles[] = {{"boss", .strategy = &one_by_one}};
	static const struct step steps[] = {
		{"boss", PRE_START, .spawn = "a"},
		{"boss", PRE_START, .spawn = "b"},
		{"boss", PRE_START, .spawn = "c"},
	};
	struct weir_actor_id children[3];

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	run(play);
	assert_int_equal(weir_system_children(play->base.system,
					      ref(play, "boss"), children, 3),
			 3);
	assert_true(weir_actor_id_equal(children[0], ref(play, "a")));
	assert_true(weir_actor_id_equal(children[1], ref(play, "b")));
	assert_true(weir_actor_id_equal(children[2], ref(play, "c")));
	add(play, "b", "below");
	run(play);
	stop(play, "boss");
	run(play);
	ORDER(play, "c1.post_stop", "below1.post_stop", "b1.post_stop",
	      "a1.post_stop", "boss1.post_stop");
}

/* a, b, c, which is temporary, and d below one that restarts in order. */
static void add_four(struct play *play, const struct role *roles, size_t n)
{
	static const struct step steps[] = {{"b", TURN, .fail = RESTART}};

	play->roles = roles;
	play->n_roles = n;
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	add(play, "boss", "b");
	add(play, "boss", "c");
	add(play, "boss", "d");
	run(play);
	log_clear(play);
}

static void d1_4_one_for_all_stops_in_reverse_and_starts_in_order(
	struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns},
		{"c", .restart = WEIR_RESTART_TEMPORARY},
	};

	add_four(play, roles, LENGTH(roles));
	give(play, "b", 1);
	ORDER(play, "b1.1", "d1.pre_restart", "c1.post_stop", "a1.pre_restart",
	      "a2.reset", "a2.post_restart", "b2.reset", "b2.post_restart",
	      "d2.reset", "d2.post_restart");
	assert_true(before(play, "b1.pre_restart", "a2.reset"));
	assert_told(play, "c", "c1.post_stop");
	assert_false(alive(play, "c"));
	give(play, "d", 2);
	assert_int_equal(times(play, "d2.2"), 1);
}

static void d1_4_rest_for_one_leaves_those_before_alone(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &rest_by_turns},
		{"a", .restart = WEIR_RESTART_PERMANENT},
		{"c", .restart = WEIR_RESTART_PERMANENT},
		{"d", .restart = WEIR_RESTART_PERMANENT},
	};

	add_four(play, roles, LENGTH(roles));
	give(play, "b", 1);
	assert_told(play, "a", "");
	ORDER(play, "b1.1", "d1.pre_restart", "c1.pre_restart", "b2.reset",
	      "b2.post_restart", "c2.reset", "c2.post_restart", "d2.reset",
	      "d2.post_restart");
	assert_true(before(play, "b1.pre_restart", "b2.reset"));
}

/* Those behind it are for the same fate, in no order. */
static void d1_4_rest_for_one_without_an_order(struct play *play)
{
	static const struct weir_strategy rest = {
		BY_CODE,
		.scope = WEIR_SCOPE_REST_FOR_ONE,
	};
	static const struct role roles[] = {
		{"boss", .strategy = &rest},
		{"c", .restart = WEIR_RESTART_TEMPORARY},
	};

	add_four(play, roles, LENGTH(roles));
	give(play, "b", 1);
	assert_told(play, "a", "");
	assert_told(play, "b", "b1.1 b1.pre_restart b2.reset b2.post_restart");
	assert_told(play, "c", "c1.post_stop");
	assert_told(play, "d", "d1.pre_restart d2.reset d2.post_restart");
}

static void d1_4_the_children_of_each_end_before_the_next_stops(
	struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns},
		{"b", .hooks = PLAIN},
		{"c", .hooks = PLAIN},
	};
	static const struct step steps[] = {{"a", TURN, .fail = RESTART}};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add(play, "boss", "a");
	add(play, "boss", "b");
	add(play, "boss", "c");
	add(play, "c", "below");
	add(play, "below", "bottom");
	run(play);
	log_clear(play);
	give(play, "a", 1);
	ORDER(play, "c1.post_stop", "bottom1.post_stop", "below1.post_stop",
	      "b1.post_stop", "a2.reset", "b2.reset", "c2.reset",
	      "c2.pre_start");
}

/* A start that fails in the midst of a group is a failure of its own. */
static void d1_4_one_of_a_group_that_fails_to_start_is_tried_again_first(
	struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns},
	};
	static const struct step steps[] = {
		{"c", TURN, .fail = RESTART},
		{"b", POST_RESTART, .generation = 2, .fail = RESTART},
	};
	static const char *const names[] = {"a", "b", "c"};
	size_t i;

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	for (i = 0; i < LENGTH(names); i++)
		add(play, "boss", names[i]);
	run(play);
	log_clear(play);
	give(play, "c", 1);
	/* at once, and before c has begun */
	assert_told(play, NULL,
		    "c1.1 restart(c) "
		    "c1.pre_restart b1.pre_restart a1.pre_restart "
		    "a2.reset a2.post_restart b2.reset b2.post_restart "
		    "restart(b) a2.pre_restart a3.reset a3.post_restart "
		    "b3.reset b3.post_restart c2.reset c2.post_restart");
	for (i = 0; i < LENGTH(names); i++) {
		assert_int_equal(suspends(play, names[i]), 0);
		assert_true(member(play, names[i])->begun);
	}
}

/* c is told to halt, and then to stop, and takes its time for that. */
static void d1_4_a_group_waits_for_one_that_stops_meanwhile(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns},
		{"c", USUAL | HOOK(STOPPING)},
	};
	static const struct step steps[] = {
		{"b", TURN, .fail = RESTART},
		{"c", STOPPING, .rc = 1},
		{"c", TURN, .item = 9, .finish = true},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add_three(play, "boss");
	assert_int_equal(put(play, "b", 1, 1), 0);
	while (!times(play, "restart(b)"))
		assert_true(weir_sim_step(play->base.sim));
	stop(play, "c");
	run(play);
	assert_told(play, "c", "c1.pre_start c1.stopping");
	assert_told(play, "a", "a1.pre_start");
	give(play, "c", 9);
	ORDER(play, "c1.post_stop", "a1.pre_restart", "a2.post_restart",
	      "b2.reset", "b2.post_restart");
	give(play, "a", 2);
	assert_int_equal(times(play, "a2.2"), 1);
}

/* In the midst of a group its supervisor has to fail, and it goes on. */
static void d1_4_an_escalation_in_the_midst_of_a_group(struct play *play)
{
	static const struct weir_strategy escalating = {
		.scope = WEIR_SCOPE_ALL_FOR_ONE,
		.rules = by_code_rules + 1, /* RESTART */
		.n_rules = 1,
		.ordered = true,
	};
	static const struct weir_rule rules[2] = {
		{.directive = WEIR_DIRECTIVE_RESUME},
		{.directive = WEIR_DIRECTIVE_RESTART},
	};
	static const struct weir_strategy above[2] = {
		{.rules = &rules[0], .n_rules = 1},
		{.rules = &rules[1], .n_rules = 1},
	};
	static const struct role roles[] = {{"boss", .strategy = &escalating}};
	static const struct step steps[] = {
		{"c", TURN, .item = 1, .fail = RESTART},
		{"b", POST_RESTART, .generation = 2, .fail = ESCALATE},
	};
	static const char *const names[] = {"boss", "a", "b", "c"};
	size_t i;

	play->top = &above[play->seed % 2];
	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	for (i = 1; i < LENGTH(names); i++)
		add(play, "boss", names[i]);
	run(play);
	give(play, "c", 1);
	assert_int_equal(member(play, "boss")->generation, 1 + play->seed % 2);
	for (i = 0; i < LENGTH(names); i++) {
		assert_true(member(play, names[i])->begun);
		assert_int_equal(suspends(play, names[i]), 0);
		give(play, names[i], 10 + i);
		assert_int_equal(member(play, names[i])->seen, 1);
	}
}

/* At any moment of a group the supervisor is told to stop. */
static void d1_4_a_group_that_is_stopped_half_way(struct play *play)
{
	static const struct role roles[] = {
		{"boss", .strategy = &all_by_turns},
		{"b", .hooks = PLAIN},
	};
	static const struct step steps[] = {
		{"c", TURN, .item = 1, .fail = RESTART},
		{"b", PRE_START, .spawn = "below"},
	};
	uint64_t n;

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "boss");
	add_three(play, "boss");
	assert_int_equal(put(play, "c", 1, 1), 0);
	for (n = weir_sim_random(play->base.sim, 20); n; n--)
		(void)weir_sim_step(play->base.sim);
	log_clear(play);
	stop(play, "boss");
	run(play);
	assert_false(alive(play, "boss"));
	assert_true(play->n_log > 0);
	assert_string_equal(play->log[play->n_log - 1].who, "boss");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(d1_4_children_start_in_order_and_stop_in_reverse),
		RULE(d1_4_one_for_all_stops_in_reverse_and_starts_in_order),
		RULE(d1_4_rest_for_one_leaves_those_before_alone),
		RULE(d1_4_rest_for_one_without_an_order),
		RULE(d1_4_the_children_of_each_end_before_the_next_stops),
		RULE(d1_4_one_of_a_group_that_fails_to_start_is_tried_again_first),
		RULE(d1_4_a_group_waits_for_one_that_stops_meanwhile),
		RULE(d1_4_an_escalation_in_the_midst_of_a_group),
		RULE(d1_4_a_group_that_is_stopped_half_way),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
