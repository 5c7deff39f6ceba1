/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Death watch: exactly one notice for each watch (C1 to C6). Rule numbers like
 * C1 are those of docs/conformance/supervision.md.
 */
#include "supervision/watching_kit.h"

static int unwatched; /* what the last one returned */

static void unwatch_x(struct member *self)
{
	unwatched = weir_actor_unwatch(&self->actor, ref(self->play, "x"));
}

/* --- C1: exactly one ------------------------------------------------------ */

static void c1_a_watch_before_the_end_gives_one_notice(struct play *play)
{
	static const struct step steps[] = {WATCHES_X("a")};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add_keeper(play, "a");
	give(play, "a", WATCH_X);
	assert_told(play, "a", "a1.pre_start a1.1");
	stop(play, "x");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.terminated");
	assert_true(heard.existed);
	assert_true(weir_actor_id_equal(heard.who, ref(play, "x")));
	assert_int_equal(heard_error->code, -ECANCELED);
}

static void c1_a_watch_after_the_end_gives_one_notice(struct play *play)
{
	static const struct step steps[] = {WATCHES_X("a")};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add_keeper(play, "a");
	stop(play, "x");
	run(play);
	give(play, "a", WATCH_X);
	assert_told(play, "a", "a1.pre_start a1.1 a1.terminated");
	assert_false(heard.existed);
	assert_true(weir_actor_id_equal(heard.who, ref(play, "x")));
	assert_null(heard_error);
}

static void watch_strangers(struct member *self)
{
	struct weir_actor_id far = {UINT32_MAX, 1}, later = self->ref;

	later.generation++;
	assert_int_equal(weir_actor_watch(&self->actor, far, self), 0);
	assert_int_equal(weir_actor_watch(&self->actor, later, self), 0);
}

static void c1_who_never_was_is_dead(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = watch_strangers},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add_keeper(play, "a");
	give(play, "a", 1);
	assert_told(play, "a", "a1.pre_start a1.1 a1.terminated a1.terminated");
	assert_false(heard.existed);
	assert_ptr_equal(heard.token, member(play, "a"));
}

static void c1_a_watch_during_the_end_gives_one_notice(struct play *play)
{
	static const struct step steps[] = {WATCHES_X("a")};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	assert_int_equal(put(play, "a", WATCH_X, WATCH_X), 0);
	stop(play, "x");
	run(play);
	assert_int_equal(times(play, "a1.terminated"), 1);
}

static void c1_a_notice_carries_the_error(struct play *play)
{
	static const struct step steps[] = {
		WATCHES_X("a"),
		{"x", TURN, .item = 3, .fail = STOP},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add_keeper(play, "a");
	give(play, "a", WATCH_X);
	give(play, "x", 3);
	assert_int_equal(times(play, "a1.terminated"), 1);
	assert_int_equal(heard_error->code, STOP);
	assert_ptr_equal(heard_error->cause, member(play, "x"));
	forget_notice();
}

static void c1_who_finishes_leaves_no_error(struct play *play)
{
	static const struct step steps[] = {
		WATCHES_X("a"),
		{"x", TURN, .item = 3, .finish = true},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add_keeper(play, "a");
	give(play, "a", WATCH_X);
	give(play, "x", 3);
	assert_int_equal(times(play, "a1.terminated"), 1);
	assert_true(heard.existed);
	assert_null(heard.error);
}

/* --- C2: twice, oneself, another token ------------------------------------ */

static void c2_watching_twice_is_watching_once(struct play *play)
{
	static const struct step steps[] = {{"a", TURN, .watch = "x"}};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	give(play, "a", 1);
	give(play, "a", 2);
	stop(play, "x");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.2 a1.terminated");
}

static void watch_dead_twice(struct member *self)
{
	struct weir_actor_id x = ref(self->play, "x");

	assert_int_equal(weir_actor_watch(&self->actor, x, NULL), 0);
	assert_int_equal(weir_actor_watch(&self->actor, x, NULL), 0);
	assert_int_equal(weir_actor_watch(&self->actor, x, self), -EBUSY);
}

static void c2_watching_a_dead_one_twice_is_watching_once(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .call = watch_dead_twice},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	stop(play, "x");
	run(play);
	give(play, "a", 1);
	assert_told(play, "a", "a1.pre_start a1.1 a1.terminated");
}

static void c2_watching_oneself_is_nothing(struct play *play)
{
	static const struct step steps[] = {{"a", TURN, .watch = "a"}};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "a");
	give(play, "a", 1);
	stop(play, "a");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.post_stop");
}

static void watch_with_tokens(struct member *self)
{
	struct weir_actor_id x = ref(self->play, "x");
	struct weir_actor *actor = &self->actor;

	assert_int_equal(weir_actor_watch(actor, x, self), 0);
	assert_int_equal(weir_actor_watch(actor, x, NULL), -EBUSY);
	assert_int_equal(weir_actor_watch(actor, x, self), 0);
	assert_int_equal(weir_actor_unwatch(actor, x), 0);
	assert_int_equal(weir_actor_unwatch(actor, x), -ENOENT);
	assert_int_equal(weir_actor_watch(actor, x, self->play), 0);
}

static void c2_another_token_is_refused_until_unwatched(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .call = watch_with_tokens},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add_keeper(play, "a");
	give(play, "a", 1);
	stop(play, "x");
	run(play);
	assert_int_equal(times(play, "a1.terminated"), 1);
	assert_ptr_equal(heard.token, play);
	forget_notice();
}

/* --- C3 to C6 ------------------------------------------------------------- */

static void c3_every_watcher_gets_a_notice_of_its_own(struct play *play)
{
	static const struct step steps[] = {
		WATCHES_X("a"),
		WATCHES_X("b"),
		WATCHES_X("c"),
		{"b", TURN, .item = UNWATCH_X, .call = unwatch_x},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	add(play, NULL, "b");
	add(play, "a", "c");
	assert_int_equal(put(play, "a", 1, 1), 0);
	assert_int_equal(put(play, "b", 1, 1), 0);
	give(play, "c", 1);
	give(play, "b", UNWATCH_X);
	assert_int_equal(unwatched, 0);
	stop(play, "x");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1 a1.terminated");
	assert_told(play, "b", "b1.pre_start b1.1 b1.2");
	assert_told(play, "c", "c1.pre_start c1.1 c1.terminated");
}

static const struct weir_rule killed_restarts[] = {
	{.code = -EINTR, .directive = WEIR_DIRECTIVE_RESTART},
};
static const struct weir_limit twice = {.max = 2};

static void c4_a_restart_is_no_end(struct play *play)
{
	static const struct weir_strategy strategy = {
		.rules = killed_restarts,
		.n_rules = 1,
		.each = &twice,
	};
	static const struct step steps[] = {WATCHES_X("a")};
	int i;

	play->top = &strategy;
	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	give(play, "a", WATCH_X);
	for (i = 0; i < 3; i++) {
		assert_int_equal(times(play, "a1.terminated"), 0);
		assert_int_equal(
			weir_system_kill(play->base.system, ref(play, "x")), 0);
		run(play);
	}
	assert_int_equal(times(play, "x3.post_restart"), 1);
	assert_int_equal(times(play, "a1.terminated"), 1);
}

static void watch_and_unwatch_x(struct member *self)
{
	struct weir_actor_id x = ref(self->play, "x");

	assert_int_equal(weir_actor_watch(&self->actor, x, NULL), 0);
	assert_int_equal(weir_actor_unwatch(&self->actor, x), 0);
}

static void c5_unwatch_removes_a_queued_notice(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 3, .call = watch_and_unwatch_x},
		WATCHES_X("a"),
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	stop(play, "x");
	run(play);
	give(play, "a", 3);
	assert_told(play, "a", "a1.pre_start a1.3");
	/* afterwards it works afresh */
	give(play, "a", WATCH_X);
	assert_told(play, "a", "a1.pre_start a1.3 a1.1 a1.terminated");
}

static void c5_an_unwatch_that_went_well_means_no_notice(struct play *play)
{
	static const struct step steps[] = {
		WATCHES_X("a"),
		{"a", TURN, .item = UNWATCH_X, .call = unwatch_x},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	give(play, "a", WATCH_X);
	stop(play, "x");
	/* between the end, the notice, and its handling, as the seed has it */
	weir_sim_run_until(play->base.sim, 0,
			   weir_sim_random(play->base.sim, 6));
	give(play, "a", UNWATCH_X);
	assert_int_equal(times(play, "a1.terminated"), unwatched ? 1 : 0);
	assert_true(unwatched == 0 || unwatched == -ENOENT);
}

/* Queued is what waits behind tokens: several, and one in the middle goes. */
static void watch_all(struct member *self)
{
	static const char *const names[] = {"x", "y", "z"};
	size_t i;

	for (i = 0; i < LENGTH(names); i++)
		assert_int_equal(weir_actor_watch(&self->actor,
						  ref(self->play, names[i]),
						  (void *)names[i]),
				 0);
	for (i = 0; i < LENGTH(names); i++)
		if ((i + self->play->seed) % 3)
			assert_int_equal(
				weir_actor_unwatch(&self->actor,
						   ref(self->play, names[i])),
				0);
	/* the list is as it should be, and takes new ones */
	assert_int_equal(
		weir_actor_watch(&self->actor, ref(self->play, "b"), NULL), 0);
}

static void c5_notices_leave_the_queue_from_anywhere(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .item = 1, .call = watch_all},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "y");
	add(play, NULL, "z");
	add(play, NULL, "b");
	add(play, NULL, "a");
	stop(play, "x");
	stop(play, "y");
	stop(play, "z");
	stop(play, "b");
	run(play);
	give(play, "a", 1);
	assert_told(play, "a", "a1.pre_start a1.1 a1.terminated a1.terminated");
}

static void c6_who_is_not_watched_ends_unheard(struct play *play)
{
	static const struct step steps[] = {WATCHES_X("a")};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "y");
	add(play, NULL, "a");
	give(play, "a", WATCH_X);
	stop(play, "y");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1");
}

/* --- Others watch --------------------------------------------------------- */

struct listener {
	struct weir_watcher watcher;
	uint32_t calls;
	bool existed;
	int code;
	struct weir_actor_id who;
	void *token;
};

static void listen(struct weir_watcher *watcher,
		   const struct weir_terminated *notice)
{
	struct listener *self =
		weir_container_of(watcher, struct listener, watcher);

	self->calls++;
	self->existed = notice->existed;
	self->code = notice->error ? notice->error->code : 0;
	self->who = notice->who;
	self->token = notice->token;
	memset(watcher, 0xff, sizeof(*watcher)); /* it is ours again */
}

static void listener_add(struct play *play, struct listener *self,
			 const char *name)
{
	*self = (struct listener){
		.watcher = {.terminated = listen, .token = self},
	};
	assert_int_equal(weir_watcher_add(play->base.system, ref(play, name),
					  &self->watcher),
			 0);
}

static void c1_others_than_actors_watch_too(struct play *play)
{
	struct listener first, second, third, late;

	add(play, NULL, "x");
	listener_add(play, &first, "x");
	listener_add(play, &second, "x");
	listener_add(play, &third, "x");
	run(play);
	assert_int_equal(first.calls, 0);
	assert_true(weir_watcher_remove(play->base.system, &second.watcher));
	assert_false(weir_watcher_remove(play->base.system, &second.watcher));
	stop(play, "x");
	run(play);
	assert_int_equal(first.calls, 1);
	assert_int_equal(second.calls, 0);
	assert_int_equal(third.calls, 1);
	assert_true(first.existed);
	assert_int_equal(first.code, -ECANCELED);
	assert_ptr_equal(first.token, &first);
	assert_true(weir_actor_id_equal(first.who, ref(play, "x")));
	listener_add(play, &late, "x");
	assert_int_equal(late.calls, 1);
	assert_false(late.existed);
	assert_int_equal(late.code, 0);
}

/* --- Errors --------------------------------------------------------------- */

static void check_own_errors(struct member *self)
{
	struct weir_actor *a = &self->actor;
	struct weir_actor_id x = ref(self->play, "x");

	assert_int_equal(weir_actor_watch(NULL, x, NULL), -EINVAL);
	assert_int_equal(weir_actor_watch(a, WEIR_ACTOR_ID_NONE, NULL),
			 -EINVAL);
	assert_int_equal(weir_actor_unwatch(NULL, x), -EINVAL);
	assert_int_equal(weir_actor_unwatch(a, WEIR_ACTOR_ID_NONE), -EINVAL);
	assert_int_equal(weir_actor_unwatch(a, x), -ENOENT);
	assert_int_equal(weir_actor_unwatch(a, self->ref), -ENOENT);
}

static void wrong_calls_change_nothing(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .call = check_own_errors},
	};
	struct weir_watcher watcher = {.terminated = NULL};
	struct source outside;
	struct weir_actor_id x;

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	x = ref(play, "x");
	give(play, "a", 1);
	assert_int_equal(weir_actor_watch(&member(play, "a")->actor, x, NULL),
			 -EPERM);
	assert_int_equal(weir_actor_unwatch(&member(play, "a")->actor, x),
			 -EPERM);
	source_init(&outside, play->base.executor, &play->base.ledger, 2, 2);
	assert_int_equal(weir_actor_watch(&outside.actor, x, NULL), -EINVAL);
	assert_int_equal(weir_actor_unwatch(&outside.actor, x), -EINVAL);
	weir_actor_stop(&outside.actor);
	assert_int_equal(weir_watcher_add(play->base.system, x, &watcher),
			 -EINVAL);
	assert_int_equal(weir_watcher_add(play->base.system, x, NULL), -EINVAL);
	watcher.terminated = listen;
	assert_int_equal(weir_watcher_add(NULL, x, &watcher), -EINVAL);
	assert_false(weir_watcher_remove(NULL, &watcher));
	assert_false(weir_watcher_remove(play->base.system, NULL));
	stop(play, "x");
	run(play);
	assert_told(play, "a", "a1.pre_start a1.1");
}

/* Each of the allocations fails once: then nothing is watched. */
static void watch_without_memory(struct member *self)
{
	struct play *play = self->play;
	struct weir_actor_id x = ref(play, "x");
	size_t live = play->base.heap.live, i;
	int rc = -ENOMEM;

	for (i = 1; rc == -ENOMEM; i++) {
		play->base.heap.calls = 0;
		play->base.heap.fail = i;
		rc = weir_actor_watch(&self->actor, x, NULL);
		if (rc == -ENOMEM) {
			play->base.heap.fail = 0;
			assert_int_equal(weir_actor_unwatch(&self->actor, x),
					 -ENOENT);
		}
	}
	play->base.heap.fail = 0;
	assert_int_equal(rc, 0);
	note(play, self->name, "tries%zu", i - 1);
	/* two records at most, which stay, and the watch */
	assert_in_range(play->base.heap.live, live + 1, live + 3);
}

static void no_memory_for_a_watch_changes_nothing(struct play *play)
{
	static const struct step steps[] = {
		{"a", TURN, .call = watch_without_memory},
	};

	ROLES(play, hearers);
	SCRIPT(play, steps);
	add(play, NULL, "x");
	add(play, NULL, "a");
	give(play, "a", 1);
	stop(play, "x");
	play->base.heap.calls = 0;
	play->base.heap.fail = 1;
	run(play);
	play->base.heap.fail = 0;
	/* the end itself needs none: the notice lacks the path */
	assert_int_equal(play->base.heap.calls, 1);
	assert_int_equal(times(play, "a1.terminated"), 1);
	assert_null(heard.path);
}

static void no_memory_for_a_watcher_changes_nothing(struct play *play)
{
	struct listener listener = {.watcher = {.terminated = listen}};
	struct source source;
	struct weir_actor_id x;

	/* without a name, which would have a record */
	source_init(&source, play->base.executor, &play->base.ledger, 1, 1);
	spawn_source(play, &source, &x);
	play->base.heap.calls = 0;
	play->base.heap.fail = 1;
	assert_int_equal(weir_watcher_add(play->base.system, x,
					  &listener.watcher),
			 -ENOMEM);
	play->base.heap.fail = 0;
	assert_int_equal(
		weir_watcher_add(play->base.system, x, &listener.watcher), 0);
	assert_int_equal(weir_system_stop_actor(play->base.system, x), 0);
	run(play);
	assert_int_equal(listener.calls, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		RULE(c1_a_watch_before_the_end_gives_one_notice),
		RULE(c1_a_watch_after_the_end_gives_one_notice),
		RULE(c1_who_never_was_is_dead),
		RULE(c1_a_watch_during_the_end_gives_one_notice),
		RULE(c1_a_notice_carries_the_error),
		RULE(c1_who_finishes_leaves_no_error),
		RULE(c1_others_than_actors_watch_too),
		RULE(c2_watching_twice_is_watching_once),
		RULE(c2_watching_a_dead_one_twice_is_watching_once),
		RULE(c2_watching_oneself_is_nothing),
		RULE(c2_another_token_is_refused_until_unwatched),
		RULE(c3_every_watcher_gets_a_notice_of_its_own),
		RULE(c4_a_restart_is_no_end),
		RULE(c5_unwatch_removes_a_queued_notice),
		RULE(c5_an_unwatch_that_went_well_means_no_notice),
		RULE(c5_notices_leave_the_queue_from_anywhere),
		RULE(c6_who_is_not_watched_ends_unheard),
		RULE(wrong_calls_change_nothing),
		RULE(no_memory_for_a_watch_changes_nothing),
		RULE(no_memory_for_a_watcher_changes_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
