/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death watch in a family: names, death pacts, the end of who watches (C8 to
 * C11), and what parents hear (C13, C14). Rule numbers like C8 are those of
 * docs/conformance/supervision.md.
 */
#include "supervision/watching_kit.h"

#include <weir/permits.h>

/* --- C8 to C11 ------------------------------------------------------------ */

static void count_children(struct member *self)
{
	struct weir_actor_id child;

	note(self->play, self->name, "children%d",
	     weir_system_children(self->play->base.system, self->ref, &child,
				  1));
}

static void note_rc(struct member *self)
{
	note(self->play, self->name, "rc%d", self->rc);
}

static void c8_the_name_is_free_when_the_notice_comes(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .watch = "x"},
		{"a", TURN, .item = 2, .spawn = "x", .call = note_rc},
		{"a", TERMINATED, .call = count_children},
		{"a", TERMINATED, .spawn = "x", .call = note_rc},
	};
	char expected[96];

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "x");
	give(play, "a", 1);
	give(play, "a", 2);
	/* the latest of that name did not come to be */
	assert_true(weir_actor_id_equal(ref(play, "x"), WEIR_ACTOR_ID_NONE));
	assert_int_equal(weir_system_stop_actor(play->base.system,
						member(play, "x")->next->ref),
			 0);
	run(play);
	snprintf(expected, sizeof(expected),
		 "a1.pre_start a1.1 a1.2 rc%d a1.terminated children0 rc0",
		 -EEXIST);
	assert_told(play, "a", expected);
	assert_true(alive(play, "x"));
}

static const struct weir_strategy by_default = {.decide = NULL};

static void c9_a_notice_that_nobody_handles_fails_the_watcher(struct play *play)
{
	static const struct step steps[] = {
		WATCHES_X("y"),
		{"a", TURN, .watch = "y"},
	};

	play->top = &by_default;
	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "y");
	add_keeper(play, "a");
	give(play, "y", WATCH_X);
	give(play, "a", 2);
	assert_int_equal(weir_system_kill(play->base.system, ref(play, "x")),
			 0);
	run(play);
	assert_told(play, "system", "stop(x) stop(y)");
	assert_true(before(play, "stop(x)", "stop(y)"));
	assert_true(before(play, "stop(y)", "a1.terminated"));
	assert_int_equal(heard_error->code, -EOWNERDEAD);
	forget_notice();
}

static enum weir_failure_kind decided_kind;

static int decide_kind(struct weir_actor *supervisor,
		       const struct weir_failure *failure, void *context)
{
	decided_kind = failure->kind;
	return WEIR_DIRECTIVE_RESTART;
}

static void c9_a_death_pact_is_a_failure_like_others(struct play *play)
{
	static const struct weir_strategy strategy = {.decide = decide_kind};
	static const struct step steps[] = {WATCHES_X("y")};

	play->top = &strategy;
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "y");
	give(play, "y", 1);
	stop(play, "x");
	run(play);
	assert_int_equal(decided_kind, WEIR_FAILURE_DEATH_PACT);
	assert_told(play, "y",
		    "y1.pre_start y1.1 y1.pre_restart y2.reset "
		    "y2.post_restart");
	/* the next failure is not taken for one */
	assert_int_equal(weir_system_kill(play->base.system, ref(play, "y")),
			 0);
	run(play);
	assert_int_equal(decided_kind, WEIR_FAILURE_KILLED);
}

/* a watches its child x. */
static void watch_its_child(struct play *play)
{
	static const struct step steps[] = {WATCHES_X("a")};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "x");
	give(play, "a", WATCH_X);
}

static void c10_who_stops_unwatches_all_first(struct play *play)
{
	watch_its_child(play);
	/* its child, which it watches, ends first */
	stop(play, "a");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.post_stop");
}

static void watch_while_stopping(struct member *self)
{
	assert_int_equal(weir_actor_watch(&self->actor, ref(self->play, "x"),
					  NULL),
			 -ESHUTDOWN);
}

static void unwatch_x(struct member *self)
{
	self->rc = weir_actor_unwatch(&self->actor, ref(self->play, "x"));
}

static void c10_who_stops_has_nothing_left_to_unwatch(struct play *play)
{
	static const struct step steps[] = {
		WATCHES_X("a"),
		{"a", POST_STOP, .call = unwatch_x},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	give(play, "a", WATCH_X);
	stop(play, "a");
	run(play);
	assert_false(alive(play, "a"));
	assert_int_equal(member(play, "a")->rc, -ENOENT);
}

static void c10_who_stops_can_watch_nobody(struct play *play)
{
	static const struct step steps[] = {
		{"a", POST_STOP, .call = watch_while_stopping},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	run(play);
	stop(play, "a");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.post_stop");
}

static void c10_a_dead_watcher_is_forgotten(struct play *play)
{
	static const struct step steps[] = {
		WATCHES_X("a"),
		WATCHES_X("b"),
	};
	size_t live;

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	give(play, "a", WATCH_X);
	live = play->base.heap.live;
	stop(play, "a");
	run(play);
	assert_true(play->base.heap.live < live);
	stop(play, "x");
	run(play);
	assert_int_equal(times(play, "a1.terminated"), 0);
}

static void c11_a_restart_unwatches_the_children_it_stops(struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = PLAIN | HOOK(TERMINATED)},
	};
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .spawn = "x"},
		{"a", TURN, .item = 1, .watch = "x"},
		{"a", TURN, .watch = "y"},
		{"a", TURN, .item = 2, .fail = RESTART},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "y");
	add(play, NULL, "a");
	give(play, "a", 1);
	give(play, "a", 2);
	assert_false(alive(play, "x"));
	assert_int_equal(times(play, "a1.terminated"), 0);
	assert_int_equal(times(play, "a2.terminated"), 0);
	assert_int_equal(times(play, "a2.pre_start"), 1);
	/* not y, who is no child */
	stop(play, "y");
	run(play);
	assert_int_equal(times(play, "a2.terminated"), 1);
}

static void c11_with_a_hook_children_stay_watched(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .spawn = "x"},
		{"a", TURN, .item = 1, .watch = "x"},
		{"a", TURN, .item = 2, .fail = RESTART},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	give(play, "a", 1);
	give(play, "a", 2);
	assert_true(alive(play, "x"));
	stop(play, "x");
	run(play);
	assert_int_equal(times(play, "a2.terminated"), 1);
}

/* --- C13, C14: parents ---------------------------------------------------- */

static void c13_a_parent_that_does_not_watch_hears_nothing(struct play *play)
{
	ROLES(play, hearers);
	add(play, NULL, "a");
	add(play, "a", "x");
	stop(play, "x");
	run(play);
	assert_told(play, "a", "a1.pre_start");
	/* but its name is free */
	add(play, "a", "x");
}

static void c13_a_parent_that_watches_hears_once(struct play *play)
{
	watch_its_child(play);
	stop(play, "x");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.terminated");
}

static void c14_child_ended_comes_first_and_may_fail(struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = HEARS | HOOK(CHILD_ENDED)},
	};
	static const struct step steps[] = {
		WATCHES_X("a"),
		{"a", CHILD_ENDED, .generation = 1, .fail = RESTART},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	add(play, "a", "x");
	give(play, "a", WATCH_X);
	stop(play, "x");
	run(play);
	assert_told(play, "a",
		    "a1.pre_start a1.1 a1.child_ended a1.pre_restart a2.reset "
		    "a2.post_restart a2.terminated");
}

/* An executor that takes nothing. */
static int refuse(struct weir_executor *executor, struct weir_task *task)
{
	return -ENOBUFS;
}

static uint64_t no_time(struct weir_executor *executor)
{
	return 0;
}

static const struct weir_executor_ops refuse_ops = {
	.submit = refuse,
	.now = no_time,
};

static void spawn_twice(struct member *self)
{
	struct play *play = self->play;
	const struct weir_executor_options options = {
		.allocator = &play->base.heap.allocator,
	};
	struct member *child = member_new(play, "x");
	struct weir_executor *executor = child->actor.executor, full;

	assert_int_equal(weir_executor_init(&full, &refuse_ops, &options), 0);
	child->actor.executor = &full;
	assert_int_equal(weir_system_spawn(play->base.system, self->ref,
					   &child->actor, NULL, &child->ref),
			 -ENOBUFS);
	assert_true(weir_actor_id_equal(child->ref, WEIR_ACTOR_ID_NONE));
	child->actor.executor = executor;
	assert_int_equal(weir_executor_fini(&full), 0);
	assert_int_equal(member_spawn(child, self->ref), 0);
}

static void c13_a_child_that_could_not_start_has_not_ended(struct play *play)
{
	static const struct role roles[] = {
		{"a", .hooks = HEARS | HOOK(CHILD_ENDED)},
	};
	static const struct step steps[] = {
		{"a", TURN, .call = spawn_twice},
	};

	ROLES(play, roles);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	give(play, "a", 1);
	assert_told(play, "a", "a1.pre_start a1.1");
	stop(play, "x");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.child_ended");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(c8_the_name_is_free_when_the_notice_comes),
		RULE(c9_a_notice_that_nobody_handles_fails_the_watcher),
		RULE(c9_a_death_pact_is_a_failure_like_others),
		RULE(c10_who_stops_unwatches_all_first),
		RULE(c10_who_stops_has_nothing_left_to_unwatch),
		RULE(c10_who_stops_can_watch_nobody),
		RULE(c10_a_dead_watcher_is_forgotten),
		RULE(c11_a_restart_unwatches_the_children_it_stops),
		RULE(c11_with_a_hook_children_stay_watched),
		RULE(c13_a_parent_that_does_not_watch_hears_nothing),
		RULE(c13_a_parent_that_watches_hears_once),
		RULE(c13_a_child_that_could_not_start_has_not_ended),
		RULE(c14_child_ended_comes_first_and_may_fail),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
