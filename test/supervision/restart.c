/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Restarts: the order of hooks, what survives, what happens to children, and
 * starts that fail (B4, E3, E15). Rule numbers like B4 are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/kit.h"

static const struct weir_strategy all_for_one = {
	BY_CODE,
	.scope = WEIR_SCOPE_ALL_FOR_ONE,
};
static const struct weir_limit three_ever = {.max = 3};

static const struct role plain_a[] = {{"a", .hooks = PLAIN}};
static const struct step a_restarts[] = {
	{"a", TURN, .item = 1, .fail = RESTART},
};

static void b4_1_by_default_it_stops_and_starts(struct play *play)
{
	ROLES(play, plain_a);
	SCRIPT(play, a_restarts);
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.post_stop a2.reset a2.pre_start");
}

/* Three restarts; the fourth failure is the end. */
static void b4_1_its_own_hooks_come_in_place_of_the_default(struct play *play)
{
	static const struct weir_strategy limited = {BY_CODE,
						     .each = &three_ever};
	static const struct step steps[] = {{"a", TURN, .fail = RESTART}};

	play->top = &limited;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start "
		    "a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a2.2 a2.pre_restart a3.reset a3.post_restart "
		    "a3.3 a3.pre_restart a4.reset a4.post_restart "
		    "a4.4 a4.post_stop");
}

static void b4_2_identity_and_path_survive(struct play *play)
{
	struct weir_actor_id before;
	struct weir_actor *actor;

	SCRIPT(play, a_restarts);
	add(play, NULL, "a");
	before = ref(play, "a");
	give(play, "a", 1);
	assert_int_equal(member(play, "a")->generation, 2);
	actor = weir_system_actor(play->base.system, before);
	assert_ptr_equal(actor, &member(play, "a")->actor);
	assert_true(weir_actor_id_equal(weir_actor_self(actor), before));
	assert_true(weir_actor_id_equal(
		weir_system_lookup(play->base.system, "/user/a"), before));
	assert_int_equal(weir_system_restarts(play->base.system, before), 1);
	weir_actor_unref(actor);
}

static void b4_2_watches_survive_and_watchers_are_not_told(struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = USUAL | HOOK(TERMINATED)},
		{"watcher", .hooks = USUAL | HOOK(TERMINATED)},
	};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", PRE_START, .watch = "other"},
		{"watcher", PRE_START, .watch = "a"},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "other");
	add(play, NULL, "a");
	add(play, NULL, "watcher");
	run(play);
	give(play, "a", 1);
	assert_int_equal(weir_system_stop_actor(play->base.system,
						ref(play, "other")),
			 0);
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a2.terminated");
	assert_told(play, "watcher", "watcher1.pre_start");
	assert_int_equal(
		weir_system_stop_actor(play->base.system, ref(play, "a")), 0);
	run(play);
	assert_told(play, "watcher", "watcher1.pre_start watcher1.terminated");
}

static int other_turn(struct weir_actor *actor)
{
	struct member *self = member_of(actor);
	size_t item = ledger_deliver(&self->play->base.ledger,
				     weir_in_take(&self->in));

	note(self->play, self->name, "%s%u.other%zu", self->name,
	     self->generation, item);
	return item == 3 ? RESTART : 0;
}
WEIR_TURN(other_turn)

static void become_other(struct member *self)
{
	struct weir_port *port = &self->in.port;

	assert_int_equal(
		weir_actor_become(&self->actor, other_turn_n, &port, 1), 0);
}

static void b4_2_it_begins_with_its_first_turn_again(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = become_other},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.other2 a1.other3 "
		    "a1.pre_restart a2.reset a2.post_restart a2.4");
}

/* A second in-port, which its turns take nothing from. */
static struct weir_in second;

static struct member *with_second(struct play *play, bool ignored)
{
	struct member *self = member_new(play, "a");

	assert_int_equal(weir_in_init(&second, &self->actor, 16,
				      &play->base.ledger.items),
			 0);
	if (ignored)
		assert_int_equal(weir_port_ignore(&second.port), 0);
	play_open(play);
	assert_int_equal(member_spawn(self, WEIR_ACTOR_ID_NONE), 0);
	return self;
}

static void give_second(struct play *play, size_t item)
{
	assert_int_equal(
		weir_in_put(&second, ledger_make(&play->base.ledger, item)), 0);
	run(play);
}

static void b4_2_a_port_that_was_left_out_of_the_start_is_so_again(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = become_other},
	};

	SCRIPT(play, steps);
	with_second(play, true);
	feed(play, "a", 1, 4);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.other2 a1.other3 "
		    "a1.pre_restart a2.reset a2.post_restart a2.4");
}

static void require_second(struct member *self)
{
	assert_int_equal(weir_port_require(&second.port), 0);
}

static void b4_2_a_port_that_was_required_since_is_left_out_again(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = require_second, .fail = RESTART},
	};

	SCRIPT(play, steps);
	with_second(play, true);
	feed(play, "a", 1, 3);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset "
		    "a2.post_restart a2.2 a2.3");
}

static void ignore_second(struct member *self)
{
	assert_int_equal(weir_port_ignore(&second.port), 0);
}

static void b4_2_a_port_that_was_ignored_since_takes_part_again(
	struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .call = ignore_second},
		{"a", TURN, .item = 2, .fail = RESTART},
	};

	SCRIPT(play, steps);
	with_second(play, false);
	feed(play, "a", 1, 3);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.pre_restart a2.reset "
		    "a2.post_restart");
	give_second(play, 11);
	assert_int_equal(times(play, "a2.3"), 1);
}

/* An error that it gives to weir_actor_fail() there is nobody's business. */
static void b4_3_a_pre_restart_that_fails_is_told_and_no_more(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", PRE_RESTART, .generation = 1, .rc = STOP},
		{"a", TURN, .item = 2, .fail = RESTART},
		{"a", PRE_RESTART, .generation = 2, .fail = STOP},
		{"a", TURN, .item = 3, .fail = RESTART},
		{"a", PRE_RESTART, .generation = 3, .finish = true},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_told(play, "system", "restart(a) hook(a)");
	feed(play, "a", 2, 3);
	assert_told(play, "system", "restart(a) hook(a) restart(a) restart(a)");
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a2.post_restart "
		    "a2.2 a2.pre_restart a3.reset a3.post_restart "
		    "a3.3 a3.pre_restart a4.reset a4.post_restart");
}

static int restart_counted(struct weir_actor *supervisor,
			   const struct weir_failure *failure, void *context)
{
	size_t *asked = context;

	assert_int_equal(failure->kind, *asked == 0 ? WEIR_FAILURE_TURN
						    : WEIR_FAILURE_RESTART);
	assert_int_equal(suspends(&the_play, "a"), 1);
	assert_int_equal(suspends(&the_play, "b"), 1);
	++*asked;
	return WEIR_DIRECTIVE_RESTART;
}

/* It has been torn down, and its child is suspended: neither happens again. */
static void b4_3_a_start_that_fails_is_one_more_failure(struct play *play)
{
	static size_t asked;
	static const struct weir_strategy counting = {.decide = restart_counted,
						      .context = &asked};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", RESET, .generation = 2, .rc = -EPROTO},
		{"a", POST_RESTART, .generation = 3, .rc = -EPROTO},
	};

	asked = 0;
	play->top = &counting;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	run(play);
	assert_int_equal(put(play, "a", 1, 2), 0);
	give(play, "b", 3);
	assert_int_equal(asked, 3);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.pre_restart a2.reset a3.reset "
		    "a3.post_restart a4.reset a4.post_restart a4.2");
	assert_int_equal(member(play, "b")->generation, 2);
	assert_int_equal(suspends(play, "b"), 0);
}

static void b4_3_children_of_a_failed_start_are_stopped(struct play *play)
{
	static const struct step steps[] = {
		{"a", PRE_START, .generation = 1, .spawn = "first",
		 .fail = RESTART},
		{"a", PRE_START, .generation = 2, .spawn = "second",
		 .fail = RESTART},
		{"a", PRE_START, .generation = 3, .spawn = "third"},
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", RESET, .generation = 4, .rc = RESTART},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	run(play);
	assert_told(play, "first", "first1.pre_start first1.post_stop");
	assert_told(play, "second", "second1.pre_start second1.post_stop");
	assert_true(before(play, "first1.post_stop", "a2.reset"));
	assert_true(before(play, "second1.post_stop", "a3.reset"));
	assert_told(play, "third", "third1.pre_start");
	feed(play, "a", 1, 2);
	/* not so those of before */
	assert_int_equal(times(play, "a5.2"), 1);
	assert_int_equal(member(play, "third")->generation, 2);
}

/* b restarts for its own sake, and because a does. */
static void b4_4_a_restart_during_a_restart_is_balanced(struct play *play)
{
	static const struct role roles[] = {{"b", .hooks = PLAIN}};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"b", TURN, .item = 2, .fail = RESTART},
		{"b", PRE_START, .spawn = "c"},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	run(play);
	assert_int_equal(put(play, "a", 1, 1), 0);
	give(play, "b", 2);
	assert_int_equal(suspends(play, "a"), 0);
	assert_int_equal(suspends(play, "c"), 0);
	assert_int_equal(weir_system_children(play->base.system, ref(play, "b"),
					      NULL, 0),
			 1);
	give(play, "a", 3);
	give(play, "b", 4);
	give(play, "c", 5);
	assert_int_equal(times(play, "a2.3"), 1);
	assert_int_equal(member(play, "b")->seen, 1);
	assert_int_equal(member(play, "c")->seen, 1);
}

/* One of a group of restarts is being stopped meanwhile. */
static void b4_4_a_restart_during_a_stop_is_balanced(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"b", TURN, .item = 2, .stop = "b"},
	};

	play->top = &all_for_one;
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, NULL, "b");
	add(play, "b", "c");
	assert_int_equal(put(play, "a", 1, 1), 0);
	give(play, "b", 2);
	assert_false(alive(play, "b"));
	assert_false(alive(play, "c"));
	assert_int_equal(suspends(play, "a"), 0);
	give(play, "a", 3);
	assert_int_equal(times(play, "a2.3"), 1);
}

static void b4_5_those_of_before_restart_and_the_new_do_not(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", PRE_RESTART, .stop = "gone"},
		{"a", POST_RESTART, .spawn = "new"},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "kept");
	add(play, "kept", "below");
	add(play, "a", "gone");
	run(play);
	give(play, "a", 1);
	assert_told(play, "kept",
		    "kept1.pre_start kept1.pre_restart kept2.reset "
		    "kept2.post_restart");
	assert_told(play, "below",
		    "below1.pre_start below1.pre_restart below2.reset "
		    "below2.post_restart");
	assert_told(play, "gone", "gone1.pre_start gone1.post_stop");
	assert_told(play, "new", "new1.pre_start");
	assert_int_equal(member(play, "kept")->cause, RESTART);
	assert_int_equal(member(play, "below")->cause, RESTART);
	/* step 3 is before step 4, and step 6 behind step 5 */
	assert_true(before(play, "gone1.post_stop", "a2.reset"));
	assert_true(before(play, "a2.post_restart", "kept1.pre_restart"));
}

/* Each of them handles its tokens when it has begun anew, and not before. */
static void b4_5_those_below_stand_still_until_they_have_restarted(
	struct play *play)
{
	static const char *const names[] = {"b", "c", "d"};
	const char *parent = "a";
	size_t i;

	SCRIPT(play, a_restarts);
	add(play, NULL, "a");
	for (i = 0; i < LENGTH(names); i++) {
		add(play, parent, names[i]);
		parent = names[i];
	}
	run(play);
	log_clear(play);
	assert_int_equal(put(play, "a", 1, 1), 0);
	while (!times(play, "restart(a)"))
		assert_true(weir_sim_step(play->base.sim));
	for (i = 0; i < LENGTH(names); i++)
		give(play, names[i], 2 + i);
	assert_told(play, "b", "b1.pre_restart b2.reset b2.post_restart b2.2");
	assert_told(play, "c", "c1.pre_restart c2.reset c2.post_restart c2.3");
	assert_told(play, "d", "d1.pre_restart d2.reset d2.post_restart d2.4");
}

static void b4_6_names_of_stopped_children_are_free_again(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", PRE_START, .spawn = "b"},
		{"a", PRE_START, .spawn = "c"},
	};
	struct weir_actor_id first;

	ROLES(play, plain_a);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	run(play);
	first = ref(play, "b");
	give(play, "a", 1);
	assert_int_equal(member(play, "a")->rc, 0);
	assert_int_equal(times(play, "b1.pre_start"), 2);
	assert_int_equal(times(play, "b1.post_stop"), 1);
	assert_false(weir_system_is_alive(play->base.system, first));
	assert_true(weir_actor_id_equal(weir_system_lookup(play->base.system,
							   "/user/a/b"),
					ref(play, "b")));
}

static void e3_a_restart_waits_for_children_that_stop(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .fail = RESTART},
		{"a", PRE_RESTART, .stop_children = true},
	};

	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "b");
	add(play, "b", "c");
	add(play, "a", "d");
	run(play);
	give(play, "a", 1);
	assert_true(before(play, "a1.pre_restart", "c1.post_stop"));
	assert_true(before(play, "a1.pre_restart", "d1.post_stop"));
	assert_true(before(play, "c1.post_stop", "b1.post_stop"));
	assert_true(before(play, "b1.post_stop", "a2.reset"));
	assert_true(before(play, "d1.post_stop", "a2.reset"));
	assert_int_equal(weir_system_children(play->base.system, ref(play, "a"),
					      NULL, 0),
			 0);
}

/* All of the source's items come, in order, but those it failed with. */
static void e15_memory_ports_and_links_stay(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 5, .fail = RESTART},
		{"a", TURN, .item = 6, .fail = RESTART},
		{"a", TURN, .item = 40, .fail = RESTART},
	};
	struct member *a;
	struct source source;
	size_t i;

	SCRIPT(play, steps);
	a = member_new(play, "a");
	source_init(&source, play->base.executor, &play->base.ledger, 1, 100);
	assert_int_equal(weir_out_link(&source.out, &a->in), 0);
	play_open(play);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	run(play);
	assert_int_equal(a->generation, 4);
	assert_int_equal(a->seen, 60);
	for (i = 0; i < 100; i++)
		assert_int_equal(play->base.ledger.delivered[i], 1);
	/* the stream's end is its end */
	assert_int_equal(times(play, "a4.post_stop"), 1);
	fate_check(&source.fate, 0);
	fate_check(&a->fate, 0);
}

static void e15_reset_makes_the_fields_as_new(struct play *play)
{
	static const struct role roles[] = {
		{"b", .hooks = USUAL & ~HOOK(RESET)},
	};
	static const struct step steps[] = {
		{"a", TURN, .item = 3, .fail = RESTART},
		{"b", TURN, .item = 3, .fail = RESTART},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, NULL, "b");
	assert_int_equal(put(play, "a", 1, 4), 0);
	feed(play, "b", 1, 4);
	assert_int_equal(member(play, "a")->seen, 1);
	/* without the hook they stay as they were */
	assert_told(play, "b",
		    "b1.pre_start b1.1 b1.2 b1.3 b1.pre_restart "
		    "b1.post_restart b1.4");
	assert_int_equal(member(play, "b")->seen, 4);
}

/* It has heard of the end, and forgotten it. */
static void e15_the_end_of_a_stream_is_told_again(struct play *play)
{
	static const struct role roles[] = {{"a", USUAL | HOOK(ENDED)}};
	static const struct step steps[] = {
		{"a", ENDED, .generation = 1, .fail = RESTART},
		{"a", SIGNALLED, .fail = RESTART},
		{"a", ENDED, .generation = 3, .finish = true},
	};
	struct member *a;
	struct source source;

	ROLES(play, roles);
	SCRIPT(play, steps);
	a = member_new(play, "a");
	source_init(&source, play->base.executor, &play->base.ledger, 1, 3);
	assert_int_equal(weir_out_link(&source.out, &a->in), 0);
	play_open(play);
	assert_int_equal(member_spawn(a, WEIR_ACTOR_ID_NONE), 0);
	assert_int_equal(weir_actor_start(&source.actor), 0);
	run(play);
	weir_actor_signal(&a->actor);
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.2 a1.3 a1.ended "
		    "a1.pre_restart a2.reset a2.post_restart a2.ended "
		    "a2.signalled a2.pre_restart a3.reset a3.post_restart "
		    "a3.ended a3.post_stop");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(b4_1_by_default_it_stops_and_starts),
		RULE(b4_1_its_own_hooks_come_in_place_of_the_default),
		RULE(b4_2_identity_and_path_survive),
		RULE(b4_2_watches_survive_and_watchers_are_not_told),
		RULE(b4_2_it_begins_with_its_first_turn_again),
		RULE(b4_2_a_port_that_was_left_out_of_the_start_is_so_again),
		RULE(b4_2_a_port_that_was_required_since_is_left_out_again),
		RULE(b4_2_a_port_that_was_ignored_since_takes_part_again),
		RULE(b4_3_a_pre_restart_that_fails_is_told_and_no_more),
		RULE(b4_3_a_start_that_fails_is_one_more_failure),
		RULE(b4_3_children_of_a_failed_start_are_stopped),
		RULE(b4_4_a_restart_during_a_restart_is_balanced),
		RULE(b4_4_a_restart_during_a_stop_is_balanced),
		RULE(b4_5_those_of_before_restart_and_the_new_do_not),
		RULE(b4_5_those_below_stand_still_until_they_have_restarted),
		RULE(b4_6_names_of_stopped_children_are_free_again),
		RULE(e3_a_restart_waits_for_children_that_stop),
		RULE(e15_memory_ports_and_links_stay),
		RULE(e15_reset_makes_the_fields_as_new),
		RULE(e15_the_end_of_a_stream_is_told_again),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
